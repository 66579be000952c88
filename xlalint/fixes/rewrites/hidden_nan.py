"""XLA408: a NaN is looked for among all elements, not in the largest, which XLA finds by passing over NaN."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.calls import argument, spreads
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix, replace

MENDS = ("XLA408",)

_TENSOR = {"tf": "input_tensor", "keras": "x"}


def propose(site: Site) -> Fix | None:
    """`tf.math.is_nan(tf.reduce_max(x))` to `tf.reduce_any(tf.math.is_nan(x))`."""
    node = site.node
    if not site.finding.variant.startswith("hidden-nan") or not isinstance(node, cst.Call):
        return None
    if len(node.args) != 1:
        return None
    draft = site.draft
    found = _extreme(draft, node.args[0].value)
    if found is None:
        return None
    extreme, edits = found
    family = (draft.api(node.func) or "").partition(".")[0]
    tensor = argument(extreme, _TENSOR.get(family, ""), 0)
    if tensor is None or spreads(extreme):
        return None
    asks_nan = (draft.api(node.func) or "").endswith("nan")
    rest = [draft.code(given).rstrip().rstrip(",") for given in extreme.args if given is not tensor]
    asked = f"{draft.code(node.func)}({draft.code(tensor.value)})"
    whole = f"{_reduction(draft, node, asks_nan)}({', '.join((asked, *rest))})"
    edit = replace(draft, node, whole)
    if asks_nan:
        return fix(SAFE, "Ask all elements", edit, *edits)
    if _is_never_empty(draft, tensor.value):
        return fix(SAFE, "Ask all elements", edit, *edits)
    return fix(UNSAFE, "Ask all elements; of no elements all are finite", edit, *edits)


def _reduction(draft: Draft, node: cst.Call, asks_nan: bool) -> str:
    prefix = draft.code(node.func).rpartition(".")[0]
    if (draft.api(node.func) or "").startswith("keras."):
        return f"{prefix}.{'any' if asks_nan else 'all'}"
    tensorflow = prefix.removesuffix(".math") or draft.tensorflow or "tf"
    return f"{tensorflow}.reduce_{'any' if asks_nan else 'all'}"


def _is_never_empty(draft: Draft, tensor: cst.BaseExpression) -> bool:
    value = draft.value(tensor)
    return value.is_tensor and value.sure and bool(value.shape) and all(value.shape or (0,))


def _extreme(draft: Draft, asked: cst.BaseExpression) -> tuple[cst.Call, tuple[Edit, ...]] | None:
    """The call that finds the largest element, and what is to be done where it has a name of its own."""
    if isinstance(asked, cst.Call):
        return asked, ()
    function = draft.function(asked)
    if not isinstance(asked, cst.Name) or not isinstance(function, cst.FunctionDef):
        return None
    statement = _only_assignment(draft, function, asked.value)
    if statement is None:
        return None
    made = statement.body[0]
    assert isinstance(made, cst.Assign)
    if not isinstance(made.value, cst.Call) or _changes_after(draft, function, statement):
        return None
    reads = sum(_is_read(draft, each, asked.value) for each in draft.within(function))
    return made.value, (_without(draft, statement) if reads == 1 else ())


def _only_assignment(
    draft: Draft, function: cst.FunctionDef, name: str
) -> cst.SimpleStatementLine | None:
    """The statement that gives a name its value, where only one does and nothing is around it but the function."""
    found = [
        each
        for each in draft.within(function)
        if isinstance(each, cst.AssignTarget)
        and isinstance(each.target, cst.Name)
        and each.target.value == name
    ]
    statement = draft.statement(found[0]) if len(found) == 1 else None
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    made = statement.body[0]
    is_plain = isinstance(made, cst.Assign) and len(made.targets) == 1
    return statement if is_plain and draft.parent(statement) is function.body else None


def _is_read(draft: Draft, node: cst.CSTNode, name: str) -> bool:
    return (
        isinstance(node, cst.Name)
        and node.value == name
        and not isinstance(draft.parent(node), (cst.AssignTarget, cst.Attribute))
    )


def _changes_after(
    draft: Draft, function: cst.FunctionDef, statement: cst.SimpleStatementLine
) -> bool:
    """Whether a name that the statement reads is bound again below it."""
    line = draft.span(statement).line
    names = {each.value for each in draft.within(statement) if isinstance(each, cst.Name)}
    bound = (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.NamedExpr)
    return any(
        isinstance(each, bound)
        and draft.span(each).line > line
        and any(isinstance(n, cst.Name) and n.value in names for n in draft.within(each.target))
        for each in draft.within(function)
    )


def _without(draft: Draft, statement: cst.SimpleStatementLine) -> tuple[Edit, ...]:
    """Take a statement out with its line, unless a comment stands there."""
    span = draft.span(statement)
    line = draft.line(span.end_line)
    if line[span.end_column - 1 :].strip() or draft.line(span.line)[: span.column - 1].strip():
        return ()
    return (Edit(Span(span.line, 1, span.end_line + 1, 1), ""),)
