"""What a distribution of TensorFlow Probability draws: numbers that the program makes, which XLA does not know as it compiles."""

from __future__ import annotations

from xlalint.semantics.values import COMPUTED, INSTANCE, TENSOR, Value

_HOME = "tensorflow_probability.distributions."
# A joint distribution draws a tuple or a dictionary of samples.
_OF_SEVERAL = "JointDistribution"


def make(name: str) -> Value | None:
    """The distribution that calling a class of this name makes; None for other names."""
    leaf = name.rpartition(".")[2]
    if not name.startswith(_HOME) or not leaf[:1].isupper() or leaf.startswith(_OF_SEVERAL):
        return None
    return Value(INSTANCE, ref=name)


def draw(name: str, attr: str) -> Value | None:
    """What a method of a distribution of the class `name` returns, where it draws; None otherwise."""
    if attr == "sample" and name.startswith(_HOME):
        return Value(TENSOR, COMPUTED)
    return None
