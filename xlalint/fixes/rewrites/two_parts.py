"""So many ones, and zeros for the rest: a comparison instead of two tensors whose sizes come from data."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.calls import argument, spreads
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import UNSAFE, Site, fix, replace
from xlalint.semantics.values import FROM_SHAPE

MENDS = ("XLA203",)
ORDER = 30
_SIGNS = {("tf.ones", "tf.zeros"): "<", ("tf.zeros", "tf.ones"): ">="}


def propose(site: Site) -> Fix | None:
    """`tf.concat([tf.ones([k]), tf.zeros([n - k])], 0)` to `tf.cast(tf.range(n) < k, tf.float32)`."""
    draft, tf = site.draft, site.draft.tensorflow
    joined = next((a for a in list(draft.ancestors(site.node))[:8] if _joins(draft, a)), None)
    if tf is None or not isinstance(joined, cst.Call):
        return None
    parts = joined.args[0].value
    assert isinstance(parts, (cst.List, cst.Tuple))
    made = [element.value for element in parts.elements if isinstance(element.value, cst.Call)]
    axis = argument(joined, "axis", 1)
    if len(made) != 2 or len(parts.elements) != 2 or axis is None or draft.code(axis.value) != "0":
        return None
    sign = _SIGNS.get((draft.api(made[0]) or "", draft.api(made[1]) or ""))
    count, rest = _size(draft, made[0]), _size(draft, made[1])
    kinds = {_dtype(draft, call) for call in made}
    if sign is None or count is None or not isinstance(rest, cst.BinaryOperation):
        return None
    words = ["".join(draft.code(node).split()) for node in (count, rest.right)]
    is_rest = isinstance(rest.operator, cst.Subtract) and words[0] == words[1]
    whole = draft.value(rest.left)
    if not is_rest or whole.dependence > FROM_SHAPE or len(kinds) != 1:
        return None
    if any(draft.value(n).dtype not in (None, "int32") for n in (count, rest.left)):
        return None
    [kind] = kinds
    code = f"{tf}.range({draft.code(rest.left)}) {sign} {draft.code(count)}"
    is_bool = kind == f"{tf}.bool"
    text = f"({code})" if is_bool else f"{tf}.cast({code}, {kind or f'{tf}.float32'})"
    return fix(
        UNSAFE,
        f"Compare places with `{draft.code(count)}`; where it is negative, or more than there are, the original raised an error",
        replace(draft, joined, text),
    )


def _joins(draft: Draft, node: cst.CSTNode) -> bool:
    if not isinstance(node, cst.Call) or draft.api(node) != "tf.concat" or spreads(node):
        return False
    return bool(node.args) and isinstance(node.args[0].value, (cst.List, cst.Tuple))


def _size(draft: Draft, made: cst.Call) -> cst.BaseExpression | None:
    """The one size of a vector of ones or zeros."""
    shape = argument(made, "shape", 0)
    if shape is None or spreads(made) or len(made.args) > 2:
        return None
    written = shape.value
    is_list = isinstance(written, (cst.List, cst.Tuple)) and len(written.elements) == 1
    return written.elements[0].value if is_list else None  # type: ignore[attr-defined]


def _dtype(draft: Draft, made: cst.Call) -> str | None:
    given = argument(made, "dtype", 1)
    code = None if given is None else draft.code(given.value)
    return None if code == f"{draft.tensorflow}.float32" else code
