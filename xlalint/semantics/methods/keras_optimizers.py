"""Calls of what optimizers inherit from Keras: the variables that they keep, and the settings and slots of Keras 2's legacy `Optimizer`.

Measured with Keras 3.15 (fixtures/XLA101/flagged_optimizers_of_keras_3.py); read in Keras 2.15 (`keras.optimizers.legacy`; the older `tf.keras.optimizers.Optimizer` is the same class).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.classes import OPTIMIZER
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import keras_state
from xlalint.semantics.index import ClassInfo
from xlalint.semantics.methods.handler import Method
from xlalint.semantics.results import dtypes
from xlalint.semantics.values import (
    ARRIVING,
    COLLECTION,
    COMPUTED,
    NOTHING_KNOWN,
    TENSOR,
    VARIABLE,
    Value,
    shaped,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments


def _is_optimizer(base: Value, frame: Frame) -> bool:
    if not isinstance(base.ref, ClassInfo):
        return False
    role = frame.analysis.classes.role(base.ref)
    return role is not None and role.kind == OPTIMIZER


def _is_step(base: Value, frame: Frame) -> bool:
    return frame.context.is_compiled and _is_optimizer(base, frame)


def _setting(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A scalar: `_decayed_lr(dtype)`, `_get_hyper(name, dtype)`. Without a dtype it is what was set, a schedule perhaps."""
    given = [*arguments.positional, *arguments.keywords.values()]
    wanted = 1 if attr == "_decayed_lr" else 2
    if not _is_step(base, frame) or len(given) < wanted:
        return NOTHING_KNOWN
    return shaped(Value(TENSOR, COMPUTED, dtype=dtypes.named(given[-1])), ())


def _slot(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if not _is_step(base, frame):
        return NOTHING_KNOWN
    return shaped(Value(VARIABLE, ARRIVING), next((v.shape for v in arguments.positional), None))


def _shared(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    return keras_state.COEFFICIENTS if _is_step(base, frame) else NOTHING_KNOWN


def _kept(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A variable beside one of the model's, of its shape unless another is asked for."""
    if not _is_optimizer(base, frame):
        return NOTHING_KNOWN
    shape = next((v.shape for v in arguments.positional), None)
    if _ASKS_FOR_SHAPE & arguments.keywords.keys():
        shape = None
    return shaped(Value(VARIABLE, ARRIVING), shape)


_ASKS_FOR_SHAPE = frozenset({"shape", "initial_value"})


def _kept_of_all(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if not _is_optimizer(base, frame):
        return NOTHING_KNOWN
    return Value(COLLECTION, ref=Value(VARIABLE, ARRIVING))


OF_OPTIMIZERS: dict[str, Method] = {
    "_decayed_lr": _setting,
    "_get_hyper": _setting,
    "get_slot": _slot,
    "_fallback_apply_state": _shared,
    "add_variable_from_reference": _kept,
    "add_optimizer_variables": _kept_of_all,
}
