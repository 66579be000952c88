"""The element types of what API calls return."""

from __future__ import annotations

from xlalint.semantics import known_texts
from xlalint.semantics.arguments import Bound
from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.elements import leaves
from xlalint.semantics.results.dtypes import SOME_COMPLEX
from xlalint.semantics.values import COLLECTION, EXTERNAL, NDARRAY, NONE, UNKNOWN, Const, Value

BOOLEAN = frozenset(
    "greater greater_equal less less_equal equal not_equal logical_and logical_or logical_not logical_xor is_nan is_inf is_finite "
    "isnan isinf isfinite reduce_any reduce_all any all in_top_k sequence_mask".split()
)


def dtype_of_result(
    name: str, api: Api | None, bound: Bound, flat: tuple[Value, ...]
) -> str | None:
    """The element type of what a call returns, by its arguments and the catalogue; None where nobody knows."""
    leaf = name.rsplit(".", 1)[-1]
    if leaf in BOOLEAN and bound.get("dtype", NONE) == NONE:
        return "bool"
    if leaf == "bincount" and bound.get("weights", NONE) != NONE:
        return bound["weights"].dtype if bound["weights"].is_tensor else None
    named = (api.dtype_arg if api else None) or "dtype"
    # Catalogues of older versions do not say which parameter it is.
    given = next(
        (bound[p] for p in (named, "dtype", "output_type", "out_type") if p in bound), None
    )
    if given is not None and given != NONE:
        return dtype_name(given)
    if leaf in _BETWEEN and name.startswith(_NUMPYS):
        return None  # promoted of both ends
    if api is not None and (api.result_dtype or "").startswith("like:"):
        return _dtype_of_parameter(api, bound)
    if api is not None and api.result_dtype not in (None, "same", "real"):
        return None if leaf in _RESIZED and _may_keep_pixels(bound) else api.result_dtype
    if name in _TRANSFORMS and not any(v.dtype for v in flat if v.is_tensor):
        return SOME_COMPLEX
    if api is not None and api.result_dtype is not None:
        first = next((v.dtype for v in flat if v.is_tensor), None)
        if first is not None and _is_of_sizes(first, api, bound):
            return dtype_of_literal(bound[api.params[0]], {})
        if name.startswith(_NUMPYS) and _is_promoted(leaf, flat):
            return None
        if first == "bool" and name in _AVERAGES:
            return None  # as Keras's floats are
        if first == "bfloat16" and any(v.dtype == "float32" for v in flat if v.is_tensor):
            return None  # products of both are float32, keras.ops makes float32 of both, the rest fails
        return _REAL.get(first, first) if api.result_dtype == "real" and first else first
    if name in _COMPLEX:
        wide = any(v.dtype == "float64" for v in flat if v.is_tensor)
        return "complex128" if wide else "complex64"
    return None


_RESIZED = frozenset({"resize", "resize_images", "resize_with_pad", "resize_image_with_pad"})


def _may_keep_pixels(bound: Bound) -> bool:
    """Whether images are, or may be, resized to the nearest pixel, which keeps their dtype: all other methods compute float32."""
    method = bound.get("method", NONE)
    if method == NONE:
        return False
    known = method.usual()
    words = known.value if known is not None else str(method.ref) if method.kind is EXTERNAL else ""
    return not words or "nearest" in str(words).lower() or words == 1


_NUMPYS = ("keras.ops.", "tf.experimental.numpy.")
_BETWEEN = frozenset({"linspace", "logspace", "geomspace", "ldexp"})
_AVERAGES = frozenset({"keras.backend.mean", "keras.backend.var", "keras.backend.std"})
_FRACTIONS = frozenset(
    "quantile nanquantile percentile nanpercentile nanmedian square cumsum nancumsum nancumprod sum nansum prod nanprod trace fmin fmax".split()
)


