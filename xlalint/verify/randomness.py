"""The same random numbers eagerly and under XLA, so that programs with dropout can be compared.

With one seed, TensorFlow and XLA give different floats, and the same integers (Philox bits are identical; measured on
TensorFlow 2.21). So while numbers are compared, floats are made from integers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from xlalint.verify import retrace
from xlalint.verify.patching import Patches

_PACKAGES = ("tensorflow", "keras", "tf_keras", "transformers")

# Operations whose floats differ between the two worlds and that this module does not replace.
_RANDOM_OPS = frozenset(
    {
        "RandomUniform", "RandomStandardNormal", "TruncatedNormal", "ParameterizedTruncatedNormal",
        "RandomGamma", "RandomPoisson", "RandomPoissonV2", "RandomShuffle", "Multinomial",
        "StatefulUniform", "StatefulStandardNormalV2", "StatefulTruncatedNormal", "StatelessRandomUniform",
        "StatelessRandomUniformV2", "StatelessRandomNormal", "StatelessRandomNormalV2",
        "StatelessTruncatedNormal", "StatelessTruncatedNormalV2", "StatelessMultinomial",
        "StatelessRandomGammaV2", "StatelessRandomGammaV3", "StatelessRandomPoisson",
        "StatelessParameterizedTruncatedNormal", "StatelessShuffle", "RandomUniformInt",
    }
)  # fmt: skip

# Decompositions whose results are right up to a sign or an order that the two worlds choose differently.
_SIGN_FREE_OPS = frozenset({"Svd", "Qr", "SelfAdjointEigV2", "Eig"})


def random_ops(ops: Iterable[Any]) -> list[Any]:
    """The operations of a graph that draw random numbers."""
    return [op for op in ops if op.type in _RANDOM_OPS]


def sign_free_ops(ops: Iterable[Any]) -> list[Any]:
    return [op for op in ops if op.type in _SIGN_FREE_OPS]


class Dice:
    """Counts the draws of one run, so that two runs of a program draw the same. `in_loop`: a draw inside a graph's loop,
    which eager code repeats with new numbers and the graph does not."""

    def __init__(self) -> None:
        self.draws = 0
        self.in_loop = False

    def restart(self) -> None:
        self.draws = 0

    def next_seed(self) -> tuple[int, int]:
        import tensorflow as tf

        self.draws += 1
        graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        self.in_loop |= "while_body" in getattr(graph, "name", "")
        return (0x5EED, self.draws)


@contextmanager
def reproducible() -> Iterator[Dice]:
    """While open, float random functions draw the same numbers eagerly and compiled."""
    patches, dice = Patches(), Dice()
    try:
        _replace_functions(patches, dice)
        _replace_generator(patches)
        retrace.anew(patches)
        yield dice
    finally:
        patches.undo()


def _replace_functions(patches: Patches, dice: Dice) -> None:
    from tensorflow.python.ops import random_ops as stateful
    from tensorflow.python.ops import stateless_random_ops as stateless

    integers = stateless.stateless_random_uniform
    floats = _Floats(integers)

    def random_uniform(
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = "float32",
        seed: Any = None,
        name: Any = None,
    ) -> Any:
        return floats.uniform(shape, dice.next_seed(), minval, maxval, dtype)

    def random_normal(
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = "float32",
        seed: Any = None,
        name: Any = None,
    ) -> Any:
        return floats.normal(shape, dice.next_seed(), mean, stddev, dtype)

    def truncated_normal(
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = "float32",
        seed: Any = None,
        name: Any = None,
    ) -> Any:
        return floats.truncated(shape, dice.next_seed(), mean, stddev, dtype)

    replacements = (
        (stateless, "stateless_random_uniform", ("stateless_uniform",), floats.uniform),
        (stateless, "stateless_random_normal", ("stateless_normal",), floats.normal),
        (stateless, "stateless_truncated_normal", (), floats.truncated),
        (stateful, "random_uniform", ("uniform",), random_uniform),
        (stateful, "random_normal", ("normal",), random_normal),
        (stateful, "truncated_normal", (), truncated_normal),
    )
    for module, name, aliases, replacement in replacements:
        original = getattr(module, name, None)
        if original is None:
            continue
        for spelled in (name, *aliases):
            patches.put_wherever_named(original, spelled, replacement, _PACKAGES)


def _replace_generator(patches: Patches) -> None:
    import tensorflow as tf

    def uniform_of(original: Any) -> Any:
        def uniform(
            self: Any,
            shape: Any,
            minval: Any = 0,
            maxval: Any = None,
            dtype: Any = tf.float32,
            name: Any = None,
        ) -> Any:
            if tf.as_dtype(dtype).is_integer:
                return original(self, shape, minval, maxval, dtype, name)
            return _scaled(_unit(self.uniform_full_int(shape, tf.uint32)), minval, maxval, dtype)

        return uniform

    def normal_of(original: Any) -> Any:
        def normal(
            self: Any,
            shape: Any,
            mean: Any = 0.0,
            stddev: Any = 1.0,
            dtype: Any = tf.float32,
            name: Any = None,
        ) -> Any:
            first, second = (self.uniform_full_int(shape, tf.uint32) for _ in range(2))
            return _gaussian(_unit(first), _unit(second), mean, stddev, dtype)

        return normal

    patches.wrap(tf.random.Generator, "uniform", uniform_of)
    patches.wrap(tf.random.Generator, "normal", normal_of)


class _Floats:
    """Random floats out of the integers of `stateless_random_uniform`."""

    def __init__(self, integers: Any) -> None:
        self._integers = integers

    def uniform(
        self, shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32",
        name: Any = None, alg: Any = "auto_select",
    ) -> Any:  # fmt: skip
        import tensorflow as tf

        if tf.as_dtype(dtype).is_integer:
            return self._integers(shape, seed, minval, maxval, dtype, name, alg)
        return _scaled(self._draw(shape, seed), minval, maxval, dtype)

    def normal(
        self, shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32",
        name: Any = None, alg: Any = "auto_select",
    ) -> Any:  # fmt: skip
        import tensorflow as tf

        other = tf.convert_to_tensor(seed) + 7
        return _gaussian(self._draw(shape, seed), self._draw(shape, other), mean, stddev, dtype)

    def truncated(
        self, shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32",
        name: Any = None, alg: Any = "auto_select",
    ) -> Any:  # fmt: skip
        import tensorflow as tf

        unit = self.normal(shape, seed)
        return tf.cast(tf.clip_by_value(unit, -2.0, 2.0) * stddev + mean, dtype)

    def _draw(self, shape: Any, seed: Any) -> Any:
        import tensorflow as tf

        return _unit(self._integers(shape, seed=seed, minval=None, maxval=None, dtype=tf.uint32))


def _unit(bits: Any) -> Any:
    """uint32 to float32 in [0, 1), by the 24 bits that a float32 holds exactly."""
    import tensorflow as tf

    return tf.cast(tf.bitwise.right_shift(bits, tf.constant(8, tf.uint32)), tf.float32) * 2.0**-24


def _scaled(unit: Any, minval: Any, maxval: Any, dtype: Any) -> Any:
    import tensorflow as tf

    low = tf.cast(minval, tf.float32)
    high = tf.cast(1.0 if maxval is None else maxval, tf.float32)
    return tf.cast(unit * (high - low) + low, dtype)


def _gaussian(first: Any, second: Any, mean: Any, stddev: Any, dtype: Any) -> Any:
    import tensorflow as tf

    unit = tf.sqrt(-2.0 * tf.math.log(first + 2.0**-25)) * tf.cos(2.0 * math.pi * second)
    return tf.cast(unit * tf.cast(stddev, tf.float32) + tf.cast(mean, tf.float32), dtype)
