"""What a function trains, read off its calls: what it differentiates, and what it asks for the variables that are trained."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from xlalint.semantics.syntax import called_name, nodes_of

_DIFFERENTIATE = frozenset(
    {"gradient", "jacobian", "batch_jacobian", "gradients", "get_scaled_loss"}
)
TRAINED_VARIABLES = frozenset({"trainable_variables", "trainable_weights"})


class TrainingUses(NamedTuple):
    """Names that are differentiated (`loss` of `tape.gradient(loss, ...)`): Keras and TensorFlow take nothing but tensors there.
    Texts of what is trained: `self.generator` of `self.generator.trainable_weights`.
    """

    differentiated: frozenset[str]
    trained: frozenset[str]


def training_uses_in(calls: Iterable[ast.Call], *, asks_for_variables: bool) -> TrainingUses:
    """What the calls of a function say of its training. `asks_for_variables` says whether its module names `trainable_variables` at all."""
    differentiated: set[str] = set()
    trained: set[str] = set()
    for call in calls:
        if called_name(call) in _DIFFERENTIATE and call.args and isinstance(call.args[0], ast.Name):
            differentiated.add(call.args[0].id)
        for part in nodes_of(call.args) if asks_for_variables else ():
            if isinstance(part, ast.Attribute) and part.attr in TRAINED_VARIABLES:
                trained.add(ast.unparse(part.value))
    return TrainingUses(frozenset(differentiated), frozenset(trained))
