"""`step.get_concrete_function(...)`: a function is traced with what it is given."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.frames import Frame
from xlalint.semantics.results import specs
from xlalint.semantics.values import CONVERTED, NOTHING_KNOWN, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments


def trace(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`step.get_concrete_function(tf.TensorSpec([], tf.int32))`: the step is traced with these."""
    given = specs.handed(arguments.positional)
    if given is None or arguments.keywords or arguments.open_ended:
        return NOTHING_KNOWN
    info = base.ref[0] if isinstance(base.ref, tuple) else base.ref
    traits = frame.analysis.traits(info)
    if traits.tf_function or base.given == CONVERTED:
        converted = traits.autograph or base.given == CONVERTED
        frame.analysis.regions.trace_later(
            base,
            ("tf.function",),
            converted=converted,
            frame=frame,
            jit=traits.jit,
            arguments=given,
        )
    return NOTHING_KNOWN
