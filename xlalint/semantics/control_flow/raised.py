"""What a `raise` builds: most often a message out of names and attributes, of which there is nothing to know. And what it asks first."""

from __future__ import annotations

import ast

from xlalint.semantics.syntax import found_in

_CALLS = frozenset({ast.Call})
# They make text, or what text is made of.
_OF_TEXT = frozenset(
    "format join str repr len type list tuple set sorted keys values items int float get_shape as_list".split()
)
_OF_KIND = frozenset({"isinstance", "is_tensor"})


def calls_functions(raised: ast.expr) -> bool:
    """Whether building an exception may call functions of the project, which are thereby seen to be called."""
    calls = found_in([raised], _CALLS)
    return any(_last_name(call) not in _OF_TEXT for call in calls if call is not raised)


def asks_if_given(test: ast.expr) -> bool:
    """Whether a test asks no more than that something is there: `labels is not None`, `isinstance(labels, tf.Tensor)`."""
    if isinstance(test, ast.Compare):
        right = test.comparators[-1]
        is_none = isinstance(right, ast.Constant) and right.value is None
        return len(test.ops) == 1 and isinstance(test.ops[0], (ast.IsNot, ast.NotEq)) and is_none
    return isinstance(test, ast.Call) and _last_name(test) in _OF_KIND


def _last_name(call: ast.AST) -> str:
    func = getattr(call, "func", None)
    return getattr(func, "attr", getattr(func, "id", ""))
