"""Which operations kept a part of their elements only, while a program ran eagerly.

XLA holds what a mask or `tf.where(c)` keeps in a buffer for all elements. Where a run keeps all of them, the buffer is full
and nothing can go wrong: numbers that agree then say nothing of other data.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from xlalint.verify.coverage import original_line

# Operations with an output of as many rows as the data say: the output, and the input whose elements bound it.
_BOUNDED_BY = {
    "Where": (0, 0),
    "Unique": (0, 0),
    "UniqueV2": (0, 0),
    "UniqueWithCounts": (0, 0),
    "UniqueWithCountsV2": (0, 0),
}


class Fills:
    """The lines that made a data-sized tensor: `part` where it had fewer rows than its buffer, `full` where not."""

    def __init__(self) -> None:
        self.part: dict[str, list[int]] = {}
        self.full: dict[str, list[int]] = {}

    def add(self, place: tuple[str, int], is_full: bool) -> None:
        lines = (self.full if is_full else self.part).setdefault(place[0], [])
        if place[1] not in lines:
            lines.append(place[1])


@contextmanager
def watching(is_user: Callable[[str], bool], fills: Fills) -> Iterator[None]:
    """While open, look at each operation that runs eagerly. Does nothing where TensorFlow has no such hook."""
    try:
        from tensorflow.python.framework import op_callbacks

        add, remove = op_callbacks.add_op_callback, op_callbacks.remove_op_callback
    except (ImportError, AttributeError):
        yield
        return

    def look(
        op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        which = _BOUNDED_BY.get(_text(op_type))
        if graph is not None or which is None:
            return
        output, bound = outputs[which[0]], inputs[which[1]]
        place = _line(is_user)
        if place is not None:
            fills.add(place, int(output.shape[0]) == int(bound.shape.num_elements() or 0))

    add(look)
    try:
        yield
    finally:
        remove(look)


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


def _line(is_user: Callable[[str], bool]) -> tuple[str, int] | None:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        path, line = original_line(frame)
        if is_user(path):
            return path, line
        frame = frame.f_back
    return None
