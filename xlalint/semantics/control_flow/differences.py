"""Whether two values can come out of one conditional: what structure, dtype and rank each has, and what no graph can choose between."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.control_flow.chosen import dtype_in_graph
from xlalint.semantics.control_flow.opaque import is_opaque
from xlalint.semantics.results import tensor_arrays
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.values import (
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    MAPPING,
    NONE,
    PYTHON,
    SEQUENCE,
    TENSOR,
    TENSOR_ARRAY,
    VARIABLE,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis


class Difference(NamedTuple):
    """Why two arms cannot become one: the variant of the rule's page, and what each arm leaves."""

    variant: str
    first: str
    second: str
    name: str | None = None


def difference(a: Value, b: Value, analysis: Analysis) -> Difference | None:
    """Why two values cannot come out of one conditional; None where they can, or where too little is known."""
    if is_vague(a) or is_vague(b) or a == b == NONE:
        return None
    if a == NONE or b == NONE:
        return Difference("none", _described(a), _described(b))
    if a.kind is MAPPING and b.kind is MAPPING:
        found = missing_key(a, b)
        return found._replace(variant="structure") if found is not None else None
    if a.kind is SEQUENCE or b.kind is SEQUENCE:
        return _structures(a, b, analysis)
    if a.kind is TENSOR_ARRAY and b.kind is TENSOR_ARRAY:
        empty = [tensor_arrays.is_unwritten(v) for v in (a, b)]
        if empty[0] is not empty[1]:
            words = [("no element yet" if is_empty else "elements") for is_empty in empty]
            return Difference("tensor-array", *words)
        return None
    if FUNCTION in (a.kind, b.kind) or (a.kind is EXTERNAL and b.kind is EXTERNAL):
        return Difference("object", _described(a), _described(b)) if a.ref != b.ref else None
    if is_opaque(a, analysis) or is_opaque(b, analysis):
        return Difference("object", _described(a), _described(b))
    return _tensors(a, b)


def is_vague(value: Value) -> bool:
    if value.optional or value.structured:
        return True
    if value.guess and not (value.is_tensor and value.rank):
        return True  # but what has dimensions is no number
    return value.kind not in (
        TENSOR,
        VARIABLE,
        PYTHON,
        SEQUENCE,
        MAPPING,
        TENSOR_ARRAY,
        FUNCTION,
        EXTERNAL,
        INSTANCE,
    ) or (value.kind in (SEQUENCE, MAPPING) and not value.ref)


def _structures(a: Value, b: Value, analysis: Analysis) -> Difference | None:
    if a.kind is not b.kind:
        other = b if a.kind is SEQUENCE else a
        if other.is_tensor or other.constant() is not None:
            return Difference("structure", _described(a), _described(b))
        return None
    if len(a.ref) != len(b.ref):
        return Difference("structure", _described(a), _described(b))
    for x, y in zip(a.ref, b.ref):
        found = difference(x, y, analysis)
        if found is not None:
            return found
    return None


def _tensors(a: Value, b: Value) -> Difference | None:
    one, other = dtype_in_graph(a), dtype_in_graph(b)
    if one is not None and other is not None:
        if one != other:
            return Difference("dtype", f"dtype {one}", f"dtype {other}")
        if one == "string":
            return Difference("text", "text", "text")
    return _ranks(a, b)


def _ranks(a: Value, b: Value) -> Difference | None:
    one, other = _shape(a), _shape(b)
    if one is not None and other is not None:
        words = [f"a tensor of rank {len(s)}" if s else "a scalar" for s in (one, other)]
        return Difference("rank", *words) if len(one) != len(other) else None
    ranks = _rank(a), _rank(b)
    if None not in ranks and (ranks[0] == 0) is not (ranks[1] == 0):
        words = ["a scalar" if rank == 0 else "a tensor with dimensions" for rank in ranks]
        return Difference("rank", *words)
    return None


def _shape(value: Value) -> Shape | None:
    if value.kind is PYTHON:
        return () if value.choices() else None
    return value.shape if value.is_tensor else None


def _rank(value: Value) -> int | None:
    """0 for a scalar, otherwise the least rank that is known."""
    if value.kind is PYTHON:
        return 0 if value.choices() else None
    return value.rank if value.is_tensor else None


def _described(value: Value) -> str:
    if value == NONE:
        return "None"
    if value.kind is SEQUENCE:
        return f"a structure of {len(value.ref)}"
    if value.kind is FUNCTION or value.kind is EXTERNAL:
        return "a function"
    if value.kind is INSTANCE:
        return "an object"
    return "a tensor" if value.is_tensor else "one value"


def missing_key(a: Value, b: Value) -> Difference | None:
    """`d["y"] = ...` in one arm: AutoGraph follows items with literal keys as it follows names."""
    keys = [{key for key, _ in value.ref or ()} for value in (a, b)]
    if None in keys[0] | keys[1] or keys[0] == keys[1]:
        return None
    return Difference("undefined", _listed(keys[0]), _listed(keys[1]))


def _listed(keys: set[object]) -> str:
    return "the keys " + ", ".join(sorted(repr(k) for k in keys)) if keys else "no keys"
