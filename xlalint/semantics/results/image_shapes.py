"""The static shapes of images and of what convolutions and pools make of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xlalint.semantics.arguments import Bound
from xlalint.semantics.results.operands import number, numbers, operand_shape
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.values import NONE, NOTHING_KNOWN, Value


def of_call(name: str, bound: Bound) -> Shape | None:
    """The shape that a call makes; None of one that is no such operation, and where the rank is not known."""
    rule = _RULES.get(name)
    return rule(bound) if rule is not None else None


def _given(bound: Bound, *names: str) -> Value:
    return next((bound[name] for name in names if name in bound), NOTHING_KNOWN)


def _images(bound: Bound) -> Shape | None:
    shape = operand_shape(_given(bound, "images", "image", "input", "inputs", "value"))
    return shape if shape is not None and len(shape) in (3, 4) else None


def _of_size(bound: Bound, height: int | None, width: int | None) -> Shape | None:
    """Images of another size, channels last."""
    shape = _images(bound)
    return None if shape is None else (*shape[:-3], height, width, shape[-1])


def _resized(bound: Bound) -> Shape | None:
    if _text(_given(bound, "data_format"), "channels_last") != "channels_last":
        return None
    is_kept = bound.get("preserve_aspect_ratio", NONE) != NONE
    size = numbers(_given(bound, "size"))
    if size is None or len(size) != 2 or is_kept:
        return _of_size(bound, None, None)
    return _of_size(bound, *size)


def _to_target(bound: Bound) -> Shape | None:
    height, width = (number(_given(bound, f"target_{side}")) for side in ("height", "width"))
    return _of_size(bound, height, width)


def _of_channels(count: int, bound: Bound) -> Shape | None:
    shape = operand_shape(_given(bound, "images", "image"))
    return None if not shape else (*shape[:-1], count)


def _crops(bound: Bound) -> Shape | None:
    image, boxes = _images(bound), operand_shape(_given(bound, "boxes"))
    size = numbers(_given(bound, "crop_size"))
    if image is None or size is None or len(size) != 2:
        return None
    return (boxes[0] if boxes else None, *size, image[-1])


def _convolved(dimensions: int, bound: Bound) -> Shape | None:
    """`tf.nn.conv2d(input, filters, strides, padding)`."""
    image = operand_shape(_given(bound, "input"))
    kernel = operand_shape(_given(bound, "filters", "filter", "kernel"))
    if image is None or len(image) != dimensions + 2:
        return None
    channels = kernel[-1] if kernel is not None and len(kernel) == dimensions + 2 else None
    window = kernel[:dimensions] if channels is not None and kernel is not None else None
    return _slid(dimensions, image, window, channels, bound)


def _pooled(dimensions: int, bound: Bound) -> Shape | None:
    """`tf.nn.max_pool2d(input, ksize, strides, padding)`."""
    image = operand_shape(_given(bound, "input"))
    if image is None or len(image) != dimensions + 2:
        return None
    window = _per_dimension(_given(bound, "ksize"), dimensions)
    return _slid(dimensions, image, window, image[-1], bound)


def _slid(
    dimensions: int, image: Shape, window: Shape | None, channels: int | None, bound: Bound
) -> Shape:
    """What a window leaves of an image, channels last."""
    layout = _text(_given(bound, "data_format"), "NHWC")
    if layout is None or layout.startswith("NC"):
        return (None,) * (dimensions + 2)
    strides = _per_dimension(_given(bound, "strides", "stride"), dimensions)
    padding = _text(_given(bound, "padding"), None)
    dilated = any(bound.get(name, NONE) != NONE for name in ("dilations", "dilation"))
    if strides is None or padding is None or dilated:
        return (image[0], *(None,) * dimensions, channels)
    sizes = [
        _steps(size, part, step, padding.upper())
        for size, part, step in zip(image[1:-1], window or (None,) * dimensions, strides)
    ]
    return (image[0], *sizes, channels)


def _steps(size: int | None, window: int | None, stride: int | None, padding: str) -> int | None:
    if size is None or not stride:
        return None
    if padding == "SAME":
        return -(-size // stride)
    return None if window is None or padding != "VALID" else -(-(size - window + 1) // stride)


def _per_dimension(value: Value, dimensions: int) -> Shape | None:
    """A number for all dimensions, one for each, or those of the batch and the channels as well."""
    known = numbers(value)
    if known is None:
        return None
    if len(known) == 1:
        return known * dimensions
    if len(known) == dimensions + 2:
        return known[1:-1]
    return known if len(known) == dimensions else None


def _text(value: Value, usual: str | None) -> str | None:
    if value == NOTHING_KNOWN:
        return usual
    known = value.constant()
    return known.value if known is not None and isinstance(known.value, str) else None


_RULES: dict[str, Callable[[Bound], Shape | None]] = {
    "tf.image.resize": _resized,
    "keras.ops.image.resize": _resized,
    "tf.image.resize_with_pad": _to_target,
    "tf.image.resize_with_crop_or_pad": _to_target,
    "tf.image.crop_to_bounding_box": _to_target,
    "tf.image.pad_to_bounding_box": _to_target,
    "tf.image.rgb_to_grayscale": partial(_of_channels, 1),
    "tf.image.grayscale_to_rgb": partial(_of_channels, 3),
    "tf.image.crop_and_resize": _crops,
    **{f"tf.nn.conv{n}d": partial(_convolved, n) for n in (1, 2, 3)},
    **{f"tf.nn.{kind}_pool{n}d": partial(_pooled, n) for kind in ("max", "avg") for n in (1, 2, 3)},
}
