"""Code that is ready for a name, or a package, that is not there: it asks first, or catches what is raised."""

from __future__ import annotations

import ast

from xlalint.semantics.syntax import nodes_of, words_of

_ASKS = ("hasattr", "version", "VERSION")
_READY = frozenset(
    {"AttributeError", "ImportError", "ModuleNotFoundError", "Exception", "TypeError", "KeyError"}
)


def is_ready(node: ast.Try) -> bool:
    """Whether a handler catches what a missing name raises."""
    for handler in node.handlers:
        if handler.type is None:
            return True
        named = {
            part.attr if isinstance(part, ast.Attribute) else part.id
            for part in ast.walk(handler.type)
            if isinstance(part, (ast.Name, ast.Attribute))
        }
        if named & _READY:
            return True
    return False


def asks(test: ast.expr) -> bool:
    """Whether a condition asks for a version or a name."""
    words = (word for node in nodes_of([test]) for word in words_of(node))
    return any(ask in word for word in words for ask in _ASKS)
