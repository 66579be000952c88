"""A call of an API as a function of tensors alone, so that XLA meets its arguments as values it cannot look into."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

VARIADIC = "*"
_OPAQUE = (tf.resource, tf.variant)


@dataclass(frozen=True)
class Made:
    """An argument made anew in each call, such as a TensorArray, which belongs to the graph that it was made in."""

    make: Callable[[], Any]


@dataclass(frozen=True)
class Program:
    """`target(**arguments)`, in which arrays and tensors become inputs, except those of the parameters in `frozen`.

    `arguments` maps parameters to values: NumPy arrays and TensorFlow tensors (also inside lists and composites) are
    inputs of the compiled function, everything else is a Python constant. The key `*` holds positional arguments.
    `variables` are trained with it: gradients are taken with respect to them too.
    """

    target: Callable[..., Any]
    arguments: Mapping[str, Any]
    frozen: frozenset[str] = field(default_factory=frozenset)
    variables: tuple[tf.Variable, ...] = ()

    def freeze(self, *names: str) -> Program:
        """The same call with the arguments of `names` known at compile time."""
        return dataclasses.replace(self, frozen=self.frozen | set(names))

    def thaw(self, *names: str) -> Program:
        """The same call with the arguments of `names` arriving at run time."""
        return dataclasses.replace(self, frozen=self.frozen - set(names))

    def replace(self, /, **changes: Any) -> Program:
        """The same call with other arguments."""
        return dataclasses.replace(self, arguments={**self.arguments, **changes})

    def tensor_parameters(self) -> tuple[str, ...]:
        """Parameters that hold an array or tensor, in order."""
        return tuple(name for name, value in self.arguments.items() if holds_tensor(value))

    def eager(self) -> Any:
        """Call it as it stands, outside any tf.function."""
        return self.call({name: _constants(value) for name, value in self.arguments.items()})

    def inputs(self) -> list[tf.Tensor]:
        """The values of the inputs, in the order of `function`."""
        return [tf.convert_to_tensor(leaf) for leaf in self._leaves() if _is_tensor(leaf)]

    def specs(self) -> list[tf.TensorSpec]:
        """Shapes and dtypes of the inputs."""
        return [tf.TensorSpec(each.shape, each.dtype) for each in self.inputs()]

    def function(self) -> Callable[..., Any]:
        """The call as a function of its inputs, returning what the API returns."""

        def call(*tensors: tf.Tensor) -> Any:
            supply = iter(tensors)
            arguments: dict[str, Any] = {}
            for name, value in self.arguments.items():
                if name in self.frozen:
                    arguments[name] = _constants(value)
                    continue
                flat = tf.nest.flatten(value, expand_composites=True)
                filled = [next(supply) if _is_tensor(leaf) else leaf for leaf in flat]
                arguments[name] = tf.nest.pack_sequence_as(value, filled, expand_composites=True)
            return self.call(arguments)

        return call

    def _leaves(self) -> list[Any]:
        return [
            leaf
            for name, value in self.arguments.items()
            if name not in self.frozen
            for leaf in tf.nest.flatten(value, expand_composites=True)
        ]

    def call(self, arguments: dict[str, Any]) -> Any:
        """Call the target with these arguments; the key `*` holds positional ones."""
        arguments = {
            name: value.make() if isinstance(value, Made) else value
            for name, value in arguments.items()
        }
        positional = arguments.pop(VARIADIC, ())
        leading = arguments.pop("self", None)
        if leading is not None and not _takes_keyword(self.target, "self"):
            positional = (leading, *positional)
        elif leading is not None:
            arguments["self"] = leading
        return self.target(*positional, **arguments)


def holds_tensor(value: Any) -> bool:
    """Whether an argument carries an array or a tensor anywhere."""
    return any(_is_tensor(leaf) for leaf in tf.nest.flatten(value, expand_composites=True))


def tensors_of(result: Any) -> list[tf.Tensor]:
    """The tensors in a result, flattened, without handles that no device computes on."""
    return [
        leaf
        for leaf in tf.nest.flatten(result, expand_composites=True)
        if isinstance(leaf, tf.Tensor) and leaf.dtype not in _OPAQUE
    ]


def _is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, (np.ndarray, tf.Tensor)) and not isinstance(leaf, tf.Variable)


def _constants(value: Any) -> Any:
    return tf.nest.map_structure(
        lambda leaf: tf.constant(leaf) if isinstance(leaf, np.ndarray) else leaf, value
    )


def _takes_keyword(target: Callable[..., Any], name: str) -> bool:
    try:
        parameter = inspect.signature(target).parameters.get(name)
    except (TypeError, ValueError):
        return False
    return parameter is not None and parameter.kind is not inspect.Parameter.POSITIONAL_ONLY
