"""XLA105: a tensor that was turned into a Python or NumPy value stays one."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Edit, Fix
from xlalint.fixes.calls import spreads
from xlalint.fixes.draft import Draft
from xlalint.fixes.numpy_names import CASTS, equivalents
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix, receiver, replace
from xlalint.fixes.uses import places, takes_tensor
from xlalint.semantics.facts import CONVERSION, NUMPY_CALL, NUMPY_METHOD
from xlalint.semantics.values import SEQUENCE, Value

MENDS = ("XLA105",)

_WHOLE = frozenset("bool uint8 int8 int16 int32 int64 uint16 uint32".split())
_FLOWS = "what follows gets a tensor, of its own dtype, and gradients flow through it"


def propose(site: Site) -> Fix | None:
    """Casts, `.numpy()`, NumPy and `math` functions, lengths and items of lists, in TensorFlow's words."""
    node = site.node
    kinds = {fact.kind for fact in site.facts}
    if isinstance(node, cst.Subscript):
        return _item(site, node) if CONVERSION in kinds else None
    if not isinstance(node, cst.Call) or spreads(node):
        return None
    if NUMPY_METHOD in kinds:
        return _without_numpy(site, node)
    called = site.draft.api(node.func)
    if called is None and isinstance(node.func, cst.Name):
        called = node.func.value
    if called == "len" and len(node.args) == 1:
        return _length(site, node)
    dtype = CASTS.get(called or "")
    if dtype is not None and len(node.args) == 1 and node.args[0].keyword is None:
        return _cast(site, node, dtype)
    if NUMPY_CALL in kinds or CONVERSION in kinds:
        return _same_function(site, node, called)
    return None


def _without_numpy(site: Site, node: cst.Call) -> Fix | None:
    """`t.numpy()` to `t`."""
    draft = site.draft
    if not isinstance(node.func, cst.Attribute) or node.args or node.func.attr.value != "numpy":
        return None
    tensor = node.func.value
    if not draft.value(tensor).is_tensor or not takes_tensor(draft, node):
        return None
    if _is_meant(draft, node):
        return None
    return fix(UNSAFE, f"Keep the tensor; {_FLOWS}", replace(draft, node, draft.code(tensor)))


def _is_meant(draft: Draft, node: cst.Call) -> bool:
    """Whether a function is there to give arrays: it returns this one, in one of several ways, or is named so."""
    function = draft.function(node)
    if not isinstance(draft.parent(node), cst.Return) or not isinstance(function, cst.FunctionDef):
        return False
    returns = sum(isinstance(each, cst.Return) for each in draft.within(function))
    return returns > 1 or any(word in function.name.value for word in ("numpy", "array"))


def _length(site: Site, node: cst.Call) -> Fix | None:
    """`len(t)` to `t.shape[0]`: a Python number too, where the size is static."""
    draft = site.draft
    tensor = node.args[0].value
    value = draft.value(tensor)
    if not value.is_tensor or value.guess:
        return None
    parent = draft.parent(node)
    call = draft.parent(parent) if isinstance(parent, cst.Arg) else None
    if isinstance(call, cst.Call) and draft.api(call.func) == "tf.cast" and value.sure:
        tensorflow, imports = draft.import_tensorflow()
        code = f"{tensorflow}.shape({draft.code(tensor)})[0]"
        return fix(SAFE, "Ask TensorFlow for the size", replace(draft, node, code), *imports)
    edit = replace(draft, node, f"{receiver(draft, tensor)}.shape[0]")
    if value.shape and value.shape[0] is not None and value.sure and not value.is_data_sized:
        return fix(SAFE, "Ask the static shape", edit)
    return fix(UNSAFE, "Ask the static shape; of a size that is not static that is None", edit)


def _cast(site: Site, node: cst.Call, dtype: str) -> Fix | None:
    """`float(t)` to `tf.cast(t, tf.float32)`, or to the dtype of the tensor that it meets."""
    draft = site.draft
    tensor = node.args[0].value
    value = draft.value(tensor)
    if not value.is_tensor or not takes_tensor(draft, node):
        return None
    is_python = isinstance(node.func, cst.Name) and node.func.value in CASTS
    if dtype == "bool" and value.dtype == "bool":
        return _plain_condition(site, node, tensor)
    partner = _partner(draft, node) if is_python and dtype != "bool" else None
    if partner is not None and partner.dtype is not None and _fits(dtype, partner.dtype):
        dtype = partner.dtype
    tensorflow, imports = draft.import_tensorflow()
    edit = replace(draft, node, f"{tensorflow}.cast({draft.code(tensor)}, {tensorflow}.{dtype})")
    if partner is not None and _is_exact(value, partner, dtype):
        return fix(SAFE, "Cast in TensorFlow", edit, *imports)
    return fix(
        UNSAFE,
        f"Cast in TensorFlow; what follows gets a tensor of {dtype}"
        + ("" if value.dtype in _WHOLE else ", and gradients flow through it"),
        edit,
        *imports,
    )


