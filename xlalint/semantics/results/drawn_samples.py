"""Distributions of TensorFlow Probability, and TF1's: what they draw is numbers that the program makes, which XLA does not know as it compiles.

Some of their methods need what XLA has no kernel for, and how many numbers they draw has to be known when XLA compiles (measured,
TensorFlow 2.15 and 2.21, TensorFlow Probability 0.23 and 0.25: fixtures/XLA401/flagged_distributions.py and flagged_distributions_of_tf1.py, fixtures/XLA203/flagged_drawn_samples.py).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.hazards import linear_operators
from xlalint.semantics.hazards.noted_calls import note_operation, note_size
from xlalint.semantics.values import COMPUTED, INSTANCE, NONE, NOTHING_KNOWN, TENSOR, Made, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments
    from xlalint.semantics.frames import Frame

_HOME = "tensorflow_probability.distributions."
_HOME_IN_TF1 = "tf.compat.v1.distributions."
_HOMES = (_HOME, _HOME_IN_TF1)
# A joint distribution draws a tuple or a dictionary of samples.
_OF_SEVERAL = "JointDistribution"
_DENSITIES = ("log_prob", "prob", "entropy")
_COMPUTED = frozenset(
    "log_prob prob unnormalized_log_prob cdf log_cdf survival_function log_survival_function quantile entropy mean mode median "
    "stddev variance covariance kl_divergence cross_entropy".split()
)
# The methods of distributions that give tensors.
METHODS = frozenset({"sample", *_COMPUTED})
# By class, the operation without a kernel that a method emits.
_OPERATIONS: dict[str, dict[str, str]] = {
    f"{_HOME}NegativeBinomial": {"sample": "StatelessRandomGammaV3"},
    f"{_HOME}ZeroInflatedNegativeBinomial": {"sample": "StatelessRandomGammaV3"},
    f"{_HOME}Empirical": dict.fromkeys(("entropy", "mode"), "UniqueWithCountsV2"),
    f"{_HOME}Bates": {
        "sample": "SegmentMean",
        **dict.fromkeys(("log_prob", "prob", "cdf", "survival_function"), "SegmentSum"),
    },
    f"{_HOME}PoissonLogNormalQuadratureCompound": {"sample": "StatelessRandomPoisson"},
    **{
        _HOME_IN_TF1 + name: {"sample": "RandomGamma"}
        for name in ("Beta", "Dirichlet", "DirichletMultinomial", "Gamma", "StudentT")
    },
}
# What distributions are made from, by place, and keep under the same names.
_PARAMETERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("Normal", "Laplace", "Logistic", "Gumbel", "Cauchy", "LogNormal", "LogitNormal"),
        ("loc", "scale"),
    ),
    "TruncatedNormal": ("loc", "scale", "low", "high"),
    "StudentT": ("df", "loc", "scale"),
    "Uniform": ("low", "high"),
    "Gamma": ("concentration", "rate"),
    "Beta": ("concentration1", "concentration0"),
    "Dirichlet": ("concentration",),
    **dict.fromkeys(("Exponential", "Poisson"), ("rate",)),
    **dict.fromkeys(
        ("Categorical", "OneHotCategorical", "Bernoulli", "Geometric"), ("logits", "probs")
    ),
    **dict.fromkeys(("MultivariateNormalDiag", "MultivariateNormalTriL"), ("loc",)),
    **dict.fromkeys(("Independent", "TransformedDistribution", "Sample"), ("distribution",)),
}
# `probs_parameter()` is there whichever of the two was given.
_EITHER = frozenset({"logits_parameter", "probs_parameter", "rate_parameter"})
# Their densities ask a linear operator for its determinant: one that they make where they are given this, or one that they are given.
_UPDATED = (f"{_HOME}MultivariateNormalDiagPlusLowRank", "scale_perturb_factor")
_GIVEN = (f"{_HOME}MultivariateNormalLinearOperator", "scale")


def make(name: str, arguments: Arguments) -> Value | None:
    """The distribution that calling a class of this name makes; None for other names."""
    leaf = name.rpartition(".")[2]
    if not name.startswith(_HOMES) or not leaf[:1].isupper() or leaf.startswith(_OF_SEVERAL):
        return None
    operation = _of_determinant(name, arguments)
    if operation is not None:
        return Value(INSTANCE, ref=Made(name, (("determinant", Value(ref=operation)),)))
    kept = _kept(name, arguments)
    return Value(INSTANCE, ref=Made(name, kept) if kept else name)


def _kept(name: str, arguments: Arguments) -> tuple[tuple[str, Value], ...]:
    """The tensors, and the distributions, that a distribution is made from and hands back under their names."""
    names = _PARAMETERS.get(name.rpartition(".")[2], ())
    given = {**dict(zip(names, arguments.positional)), **arguments.keywords}
    found = ((key, given[key]) for key in names if key in given)
    return tuple((key, value) for key, value in found if value.is_tensor or value.kind is INSTANCE)


def attribute(value: Value, attr: str) -> Value | None:
    """`distribution.loc`: the tensor that it was made from."""
    if not isinstance(value.ref, Made) or not value.ref.name.startswith(_HOMES):
        return None
    return next((kept for key, kept in value.ref.arguments if key == attr), None)


def _of_determinant(name: str, arguments: Arguments) -> str | None:
    """The determinant without a kernel that the densities of such a distribution ask for."""
    if name == _UPDATED[0]:
        return "MatrixDeterminant" if arguments.keywords.get(_UPDATED[1], NONE) != NONE else None
    if name != _GIVEN[0]:
        return None
    given = arguments.positional[1:2] or (arguments.keywords.get(_GIVEN[1], NOTHING_KNOWN),)
    return linear_operators.determinant_of(given[0])


def call(
    base: Value, name: str, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """What a method of a distribution of the class `name` returns, where it draws or computes; None otherwise."""
    if not name.startswith(_HOMES):
        return None
    operation = _OPERATIONS.get(name, {}).get(attr)
    if isinstance(base.ref, Made) and attr in _DENSITIES:
        determinants = (v.ref for k, v in base.ref.arguments if k == "determinant")
        operation = next(determinants, operation)
    if operation is not None:
        note_operation(operation, (), node, frame)
    if attr in _COMPUTED or attr in _EITHER:
        return Value(TENSOR, COMPUTED)
    if attr != "sample":
        return None
    if operation is None:
        given = arguments.positional[:1] or (arguments.keywords.get("sample_shape", NONE),)
        note_size(f"{name}.sample", "sample_shape", given[0], node, frame)
    return Value(TENSOR, COMPUTED)
