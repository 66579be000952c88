"""Walk a traced program: its graph, and those of the functions that it calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


def operations(graph: Any) -> Iterator[Any]:
    """Every operation of a graph and of the functions it calls: branches, loop bodies, nested tf.functions."""
    for inner in graphs(graph):
        yield from inner.get_operations()


def graphs(graph: Any) -> Iterator[Any]:
    """A graph and those of the functions it calls, directly or not, each once."""
    for part in parts(graph):
        yield part.graph


@dataclass(frozen=True, slots=True)
class Part:
    """One function of a program: its graph, its name (empty for the outermost), and the operation that calls it."""

    graph: Any
    name: str = ""
    caller: Any = None


def parts(graph: Any, only_needed: bool = False) -> Iterator[Part]:
    """A graph and the functions it calls, directly or not, each once. `only_needed` leaves out calls whose results are not
    used."""
    seen: set[str] = set()
    waiting = [Part(graph)]
    while waiting:
        current = waiting.pop(0)
        yield current
        operations = needed(current.graph) if only_needed else current.graph.get_operations()
        for op in operations:
            for name in functions_of(op):
                inner = None if name in seen else _graph_of(current.graph, graph, name)
                seen.add(name)
                if inner is not None:
                    waiting.append(Part(inner, name, op))


def needed_operations(graph: Any) -> Iterator[Any]:
    """The operations of a graph and of the functions it calls that its results and side effects need: what XLA is handed."""
    for part in parts(graph, only_needed=True):
        yield from needed(part.graph)


def functions_of(op: Any) -> Iterable[str]:
    """The names of the functions that an operation calls."""
    for key, attribute in op.node_def.attr.items():
        if key in ("_gradient_op_type", "api_implements"):
            continue
        if attribute.HasField("func"):
            yield attribute.func.name
        for function in attribute.list.func:
            yield function.name


def _graph_of(current: Any, outermost: Any, name: str) -> Any:
    for holder in (current, outermost):
        try:
            function = holder._get_function(name)
        except (AttributeError, ValueError, KeyError):
            continue
        inner = getattr(function, "graph", None)
        if inner is not None:
            return inner
    return None


def needed(graph: Any) -> Iterator[Any]:
    """The operations of one graph that its outputs and side effects need, in the order in which they were made: XLA is
    never handed the rest."""
    waiting = [tensor.op for tensor in getattr(graph, "outputs", ())]
    waiting += list(getattr(graph, "control_outputs", ()))
    seen: set[str] = set()
    while waiting:
        op = waiting.pop()
        if op.name not in seen:
            seen.add(op.name)
            waiting += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
    return (op for op in graph.get_operations() if op.name in seen)
