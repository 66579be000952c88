"""Writes into part of a variable: `memory[i].assign(row)`, `queue[at : at + n].assign(rows)`.

XLA reads such a variable part by part as the program runs (`memory[i]` compiles), but writes only where the place is a
compile-time constant: ResourceStridedSliceAssign (TensorFlow 2.12 to 2.21, CPU and TPU: fixtures/XLA203/flagged_writes_into_variables.py).
"""

from __future__ import annotations

import ast

from xlalint.semantics.facts import SLICE_WRITE
from xlalint.semantics.frames import Frame
from xlalint.semantics.subscripts import index_value
from xlalint.semantics.values import ARRIVING, BOUNDED, VARIABLE


def note(node: ast.AST, frame: Frame) -> None:
    """What `node`, a call of `assign`, writes to at a place that data decide; nothing where it is another call."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    written = node.func.value
    if not isinstance(written, ast.Subscript):
        return
    if frame.analysis.evaluate(written.value, frame).kind is not VARIABLE:
        return
    index = written.slice
    for part in index.elts if isinstance(index, ast.Tuple) else [index]:
        value = index_value(part, frame)
        if value.sure and (value.dependence >= ARRIVING or value.dependence == BOUNDED):
            if value.is_tensor or isinstance(part, ast.Slice):
                frame.analysis.note(frame, node, SLICE_WRITE, value, part)
                return
