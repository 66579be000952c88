"""Other values worth trying for a parameter once a call works: enumerations, flags, optional arguments, pairs."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from tools.catalog.arguments import f32, i32
from tools.catalog.composites import COMPOSITE_CALLS, condition

GIVEN = "given"
LISTED = "listed"

# A parameter's name, and the words that some API takes for it; an API that refuses a word eagerly is not measured on it.
_WORDS: Mapping[str, tuple[str, ...]] = {
    "approximate": ("none", "tanh"),
    "combiner": ("mean", "sqrtn", "sum"),
    "curve": ("ROC", "PR"),
    "data_format": (),
    "direction": ("ASCENDING", "DESCENDING"),
    "fill_mode": ("constant", "reflect", "wrap", "nearest"),
    "fill_method": ("ROW", "COL"),
    "implementation": ("xla", "1", "2"),
    "interpolation": (
        "nearest", "bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic",
    ),
    "kernel_method": (),
    "loss_type": (),
    "merge_mode": ("concat", "sum", "ave", "mul"),
    "method": (
        "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic",
        "LEFT", "hermite",
    ),
    "mode": ("CONSTANT", "REFLECT", "SYMMETRIC", "constant", "reflect", "symmetric", "full", "valid", "same"),
    "norm": ("ortho",),
    "ord": ("euclidean", "fro"),
    "output_mode": ("int", "one_hot", "multi_hot", "count", "tf_idf"),
    "padding": ("SAME", "VALID", "same", "valid", "causal"),
    "partition_strategy": ("mod", "div"),
    "pooling_type": ("MAX", "AVG"),
    "reduction": ("sum", "none", "mean", "sum_over_batch_size"),
    "side": ("left", "right"),
    "summation_method": ("interpolation", "minoring", "majoring"),
}  # fmt: skip

# Optional parameters (None by default) whose presence changes what is computed.
_OPTIONAL: Mapping[str, tuple[Any, ...]] = {
    "axis": (0,),
    "clip": (),
    "fft_length": ([4], 4),
    "keepdims": (True,),
    "maximum_iterations": (3,),
    "max_length": (),
    "maxlen": (4,),
    "maxlength": (4,),
    "minlength": (4,),
    "num_classes": (3,),
    "output_shape": (),
    "size": (2, [2]),
    "total_repeat_length": (8,),
    "weights": (f32(1.0, 2.0, 3.0, 4.0), f32(1.0, 2.0, 3.0)),
    "mask": (),
    "num_segments": (2,),
    "parallel_iterations": (),
    "indices": (i32(0),),
}

# Numbers for more of them, which are only given as tensors: where XLA needs a constant, or TensorFlow reads a Python value.
_NUMBERS: Mapping[str, tuple[Any, ...]] = {
    "axes": (0, [0], [0, 1], [1, 0]),
    "axis": (0, [0], [0, 1]),
    "batch_shape": ([2],),
    "dim": (0,),
    "fft_length": ([4], 4, [4, 4], [2, 2]),
    "length": (4,),
    "limit": (4,),
    "max_length": (4,),
    "max_values": (2,),
    "n": (2,),
    "num": (3, 4),
    "num_columns": (2,),
    "num_rows": (3,),
    "offset": (1,),
    "ord": (1,),
    "output_shape": ([9], [1, 8, 8, 3], [2]),
    "perm": ([1, 0], [0]),
    "repeats": (2,),
    "sequence_length": (4,),
    "shape": ([4], [3, 3], [9]),
    "size": (2, [2], 4),
    "stop": (4,),
    "tol": (0.1,),
}

# Arguments that only mean something together.
_ANTIALIASED: Mapping[str, tuple[str, ...]] = {
    "tf.image.resize": ("method",),
    "tf.image.resize_with_pad": ("method",),
    "keras.layers.Resizing": ("interpolation",),
    "keras.ops.image.resize": ("interpolation",),
}

PAIRS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    **{
        name: tuple(
            {"antialias": True, parameter: word}
            for parameter in parameters
            for word in ("nearest", "bicubic", "area")
        )
        for name, parameters in _ANTIALIASED.items()
    },
    "tf.where": (
        {
            "x": f32(1, 2, 3, 4),
            "y": f32(5, 6, 7, 8),
        },
    ),
    "tf.compat.v1.where": ({"x": f32(1, 2, 3, 4), "y": f32(5, 6, 7, 8)},),
    "tf.compat.v1.where_v2": ({"x": f32(1, 2, 3, 4), "y": f32(5, 6, 7, 8)},),
    "keras.ops.where": ({"x1": f32(1, 2, 3, 4), "x2": f32(5, 6, 7, 8)},),
    "tf.math.bincount": ({"minlength": 4, "maxlength": 4},),
    **dict.fromkeys(
        ("tf.nn.max_pool", "tf.nn.max_pool2d", "tf.compat.v1.nn.max_pool"),
        ({"padding": [[0, 0], [1, 1], [1, 1], [0, 0]]},),
    ),
    "tf.norm": ({"ord": 2, "axis": [0, 1]},),
    "tf.compat.v1.norm": ({"ord": 2, "axis": [0, 1]},),
    "tf.compat.v1.image.resize_images": (
        {"method": 1},
        {"method": 2},
        {"method": 3},
        {"method": "bicubic"},
        {"method": "area"},
    ),
    "tf.image.non_max_suppression_padded": (
        {"pad_to_max_output_size": True, "sorted_input": True, "canonicalized_coordinates": True},
    ),
}

_FLAGS = {"training": (True, False)}


def variations(
    name: str, parameters: tuple[inspect.Parameter, ...], used: Mapping[str, Any]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Pairs of (changed arguments, how a condition spells them) that differ from the call `used`."""
    for parameter in parameters:
        current = used.get(parameter.name, parameter.default)
        for value in alternatives(parameter, current):
            spelled = value if isinstance(value, (bool, str)) else GIVEN
            yield {parameter.name: value}, {parameter.name: spelled}
    for pair in PAIRS.get(name, ()):
        yield dict(pair), {key: _spelled(key, value) for key, value in pair.items()}
    for composite in COMPOSITE_CALLS.get(name, ()):
        changes = composite()
        yield changes, condition(changes)


