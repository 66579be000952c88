"""Masks that keep all but one element, or one alone, whatever the step: `tf.range(n) != i`, `~tf.eye(n, dtype=tf.bool)[i]`.

Contrastive losses leave each sample's similarity to itself out. All steps keep as many then, and the gradient of the loop is right (measured, TensorFlow
2.21: fixtures/XLA204/near_all_but_one.py).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.syntax import called_name

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame

_POSITIONS = frozenset({"range", "arange"})
_ONE_PER_ROW = frozenset({"eye", "one_hot"})
_SAME_NUMBER = frozenset({"logical_not", "cast", "where"})
_COMPARES = frozenset({"equal", "not_equal"})
_DEEPEST = 6


def are_chosen(mask: ast.expr, frame: Frame, depth: int = _DEEPEST) -> bool:
    """Whether a mask, or places that `tf.where` finds by one, are as many in each step by the way that it is made."""
    if not depth:
        return False
    if isinstance(mask, ast.Name):
        made = _assigned(mask.id, frame)
        return made is not None and are_chosen(made, frame, depth - 1)
    if isinstance(mask, ast.Compare):
        sides = [mask.left, *mask.comparators]
        is_equality = len(mask.ops) == 1 and isinstance(mask.ops[0], (ast.Eq, ast.NotEq))
        return is_equality and _compares_places(sides, frame)
    if isinstance(mask, ast.UnaryOp):
        return isinstance(mask.op, ast.Invert) and are_chosen(mask.operand, frame, depth - 1)
    if isinstance(mask, ast.Subscript):
        return are_chosen(mask.value, frame, depth - 1)
    if not isinstance(mask, ast.Call):
        return False
    name = called_name(mask)
    if name in _COMPARES:
        return _compares_places(mask.args[:2], frame)
    if name in _SAME_NUMBER and mask.args:
        return are_chosen(mask.args[0], frame, depth - 1)
    return name in _ONE_PER_ROW


def _compares_places(sides: list[ast.expr], frame: Frame) -> bool:
    """One side counts the places, the other is a number: two rows may agree anywhere."""
    counts = [_is_called(side, _POSITIONS, frame) for side in sides]
    one = [side for side, is_count in zip(sides, counts) if not is_count]
    return len(sides) == 2 and len(one) == 1 and isinstance(one[0], (ast.Name, ast.Constant))


def _is_called(node: ast.expr, names: frozenset[str], frame: Frame) -> bool:
    made = _assigned(node.id, frame) if isinstance(node, ast.Name) else node
    return isinstance(made, ast.Call) and called_name(made) in names


def _assigned(name: str, frame: Frame) -> ast.expr | None:
    """What a name is set to, where it is set once in the function and those around it."""
    info = frame.function
    found = [
        part.value
        for function in ((info, *info.around) if info is not None else ())
        for part in function.carrying
        if isinstance(part, ast.Assign)
        for target in part.targets
        if isinstance(target, ast.Name) and target.id == name
    ]
    # What is set in an inner function is among what the outer one carries, too.
    return found[0] if len({id(each) for each in found}) == 1 else None
