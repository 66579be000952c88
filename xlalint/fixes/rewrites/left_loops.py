"""A loop that a tensor ends early (`if test: break`) where AutoGraph does not reach: tf.while_loop, with a flag where it needs one.

The statements of the body stay as they are, comments and all: the header becomes `def body(x, y):`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes import bounds
from xlalint.fixes.asts import Source, assigned_before, names_bound, names_read
from xlalint.fixes.branches import Arm, Branch, can_move
from xlalint.fixes.effects import Effect, effect_of, unknown_call
from xlalint.fixes.headers import air_above, colon, end_of_line, is_tight_below
from xlalint.fixes.layout import call_lines
from xlalint.fixes.numerics import literal
from xlalint.fixes.questions import Question, question
from xlalint.fixes.rewrites.blocks import skipped
from xlalint.fixes.rewrites.branches import assigned
from xlalint.fixes.rewrites.while_loops import carried, goes_on, state_doubt
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix
from xlalint.semantics.control_flow.liveness import is_live_after
from xlalint.semantics.facts import CONDITION
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import PYTHON, UNKNOWN

MENDS = ("XLA101",)
# Before `if` is looked at for itself.
ORDER = 30


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop and the one place where it is left: `leave`, statement number `place` of its body."""

    source: Source
    statement: ast.For | ast.While
    leave: ast.If
    place: int
    asked: Question
    tf: str

    @property
    def margin(self) -> str:
        return " " * (self.source.span(self.statement).column - 1)

    @property
    def rest(self) -> tuple[ast.stmt, ...]:
        """What a step goes on with: the `else` of the test, and all below."""
        return (*self.leave.orelse, *self.statement.body[self.place + 1 :])

    @property
    def is_left_first(self) -> bool:
        """Whether the test comes before anything else is done: then it is the condition of the loop."""
        return self.place == 0 and len(self.leave.body) == 1 and not self.leave.orelse


@dataclass(frozen=True, slots=True)
class _Counter:
    """What a loop counts by: the name (None where nothing reads it), where it starts, and how many steps there are."""

    name: str | None
    start: str
    steps: str


@dataclass(frozen=True, slots=True)
class _Left:
    """What stands for `if test: break` and all below it in the body, and what may change by that."""

    lines: list[str]
    flag: str | None
    doubt: str | None


def propose(site: Site) -> Fix | None:
    """A function of the body for tf.while_loop; as many steps at most as Python would have made."""
    loop = _read(site)
    if loop is None:
        return None
    names = carried(loop.source, loop.statement)
    counter = _counter(loop) if isinstance(loop.statement, ast.For) else None
    if not names or (isinstance(loop.statement, ast.For) and counter is None):
        return None
    if not all(_is_carryable(loop, name) for name in names):
        return None
    left = _left(loop)
    test = _goes_on(loop, names, left)
    return None if left is None or test is None else _fix(loop, names, counter, left, test)


def _is_carryable(loop: _Loop, name: str) -> bool:
    """Whether a name holds what tf.while_loop can carry: nothing that is known to be a list, a function or an object."""
    started = assigned_before(loop.source, loop.statement, name)
    if started is None:
        return True
    if isinstance(started, (ast.List, ast.Dict, ast.Set, ast.Lambda, ast.ListComp)):
        return False
    known = loop.source.value(started)
    return known.is_tensor or known.kind in (PYTHON, UNKNOWN)


def _read(site: Site) -> _Loop | None:
    draft, tf = site.draft, site.draft.tensorflow
    holder = draft.parent(site.node)
    if not isinstance(holder, cst.If) or holder.test is not site.node or tf is None:
        return None
    leave, source = draft.as_ast(holder), Source(draft)
    if site.is_converted or not isinstance(leave, ast.If):
        return None
    path = source.path(leave)
    statement = path[-1].owner if path else None
    if not isinstance(statement, (ast.For, ast.While)) or path[-1].block is not statement.body:
        return None
    asked = question(source, leave.test, tf)
    loop = None if asked is None else _Loop(source, statement, leave, path[-1].place, asked, tf)
    return loop if loop is not None and _is_simple(loop) else None


