"""Sizes that a conditional guards: `if n < k: x = tf.pad(x, [[0, k - n]])`, where `n` is a size that XLA knows.

XLA compiles both arms, with the sizes of the input at hand. Where the arm is not taken, its size is negative, or more than there is
(`if n > k: x = tf.slice(x, [0], [k])`), and the compiler refuses it: `Paddings must be non-negative`, `Expected multiples[1] >= 0`,
`Expected size[0] in [0, 3], but got 4` (measured on TensorFlow 2.15 and 2.21; fixtures/XLA106). Eager TensorFlow, and AutoGraph
without XLA, never look at that arm. Subscripts (`x[:k]`) end where the tensor does, and compile.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xlalint.semantics.callbacks.callables import Callee, callees
from xlalint.semantics.control_flow import dimensions
from xlalint.semantics.frames import Frame
from xlalint.semantics.names import api_name
from xlalint.semantics.results import result_shapes
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import EXTERNAL, FROM_SHAPE, Value

# APIs that make dimensions of given sizes, and the argument that holds the sizes (each refused: fixtures/XLA106).
_SIZED_BY = {
    "tf.pad": (1, "paddings"),
    "tf.zeros": (0, "shape"),
    "tf.ones": (0, "shape"),
    "tf.fill": (0, "dims"),
    "tf.eye": (0, "num_rows"),
    "tf.tile": (1, "multiples"),
    "tf.repeat": (1, "repeats"),
    "tf.reshape": (1, "shape"),
    "tf.broadcast_to": (1, "shape"),
    "tf.slice": (2, "size"),
    "tf.split": (1, "num_or_size_splits"),
    "tf.one_hot": (1, "depth"),
    "tf.sequence_mask": (1, "maxlen"),
    "tf.linspace": (2, "num"),
    "tf.range": (1, "limit"),
    "tf.scatter_nd": (2, "shape"),
    "tf.math.top_k": (1, "k"),
    "tf.nn.top_k": (1, "k"),
    "tf.random.uniform": (0, "shape"),
    "tf.random.normal": (0, "shape"),
    "tf.random.truncated_normal": (0, "shape"),
    "tf.random.stateless_uniform": (0, "shape"),
    "tf.random.stateless_normal": (0, "shape"),
}
# APIs that take a part of their first argument, of a size that must not be more than there is (each refused: fixtures/XLA106).
_TAKE_PARTS = {
    "tf.slice": (2, "size"),
    "tf.image.random_crop": (1, "size"),
    "tf.math.top_k": (1, "k"),
    "tf.nn.top_k": (1, "k"),
}
_COMPARISONS = {
    "less": ast.Lt, "less_equal": ast.LtE, "greater": ast.Gt, "greater_equal": ast.GtE,
}  # fmt: skip

Arm = Sequence[ast.AST]


class GuardedSize(NamedTuple):
    """A call in an arm, and a size that it, or a function that it calls, asks for. `is_part`: of a tensor that is shorter where the other arm is
    meant; otherwise the size is negative there."""

    call: ast.Call
    size: str
    is_part: bool = False


class _Compared(NamedTuple):
    """What a test says where it holds: one side is the smaller. `item` is the part that is asked for, as in `(n < k)[0]`."""

    smaller: ast.expr
    larger: ast.expr
    item: str = ""

    @property
    def reversed(self) -> _Compared:
        return _Compared(self.larger, self.smaller, self.item)

    def differences(self) -> set[str]:
        """How much larger the one is, as it may be written."""
        larger, smaller = ast.unparse(self.larger), ast.unparse(self.smaller)
        whole = f"{larger} - {smaller}"
        if not self.item:
            return {whole}
        ends = ((self.item, self.item), (self.item, ""), ("", self.item))
        parts = {f"{larger}{first} - {smaller}{second}" for first, second in ends}
        return {f"({whole}){self.item}", *parts}


def guarded_size(
    test: ast.expr, value: Value, first: Arm, second: Arm, frame: Frame
) -> GuardedSize | None:
    """A size in an arm that is negative where the other arm is taken; None where there is none.

    `value` is what the test is: shapes have to decide it.
    """
    if value.dependence > FROM_SHAPE or (compared := _compared(test, frame)) is None:
        return None
    for arm, sides in ((first, compared), (second, compared.reversed)):
        found = next(_sizes(arm, sides, frame), None) or next(_parts(arm, sides, frame), None)
        if found is not None:
            return found
    return None


def _compared(test: ast.expr, frame: Frame) -> _Compared | None:
    """The smaller and the larger side of what a test says, where it holds."""
    if isinstance(test, ast.Subscript) and isinstance(test.slice, ast.Constant):
        whole = _compared(test.value, frame)
        return whole._replace(item=f"[{ast.unparse(test.slice)}]") if whole is not None else None
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides: list[ast.expr] = [test.left, test.comparators[0]]
        kind: type[ast.cmpop] | None = type(test.ops[0])
    elif isinstance(test, ast.Call) and len(test.args) == 2 and not test.keywords:
        sides, kind = test.args, _COMPARISONS.get(_called(test, frame).rpartition(".")[2])
    else:
        return None
    if kind in (ast.Lt, ast.LtE):
        return _Compared(sides[0], sides[1])
    return _Compared(sides[1], sides[0]) if kind in (ast.Gt, ast.GtE) else None


def _sizes(arm: Arm, sides: _Compared, frame: Frame) -> Iterator[GuardedSize]:
    """`larger - smaller` among the sizes that an arm asks for; `larger` itself, where it is compared with nothing."""
    smaller, larger = sides.smaller, sides.larger
    wanted = sides.differences()
    if isinstance(smaller, ast.Constant) and smaller.value == 0 and _is_difference(larger, frame):
        wanted.add(ast.unparse(larger))
    named = _named(arm)
    for part in nodes_of(arm, into_functions=False):
        if not isinstance(part, ast.Call):
            continue
        for size in _items(_given(part, frame), named):
            if _is_below_zero(size, wanted, named) and _may_be_negative(size, frame):
                yield GuardedSize(part, ast.unparse(size))
        if _may_differ(sides, frame):
            yield from (GuardedSize(part, size) for size in _asked_within(part, frame, wanted))


def _parts(arm: Arm, sides: _Compared, frame: Frame) -> Iterator[GuardedSize]:
    """Calls of an arm that take as much as the smaller side says of the tensor whose size the larger side is."""
    axis = dimensions.asked_for(sides.larger, frame.function) if not sides.item else None
    if axis is None or not _may_differ(sides, frame):
        return
    wanted, named = ast.unparse(sides.smaller), _named(arm)
    for part in nodes_of(arm, into_functions=False):
        if isinstance(part, ast.Call) and part.args and ast.unparse(part.args[0]) == axis.tensor:
            place, name = _TAKE_PARTS.get(_called(part, frame), (-1, ""))
            size = _argument(part, place, name) if place > 0 else None
            sizes = list(_items(size, named))
            if name == "k":
                is_last = axis.place == -1 or frame.analysis.evaluate(part.args[0], frame).rank == 1
                asked = sizes[0] if is_last and sizes else None
            else:
                asked = sizes[axis.place] if -len(sizes) <= axis.place < len(sizes) else None
            if asked is not None and ast.unparse(asked) == wanted:
                yield GuardedSize(part, wanted, is_part=True)


def _is_below_zero(size: ast.expr, wanted: set[str], named: dict[str, ast.expr]) -> bool:
    """Whether a size is below zero where the `wanted` ones are: one of them, a share of it (`missing // 2`), or what is left of it then
    (`missing - missing // 2`)."""
    if ast.unparse(size) in wanted:
        return True
    if isinstance(size, ast.Name):
        others = {name: value for name, value in named.items() if name != size.id}
        return size.id in named and _is_below_zero(named[size.id], wanted, others)
    if not isinstance(size, ast.BinOp) or not _is_below_zero(size.left, wanted, named):
        return False
    if isinstance(size.op, ast.Sub):
        share = named.get(size.right.id) if isinstance(size.right, ast.Name) else size.right
        return (
            isinstance(share, ast.BinOp)
            and isinstance(share.op, ast.FloorDiv)
            and ast.unparse(share.left) == ast.unparse(size.left)
        )
    by = size.right.value if isinstance(size.right, ast.Constant) else None
    return isinstance(size.op, (ast.FloorDiv, ast.Mult)) and isinstance(by, int) and by > 0


def _named(arm: Arm) -> dict[str, ast.expr]:
    return {
        part.targets[0].id: part.value
        for part in nodes_of(arm, into_functions=False)
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name)
    }


def _asked_within(call: ast.Call, frame: Frame, wanted: set[str]) -> Iterator[str]:
    """Sizes among the wanted ones that a function of the project asks for when it is called so."""
    target = frame.analysis.evaluate(call.func, frame)
    callee = next(callees(target, frame.analysis), None)
    if callee is None or callee.first or isinstance(callee.function.node, ast.Lambda):
        return
    given = _Given(_bound(callee, call))
    body = callee.function.node.body
    named = _named(body)
    for part in nodes_of(body, into_functions=False):
        if isinstance(part, ast.Call):
            for size in _items(_given(part, frame), named):
                text = ast.unparse(given.visit(copy.deepcopy(size)))
                if text in wanted:
                    yield text


def _bound(callee: Callee, call: ast.Call) -> dict[str, ast.expr]:
    """The parameters of a function, and what a call gives for them."""
    arguments = callee.function.node.args
    given: list[ast.expr] = list(call.args)
    if callee.bound is not None:
        given.insert(0, call.func.value if isinstance(call.func, ast.Attribute) else call.func)
    if any(isinstance(argument, ast.Starred) for argument in given):
        return {}
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    return {**dict(zip(names, given)), **{k.arg: k.value for k in call.keywords if k.arg}}


class _Given(ast.NodeTransformer):
    """Puts what a call gives in the place of the parameters."""

    def __init__(self, bound: dict[str, ast.expr]) -> None:
        self._bound = bound

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._bound.get(node.id, node)


def _is_difference(size: ast.expr, frame: Frame) -> bool:
    """`missing`, after `missing = k - n`; what is never below zero (`tf.maximum(k - n, 0)`) is fine."""
    if not isinstance(size, ast.Name) or frame.function is None:
        return _subtracts(size)
    body = frame.function.node.body
    made = [
        part.value
        for part in nodes_of(body if isinstance(body, list) else [body], into_functions=False)
        if isinstance(part, ast.Assign)
        and any(isinstance(to, ast.Name) and to.id == size.id for to in part.targets)
    ]
    return bool(made) and all(_subtracts(each) for each in made)


def _subtracts(size: ast.expr) -> bool:
    return isinstance(size, ast.BinOp) and isinstance(size.op, ast.Sub)


def _given(call: ast.Call, frame: Frame) -> ast.expr | None:
    """The argument of a call that holds its sizes."""
    if not isinstance(call.func, (ast.Attribute, ast.Name)):
        return None
    api = _called(call, frame)
    position, name = _SIZED_BY.get(api, (-1, ""))
    if position < 0:
        return None
    if api == "tf.range" and len(call.args) == 1:
        return call.args[0]
    return _argument(call, position, name)


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    if len(call.args) > position:
        return call.args[position]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _items(sizes: ast.expr | None, named: dict[str, ast.expr]) -> Iterator[ast.expr]:
    """The numbers in a list of sizes, which the arm may have given a name."""
    if isinstance(sizes, ast.Name) and sizes.id in named:
        sizes = named[sizes.id]
    if isinstance(sizes, (ast.List, ast.Tuple)):
        for item in sizes.elts:
            inner = named.get(item.id, item) if isinstance(item, ast.Name) else item
            yield from _items(inner, {})
    elif sizes is not None:
        yield sizes


def _may_be_negative(size: ast.expr, frame: Frame) -> bool:
    known = result_shapes.number(frame.analysis.evaluate(size, frame))
    return known is None or known < 0


def _may_differ(sides: _Compared, frame: Frame) -> bool:
    """Whether the larger side is not known to be the larger one always."""
    larger, smaller = (
        result_shapes.number(frame.analysis.evaluate(side, frame))
        for side in (sides.larger, sides.smaller)
    )
    return larger is None or smaller is None or larger < smaller


def _called(call: ast.Call, frame: Frame) -> str:
    target = frame.analysis.evaluate(call.func, frame)
    return api_name(str(target.ref)) if target.kind is EXTERNAL else ""
