"""`tf.TensorSpec` and `keras.Input`: what they promise of the tensors that arrive."""

from __future__ import annotations

from xlalint.semantics.results import dtypes
from xlalint.semantics.results.result_shapes import numbers
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.values import (
    ARRIVING,
    COLLECTION,
    COMPUTED,
    DATA,
    INSTANCE,
    MAPPING,
    NONE,
    NOTHING_KNOWN,
    RAGGED,
    SEQUENCE,
    TENSOR,
    Open,
    Value,
)

SPEC = "tf.TensorSpec"


def make(shape: Value, dtype: str | None) -> Value:
    """The value of `tf.TensorSpec(shape, dtype)`."""
    written = shape.ref if shape.kind is SEQUENCE else ()
    axis = next((place for place, size in enumerate(written) if size == NONE), None)
    return Value(INSTANCE, ref=SPEC, dtype=dtype, shape=_promise(shape), sized_axis=axis)


def _promise(shape: Value) -> Shape | None:
    return None if shape == NONE else numbers(shape)


def promised(signature: Value) -> tuple[Value, ...]:
    """The arguments that an `input_signature` promises."""
    return tuple(_tensor(spec) for spec in signature.ref) if signature.kind is SEQUENCE else ()


def handed(given: tuple[Value, ...]) -> tuple[Value, ...] | None:
    """The arguments that `step.get_concrete_function(...)` traces with; None without specs, or with one of text, which is for serving."""
    own = [value for value in given if value.kind is INSTANCE and value.ref == SPEC]
    if not own or any(spec.dtype == "string" for spec in own):
        return None
    return tuple(_tensor(value) if value in own else value for value in given)


def row(promise: Value) -> Value:
    """What `fn_output_signature` promises of each element that a loop's function returns: types, specs, or a structure of them."""
    if promise.kind is SEQUENCE:
        return promise._replace(ref=tuple(row(part) for part in promise.ref))
    dtype = dtypes.named(promise)
    if dtype is not None:
        return Value(TENSOR, COMPUTED, dtype=dtype)
    is_spec = promise.kind is INSTANCE and promise.ref == SPEC
    # What a function returns has a size, whatever the promise leaves open.
    return _tensor(promise)._replace(dependence=COMPUTED, ref=None) if is_spec else NOTHING_KNOWN


def _tensor(spec: Value) -> Value:
    if spec.kind is INSTANCE and spec.ref == SPEC:
        rank = None if spec.shape is None else len(spec.shape)
        ref = None if spec.sized_axis is None else Open(spec.sized_axis)
        return Value(TENSOR, ARRIVING, dtype=spec.dtype, rank=rank, shape=spec.shape, ref=ref)
    if spec.kind is RAGGED:
        return Value(RAGGED, ARRIVING)
    if spec.kind is SEQUENCE:
        return spec._replace(ref=tuple(_tensor(item) for item in spec.ref))
    if spec.kind is MAPPING:
        return spec._replace(ref=tuple((key, _tensor(item)) for key, item in spec.ref or ()))
    if spec.kind is COLLECTION and spec.ref is not None:
        return spec._replace(ref=_tensor(spec.ref))
    return DATA


def symbolic_input(given: dict[str, Value], dtype: str | None) -> Value:
    """The tensor that `keras.Input(shape, batch_size, dtype)` stands for: its batch comes before `shape`."""
    shape = numbers(given.get("shape", NOTHING_KNOWN))
    if shape is not None:
        batch = numbers(given.get("batch_size", NONE)) or (None,)
        shape = (*batch, *shape)
    rank = None if shape is None else len(shape)
    return Value(TENSOR, ARRIVING, dtype=dtype, rank=rank, sure=False, shape=shape)
