"""What functions of packages beside TensorFlow make of tensors: einops' rearrangements, TensorFlow Probability's mathematics.

All of them give tensors for tensors, traced as the code around them is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlalint.semantics.elements import flattened, latest
from xlalint.semantics.values import COMPUTED, TENSOR, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

# They move elements about, or reduce over some.
_REARRANGE = frozenset(f"einops.{name}" for name in ("rearrange", "reduce", "repeat", "einsum"))
# A tensor of two distributions, whatever they were made from.
_OF_DISTRIBUTIONS = frozenset({"tensorflow_probability.distributions.kl_divergence"})
_COMPUTE = ("tensorflow_probability.math.", "tensorflow_probability.stats.")


def of_call(name: str, arguments: Arguments) -> Value | None:
    """The result of such a function; None of others, and where no tensor is handed to it."""
    if name in _OF_DISTRIBUTIONS:
        return Value(TENSOR, COMPUTED)
    given = flattened(arguments.positional)
    tensors = [leaf for leaf in given if leaf.is_tensor and not leaf.guess]
    if not tensors:
        return None
    is_sure = any(leaf.sure for leaf in tensors)
    if name in _REARRANGE:
        dtype = tensors[0].dtype if name != "einops.einsum" else None
        return Value(TENSOR, latest(arguments.positional), dtype=dtype, sure=is_sure)
    if name.startswith(_COMPUTE) and name.rpartition(".")[2][:1].islower():
        return Value(TENSOR, COMPUTED, sure=is_sure, structured=True)
    return None
