"""Arms of conditionals that ask for a dtype: what they do with it, the caller chose (fixtures/XLA404/near_arms_that_ask.py).

`if x.dtype == tf.float64: x = tf.cast(x, tf.complex128)` says nothing of what callers pass.
"""

from __future__ import annotations

import ast

from xlalint.semantics.frames import Frame


def is_chosen_by_caller(node: ast.AST, frame: Frame) -> bool:
    """Whether an expression of this function stands in an arm of a conditional whose test asks what dtype something has."""
    if not frame.undecided or frame.function is None:
        return False  # where the answer is known, there is one arm
    return any(
        each is node
        for conditional in ast.walk(frame.function.node)
        if isinstance(conditional, ast.If) and _asks_for_dtype(conditional.test)
        for statement in (*conditional.body, *conditional.orelse)
        for each in ast.walk(statement)
    )


def _asks_for_dtype(test: ast.expr) -> bool:
    """`x.dtype == tf.float64`, `dtype in (tf.float64, tf.complex128)`, `x.dtype.is_complex`."""
    return any(
        (isinstance(each, ast.Attribute) and each.attr.endswith("dtype"))
        or (isinstance(each, ast.Name) and each.id.endswith("dtype"))
        for each in ast.walk(test)
    )
