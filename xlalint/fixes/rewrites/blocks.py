"""`if` on a tensor whose arms do more than assign one value each: each arm becomes a function, and tf.cond calls one of them.

The statements of the arms stay as they are, comments and all: `if test:` becomes `def true_fn():`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.asts import Source, is_bound_before, names_bound
from xlalint.fixes.branches import Arm, Branch, assignments, can_move, outputs, read, roots_after
from xlalint.fixes.choices import Side, loops_in, unchanged
from xlalint.fixes.effects import Effect, effect_of, never_raises, unknown_call
from xlalint.fixes.gradients import leak
from xlalint.fixes.headers import air_above, colon, end_of_line, is_tight_below
from xlalint.fixes.layout import call_lines
from xlalint.fixes.numerics import agreement, previous
from xlalint.fixes.questions import Question, question
from xlalint.fixes.site import DISPLAY, SAFE, UNSAFE, Site, fix
from xlalint.semantics.control_flow.liveness import binds_in, reads_first
from xlalint.semantics.facts import CONDITION
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import Value

MENDS = ("XLA101", "XLA106")
# After the rewrites that need no functions.
ORDER = 45


def propose(site: Site) -> Fix | None:
    """Functions of the arms. Shown only where AutoGraph makes them by itself: there the `if` reads better."""
    draft, tf = site.draft, site.draft.tensorflow
    branch = read(draft, site.node)
    if branch is None or tf is None or branch.is_elif:
        return None
    if not isinstance(branch.node, cst.If) or not _stands_in_blocks(branch.node):
        return None
    source = Source(draft)
    asked = [question(source, test, tf) for test in branch.tests]
    questions = [q for q in asked if q is not None]
    if len(questions) < len(asked) or _asks_within(source, branch):
        return None
    work = _Work(source, branch, questions, tf)
    made = _skipping(work) if branch.taken else _joined(work) or _returning(work)
    if made is None:
        return None
    message = "Make functions of the arms for tf.cond"
    if site.is_converted:
        return fix(DISPLAY, f"{message}, as AutoGraph does by itself here.", *made.edits)
    if made.doubt is None:
        return fix(SAFE, f"{message}.", *made.edits)
    return fix(UNSAFE, f"{message}: {made.doubt}.", *made.edits)


@dataclass(frozen=True, slots=True)
class _Work:
    source: Source
    branch: Branch
    asked: Sequence[Question]
    tf: str


@dataclass(frozen=True, slots=True)
class _Made:
    edits: list[Edit]
    doubt: str | None


def _stands_in_blocks(node: cst.If) -> bool:
    """Whether all arms are blocks of their own lines."""
    while True:
        if not isinstance(node.body, cst.IndentedBlock):
            return False
        if node.orelse is None:
            return True
        if isinstance(node.orelse, cst.Else):
            return isinstance(node.orelse.body, cst.IndentedBlock)
        node = node.orelse


def _asks_within(source: Source, branch: Branch) -> bool:
    """Whether an arm branches on a tensor itself: that comes first."""
    body = [statement for arm in branch.arms for statement in arm.body]
    return any(
        source.facts(node, CONDITION) and source.value(node).is_tensor
        for node in nodes_of(body)
        if isinstance(node, ast.expr)
    )


# --- arms that assign -----------------------------------------------------------------------------------------------


def _joined(work: _Work) -> _Made | None:
    """Arms that fall through: what they bind and what is read later comes out of tf.cond."""
    source, branch = work.source, work.branch
    names = outputs(source, branch)
    if names is None or not all(can_move(source, arm.body) for arm in branch.arms):
        return None
    for name in names:
        if all(binds_in(arm.body, name) for arm in branch.arms) and branch.has_else:
            continue
        if not is_bound_before(source, branch.statement, name):
            return None
    functions = _function_names(work)
    calls = [_call_of(work, arm, function, names) for arm, function in zip(branch.arms, functions)]
    if not branch.has_else:
        calls.append(f"lambda: {_given_back(names)}" if names else "lambda: None")
    target = f"{', '.join(names)} = " if names else ""
    edits = [
        *_headers(work, functions, [_parameters(arm, names) for arm in branch.arms]),
        *_ends(work, names, _written(work, target, calls)),
    ]
    return _Made(edits, _doubt(work, names))


def _given_back(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _parameters(arm: Arm, names: Sequence[str]) -> list[str]:
    """Names that an arm reads before it binds them: in a function of its own they would be unbound."""
    bound = names_bound(arm.body)
    return [
        name
        for name in dict.fromkeys([*names, *bound])
        if name in bound and reads_first(arm.body, name)
    ]


def _call_of(work: _Work, arm: Arm, function: str, names: Sequence[str]) -> str:
    given = _parameters(arm, names)
    return f"lambda: {function}({', '.join(given)})" if given else function


def _function_names(work: _Work) -> list[str]:
    wanted = ["true_fn", "false_fn"]
    if len(work.branch.tests) > 1:
        wanted = [f"case_{number}" for number in range(1, len(work.branch.tests) + 1)] + [
            "otherwise"
        ]
    return [work.source.fresh(work.branch.statement, name) for name in wanted]


def _written(work: _Work, target: str, calls: Sequence[str]) -> list[str]:
    if len(work.asked) == 1:
        return call_lines(
            target,
            f"{work.tf}.cond",
            [work.asked[0].code, *calls],
            tall=sum(call.startswith("lambda") for call in calls) > 1,
        )
    pairs = [f"        ({asked.code}, {call})," for asked, call in zip(work.asked, calls)]
    return [f"{target}{work.tf}.case(", "    [", *pairs, "    ],", f"    default={calls[-1]},", ")"]


# --- edits ----------------------------------------------------------------------------------------------------------


def _margin(work: _Work) -> str:
    return " " * (work.source.draft.span(work.branch.node).column - 1)


def _headers(work: _Work, functions: Sequence[str], given: Sequence[Sequence[str]]) -> list[Edit]:
    """`if test:` as `def true_fn():`, and the same for the arms below it, with what comes between two functions."""
    source = work.source
    headers: list[cst.CSTNode] = []
    node: cst.CSTNode | None = work.branch.node
    while node is not None:
        headers.append(node)
        node = node.orelse if isinstance(node, cst.If) else None
    edits = []
    for header, function, parameters in zip(headers, functions, given):
        start = source.draft.span(header)
        line, column = colon(source, start)
        span = Span(start.line, start.column, line, column)
        edits.append(Edit(span, f"def {function}({', '.join(parameters)})"))
    return edits + air_above(source, source.draft.span(work.branch.node))


def _ends(work: _Work, names: Sequence[str], conditional: Sequence[str]) -> list[Edit]:
    """A `return` of names below each arm, and the conditional below the last."""
    source, margin, branch = work.source, _margin(work), work.branch
    indent = source.draft.module.default_indent
    edits = []
    for arm in branch.arms:
        end = source.span(arm.body[-1]).end_line
        lines = [f"{margin}{indent}return {', '.join(names)}"] if names else []
        if arm is branch.arms[-1]:
            lines += ["", *(margin + line for line in conditional)]
            lines += [""] if is_tight_below(source, branch.statement) else []
        else:
            lines.append("")
        edits.append(Edit(end_of_line(source, end), "".join("\n" + line for line in lines)))
    return edits


# --- steps of a loop that are skipped -------------------------------------------------------------------------------


def skipped(
    source: Source, branch: Branch, asked: Question, tf: str
) -> tuple[list[str], str | None] | None:
    """The rest of a step as a function, which tf.cond calls where the step is not skipped; and what may change by that.

    The lines stand for what is behind the `if`. None where something is done before the step is skipped.
    """
    rest, names = branch.arms[-1].body, outputs(source, branch)
    if (
        branch.arms[0].body
        or len(branch.arms) < 2
        or not rest
        or not names
        or not can_move(source, rest)
    ):
        return None
    is_elif = source.text(source.span(rest[0])).startswith("elif")
    if is_elif or _holds_tall_text(source, rest):
        return None
    if not all(is_bound_before(source, branch.statement, name) for name in names):
        return None
    function = source.fresh(branch.statement, "rest_of_step")
    given = [name for name in names_bound(rest) if reads_first(rest, name)]
    call = f"lambda: {function}({', '.join(given)})" if given else function
    arms = [asked.code, f"lambda: {_given_back(names)}", call]
    indent = source.draft.module.default_indent
    lines = [
        "",
        f"def {function}({', '.join(given)}):",
        *(indent + row if row else "" for row in _rows(source, branch)),
        f"{indent}return {', '.join(names)}",
        "",
        *call_lines(f"{', '.join(names)} = ", f"{tf}.cond", arms, tall=bool(given)),
    ]
    return lines, _doubt(_Work(source, branch, [asked], tf), names)


def _rows(source: Source, branch: Branch) -> list[str]:
    """The lines of the `else` and of what is below the `if`, as if they stood at the margin."""
    draft, span = source.draft, source.span(branch.statement)
    rows: list[str] = []
    inside = branch.statement.orelse if isinstance(branch.statement, ast.If) else []
    if inside:
        first, last = source.span(inside[0]), source.span(inside[-1]).end_line
        start = first.line
        while draft.line(start - 1).lstrip().startswith("#"):
            start -= 1
        rows += [draft.line(n)[first.column - 1 :] for n in range(start, last + 1)]
    last = source.span(branch.end).end_line
    rows += [draft.line(n)[span.column - 1 :] for n in range(span.end_line + 1, last + 1)]
    while rows and not rows[0].strip():
        del rows[0]
    return [row if row.strip() else "" for row in rows]


def _skipping(work: _Work) -> _Made | None:
    """`if test: continue` and what is below it."""
    source, branch = work.source, work.branch
    made = skipped(source, branch, work.asked[0], work.tf)
    if made is None:
        return None
    span, margin = source.span(branch.statement), _margin(work)
    last = source.span(branch.end).end_line
    end = end_of_line(source, last)
    own = Span(span.line, span.column, span.end_line, len(source.draft.line(span.end_line)) + 1)
    rows = [*source.comments(own), *made[0]]
    path = source.path(branch.statement)
    if path and path[-1].place == 0 and not rows[0]:
        del rows[0]
    text = "\n".join(margin + row if row else "" for row in rows)
    return _Made([Edit(Span(span.line, 1, end.line, end.column), text)], made[1])


# --- arms that return -----------------------------------------------------------------------------------------------


def _returning(work: _Work) -> _Made | None:
    """Every arm returns, and so does what follows, which becomes the last function: its lines move in by one step."""
    source, branch = work.source, work.branch
    rest = () if branch.has_else else branch.after
    blocks = [arm.body for arm in branch.arms] + ([] if branch.has_else else [rest])
    if not all(can_move(source, block, returns=True) for block in blocks):
        return None
    if rest and (not _ends_its_function(source, branch) or _holds_tall_text(source, rest)):
        return None
    functions = _function_names(work)
    given = [[n for n in names_bound(block) if reads_first(block, n)] for block in blocks]
    calls = [
        f"lambda: {function}({', '.join(names)})" if names else function
        for function, names in zip(functions, given)
    ]
    edits = _headers(work, functions, given)
    lines = _written(work, "return ", calls)
    if rest:
        edits.append(_indented(work, rest, f"def {functions[-1]}({', '.join(given[-1])}):", lines))
    else:
        edits += _ends(work, (), lines)
    return _Made(edits, _doubt_of_returned(work, blocks))


def _ends_its_function(source: Source, branch: Branch) -> bool:
    """Whether what follows the conditional is the rest of its function."""
    function = source.function(branch.statement)
    return function is not None and branch.statement in function.body


def _holds_tall_text(source: Source, statements: Sequence[ast.stmt]) -> bool:
    """Whether a string of several lines stands among statements: moving its lines would change it."""
    return any(
        isinstance(node, (ast.Constant, ast.JoinedStr)) and node.lineno != node.end_lineno
        for node in nodes_of(statements)
    )


def _indented(work: _Work, rest: Sequence[ast.stmt], header: str, lines: Sequence[str]) -> Edit:
    """What follows the conditional as a function, and the lines that call it."""
    source, margin = work.source, _margin(work)
    indent = source.draft.module.default_indent
    first = end_of_line(source, source.span(work.branch.statement).end_line)
    last = source.span(rest[-1]).end_line
    moved = [source.draft.line(number) for number in range(first.line + 1, last + 1)]
    while moved and not moved[0].strip():
        del moved[0]
    inside = [indent + line if line.strip() else "" for line in moved]
    text = ["", "", margin + header, *inside, "", *(margin + line for line in lines)]
    end = end_of_line(source, last)
    return Edit(Span(first.line, first.column, end.line, end.column), "\n".join(text))


def _doubt_of_returned(work: _Work, blocks: Sequence[Sequence[ast.stmt]]) -> str | None:
    source = work.source
    found = _doubt_of_work(work, [statement for block in blocks for statement in block])
    values = [block[-1].value for block in blocks if isinstance(block[-1], ast.Return)]
    roots = [roots_after(source, block[:-1]) for block in blocks]
    for value, root in zip(values[1:], roots[1:]):
        if values[0] is None or value is None:
            return found or "one of the arms returns nothing"
        if not agreement(source, values[0], value, None, (roots[0], root)).is_proven:
            return found or "all arms must return one dtype and shape, which could not be proven"
    if found is not None:
        return found
    arms = [(block[:-1], [value]) for block, value in zip(blocks, values) if value is not None]
    return leak(source, work.branch.statement, arms)


# --- what may change ------------------------------------------------------------------------------------------------


def _doubt_of_work(work: _Work, everything: Sequence[ast.stmt]) -> str | None:
    """What may change by tracing all arms, and by asking all tests."""
    source, branch = work.source, work.branch
    doubt = next((asked.doubt for asked in work.asked if asked.doubt), None)
    if doubt is None and not all(never_raises(source, test) for test in branch.tests[1:]):
        doubt = "all tests are made, also those that an earlier one used to guard"
    if doubt is None and effect_of(source, everything) is Effect.UNKNOWN:
        called = unknown_call(source, everything)
        what = f"`{called}`" if called is not None else "an arm"
        doubt = f"both arms are traced, so what {what} does in Python happens whichever is taken"
    if doubt is None and loops_in(source, everything) is not None:
        doubt = "XLA compiles no gradient through a loop in an arm"
    return doubt


def _doubt(work: _Work, names: Sequence[str]) -> str | None:
    source, branch = work.source, work.branch
    bodies = [list(arm.body) for arm in branch.arms]
    doubt = _doubt_of_work(work, [statement for body in bodies for statement in body])
    for name in names:
        if not _is_alike(source, branch, name):
            return (
                doubt
                or f"all arms must leave `{name}` with one dtype and shape, which could not be proven"
            )
    if doubt is None:
        left = [ast.Name(name, ast.Load()) for name in names]
        arms = [(body, left) for body in bodies] + ([] if branch.has_else else [([], left)])
        doubt = leak(source, branch.statement, arms)
    return doubt


def _is_alike(source: Source, branch: Branch, name: str) -> bool:
    """Whether all arms are proven to leave a name with one dtype and shape."""
    roots = [roots_after(source, arm.body).get(name, name) for arm in branch.arms]
    roots += [] if branch.has_else else [name]
    if None not in roots and len(set(roots)) == 1:
        return True
    sides = [_left_by(source, branch, arm, name) for arm in branch.arms]
    sides += [] if branch.has_else else [_before(source, branch, name)]
    values = [side.value for side in sides if side is not None]
    return len(values) == len(sides) and all(_same(values[0], value) for value in values[1:])


def _same(one: Value, other: Value) -> bool:
    """Whether two tensors are known to be of one dtype and static shape."""
    if one.dtype is None or one.shape is None or not (one.is_tensor and other.is_tensor):
        return False
    return one.dtype == other.dtype and one.shape == other.shape and None not in one.shape


def _left_by(source: Source, branch: Branch, arm: Arm, name: str) -> Side | None:
    """What an arm leaves in a name; None where no single assignment says that."""
    writers = [statement for statement in arm.body if name in names_bound([statement])]
    if not writers:
        return _before(source, branch, name)
    made = assignments(source, writers[-1:])
    return made.get(name) if made is not None else None


def _before(source: Source, branch: Branch, name: str) -> Side | None:
    value = previous(source, branch.statement, name)
    return None if value is None else unchanged(name, value)
