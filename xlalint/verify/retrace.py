"""Trace nested tf.functions again, although TensorFlow has traced them before and would take that."""

from __future__ import annotations

from typing import Any

from xlalint.verify.patching import Patches


def anew(patches: Patches) -> None:
    """Until `patches.undo()`, calls of tf.functions go to fresh clones, so that what happens while tracing happens."""
    from tensorflow.python.eager.polymorphic_function import polymorphic_function

    # The originals are kept too: an id is that of a living object only.
    clones: dict[int, tuple[Any, Any]] = {}

    def call_of(original: Any) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if id(self) not in clones:
                clones[id(self)] = (self, self._clone(self.python_function))
            return original(clones[id(self)][1], *args, **kwargs)

        return call

    if hasattr(polymorphic_function.Function, "_clone"):
        patches.wrap(polymorphic_function.Function, "__call__", call_of)
