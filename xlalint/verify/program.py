"""A function to take through the stages: how to call it with nothing but a flat list of tensors."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from xlalint.verify import structure
from xlalint.verify.targets import plain


class UnsupportedError(Exception):
    """Arguments that no compiler can be handed: an iterator, a dataset. The message says which."""


@dataclass(frozen=True, slots=True)
class Call:
    """Arguments of one call. Leaves may be tensors, arrays, `tf.TensorSpec` (no value known) or any Python object."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Program:
    """A function under test.

    `parameters` are the names of its positional arguments. `calls` holds one or two calls of the same structure, with different values where two were seen. `is_differentiated` says
    that a failing gradient is a failure (not so for an evaluation step). `inputs` and `is_special`: see `TargetReport`. `has_made_inputs`: verify
    made the values, which stand for any of their shapes.
    """

    id: str
    function: str
    path: str
    line: int
    origin: str
    call: Callable[..., Any]
    calls: tuple[Call, ...]
    parameters: tuple[str, ...] = ()
    is_differentiated: bool = True
    n_calls: int = 0
    n_traces: int = 0
    notes: tuple[str, ...] = ()
    inputs: str = ""
    is_special: bool = False
    has_made_inputs: bool = False


class Flat:
    """`program.call` as a function of its tensors alone, in a fixed order; everything else is held fixed."""

    def __init__(self, program: Program) -> None:
        self._call = program.call
        first = program.calls[0]
        self._structure = (first.args, first.kwargs)
        named = list(structure.leaves(self._structure))
        self._leaves = [leaf for _, leaf in named]
        _refuse_unusable(self._leaves)
        self._dynamic = [index for index, leaf in enumerate(self._leaves) if _is_dynamic(leaf)]
        # A part of a ragged or sparse tensor has no size of its own.
        self.is_whole = [
            not _is_composite(self._leaves[index])
            for index in self._dynamic
            for _ in _components(self._leaves[index])
        ]
        self.names = [
            _spell(named[index][0], program.parameters)
            for index in self._dynamic
            for _ in _components(self._leaves[index])
        ]

    def __call__(self, *tensors: Any) -> Any:
        changed, waiting = list(self._leaves), list(tensors)
        for index in self._dynamic:
            leaf = changed[index]
            width = len(_components(leaf))
            parts, waiting = waiting[:width], waiting[width:]
            changed[index] = (
                tf.nest.pack_sequence_as(leaf, parts, expand_composites=True)
                if _is_composite(leaf)
                else parts[0]
            )
        in_order = iter(changed)
        args, kwargs = structure.mapped(lambda _: next(in_order), self._structure)
        return tensors_alone(self._call(*args, **kwargs))

    def tensors(self, call: Call) -> list[Any]:
        """The tensors (or TensorSpecs) of a call, in this function's order."""
        leaves = [leaf for _, leaf in structure.leaves((call.args, call.kwargs))]
        if len(leaves) != len(self._leaves):
            raise UnsupportedError("the calls differ in structure")
        return [part for index in self._dynamic for part in _components(leaves[index])]

    def specs(self, call: Call) -> list[Any]:
        return [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in self.tensors(call)]


def tensors_alone(result: Any) -> Any:
    """A result without what no tf.function may return: a helper can return a generator, or objects of any class."""
    if isinstance(result, types.GeneratorType):
        result = list(result)
    try:
        return tf.nest.map_structure(lambda leaf: leaf if _is_returnable(leaf) else None, result)
    except (TypeError, ValueError):
        return None


def _is_returnable(leaf: Any) -> bool:
    plain_values = (np.ndarray, np.generic, bool, int, float, complex)
    return (
        tf.is_tensor(leaf) or _is_composite(leaf) or isinstance(leaf, (tf.Variable, *plain_values))
    )


def has_values(tensors: Sequence[Any]) -> bool:
    return not any(isinstance(tensor, tf.TensorSpec) for tensor in tensors)


