"""Functions of TensorFlow Addons: which of them XLA has no kernel for, forwards or backwards, and that the others return tensors.

Each was compiled by itself (TensorFlow Addons 0.23, TensorFlow 2.15). `Addons>...` are operations of its own library.
"""

from __future__ import annotations

from xlalint.semantics.elements import leaves
from xlalint.semantics.values import ARRIVING, SEQUENCE, TENSOR, Value

_PREFIX = "tensorflow_addons."
_PROJECTIVE = "ImageProjectiveTransformV3"
_OPERATIONS = {
    "image.adjust_hsv_in_yiq": "Addons>AdjustHsvInYiq",
    "image.connected_components": "Addons>ImageConnectedComponents",
    "image.equalize": "HistogramFixedWidth",
    "image.euclidean_dist_transform": "Addons>EuclideanDistanceTransform",
    "image.random_hsv_in_yiq": "Addons>AdjustHsvInYiq",
    "image.resampler": "Addons>Resampler",
    "image.rotate": _PROJECTIVE,
    "image.shear_x": _PROJECTIVE,
    "image.shear_y": _PROJECTIVE,
    "image.transform": _PROJECTIVE,
    "image.translate": _PROJECTIVE,
    "image.translate_xy": _PROJECTIVE,
    "seq2seq.gather_tree": "Addons>GatherTree",
}
# The forward pass of a conditional random field is a loop in an arm of a conditional, which handles sequences of length 1.
_GRADIENTS = {
    "text.crf_log_likelihood": "FakeParam",
    "text.crf_log_norm": "FakeParam",
    "text.crf_multitag_sequence_score": "FakeParam",
}
_RETURN_TENSORS = ("image.", "losses.", "activations.", "text.crf_")
_RETURN_PAIRS = frozenset({"text.crf_decode", "text.crf_log_likelihood"})


def operation(name: str) -> str | None:
    """The operation without a kernel that a function emits, by its canonical name; None for those that compile."""
    return _OPERATIONS.get(_short(name)) if name.startswith(_PREFIX) else None


def gradient(name: str) -> str | None:
    """The operation without a kernel that the gradient of a function needs; None where there is none."""
    return _GRADIENTS.get(_short(name)) if name.startswith(_PREFIX) else None


def takes_tensors(name: str) -> bool:
    """Whether a function works on its first argument as on a tensor."""
    short = _short(name) if name.startswith(_PREFIX) else ""
    return short.startswith(_RETURN_TENSORS) and short.rsplit(".", 1)[-1][:1].islower()


def result(name: str, arguments: tuple[Value, ...]) -> Value | None:
    """The tensor, or the pair of them, that a function returns; None where it is not known to return one."""
    if not takes_tensors(name):
        return None
    short = _short(name)
    given = [part.dependence for value in arguments for part in leaves(value) if part.is_tensor]
    tensor = Value(TENSOR, max(given, default=ARRIVING), sure=bool(given))
    if short in _RETURN_PAIRS:
        return Value(SEQUENCE, tensor.dependence, dtype="tuple", ref=(tensor, tensor))
    return tensor


def _short(name: str) -> str:
    """`text.crf_decode`, for `tensorflow_addons.text.crf.crf_decode` too."""
    return name.removeprefix(_PREFIX).replace("text.crf.", "text.")
