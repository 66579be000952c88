"""The lines at which a compiled program's numbers leave those of TensorFlow's own kernels.

That an output differs does not say where. So the program is traced once more with what the lines in question compute as
further outputs, and run with XLA and without.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from xlalint.verify import compare, retrace
from xlalint.verify.patching import Patches

_Place = tuple[str, int]
_MOST_LINES = 200
_NUMERIC = ("float", "bfloat", "int", "uint", "bool", "complex")


@dataclass(frozen=True, slots=True)
class Leaves:
    """A line and how its numbers differ there."""

    path: str
    line: int
    what: str


def differing_lines(
    program: Callable[..., Any],
    tensors: Sequence[Any],
    line_of: Callable[[Any], _Place | None],
) -> list[Leaves]:
    """The lines of `program` whose values differ though what they are computed from agrees, in the order of the trace.

    Empty where none does that can be fetched: what loops and branches compute stays inside.
    """
    made: dict[_Place, Any] = {}
    specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in tensors]

    def tapped(*arguments: Any) -> Any:
        patches = Patches()
        retrace.inline(patches)
        try:
            program(*arguments)
        finally:
            patches.undo()
        graph = tf.compat.v1.get_default_graph()
        made.clear()
        made.update(_last_of_each_line(graph.get_operations(), line_of))
        return [tf.identity(tensor) for tensor in made.values()]

    compiled = tf.function(tapped, autograph=False, jit_compile=True).get_concrete_function(*specs)
    plain = tf.function(tapped, autograph=False).get_concrete_function(*specs)
    expected, found = plain(*tensors), compiled(*tensors)
    differs: dict[int, Leaves] = {}
    for (place, tensor), left, right in zip(made.items(), expected, found, strict=True):
        difference = compare.outputs([np.asarray(left)], [np.asarray(right)])
        if difference is not None:
            differs[id(tensor)] = Leaves(*place, difference.what.removeprefix("output 0 "))
    fetched = {id(tensor) for tensor in made.values()}
    return [
        differs[id(tensor)]
        for tensor in made.values()
        if id(tensor) in differs and not _follows(tensor, fetched, differs)
    ]


def _follows(tensor: Any, fetched: AbstractSet[int], differs: Container[int]) -> bool:
    """Is a tensor computed from another one that differs?"""
    waiting, seen = list(tensor.op.inputs), set[int]()
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if id(current) in differs:
            return True
        if id(current) not in fetched:
            waiting += current.op.inputs
    return False


def _last_of_each_line(
    ops: Iterable[Any], line_of: Callable[[Any], _Place | None]
) -> dict[_Place, Any]:
    """The last number that each line computes, in the order in which the lines end."""
    found: dict[_Place, Any] = {}
    for op in ops:
        if op.type in ("Placeholder", "Const") or not op.outputs:
            continue
        tensor = op.outputs[0]
        if not tensor.dtype.name.startswith(_NUMERIC):
            continue
        place = line_of(op)
        if place is not None:
            found.pop(place, None)
            found[place] = tensor
    return dict(list(found.items())[:_MOST_LINES])