def _is_promoted(leaf: str, flat: tuple[Value, ...]) -> bool:
    """Whether functions that promote as NumPy's do may return another dtype than that of the first tensor: of tensors of several, and of whole
    numbers beside a fraction, or where many make fractions of them.
    """
    found = {v.dtype for v in flat if v.is_tensor}
    if len(found) > 1:
        return True
    dtype = found.pop() if found else None
    if dtype is None or not dtype.startswith(("int", "uint", "bool")):
        return False
    return leaf in _FRACTIONS or any(
        type(v.ref) is Const and type(v.ref.value) is float for v in flat
    )


def _is_of_sizes(dtype: str, api: Api, bound: Bound) -> bool:
    """`tf.reshape(x, (n, 3))`, `tf.roll(x, n)` of what nobody knows, `tf.tile([[0.0]], [n, 3])`, `tf.gather([0.1, 0.2], n)`: `n` says nothing of
    the elements.
    """
    worked_on = bound.get(api.params[0]) if api.params else None
    if worked_on is None or not dtype.startswith(("int", "uint")):
        return False
    if worked_on.kind is UNKNOWN:
        return api.shape not in ("broadcast", "matmul")
    if any(leaf.holds_data for leaf in leaves(worked_on)):
        return False
    written = dtype_of_literal(worked_on, {})
    # The text of `tf.einsum("ij->ji", x)` is nothing that is worked on.
    return written is not None and not written.startswith(("int", "uint", "string"))


# Complex numbers as wide as the real ones that they are made of: float32 where nothing says otherwise.
_COMPLEX = frozenset({"tf.dtypes.complex", "tf.signal.rfft", "tf.signal.rfft2d", "tf.signal.stft"})
_REAL = {"complex64": "float32", "complex128": "float64", SOME_COMPLEX: None}
# They take complex numbers only, and return as many.
_TRANSFORMS = frozenset(f"tf.signal.{way}fft{of}" for way in ("", "i") for of in ("", "2d", "3d"))


def _dtype_of_parameter(api: Api, bound: Bound) -> str | None:
    """`like:y_pred`: the dtype of that argument."""
    like = bound.get((api.result_dtype or "").removeprefix("like:"))
    return like.dtype if like is not None and like.is_tensor else None


def dtype_name(value: Value) -> str | None:
    """`tf.bool`, `np.bool_`, `"bool"` and `bool` are all `bool`."""
    known = value.constant()
    if known is not None and isinstance(known.value, str):
        return known.value
    if value.kind is EXTERNAL:
        name = str(value.ref).rsplit(".", 1)[-1].rstrip("_")
        return _PYTHON_TYPES.get(name, name)
    return None


_PYTHON_TYPES = {"int": "int32", "float": "float32", "str": "string"}


def dtype_of_literal(value: Value, bound: Bound) -> str | None:
    """What TensorFlow makes of Python numbers: int32, float32, bool, string."""
    given = bound.get("dtype")
    if given is not None and given != NONE:
        return dtype_name(given)
    if value.kind is NDARRAY:
        return value.dtype
    found = {
        _PYTHON_DTYPES.get(type(leaf.ref.value))
        for leaf in leaves(value)
        if type(leaf.ref) is Const
    }
    known = all(type(leaf.ref) is Const for leaf in leaves(value))
    if value.kind is COLLECTION and value.ref is not None and value.ref.is_tensor:
        return str(value.ref.dtype) if value.ref.dtype == "string" else None  # numbers may be cast
    if value.kind is COLLECTION and value.ref is not None:
        # Of numbers, whole ones and fractions may be among them.
        return "string" if known_texts.are_texts(value.ref) else None
    if known and found <= {"int32", "float32"} and found:
        return "float32" if "float32" in found else "int32"
    return found.pop() if known and len(found) == 1 else None


_PYTHON_DTYPES: dict[type, str] = {
    int: "int32",
    float: "float32",
    bool: "bool",
    str: "string",
    bytes: "string",
}
