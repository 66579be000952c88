"""What `super().method(...)` gives: it runs the method of a project's class, or Keras's own."""

from __future__ import annotations

import ast

from xlalint.semantics import api_objects
from xlalint.semantics.arguments import Arguments
from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.classes import (
    LAYER,
    LOSS,
    METRIC,
    MODEL,
    REGULARIZER,
    SCHEDULE,
    external_role,
)
from xlalint.semantics.elements import leaves
from xlalint.semantics.environment import by_position
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import keras_state, training_flags
from xlalint.semantics.index import ClassInfo
from xlalint.semantics.values import (
    ARRIVING,
    COMPUTED,
    INSTANCE,
    MAPPING,
    NOTHING_KNOWN,
    TENSOR,
    VARIABLE,
    Value,
)

# Keras's own steps return what its metrics come to, by name.
STEPS = frozenset({"train_step", "test_step"})
LOGS = Value(MAPPING, ref=((None, Value(TENSOR, COMPUTED)),))
_OUTPUTS = Value(TENSOR, ARRIVING, structured=True)
_NUMBERS = Value(TENSOR, COMPUTED)
# What these classes of Keras give when they are called.
_CALLED = {LAYER: _OUTPUTS, MODEL: _OUTPUTS, LOSS: _NUMBERS, SCHEDULE: _NUMBERS, REGULARIZER: _NUMBERS}  # fmt: skip
# Methods of Keras's layers that give something else than they compute of tensors.
_OF_BOOKKEEPING = ("add_", "build", "compute_mask", "compute_output", "get_", "set_", "_set", "on_")


def call(base: Value, attr: str, arguments: Arguments, node: ast.Call, frame: Frame) -> Value:
    """The value of `super().attr(...)`."""
    instance, owner = base.ref
    if not isinstance(instance.ref, ClassInfo):
        return NOTHING_KNOWN
    method = frame.analysis.classes.method_after(instance.ref, owner, attr)
    if method is not None:
        return frame.analysis.functions.invoke(
            method, list(arguments.positional), arguments.keywords, instance, frame,
            open_ended=arguments.open_ended, node=node,
        )  # fmt: skip
    if attr == "__call__" and frame.analysis.keras == "3":
        by_position.note_super(instance, arguments, node, frame)
    if attr in ("add_weight", "add_variable"):
        return Value(VARIABLE, ARRIVING)
    if attr in STEPS and frame.context.is_compiled:
        return LOGS
    base_name = frame.analysis.classes.external_base(instance.ref)
    if attr == "call" and base_name is not None:
        training_flags.note_super(base_name, arguments, node, frame)
        api = frame.analysis.catalog.api(base_name)
        if api is not None and _fails_however_made(api):
            api_objects.call(Value(INSTANCE, ref=base_name), arguments, node, frame)
    return _of_keras(instance.ref, base_name, attr, arguments, frame)


def by_class(name: str, arguments: Arguments, frame: Frame) -> Value | None:
    """`keras.layers.Embedding.call(self, x)`, as `super().call(x)`; None where no class of Keras is asked for it."""
    owner, _, method = name.rpartition(".")
    if method not in ("call", "__call__") or not frame.context.is_compiled:
        return None
    role = external_role(owner)
    if role is None or not any(map(_is_tensor, arguments.values)):
        return None
    return _CALLED.get(role.kind)


def _of_keras(
    cls: ClassInfo, base: str | None, attr: str, arguments: Arguments, frame: Frame
) -> Value:
    role = frame.analysis.classes.role(cls)
    kind = role.kind if role is not None else None
    if attr == "call":
        return _NUMBERS if kind == LOSS else _OUTPUTS
    if attr == "__call__" and frame.context.is_compiled:
        return _CALLED.get(kind or "", NOTHING_KNOWN)
    if attr == "result" and kind == METRIC:
        return _NUMBERS
    if kind == LAYER and base is not None and not attr.startswith(_OF_BOOKKEEPING):
        # `super().convolution_op(inputs, kernel)`, `super()._compute_attention(query, key, value)`
        if keras_state.makes_weights(base) and any(map(_is_tensor, arguments.values)):
            return _OUTPUTS._replace(dependence=COMPUTED, sure=False)
    return NOTHING_KNOWN


def _is_tensor(given: Value) -> bool:
    return any(leaf.is_tensor and not leaf.guess for leaf in leaves(given))


def _fails_however_made(layer: Api) -> bool:
    """Whether a layer of Keras does not compile, whatever its settings are: `training=False` is said by each call."""
    ways = [condition for condition in layer.conditions if condition.status == "compiles"]
    return layer.status == "fails" and all(
        name == "training" for condition in ways for name, _ in condition.when
    )
