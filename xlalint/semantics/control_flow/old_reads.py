"""Where a method reads what an earlier run of it left in an attribute, and whether it makes that anew each time.

A read is old that some way through the method reaches before it stores in the place. Of the tests around a store, those that ask
whether something is there already mean that it is stored once; those of settings may decide about its readers as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from xlalint.semantics.syntax import called_name, children_of, nodes_of

# What Python knows of a tensor of any trace.
_STATIC = frozenset({"dtype", "name", "ndim", "shape"})
_FIRST = re.compile("first|init|built")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Kept(NamedTuple):
    """How a function keeps a tensor: what it makes it of, and whether it does so each time it is run."""

    made: ast.expr
    is_renewed: bool


def kept_in(body: list[ast.stmt], target: ast.expr, owner: ast.Attribute) -> Kept | None:
    """How a function keeps what it stores in `target`; None where it never reads what an earlier trace left there."""
    if target is not owner and any(
        isinstance(part, ast.Attribute)
        and part.attr == owner.attr
        and not isinstance(part.ctx, ast.Load)
        for part in nodes_of(body)
    ):
        return None  # a dictionary of this trace
    reads = _Reads(ast.unparse(target), owner.attr)
    reads.block(body, False, False)
    store = next((store for store in reads.stores if store.target is target), None)
    if store is None or not (store.old_is_read or (store.is_asked_for and reads.finds_old)):
        return None
    if _hands_back(store.made, ast.unparse(target)):
        return None
    later = reads.stores[reads.stores.index(store) + 1 :]
    if any(other.block == store.block for other in later):
        return None  # for the time of a call: what was there before is put back
    return Kept(store.made, not store.is_asked_for)


def reads_a_list(body: Iterable[ast.AST], place: ast.Attribute | ast.Subscript) -> bool:
    """Whether a function reads what is in the list `self.losses` or `self.history["loss"]`: more than its length, and more than the
    latest item.
    """
    nodes = list(nodes_of(body))
    passed = {id(part) for node in nodes for part in _not_of_all(node)}
    return any(_is_that(node, place) and id(node) not in passed for node in nodes)


def _is_that(node: ast.AST, place: ast.Attribute | ast.Subscript) -> bool:
    """Whether a node reads a place: an attribute by its name, whatever the object is called; an item as it is written."""
    if isinstance(place, ast.Attribute):
        return (
            isinstance(node, ast.Attribute)
            and node.attr == place.attr
            and isinstance(node.ctx, ast.Load)
        )
    return isinstance(node, ast.Subscript) and ast.unparse(node) == ast.unparse(place)


def _not_of_all(node: ast.AST) -> Iterator[ast.AST]:
    """Lists of which a node asks for no older items: `items.append(x)`, `len(items)`, `items[-1]`, `if items:`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield node.func.value
    elif isinstance(node, ast.Call) and called_name(node) == "len":
        yield from node.args
    elif isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "-1":
        yield node.value
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield node.test


