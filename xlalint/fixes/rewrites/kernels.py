"""XLA401: calls that XLA has no kernel for, in other words that it has."""

from __future__ import annotations

import ast
from collections.abc import Callable

import libcst as cst

from xlalint.finding import Edit, Fix
from xlalint.fixes.calls import (
    argument,
    call_at,
    spreads,
    with_keyword,
    with_value,
    without_argument,
)
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import DISPLAY, SAFE, UNSAFE, Site, fix, insert_before, receiver, replace

MENDS = ("XLA401",)

# What XLA interpolates with.
_HAS_KERNEL = frozenset({"bilinear", "nearest"})
_SEGMENTS = frozenset({"sum", "mean", "prod", "max", "min"})


def propose(site: Site) -> Fix | None:
    """Another call, or the same with other arguments, by the API that is called."""
    call = call_at(site.draft, site.node)
    if call is None or spreads(call):
        return None
    api = site.draft.api(call.func) or ""
    for ends, rewrite in _BY_API.items():
        if api.endswith(ends):
            return rewrite(site, call)
    return None


def _resize(site: Site, call: cst.Call) -> Fix | None:
    """Bilinear for what has no kernel, and no smoothing before."""
    draft = site.draft
    given = argument(call, "method", 3 if "pad" in draft.code(call.func) else 2)
    given = given or argument(call, "interpolation")
    method = _method(draft, given)
    smooth = argument(call, "antialias")
    is_smooth = smooth is not None and draft.code(smooth.value) == "True"
    if given is not None and method is not None and method not in _HAS_KERNEL:
        written = draft.code(given.value)
        is_text = isinstance(given.value, cst.SimpleString)
        code = (
            f"{written[0]}bilinear{written[0]}"
            if is_text
            else written.rpartition(".")[0] + ".BILINEAR"
        )
        edits = [with_value(draft, given, code)]
        if smooth is not None and is_smooth:
            edits.append(with_value(draft, smooth, "False"))
        # Embeddings of positions are stretched for weights that were trained with this very method.
        is_trained = "embed" in draft.code(draft.statement(call) or call).lower()
        return fix(
            DISPLAY if is_trained else UNSAFE,
            f"Interpolate bilinearly: XLA has no kernel for {method}; the values differ, and a model that was trained with those of "
            "the other notices",
            *edits,
        )
    if smooth is not None and is_smooth:
        return fix(
            UNSAFE,
            "Do not smooth before resizing, which XLA has no kernel for; images that shrink look rougher",
            without_argument(draft, call, smooth),
        )
    return None


def _method(draft: Draft, given: cst.Arg | None) -> str | None:
    """`"bicubic"` or `tf.image.ResizeMethod.BICUBIC`, as it is written."""
    if given is None:
        return None
    if isinstance(given.value, cst.SimpleString):
        return str(given.value.evaluated_value)
    if isinstance(given.value, cst.Attribute) and "ResizeMethod." in draft.code(given.value):
        return given.value.attr.value.lower()
    return None


def _segments(site: Site, call: cst.Call) -> Fix | None:
    """`segment_sum(x, ids)` to `unsorted_segment_sum(x, ids, n)`: the number of segments must be known."""
    draft = site.draft
    name = (draft.api(call.func) or "").rpartition("segment_")[2]
    data, ids = argument(call, "data", 0), argument(call, "segment_ids", 1)
    if name not in _SEGMENTS or data is None or ids is None or len(call.args) != 2:
        return None
    if not isinstance(call.func, cst.Attribute):
        return None
    head = draft.code(call.func.value)
    known = _numbers(ids.value)
    arguments = f"{draft.code(data.value)}, {draft.code(ids.value)}"
    if known and known == sorted(known) and set(known) == set(range(known[-1] + 1)):
        edit = replace(draft, call, f"{head}.unsorted_segment_{name}({arguments}, {known[-1] + 1})")
        dtype = draft.value(data.value).dtype or ""
        if name in ("sum", "prod") or (name == "mean" and dtype.startswith("float")):
            return fix(SAFE, "Say how many segments there are", edit)
        if name == "mean":
            return fix(
                UNSAFE,
                "Say how many segments there are; means of whole numbers are rounded otherwise",
                edit,
            )
        return fix(
            UNSAFE,
            "Say how many segments there are; XLA passes over a NaN, and a segment of infinite numbers gives the last finite one",
            edit,
        )
    edit = replace(draft, call, f"{head}.unsorted_segment_{name}({arguments}, NUM_SEGMENTS)")
    return fix(
        DISPLAY, "Say how many segments there are at most: the result has that many rows", edit
    )


def _numbers(node: cst.BaseExpression) -> list[int]:
    """The whole numbers of a list that is written out."""
    if not isinstance(node, (cst.List, cst.Tuple)):
        return []
    items = [element.value for element in node.elements]
    if not all(isinstance(item, cst.Integer) for item in items):
        return []
    return [item.evaluated_value for item in items if isinstance(item, cst.Integer)]


def _pivoting(site: Site, call: cst.Call) -> Fix | None:
    """`tf.linalg.tridiagonal_solve` without the exchange of rows that XLA refuses."""
    return fix(
        UNSAFE,
        "Solve without exchanging rows; a matrix whose diagonal does not dominate is solved less exactly, or not at all",
        with_keyword(site.draft, call, "partial_pivoting", "False"),
    )


