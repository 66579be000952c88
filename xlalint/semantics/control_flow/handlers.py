"""`try` and `except` while tracing: what a trace raises, a handler takes; what a running program raises reaches no Python."""

from __future__ import annotations

import ast

from xlalint.semantics.facts import (
    CONDITION,
    CONVERSION,
    FORMATTING,
    ITERATION,
    NUMPY_CALL,
    NUMPY_METHOD,
    READ_AS_PYTHON,
)
from xlalint.semantics.frames import Frame
from xlalint.semantics.syntax import nodes_of

# What tracing raises where a symbolic tensor is asked for its values (measured, TF 2.15 and 2.21).
_RAISED = {
    NUMPY_METHOD: "AttributeError",
    NUMPY_CALL: "NotImplementedError",
    CONVERSION: "TypeError",
    FORMATTING: "TypeError",
    ITERATION: "TypeError",
    READ_AS_PYTHON: "TypeError",
}
_EVERYTHING = frozenset({"Exception", "BaseException"})
# Raised by what a program does, not by the tracing of it.
_OF_RUNNING = frozenset(
    {"OSError", "IOError", "FileNotFoundError", "KeyboardInterrupt", "StopIteration", "OpError"}
    | {
        "InvalidArgumentError",
        "NotFoundError",
        "OutOfRangeError",
        "UnavailableError",
        "AbortedError",
    }
    | {"FailedPreconditionError", "ResourceExhaustedError", "InternalError", "UnimplementedError"}
)
# A handler of everything is a safety net under a whole function, unless it stands around very little or one way of several.
_MOST_STATEMENTS = 2


def caught_by(node: ast.Try) -> frozenset[str]:
    """The exceptions that a `try` catches for good, by name."""
    found: set[str] = set()
    for handler in node.handlers:
        names = _names(handler)
        if any(isinstance(inner, ast.Raise) for inner in nodes_of(handler.body)):
            continue
        if not names.isdisjoint(_EVERYTHING):
            if len(node.body) > _MOST_STATEMENTS and not _tries_one_way(node, handler):
                continue
            found.update(_RAISED.values())
        found |= names
    return frozenset(found)


def _tries_one_way(node: ast.Try, handler: ast.ExceptHandler) -> bool:
    """`try: ...; return a`, `except Exception: pass`: what is to be done where that fails stands behind it."""
    return isinstance(node.body[-1], ast.Return) and all(
        isinstance(part, ast.Pass) for part in handler.body
    )


def is_caught(kind: str, frame: Frame) -> bool:
    """Whether what tracing raises at such a fact is taken by a handler around, so that the trace goes on there."""
    if kind == CONDITION:
        return not frame.context.converted and "TypeError" in frame.caught
    return _RAISED.get(kind) in frame.caught


def is_never_traced(handler: ast.ExceptHandler) -> bool:
    """Whether no trace is known to get into a handler: one for what a running program raises, or for everything."""
    names = _names(handler)
    if not names.isdisjoint(_EVERYTHING):
        return True
    return bool(names) and names <= _OF_RUNNING


def _names(handler: ast.ExceptHandler) -> frozenset[str]:
    if handler.type is None:
        return frozenset({"BaseException"})
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return frozenset(getattr(one, "attr", getattr(one, "id", "")) for one in types)