def _plain_condition(site: Site, node: cst.Call, tensor: cst.BaseExpression) -> Fix:
    """`bool(x > 0)` to `x > 0`. tf.where takes a Python bool and a tensor alike."""
    draft = site.draft
    alone = isinstance(draft.parent(node), (cst.Assign, cst.Arg, cst.Return))
    code = draft.code(tensor) if alone else receiver(draft, tensor)
    is_scalar = draft.value(tensor).shape == ()
    only_where = all(_is_condition(draft, place) for place in places(draft, node))
    edit = replace(draft, node, code)
    if is_scalar and only_where:
        return fix(SAFE, "Keep the tensor, which is a boolean already", edit)
    return fix(UNSAFE, "Keep the tensor, which is a boolean; what follows gets a tensor", edit)


def _is_condition(draft: Draft, place: cst.CSTNode) -> bool:
    given = draft.parent(place)
    call = draft.parent(given) if isinstance(given, cst.Arg) else None
    if not isinstance(call, cst.Call) or not call.args or call.args[0] is not given:
        return False
    return draft.api(call.func) in ("tf.where", "tf.cond")


def _partner(draft: Draft, node: cst.Call) -> Value | None:
    """What stands on the other side of an operator, where that is a tensor."""
    parent = draft.parent(node)
    if not isinstance(parent, cst.BinaryOperation):
        return None
    other = draft.value(parent.left if parent.right is node else parent.right)
    return other if other.is_tensor and not other.guess else None


def _fits(wanted: str, dtype: str) -> bool:
    """Whether Python's float or int turns into this dtype where it meets a tensor."""
    return dtype.startswith(("float", "bfloat")) or (wanted == "int32" and dtype in _WHOLE)


def _is_exact(value: Value, partner: Value, dtype: str) -> bool:
    """Whether tensor and Python number are the same next to the partner: a whole number has no gradient to lose."""
    if value.shape != () or value.dtype not in _WHOLE or not (value.sure and partner.sure):
        return False
    return partner.dtype == dtype and (dtype in ("float32", "float64") or dtype == value.dtype)


def _same_function(site: Site, node: cst.Call, called: str | None) -> Fix | None:
    """`np.exp(t)` to `tf.exp(t)`."""
    draft = site.draft
    if not takes_tensor(draft, node):
        return None
    if called in ("np.asarray", "np.array") and len(node.args) == 1:
        tensor = node.args[0].value
        if draft.value(tensor).is_tensor and not _is_meant(draft, node):
            return fix(
                UNSAFE, f"Keep the tensor; {_FLOWS}", replace(draft, node, draft.code(tensor))
            )
    known = equivalents().get(called or "")
    if known is None or not node.args:
        return None
    dtypes = {v.dtype for a in node.args if (v := draft.value(a.value)).is_tensor}
    if known.only_floats and dtypes & _WHOLE:
        return (
            None  # NumPy turns whole numbers into float64, TensorFlow has no such function of them
        )
    theirs = known.of_numpy or known.keywords
    given = []
    for index, argument in enumerate(node.args):
        name = argument.keyword.value if argument.keyword is not None else None
        if index >= len(known.keywords) or (name is not None and name not in theirs):
            return None
        code = draft.code(argument.value)
        given.append(code if name is None else f"{known.keywords[theirs.index(name)]}={code}")
    if len(given) < known.needs:
        return None
    tensorflow, imports = draft.import_tensorflow()
    says_nan = (
        ", and a NaN comes out where `math` raises" if str(called).startswith("math.") else ""
    )
    return fix(
        UNSAFE,
        f"Use TensorFlow's own function; {_FLOWS}{says_nan}",
        replace(draft, node, f"{tensorflow}.{known.name}({', '.join(given)})"),
        *imports,
    )


def _item(site: Site, node: cst.Subscript) -> Fix | None:
    """`[0.1, 0.01][index]` to `tf.gather([0.1, 0.01], index)`."""
    draft = site.draft
    if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return None
    held = draft.value(node.value)
    items = held.ref if held.kind is SEQUENCE and isinstance(held.ref, tuple) else ()
    numbers = [known.value for item in items if (known := item.constant()) is not None]
    is_plain = numbers and len(numbers) == len(items)
    if (
        not is_plain
        or len({type(n) for n in numbers} - {int, float})
        or not takes_tensor(draft, node)
    ):
        return None
    tensorflow, imports = draft.import_tensorflow()
    index = node.slice[0].slice.value
    edits: list[Edit] = [
        replace(draft, node, f"{tensorflow}.gather({draft.code(node.value)}, {draft.code(index)})")
    ]
    return fix(
        UNSAFE,
        "Gather from a tensor; a negative index no longer counts from the end, and one out of range does not raise under XLA",
        *edits,
        *imports,
    )
