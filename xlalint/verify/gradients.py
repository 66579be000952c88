"""Listen to the gradients that a training step hands to its optimizer, or takes for an update of its own.

Weights after an Adam step say little: it divides tiny gradients by their own size, so noise becomes a full step. The
gradients themselves compare well.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from xlalint.verify.patching import Patches


class GradientTap:
    """While open, keeps the gradients given to `apply_gradients` or `apply` in the graph (or eager run) of the caller.

    With `hears_tapes` it has, where none are, those that tapes gave: `weights.assign_sub(rate * tape.gradient(loss, weights))`.
    """

    def __init__(self, *, hears_tapes: bool = False) -> None:
        self._hears_tapes = hears_tapes
        self._patches = Patches()
        self._found: list[Any] = []
        self._taken: list[Any] = []

    def __enter__(self) -> GradientTap:
        for optimizer in _optimizer_classes():
            for name in ("apply_gradients", "apply"):
                if name in vars(optimizer):
                    self._patches.wrap(optimizer, name, self._listening)
        if self._hears_tapes:
            self._patches.wrap(tf.GradientTape, "gradient", self._taking)
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.undo()

    @property
    def has_heard(self) -> bool:
        """Did anything apply gradients?"""
        return bool(self._found)

    def clear(self) -> None:
        self._found.clear()
        self._taken.clear()

    def gradients(self) -> list[Any]:
        """What was heard since `clear`, as dense tensors of the current graph."""
        graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        heard = self._found or self._taken
        own = [one for one in heard if graph is None or getattr(one, "graph", None) is graph]
        return [tf.convert_to_tensor(one) for one in own]

    def _listening(self, original: Any) -> Callable[..., Any]:
        def listening(optimizer: Any, given: Any, *args: Any, **kwargs: Any) -> Any:
            given = list(given)
            heard = [one[0] if isinstance(one, tuple) else one for one in given]
            if not any(one is other for one in heard for other in self._found):
                self._found.extend(one for one in heard if one is not None)
            return original(optimizer, given, *args, **kwargs)

        return listening

    def _taking(self, original: Any) -> Callable[..., Any]:
        def taking(tape: Any, *args: Any, **kwargs: Any) -> Any:
            gradients = original(tape, *args, **kwargs)
            self._taken.extend(one for one in tf.nest.flatten(gradients) if one is not None)
            return gradients

        return taking


def _optimizer_classes() -> list[Any]:
    """The classes that define how gradients are applied, of every Keras that is loaded: they moved between versions, so
    they are found as the bases of Adam."""
    found: dict[Any, None] = {}
    public = [tf.keras] if "keras" in sys.modules else []  # Keras 2 has its optimizers there alone
    for library in (*public, sys.modules.get("keras"), sys.modules.get("tf_keras")):
        optimizers = getattr(library, "optimizers", None)
        for owner in (optimizers, getattr(optimizers, "legacy", None)):
            for base in inspect.getmro(getattr(owner, "Adam", object)):
                if "apply_gradients" in vars(base) or "apply" in vars(base):
                    found[base] = None
    return list(found)
