"""What no caller that was seen so far is sure to train, for each function in which it was met: the next caller may."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients import callers
from xlalint.semantics.gradients.callers import Passage
from xlalint.semantics.index import FunctionInfo

# Questions of one function, and of those it calls, that are asked again for a further caller.
_MOST_AGAIN = 16


class _Question(NamedTuple):
    passages: tuple[Passage, ...]
    names_objectives: bool
    settle: Callable[[], None]


class Unsettled:
    """The questions, in the order in which they came up."""

    def __init__(self) -> None:
        self._questions: list[_Question | None] = []

    @property
    def count(self) -> int:
        """How many came up so far."""
        return len(self._questions)

    def since(self, count: int) -> range | None:
        """Those that came up since there were so many; None where there are none."""
        now = len(self._questions)
        return range(count, now) if now > count else None

    def add(
        self, passages: tuple[Passage, ...], names_objectives: bool, settle: Callable[[], None]
    ) -> None:
        """Call `settle` once a further caller of one of the functions on this way is seen to train what comes of it."""
        if passages:
            self._questions.append(_Question(passages, names_objectives, settle))

    def saw_again(
        self, noted: range, called: FunctionInfo, node: ast.AST | None, caller: Frame
    ) -> None:
        """A function is called once more, with the same, in which these came up: this caller may train what others do not."""
        if caller.silent or not caller.context.is_compiled:
            return
        for number in noted[:_MOST_AGAIN]:
            question = self._questions[number]
            if question is None:
                continue
            way = question.passages, called, question.names_objectives, node, caller
            if callers.way_on(*way):
                question.settle()
                self._questions[number] = None
