"""What `value.attr` means, by the kind of the value."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache

from xlalint.semantics import backends, eager, enumerations, named_tuples, symbolic
from xlalint.semantics.classes import LAYER, external_role
from xlalint.semantics.environment import versions
from xlalint.semantics.facts import COMPILED
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import keras_state, outliving, unknown_sizes
from xlalint.semantics.index import ClassInfo
from xlalint.semantics.joins import alternatives, join_all
from xlalint.semantics.names import canonical
from xlalint.semantics.results import composites, drawn_samples, dtypes
from xlalint.semantics.syntax import last_name
from xlalint.semantics.values import (
    ANY_OF,
    ARRIVING,
    CLASS,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    MAPPING,
    NAMED_TUPLE,
    NDARRAY,
    NONE,
    NOTHING_KNOWN,
    PROJECT_MODULE,
    PYTHON,
    RAGGED,
    SEQUENCE,
    SHAPE,
    SOME_PYTHON,
    SOME_RANK,
    SPARSE,
    STATIC_SHAPE,
    STRATEGY,
    SUPER,
    TENSOR,
    UNKNOWN,
    VARIABLE,
    Value,
    class_name,
    constant,
    shaped,
)

# Attributes of a symbolic tensor that are known while tracing.
_STATIC = frozenset(
    {"dtype", "name", "device", "graph", "ndim", "rank", "ndims", "trainable", "handle"}
)


def read(value: Value, attr: str, frame: Frame, node: ast.expr) -> Value:
    """The value of an attribute. Facts about method calls are noted where they are called (calls.py)."""
    if frame.analysis.modules.frameworks.has_classes:
        return _read_of_several(value, attr, frame, node)
    return _read(value, attr, frame, node)


def _read_of_several(value: Value, attr: str, frame: Frame, node: ast.expr) -> Value:
    """The same in a project that has a class for each framework: `self.backend` is that of TensorFlow."""
    owner = last_name(node.value) if isinstance(node, ast.Attribute) else ""
    value = backends.named(value, owner, attr, frame)
    return backends.named(_read(value, attr, frame, node), attr, "", frame)


def _read(value: Value, attr: str, frame: Frame, node: ast.expr) -> Value:
    if value.kind is EXTERNAL:
        if versions.is_version(value):
            known = versions.attribute(value, attr, frame.analysis.keras)
            if known is not None:
                return known
        return _of_external(value.ref, attr)
    if value.kind is ANY_OF:
        chosen = backends.of_tensorflow(value)
        if chosen is not value:
            return read(chosen, attr, frame, node)
        return join_all(tuple(read(one, attr, frame, node) for one in alternatives(value)))
    if value.kind is UNKNOWN:
        return _of_unknown(attr, frame, node)
    if value.kind is INSTANCE:
        return _of_instance(value, attr, frame, node)
    reader = _READERS.get(value.kind)
    return reader(value, attr, frame) if reader is not None else NOTHING_KNOWN


# Sparse tensors alone have `dense_shape`, and it comes with them.
_SIZES_OF_SPARSE = Value(TENSOR, ARRIVING, dtype="int64", rank=1, sure=False)


def _of_unknown(attr: str, frame: Frame, node: ast.expr) -> Value:
    if attr == "shape":
        return STATIC_SHAPE
    if attr == "dense_shape" and frame.context.is_compiled:
        return _SIZES_OF_SPARSE
    name = last_name(node.value) if isinstance(node, ast.Attribute) else ""
    return keras_state.of_unknown(name, attr, frame.context.region) or NOTHING_KNOWN


@cache
def _of_external(name: str, attr: str) -> Value:
    dtype = dtypes.name_of(name)
    if dtype is not None:
        return dtypes.attribute(dtype, attr)
    return Value(EXTERNAL, ref=canonical(f"{name}.{attr}"))


def _of_tensor(value: Value, attr: str, frame: Frame) -> Value:
    if attr == "shape":
        return symbolic.shape_of(value, unknown_sizes.shape_of(value, frame))
    if attr in ("ndim", "ndims", "rank"):
        return rank_of(value)
    if attr == "dtype":
        return dtypes.of_tensor(value.dtype)
    if attr == "op":
        return (
            NONE  # an operation, which conditionals and functions of the graph return as no value
        )
    if attr in _STATIC:
        return SOME_PYTHON
    if attr in ("T", "real", "imag"):
        return shaped(value._replace(kind=TENSOR, ref=None), None)
    if attr == "dense_shape" and value.guess:
        return _SIZES_OF_SPARSE
    if attr in ("values", "flat_values", "indices"):
        # A ragged or sparse tensor after all, as what a layer is given may be.
        return (
            Value(TENSOR, value.dependence, sure=value.sure, structured=True)
            if value.structured
            else NOTHING_KNOWN
        )
    if value.structured and attr in _FIELDS_OF_OUTPUTS:
        return Value(TENSOR, value.dependence, sure=value.sure, structured=attr.endswith("s"))
    return NOTHING_KNOWN


# What models of transformers name their outputs; those of several layers come as a tuple.
_FIELDS_OF_OUTPUTS = frozenset(
    "last_hidden_state pooler_output logits loss hidden_states attentions start_logits end_logits "
    "encoder_last_hidden_state encoder_hidden_states decoder_hidden_states cross_attentions "
    "text_embeds image_embeds logits_per_image logits_per_text".split()
)


def _of_shape(value: Value, attr: str, frame: Frame) -> Value:
    if attr in ("rank", "ndims"):
        return SOME_RANK if value.shape is None else constant(len(value.shape))
    return SOME_PYTHON if attr == "dims" else NOTHING_KNOWN


def rank_of(value: Value) -> Value:
    """The number of dimensions of a tensor, as Python sees it while tracing."""
    return (
        constant(len(value.shape))
        if value.shape is not None and not value.structured
        else SOME_RANK
    )


def _of_array(value: Value, attr: str, frame: Frame) -> Value:
    return SOME_PYTHON if attr in ("shape", "ndim", "size", "dtype") else Value(NDARRAY)


def _of_module(value: Value, attr: str, frame: Frame) -> Value:
    return frame.analysis.modules.module_member(value.ref, attr)


# `self.step`, which a constructor was handed and a method counts up.
_HANDED_VARIABLE = Value(VARIABLE, ARRIVING, sure=False)


def _of_instance(value: Value, attr: str, frame: Frame, node: ast.expr) -> Value:
    if not isinstance(value.ref, ClassInfo):
        return _of_external_instance(value, attr, frame)
    found = _of_own_instance(value, attr, frame, node)
    if found.kind is UNKNOWN and frame.analysis.objects.is_handed_variable(value.ref, attr):
        return _HANDED_VARIABLE
    return found


def _of_own_instance(value: Value, attr: str, frame: Frame, node: ast.expr) -> Value:
    method = frame.analysis.classes.method(value.ref, attr)
    if method is not None:
        traits = frame.analysis.traits(method)
        if traits.is_property:
            found = frame.analysis.functions.invoke(method, [], {}, value, frame)
            if traits.is_remembered and found.is_tensor:
                outliving.note_kept_property(node, found, value.ref, attr, frame)
            return found
        return Value(FUNCTION, ref=(method, value))
    if value.fields:
        held = frame.analysis.objects.held(value, attr)
        if held is not None:
            return held
    known = frame.analysis.objects.instance_attribute(value.ref, attr, value.given)
    if frame.context.region == COMPILED and (known is None or known == NOTHING_KNOWN):
        # Of what nobody is seen to compile, as much may be the host's that makes these objects.
        known = frame.analysis.objects.later_attribute(value.ref, attr) or known
    if known is not None:
        is_traced = frame.analysis.objects.made.is_of_programs(value.ref)
        return eager.of_program(known) if is_traced else known
    if frame.attributes is not None and attr in frame.attributes:
        own = frame.self_value
        if own is not None and own.ref is value.ref:
            return frame.attributes[attr]  # a method that the constructor calls, after it set this
    assigned = frame.analysis.objects.class_attribute(value.ref, attr)
    if assigned is not None:
        return assigned
    role = frame.analysis.classes.role(value.ref)
    kept = keras_state.of_role(role.kind if role is not None else None, attr)
    if kept is None and role is not None and role.kind == LAYER:
        base = frame.analysis.classes.external_base(value.ref)
        kept = keras_state.of_base(base, attr) if base is not None else None
    return kept or NOTHING_KNOWN


def _of_super(value: Value, attr: str, frame: Frame) -> Value:
    instance, owner = value.ref
    if not isinstance(instance.ref, ClassInfo):
        return NOTHING_KNOWN
    method = frame.analysis.classes.method_after(instance.ref, owner, attr)
    if method is None:
        return NOTHING_KNOWN
    if frame.analysis.traits(method).is_property:
        return frame.analysis.functions.invoke(method, [], {}, instance, frame)
    return Value(FUNCTION, ref=(method, instance))


def _of_external_instance(value: Value, attr: str, frame: Frame) -> Value:
    if value.fields:
        return dict(value.fields).get(attr, NOTHING_KNOWN)
    name = class_name(value) or ""
    role = external_role(name)
    kept = (
        keras_state.of_external(role.kind, attr, frame.context.region) if role is not None else None
    )
    if kept is not None:
        return kept
    known = symbolic.end_of(name, attr, frame) or drawn_samples.attribute(value, attr)
    if known is not None:
        return known
    if (
        name.startswith(("keras.layers", "keras.Model", "keras.Sequential"))
        and attr == "input_shape"
    ):
        return STATIC_SHAPE
    return NOTHING_KNOWN


def _of_class(value: Value, attr: str, frame: Frame) -> Value:
    method = frame.analysis.classes.method(value.ref, attr)
    if method is not None:
        return Value(FUNCTION, ref=(method, None))
    assigned = frame.analysis.objects.class_attribute(value.ref, attr)
    return assigned if assigned is not None else NOTHING_KNOWN


# Results that are named tuples: tf.unique, tf.math.top_k, tf.linalg.qr, tf.sets...
_FIELDS = {"y": 0, "idx": 1, "count": 2, "values": 0, "indices": 1, "q": 0, "r": 1, "out": 0}


def _of_sequence(value: Value, attr: str, frame: Frame) -> Value:
    if value.given:
        return named_tuples.field(value, attr) or NOTHING_KNOWN
    position = _FIELDS.get(attr)
    if position is None or position >= len(value.ref):
        return NOTHING_KNOWN
    return value.ref[position]  # type: ignore[no-any-return]


def _of_strategy(value: Value, attr: str, frame: Frame) -> Value:
    return SOME_PYTHON if attr == "num_replicas_in_sync" else NOTHING_KNOWN


def _of_mapping(value: Value, attr: str, frame: Frame) -> Value:
    for key, item in reversed(value.ref or ()):
        # A record is read by attributes as well as by keys.
        if key == attr or (key is None and value.guess):
            return item  # type: ignore[no-any-return]
    return NOTHING_KNOWN


_READERS: dict[str, Callable[[Value, str, Frame], Value]] = {
    TENSOR: _of_tensor,
    VARIABLE: _of_tensor,
    SHAPE: _of_shape,
    NDARRAY: _of_array,
    PROJECT_MODULE: _of_module,
    CLASS: _of_class,
    STRATEGY: _of_strategy,
    MAPPING: _of_mapping,
    SEQUENCE: _of_sequence,
    SUPER: _of_super,
    NAMED_TUPLE: lambda value, attr, frame: named_tuples.of_class(value, attr),
    SPARSE: composites.attribute,
    RAGGED: composites.attribute,
    PYTHON: lambda value, attr, frame: enumerations.of_member(value, attr),
}
