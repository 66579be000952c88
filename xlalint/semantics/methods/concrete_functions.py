"""`step.get_concrete_function(...)`: a function is traced with what it is given."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.frames import Frame
from xlalint.semantics.results import specs
from xlalint.semantics.values import NOTHING_KNOWN, Value, wrapping

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments


def trace(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`step.get_concrete_function(tf.TensorSpec([], tf.int32))`: the step is traced with these."""
    given = specs.handed(arguments.positional)
    if given is None or arguments.keywords or arguments.open_ended:
        return NOTHING_KNOWN
    info = base.ref[0] if isinstance(base.ref, tuple) else base.ref
    traits = frame.analysis.traits(info)
    made = wrapping(base)
    if traits.tf_function or made is not None:
        converted = traits.autograph or (made is not None and made.converts)
        frame.analysis.regions.trace_later(
            base,
            ("tf.function",),
            converted=converted,
            frame=frame,
            jit=traits.jit or (made is not None and made.jit),
            arguments=given,
        )
    return NOTHING_KNOWN
