"""The path that a program took, as a program of its own: without a branch, its loops unrolled.

What Python asks of tensors while the program runs eagerly is written down, and answered the same while it is traced. What that
trace gives under XLA, the author's own operations give: a rewrite that gives it as well has changed nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from xlalint.verify.patching import Patches

_QUESTIONS = ("__bool__", "__int__", "__float__", "__index__")


class OffPathError(Exception):
    """While tracing, Python asks something else than it asked eagerly."""


class Path:
    """The answers in the order in which they were given, with the kind of question and the dtype of what was asked."""

    def __init__(self) -> None:
        self._answers: list[tuple[str, str, Any]] = []
        # What was asked while it was traced.
        self.asked: list[Any] = []

    def is_answered_by(self, values: Sequence[Any]) -> bool:
        """Are these, computed for what was asked, the answers that were given eagerly?"""
        given = [answer for _, _, answer in self._answers]
        return all(bool(type(one)(value) == one) for one, value in zip(given, values))

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """While open, answers of eager tensors are written down."""
        patches = Patches()

        def noting(question: str) -> Callable[[Any], Callable[[Any], Any]]:
            def wrap(original: Any) -> Callable[[Any], Any]:
                def answered(tensor: Any) -> Any:
                    answer = original(tensor)
                    self._answers.append((question, tensor.dtype.name, answer))
                    return answer

                return answered

            return wrap

        for question in _QUESTIONS:
            patches.wrap(type(tf.constant(0)), question, noting(question))
        try:
            yield
        finally:
            patches.undo()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """While open, tensors of a graph answer what the eager ones did. Whoever asks otherwise gets an OffPathError."""
        patches, waiting = Patches(), iter(self._answers)

        def replaying(question: str) -> Callable[[Any], Any]:
            def answer(tensor: Any) -> Any:
                asked, dtype, given = next(waiting, ("", "", None))
                if (asked, dtype) != (question, tensor.dtype.name):
                    raise OffPathError(f"{question} was not what the program asked eagerly")
                self.asked.append(tensor)
                return given

            return answer

        with tf.Graph().as_default():
            symbolic = type(tf.constant(0))
        for question in _QUESTIONS:
            patches.put(symbolic, question, replaying(question))
        patches.put(symbolic, "__iter__", lambda tensor: iter(tf.unstack(tensor)))
        patches.put(symbolic, "__len__", _length)
        try:
            yield
        finally:
            patches.undo()


def _length(tensor: Any) -> int:
    size = tensor.shape[0]
    if size is None:
        raise OffPathError("a size is not static")
    return int(size)
