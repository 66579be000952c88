"""What a variable made with `tf.Variable` is known to be: of the dtype and the shape of its initial value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlalint.semantics.results.result_dtypes import dtype_of_literal
from xlalint.semantics.results.result_shapes import operand_shape
from xlalint.semantics.values import (
    ARRIVING,
    NONE,
    NOTHING_KNOWN,
    VARIABLE,
    Value,
    leaves,
    shaped,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

MAKERS = frozenset({"tf.Variable", "tf.compat.v1.Variable"})
# What tells them from Keras 3's own.
OF_TENSORFLOW = "tf.Variable"


def made(arguments: Arguments) -> Value:
    """The variable: its shape stays what it is made with, unless `shape` leaves it open, and its dtype for good.

    What is written out, or a tensor that is surely one; of arrays and of functions that make a value, nothing is known.
    """
    keywords = arguments.keywords
    given = arguments.positional[0] if arguments.positional else keywords.get("initial_value")
    first = given if given is not None else NOTHING_KNOWN
    is_tensor = first.is_tensor and first.sure and not (first.structured or first.optional)
    is_written = all(leaf.constant() is not None for leaf in leaves(first)) and first != NONE
    if not (is_tensor or is_written):
        return Value(VARIABLE, ARRIVING, ref=OF_TENSORFLOW)
    asked = {"dtype": keywords["dtype"]} if "dtype" in keywords else {}
    dtype = dtype_of_literal(first, asked) if is_written or asked else first.dtype
    shape = None if "shape" in keywords else operand_shape(first)
    return shaped(Value(VARIABLE, ARRIVING, ref=OF_TENSORFLOW, dtype=dtype), shape)
