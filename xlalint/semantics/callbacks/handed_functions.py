"""Running the functions that a call was given."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.callbacks.callables import as_function
from xlalint.semantics.elements import element, items_in_order
from xlalint.semantics.frames import Frame
from xlalint.semantics.joins import alternatives, join_all
from xlalint.semantics.syntax import passed_for
from xlalint.semantics.values import (
    ANY_OF,
    COLLECTION,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    NOTHING_KNOWN,
    PARTIAL,
    SEQUENCE,
    Value,
)

# Of longer lists, one call stands for all.
_MOST_CALLS = 8

Callback = Callable[["Arguments", "dict[str, Value]", ast.AST, Frame], Value]


def argument(
    arguments: Arguments, bound: dict[str, Value], position: int, *names: str
) -> Value | None:
    """The argument of a parameter, by its names or its position; None where it is not passed."""
    for name in names:
        if name in arguments.keywords:
            return arguments.keywords[name]
        if name in bound:
            return bound[name]
    return arguments.positional[position] if len(arguments.positional) > position else None


def run(
    function: Value | None,
    values: list[Value],
    frame: Frame,
    *,
    converted: bool | None = None,
    at: ast.AST | None = None,
    node: ast.AST | None = None,
) -> Value:
    """Call a function that was passed on; `at` is where it was written, should it be an API itself, `node` the call that got it
    together with all that it hands to the function.
    """
    if function is not None and function.kind is ANY_OF:
        every = [
            run(one, values, frame, converted=converted, at=at, node=node)
            for one in alternatives(function)
        ]
        return join_all(tuple(every))
    if function is not None and at is not None and _leads_to_api(function):
        return _as_called(function, values, frame, at, converted)
    if function is not None and function.kind is INSTANCE:
        return _call_object(function, values, frame, at, converted)
    if function is not None and function.kind is PARTIAL:
        target, first, keywords = function.ref
        target = as_function(target, frame.analysis)
        return (
            frame.analysis.functions.invoke_value(
                target, [*first, *values], frame, converted=converted, keywords=dict(keywords)
            )
            if target.kind is FUNCTION
            else NOTHING_KNOWN
        )
    if function is None or function.kind is not FUNCTION:
        return NOTHING_KNOWN
    return frame.analysis.functions.invoke_value(
        function, values, frame, converted=converted, node=node
    )


def _call_object(
    function: Value, values: list[Value], frame: Frame, at: ast.AST | None, converted: bool | None
) -> Value:
    """Call an object: Keras objects go through Keras, others of the project have a `__call__`."""
    bound = as_function(function, frame.analysis)
    if bound.kind is FUNCTION:
        return frame.analysis.functions.invoke_value(bound, values, frame, converted=converted)
    return NOTHING_KNOWN if at is None else _as_called(function, values, frame, at, converted)


def _as_called(
    function: Value, values: list[Value], frame: Frame, at: ast.AST, converted: bool | None
) -> Value:
    """Call what is no function of the project where it was handed on: `map(float, rows)` calls float itself."""
    here = frame.context
    if converted is False and here.converted:
        frame.context = here._replace(converted=False)
    value = frame.analysis.call_value(function, Arguments(tuple(values), {}, False), at, frame)
    frame.context = here
    return value


def _leads_to_api(function: Value) -> bool:
    while function.kind is PARTIAL:
        function = function.ref[0]
    return function.kind is EXTERNAL


def written(node: ast.AST, position: int, *names: str) -> ast.AST:
    """The expression that a call passes for a parameter; the call itself where it cannot be told."""
    return passed_for(node, position, *names) or node


def answer(function: Value, item: Value, node: ast.AST, frame: Frame) -> Value:
    """What a function that Python itself calls answers for an item; AutoGraph does not convert what Python calls."""
    return run(function, [item], frame, converted=False, at=node)


def combined(function: Value, item: Value, node: ast.AST, frame: Frame) -> Value:
    """What a function of two items, which Python itself calls, makes of them."""
    return run(function, [item, item], frame, converted=False, at=node)


def mapped(arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`map(f, items)`: Python calls it, and AutoGraph does not convert what Python calls."""
    given = arguments.positional[1:]
    if not given:
        return Value(COLLECTION)
    function = arguments.positional[0]
    # What `map(float, rows)` asks of a row is said of the call.
    is_builtin = function.kind is EXTERNAL and str(function.ref).startswith("builtins.")
    at = node if is_builtin else written(node, 0)
    rows = _rows(given)
    if rows is None:
        items = [element(value) for value in given]
        return Value(COLLECTION, ref=run(function, items, frame, converted=False, at=at))
    made: list[tuple[tuple[Value, ...], Value]] = []
    for row in rows:
        before = next((result for seen, result in made if seen == row), None)
        if before is None:
            before = run(function, list(row), frame, converted=False, at=at)
        made.append((row, before))
    return Value(SEQUENCE, ref=tuple(result for _, result in made))


def _rows(given: Sequence[Value]) -> list[tuple[Value, ...]] | None:
    """What `map` hands on in each call; None where that is not all known, or too much."""
    columns = [items_in_order(value) for value in given]
    if not all(columns):
        return None
    rows = list(zip(*(items for items in columns if items)))
    return rows if len(rows) <= _MOST_CALLS else None


def run_in_graph(
    function: Value | None,
    values: list[Value],
    frame: Frame,
    *,
    converted: bool = False,
    at: ast.AST | None = None,
    node: ast.AST | None = None,
    unrolled: bool = False,
    is_arm: bool = False,
) -> Value:
    """Run a function that becomes the body of a loop or an arm of a conditional: a graph of its own, unless it is unrolled.
    `node` is the call that makes a loop or an arm of it.

    TensorFlow calls it, and so AutoGraph leaves it alone, unless it stands inside a function that is converted (measured).
    """
    if function is not None and function.kind is FUNCTION:
        info = function.ref[0] if isinstance(function.ref, tuple) else function.ref
        frame.analysis.graph_bodies.add(info)
    frame.bodies += not unrolled
    rounds, frame.rounds = (
        frame.rounds,
        frame.rounds + (node is not None and not (unrolled or is_arm)),
    )
    result = run(function, values, frame, converted=converted, at=at, node=node)
    frame.bodies -= not unrolled
    frame.rounds = rounds
    return result
