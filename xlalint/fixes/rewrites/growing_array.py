"""A TensorArray that grows gets its rows when it is made: as many as the loop that fills it has steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from xlalint.finding import Edit, Fix
from xlalint.fixes.bindings import is_read, origin, simple_target
from xlalint.fixes.calls import argument, spreads, with_value, without_argument
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix, replace
from xlalint.semantics.values import FROM_SHAPE

MENDS = ("XLA205",)
_LEAVES = (cst.Break, cst.Continue, cst.Return)


@dataclass(frozen=True, slots=True)
class _Filling:
    """A loop whose every step writes one row. `start` and `limit` are those of its counter, `index` is where it writes."""

    start: int
    limit: cst.BaseExpression
    counter: str
    write: cst.Call
    index: cst.BaseExpression


def propose(site: Site) -> Fix | None:
    """Give the array its size, where one loop over a range fills it row by row."""
    draft, call = site.draft, site.node
    if not isinstance(call, cst.Call) or draft.api(call) != "tf.TensorArray" or spreads(call):
        return None
    assignment = draft.parent(call)
    name = simple_target(assignment) if assignment is not None else None
    line = draft.statement(call)
    size, grows = argument(call, "size", 1), argument(call, "dynamic_size", 2)
    if name is None or line is None or grows is None or draft.code(grows.value) != "True":
        return None
    statements = _after(draft.block(line), line)
    place = next((i for i, s in enumerate(statements) if isinstance(s, (cst.For, cst.While))), None)
    if place is None:
        return None
    loop = statements[place]
    assert isinstance(loop, (cst.For, cst.While))
    filling = _filling(draft, loop, name)
    written = _rows_before(draft, statements[:place], name)
    if filling is None or written is None or not _is_known(draft, filling.limit, call):
        return None
    limit, known = draft.code(filling.limit), _number(filling.limit)
    given = 0 if size is None else _number(size.value)
    edits: list[Edit] = []
    doubts = []
    if size is not None and _same(draft, size.value, filling.limit):
        pass  # it has its rows, and only may not grow
    elif given is None:
        return None
    elif known is not None:
        rows = max(known if known > filling.start else 0, given, written)
        if rows != given:
            edits.append(_sized(draft, call, size, str(rows)))
    else:
        edits.append(_sized(draft, call, size, limit))
        if max(given, written, filling.start):
            doubts.append(f"`{limit}` is taken to be {max(given, written, filling.start)} or more.")
    if _is_size_of(draft, filling.index, name):
        if filling.start != written or given:
            return None
        edits.append(replace(draft, filling.index, filling.counter))
    edits.append(without_argument(draft, call, grows))
    message = "Make the array with as many rows as the loop writes."
    return fix(UNSAFE if doubts else SAFE, " ".join((message, *doubts)), *edits)


def _sized(draft: Draft, call: cst.Call, size: cst.Arg | None, rows: str) -> Edit:
    if size is not None:
        return with_value(draft, size, rows)
    first = call.args[0]
    return replace(draft, first, f"{draft.code(first.value)}, size={rows}")


def _after(
    block: Sequence[cst.BaseStatement], line: cst.BaseStatement
) -> Sequence[cst.BaseStatement]:
    index = next((i for i, s in enumerate(block) if s is line), len(block))
    return list(block)[index + 1 :]


def _filling(draft: Draft, loop: cst.For | cst.While, name: str) -> _Filling | None:
    if loop.orelse is not None or any(isinstance(n, _LEAVES) for n in draft.within(loop.body)):
        return None
    bounds = _of_for(draft, loop) if isinstance(loop, cst.For) else _of_while(draft, loop)
    writes = [c for s in loop.body.body if (c := _write(draft, s, name)) is not None]
    if bounds is None or len(writes) != 1:
        return None
    start, limit, counter = bounds
    write = writes[0]
    index = write.args[0].value
    is_counter = isinstance(index, cst.Name) and index.value == counter
    if not is_counter and not _is_size_of(draft, index, name):
        return None
    if _other_uses(draft, loop.body, name, write):
        return None
    return _Filling(start, limit, counter, write, index)


def _of_for(draft: Draft, loop: cst.For) -> tuple[int, cst.BaseExpression, str] | None:
    """Start, limit and counter of `for i in tf.range(n)` and `for i in range(1, n)`."""
    values = loop.iter
    if not isinstance(loop.target, cst.Name) or not isinstance(values, cst.Call):
        return None
    is_range = draft.api(values) == "tf.range" or draft.code(values.func) == "range"
    if not is_range or any(a.keyword or a.star for a in values.args) or len(values.args) > 2:
        return None
    start = _number(values.args[0].value) if len(values.args) == 2 else 0
    return None if start is None else (start, values.args[-1].value, loop.target.value)


def _of_while(draft: Draft, loop: cst.While) -> tuple[int, cst.BaseExpression, str] | None:
    """`while i < n:`, where `i` begins at a number and the last statement adds 1 to it."""
    test = loop.test
    if not isinstance(test, cst.Comparison) or not isinstance(test.left, cst.Name):
        return None
    last = loop.body.body[-1] if isinstance(loop.body, cst.IndentedBlock) else None
    counter = test.left.value
    steps = (f"{counter} += 1", f"{counter} = {counter} + 1")
    is_less = len(test.comparisons) == 1 and isinstance(test.comparisons[0].operator, cst.LessThan)
    if not is_less or last is None or draft.code(last).strip() not in steps:
        return None
    begun = origin(draft, counter, loop)
    if begun is None or not isinstance(begun.node, cst.Assign):
        return None
    value: cst.BaseExpression = begun.node.value
    if isinstance(value, cst.Call) and draft.api(value) == "tf.constant" and len(value.args) == 1:
        value = value.args[0].value
    start = _number(value)
    return None if start is None else (start, test.comparisons[0].comparator, counter)


def _write(draft: Draft, statement: cst.CSTNode, name: str) -> cst.Call | None:
    """The call in `name = name.write(index, value)`."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    assignment = statement.body[0]
    if not isinstance(assignment, cst.Assign) or simple_target(assignment) != name:
        return None
    call = assignment.value
    if isinstance(call, cst.Call) and draft.code(call.func) == f"{name}.write":
        return call if len(call.args) == 2 and not any(a.keyword for a in call.args) else None
    return None