def _determinant(site: Site, call: cst.Call) -> Fix | None:
    """Of matrices of two or three rows, written out."""
    draft = site.draft
    matrix = call.args[0].value if len(call.args) == 1 else None
    if not isinstance(matrix, (cst.Name, cst.Attribute)):
        return None
    shape = draft.value(matrix).shape
    if shape is None or len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] not in (2, 3):
        return None
    m = draft.code(matrix)

    if shape[-1] == 2:
        code = f"({m}[..., 0, 0] * {m}[..., 1, 1] - {m}[..., 0, 1] * {m}[..., 1, 0])"
        imports: tuple[Edit, ...] = ()
    else:
        tensorflow, imports = draft.import_tensorflow()
        cross = f"{tensorflow}.linalg.cross({m}[..., 1, :], {m}[..., 2, :])"
        code = f"{tensorflow}.reduce_sum({m}[..., 0, :] * {cross}, axis=-1)"
    return fix(
        UNSAFE,
        f"Write the determinant of {shape[-1]} by {shape[-1]} matrices out; it is rounded otherwise, which nearly singular ones show",
        replace(draft, call, code),
        *imports,
    )


def _histogram(site: Site, call: cst.Call) -> Fix | None:
    """`tf.histogram_fixed_width` by arithmetic: the bin of each value, and how often each bin occurs."""
    draft = site.draft
    values, bounds = argument(call, "values", 0), argument(call, "value_range", 1)
    bins = argument(call, "nbins", 2)
    is_plain = len(call.args) == 2 + (bins is not None)
    statement = _statement_before(draft, call)
    if values is None or bounds is None or not is_plain or statement is None:
        return None
    if not isinstance(bounds.value, (cst.List, cst.Tuple)) or len(bounds.value.elements) != 2:
        return None
    low, high = (element.value for element in bounds.value.elements)
    tensorflow, imports = draft.import_tensorflow()
    count = _bracketed(draft, bins.value) if bins is not None else "100"
    last = f"{int(count) - 1}.0" if count.isdigit() else f"{count} - 1.0"
    is_zero = draft.code(low) in ("0", "0.0")
    shifted = f"{tensorflow}.cast({draft.code(values.value)}, {tensorflow}.float32)"
    width = _bracketed(draft, high)
    if not is_zero:
        shifted = f"({shifted} - {_bracketed(draft, low)})"
        width = f"({width} - {_bracketed(draft, low)})"
    name = draft.fresh("buckets")
    lines = [
        f"{name} = {tensorflow}.floor({shifted} * ({count} / {width}))",
        f"{name} = {tensorflow}.cast({tensorflow}.clip_by_value({name}, 0.0, {last}), {tensorflow}.int32)",
    ]
    counted = (
        f"{tensorflow}.math.unsorted_segment_sum({tensorflow}.ones_like({name}), {name}, {count})"
    )
    return fix(
        UNSAFE,
        "Count the bins by arithmetic in float32; a value just at the edge of two bins may fall into the other",
        insert_before(draft, statement, lines),
        replace(draft, call, counted),
        *imports,
    )


def _bracketed(draft: Draft, node: cst.BaseExpression) -> str:
    is_number = isinstance(node, (cst.Integer, cst.Float))
    return draft.code(node) if is_number else receiver(draft, node)


def _statement_before(draft: Draft, node: cst.CSTNode) -> cst.SimpleStatementLine | None:
    """The statement that something can be computed in front of for an expression that it always evaluates."""
    for above in draft.ancestors(node):
        if isinstance(above, cst.SimpleStatementLine):
            is_one = len(above.body) == 1 and draft.block(above)
            return above if is_one else None
        maybe = (cst.Lambda, cst.IfExp, cst.BooleanOperation, cst.BaseComp, cst.BaseStatement)
        if isinstance(above, maybe):
            return None
    return None


def _shuffle(site: Site, call: cst.Call) -> Fix | None:
    """`stateless_shuffle(x, seed)` by sorting random numbers of the same seed."""
    draft = site.draft
    values, seed = argument(call, "value", 0), argument(call, "seed", 1)
    if values is None or seed is None or len(call.args) != 2:
        return None
    if not _is_simple(draft, values.value):
        return None
    tensorflow, imports = draft.import_tensorflow()
    x = draft.code(values.value)
    drawn = f"{tensorflow}.random.stateless_uniform([{tensorflow}.shape({x})[0]], {draft.code(seed.value)})"
    return fix(
        UNSAFE,
        "Sort random numbers of the same seed; the order is another one",
        replace(draft, call, f"{tensorflow}.gather({x}, {tensorflow}.argsort({drawn}))"),
        *imports,
    )


def _is_simple(draft: Draft, node: cst.BaseExpression) -> bool:
    return isinstance(draft.as_ast(node), (ast.Name, ast.Attribute))


_BY_API: dict[str, Callable[[Site, cst.Call], Fix | None]] = {
    "image.resize": _resize,
    "image.resize_with_pad": _resize,
    "math.segment_sum": _segments,
    "math.segment_mean": _segments,
    "math.segment_prod": _segments,
    "math.segment_max": _segments,
    "math.segment_min": _segments,
    "tridiagonal_solve": _pivoting,
    "linalg.det": _determinant,
    "histogram_fixed_width": _histogram,
    "stateless_shuffle": _shuffle,
}
