"""Bijectors of TensorFlow Probability: what they make of tensors, and of distributions and other bijectors.

Measured with TensorFlow Probability 0.25 (fixtures/XLA101/flagged_bijectors.py): `__call__` tells its arguments apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlalint.semantics.values import COMPUTED, INSTANCE, TENSOR, Value, class_name

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

_HOME = "tensorflow_probability.bijectors."
_DISTRIBUTIONS = "tensorflow_probability.distributions."
_COMPUTING = frozenset("forward inverse forward_log_det_jacobian inverse_log_det_jacobian".split())


def make(name: str) -> Value | None:
    """The bijector that calling a class of this name makes; None for other names."""
    is_class = name.startswith(_HOME) and name[len(_HOME) :][:1].isupper()
    return Value(INSTANCE, ref=name) if is_class else None


def method(name: str, attr: str) -> Value | None:
    """What a method of a bijector of the class `name` returns, where it computes."""
    if name.startswith(_HOME) and attr in _COMPUTING:
        return Value(TENSOR, COMPUTED)
    return None


def called(name: str, arguments: Arguments) -> Value | None:
    """`bijector(x)`: a tensor of a tensor, a distribution of a distribution, a chain of bijectors of a bijector."""
    given = next(iter(arguments.positional), None)
    if given is None or not name.startswith(_HOME):
        return None
    if given.is_tensor:
        return Value(TENSOR, COMPUTED, sure=given.sure)
    worked_on = class_name(given) or "" if given.kind is INSTANCE else ""
    if worked_on.startswith(_DISTRIBUTIONS):
        return Value(INSTANCE, ref=f"{_DISTRIBUTIONS}TransformedDistribution")
    if worked_on.startswith(_HOME):
        return Value(INSTANCE, ref=f"{_HOME}Chain")
    return None
