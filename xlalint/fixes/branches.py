"""A Python conditional on tensors, read for rewriting: its tests, its arms, and what they leave behind."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from xlalint.fixes.asts import Source, names_bound, names_read
from xlalint.fixes.choices import Side, side
from xlalint.fixes.draft import Draft
from xlalint.fixes.effects import never_raises
from xlalint.fixes.numerics import Roots, base
from xlalint.semantics.control_flow.liveness import is_live_after, is_shared
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import NOTHING_KNOWN, PYTHON


@dataclass(frozen=True, slots=True)
class Arm:
    """A block of a conditional, and the test it stands under; None for what stands under `else`."""

    test: ast.expr | None
    body: tuple[ast.stmt, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """`if`, its `elif`s and its `else` as one, or the cases of a `match`. `statement` is the whole of it, `after` what follows in its block.

    `is_elif`: it begins with an `elif`, because what stands above it asks nothing of a tensor. `taken` are the statements
    behind it that have become its last arm (below `if test: continue`). `guard` is what Python is asked first (`training`).
    """

    node: cst.BaseCompoundStatement
    statement: ast.stmt
    arms: tuple[Arm, ...]
    after: tuple[ast.stmt, ...]
    is_elif: bool
    taken: tuple[ast.stmt, ...] = ()
    guard: str | None = None

    @property
    def has_else(self) -> bool:
        return self.arms[-1].test is None

    @property
    def tests(self) -> tuple[ast.expr, ...]:
        return tuple(arm.test for arm in self.arms if arm.test is not None)

    @property
    def end(self) -> ast.stmt:
        """The last of its statements: what is read behind it has to come out of it."""
        return self.taken[-1] if self.taken else self.statement

    @property
    def last(self) -> tuple[ast.stmt, ...]:
        """What runs where no test holds."""
        return self.arms[-1].body if self.has_else else ()


def read(draft: Draft, node: cst.CSTNode) -> Branch | None:
    """The conditional that has `node` as one of its tests; None where the tests above it are Python's and below are not."""
    source = Source(draft)
    found = draft.parent(node)
    if not isinstance(found, cst.If) or found.test is not node:
        return None
    root = found
    while True:
        above = draft.parent(root)
        if (
            not isinstance(above, cst.If)
            or above.orelse is not root
            or not _asks_tensor(source, above)
            or _ends_in_leaving(above)
        ):
            break
        root = above
    statement = draft.as_ast(root)
    if not isinstance(statement, ast.If):
        return None
    arms = _arms(source, root, statement)
    if arms is None:
        return None
    holder = draft.parent(root)
    is_elif = isinstance(holder, cst.If) and holder.orelse is root
    path = source.path(statement)
    after = () if is_elif or not path else tuple(path[-1].block[path[-1].place + 1 :])
    return _skipping(source, Branch(root, statement, arms, after, is_elif))


def _skipping(source: Source, branch: Branch) -> Branch:
    """`if test: continue` in a loop chooses between what stands above `continue`, and the rest of the step."""
    path, only = source.path(branch.statement), branch.arms[0].body
    if len(branch.arms) > 1 or branch.is_elif or not branch.after or not path:
        return branch
    loop = path[-1].owner
    if not isinstance(loop, (ast.For, ast.While)) or path[-1].block is not loop.body:
        return branch
    if not isinstance(only[-1], ast.Continue):
        return branch
    arms = (Arm(branch.arms[0].test, only[:-1]), Arm(None, branch.after))
    return replace(branch, arms=arms, after=(), taken=branch.after)


def guarded(source: Source, branch: Branch) -> Branch:
    """`if training and test:` as `test` under the guard `training`: Python knows the one, the graph the other."""
    test = branch.arms[0].test
    if len(branch.arms) > 1 or branch.is_elif or branch.taken or not isinstance(test, ast.BoolOp):
        return branch
    if not isinstance(test.op, ast.And) or len(test.values) != 2:
        return branch
    first, second = test.values
    if source.value(first).is_tensor:
        # A name gives no other answer for being asked first.
        if not isinstance(second, ast.Name) or not never_raises(source, first):
            return branch
        first, second = second, first
    known, rest = first, second
    asks_python = source.value(known).kind is PYTHON or isinstance(known, (ast.Name, ast.Attribute))
    if source.value(known).is_tensor or not source.value(rest).is_tensor or not asks_python:
        return branch
    arms = (Arm(rest, branch.arms[0].body),)
    return replace(branch, arms=arms, guard=source.code(known))


