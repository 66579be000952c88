"""Calls of what a project's own layers, models, losses and metrics inherit from Keras."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import keras_loops, trace_effects
from xlalint.semantics.methods.handler import Method
from xlalint.semantics.methods.keras_optimizers import OF_OPTIMIZERS
from xlalint.semantics.results import result_shapes
from xlalint.semantics.syntax import receiver_name
from xlalint.semantics.tracing import host_use
from xlalint.semantics.training import model_files, node_inputs
from xlalint.semantics.values import (
    ARRIVING,
    COMPUTED,
    NOTHING_KNOWN,
    SEQUENCE,
    SHAPE,
    TENSOR,
    UNKNOWN,
    VARIABLE,
    Value,
    shaped,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments


def keras_method(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """`compile`, `fit` and the like: functions handed to Keras are traced by Keras."""
    if attr in node_inputs.READERS:
        frame.analysis.node_inputs.saw_read(arguments, node, frame)
        if _is_of_keras(base, attr, arguments, node, frame):
            frame.host |= host_use.WORK  # refused in a tf.function: whoever calls it runs eagerly
    frame.analysis.regions.handed_to_keras(base, arguments, attr, node, frame)
    return NOTHING_KNOWN


_LOOP_SETTINGS = frozenset({"verbose", "batch_size", "steps", "callbacks"})


def _is_of_keras(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> bool:
    """Whether `fit`, `evaluate` or `predict` is Keras's: models of other libraries predict in compiled code as well."""
    if attr == "fit" or base.kind is not UNKNOWN:
        return True
    if not _LOOP_SETTINGS.isdisjoint(arguments.keywords):
        return True
    return receiver_name(node) == "model" and frame.module.mentions("keras")


def _add_weight(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    trace_effects.note_weight(attr, node, frame)
    given = arguments.keywords.get("shape")
    if given is None:  # Keras 2 takes a name first, Keras 3 the shape
        given = next((v for v in arguments.positional[:2] if v.kind in (SEQUENCE, SHAPE)), None)
    shape = result_shapes.numbers(given) if given is not None else None
    if _says_no_shape(given, arguments):
        shape = ()  # both Kerases make a number of it
    # Under a mixed policy, a layer sees its weights in the policy's dtype.
    is_cast = "dtype" in arguments.keywords or frame.analysis.precision.is_mixed
    dtype = None if is_cast else "float32"
    return shaped(Value(VARIABLE, ARRIVING, dtype=dtype), shape)


def _says_no_shape(given: Value | None, arguments: Arguments) -> bool:
    if given is None:
        names = [value.constant() for value in arguments.positional]
        is_plain = all(known is not None and isinstance(known.value, str) for known in names)
        return is_plain and not arguments.open_ended
    known = given.constant()
    return known is not None and known.value is None


def _keras_loss_method(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    return Value(TENSOR, COMPUTED)


def _of_files(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`save`, `save_weights` and `load_weights` of a project's own models."""
    if not frame.analysis.regions.is_keras_2(base):
        model_files.note_method(attr, node, frame)
    return NOTHING_KNOWN


def _host_arrays(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    return NOTHING_KNOWN


# Methods that a project's own Keras classes inherit from Keras itself; a project method of that name comes first.
_KERAS_INHERITED: dict[str, Method] = {
    "add_weight": _add_weight,
    "add_variable": _add_weight,
    "compile": keras_method,
    **dict.fromkeys(node_inputs.READERS, keras_method),
    "add_loss": keras_method,
    "add_metric": keras_method,
    **dict.fromkeys(model_files.METHODS, _of_files),
    "predict_on_batch": _host_arrays,
    "get_weights": _host_arrays,
    "compute_loss": _keras_loss_method,
    "compiled_loss": _keras_loss_method,
    **OF_OPTIMIZERS,
}


def _inherited(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    own = frame.analysis.classes.method(base.ref, attr)
    if own is not None:
        return frame.analysis.functions.invoke(
            own,
            list(arguments.positional),
            arguments.keywords,
            base,
            frame,
            open_ended=arguments.open_ended,
        )
    keras_loops.note(base, attr, node, frame)
    return _KERAS_INHERITED[attr](base, attr, arguments, node, frame)


OF_KERAS: dict[str, Method] = dict.fromkeys(_KERAS_INHERITED, _inherited)
