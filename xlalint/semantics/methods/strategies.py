"""Calls of methods of strategies: what they run is compiled for each replica."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.frames import Frame
from xlalint.semantics.values import (
    COMPUTED,
    DATASET,
    FUNCTION,
    NOTHING_KNOWN,
    SEQUENCE,
    TENSOR,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments


def of_strategy(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if attr in ("run", "experimental_run_v2") and arguments.positional:
        passed = arguments.keywords.get(
            "args", arguments.positional[1] if len(arguments.positional) > 1 else None
        )
        values = list(passed.ref) if passed is not None and passed.kind is SEQUENCE else []
        if frame.context.jit:
            # The function around it is compiled as a whole, this with it.
            is_open = "kwargs" in arguments.keywords or (passed is not None and not values)
            given = arguments._replace(
                positional=tuple(values), keywords={}, open_ended=arguments.open_ended or is_open
            )
            return frame.analysis.call_value(arguments.positional[0], given, node, frame)
        frame.analysis.drivers.saw_run(arguments.positional[0], values, node, frame)
        frame.analysis.eager_steps.saw_run(base, arguments.positional[0], node, frame)
        frame.analysis.regions.run_on_replicas(arguments.positional[0], values, frame)
        return Value(TENSOR, COMPUTED, structured=True)
    if attr in ("reduce", "gather"):
        return Value(TENSOR, COMPUTED)
    if attr.startswith(("experimental_distribute", "distribute_datasets")):
        return _distributed(arguments, node, frame)
    return NOTHING_KNOWN


def _distributed(arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A dataset, or the one that a function makes, shared out among replicas."""
    given = next(iter(arguments.positional), NOTHING_KNOWN)
    if given.kind is FUNCTION:
        frame.analysis.host_functions.mark(given)
        given = frame.analysis.functions.invoke_value(given, [NOTHING_KNOWN], frame)
    if given.kind is not DATASET:
        return Value(DATASET)
    frame.analysis.drivers.saw_distributed(given, node, frame)
    frame.analysis.node_inputs.saw(given, node, frame)
    return given._replace(ref=None)  # judged here: what becomes of its batches adds nothing