def _other_uses(draft: Draft, body: cst.CSTNode, name: str, write: cst.Call) -> bool:
    """Whether a step does anything else with the array than write its row and read others."""
    for node in draft.within(body):
        if not isinstance(node, cst.Name) or node.value != name:
            continue
        method = draft.parent(node)
        if isinstance(method, cst.Attribute) and is_read(draft, node):
            is_own = method is write.func or _is_size_of(draft, write.args[0].value, name)
            if not is_own and method.attr.value != "read":
                return True
        elif not (isinstance(method, cst.AssignTarget)):
            return True
    return False


def _rows_before(draft: Draft, statements: Sequence[cst.CSTNode], name: str) -> int | None:
    """How many rows are written before the loop, one by one; None where something else is done with the array."""
    rows = 0
    for statement in statements:
        uses = [n for n in draft.within(statement) if isinstance(n, cst.Name) and n.value == name]
        if not uses:
            continue
        write = _write(draft, statement, name)
        index = None if write is None else _number(write.args[0].value)
        if index is None or len(uses) != 2:
            return None
        rows = max(rows, index + 1)
    return rows


def _is_known(draft: Draft, limit: cst.BaseExpression, at: cst.CSTNode) -> bool:
    """Whether XLA knows a number when it compiles, and it is the same where the array is made."""
    value = draft.value(limit)
    if value.dependence > FROM_SHAPE or value.dtype not in (None, "int32") or value.guess:
        return False
    if value.kind == "unknown" and not isinstance(limit, (cst.Integer, cst.Subscript)):
        return False
    for name in draft.within(limit):
        if isinstance(name, cst.Name) and is_read(draft, name):
            came_from = origin(draft, name.value, name)
            if came_from is None or came_from != origin(draft, name.value, at):
                return False
    return True


def _is_size_of(draft: Draft, node: cst.BaseExpression, name: str) -> bool:
    return draft.code(node) == f"{name}.size()"


def _same(draft: Draft, one: cst.BaseExpression, other: cst.BaseExpression) -> bool:
    return draft.code(one) == draft.code(other)


def _number(node: cst.BaseExpression) -> int | None:
    return node.evaluated_value if isinstance(node, cst.Integer) else None
