"""Calls of optimizers that mixed precision wraps: `get_scaled_loss(loss)`, `get_unscaled_gradients(gradients)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.frames import Frame
from xlalint.semantics.methods.handler import Method
from xlalint.semantics.values import NOTHING_KNOWN, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

# The class of Keras that has these methods, by its last name.
SCALES_LOSSES = "LossScaleOptimizer"


def _scaled(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """What is multiplied, or divided, stays the tensor, or the list of tensors, that it was."""
    return next(iter(arguments.positional), NOTHING_KNOWN)


OF_SCALED: dict[str, Method] = dict.fromkeys(
    ("get_scaled_loss", "get_unscaled_gradients", "scale_loss"), _scaled
)
