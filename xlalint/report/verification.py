"""Reports of `xlalint verify`: `full` for people, `json` for programs."""

from __future__ import annotations

import json as standard_json
import linecache
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from xlalint.report import Style, judged, recompiles, targets, tpu
from xlalint.report.advice import advice
from xlalint.report.places import relative, shown
from xlalint.report.text import place
from xlalint.report.verification_data import as_data, summary
from xlalint.verify import choices
from xlalint.verify.records import (
    FAILED,
    IMPOSSIBLE,
    OK,
    SKIPPED,
    UNFIT,
    Failure,
    Place,
    Stage,
    TargetReport,
    TrainingReport,
)
from xlalint.verify.run import strategy_name
from xlalint.verify.verdicts import CONFIRMED, NOT_REACHED, REFUTED
from xlalint.verify.verification import Verification, failed_stages

_MOST_FRAMES = 5
_MOST_OUTPUT = 5
# What sets a terminal's colours and moves its cursor: Keras's progress bars.
_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x08")
FORMATS = ("full", "json", *judged.FORMATS)
_BOLD, _DIM, _RED, _GREEN, _YELLOW = "1", "2", "31", "32", "33"
_STATUS_COLORS = {OK: _GREEN, FAILED: _RED, SKIPPED: _DIM, "stopped": _GREEN, "ended": _GREEN}
_VERDICT_COLORS = {CONFIRMED: _RED, REFUTED: _GREEN, NOT_REACHED: _YELLOW}
_TRAINING_WORDS = {
    "stopped": "ok",
    "ended": "ok",
    UNFIT: "note",
    IMPOSSIBLE: "skip",
    FAILED: "FAIL",
}
_WORDS = {OK: "ok", FAILED: "FAIL", SKIPPED: "skip"}


def render(result: Verification, format_: str, style: Style) -> str:
    """The report in one of FORMATS."""
    if format_ in judged.FORMATS:
        return judged.render(result, format_, style)
    return full(result, style) if format_ == "full" else json(result)


def _as_named(result: Verification, report: Any) -> Any:
    """The report with notebooks in the place of the programs made of them."""
    return result.books.in_cells(report) if result.books is not None else report


def full(result: Verification, style: Style) -> str:
    """Versions, a line per target with its failures, a verdict per finding, losses, and a summary."""
    text = "".join(line + "\n" for line in _Full(result, style).lines())
    return str(_as_named(result, text))