def emptied_in(body: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """The places where a function starts a list anew: `items = []`, `items.clear()`, `del items[:]`."""
    for node in nodes_of(body):
        if isinstance(node, ast.Call) and called_name(node) == "clear":
            if isinstance(node.func, ast.Attribute):
                yield node.func.value
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield node
        elif isinstance(node, ast.Delete):
            yield from (each.value for each in node.targets if isinstance(each, ast.Subscript))


def _hands_back(made: ast.expr, place: str) -> bool:
    """`self.scale = tf.cast(self.scale, x.dtype)`: of that dtype already, it is the same tensor as before."""
    if not isinstance(made, ast.Call) or not made.args:
        return False
    return called_name(made) in ("cast", "convert_to_tensor") and ast.unparse(made.args[0]) == place


class _Store(NamedTuple):
    """One statement that stores in a place: `is_asked_for` where a test of the place stands around it, `old_is_read` where the
    function has read before it what an earlier trace left there. Those of one `block` are run one after another.
    """

    target: ast.expr
    made: ast.expr
    is_asked_for: bool
    old_is_read: bool
    block: int


class _Reads:
    """Walks a function in the order it is run, and finds whether a place is read that it has not stored in before."""

    def __init__(self, place: str, attribute: str) -> None:
        self._place = place
        self._attribute = attribute
        # Whether the place is read before it is stored in: on any way through, and on the way to the statement being walked.
        self.finds_old = False
        self._has_read = False
        self._block = 0
        self.stores: list[_Store] = []

    def block(self, statements: Sequence[ast.stmt], stored: bool, asked: bool) -> bool | None:
        """Whether the place is stored in on every way through; None where no way leads out. `asked`: a test of it is around."""
        now: bool | None = stored
        for statement in statements:
            self._block = id(statements)
            now = self._statement(statement, bool(now), asked)
            if now is None:
                return None
        return now

    def _statement(self, node: ast.stmt, stored: bool, asked: bool) -> bool | None:
        if isinstance(node, ast.If):
            return self._if(node, stored, asked)
        if isinstance(node, (ast.For, ast.While)):
            self._uses(node.iter if isinstance(node, ast.For) else node.test, stored)
            self.block(node.body, stored, asked)
            after = self.block(node.orelse, stored, asked)
            return stored if after is None else after
        if isinstance(node, ast.With):
            for item in node.items:
                self._uses(item.context_expr, stored)
            return self.block(node.body, stored, asked)
        if isinstance(node, ast.Try):
            self.block(node.body, stored, asked)
            for handler in node.handlers:
                self.block(handler.body, stored, True)
            return self.block(node.finalbody, stored, asked)
        if isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            self._uses(node, stored)
            return None
        if isinstance(node, _SCOPES):
            return stored
        return self._simple(node, stored, asked)

    def _simple(self, node: ast.stmt, stored: bool, asked: bool) -> bool:
        for part in _evaluated(node):
            self._uses(part, stored)
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.AugAssign):
            pairs = [(node.target, node.value)]
        elif isinstance(node, ast.Assign):
            pairs = [(target, node.value) for each in node.targets for target in _single(each)]
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs = [(node.target, node.value)]
        for target, made in pairs:
            if ast.unparse(target) == self._place:
                if isinstance(node, ast.AugAssign) and not stored:
                    self.finds_old = self._has_read = True
                self.stores.append(_Store(target, made, asked, self._has_read, self._block))
                stored = True
        return stored

    def _if(self, node: ast.If, stored: bool, asked: bool) -> bool | None:
        asks = self._asks(node.test)
        if not asks:
            self._uses(node.test, stored)
        # Where the flag of a first call is asked, what is stored behind it is stored once.
        once = asks or _FIRST.search(ast.unparse(node.test)) is not None
        arms = []
        before = after = self._has_read
        for block in (node.body, node.orelse):
            self._has_read = before  # what one arm reads, the other does not
            arms.append(self.block(block, stored, asked or once))
            after = after or self._has_read
        if asks and _is_renewed_otherwise(node.test):
            return True
        # Where a setting decides, it may decide about what is stored afterwards as well.
        self._has_read = after if asks else before
        ways = [arm for arm in arms if arm is not None]
        return all(ways) if ways else None

    def _asks(self, test: ast.expr) -> bool:
        """`self.last is None`, `not hasattr(self, "last")`, `key in self.cache`: asks whether something is there."""
        return any(
            (isinstance(part, ast.Attribute) and part.attr == self._attribute)
            or (isinstance(part, ast.Constant) and part.value == self._attribute)
            for part in nodes_of([test])
        ) and _is_of_presence(test)

    def _uses(self, node: ast.AST, stored: bool) -> None:
        if stored or self._has_read:
            return
        parts = list(nodes_of([node], into_functions=False))
        static = {id(p.value) for p in parts if isinstance(p, ast.Attribute) and p.attr in _STATIC}
        if any(
            isinstance(part, (ast.Attribute, ast.Subscript))
            and isinstance(part.ctx, ast.Load)
            and id(part) not in static
            and ast.unparse(part) == self._place
            for part in parts
        ):
            self.finds_old = self._has_read = True


def _is_renewed_otherwise(test: ast.expr) -> bool:
    """`self.last is None or self.key != key`: a trace with tensors of its own stores anew."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or):
        return False
    return not all(map(_is_of_presence, test.values))


def _is_of_presence(test: ast.expr) -> bool:
    if isinstance(test, ast.BoolOp):
        return any(map(_is_of_presence, test.values))
    if isinstance(test, ast.UnaryOp):
        return True
    if isinstance(test, ast.Compare):
        return isinstance(test.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn))
    return isinstance(test, (ast.Call, ast.Attribute))


def _evaluated(node: ast.stmt) -> Iterator[ast.AST]:
    """What a simple statement evaluates: all of it but what it stores in."""
    for part in children_of(node):
        if not isinstance(getattr(part, "ctx", None), ast.Store):
            yield part


def _single(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [single for each in target.elts for single in _single(each)]
    return [target]
