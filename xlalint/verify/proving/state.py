"""The variables of a process, as they are put back after each run of a program and compared."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import tensorflow as tf

from xlalint.verify.proving.results import Leaf, leaves

_MOST_NUMBERS = 5_000_000  # elements of all variables together that are put back and compared
# What Keras and TensorFlow keep to draw from: how much is drawn is not what a program computes.
_OF_RANDOMNESS = ("seed_generator", "StateVar", "rng_state")


class State:
    """The variables that live in this process, put back after each run."""

    def __init__(self) -> None:
        # By type: asking a weak reference for its class raises where what it led to is gone.
        living: list[Any] = [one for one in gc.get_objects() if issubclass(type(one), tf.Variable)]
        usable = [one for one in living if _is_usable(one)]
        self.variables = usable if _size_of(usable) <= _MOST_NUMBERS else []
        self.is_partial = len(usable) != len(self.variables)
        self._values: list[Any] = []

    def __enter__(self) -> State:
        self._values = [one.read_value() for one in self.variables]
        return self

    def __exit__(self, *_: object) -> None:
        self.restore()

    def restore(self) -> None:
        for variable, value in zip(self.variables, self._values):
            with suppress(Exception):  # deleted meanwhile
                variable.assign(value)

    def leaves(self) -> list[Leaf]:
        """What the variables hold now, but for those that random numbers are drawn from."""
        return [
            leaf
            for one in self.variables
            if not any(word in str(one.name) for word in _OF_RANDOMNESS)
            for leaf in leaves(one)
        ]


def _is_usable(variable: Any) -> bool:
    try:
        return bool(variable.shape.is_fully_defined() and tf.executing_eagerly()) and bool(
            variable.read_value() is not None
        )
    except Exception:  # of a graph that is gone, or without a value
        return False


def _size_of(variables: Sequence[Any]) -> int:
    return sum(int(one.shape.num_elements() or 0) for one in variables)
