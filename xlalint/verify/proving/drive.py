"""In the child: find inputs for a function, and prove the rewrites of it with them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from xlalint.fixes.proof import NOT_RUNNABLE, PROVEN, REFUTED, Proof
from xlalint.verify import eagerly
from xlalint.verify.alone import drive
from xlalint.verify.alone.seal import at_most
from xlalint.verify.alone.search import gist
from xlalint.verify.coverage import Lines, watching
from xlalint.verify.jobs import Rewrite, Wanted
from xlalint.verify.program import Flat, Program, UnsupportedError, has_values
from xlalint.verify.proving.cases import Given, cases
from xlalint.verify.proving.transplant import Transplant, UnfitError
from xlalint.verify.proving.trial import Outcome, Trial, compare
from xlalint.verify.records import TargetReport

# Programs (sets of inputs) that one rewrite is tried with, and seconds of wall time for each.
_PROGRAMS = 3
_SECONDS = 45.0
_GIST = 120  # characters of an error
_LABELS = 4  # kinds of inputs that the evidence names


@dataclass(frozen=True, slots=True)
class Scene:
    """One program that runs: as a function of its tensors, with the lines of the file that ran."""

    program: Program
    flat: Flat
    given: Given
    others: tuple[tuple[object, ...], ...]
    lines: frozenset[int]


class Prover:
    """Proves the rewrites of one module. `text` is what is loaded of it, `folder` for rewritten texts, `captured` are programs
    that the module's own work called."""

    def __init__(
        self,
        module: ModuleType,
        text: str,
        folder: Path,
        watch: drive.Watch,
        captured: Sequence[Program] = (),
    ) -> None:
        self._module, self._text, self._folder = module, text, folder
        self._watch = watch
        self._captured = tuple(captured)

    def scenes(self, wanted: Wanted) -> tuple[list[Scene], str]:
        """Programs that come to the function's lines in question; else why there is none."""
        found: list[Scene] = []
        why = "no inputs were found with which it runs"
        for program in itertools.islice(self._programs(wanted), _PROGRAMS + len(self._captured)):
            if isinstance(program, TargetReport):
                why = "; ".join(program.notes[:1]) or why
                continue
            try:
                scene = _scene(program, wanted)
            except UnsupportedError as reason:
                why = str(reason)
                continue
            except Exception as error:
                why = f"it raises {type(error).__name__}: {gist(error)}"
                continue
            if not any(first <= n <= last for first, last in wanted.lines for n in scene.lines):
                why = "no inputs were found with which the lines of the fix run"
                continue
            found.append(scene)
            if len(found) == _PROGRAMS:
                break
        return found, why

    def _programs(self, wanted: Wanted) -> Iterator[Program | TargetReport]:
        own = [one for one in self._captured if (one.path, one.line) == (wanted.path, wanted.line)]
        rest = [one for one in self._captured if one not in own]
        yield from own
        yield from drive.programs(wanted, self._module, self._watch)
        yield from rest

    def prove(self, rewrite: Rewrite, scenes: Iterable[Scene]) -> Proof:
        """The proof of one rewrite over all scenes that come to its lines."""
        try:
            alone = self._transplant(rewrite.text, f"{rewrite.number}")
        except (UnfitError, SyntaxError) as reason:
            return Proof(NOT_RUNNABLE, f"the fix {reason}")
        proofs = [
            self._proof(rewrite, alone, scene)
            for scene in scenes
            if any(first <= n <= last for first, last in rewrite.lines for n in scene.lines)
        ]
        if not proofs:
            return Proof(NOT_RUNNABLE, "no inputs were found with which the lines of the fix run")
        order = (REFUTED, PROVEN, NOT_RUNNABLE)
        return min(proofs, key=lambda proof: order.index(proof.status))

    def _transplant(self, text: str, name: str) -> Transplant:
        path = str(self._module.__file__)
        return Transplant(self._module, path, self._text, text, self._folder / name)

    def _proof(self, rewrite: Rewrite, alone: Transplant, scene: Scene) -> Proof:
        try:
            outcome = _compared(alone, scene)
            if not outcome.stuck or outcome.counterexample is not None:
                return _proof_of(outcome, scene)
            return self._with_the_others(rewrite, alone, scene, outcome)
        except UnfitError as reason:
            return Proof(NOT_RUNNABLE, f"the fix {reason}")

    def _with_the_others(
        self, rewrite: Rewrite, alone: Transplant, scene: Scene, outcome: Outcome
    ) -> Proof:
        """The function does not compile with this fix alone: other findings may have to be mended too."""
        error = outcome.raised
        line = alone.line_of(error) if error is not None else 0
        if rewrite.together != rewrite.text:
            together = self._transplant(rewrite.together, f"{rewrite.number}-all")
            other = _compared(together, scene)
            if not other.stuck and other.counterexample is None and not other.unusable:
                return _proof_of(other, scene, "together with the other fixes here, ")
        if rewrite.is_new(line) or outcome.stuck.startswith("its gradient"):
            return Proof(REFUTED, f"the rewritten function does not compile: {outcome.stuck}")
        where = f" (line {line} of the rewritten file)" if line else ""
        agreed = f"it agrees with the original on {_inputs(outcome.tried)} eagerly"
        return Proof(
            NOT_RUNNABLE,
            f"{agreed}, but under XLA the function still fails elsewhere{where}: {outcome.stuck}",
        )


