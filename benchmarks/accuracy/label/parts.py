"""The part of a traced program that one operation needs, as a program of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

_MOST = 40


@dataclass(frozen=True, slots=True)
class Part:
    """A program that ends with an operation of the type `type`, made at the stack `frames`."""

    type: str
    frames: tuple[tuple[str, int], ...]
    function: Callable[..., Any]
    inputs: Sequence[Any]

    def compiles(self) -> bool:
        """Whether XLA compiles and runs it."""
        return _run(self, jit_compile=True) is not None

    def differs(self) -> bool:
        """Whether XLA gives other numbers, in whatever order, than TensorFlow gives without it."""
        plain, compiled = _run(self), _run(self, jit_compile=True)
        if plain is None or compiled is None:
            return False
        return not all(_holds_the_same(a, b) for a, b in zip(plain, compiled))


def parts(concrete: Any, inputs: Sequence[Any]) -> Iterator[Part]:
    """A part for each operation on tensors of open size, in the order of the graph, the first of them only."""
    wanted = (op for op in concrete.graph.get_operations() if op.type != "Const" and _is_open(op))
    for op in itertools.islice(wanted, _MOST):
        yield _part(concrete, inputs, op)


def _is_open(op: Any) -> bool:
    return any(
        value.dtype not in (tf.resource, tf.variant)
        and value.shape.rank
        and not value.shape.is_fully_defined()
        for value in (*op.inputs, *op.outputs)
    )


def _part(concrete: Any, inputs: Sequence[Any], wanted: Any) -> Part:
    graph = concrete.graph
    definition = tf.compat.v1.graph_util.extract_sub_graph(graph.as_graph_def(), [wanted.name])
    kept = {node.name for node in definition.node}
    captured = {
        inner.op.name: outer
        for outer, inner in zip(concrete.captured_inputs, graph.internal_captures)
        if inner.op.name in kept
    }
    given = dict(
        zip((t.op.name for t in graph.inputs), tf.nest.flatten(inputs, expand_composites=True))
    )
    fed = [t for t in graph.inputs if t.op.name in kept and t.op.name not in captured]
    definition = _without(definition, {t.op.name for t in fed} | set(captured))
    definition.library.CopyFrom(graph.as_graph_def().library)

    def program(*arguments: Any) -> Any:
        here = tf.compat.v1.get_default_graph()
        held = {inner: here.capture(outer) for inner, outer in captured.items()}
        fresh = {tensor.op.name: argument for tensor, argument in zip(fed, arguments)}
        results = [tensor.name for tensor in wanted.outputs]
        return tf.graph_util.import_graph_def(
            definition, input_map={**held, **fresh}, return_elements=results or [wanted.name]
        )

    frames = tuple((frame.filename, frame.lineno) for frame in wanted.traceback or ())
    return Part(wanted.type, frames, program, [given[tensor.op.name] for tensor in fed])


def _without(definition: Any, names: set[str]) -> Any:
    kept = type(definition)()
    kept.CopyFrom(definition)
    del kept.node[:]
    kept.node.extend(node for node in definition.node if node.name not in names)
    return kept


def _run(part: Part, **options: Any) -> list[Any] | None:
    try:
        return list(tf.nest.flatten(tf.function(part.function, **options)(*part.inputs)))
    except Exception:
        return None


def _holds_the_same(first: Any, second: Any) -> bool:
    a, b = np.sort(np.ravel(first)), np.sort(np.ravel(second))
    if a.dtype.kind not in "fiub":
        return True
    return a.shape == b.shape and bool(
        np.allclose(a.astype("f8"), b.astype("f8"), rtol=2e-3, atol=1e-3, equal_nan=True)
    )
