"""XLA305: a tf.function that is made anew each time is made once: before the loop, or at the top of the module."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix, replace
from xlalint.fixes.steady import bound_names, free_names, is_steady

MENDS = ("XLA305",)

_WARNING = "what its Python code reads or changes, it does once, while it is traced"


def propose(site: Site) -> Fix | None:
    """Move what makes the tf.function to where it is made once."""
    draft = site.draft
    made = _made(draft, site.node)
    if made is None:
        return None
    goal = _goal(draft, made)
    if goal is None:
        return None
    where = (
        "before the loop" if isinstance(goal, (cst.For, cst.While)) else "at the top of the module"
    )
    is_safe = _is_same_each_time(draft, made)
    applicability = SAFE if is_safe else UNSAFE
    message = f"Make it once, {where}" + ("" if is_safe else f"; {_WARNING}")
    if isinstance(made, cst.Call):
        edits = _named(draft, made, goal)
    else:
        edits = _moved(draft, made, goal)
    return fix(applicability, message, *edits) if edits else None


def _made(draft: Draft, node: cst.CSTNode) -> cst.CSTNode | None:
    """The decorated function, the statement `step = tf.function(...)`, or the call where it stands within an expression."""
    for above in (node, *draft.ancestors(node)):
        if isinstance(above, cst.Decorator):
            return draft.parent(above)
        if isinstance(above, cst.BaseStatement):
            break
    if not isinstance(node, cst.Call) or not _is_plain(node):
        return None
    statement = draft.statement(node)
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
        only = statement.body[0]
        if isinstance(only, cst.Assign) and only.value is node and len(only.targets) == 1:
            return statement if isinstance(only.targets[0].target, cst.Name) else None
    return node


def _is_plain(call: cst.Call) -> bool:
    """Whether its arguments are names, functions and settings: nothing is computed where it is made."""
    plain = (cst.Name, cst.Attribute, cst.Lambda, cst.SimpleString, cst.Integer)
    return bool(call.args) and all(isinstance(given.value, plain) for given in call.args)


def _goal(draft: Draft, made: cst.CSTNode) -> cst.BaseStatement | None:
    """The statement to make it in front of: the outermost loop, or the whole function, that has no part in it."""
    needed = free_names(draft, made)
    attributes = {
        draft.code(each) for each in draft.within(made) if isinstance(each, cst.Attribute)
    }
    found: cst.BaseStatement | None = None
    for above in draft.ancestors(made):
        if isinstance(above, (cst.For, cst.While)):
            if _binds(draft, above, made, needed, attributes):
                return found
            found = above
        elif isinstance(above, (cst.FunctionDef, cst.ClassDef)):
            if found is not None:
                return found
            if isinstance(above, cst.ClassDef) or not isinstance(draft.parent(above), cst.Module):
                return None
            return None if _binds(draft, above, made, needed, attributes) else above
        elif isinstance(above, (cst.Lambda, cst.BaseComp)):
            return None
    return found


def _binds(
    draft: Draft,
    around: cst.CSTNode,
    made: cst.CSTNode,
    needed: frozenset[str],
    attributes: set[str],
) -> bool:
    """Whether code around it gives a value to something that it needs."""
    inside = set(draft.within(made))
    for each in draft.within(around):
        if each in inside:
            continue
        if isinstance(each, cst.AssignTarget) and draft.code(each.target) in attributes:
            return True
    bound = list(bound_names(draft, around))
    own = list(bound_names(draft, made))
    return any(bound.count(name) > own.count(name) for name in needed)


def _is_same_each_time(draft: Draft, made: cst.CSTNode) -> bool:
    function = made
    if not isinstance(made, cst.FunctionDef):
        call = next(each for each in draft.within(made) if isinstance(each, cst.Call))
        given = call.args[0].value
        function = given
        if isinstance(given, cst.Name):
            defined = [
                each
                for each in draft.within(draft.module)
                if isinstance(each, cst.FunctionDef) and each.name.value == given.value
            ]
            function = defined[0] if len(defined) == 1 else given
    return isinstance(function, (cst.FunctionDef, cst.Lambda)) and is_steady(draft, function)


def _named(draft: Draft, made: cst.Call, goal: cst.BaseStatement) -> list[Edit]:
    """`tf.function(loss)(batch)`: give it a name in front of the goal, and call that."""
    wrapped = made.args[0].value
    of = wrapped.attr.value if isinstance(wrapped, cst.Attribute) else draft.code(wrapped)
    name = draft.fresh(f"compiled_{of}" if of.isidentifier() else "compiled")
    newline = draft.module.default_newline
    start = draft.span(goal)
    margin = draft.line(start.line)[: start.column - 1]
    blank = newline * 2 if isinstance(goal, cst.FunctionDef) else ""
    line = f"{name} = {draft.code(made)}{newline}{blank}{margin}"
    return [_before(draft, goal, line), replace(draft, made, name)]


def _moved(draft: Draft, made: cst.CSTNode, goal: cst.BaseStatement) -> list[Edit]:
    """A definition, or an assignment, moved in front of the goal with the comments right above it."""
    name = _name(made)
    block = draft.block(made)
    if name is None or len(block) < 2 or not _is_alone(draft, made, goal, name):
        return []
    first, last = _lines(draft, made)
    texts = (cst.SimpleString, cst.FormattedString)
    for each in draft.within(made):
        if isinstance(each, texts) and draft.span(each).line != draft.span(each).end_line:
            return []
    newline = draft.module.default_newline
    start = draft.span(goal)
    margin = draft.line(start.line)[: start.column - 1]
    depth = draft.span(made).column - 1
    code = [draft.line(number)[depth:] for number in range(first, last + 1)]
    is_definition = isinstance(made, cst.FunctionDef)
    at_top = isinstance(goal, cst.FunctionDef)
    if is_definition or at_top:
        code += [""] * (2 if at_top else 1)
    text = newline.join(
        line if index == 0 or not line else margin + line for index, line in enumerate(code)
    )
    gone = Edit(Span(_without_blanks(draft, first), 1, last + 1, 1), "")
    return [_before(draft, goal, text + newline + margin), gone]


def _before(draft: Draft, goal: cst.BaseStatement, text: str) -> Edit:
    """Text in front of a statement; of a decorated function, in front of its decorators."""
    at = goal.decorators[0] if isinstance(goal, cst.FunctionDef) and goal.decorators else goal
    span = draft.span(at)
    return Edit(Span(span.line, span.column, span.line, span.column), text)


def _name(made: cst.CSTNode) -> str | None:
    if isinstance(made, cst.FunctionDef):
        return made.name.value
    if isinstance(made, cst.SimpleStatementLine) and isinstance(made.body[0], cst.Assign):
        target = made.body[0].targets[0].target
        return target.value if isinstance(target, cst.Name) else None
    return None


def _is_alone(draft: Draft, made: cst.CSTNode, goal: cst.BaseStatement, name: str) -> bool:
    """Whether the name is bound here alone, and, where it becomes the module's, read in its old function alone."""
    around = goal if isinstance(goal, cst.FunctionDef) else draft.function(made) or draft.module
    if list(bound_names(draft, around)).count(name) != 1:
        return False
    if not isinstance(goal, cst.FunctionDef):
        return True
    everywhere = sum(
        isinstance(n, cst.Name) and n.value == name for n in draft.within(draft.module)
    )
    here = sum(isinstance(n, cst.Name) and n.value == name for n in draft.within(goal))
    return everywhere == here


def _lines(draft: Draft, made: cst.CSTNode) -> tuple[int, int]:
    """The lines of a statement, with its decorators and the comments right above."""
    span = draft.span(made)
    first = span.line
    if isinstance(made, cst.FunctionDef) and made.decorators:
        first = min(first, draft.span(made.decorators[0]).line)
    while first > 1 and draft.line(first - 1).strip().startswith("#"):
        first -= 1
    return first, span.end_line


def _without_blanks(draft: Draft, first: int) -> int:
    """Blank lines above what goes away go with it."""
    while first > 1 and not draft.line(first - 1).strip():
        first -= 1
    return first
