"""`if` on a tensor, whose arms assign or return values: tf.where, an indicator, tf.cond or tf.case in its place."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.asts import Source
from xlalint.fixes.branches import (
    Branch,
    are_independent,
    assignments,
    guarded,
    order,
    outputs,
    read,
    returned,
)
from xlalint.fixes.choices import WHERE, Choice, Side, choose, scaling, side, unchanged
from xlalint.fixes.effects import never_raises
from xlalint.fixes.layout import call_lines
from xlalint.fixes.numerics import previous
from xlalint.fixes.questions import Question, name_for, question
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix
from xlalint.semantics.control_flow.liveness import is_live_after
from xlalint.semantics.values import VARIABLE

MENDS = ("XLA101", "XLA106")
ORDER = 40


def propose(site: Site) -> Fix | None:
    """Choose between values. The fix of a conditional belongs to each of its tests."""
    tf = site.draft.tensorflow
    if tf is None:
        return None
    branch = read(site.draft, site.node)
    if branch is None:
        return None
    source = Source(site.draft)
    branch = guarded(source, branch)
    asked = [question(source, test, tf) for test in branch.tests]
    questions = [q for q in asked if q is not None]
    if len(questions) < len(asked):
        return None
    return chosen(source, branch, questions, tf)


def assigned(
    source: Source, branch: Branch, asked: Sequence[Question], tf: str
) -> tuple[list[str], str | None] | None:
    """The lines that leave the names of the arms with the values chosen, and what may change by them."""
    made = _assigning(_Work(source, branch, asked, tf))
    return None if made is None else (made.lines, made.doubt)


def chosen(source: Source, branch: Branch, asked: Sequence[Question], tf: str) -> Fix | None:
    """Put a choice between values in the place of a branch whose arms return or assign; None where they do more."""
    work = _Work(source, branch, asked, tf)
    made = _returning(work) or _assigning(work) or _stored(work)
    return None if made is None else _fix(work, made)


@dataclass(frozen=True, slots=True)
class _Work:
    source: Source
    branch: Branch
    asked: Sequence[Question]
    tf: str


@dataclass(frozen=True, slots=True)
class _Made:
    """The statements that stand for a conditional, and for those behind it that `takes` counts."""

    lines: list[str]
    what: str
    doubt: str | None
    takes: int = 0


def _fix(work: _Work, made: _Made) -> Fix:
    source, branch = work.source, work.branch
    last = branch.after[made.takes - 1] if made.takes else branch.end
    first, end = source.draft.span(branch.node), source.span(last)
    span = Span(first.line, first.column, end.end_line, end.end_column)
    lines = [*source.comments(span), *made.lines]
    margin = " " * (first.column - 1)
    if branch.guard is not None:
        indent = source.draft.module.default_indent
        lines = [f"if {branch.guard}:", *(indent + line if line else line for line in lines)]
    if branch.is_elif:
        inner = margin + source.draft.module.default_indent
        text = "\n".join(["else:", *(inner + line if line else line for line in lines)])
    else:
        text = "\n".join([lines[0], *(margin + line if line else line for line in lines[1:])])
    if made.doubt is None:
        return fix(SAFE, f"{made.what}.", Edit(span, text))
    return fix(UNSAFE, f"{made.what}: {made.doubt}.", Edit(span, text))


# --- values returned ------------------------------------------------------------------------------------------------


def _returning(work: _Work) -> _Made | None:
    """Every arm returns a value and does nothing else, and so does what follows."""
    branch = work.branch
    values = [returned(arm.body) for arm in branch.arms]
    takes = 0
    if branch.taken or branch.guard is not None:
        return None
    if not branch.has_else:
        follows = branch.after[0] if branch.after else None
        values.append(follows.value if isinstance(follows, ast.Return) else None)
        takes = 1
    sides = [side(work.source, value) for value in values if value is not None]
    if len(sides) < len(values):
        return None
    made = _pairwise(work, sides) if takes or branch.has_else else None
    if made is None:
        made = _choice(work, "return ", sides)
    return None if made is None else _Made(made.lines, made.what, made.doubt, takes)


def _pairwise(work: _Work, sides: Sequence[Side]) -> _Made | None:
    """`return a, b` from both arms as two choices, where each may be computed."""
    if len(sides) != 2 or work.asked[0].doubt:
        return None
    pair = [s.node.elts if isinstance(s.node, ast.Tuple) else [] for s in sides]
    if not pair[0] or len(pair[0]) != len(pair[1]) or len(pair[0]) > 3:
        return None
    name, ahead = _named_question(work)
    asked = Question(name, work.asked[0].is_scalar)
    parts = []
    for one, other in zip(*pair):
        if ast.unparse(one) == ast.unparse(other):
            parts.append(work.source.code(one))
            continue
        then, otherwise = side(work.source, one), side(work.source, other)
        found = choose(work.source, work.branch.statement, asked, (then, otherwise), work.tf)
        if found is None or found.how != WHERE or found.doubt is not None:
            return None
        parts.append(f"{work.tf}.where({name}, {found.then}, {found.otherwise})")
    return _Made([*ahead, f"return {', '.join(parts)}"], "Choose each value with tf.where", None)


# --- values assigned ------------------------------------------------------------------------------------------------


def _assigning(work: _Work) -> _Made | None:
    """Every arm assigns names and does nothing else."""
    source, branch = work.source, work.branch
    arms = [assignments(source, arm.body) for arm in branch.arms]
    known = [arm for arm in arms if arm is not None]
    if len(known) < len(arms) or outputs(source, branch) is None:
        return None
    if not branch.has_else:
        known.append({})
    names = order(known)
    if not names:
        return None
    function = source.function(branch.statement)
    body = function.body if function is not None else []
    if not all(is_live_after(body, branch.end, name) for name in names):
        return None
    sides: dict[str, list[Side]] = {}
    for name in names:
        before = previous(source, branch.statement, name)
        if before is None and not all(name in arm for arm in known):
            return None
        was = unchanged(name, before) if before is not None else None
        sides[name] = [arm.get(name) or was for arm in known]  # type: ignore[misc]
    if len(names) == 1:
        return _scaled(work, names[0], sides) or _choice(work, f"{names[0]} = ", sides[names[0]])
    return _one_after_the_other(work, names, sides) or (
        _together(work, names, sides) if are_independent(known) else None
    )


def _stored(work: _Work) -> _Made | None:
    """`if test: v.assign(x)` of a scalar variable as `v.assign(tf.where(test, x, v))`, where `x` may be computed in any case."""
    source, branch = work.source, work.branch
    calls = [_call_of_assign(arm.body) for arm in branch.arms]
    if len(work.asked) != 1 or branch.taken or None in calls:
        return None
    variables = [call.func.value for call in calls if call and isinstance(call.func, ast.Attribute)]
    values = [call.args[0] for call in calls if call]
    variable = variables[0]
    known = source.value(variable)
    if known.kind != VARIABLE or known.shape != ():
        return None
    if len({source.code(each) for each in variables}) > 1:
        return None
    sides = [side(source, value) for value in [*values, variable][:2]]
    found = choose(source, branch.statement, work.asked[0], sides, work.tf)
    if found is None or found.how != WHERE or found.doubt is not None:
        return None
    chosen_value = f"{work.tf}.where({work.asked[0].code}, {found.then}, {found.otherwise})"
    line = f"{source.code(variable)}.assign({chosen_value})"
    return _Made([line], "Choose what is stored with tf.where", None)


def _call_of_assign(body: Sequence[ast.stmt]) -> ast.Call | None:
    """The call of a block that is nothing but `v.assign(x)`."""
    only = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    if not isinstance(only, ast.Call) or not isinstance(only.func, ast.Attribute):
        return None
    is_plain = only.func.attr == "assign" and len(only.args) == 1 and not only.keywords
    return only if is_plain and not isinstance(only.args[0], ast.Starred) else None


def _scaled(work: _Work, name: str, sides: dict[str, list[Side]]) -> _Made | None:
    """`x = x / 2.0` under a test as `x = x / (1.0 + indicator)`."""
    if len(sides[name]) != 2 or not work.asked[0].is_scalar or work.asked[0].doubt:
        return None
    found = scaling(work.source, *sides[name])
    if found is None:
        return None
    test, asked = work.branch.tests[0], work.asked[0]
    dtype = work.source.value(_left(sides[name][0])).dtype
    indicator = work.source.fresh(work.branch.statement, name_for(work.source, test))
    to = f"{work.tf}.{dtype}" if dtype is not None else f"{name}.dtype"
    lines = [
        f"{indicator} = {work.tf}.cast({asked.code}, {to})",
        f"{name} = {name} {found.operator} (1.0 + {indicator})",
    ]
    return _Made(lines, "Make the test a number, 0 or 1, and scale by it", None)


def _left(one: Side) -> ast.expr:
    return one.node.left if isinstance(one.node, ast.BinOp) else one.node


def _one_after_the_other(
    work: _Work, names: Sequence[str], sides: dict[str, list[Side]]
) -> _Made | None:
    """A tf.where for each name, where all may be computed."""
    if len(work.asked) != 1 or work.asked[0].doubt:
        return None
    name, ahead = _named_question(work)
    asked = Question(name, work.asked[0].is_scalar)
    lines, doubt = list(ahead), None
    for target in names:
        found = choose(work.source, work.branch.statement, asked, sides[target], work.tf)
        if found is None or found.how != WHERE:
            return None
        doubt = doubt or found.doubt
        lines += call_lines(f"{target} = ", f"{work.tf}.where", [name, found.then, found.otherwise])
    return _Made(lines, "Choose each value with tf.where", doubt)


def _named_question(work: _Work) -> tuple[str, list[str]]:
    """A name for the answer, and the statement that gives it; the answer itself where it is a name that stays."""
    test, asked = work.branch.tests[0], work.asked[0]
    bound = {
        s.id
        for arm in work.branch.arms
        for b in arm.body
        for s in ast.walk(b)
        if isinstance(s, ast.Name) and not isinstance(s.ctx, ast.Load)
    }
    if isinstance(test, ast.Name) and asked.code == test.id and test.id not in bound:
        return test.id, []
    name = work.source.fresh(work.branch.statement, name_for(work.source, test))
    return name, [f"{name} = {asked.code}"]


def _together(work: _Work, names: Sequence[str], sides: dict[str, list[Side]]) -> _Made | None:
    """One tf.cond that gives all names, whose arms are expressions."""
    if len(work.asked) != 1:
        return None
    columns: list[list[str]] = [[], []]
    doubt = None
    for name in names:
        found = choose(work.source, work.branch.statement, work.asked[0], sides[name], work.tf)
        if found is None:
            return None
        doubt = doubt or found.doubt
        if found.how == WHERE:
            # Numbers stand beside tensors in tf.where as they do not in tf.cond.
            found = choose(
                work.source,
                work.branch.statement,
                _doubtful_rank(work.asked[0]),
                sides[name],
                work.tf,
            )
            if found is None:
                return None
        columns[0].append(found.then)
        columns[1].append(found.otherwise)
    arms = [f"lambda: ({', '.join(column)})" for column in columns]
    lines = call_lines(
        f"{', '.join(names)} = ", f"{work.tf}.cond", [work.asked[0].code, *arms], tall=True
    )
    return _Made(lines, "Branch with tf.cond, which computes one of its arms", doubt)


def _doubtful_rank(asked: Question) -> Question:
    return Question(asked.code, False, asked.doubt)


# --- one value ------------------------------------------------------------------------------------------------------


def _choice(work: _Work, target: str, sides: Sequence[Side]) -> _Made | None:
    """`target` of one of several values, by as many tests but one."""
    if len(sides) == 2:
        found = choose(work.source, work.branch.statement, work.asked[0], sides, work.tf)
        return None if found is None else _written(work, target, found)
    default = sides[-1]
    found_all = [
        choose(work.source, work.branch.statement, asked, (one, default), work.tf)
        for asked, one in zip(work.asked, sides)
    ]
    choices = [c for c in found_all if c is not None]
    if len(choices) < len(found_all):
        return None
    doubt = next((c.doubt for c in choices if c.doubt), None)
    if not all(never_raises(work.source, test) for test in work.branch.tests[1:]):
        doubt = "all tests are made, also those that an earlier one used to guard"
    if all(c.how == WHERE for c in choices) and len(choices) == 2:
        inner = f"{work.tf}.where({work.asked[1].code}, {choices[1].then}, {choices[1].otherwise})"
        lines = call_lines(target, f"{work.tf}.where", [work.asked[0].code, choices[0].then, inner])
        return _Made(lines, "Choose the value with tf.where", doubt)
    if len({c.otherwise for c in choices}) > 1:
        return None
    lines = [
        f"{target}{work.tf}.case(",
        "    [",
        *(f"        ({q.code}, lambda: {c.then})," for q, c in zip(work.asked, choices)),
        "    ],",
        f"    default=lambda: {choices[0].otherwise},",
        ")",
    ]
    return _Made(lines, "Branch with tf.case, which computes one of its arms", doubt)


def _written(work: _Work, target: str, found: Choice) -> _Made:
    code = work.asked[0].code
    if found.how == WHERE:
        lines = call_lines(target, f"{work.tf}.where", [code, found.then, found.otherwise])
        return _Made(lines, "Choose the value with tf.where", found.doubt)
    arms = [f"lambda: {found.then}", f"lambda: {found.otherwise}"]
    lines = call_lines(target, f"{work.tf}.cond", [code, *arms], tall=True)
    return _Made(lines, "Branch with tf.cond, which computes one of its arms", found.doubt)