def _is_simple(loop: _Loop) -> bool:
    """Whether the loop is left nowhere else, has lines of its own, and holds nothing that is tied to its function."""
    source, statement = loop.source, loop.statement
    own = [s for s in statement.body if s is not loop.leave]
    own += [*loop.leave.body[:-1], *loop.leave.orelse]
    if statement.orelse or not isinstance(loop.leave.body[-1], ast.Break):
        return False
    if statement.body[0].lineno == statement.lineno or not can_move(source, own):
        return False
    return not any(
        source.facts(node, CONDITION) and source.value(node).is_tensor
        for node in nodes_of(own)
        if isinstance(node, ast.expr)
    )


# --- counting -------------------------------------------------------------------------------------------------------


def _counter(loop: _Loop) -> _Counter | None:
    """What `for i in range(...)` counts; None where a tensor cannot stand for `i`, or it counts otherwise."""
    source, statement = loop.source, loop.statement
    assert isinstance(statement, ast.For)
    values, target = statement.iter, statement.target
    if not isinstance(target, ast.Name) or not isinstance(values, ast.Call) or values.keywords:
        return None
    is_range = isinstance(values.func, ast.Name) and values.func.id == "range"
    if not is_range or not 1 <= len(values.args) <= 2 or not _is_python(source, values.args):
        return None
    start = values.args[0] if len(values.args) == 2 else None
    steps = _difference(source, start, values.args[-1])
    if not counts_by_tensor(source, statement):
        return None
    if target.id not in names_read(statement.body):
        return _Counter(None, "0", steps)
    return _Counter(target.id, "0" if start is None else source.code(start), steps)


def counts_by_tensor(source: Source, loop: ast.For) -> bool:
    """Whether a tensor may stand for the counter of a loop: all that reads it takes one, and nothing reads it behind the loop."""
    function, target = source.function(loop), loop.target
    if function is None or not isinstance(target, ast.Name) or target.id in names_bound(loop.body):
        return False
    if is_live_after(function.body, loop, target.id):
        return False
    return all(_fits_tensor(source, read) for read in _reads(loop.body, target.id))


def _is_python(source: Source, nodes: Sequence[ast.expr]) -> bool:
    """Whether `range` may be asked for them: by whole numbers, which no tensor of a graph is."""
    return not any(source.value(node).is_tensor for node in nodes)


def _difference(source: Source, start: ast.expr | None, stop: ast.expr) -> str:
    code = source.code(stop)
    if start is None:
        return code
    numbers = literal(source, start), literal(source, stop)
    if isinstance(numbers[0], int) and isinstance(numbers[1], int):
        return str(max(numbers[1] - numbers[0], 0))
    return f"{_operand(source, stop)} - {_operand(source, start)}"


def _operand(source: Source, node: ast.expr) -> str:
    """The source of an expression, so that it can stand beside a minus."""
    is_tight = isinstance(node, (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript))
    return source.code(node) if is_tight else f"({source.code(node)})"


def _reads(body: Sequence[ast.stmt], name: str) -> list[tuple[ast.AST, ast.Name]]:
    """Where a name is read, each with the node right above."""
    return [
        (above, child)
        for above in nodes_of(body)
        for child in ast.iter_child_nodes(above)
        if isinstance(child, ast.Name) and child.id == name
    ]


def _fits_tensor(source: Source, read: tuple[ast.AST, ast.Name]) -> bool:
    """Whether a whole number may be a tensor there: the index of a tensor, or what is cast."""
    above, name = read
    if isinstance(above, ast.Subscript):
        return above.slice is name and source.value(above.value).is_tensor
    return isinstance(above, ast.Call) and source.api(above) in ("tf.cast", "tf.gather")


