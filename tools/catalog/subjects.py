"""What is measured: a function, a Keras layer, a Keras loss or metric - each turned into programs from plain arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import tensorflow as tf

from tools.catalog.arguments import Arguments
from tools.catalog.layers import INPUTS, LayerCalls
from tools.catalog.program import Program
from tools.catalog.public import Public

_SCORED = ("keras.losses.", "keras.metrics.")
_APPLIED = (
    "keras.initializers.",
    "keras.regularizers.",
    "keras.constraints.",
    "keras.optimizers.schedules.",
)


class Subject(Protocol):
    """Something callable under measurement."""

    @property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """Parameters whose values may be varied."""

    def calls(self) -> Iterator[dict[str, Any]]:
        """Arguments to try, most ordinary first."""

    def is_chosen(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a person chose these arguments, so that a refusal to be traced is the API's own doing."""

    def program(self, arguments: Mapping[str, Any]) -> Program:
        """The call with these arguments. Raises what the API raises for arguments that it refuses."""


@dataclass(frozen=True)
class FunctionSubject:
    """A plain function."""

    target: Callable[..., Any]
    parameters: tuple[inspect.Parameter, ...]
    recipes: tuple[dict[str, Any], ...]
    tables: Arguments

    def calls(self) -> Iterator[dict[str, Any]]:
        yield from self.recipes
        yield from self.tables.candidates(self.parameters)

    def is_chosen(self, arguments: Mapping[str, Any]) -> bool:
        return any(arguments is each for each in self.recipes)

    def program(self, arguments: Mapping[str, Any]) -> Program:
        return Program(self.target, arguments)


@dataclass(frozen=True)
class ObjectSubject:
    """A class whose instances are called: made outside the compiled function, as a model does in `__init__`."""

    target: Callable[..., Any]
    parameters: tuple[inspect.Parameter, ...]
    options: tuple[dict[str, Any], ...]

    def calls(self) -> Iterator[dict[str, Any]]:
        yield from self.options

    def is_chosen(self, arguments: Mapping[str, Any]) -> bool:
        return True

    def program(self, arguments: Mapping[str, Any]) -> Program:
        making = {key: value for key, value in arguments.items() if key not in INPUTS}
        given = {key: value for key, value in arguments.items() if key in INPUTS}
        instance = self.target(**making)
        constants = {
            key: tf.nest.map_structure(
                lambda leaf: tf.constant(leaf) if hasattr(leaf, "dtype") else leaf, value
            )
            for key, value in given.items()
        }
        _call(instance, **constants)
        return Program(
            lambda **inputs: _call(instance, **inputs),
            given,
            variables=tuple(_tensorflow_variables(instance)),
        )


@dataclass(frozen=True)
class OptimizerSubject(ObjectSubject):
    """An optimizer: it applies gradients to a variable that it met before, as in a training step."""

    def program(self, arguments: Mapping[str, Any]) -> Program:
        making = {key: value for key, value in arguments.items() if key not in INPUTS}
        optimizer = self.target(**making)
        weights = tf.Variable(tf.constant(arguments["gradients"]))
        optimizer.apply_gradients([(tf.constant(arguments["gradients"]), weights)])

        def apply(gradients: tf.Tensor) -> tf.Tensor:
            optimizer.apply_gradients([(gradients, weights)])
            return weights.read_value()

        return Program(apply, {"gradients": arguments["gradients"]})


def subject_of(
    public: Public,
    recipes: Mapping[str, list[dict[str, Any]]],
    tables: Arguments,
    layers: LayerCalls,
) -> Subject | None:
    """How to measure a public callable, or None for a class that is not called in a model.

    `layers` belongs to the Keras that the callable is of.
    """
    parameters = public.parameters or ()
    name = public.name.removeprefix("tf_")
    if not public.is_class:
        calls = (*recipes.get(public.name, ()), *borrowed(public, recipes))
        return FunctionSubject(public.target, parameters, calls, tables)
    if name.startswith("keras.layers."):
        return ObjectSubject(public.target, (*parameters, TRAINING), layers.layer(public))
    if name.startswith(_SCORED):
        return ObjectSubject(public.target, parameters, layers.scored(public))
    if name.startswith(_APPLIED):
        return ObjectSubject(public.target, parameters, layers.applied(public))
    if name.startswith("keras.optimizers."):
        return OptimizerSubject(public.target, parameters, layers.optimizing(public))
    return None


def borrowed(
    public: Public, recipes: Mapping[str, list[dict[str, Any]]]
) -> Iterator[dict[str, Any]]:
    """Recipes of the namesake: in `tf` for a `tf.compat.v1` function, with its older parameter names; in `keras`."""
    if public.name.startswith("tf_keras."):
        yield from recipes.get(public.name.removeprefix("tf_"), ())
    if not public.name.startswith("tf.compat.v1."):
        return
    taken = set(public.params)
    for call in recipes.get("tf." + public.name.removeprefix("tf.compat.v1."), ()):
        renamed = {
            next(
                (each for each in (name, *_OLDER_NAMES.get(name, ())) if each in taken), name
            ): value
            for name, value in call.items()
        }
        if taken.issuperset(renamed):
            yield renamed


_OLDER_NAMES: Mapping[str, tuple[str, ...]] = {
    "filters": ("filter",),
    "input": ("value", "input_tensor", "source", "string_tensor"),
    "inputs": ("string_tensor",),
    "rhs": ("y",),
    "box_indices": ("box_ind",),
    "axis": ("dim",),
    "input_tensor": ("input",),
}

TRAINING = inspect.Parameter("training", inspect.Parameter.KEYWORD_ONLY, default=None)


def _call(instance: Any, **inputs: Any) -> Any:
    """Layers take their inputs as the first positional argument, losses and metrics take two."""
    if "y_true" in inputs:
        return instance(inputs["y_true"], inputs["y_pred"])
    leading = inputs.pop("inputs")
    return instance(leading, **inputs)


def _tensorflow_variables(instance: Any) -> Iterator[tf.Variable]:
    """Keras 3 wraps the variables of its backend."""
    for variable in getattr(instance, "trainable_variables", ()):
        inner = getattr(variable, "value", variable)
        yield inner if isinstance(inner, tf.Variable) else variable