def _scene(program: Program, wanted: Wanted) -> Scene:
    """Run a program once to see which lines it comes to. Raises what it raises, and UnsupportedError."""
    flat = Flat(program)
    first = flat.tensors(program.calls[0])
    if not has_values(first):
        raise UnsupportedError("only the shapes of its inputs are known")
    ran = Lines()
    with at_most(60.0), watching(frozenset({wanted.path}), ran), eagerly.everything():
        flat(*first)
    others = []
    for call in program.calls[1:]:
        try:
            tensors = flat.tensors(call)
        except UnsupportedError:
            continue
        if has_values(tensors):
            others.append(tuple(tensors))
    parts = [name.partition(".")[0] for name in flat.names]
    believed = [wanted.parameters.get(part, {}) for part in parts]
    own = program.function.rpartition(".")[2] == wanted.qualname.rpartition(".")[2]
    given = Given(
        tuple(first),
        tuple(flat.is_whole),
        tuple(own and not one.get("dtype") for one in believed),
        tuple(not (one.get("shape") and one["shape"][0] is not None) for one in believed),
    )
    return Scene(program, flat, given, tuple(others), frozenset(ran.as_dict().get(wanted.path, ())))


def _compared(transplant: Transplant, scene: Scene) -> Outcome:
    call = transplant.call(scene.program.call)
    is_same = call is scene.program.call
    rewritten = scene.flat if is_same else Flat(replace(scene.program, call=call))
    trial = Trial(scene.flat, rewritten, scene.flat.names, transplant.applied, transplant.undone)
    return compare(trial, cases(scene.given, scene.others), _SECONDS)


def _proof_of(outcome: Outcome, scene: Scene, preface: str = "") -> Proof:
    if outcome.counterexample is not None:
        found = outcome.counterexample
        return Proof(REFUTED, f"{preface}the {found.where} differ {found.how}", found)
    if outcome.unusable:
        return Proof(NOT_RUNNABLE, outcome.unusable)
    if not outcome.compiled:
        why = "; ".join(outcome.notes) or "compiled numbers could not be compared"
        return Proof(NOT_RUNNABLE, f"it agrees eagerly on {_inputs(outcome.tried)}, but {why}")
    what = "outputs and gradients" if outcome.has_gradient else "outputs"
    said = f"{preface}{what} agree on {_inputs(outcome.tried)}, eagerly and under XLA"
    return Proof(PROVEN, "; ".join((said, *_asides(outcome, scene))))


def _asides(outcome: Outcome, scene: Scene) -> Iterator[str]:
    edges = outcome.labels[1:]
    if edges:
        more = f" and {len(edges) - _LABELS} other kinds" if len(edges) > _LABELS else ""
        yield f"among them {', '.join(edges[:_LABELS])}{more}"
    if outcome.original_compiles:
        yield f"the original does not compile ({outcome.original_compiles.partition('. ')[0][:_GIST]})"
    elif outcome.original_compiles is not None:
        yield "the original compiles on this machine too"
    if outcome.raises:
        yield f"on {_inputs(outcome.raises)} the original raises and the rewrite does not"
    yield from dict.fromkeys(outcome.notes)
    if scene.program.inputs:
        yield scene.program.inputs


def _inputs(count: int) -> str:
    return f"{count} input{'s' * (count != 1)}"