def example(specs: Any, seed: int) -> Any:
    """Values for a structure of TensorSpecs, the same for the same seed. Shapes must be static.

    Floats lie in [-1, 1], integers in [1, 3]: usable as sizes, and as indexes into most things. A lone integer differs from
    seed to seed.
    """
    generator = np.random.default_rng(seed)

    def value(spec: Any) -> Any:
        if not isinstance(spec, tf.TensorSpec):
            return spec
        shape = spec.shape.as_list()
        if spec.dtype == tf.string:
            return tf.fill(shape, f"text {seed}")
        if spec.dtype == tf.bool:
            return tf.constant(generator.random(shape) < 0.6)
        if spec.dtype.is_integer and not shape:
            return tf.constant(1 + seed, spec.dtype)
        if spec.dtype.is_integer:
            return tf.constant(generator.integers(1, 4, shape), spec.dtype)
        return tf.cast(generator.uniform(-1.0, 1.0, shape), spec.dtype)

    return structure.mapped(value, specs)


def static(specs: Any, leading: int, other: int) -> Any:
    """TensorSpecs with unknown dimensions filled: the first of a tensor with `leading`, any other with `other`."""

    def fill(spec: Any) -> Any:
        if not isinstance(spec, tf.TensorSpec):
            return spec
        if spec.shape.rank is None:
            return tf.TensorSpec([leading], spec.dtype, spec.name)
        filled = [
            (leading if index == 0 else other) if size is None else size
            for index, size in enumerate(spec.shape.as_list())
        ]
        return tf.TensorSpec(filled, spec.dtype, spec.name)

    return structure.mapped(fill, specs)


def _is_composite(leaf: Any) -> bool:
    """Is it a value made of tensors: ragged, sparse, an ExtensionType? Not one that holds variables or lives on the host."""
    if isinstance(leaf, tf.Variable) or not isinstance(leaf, tf.__internal__.CompositeTensor):
        return False
    parts = tf.nest.flatten(leaf, expand_composites=True)
    return all(
        tf.is_tensor(part)
        and not isinstance(part, tf.Variable)
        and part.dtype not in (tf.resource, tf.variant)
        for part in parts
    )


def _is_dynamic(leaf: Any) -> bool:
    if isinstance(leaf, tf.Variable):
        return False
    if isinstance(leaf, (np.ndarray, np.generic)):
        return leaf.dtype.kind != "O"
    return _is_composite(leaf) or tf.is_tensor(leaf) or isinstance(leaf, tf.TensorSpec)


def _components(leaf: Any) -> list[Any]:
    if isinstance(leaf, tf.TensorSpec):
        return [leaf]
    if _is_composite(leaf):
        return list(tf.nest.flatten(leaf, expand_composites=True))
    return [tf.convert_to_tensor(leaf)]


def _refuse_unusable(leaves: Sequence[Any]) -> None:
    for leaf in leaves:
        name = type(leaf).__name__
        if isinstance(leaf, tf.data.Dataset) or "Iterator" in name or "DistributedDataset" in name:
            raise UnsupportedError(f"takes a {name}, which lives on the host")
        if isinstance(leaf, tf.TypeSpec) and not isinstance(leaf, tf.TensorSpec):
            what = getattr(leaf, "value_type", type(leaf)).__name__
            raise UnsupportedError(f"takes a {what}, of which no value was seen")


def parameter_names(function: Any) -> tuple[str, ...]:
    """The names of the arguments that a function takes by position, without `self`; empty where it does not tell."""
    try:
        parameters = inspect.signature(plain(function)).parameters.values()
    except (TypeError, ValueError):
        return ()
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters if parameter.kind in by_position]
    return tuple(names[1:] if names[:1] == ["self"] else names)


def _spell(path: Sequence[str], parameters: Sequence[str]) -> str:
    """A tensor's name for the reader: `mask`, `data.0`, `argument 3` where the parameter has no name."""
    is_keyword, first, *rest = path
    if is_keyword == "1":
        head = first
    else:
        index = int(first)
        head = parameters[index] if index < len(parameters) else f"argument {first}"
    return ".".join([head, *rest])
