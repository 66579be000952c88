"""Does a tensor of a graph depend on data, or on shapes and constants alone?"""

from __future__ import annotations

from typing import Any

# What these give is known once shapes are: XLA folds it.
FROM_SHAPES = frozenset({"Shape", "ShapeN", "Size", "Rank", "Const"})


def is_from_data(tensor: Any) -> bool:
    """Does a tensor depend on the value of an argument, a variable or a random number, other than through its shape?

    A function's own placeholders count as arguments, so inside a nested function this may say yes of a constant that the
    caller passes.
    """
    seen: set[int] = set()
    waiting = [tensor.op]
    while waiting:
        op = waiting.pop()
        if id(op) in seen or op.type in FROM_SHAPES:
            continue
        seen.add(id(op))
        if not op.inputs:
            return True
        waiting += [value.op for value in op.inputs]
    return False