class _Full:
    def __init__(self, result: Verification, style: Style) -> None:
        self._result = result
        self._style = style
        self._advised: set[tuple[str, str]] = set()

    def lines(self) -> Iterator[str]:
        result = self._result
        yield self._paint(_heading(result), _BOLD)
        yield from (f"  note: {note}" for note in result.notes)
        yield from self._section("Targets", self._targets())
        yield from self._section("Findings of check", self._findings())
        yield from self._section("Not found by check", self._unclaimed())
        yield from self._section("Training", self._trainings())
        yield from self._section("Compiled again", self._recompiles())
        yield from self._section("TPU compiler", self._tpu())
        yield from self._section("Could not be run", self._broken())
        yield ""
        yield self._paint(summary_line(result), _BOLD)

    def _section(self, title: str, lines: Iterator[str]) -> Iterator[str]:
        body = list(lines)
        if body:
            yield ""
            yield self._paint(title, _BOLD)
            yield from body

    def _targets(self) -> Iterator[str]:
        """A layer, a metric or a helper that was made many times is told once."""
        blocks = Counter(tuple(self._target(target)) for target in self._result.targets)
        for (head, *rest), count in blocks.items():
            yield head + (f" x{count}" if count > 1 else "")
            yield from rest

    def _target(self, target: TargetReport) -> Iterator[str]:
        word = self._paint(f"{_WORDS[target.status]:<4}", _STATUS_COLORS[target.status])
        where = shown(target.path, target.line, 0, self._result.folder)
        yield f"  {word} {where} {self._paint(target.function, _BOLD)}: {targets.stages(target)}{targets.counts(target)}"
        yield from (f"         note: {note}" for note in targets.told(target))
        for failure in failed_stages(target):
            yield from self._failure(failure)

    def _failure(self, failure: Failure) -> Iterator[str]:
        yield f"         {self._place(failure.place)}{failure.stage}: {failure.message}"
        if failure.place is not None and failure.place.line:
            text = linecache.getline(failure.place.path, failure.place.line).strip()
            if text:
                number = self._number(failure.place)
                yield self._paint(f"           {number} | {text[:120]}", _DIM)
        if failure.called_from is not None:
            yield f"           called from {self._place(failure.called_from).rstrip(' :')}"
        yield from self._through(failure)
        yield from self._advice(failure)

    def _through(self, failure: Failure) -> Iterator[str]:
        """The lines of the project on the way to the place, but for those told already."""
        told = {(one.path, one.line) for one in (failure.place, failure.called_from) if one}
        way = [
            self._place(one).rstrip(" :")
            for one in failure.frames
            if (one.path, one.line) not in told
        ]
        if way:
            yield f"           by way of {' -> '.join(way[-_MOST_FRAMES:])}"

    def _advice(self, failure: Failure) -> Iterator[str]:
        """What to write instead; each advice once."""
        found = advice(failure, self._result)
        if found is None or (found.code, found.instead) in self._advised:
            return
        self._advised.add((found.code, found.instead))
        lines = found.instead.splitlines()
        if lines:
            told = f" (xlalint explain {found.code})" if found.code else ""
            yield f"           write instead{told}: {lines[0]}"
            yield from (f"             {line}" for line in lines[1:])

    def _findings(self) -> Iterator[str]:
        for one in self._result.verdicts:
            finding = one.finding
            word = self._paint(f"{one.verdict:<11}", _VERDICT_COLORS[one.verdict])
            yield (
                f"  {word} {place(finding)}: {finding.severity.value} {finding.code} "
                f"{finding.message}"
            )
            yield f"              {one.evidence}"
            proof = self._result.proofs.get(finding)
            if proof is not None and finding.fix is not None:
                first, *rest = proof.lines
                yield f"              {finding.fix.applicability} fix {proof.status}: {first}"
                yield from (f"                {line}" for line in rest)

    def _unclaimed(self) -> Iterator[str]:
        lines = (
            f"  {self._place(failure.place)}{failure.stage}: {failure.message} ({target.function})"
            for target, failure in self._result.unclaimed
        )
        yield from dict.fromkeys(lines)

    def _trainings(self) -> Iterator[str]:
        is_one_program = len({training.program for training in self._result.trainings}) <= 1
        for training in self._result.trainings:
            word = _TRAINING_WORDS[training.status]
            painted = self._paint(f"{word:<4}", _STATUS_COLORS.get(training.status, _YELLOW))
            name = _training_name(training)
            if not is_one_program:
                name = f"{training.program}, {name}"
            steps = f"{training.steps} step{'s' * (training.steps != 1)}"
            yield f"  {painted} {name}: {steps}{_losses(training)} ({training.seconds:.1f} s)"
            if training.compiles:
                told = ", ".join(
                    f"{function} {count}" for function, count in training.compiles.items()
                )
                yield f"         XLA compiled: {told}"
            folder = f"{self._result.folder.resolve()}/"
            yield from (f"         {event.replace(folder, '')}" for event in training.events)
            yield from (f"         {_check(check)}" for check in training.checks)
            if training.status == IMPOSSIBLE:
                yield f"         TensorFlow cannot: {training.detail}"
            elif training.detail and (
                training.failure is None or training.detail not in training.failure.message
            ):
                yield f"         {training.detail}"
            if training.failure is not None:
                yield from self._failure(training.failure)
            if training.status == FAILED and training.output:
                yield from (
                    self._paint(f"         | {line}", _DIM)
                    for line in _as_shown(training.output)[-_MOST_OUTPUT:]
                )

    def _tpu(self) -> Iterator[str]:
        asked = [target for target in self._result.targets if target.tpu]
        for target in asked:
            yield from tpu.lines(target.function, target.tpu, self._site)
        if any(outcome.flops for target in asked for outcome in target.tpu):
            yield from (f"  {assumption}" for assumption in tpu.ASSUMPTIONS)

    def _site(self, path: str, line: int) -> str:
        return shown(path, line, 0, self._result.folder)

    def _recompiles(self) -> Iterator[str]:
        for found in self._result.recompiles:
            yield from recompiles.lines(
                found, lambda path, line: shown(path, line, 0, self._result.folder)
            )

    def _broken(self) -> Iterator[str]:
        for one in self._result.broken:
            what = relative(one.what, self._result.folder)
            yield f"  {what}: {self._place(one.place)}{one.message}"
        for error in self._result.errors:
            yield f"  {error.path}:{error.line}:{error.column}: {error.message}"

    def _place(self, place: Place | None) -> str:
        if place is None:
            return ""
        return shown(place.path, place.line, place.column, self._result.folder) + ": "

    def _number(self, place: Place) -> int:
        books = self._result.books
        return place.line if books is None else books.line(place.path, place.line)

    def _paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._style.color else text


