"""The program that the stages work on, and what each stage leaves for those after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from xlalint.verify import eagerly
from xlalint.verify.gradients import GradientTap
from xlalint.verify.locate import Locator
from xlalint.verify.offload import Offloaded
from xlalint.verify.on_tpu import OnTpu
from xlalint.verify.program import Flat, Program, has_values
from xlalint.verify.records import Place, TargetReport
from xlalint.verify.stages.books import Books
from xlalint.verify.stages.tensors import Result


@dataclass(frozen=True, slots=True)
class Tools:
    """What the stages need besides the program: where errors are, whose lines to watch, whom to tell of progress.

    `on_phase` hears the name of a phase whose compilations are to be counted apart, and then "targets" again. `compile_only` runs nothing and
    compares nothing. `tpu` asks the TPU compiler, where the user named a TPU.
    """

    locator: Locator
    flagged_files: frozenset[str]
    offloaded: Offloaded
    on_stage: Callable[[str, TargetReport], None]
    on_phase: Callable[[str], None] = lambda name: None
    tpu: OnTpu | None = None
    compile_only: bool = False


class Subject:
    """A program as a function of its tensors alone. Raises UnsupportedError for arguments that no compiler can be handed."""

    def __init__(self, program: Program, tools: Tools) -> None:
        self.program = program
        self.tools = tools
        self.books = Books(program)
        self.flat = Flat(program)
        self.first = self.flat.tensors(program.calls[0])
        self.has_values = has_values(self.first)
        self.specs = self.flat.specs(program.calls[0])
        self.place = Place(program.path, program.line, 0, program.function)
        # Left by stages for those after them.
        self.concrete: Any = None
        self.trains = False
        self.eager: Result | None = None
        self.eager_error = ""
        self.compiled: Result | None = None
        self.is_too_slow = False

    @property
    def graph(self) -> Any:
        return None if self.concrete is None else self.concrete.graph

    def run_eagerly(self, tensors: Sequence[Any], function: Callable[..., Any]) -> Any:
        with eagerly.everything():
            return function(*tensors)

    @contextmanager
    def listening(self) -> Iterator[Callable[..., Any]]:
        """The program as a function of its tensors that returns `outputs` and, where it applies them, `gradients`."""
        with GradientTap(hears_tapes=True) as tap:

            def run(*tensors: Any) -> Any:
                tap.clear()
                outputs = self.flat(*tensors)
                self.trains |= tap.has_heard
                return {"outputs": outputs, "gradients": tap.gradients()}

            yield run