# --- leaving --------------------------------------------------------------------------------------------------------


def _left(loop: _Loop) -> _Left | None:
    """The flag, and what the names are where the loop is left and where it goes on."""
    source = loop.source
    if loop.is_left_first:
        return _Left([], None, loop.asked.doubt)
    flag = source.fresh(loop.statement, "done")
    said = source.comments(_down_to(loop, loop.leave, loop.leave.body[-1]))
    lines = [*said, f"{flag} = {loop.asked.code}"]
    arms = [Arm(loop.leave.test, tuple(loop.leave.body[:-1]))]
    arms += [Arm(None, loop.rest)] if loop.rest else []
    if not any(arm.body for arm in arms):
        return _Left(lines, flag, loop.asked.doubt)
    node = source.draft.at(source.span(loop.leave))[-1]
    if not isinstance(node, cst.If):
        return None
    branch = Branch(node, loop.leave, tuple(arms), (), False, loop.rest)
    asked = Question(flag, loop.asked.is_scalar, loop.asked.doubt)
    made = assigned(source, branch, [asked], loop.tf)
    if made is not None:
        below = loop.statement.body[loop.place + 1 :]
        said_below = [c for s in below for c in source.comments(_down_to(loop, s, s))]
        if loop.leave.orelse:
            first = source.span(loop.leave.body[-1]).end_line + 1
            inside = Span(first, 1, *_end(loop, loop.leave))
            said_below = [*source.comments(inside), *said_below]
        return _Left([*lines, *said_below, *made[0]], flag, made[1])
    moved = skipped(source, branch, asked, loop.tf)
    return None if moved is None else _Left([*lines, *moved[0]], flag, moved[1])


def _down_to(loop: _Loop, statement: ast.stmt, last: ast.stmt) -> Span:
    """A statement down to a line of it, with the comments above it, unless it is the `if` that leaves, and behind it."""
    source, block = loop.source, loop.statement.body
    span = source.span(statement)
    index = next((i for i, each in enumerate(block) if each is statement), 0)
    start = (span.line, span.column)
    if index and statement is not loop.leave:
        start = (source.span(block[index - 1]).end_line + 1, 1)
    return Span(*start, *_end(loop, last))


def _end(loop: _Loop, statement: ast.stmt) -> tuple[int, int]:
    """The end of the last line of a statement, what is said behind it included."""
    line = loop.source.span(statement).end_line
    return line, len(loop.source.draft.line(line)) + 1


def _goes_on(loop: _Loop, names: Sequence[str], left: _Left | None) -> str | None:
    """The condition of tf.while_loop."""
    if left is None:
        return None
    ends = left.flag if left.flag is not None else loop.asked.code
    ends_not = f"{loop.tf}.logical_not({ends})"
    if isinstance(loop.statement, ast.For):
        return ends_not
    test = loop.statement.test
    if isinstance(test, ast.Constant) and test.value in (True, 1):
        return ends_not
    asked = goes_on(loop.source, test, loop.tf, names)
    if asked is None or asked.doubt is not None:
        return None
    return f"{loop.tf}.logical_and({asked.code}, {ends_not})"


# --- the edits ------------------------------------------------------------------------------------------------------


def _fix(
    loop: _Loop, names: Sequence[str], counter: _Counter | None, left: _Left, test: str
) -> Fix:
    source, statement = loop.source, loop.statement
    step = source.fresh(statement, "body")
    count = counter.name if counter is not None else None
    state = [*([count] if count else []), *names, *([left.flag] if left.flag else [])]
    start = source.span(statement)
    line, column = colon(source, start)
    given = ", ".join(state)
    returned = ", ".join(f"{name} + 1" if name == count else name for name in state)
    comma = "," if len(state) == 1 else ""
    below = [*left.lines, f"return ({returned},)" if comma else f"return {returned}"]
    indent = source.draft.module.default_indent
    call = [*_asked_about(loop), *_call(loop, state, counter, test, step)]
    lines = [
        *(loop.margin + indent + row if row else "" for row in below),
        "",
        *(loop.margin + r for r in call),
    ]
    lines += [""] if is_tight_below(source, statement) else []
    edits = [
        *air_above(source, start),
        Edit(Span(start.line, start.column, line, column), f"def {step}({given})"),
        _below(loop, lines),
    ]
    doubt = _doubt(loop, names, counter, left)
    message = "Make a function of the body for tf.while_loop, which ends where the loop was left"
    if doubt is None:
        return fix(SAFE, f"{message}.", *edits)
    return fix(UNSAFE, f"{message}: {doubt}.", *edits)


