"""A list that a loop of the graph fills, and tf.stack reads: a TensorArray with as many rows as the loop has steps."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.asts import Source, names_bound, names_read
from xlalint.fixes.numerics import dtype_source, literal
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix
from xlalint.semantics.control_flow.liveness import is_live_after
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import PYTHON

MENDS = ("XLA107",)
_STACKS = ("tf.stack", "tf.convert_to_tensor")


@dataclass(frozen=True, slots=True)
class _Filling:
    """`name` is made a list by `made`, gets one item in each step of `loop`, and is stacked by `stacks`."""

    source: Source
    name: str
    made: ast.Assign
    loop: ast.For
    append: ast.Call
    stacks: Sequence[ast.Call]
    tf: str


@dataclass(frozen=True, slots=True)
class _Steps:
    """How many steps there are (`number`, where it is known), what counts them, and the edits that make it so."""

    code: str
    number: int | None
    counter: str
    edits: Sequence[Edit]


def propose(site: Site) -> Fix | None:
    """Write the rows by their index, and stack the array."""
    tf = site.draft.tensorflow
    statement = site.draft.as_ast(site.node)
    if site.finding.variant != "leaked" or not site.is_converted or tf is None:
        return None
    found = _read(Source(site.draft), statement, tf) if isinstance(statement, ast.Expr) else None
    steps = _steps(found) if found is not None else None
    if found is None or steps is None:
        return None
    source, row = found.source, found.append.args[0]
    value, dtype = source.value(row), _dtype(found)
    if not value.is_tensor or dtype is None:
        return None
    array = f"{tf}.TensorArray({dtype}, size={steps.code})"
    start = source.span(row)
    margin = source.draft.line(start.line)[: start.column - 1]
    behind = f"\n{margin}" if not margin.strip() else " "
    before_row = Span(start.line, start.column, start.line, start.column)
    edits = [
        Edit(source.span(found.made.value), array),
        Edit(source.span(found.append.func), f"{found.name} = {found.name}.write"),
        Edit(before_row, f"{steps.counter},{behind}"),
        *(Edit(source.span(stack), f"{found.name}.stack()") for stack in found.stacks),
        *steps.edits,
    ]
    message = "Collect the rows in a TensorArray, with as many as the loop has steps"
    if steps.number and value.sure:
        return fix(SAFE, f"{message}.", *edits)
    return fix(UNSAFE, f"{message}: of no steps it gives an empty tensor.", *edits)


def _read(source: Source, statement: ast.Expr, tf: str) -> _Filling | None:
    append, path = statement.value, source.path(statement)
    loop = path[-1].owner if path else None
    func = append.func if isinstance(append, ast.Call) else None
    if not isinstance(append, ast.Call) or not isinstance(func, ast.Attribute):
        return None
    if not isinstance(func.value, ast.Name):
        return None
    if not isinstance(loop, ast.For) or path[-1].block is not loop.body or loop.orelse:
        return None
    leaves = (ast.Break, ast.Continue, ast.Return)
    if func.attr != "append" or len(append.args) != 1 or append.keywords:
        return None
    if any(isinstance(node, leaves) for node in nodes_of(loop.body)):
        return None
    name, before = func.value.id, path[-2].block[: path[-2].place]
    made = next((s for s in reversed(before) if name in names_bound([s])), None)
    if not isinstance(made, ast.Assign) or not _is_empty_list(made, name):
        return None
    function = source.function(loop)
    stacks = _stacks(source, function.body, name, func.value) if function is not None else None
    return _Filling(source, name, made, loop, append, stacks, tf) if stacks else None


def _is_empty_list(made: ast.Assign, name: str) -> bool:
    if len(made.targets) != 1 or not isinstance(made.targets[0], ast.Name):
        return False
    value = made.value
    if isinstance(value, ast.Call):
        is_list = isinstance(value.func, ast.Name) and value.func.id == "list"
        return is_list and not value.args and not value.keywords
    return isinstance(value, ast.List) and not value.elts and made.targets[0].id == name


def _stacks(
    source: Source, body: Sequence[ast.stmt], name: str, receiver: ast.Name
) -> list[ast.Call] | None:
    """The calls that stack the list; None where anything else reads it, or nothing does, or it is bound twice."""
    every = list(nodes_of(body))
    stacks = [
        node
        for node in every
        if isinstance(node, ast.Call)
        and source.api(node) in _STACKS
        and len(node.args) == 1
        and not node.keywords
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id == name
    ]
    uses = [node for node in every if isinstance(node, ast.Name) and node.id == name]
    known = {id(receiver), *(id(stack.args[0]) for stack in stacks)}
    others = [use for use in uses if id(use) not in known]
    is_bound_once = len(others) == 1 and isinstance(others[0].ctx, ast.Store)
    return stacks if stacks and is_bound_once else None


def _dtype(found: _Filling) -> str | None:
    """The dtype of the rows, as it can be said in front of the loop."""
    source, row = found.source, found.append.args[0]
    known = source.value(row).dtype
    if known is not None:
        return f"{found.tf}.{known}"
    like, target = dtype_source(source, row), found.loop.target
    if isinstance(target, ast.Name) and like == target.id:
        like = source.code(found.loop.iter) if isinstance(found.loop.iter, ast.Name) else None
    bound = names_bound([*_between(source, found), found.loop])
    is_there = like is not None and like.isidentifier() and like not in bound
    return f"{like}.dtype" if is_there else None


# --- steps ----------------------------------------------------------------------------------------------------------


def _steps(found: _Filling) -> _Steps | None:
    source, loop, values = found.source, found.loop, found.loop.iter
    function = source.function(loop)
    if not isinstance(loop.target, ast.Name) or function is None:
        return None
    target = loop.target.id
    if is_live_after(function.body, loop, target) or target in names_bound(loop.body):
        return None
    steps = _of_range(found, values, target) or _of_rows(found, values, target)
    between = _between(source, found)
    if steps is None or set(names_bound(between)) & names_read([values]):
        return None
    return steps


def _between(source: Source, found: _Filling) -> Sequence[ast.stmt]:
    """The statements between the list and the loop."""
    at = source.path(found.loop)[-1]
    first = next((i for i, s in enumerate(at.block) if s is found.made), 0)
    return at.block[first + 1 : at.place]


def _of_range(found: _Filling, values: ast.expr, target: str) -> _Steps | None:
    """`for i in tf.range(n)`."""
    source = found.source
    if not isinstance(values, ast.Call) or source.api(values) != "tf.range":
        return None
    if len(values.args) != 1 or values.keywords:
        return None
    limit, number = values.args[0], literal(source, values.args[0])
    known = source.value(limit)
    if number is None and known.kind != PYTHON and known.dtype != "int32":
        return None
    return _Steps(source.code(limit), number if isinstance(number, int) else None, target, ())


def _of_rows(found: _Filling, values: ast.expr, target: str) -> _Steps | None:
    """`for row in x` as a loop over the indices of `x`."""
    source, loop = found.source, found.loop
    value = source.value(values)
    if not isinstance(values, ast.Name) or not value.is_tensor:
        return None
    if values.id in names_bound(loop.body) or loop.body[0].lineno == loop.lineno:
        return None
    number = value.shape[0] if value.shape and value.sure else None
    code = str(number) if number is not None else f"{found.tf}.shape({values.id})[0]"
    counter = source.fresh(loop, "i")
    column, above = source.span(loop.body[0]).column, _above(source, loop)
    margin = source.draft.line(source.span(loop.body[0]).line)[: column - 1]
    edits = [
        Edit(source.span(loop.target), counter),
        Edit(source.span(values), f"{found.tf}.range({code})"),
        Edit(Span(above, 1, above, 1), f"{margin}{target} = {values.id}[{counter}]\n"),
    ]
    return _Steps(code, number, counter, edits)


def _above(source: Source, loop: ast.For) -> int:
    """The line of the body's first statement, or of the comments above it."""
    line = source.span(loop.body[0]).line
    while source.draft.line(line - 1).lstrip().startswith("#"):
        line -= 1
    return line
