"""`while` on a tensor where AutoGraph does not reach: its body becomes a function, and tf.while_loop calls that.

The statements of the body stay as they are, comments and all: `while test:` becomes `def body(x, y):`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes import bounds
from xlalint.fixes.asts import Source, assigned_before, is_bound_before, names_bound, names_read
from xlalint.fixes.branches import can_move, roots_after
from xlalint.fixes.effects import Effect, effect_of, never_raises, unknown_call
from xlalint.fixes.headers import air_above, colon, end_of_line, is_tight_below
from xlalint.fixes.layout import call_lines
from xlalint.fixes.numerics import literal
from xlalint.fixes.questions import Question, question
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix
from xlalint.semantics.control_flow.liveness import is_carried, is_shared
from xlalint.semantics.facts import CONDITION
from xlalint.semantics.syntax import nodes_of

MENDS = ("XLA102",)
ORDER = 40


@dataclass(frozen=True, slots=True)
class _Loop:
    source: Source
    node: cst.While
    statement: ast.While
    names: Sequence[str]
    asked: Question
    tf: str

    @property
    def margin(self) -> str:
        return " " * (self.source.span(self.statement).column - 1)


def propose(site: Site) -> Fix | None:
    """A function of the body for tf.while_loop, with the bound that the condition has."""
    draft, tf = site.draft, site.draft.tensorflow
    holder = draft.parent(site.node)
    if not isinstance(holder, cst.While) or holder.test is not site.node or tf is None:
        return None
    statement, source = draft.as_ast(holder), Source(draft)
    if site.finding.variant == "started-in-python" and isinstance(statement, ast.While):
        return _started_as_tensor(source, statement, tf)
    if site.is_converted or not isinstance(statement, ast.While) or statement.orelse:
        return None
    if not isinstance(holder.body, cst.IndentedBlock) or not can_move(source, statement.body):
        return None
    names = carried(source, statement)
    if names is None or _branches_within(source, statement):
        return None
    truths = frozenset(name for name in names if _starts_as(source, statement, name, bool))
    asked = goes_on(source, statement.test, tf, names, truths)
    if asked is None:
        return None
    return _fix(_Loop(source, holder, statement, names, asked, tf))


def goes_on(
    source: Source,
    test: ast.expr,
    tf: str,
    names: Sequence[str],
    truths: frozenset[str] = frozenset(),
) -> Question | None:
    """The condition of a loop as tf.while_loop asks it, where the names that it carries are tensors: numbers of Python, too."""
    asked = question(source, test, tf, truths)
    if asked is not None:
        return asked
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        parts = [goes_on(source, part, tf, names, truths) for part in test.values]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        code = known[0].code
        for part in known[1:]:
            code = f"{tf}.logical_and({code}, {part.code})"
        doubt = next((part.doubt for part in known if part.doubt), None)
        if doubt is None and not all(never_raises(source, part) for part in test.values[1:]):
            doubt = "all of its parts are computed, also those that the first one used to guard"
        return Question(code, all(part.is_scalar for part in known), doubt)
    is_count = isinstance(test, ast.Compare) and len(test.ops) == 1
    orders = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
    if is_count and isinstance(test, ast.Compare) and isinstance(test.ops[0], orders):
        if names_read([test]) & set(names):
            return Question(source.code(test), True)
    return None


def carried(source: Source, loop: ast.For | ast.While) -> list[str] | None:
    """The names that one step hands to the next, or to what follows; None where one of them has no value before."""
    function = source.function(loop)
    if function is None:
        return None
    bound = names_bound(loop.body)
    read = _read_by_functions(source, function.body, loop)
    if read & set(bound) or any(is_shared(function.body, name) for name in bound):
        return None
    names = [name for name in bound if is_carried(function.body, loop, name)]
    is_known = all(is_bound_before(source, loop, name) for name in names)
    return names if names and is_known else None


def _read_by_functions(
    source: Source, body: Sequence[ast.stmt], loop: ast.For | ast.While
) -> set[str]:
    """What functions read whenever they are called; without those of the loop that are called at once, as by tf.cond."""
    closures = (ast.FunctionDef, ast.Lambda)
    inside = list(nodes_of(loop.body))
    at_once = {
        id(given)
        for call in inside
        if isinstance(call, ast.Call) and (source.api(call) or "").startswith("tf.")
        for given in [*call.args, *(keyword.value for keyword in call.keywords)]
        if isinstance(given, ast.Lambda)
    }
    every = list(nodes_of(body))
    for function in inside:
        if isinstance(function, ast.FunctionDef):
            uses = [n for n in every if isinstance(n, ast.Name) and n.id == function.name]
            if all(any(use is own for own in inside) for use in uses):
                at_once.add(id(function))
    return {
        n.id
        for c in every
        if isinstance(c, closures) and id(c) not in at_once
        for n in nodes_of([c])
        if isinstance(n, ast.Name)
    }


def _branches_within(source: Source, loop: ast.While) -> bool:
    """Whether the body branches on a tensor itself: that comes first."""
    return any(
        source.facts(node, CONDITION) and source.value(node).is_tensor
        for node in nodes_of(loop.body)
        if isinstance(node, ast.expr)
    )


def _starts_as(source: Source, loop: ast.While, name: str, kind: type) -> bool:
    path = source.path(loop)
    for before in reversed(path[-1].block[: path[-1].place] if path else ()):
        if name in names_bound([before]):
            number = literal(source, before.value) if isinstance(before, ast.Assign) else None
            return (
                isinstance(number, kind)
                and isinstance(before, ast.Assign)
                and isinstance(before.targets[0], ast.Name)
            )
    return False


def _started_as_tensor(source: Source, loop: ast.While, tf: str) -> Fix | None:
    """AutoGraph converts a loop that asks a tensor from the start: `done = tf.constant(False)`."""
    edits, is_truth = [], True
    path = source.path(loop)
    for name in sorted(names_read([loop.test]) & set(names_bound(loop.body))):
        before = [s for s in path[-1].block[: path[-1].place] if name in names_bound([s])]
        made = before[-1] if before else None
        if not isinstance(made, ast.Assign) or not isinstance(made.targets[0], ast.Name):
            return None
        if literal(source, made.value) is None or not isinstance(made.value, ast.Constant):
            continue
        is_truth = is_truth and isinstance(made.value.value, bool)
        edits.append(Edit(source.span(made.value), f"{tf}.constant({source.code(made.value)})"))
    if not edits:
        return None
    message = "Start the loop with a tensor"
    if is_truth:
        return fix(SAFE, f"{message}.", *edits)
    return fix(
        UNSAFE, f"{message}: it is of dtype float32 or int32, whatever it is computed with.", *edits
    )


def _fix(loop: _Loop) -> Fix:
    source, names = loop.source, ", ".join(loop.names)
    step = source.fresh(loop.statement, "body")
    start = source.draft.span(loop.node)
    line, column = colon(source, start)
    bound = bounds.of_while(source, loop.statement)
    state = f"({names},)" if len(loop.names) == 1 else f"({names})"
    arguments = [f"lambda {names}: {loop.asked.code}", step, state]
    if bound is not None:
        arguments.append(f"maximum_iterations={bound}")
    target = state if len(loop.names) == 1 else names
    call = call_lines(f"{target} = ", f"{loop.tf}.while_loop", arguments, tall=True)
    indent = source.draft.module.default_indent
    returned = state if len(loop.names) == 1 else names
    last = source.span(loop.statement.body[-1]).end_line
    below = [f"{loop.margin}{indent}return {returned}", "", *(loop.margin + part for part in call)]
    below += [""] if is_tight_below(source, loop.statement) else []
    edits = [
        *air_above(source, start),
        Edit(Span(start.line, start.column, line, column), f"def {step}({names})"),
        Edit(end_of_line(source, last), "".join("\n" + part for part in below)),
    ]
    doubt = _doubt(loop, bound)
    message = "Make a function of the body for tf.while_loop"
    if doubt is None:
        return fix(SAFE, f"{message}.", *edits)
    return fix(UNSAFE, f"{message}: {doubt}.", *edits)


def _doubt(loop: _Loop, bound: str | None) -> str | None:
    source, body = loop.source, loop.statement.body
    if loop.asked.doubt is not None:
        return loop.asked.doubt
    if effect_of(source, body) is Effect.UNKNOWN:
        called = unknown_call(source, body)
        what = f"`{called}`" if called is not None else "the body"
        return f"the body is traced once, and so is what {what} does in Python"
    if bound is None:
        return "without maximum_iterations XLA compiles no gradient of it"
    return state_doubt(source, loop.statement, loop.names)


def state_doubt(source: Source, loop: ast.For | ast.While, names: Sequence[str]) -> str | None:
    """What may change where the names of a loop become what tf.while_loop carries along."""
    roots = roots_after(source, loop.body)
    for name in names:
        started = assigned_before(source, loop, name)
        counts = any(bounds.adds(source, statement, name) for statement in loop.body)
        if counts and bounds.assigned_from(source, loop, name) is not None:
            if started is None or not source.value(started).is_tensor:
                return f"`{name}` becomes a tensor"
            continue
        if roots.get(name, name) != name:
            return f"`{name}` must keep its dtype and shape from step to step, which could not be proven"
    return None
