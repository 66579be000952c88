"""Calls of methods of datasets: what they are given runs on the host."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards.noted_calls import note_operation
from xlalint.semantics.tracing import host_use
from xlalint.semantics.training import pipelines
from xlalint.semantics.values import NOTHING_KNOWN, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

_RUNS_ON_HOST = frozenset(
    "map filter flat_map interleave reduce scan map_with_options take_while group_by_window apply".split()
)


def of_dataset(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    for value in arguments.values:
        if attr in _RUNS_ON_HOST:
            frame.analysis.host_functions.mark(value)
    frame.host |= host_use.WORK
    if attr == "reduce" and frame.context.jit:
        note_operation("ReduceDataset", (), node, frame)
    if attr in ("cardinality", "reduce", "element_spec"):
        return NOTHING_KNOWN
    return base._replace(ref=pipelines.after(base.ref, attr, arguments, node, frame))
