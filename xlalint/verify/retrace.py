"""Trace nested tf.functions again, although TensorFlow has traced them before and would take that; or do without them."""

from __future__ import annotations

from typing import Any

from xlalint.verify.patching import Patches


def anew(patches: Patches, outermost: Any = None) -> None:
    """Until `patches.undo()`, calls of tf.functions go to fresh clones, so that what happens while tracing happens.

    `outermost` is traced as part of what calls it: XLA refuses an operation without a kernel in the outermost function even
    where nothing needs its result, and drops it in one that is called (measured on TensorFlow 2.15 and 2.21).
    """
    from tensorflow.python.eager.polymorphic_function import polymorphic_function

    # The originals are kept too: an id is that of a living object only.
    clones: dict[int, tuple[Any, Any]] = {}

    def call_of(original: Any) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if self is outermost and _takes_arguments_as_they_are(self):
                return _as_traced(self)(*args, **kwargs)
            if id(self) not in clones:
                clones[id(self)] = (self, self._clone(self.python_function))
            return original(clones[id(self)][1], *args, **kwargs)

        return call

    if hasattr(polymorphic_function.Function, "_clone"):
        patches.wrap(polymorphic_function.Function, "__call__", call_of)


def inline(patches: Patches) -> None:
    """Until `patches.undo()`, tf.functions are traced as part of what calls them, converted by AutoGraph as they would be."""
    import tensorflow as tf
    from tensorflow.python.eager.polymorphic_function import polymorphic_function

    def call_of(original: Any) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if tf.executing_eagerly():
                return original(self, *args, **kwargs)
            return _as_traced(self)(*args, **kwargs)

        return call

    patches.wrap(polymorphic_function.Function, "__call__", call_of)


def _as_traced(function: Any) -> Any:
    """The Python function of a tf.function, converted as that converts it."""
    from tensorflow.python.autograph.core import ag_ctx
    from tensorflow.python.autograph.impl import api

    if not getattr(function, "_autograph", True):
        return function.python_function

    def converted(*args: Any, **kwargs: Any) -> Any:
        with ag_ctx.ControlStatusCtx(status=ag_ctx.Status.ENABLED):
            context = ag_ctx.control_status_ctx()
            python_function = function.python_function
            return api.tf_convert(python_function, context, user_requested=True)(*args, **kwargs)

    return converted


def _takes_arguments_as_they_are(function: Any) -> bool:
    """Not so where an input_signature turns numbers and arrays into tensors."""
    return getattr(function, "_input_signature", getattr(function, "input_signature", None)) is None
