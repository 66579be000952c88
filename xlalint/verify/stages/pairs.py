"""A program run both ways, eagerly and compiled, from the same state and with the same random numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from xlalint.verify import compare, randomness
from xlalint.verify.graphs import operations
from xlalint.verify.records import FAILED, OK, SKIPPED, Failure
from xlalint.verify.stages import compiling, difference
from xlalint.verify.stages.books import Said
from xlalint.verify.stages.subject import Subject
from xlalint.verify.stages.tensors import Result, all_nudged, on_host
from xlalint.verify.stages.variables import Kept

# Two eager runs from the same state that are further apart than this draw on something that no seed fixes.
_ITSELF = 1e-3


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a program is run with: tensors, and where they were compiled and run before, that program and its result."""

    tensors: Sequence[Any]
    concrete: Any = None
    compiled: Result | None = None

    @property
    def specs(self) -> list[Any]:
        return [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in self.tensors]


class Pair:
    """`program` returns what `Subject.listening` gives; `dice` are those of the open `randomness.reproducible`.

    What was compiled before is taken as it is, unless it draws random numbers of TensorFlow's own.
    """

    def __init__(
        self,
        subject: Subject,
        inputs: Inputs,
        program: Callable[..., Any],
        dice: randomness.Dice,
    ) -> None:
        self.program = program
        self.dice = dice
        self.tensors = inputs.tensors
        self._subject = subject
        self._eager: Result | None = None
        self.concrete, self._compiled = inputs.concrete, inputs.compiled
        if self._compiled is None or randomness.random_ops(operations(self.concrete.graph)):
            dice.restart()
            jitted = tf.function(program, jit_compile=True, autograph=False)
            self.concrete, self._compiled = jitted.get_concrete_function(*inputs.specs), None

    def compile(self) -> None:
        """Compile and run, where that was not done before."""
        if self._compiled is None:
            with Kept(self.concrete):
                self._compiled = compiling.run(self.concrete, self.tensors)

    def compared(self, stage: str) -> Said:
        """Are the numbers the same? Where they are not, by which line?"""
        if random := self._incomparable():
            return Said(SKIPPED, f"not compared: {random}")
        found = self._difference()
        if found is None:
            return Said(OK)
        if self._changes_by_itself():
            why = "not compared: eager code gives other numbers each time it is called"
            return Said(SKIPPED, why)
        if self._moves_by_itself(found.error):
            return Said(OK, "differ within what one bit of the inputs changes")
        return self._explained(stage, found.what)

    def _incomparable(self) -> str:
        """Why the numbers of the two need not be the same; empty where they must."""
        ops = list(operations(self.concrete.graph))
        if unfit := randomness.sign_free_ops(ops):
            return f"{unfit[0].type} is unique up to signs only"
        if random := randomness.random_ops(ops):
            return f"{random[0].type} draws other numbers under XLA"
        return "a random number drawn in a loop is another one under XLA" * self.dice.in_loop

    def _difference(self) -> compare.Difference | None:
        self.compile()
        assert self._compiled is not None
        self._eager = self._run_eagerly()
        if found := compare.outputs(self._eager.outputs, self._compiled.outputs):
            return found
        if len(self._eager.gradients) != len(self._compiled.gradients):
            return None  # applied inside a nested function, whose tensors do not leave it
        return compare.gradients(self._eager.gradients, self._compiled.gradients)

    def _changes_by_itself(self) -> bool:
        """Does eager code give other numbers each time? Two that a host draws at random may be close: a third settles it."""
        return any(_apart(self._eager, self._run_eagerly()) > _ITSELF for _ in range(2))

    def _moves_by_itself(self, error: float) -> bool:
        """Would eager code differ as much if its inputs and variables moved by their last bit?"""
        by_itself = _apart(self._eager, self._run_eagerly(move=True))
        return by_itself > error / 20 or by_itself == error == float("inf")

    def _run_eagerly(self, move: bool = False) -> Result:
        with Kept(self.concrete, move):
            self.dice.restart()
            tensors = all_nudged(self.tensors) if move else self.tensors
            return on_host(self._subject.run_eagerly(tensors, self.program))

    def _explained(self, stage: str, what: str) -> Said:
        """The failure that a difference comes to, at the line whose operation differs first; none where it is rounding."""
        assert self._compiled is not None
        cause = difference.cause(self.program, self.tensors, self._compiled, self.dice)
        if cause.excuse:
            return Said(OK, f"differ by {cause.excuse}")
        place = None if cause.op is None else self._subject.tools.locator.place_of(cause.op)
        message = "; ".join(part for part in (cause.words, what) if part)
        if cause.op is not None:
            message = f"{cause.words}; so {what.partition(': ')[0]}"
        return Said(
            FAILED,
            message,
            Failure(stage, "numbers", message, cause.op_type, place or self._subject.place),
        )


def _apart(left: Result | None, right: Result) -> float:
    if left is None:
        return 0.0
    return compare.largest_error(
        [*left.outputs, *left.gradients], [*right.outputs, *right.gradients]
    )
