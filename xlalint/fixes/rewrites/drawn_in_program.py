"""XLA107: random numbers that the program draws, and not the trace."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.calls import argument, spreads
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import UNSAFE, Site, fix, replace
from xlalint.fixes.uses import takes_tensor

MENDS = ("XLA107",)

# Of NumPy and Python: the parameters in order, and TensorFlow's names for the first two.
_UNIFORM = ("minval", "maxval")
_NORMAL = ("mean", "stddev")
_DRAWS = {
    "np.random.normal": ("normal", ("loc", "scale", "size"), _NORMAL),
    "np.random.uniform": ("uniform", ("low", "high", "size"), _UNIFORM),
    "np.random.random": ("uniform", ("size",), ()),
    "np.random.standard_normal": ("normal", ("size",), ()),
    "random.random": ("uniform", (), ()),
    "random.uniform": ("uniform", ("a", "b"), _UNIFORM),
    "random.gauss": ("normal", ("mu", "sigma"), _NORMAL),
}
# These take the sizes one by one.
_SIZED = {"np.random.rand": "uniform", "np.random.randn": "normal"}
_FLOATS = frozenset({"float32", "float16", "bfloat16", "float64"})


def propose(site: Site) -> Fix | None:
    """`np.random.normal(size=(2, 3))` to `tf.random.normal((2, 3))`."""
    draft, node = site.draft, site.node
    if site.finding.variant != "frozen" or not isinstance(node, cst.Call) or spreads(node):
        return None
    drawn = _arguments(draft, node)
    whole, dtype = _cast_of(draft, node)
    if drawn is None or dtype is None or not takes_tensor(draft, whole):
        return None
    function, arguments = drawn
    tensorflow, imports = draft.import_tensorflow()
    if dtype != "float32":
        arguments.append(f"dtype={tensorflow}.{dtype}")
    return fix(
        UNSAFE,
        f"Draw in the program, in every step anew; seeds of NumPy and Python no longer decide the numbers, which are {dtype}",
        replace(draft, whole, f"{tensorflow}.random.{function}({', '.join(arguments)})"),
        *imports,
    )


def _arguments(draft: Draft, node: cst.Call) -> tuple[str, list[str]] | None:
    """TensorFlow's function, and its arguments."""
    api = draft.api(node.func) or ""
    if api in _SIZED:
        if any(given.keyword is not None for given in node.args):
            return None
        sizes = ", ".join(draft.code(given.value) for given in node.args)
        return _SIZED[api], [f"[{sizes}]"]
    if api not in _DRAWS:
        return None
    function, parameters, renamed = _DRAWS[api]
    given = {
        name: found
        for index, name in enumerate(parameters)
        if (found := argument(node, name, index)) is not None
    }
    if len(given) != len(node.args):
        return None
    size = given.pop("size", None)
    arguments = [_shape(draft, size.value) if size is not None else "[]"]
    arguments += [
        f"{ours}={draft.code(given[theirs].value)}"
        for ours, theirs in zip(renamed, parameters)
        if theirs in given
    ]
    return function, arguments


def _shape(draft: Draft, size: cst.BaseExpression) -> str:
    """A single number is a shape for NumPy; None is no size at all."""
    code = draft.code(size)
    if code == "None":
        return "[]"
    return f"[{code}]" if isinstance(size, cst.Integer) else code


def _cast_of(draft: Draft, node: cst.Call) -> tuple[cst.BaseExpression, str | None]:
    """The call with the `.astype("float32")` behind it, and the dtype; None where that is no float."""
    method = draft.parent(node)
    cast = draft.parent(method) if isinstance(method, cst.Attribute) else None
    is_cast = isinstance(method, cst.Attribute) and method.attr.value == "astype"
    if isinstance(cast, cst.Call) and is_cast and len(cast.args) == 1:
        dtype = draft.code(cast.args[0].value).strip("\"'").rpartition(".")[2]
        return cast, dtype if dtype in _FLOATS else None
    parent = draft.parent(node)
    if isinstance(parent, cst.BinaryOperation):
        partner = draft.value(parent.left if parent.right is node else parent.right)
        if partner.is_tensor and partner.dtype is not None:
            return node, partner.dtype if partner.dtype in _FLOATS else None
    return node, "float32"
