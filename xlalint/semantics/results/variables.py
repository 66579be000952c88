"""What a variable made with `tf.Variable` is known to be: of the dtype and the shape of its initial value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlalint.semantics.elements import leaves
from xlalint.semantics.results.result_dtypes import dtype_of_literal
from xlalint.semantics.results.result_shapes import operand_shape
from xlalint.semantics.values import ARRIVING, NONE, NOTHING_KNOWN, VARIABLE, Content, Value, shaped

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

MAKERS = frozenset({"tf.Variable", "tf.compat.v1.Variable"})
# What tells them from Keras 3's own.
OF_TENSORFLOW = "tf.Variable"
# Those made with a `shape`, which says that they may change theirs (`[None, 8]`), and of these those that start without rows.
OPEN, EMPTY_AND_OPEN = "tf.Variable of open shape", "tf.Variable of open shape, empty"
ALL_OF_TENSORFLOW = frozenset({OF_TENSORFLOW, OPEN, EMPTY_AND_OPEN})


def made(arguments: Arguments) -> Value:
    """The variable: its shape stays what it is made with, unless `shape` leaves it open, and its dtype for good.

    What is written out, or a tensor that is surely one; of arrays and of functions that make a value, nothing is known.
    """
    keywords = arguments.keywords
    given = arguments.positional[0] if arguments.positional else keywords.get("initial_value")
    first = given if given is not None else NOTHING_KNOWN
    is_tensor = first.is_tensor and first.sure and not (first.structured or first.optional)
    is_written = all(leaf.constant() is not None for leaf in leaves(first)) and first != NONE
    ref = _kind(first) if "shape" in keywords else OF_TENSORFLOW
    if not (is_tensor or is_written):
        return Value(VARIABLE, ARRIVING, ref=ref)
    asked = {"dtype": keywords["dtype"]} if "dtype" in keywords else {}
    dtype = dtype_of_literal(first, asked) if is_written or asked else first.dtype
    shape = None if "shape" in keywords else operand_shape(first)
    return shaped(Value(VARIABLE, ARRIVING, ref=ref, dtype=dtype), shape)


def _kind(first: Value) -> str:
    """What tells a variable that is made with a `shape` of its own, and what it starts with."""
    shape = operand_shape(first)
    has_no_rows = shape is not None and shape[:1] == (0,)
    has_nothing = first.ref == () or (type(first.ref) is Content and not first.ref.numbers)
    return EMPTY_AND_OPEN if has_no_rows or has_nothing else OPEN