def _heading(result: Verification) -> str:
    environment = result.environment
    parts = [
        f"{name} {version}"
        for name, version in (
            ("TensorFlow", environment.tensorflow),
            ("Keras", environment.keras),
            ("tf_keras", environment.tf_keras),
            ("Python", environment.python),
        )
        if version
    ]
    return ", ".join([*parts, "XLA on CPU"])


def _check(check: Stage) -> str:
    """`variables: equal on every replica (4 variables)`."""
    return f"{check.name}{' FAILED' if check.status == FAILED else ''}: {check.detail}"


def _training_name(training: TrainingReport) -> str:
    if training.strategy == "none":
        return "as it is"
    name = strategy_name(training.strategy, training.replicas)
    kind = choices.KINDS.get(training.strategy)
    # Measured: XLA refuses variables of several CPU devices in one program.
    return (
        name
        if kind is None or kind.is_compiled
        else f"{name}, without XLA (it cannot run on several CPUs)"
    )


def _losses(training: TrainingReport) -> str:
    if not any(loss is not None for loss in training.losses):
        return ""
    return ", loss " + " ".join("-" if loss is None else f"{loss:.4g}" for loss in training.losses)


def summary_line(result: Verification) -> str:
    """`2 of 3 targets compile; findings: 1 confirmed, 0 refuted, 2 not reached; training: 5 steps`."""
    counts = summary(result)
    parts = []
    if result.targets:
        skipped = counts["targets"][SKIPPED]
        parts.append(
            f"{counts['targets']['ok']} of {len(result.targets)} targets pass"
            + (f", {skipped} skipped" if skipped else "")
        )
    if result.verdicts:
        told = ", ".join(
            f"{counts['findings'][name]} {name}" for name in (CONFIRMED, REFUTED, NOT_REACHED)
        )
        parts.append(f"findings: {told}")
    if result.unclaimed:
        missed = len(result.unclaimed)
        parts.append(f"{missed} failure{'s' * (missed != 1)} that check did not find")
    if result.trainings:
        parts.append(_training_summary(counts["training"], len(result.trainings)))
    if result.broken:
        parts.append(f"{len(result.broken)} could not be run")
    if result.interrupted:
        parts.append("interrupted")
    return "; ".join(parts) or "nothing was verified"


def _training_summary(counts: Mapping[str, int], runs: int) -> str:
    bad, impossible = counts[FAILED], counts[IMPOSSIBLE]
    if bad:
        return f"training FAILED ({bad} of {runs} runs)"
    if impossible:
        return f"training runs, but TensorFlow cannot do {impossible} of the {runs} runs"
    return "training runs"


def json(result: Verification) -> str:
    """One JSON object; the keys are a contract."""
    data = _as_named(result, as_data(result))
    return standard_json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _as_shown(output: str) -> list[str]:
    """The lines of an output as a terminal shows them in the end: without colours, of a progress bar its last state."""
    plain = _CONTROLS.sub("", output)
    ends = [line.rstrip("\r ").rpartition("\r")[2] for line in plain.split("\n")]
    return [line for line in ends if line]