def _below(loop: _Loop, lines: Sequence[str]) -> Edit:
    """From the `if` to the end of the body; behind the body where it only goes on without its first statement."""
    source = loop.source
    first, last = source.span(loop.leave), source.span(loop.statement.body[-1])
    end = end_of_line(source, last.end_line)
    text = "\n".join(lines)
    if not loop.is_left_first:
        return Edit(Span(first.line, 1, end.end_line, end.end_column), text)
    rows = [source.draft.line(n) for n in range(first.end_line + 1, last.end_line + 1)]
    while rows and not rows[0].strip():
        del rows[0]
    above = _header_end(loop) + 1
    return Edit(Span(above, 1, end.end_line, end.end_column), "\n".join([*rows, text]))


def _header_end(loop: _Loop) -> int:
    """The line that the header of the loop ends in."""
    return colon(loop.source, loop.source.span(loop.statement))[0]


def _asked_about(loop: _Loop) -> list[str]:
    """The comments about a test that becomes the condition."""
    if not loop.is_left_first:
        return []
    source, first = loop.source, loop.source.span(loop.leave)
    above = Span(_header_end(loop) + 1, 1, first.line, first.column)
    end = Span(first.line, first.column, first.end_line, len(source.draft.line(first.end_line)) + 1)
    return [*source.comments(above), *source.comments(end)]


def _call(
    loop: _Loop, state: Sequence[str], counter: _Counter | None, test: str, step: str
) -> list[str]:
    source, tf = loop.source, loop.tf
    function = source.function(loop.statement)
    body = function.body if function is not None else []
    starts, targets = [], []
    for name in state:
        is_count = counter is not None and name == counter.name
        is_own = name not in names_bound(loop.statement.body) and not is_count
        starts.append(
            f"{tf}.constant({counter.start})"
            if counter is not None and is_count
            else f"{tf}.constant(False)"
            if is_own
            else name
        )
        is_read = not (is_count or is_own) and is_live_after(body, loop.statement, name)
        targets.append(name if is_read else "_")
    comma = "," if len(state) == 1 else ""
    given = [f"lambda {', '.join(state)}: {test}", step, f"({', '.join(starts)}{comma})"]
    bound = counter.steps if counter is not None else _bound(loop)
    if bound is not None:
        given.append(f"maximum_iterations={bound}")
    target = f"({targets[0]},) = " if comma else f"{', '.join(targets)} = "
    return call_lines(target, f"{tf}.while_loop", given, tall=True)


def _bound(loop: _Loop) -> str | None:
    assert isinstance(loop.statement, ast.While)
    return bounds.of_while(loop.source, loop.statement)


def _doubt(loop: _Loop, names: Sequence[str], counter: _Counter | None, left: _Left) -> str | None:
    source, body = loop.source, loop.statement.body
    if left.doubt is not None:
        return left.doubt
    if effect_of(source, body) is Effect.UNKNOWN:
        called = unknown_call(source, body)
        what = f"`{called}`" if called is not None else "the body"
        return f"the body is traced once, and so is what {what} does in Python"
    if counter is None and _bound(loop) is None:
        return "without maximum_iterations XLA compiles no gradient of it"
    return state_doubt(source, loop.statement, names)
