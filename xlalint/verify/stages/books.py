"""What is known of a program so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from xlalint.tpu.outcome import Outcome
from xlalint.verify.coverage import Lines
from xlalint.verify.fills import Fills
from xlalint.verify.program import Program
from xlalint.verify.records import (
    FAILED,
    LOWER,
    NOTE,
    OK,
    SKIPPED,
    Evidence,
    Failure,
    Stage,
    TargetReport,
)
from xlalint.verify.shown import Shown


@dataclass(frozen=True, slots=True)
class Said:
    """What a stage has to say: its status, and a phrase for the reader. Where it failed, `failure` may say where."""

    status: str
    detail: str = ""
    failure: Failure | None = None


@dataclass(slots=True)
class Books:
    """The outcomes of the stages, and the evidence that they came upon."""

    program: Program
    stages: list[Stage] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    lines: Lines = field(default_factory=Lines)
    shown: Shown = field(default_factory=Shown)
    fills: Fills = field(default_factory=Fills)
    is_uniform: bool = False
    differs: dict[str, dict[str, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    bounded: dict[str, list[int]] = field(default_factory=dict)
    per_value: list[str] | None = None
    values_tried: int = 0
    tpu: list[Outcome] = field(default_factory=list)

    def stage(self, name: str) -> Stage | None:
        return next((stage for stage in self.stages if stage.name == name), None)

    def passed(self, name: str) -> bool:
        stage = self.stage(name)
        return stage is not None and stage.status in (OK, NOTE)

    def compared(self, name: str) -> bool:
        """Did a stage find the same numbers?"""
        stage = self.stage(name)
        return stage is not None and stage.status == OK

    def skip(self, name: str, why: str) -> None:
        self.stages.append(Stage(name, SKIPPED, 0.0, why))

    def seconds(self, *names: str) -> float:
        """Wall time that the stages took."""
        return sum(stage.seconds for stage in self.stages if stage.name in names)

    def report(self) -> TargetReport:
        program = self.program
        return TargetReport(
            id=program.id,
            function=program.function,
            path=program.path,
            line=program.line,
            origin=program.origin,
            status=self._status(),
            stages=tuple(self.stages),
            failures=tuple(self.failures),
            evidence=Evidence(
                executed=self.lines.as_dict(),
                ops=self.shown.made,
                needed=self.shown.needed,
                bounded=self.bounded,
                compiled_per_value=self.per_value,
                differentiated=self.shown.differentiated,
                kept_part=self.fills.part,
                kept_all=self.fills.full,
                is_uniform=self.is_uniform,
                differs=self.differs,
            ),
            calls=program.n_calls,
            traces=program.n_traces,
            values_tried=self.values_tried,
            notes=(*program.notes, *self.notes),
            inputs=program.inputs,
            is_special=program.is_special,
            tpu=tuple(self.tpu),
        )

    def _status(self) -> str:
        if any(stage.status == FAILED for stage in self.stages):
            return FAILED
        return OK if self.passed(LOWER) else SKIPPED
