"""Tensors that Python iterates over: taken apart first, by tf.unstack or a static size, or summed by TensorFlow."""

from __future__ import annotations

import ast

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.asts import Source, assigned_before
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix, insert_before, replace
from xlalint.semantics.facts import ITERATION
from xlalint.semantics.values import Value

MENDS = ("XLA104",)
# A loop of more steps makes a program that takes minutes to compile.
_MOST_STEPS = 64
_ITERATORS = frozenset({"enumerate", "zip", "list", "tuple", "map", "filter", "reversed", "iter"})


def propose(site: Site) -> Fix | None:
    """Give Python a list of the parts. Safe where their number is known to be static, and not large."""
    tf = site.draft.tensorflow
    how = {fact.detail for fact in site.draft.facts_at(site.node, ITERATION)}
    if tf is None or len(how) != 1:
        return None
    said = how.pop()
    if not isinstance(said, str) or said == "dataset":
        return None
    if isinstance(site.node, cst.Call) and said.strip("`") in (
        _ITERATORS | {"sum", "next", "range"}
    ):
        return _of_builtin(site, site.node, said.strip("`"), tf)
    if said == "unpacking":
        return _unpacked(site, tf)
    if said == "for":
        return _counted(site, tf) or _parts_of_rows(site, tf)
    if said in ("a comprehension", "`*`"):
        return _counted(site, tf) or _parts(site, site.node, tf)
    return None


def _parts_of_rows(site: Site, tf: str) -> Fix | None:
    """`for row in tf.unstack(x)`; where the loop takes rows apart as well, these too."""
    made, holder = _parts(site, site.node, tf), site.draft.parent(site.node)
    if made is None or not isinstance(holder, cst.For):
        return made
    if not isinstance(holder.target, (cst.Tuple, cst.List)):
        return made
    rows = _rows_unpacked(site, holder, tf)
    if rows is None:
        return None
    what = "Take the tensor and each of its rows apart with tf.unstack."
    return fix(made.applicability, what, *made.edits, *rows.edits)


def _parts(site: Site, node: cst.BaseExpression | cst.CSTNode, tf: str) -> Fix | None:
    """`for row in tf.unstack(x)`."""
    value = site.draft.value(node)
    if not value.is_tensor:
        return None
    edit = replace(site.draft, node, f"{tf}.unstack({site.draft.code(node)})")
    return _unrolled("Take the tensor apart with tf.unstack", value, edit)


def _unrolled(what: str, value: Value, *edits: Edit) -> Fix:
    size = value.shape[0] if value.shape else None
    if size is not None and size <= _MOST_STEPS and value.sure:
        return fix(SAFE, f"{what}.", *edits)
    if size is not None:
        return fix(UNSAFE, f"{what}: the program grows with each of its {size} parts.", *edits)
    return fix(
        UNSAFE,
        f"{what}: its first dimension has to be static, and the program grows with it.",
        *edits,
    )


def _of_builtin(site: Site, call: cst.Call, name: str, tf: str) -> Fix | None:
    draft = site.draft
    if any(argument.star or argument.keyword is not None for argument in call.args):
        return None
    given = [a.value for a in call.args]
    tensors = [a for a in given if draft.value(a).is_tensor]
    if name == "range":
        return _counted_by(site, call, tf)
    if not tensors:
        return None
    if name == "sum" and len(given) == 1:
        return _summed(site, call, tf)
    if name in ("next", "sum"):
        return None
    if name == "iter":
        return _first(site, call)
    edits = [replace(draft, t, f"{tf}.unstack({draft.code(t)})") for t in tensors]
    values = [draft.value(t) for t in tensors]
    worst = next((v for v in values if not v.shape or v.shape[0] is None), values[0])
    return _unrolled("Take the tensor apart with tf.unstack", worst, *edits)


def _summed(site: Site, call: cst.Call, tf: str) -> Fix:
    """`sum(x)` adds rows, to the number 0."""
    draft = site.draft
    value = draft.value(call.args[0].value)
    code = f"{tf}.reduce_sum({draft.code(call.args[0].value)}, axis=0)"
    message = "Add the rows with tf.reduce_sum"
    is_never_empty = bool(value.shape and value.shape[0])
    if value.dtype in ("int32", "int64") and is_never_empty:
        return fix(SAFE, f"{message}.", replace(draft, call, code))
    if value.dtype in ("float32", "float64") and is_never_empty:
        return fix(
            UNSAFE,
            f"{message}: the order of additions may change the last digits.",
            replace(draft, call, code),
        )
    return fix(
        UNSAFE,
        f"{message}: of no rows it gives zeros, and small dtypes add up otherwise.",
        replace(draft, call, code),
    )