def more_numbers(parameters: tuple[inspect.Parameter, ...]) -> Iterator[tuple[str, Any]]:
    """One more than the whole numbers that are defaults, by parameter."""
    for parameter in parameters:
        numbers = parameter.default
        if type(numbers) is int:
            yield parameter.name, numbers + 1
        elif isinstance(numbers, tuple) and numbers and all(type(each) is int for each in numbers):
            yield parameter.name, tuple(each + 1 for each in numbers)


def alternatives(parameter: inspect.Parameter, current: Any) -> tuple[Any, ...]:
    """Other values for one parameter, `current` being what it has."""
    name = parameter.name
    if isinstance(current, bool):
        return (not current,)
    if name in _FLAGS and current is None:
        return _FLAGS[name]
    if isinstance(current, str):
        return tuple(word for word in _WORDS.get(name, ()) if word != current)
    if current is None and parameter.default is None:
        return _OPTIONAL.get(name, ()) or _WORDS.get(name, ())
    return ()


def _spelled(name: str, value: Any) -> Any:
    """Words and flags as they are, as are the numbers that choose one of several ways; several axes or paddings are `listed`."""
    if isinstance(value, (bool, str)) or (name in ("method", "ord") and isinstance(value, int)):
        return value
    return LISTED if name in ("axis", "padding") and isinstance(value, list) else GIVEN


def optional_numbers(name: str) -> tuple[Any, ...]:
    """Numbers to give for a parameter that is None by default."""
    return tuple(
        value
        for value in (*_OPTIONAL.get(name, ()), *_NUMBERS.get(name, ()))
        if value is not True and not hasattr(value, "dtype")
    )
