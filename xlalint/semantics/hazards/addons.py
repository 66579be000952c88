"""Functions of TensorFlow Addons: which of them XLA has no kernel for, and that the others return tensors.

Each was compiled by itself (TensorFlow Addons 0.23, TensorFlow 2.15). `Addons>...` are operations of its own library.
"""

from __future__ import annotations

from xlalint.semantics.values import ARRIVING, TENSOR, Value, leaves

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
_RETURN_TENSORS = ("image.", "losses.", "activations.")


def operation(name: str) -> str | None:
    """The operation without a kernel that a function emits, by its canonical name; None for those that compile."""
    return _OPERATIONS.get(name.removeprefix(_PREFIX)) if name.startswith(_PREFIX) else None


def result(name: str, arguments: tuple[Value, ...]) -> Value | None:
    """The tensor that a function returns; None where it is not known to return one."""
    leaf = name.rsplit(".", 1)[-1]
    if not name.removeprefix(_PREFIX).startswith(_RETURN_TENSORS) or not leaf[:1].islower():
        return None
    given = [part.dependence for value in arguments for part in leaves(value) if part.is_tensor]
    return Value(TENSOR, max(given, default=ARRIVING), sure=bool(given))