def _asks_tensor(source: Source, node: cst.If) -> bool:
    return source.draft.value(node.test).is_tensor


def _ends_in_leaving(node: cst.If) -> bool:
    """Whether an arm leaves its loop or its step: what stands under `elif` is another matter then."""
    last = node.body.body[-1] if node.body.body else None
    inner = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    return isinstance(inner, (cst.Break, cst.Continue))


def _arms(source: Source, root: cst.If, statement: ast.If) -> tuple[Arm, ...] | None:
    arms = [Arm(statement.test, tuple(statement.body))]
    node, tree = root, statement
    while isinstance(node.orelse, cst.If):
        node = node.orelse
        inner = tree.orelse[0]
        if not isinstance(inner, ast.If) or not _asks_tensor(source, node):
            return None
        tree = inner
        arms.append(Arm(tree.test, tuple(tree.body)))
    if tree.orelse:
        arms.append(Arm(None, tuple(tree.orelse)))
    return tuple(arms)


# --- arms that only assign ------------------------------------------------------------------------------------------

Assigned = Mapping[str, Side]


def assignments(source: Source, body: Sequence[ast.stmt]) -> dict[str, Side] | None:
    """The names that a block assigns, each once, by expressions; None where it does anything else."""
    found: dict[str, Side] = {}
    for statement in body:
        for name, value in _assigned(source, statement):
            if value is None or name in found:
                return None
            found[name] = value
    return found


def _assigned(source: Source, statement: ast.stmt) -> Iterator[tuple[str, Side | None]]:
    if isinstance(statement, ast.Pass):
        return
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        yield from _targets(source, statement.targets[0], statement.value)
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        yield from _targets(source, statement.target, statement.value)
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id, _augmented(source, statement)
    else:
        yield "", None


def _targets(
    source: Source, target: ast.expr, value: ast.expr
) -> Iterator[tuple[str, Side | None]]:
    if isinstance(target, ast.Name):
        yield target.id, side(source, value)
        return
    if (
        isinstance(target, ast.Tuple)
        and isinstance(value, ast.Tuple)
        and len(target.elts) == len(value.elts)
    ):
        names = [item.id for item in target.elts if isinstance(item, ast.Name)]
        # `a, b = b, a` assigns both at once.
        if len(names) == len(target.elts) and not (set(names) & names_read([value])):
            for name, item in zip(names, value.elts):
                yield name, side(source, item)
            return
    yield "", None


_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip


def _augmented(source: Source, statement: ast.AugAssign) -> Side | None:
    """`x /= 2.0` as `x / 2.0`: of a tensor it makes a new one."""
    symbol = _OPERATORS.get(type(statement.op))
    if symbol is None or not isinstance(statement.target, ast.Name):
        return None
    name = ast.copy_location(ast.Name(statement.target.id, ast.Load()), statement.target)
    operation = ast.copy_location(ast.BinOp(name, statement.op, statement.value), statement)
    operand = source.code(statement.value)
    if not isinstance(
        statement.value, (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript)
    ):
        operand = f"({operand})"
    return Side(operation, NOTHING_KNOWN, f"{name.id} {symbol} {operand}")


def roots_after(
    source: Source, body: Sequence[ast.stmt], before: Roots | None = None
) -> dict[str, str | None]:
    """For the names that statements assign, the name of before whose dtype and shape they have (`base`); None where not known."""
    roots: dict[str, str | None] = dict(before or {})
    for statement in body:
        simple = list(_assigned(source, statement)) if isinstance(statement, _ASSIGNMENTS) else []
        if simple and all(value is not None for _, value in simple):
            found = {
                name: base(source, value.node, roots) for name, value in simple if value is not None
            }
            roots.update(found)
        elif isinstance(statement, (ast.For, ast.While, ast.If)):
            _merge(source, statement, roots)
        else:
            roots.update(dict.fromkeys(names_bound([statement])))
    return roots


_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)


