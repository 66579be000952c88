"""Trace on past the first error: what else asks a traced tensor for its value?

Tracing stops at the first `if` on a symbolic tensor, and a user who mends it meets the next one on the next run. So after
such an error the function is traced once more with tensors that answer (True the first time, then False, so that loops
end; 1 for a number), and each question is noted with its line. The program so traced is thrown away.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from xlalint.verify.patching import Patches
from xlalint.verify.records import TRACE, Failure, Place

_MOST = 50
_QUESTIONS: dict[str, tuple[str, Any]] = {
    "__bool__": ("a Python `bool`", None),
    "__int__": ("a Python `int`", 1),
    "__float__": ("a Python `float`", 1.0),
    "__index__": ("an index", 1),
    "__len__": ("a length", 1),
}


@contextmanager
def answering(is_user: Callable[[str], bool]) -> Iterator[list[Failure]]:
    """While open, symbolic tensors answer, and the list fills with where they were asked."""
    asked: list[Failure] = []
    patches = Patches()
    for name, (words, answer) in _QUESTIONS.items():
        original = getattr(_tensor_class(), name, None)
        patches.put(_tensor_class(), name, _answer(words, answer, original, asked, is_user))
    try:
        yield asked
    finally:
        patches.undo()


def _tensor_class() -> Any:
    """The class of symbolic tensors and of their base; eager tensors have answers of their own."""
    try:
        from tensorflow.python.framework.tensor import Tensor
    except ImportError:  # TensorFlow before 2.14
        from tensorflow.python.framework.ops import Tensor
    return Tensor


def _answer(
    words: str, answer: Any, original: Any, asked: list[Failure], is_user: Callable[[str], bool]
) -> Callable[[Any], Any]:
    def reply(self: Any) -> Any:
        place = _asking(is_user)
        # Libraries try what a tensor can do, and are prepared for a no.
        if place is None or len(asked) >= _MOST:
            return original(self) if original is not None else _refuse(words)
        failure = Failure(
            TRACE, "symbolic", f"a symbolic `tf.Tensor` is used as {words}", place=place
        )
        is_new = failure not in asked
        if is_new:
            asked.append(failure)
        return is_new if answer is None else answer

    return reply


def _refuse(words: str) -> None:
    raise TypeError(f"a symbolic tensor cannot be {words}")


def _asking(is_user: Callable[[str], bool]) -> Place | None:
    """The line that asks, if it is the user's own, with its column where Python tells (3.11)."""
    frame = sys._getframe(2)
    code = frame.f_code
    if not is_user(code.co_filename):
        return None
    return Place(code.co_filename, frame.f_lineno, _column(frame), code.co_name)


def _column(frame: FrameType) -> int:
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return 0
    start = list(positions())[frame.f_lasti // 2][2]
    return 0 if start is None else int(start) + 1