def _first(site: Site, call: cst.Call) -> Fix | None:
    """`next(iter(x))` is `x[0]`."""
    draft = site.draft
    holder = draft.parent(call)
    outer = draft.parent(holder) if isinstance(holder, cst.Arg) else None
    if not isinstance(outer, cst.Call) or len(outer.args) != 1:
        return None
    if not isinstance(outer.func, cst.Name) or outer.func.value != "next":
        return None
    tensor = call.args[0].value
    if not isinstance(tensor, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
        return None
    return fix(
        SAFE, "Take the first row by its index.", replace(draft, outer, f"{draft.code(tensor)}[0]")
    )


# --- unpacking ------------------------------------------------------------------------------------------------------


def _unpacked(site: Site, tf: str) -> Fix | None:
    draft = site.draft
    holder = draft.parent(site.node)
    if isinstance(holder, cst.For) and holder.iter is site.node:
        return _rows_unpacked(site, holder, tf)
    if not isinstance(holder, cst.Assign) or len(holder.targets) != 1:
        return None
    target = holder.targets[0].target
    if not isinstance(target, (cst.Tuple, cst.List)):
        return None
    if any(isinstance(element, cst.StarredElement) for element in target.elements):
        return None
    value, count = draft.value(site.node), len(target.elements)
    is_known = bool(value.shape) and value.shape is not None and value.shape[0] == count
    number = "" if is_known or _is_length(site) else f", num={count}"
    code = f"{tf}.unstack({draft.code(site.node)}{number})"
    return fix(SAFE, "Take the tensor apart with tf.unstack.", replace(draft, site.node, code))


def _is_length(site: Site) -> bool:
    """`tf.shape(x)`, of a static rank, has a length of its own."""
    return isinstance(site.node, cst.Call) and site.draft.api(site.node) == "tf.shape"


def _rows_unpacked(site: Site, loop: cst.For, tf: str) -> Fix | None:
    """`for low, high in boxes:` as a loop of the graph over rows."""
    draft = site.draft
    target = loop.target
    if not isinstance(target, (cst.Tuple, cst.List)) or not isinstance(
        loop.body, cst.IndentedBlock
    ):
        return None
    if any(
        not isinstance(e.value, cst.Name) or isinstance(e, cst.StarredElement)
        for e in target.elements
    ):
        return None
    node = draft.as_ast(loop)
    row = Source(draft).fresh(node, "row") if node is not None else draft.fresh("row")
    names = ", ".join(draft.code(e.value) for e in target.elements)
    return fix(
        SAFE,
        "Take each row apart with tf.unstack.",
        Edit(_of_target(site, target), row),
        insert_before(
            draft, loop.body.body[0], [f"{names} = {tf}.unstack({row}, num={len(target.elements)})"]
        ),
    )


def _of_target(site: Site, target: cst.Tuple | cst.List) -> Span:
    """The place of a target with its parentheses."""
    span = site.draft.span(target)
    line = site.draft.line(span.line)
    if (
        line[span.column - 2 : span.column - 1] == "("
        and line[span.end_column - 1 : span.end_column] == ")"
    ):
        return Span(span.line, span.column - 1, span.end_line, span.end_column + 1)
    return span


# --- counting -------------------------------------------------------------------------------------------------------


def _counted(site: Site, tf: str) -> Fix | None:
    """`range(tf.shape(x)[0])` and `tf.range(4)`, counted by Python."""
    return _counted_by(site, site.node, tf) if isinstance(site.node, cst.Call) else None


def _counted_by(site: Site, call: cst.Call, tf: str) -> Fix | None:
    draft, source = site.draft, Source(site.draft)
    node, holder = draft.as_ast(call), draft.statement(call)
    statement = draft.as_ast(holder) if holder is not None else None
    if isinstance(holder, cst.SimpleStatementLine):
        statement = draft.as_ast(holder.body[0])
    if not isinstance(node, ast.Call) or not isinstance(statement, ast.stmt) or node.keywords:
        return None
    is_python = isinstance(node.func, ast.Name) and node.func.id == "range"
    if not is_python and source.api(node) != "tf.range":
        return None
    codes, is_known, largest = [], True, 0
    for argument in node.args:
        found = _static(source, argument, statement)
        if found is None:
            return None
        code, number = found
        is_known, largest = is_known and number is not None, max(largest, number or 0)
        codes.append(code)
    text = f"range({', '.join(codes)})"
    what = "Count with Python over the static size"
    if not is_python:
        return fix(
            UNSAFE,
            f"{what}: the counter is a Python number then, and fits any dtype.",
            replace(draft, call, text),
        )
    if is_known and largest <= _MOST_STEPS:
        return fix(SAFE, f"{what}.", replace(draft, call, text))
    return fix(
        UNSAFE,
        f"{what}: the dimension has to be static, and the program grows with it.",
        replace(draft, call, text),
    )


def _static(source: Source, node: ast.expr, statement: ast.stmt) -> tuple[str, int | None] | None:
    """A count as Python knows it, and the number that it is known to be: of `tf.shape(x)[0]` it is `x.shape[0]`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return str(node.value), node.value
    if isinstance(node, ast.Name):
        made = assigned_before(source, statement, node.id)
        return (
            _static(source, made, statement)
            if isinstance(made, (ast.Subscript, ast.Call))
            else None
        )
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
        index = node.slice
        if source.api(node.value) != "tf.shape" or len(node.value.args) != 1:
            return None
        tensor = node.value.args[0]
        is_plain = isinstance(tensor, (ast.Name, ast.Attribute))
        if not is_plain or not isinstance(index, ast.Constant) or not isinstance(index.value, int):
            return None
        shape = source.value(tensor).shape
        number = (
            shape[index.value]
            if shape is not None and -len(shape) <= index.value < len(shape)
            else None
        )
        return f"{source.code(tensor)}.shape[{index.value}]", number
    return None