def _merge(
    source: Source, statement: ast.For | ast.While | ast.If, roots: dict[str, str | None]
) -> None:
    """What Python's own branches and loops keep: the root that a name has whether they run or not."""
    ways = [roots_after(source, block, roots) for block in (statement.body, statement.orelse)]
    for name in names_bound([statement]):
        was = roots.get(name, name)
        kept = all(way.get(name, name) == was for way in ways)
        roots[name] = was if kept else None


def order(arms: Sequence[Assigned]) -> list[str] | None:
    """The names of all arms so that each can be chosen after the other; None where the arms need it in different orders.

    With `x` chosen before `y`, an arm that computes `y` from its own new `x` reads just that.
    """
    names = list(dict.fromkeys(name for arm in arms for name in arm))
    before: dict[str, set[str]] = {name: set() for name in names}
    for arm in arms:
        places = {name: index for index, name in enumerate(arm)}
        for name, value in arm.items():
            for read in names_read([value.node]) & set(arm) - {name}:
                first, second = (read, name) if places[read] < places[name] else (name, read)
                before[second].add(first)
    found: list[str] = []
    while len(found) < len(names):
        free = [name for name in names if name not in found and before[name] <= set(found)]
        if not free:
            return None
        found.append(free[0])
    return found


def are_independent(arms: Sequence[Assigned]) -> bool:
    """Whether no arm reads a name that it has assigned before."""
    for arm in arms:
        done: set[str] = set()
        for name, value in arm.items():
            if done & names_read([value.node]):
                return False
            done.add(name)
    return True


# --- arms that do more ----------------------------------------------------------------------------------------------


def outputs(source: Source, branch: Branch) -> list[str] | None:
    """The names that the arms bind and that are read after them; None where that cannot be seen."""
    function = source.function(branch.statement)
    if function is None:
        return None
    inside = [statement for arm in branch.arms for statement in arm.body]
    bound = names_bound(inside)
    if any(is_shared(function.body, name) for name in bound):
        return None
    closed = _read_by_functions(function.body) - _read_by_functions(inside)
    return [n for n in bound if n in closed or is_live_after(function.body, branch.end, n)]


def _read_by_functions(statements: Sequence[ast.stmt]) -> set[str]:
    """The names that functions among statements read, whenever they are called."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return names_read([node for node in nodes_of(statements) if isinstance(node, inner)])


def can_move(source: Source, body: Sequence[ast.stmt], *, returns: bool = False) -> bool:
    """Whether statements mean the same in a function of their own, but for the names that they bind.

    `returns`: they may end in a `return` of a value, and nowhere else.
    """
    inner = list(body)
    if returns:
        last = inner.pop() if inner else None
        if not isinstance(last, ast.Return) or last.value is None:
            return False
        if not can_move(source, [ast.copy_location(ast.Expr(last.value), last)]):
            return False
    for node in nodes_of(inner, into_functions=False):
        if isinstance(node, _TIED):
            return False
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return False
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in _ASK_FRAME
        ):
            return False
    return not any(_leaves_loop(statement) for statement in inner)


_TIED = (
    ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Delete, ast.NamedExpr, ast.Raise, ast.Assert,
    ast.AsyncFor, ast.AsyncWith,
)  # fmt: skip
# What looks at the function it stands in.
_ASK_FRAME = frozenset({"super", "locals", "vars", "eval", "exec", "globals"})


def _leaves_loop(statement: ast.stmt) -> bool:
    """Whether a `break` or `continue` in a statement belongs to a loop outside of it."""
    if isinstance(statement, (ast.Break, ast.Continue)):
        return True
    if isinstance(statement, (ast.For, ast.While, ast.FunctionDef, ast.ClassDef)):
        return False
    inner = [s for name in ("body", "orelse", "finalbody") for s in getattr(statement, name, ())]
    inner += [s for handler in getattr(statement, "handlers", ()) for s in handler.body]
    inner += [s for case in getattr(statement, "cases", ()) for s in case.body]
    return any(_leaves_loop(s) for s in inner)


def returned(body: Sequence[ast.stmt]) -> ast.expr | None:
    """What a block returns that does nothing else."""
    only = body[0] if len(body) == 1 else None
    return only.value if isinstance(only, ast.Return) else None
