"""Misuses of a data-sized tensor by what the catalogue measured of an API with one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlalint.semantics.hazards import partners
from xlalint.semantics.results import result_shapes
from xlalint.semantics.values import NOTHING_KNOWN, SEQUENCE, Value

if TYPE_CHECKING:
    from xlalint.semantics.catalog.entries import Api

Bound = dict[str, Value]
Misuse = tuple[str, Value]

# Given a list of tensors in the catalogue's calls: one tensor comes back as it is.
_STACKS = frozenset({"tf.stack", "keras.ops.stack", "keras.backend.stack"})
# Operations of which both arguments are matrices.
_SOLVERS = frozenset({"MatrixSolve", "MatrixTriangularSolve"})
# Verdicts of the catalogue, as uses.
_MEASURED = {
    "wrong-numbers": "measured-wrong",
    "crashes": "measured-wrong",
    "rejected": "measured-rejected",
}


def misuse(api: Api, bound: Bound) -> Misuse | None:
    """By what the catalogue measured of an API's only tensor, where the call works along its data-sized axis.

    The catalogue's calls work along the first axis, which is data-sized; others are not known.
    """
    tensors = [(parameter, value) for parameter, value in bound.items() if value.is_tensor]
    refused = _refused_whatever_else(api, tensors)
    if refused is not None:
        return "measured-rejected", refused
    if api.bounded_together and len(tensors) > 1:
        return partners.of_as_many_rows(api, bound)
    if len(tensors) != 1 or tensors[0][1].producer is None or tensors[0][1].sized_axis != 0:
        return None
    parameter, sized = tensors[0]
    if api.name == "tf.repeat" and bound.get("repeats", NOTHING_KNOWN).kind is not SEQUENCE:
        return None  # measured with a count per row: one count for all, known here or not, compiles
    if api.name in _STACKS:
        return None
    verdict = dict(api.bounded).get(parameter)
    if verdict not in _MEASURED or not _works_along_first_axis(api, bound, sized):
        return None
    return _MEASURED[verdict], sized


def _refused_whatever_else(api: Api, tensors: list[tuple[str, Value]]) -> Value | None:
    """The rows that a mask leaves of a matrix, where a solver refuses them beside full matrices and beside other such rows."""
    if not api.bounded_together or _SOLVERS.isdisjoint(api.ops):
        return None
    alone, together = dict(api.bounded), dict(api.bounded_together)
    for parameter, value in tensors:
        is_matrix = value.sized_axis == 0 and value.shape is not None and len(value.shape) == 2
        is_refused = alone.get(parameter) == together.get(parameter) == "rejected"
        if value.producer is not None and is_matrix and is_refused:
            return value
    return None


def _works_along_first_axis(api: Api, bound: Bound, sized: Value) -> bool:
    if "axis" not in api.params:
        return False
    axis = bound.get("axis")
    known = result_shapes.number(axis) if axis is not None else None
    return known == 0 or (sized.shape is not None and len(sized.shape) == 1)
