"""Reading annotations: those in quotes, and what they are written of where no more than names matters."""

from __future__ import annotations

import ast


def unquoted(annotation: ast.expr | None) -> ast.expr | None:
    """What an annotation in quotes says, any other as it is. None where there is none, or no expression."""
    if not isinstance(annotation, ast.Constant) or not isinstance(annotation.value, str):
        return annotation
    try:
        return ast.parse(annotation.value, mode="eval").body
    except SyntaxError:
        return None


def said_kinds(annotation: ast.expr | None) -> set[str]:
    """The last parts of the names in an annotation: `ndarray` and `None` of `np.ndarray | None`. Empty where it says something else."""
    annotation = unquoted(annotation)
    if isinstance(annotation, ast.Constant) and annotation.value is None:
        return {"None"}
    if isinstance(annotation, ast.Name):
        return {annotation.id}
    if isinstance(annotation, ast.Attribute):
        return {annotation.attr}
    if isinstance(annotation, ast.BinOp):
        left, right = said_kinds(annotation.left), said_kinds(annotation.right)
        return left | right if left and right else set()
    if isinstance(annotation, ast.Subscript) and said_kinds(annotation.value) & {
        "Optional",
        "NDArray",
    }:
        outer = said_kinds(annotation.value)
        return outer if "NDArray" in outer else said_kinds(annotation.slice)
    return set()
