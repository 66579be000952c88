"""Made-up inputs, and the common forms of a program. Inputs repeat from run to run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from program import Call, Programs

_RANDOM = np.random.RandomState(0)


def floats(*shape: int) -> Any:
    """float32 values in [0, 1)."""
    return _RANDOM.rand(*shape).astype("float32")


def integers(limit: int, *shape: int) -> Any:
    """int32 values in [0, limit)."""
    return _RANDOM.randint(0, limit, shape).astype("int32")


def plain(
    programs: Programs,
    name: str,
    function: Callable[..., Any],
    *inputs: Any,
    gradient: bool = False,
) -> None:
    """A program that calls `function` as it is."""
    programs(name)(lambda: Call(function, inputs, gradient))


def layer(
    programs: Programs, name: str, make: Callable[[], Any], *inputs: Any, **options: Any
) -> None:
    """A program that builds a layer outside of the compiled function, then calls it, gradient included."""

    def build() -> Call:
        made = make()
        made(*tf.nest.map_structure(_tensor, list(inputs)), **options)
        return Call(lambda *arguments: made(*arguments, **options), inputs, True)

    programs(name)(build)


def _tensor(value: Any) -> Any:
    return (
        value
        if isinstance(value, (tf.SparseTensor, tf.RaggedTensor))
        else tf.convert_to_tensor(value)
    )


def histogram(values: Any, limits: Any, nbins: int) -> Any:
    """tf.histogram_fixed_width by operations that XLA has, for looking at what follows it."""
    width = (limits[1] - limits[0]) / nbins
    bins = tf.clip_by_value(
        tf.cast((tf.cast(values, tf.float32) - limits[0]) / width, tf.int32), 0, nbins - 1
    )
    return tf.reduce_sum(tf.one_hot(tf.reshape(bins, [-1]), nbins, dtype=tf.int32), axis=0)


def short(programs: Programs) -> Any:
    """`p(name, function, *inputs)`: a differentiated program; `p.no` one without a gradient."""

    def p(name: str, function: Callable[..., Any], *inputs: Any) -> None:
        plain(programs, name, function, *inputs, gradient=True)

    def no(name: str, function: Callable[..., Any], *inputs: Any) -> None:
        plain(programs, name, function, *inputs, gradient=False)

    p.no = no
    return p
