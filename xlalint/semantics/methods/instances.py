"""Calls of methods of objects that other packages' classes make: tapes, optimizers, layers, tables."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.facts import ASSUMED
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients import jacobians
from xlalint.semantics.hazards import (
    host_objects,
    keras_loops,
    legacy_optimizers,
    trace_effects,
)
from xlalint.semantics.methods.keras_objects import keras_method
from xlalint.semantics.methods.loss_scaling import OF_SCALED, SCALES_LOSSES
from xlalint.semantics.names import api_name
from xlalint.semantics.results import bijectors, drawn_samples
from xlalint.semantics.tracing import host_use
from xlalint.semantics.training import meetings, model_files, model_layers, node_inputs, reductions
from xlalint.semantics.values import (
    COLLECTION,
    COMPUTED,
    INSTANCE,
    NONE,
    NOTHING_KNOWN,
    TENSOR,
    Value,
    class_name,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

_GENERATOR = "tf.random.Generator"
_RESETS = frozenset({"reset_state", "reset_states"})


def of_instance(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    name = class_name(base) or ""
    if name == "tf.GradientTape":
        if attr == "gradient" and reductions.is_step(frame):
            reductions.saw_gradient(arguments, node, frame)
        if attr in ("gradient", "jacobian", "batch_jacobian"):
            jacobians.note(attr, arguments, node, frame)
            return Value(TENSOR, COMPUTED, structured=True, optional=True)
        return NONE
    if attr in meetings.METHODS:
        frame.analysis.meetings.saw(attr, node, frame)
    if attr in model_files.METHODS and name.startswith(_MODELS) and frame.analysis.keras == "3":
        model_files.note_method(attr, node, frame)
    if attr in ("save", "write", "export"):
        frame.analysis.node_inputs.saw_write(f"{api_name(name)}.{attr}", node, frame)
    if base.made is not None:
        frame.analysis.scopes.saw_use(base, attr, frame)
    if attr == "split" and name == _GENERATOR:
        trace_effects.note_call(f"{name}.{attr}", node, frame)
        return Value(COLLECTION, ref=Value(INSTANCE, ref=name))
    on_host = host_objects.call(name, attr, node, frame, arguments)
    if on_host is not None:
        return on_host
    drawn = drawn_samples.call(base, name, attr, arguments, node, frame)
    drawn = drawn or bijectors.method(name, attr)
    if drawn is not None:
        return drawn
    if attr == "add" and api_name(name) == model_layers.SEQUENTIAL:
        frame.analysis.model_layers.added(base, arguments, node, frame)
        return NONE
    keras_loops.note(base, attr, node, frame)
    legacy_optimizers.note(base, api_name(name), attr, node, frame)
    if attr in ("fit", "evaluate", "predict", "compile", "add_loss", "add_metric"):
        return keras_method(base, attr, arguments, node, frame)
    flow = node_inputs.flows(name, attr)
    if flow is not None:
        return flow
    if attr == "result" and name.startswith("keras.metrics"):
        return Value(TENSOR, COMPUTED)
    if attr in _RESETS and frame.context.region == ASSUMED:
        # Between epochs, which nobody compiles; a step that resets its metrics is compiled by something in sight.
        frame.host |= host_use.WORK
    if attr in OF_SCALED and name.endswith(SCALES_LOSSES):
        return OF_SCALED[attr](base, attr, arguments, node, frame)
    if attr == "call" and name.startswith("keras."):
        return frame.analysis.call_external_instance(base, arguments, node, frame)
    return NOTHING_KNOWN


_MODELS = ("keras.Model", "keras.Sequential", "keras.applications.")
