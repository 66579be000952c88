"""Run a program as it was and as it is rewritten, on the same inputs from the same state, and compare."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from xlalint.fixes.proof import Counterexample
from xlalint.verify import eagerly, randomness
from xlalint.verify.alone.seal import TooLongError, at_most
from xlalint.verify.alone.search import gist
from xlalint.verify.gradients import GradientTap
from xlalint.verify.graphs import operations
from xlalint.verify.proving.cases import Case
from xlalint.verify.proving.own_operations import Operations
from xlalint.verify.proving.paths import Path
from xlalint.verify.proving.results import (
    GRADIENTS,
    OUTPUTS,
    Difference,
    Ran,
    difference,
    leaves,
    spelled,
    told,
)
from xlalint.verify.proving.state import State
from xlalint.verify.stages import compiling
from xlalint.verify.stages import difference as difference_of
from xlalint.verify.stages.tensors import all_nudged, on_host

EAGERLY, UNDER_XLA = "eagerly", "under XLA"
# Seconds of wall time for the first eager run, which may have to build things, and the least for another, which has ten
# times what the first took. A loop may never end for a value that is not finite; after so many of these no more are tried.
_FIRST_RUN, _ONE_RUN = 60.0, 2.0
_MOST_ENDLESS = 2
_NOISE = 1e-6  # of the largest number of a run
_MOST_SIGNATURES = 6  # programs compiled for one rewrite
_WITH_A_BODY = frozenset({"If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase"})
# XLA's kernels on the CPU leave NaN out where TensorFlow's hand it on, or take another element (TensorFlow 2.21).
_OTHERWISE_WITH_NAN = frozenset({"Max", "Min", "ArgMax", "ArgMin", "TopKV2", "Cast"})


@dataclass(frozen=True, slots=True)
class Trial:
    """One program in two versions. Both take the tensors of a case.

    `may_change` are parts (GRADIENTS) and traits (DTYPES) of results that the rewrite is said to change.
    `as_rewritten` opens around whatever runs `rewritten`, `as_original` within it, where `original` is to run once more. `names` are those of the tensors.
    """

    original: Callable[..., Any]
    rewritten: Callable[..., Any]
    names: Sequence[str]
    as_rewritten: Callable[[], AbstractContextManager[Any]]
    as_original: Callable[[], AbstractContextManager[Any]]
    may_change: frozenset[str] = frozenset()


@dataclass(slots=True)
class Outcome:
    """`tried` counts the inputs that both versions were run with; `raises` those on which the original raises and the
    rewrite does not; `labels` what was special about the inputs. `stuck` is why the rewrite does not compile, `raised` the
    error itself."""

    tried: int = 0
    compiled: int = 0
    raises: int = 0
    labels: list[str] = field(default_factory=list)
    has_gradient: bool = False
    counterexample: Counterexample | None = None
    stuck: str = ""
    raised: BaseException | None = None
    unusable: str = ""
    original_compiles: str | None = None
    notes: list[str] = field(default_factory=list)


def compare(
    trial: Trial,
    cases: Iterator[Case],
    seconds: float,
    *,
    compiles_original: bool = True,
    compiles_rewrite: bool = True,
) -> Outcome:
    """Compare the two versions on the cases, as many as `seconds` of wall time allow. Raises nothing for what they do.

    `compiles_original` asks whether the original compiles as well; without `compiles_rewrite` nothing runs under XLA.
    """
    outcome = Outcome()
    state = State()
    with randomness.reproducible() as dice, GradientTap() as tap, state:
        work = _Work(
            trial, state, dice, tap, time.monotonic() + seconds, outcome, compiles_original
        )
        usable = work.eagerly(cases)
        if usable and compiles_rewrite:
            work.under_xla(usable)
    return outcome


class _Work:
    def __init__(
        self,
        trial: Trial,
        state: State,
        dice: randomness.Dice,
        tap: GradientTap,
        deadline: float,
        outcome: Outcome,
        compiles_original: bool,
    ) -> None:
        self._compiles_original = compiles_original
        self._trial, self._state, self._dice, self._tap = trial, state, dice, tap
        self._deadline = deadline
        self._outcome = outcome
        self._trains = False
        self._seconds = _FIRST_RUN
        # The variables that each version reads: two modules have their own.
        self._watched: dict[int, list[Any]] = {}

    def eagerly(self, cases: Iterator[Case]) -> list[tuple[Case, Ran]]:
        """The cases on which both versions agree eagerly, with what they give; none where they do not on one."""
        outcome = self._outcome
        usable = self._originals(cases)
        if outcome.unusable:
            return []
        with self._trial.as_rewritten():
            for case, first in usable:
                other = self._eagerly(self._trial.rewritten, case.tensors)
                if other.is_endless:  # or the machine is busy
                    self._seconds = _FIRST_RUN
                    other = self._eagerly(self._trial.rewritten, case.tensors)
                if self._differs(case, first, other, EAGERLY):
                    return []
        outcome.tried = len(usable)
        outcome.labels = list(dict.fromkeys(case.label for case, _ in usable))
        outcome.has_gradient = any(_has_gradient(run) for _, run in usable)
        return usable

    # The original

    def _originals(self, cases: Iterator[Case]) -> list[tuple[Case, Ran]]:
        """The cases with which the original runs, and what it gives."""
        usable: list[tuple[Case, Ran]] = []
        failing: list[Case] = []
        endless = 0
        for case in cases:
            if usable and time.monotonic() > self._deadline:
                self._outcome.notes.append("not all edge cases were tried: they take too long")
                break
            run = self._eagerly(self._trial.original, case.tensors)
            if run.error and not usable:
                self._outcome.unusable = f"the original raises {run.error}"
                return []
            if run.is_endless:
                endless += 1
                if endless == _MOST_ENDLESS:
                    self._outcome.notes.append("not all edge cases were tried: some never end")
                    break
                continue
            if run.error:
                failing.append(case)
                continue
            if not usable and difference(
                run, self._eagerly(self._trial.original, case.tensors), is_compiled=False
            ):
                self._outcome.unusable = "the original gives other numbers each time it is called"
                return []
            usable.append((case, run))
        with self._trial.as_rewritten():
            for case in failing[:8]:
                self._outcome.raises += not self._eagerly(self._trial.rewritten, case.tensors).error
        return usable

    # Running

    def _eagerly(self, function: Callable[..., Any], tensors: Sequence[Any]) -> Ran:
        self._dice.restart()
        self._tap.clear()
        seconds, began = self._seconds, time.monotonic()
        try:
            with at_most(seconds), eagerly.everything():
                found = self._ran(function, tensors)
                self._seconds = min(seconds, max(_ONE_RUN, 10.0 * (time.monotonic() - began)))
                return found
        except TooLongError:
            return Ran(error=f"nothing within {seconds:.0f} s", is_endless=True)
        except (Exception, SystemExit) as error:
            return Ran(error=f"{type(error).__name__}: {gist(error)}", raised=error)
        finally:
            self._state.restore()

    def _ran(self, function: Callable[..., Any], tensors: Sequence[Any]) -> Ran:
        floats = [one for one in tensors if one.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            outputs = function(*tensors)
            total = _weighed(outputs)
        applied = self._tap.gradients()
        self._trains |= bool(applied)
        variables = self._state.leaves()
        if self._trains:
            return Ran(leaves([outputs, applied]), None, variables)
        gradients = None
        if total is not None:
            watched = self._watched.setdefault(id(function), list(tape.watched_variables()))
            with suppress(Exception):  # an operation without a gradient
                found = tape.gradient(
                    total,
                    [*floats, *watched],
                    unconnected_gradients=tf.UnconnectedGradients.ZERO,
                )
                gradients = leaves([tf.convert_to_tensor(one) for one in found])
        return Ran(leaves(outputs), gradients, variables)

    # Under XLA

    def under_xla(self, usable: Sequence[tuple[Case, Ran]]) -> None:
        """Compile the rewrite, and compare it with what the original gave eagerly."""
        by_signature: dict[Any, list[tuple[Case, Ran]]] = {}
        for case, run in usable:
            by_signature.setdefault(case.signature, []).append((case, run))
        for number, group in enumerate(list(by_signature.values())[:_MOST_SIGNATURES]):
            if number and time.monotonic() > self._deadline:
                self._outcome.notes.append("not all shapes were compiled: it takes too long")
                return
            self._compile_and_compare(group, is_first=not number)
            if self._outcome.counterexample or self._outcome.stuck:
                return

    def _compile_and_compare(self, group: Sequence[tuple[Case, Ran]], *, is_first: bool) -> None:
        outcome, specs = self._outcome, _specs(group[0][0])
        takes_gradient = not self._trains and (
            GRADIENTS in self._trial.may_change or any(_has_gradient(run) for _, run in group)
        )
        if is_first and self._compiles_original:
            outcome.original_compiles = self._why_not(self._trial.original, specs)
        with self._trial.as_rewritten():
            try:
                program = self._compiled(self._trial.rewritten, specs, takes_gradient)
            except compiling.TooLongError as error:
                outcome.unusable = str(error)
                return
            except Exception as error:
                if is_first:
                    self._stuck(error, specs, takes_gradient)
                else:
                    outcome.notes.append(f"with {group[0][0].label} it does not compile")
                return
            if program.is_incomparable:
                outcome.notes.append(program.is_incomparable)
                return
            for case, first in group:
                other = self._run_compiled(program, case.tensors)
                if self._differs(case, first, other, UNDER_XLA):
                    why = self._is_xlas_own(case, program, first, other)
                    if not why:
                        return
                    outcome.counterexample = None
                    outcome.notes.append(f"XLA and eager code differ by {why}")
                outcome.compiled += 1

    def _is_xlas_own(self, case: Case, program: _Compiled, first: Ran, other: Ran) -> str:
        """Why a difference between eager code and XLA is not the rewrite's doing: rounding, or an operation that the original
        runs too. Empty where it may be."""
        if other.error:
            return ""
        if self._outcome.original_compiles == "" and self._is_with_the_original(case, other):
            return "what the original does under XLA as well"
        if why := self._of_its_path(case, other):
            return why
        with suppress(Exception):
            assert self._outcome.counterexample is not None
            if self._outcome.counterexample.where != GRADIENTS:
                # What a gradient keeps of a branch cannot be looked at.
                program = self._compiled(self._trial.rewritten, _specs(case), False)
            compiled = on_host(compiling.in_time(lambda: program.concrete(*case.tensors)))
            self._state.restore()
            cause = difference_of.cause(program.function, case.tensors, compiled, self._dice)
            if cause.excuse:
                return cause.excuse
            is_special = _has_special(first, case.tensors)
            own = self._own_operations(case).types if is_special else set()
            blamed = {cause.op_type} & own
            if cause.op_type in _WITH_A_BODY | _OTHERWISE_WITH_NAN or not (cause.op or cause.words):
                # What differs first need not be what matters: an arm holds others.
                inside = {str(one.type) for one in operations(program.concrete.graph)}
                blamed |= inside & own & _OTHERWISE_WITH_NAN
            if blamed:
                which = ", ".join(sorted(blamed))
                return f"what {which}, which the original runs too, does with NaN or infinities"
        if _has_special(first, case.tensors) or _has_special(other, ()):
            if otherwise := self._own_operations(case).otherwise_under_xla():
                return f"what {otherwise}, which the original runs too, gives under XLA"
        return ""

    def _is_with_the_original(self, case: Case, other: Ran) -> bool:
        """Does the original, compiled, give the same?"""
        with suppress(Exception), self._trial.as_original():
            program = self._compiled(
                self._trial.original, _specs(case), other.gradients is not None
            )
            run = self._run_compiled(program, case.tensors)
            may_change = self._trial.may_change
            found = difference(run, other, is_compiled=True, may_change=may_change)
            return not run.error and found is None
        return False

    def _of_its_path(self, case: Case, other: Ran) -> str:
        """What the original's own operations, those that it comes to with these tensors, say of XLA; empty where nothing."""
        path, takes_gradient = Path(), other.gradients is not None
        with suppress(Exception), self._trial.as_original():
            with path.recorded():
                self._eagerly(self._trial.original, case.tensors)
            whole = self._whole(self._trial.original, takes_gradient)
            with path.taken(), eagerly.everything():
                self._dice.restart()
                straight = tf.function(
                    lambda *tensors: (whole(*tensors), list(path.asked)),
                    jit_compile=True,
                    autograph=False,
                ).get_concrete_function(*_specs(case))
            (outputs, gradients), asked = compiling.in_time(lambda: straight(*case.tensors))
            run = Ran(
                leaves(outputs),
                leaves(gradients) if takes_gradient else None,
                self._state.leaves(),
            )
            self._state.restore()
            if not path.is_answered_by([np.asarray(one) for one in asked]):
                return "how XLA rounds what the original asks in a test"
            may_change = self._trial.may_change
            if difference(run, other, is_compiled=True, may_change=may_change) is None:
                return "what the operations that the original comes to give under XLA as well"
        return ""

    def _own_operations(self, case: Case) -> Operations:
        """What the original runs eagerly, gradients included."""
        found = Operations()
        with self._trial.as_original(), found.recorded():
            self._eagerly(self._trial.original, case.tensors)
        return found

    def _stuck(self, error: Exception, specs: Any, takes_gradient: bool) -> None:
        why = f"{type(error).__name__}: {gist(error)}"
        is_gradient = takes_gradient and not self._why_not(self._trial.rewritten, specs)
        self._outcome.stuck = f"its gradient does not compile ({why})" if is_gradient else why
        self._outcome.raised = error

    def _why_not(self, function: Callable[..., Any], specs: Any) -> str:
        """Why a version does not compile; empty where it does."""
        try:
            self._compiled(function, specs, False)
        except Exception as error:
            return f"{type(error).__name__}: {gist(error)}"
        return ""

    def _compiled(
        self, function: Callable[..., Any], specs: Any, takes_gradient: bool
    ) -> _Compiled:
        """The program for these shapes, lowered without any value known. Raises what tracing or XLA raises."""
        self._dice.restart()
        self._dice.in_loop = False
        whole = self._whole(function, takes_gradient)
        jitted = tf.function(whole, jit_compile=True, autograph=False)
        concrete = jitted.get_concrete_function(*specs)
        compiling.lowered(concrete, specs)
        ops = list(operations(concrete.graph))
        why = ""
        if unfit := randomness.sign_free_ops(ops):
            why = f"compiled numbers were not compared: {unfit[0].type} is unique up to signs only"
        elif random := randomness.random_ops(ops):
            why = f"compiled numbers were not compared: {random[0].type} draws others under XLA"
        elif self._dice.in_loop:
            why = "compiled numbers were not compared: a random number is drawn in a loop"
        return _Compiled(whole, concrete, takes_gradient, why)

    def _whole(self, function: Callable[..., Any], takes_gradient: bool) -> Callable[..., Any]:
        """A version as a function of tensors that returns what it returns, and gradients."""
        watched = self._watched.get(id(function), [])

        def whole(*tensors: Any) -> Any:
            self._tap.clear()
            floats = [one for one in tensors if one.dtype.is_floating]
            with tf.GradientTape() as tape:
                tape.watch(floats)
                outputs = function(*tensors)
                total = _weighed(outputs) if takes_gradient else None
            if total is None:
                applied = self._tap.gradients() if self._trains else []
                return _returnable([outputs, applied] if self._trains else outputs), []
            found = tape.gradient(
                total,
                [*floats, *watched],
                unconnected_gradients=tf.UnconnectedGradients.ZERO,
            )
            return _returnable(outputs), [tf.convert_to_tensor(one) for one in found]

        return whole

    def _run_compiled(self, program: _Compiled, tensors: Sequence[Any]) -> Ran:
        try:
            outputs, gradients = compiling.in_time(lambda: program.concrete(*tensors))
            return Ran(
                leaves(outputs),
                leaves(gradients) if program.takes_gradient else None,
                self._state.leaves(),
            )
        except Exception as error:
            return Ran(error=f"{type(error).__name__}: {gist(error)}", raised=error)
        finally:
            self._state.restore()

    # Comparing

    def _differs(self, case: Case, first: Ran, other: Ran, how: str) -> bool:
        """Whether the two runs differ by more than rounding; the counterexample is noted."""
        if other.error and case.is_mixed:
            return False
        if other.error:
            found = Difference(OUTPUTS, 0, float("inf"), other.error)
        else:
            may_change = self._trial.may_change
            compared = difference(first, other, is_compiled=how == UNDER_XLA, may_change=may_change)
            if compared is None or (
                (compared.may_be_rounding or _is_noise(compared.where, first, other, case))
                and self._moves(case, first, compared)
            ):
                return False
            found = compared
        self._outcome.counterexample = Counterexample(
            inputs=f"{case.label}: {_inputs(self._trial.names, case.tensors)}",
            original=told(first, found.where, found.index, other),
            rewritten=told(other, found.where, found.index, first),
            where=found.where,
            how=how,
        )
        return True

    def _moves(self, case: Case, first: Ran, found: Difference) -> bool:
        """Would the original differ as much if its inputs moved by their last bit?"""
        with self._trial.as_original():
            moved = self._eagerly(self._trial.original, all_nudged(case.tensors))
        by_itself = None if moved.error else difference(first, moved, is_compiled=False)
        return by_itself is not None and by_itself.error > found.error / 20


@dataclass(frozen=True, slots=True)
class _Compiled:
    function: Callable[..., Any]
    concrete: Any
    takes_gradient: bool
    is_incomparable: str


def _specs(case: Case) -> list[Any]:
    return [tf.TensorSpec(one.shape, one.dtype) for one in case.tensors]


def _has_gradient(run: Ran) -> bool:
    """Does anything depend on a float input or a variable, smoothly?"""
    return any(np.any(leaf.array.astype("float64") != 0) for leaf in run.gradients or ())


def _has_special(run: Ran, tensors: Sequence[Any]) -> bool:
    """Is there a NaN or an infinity in what was given, or in what eager code made of it?"""
    made = [leaf.array for leaf in (*run.outputs, *(run.gradients or ())) if leaf.kind == "float"]
    given = [np.asarray(one) for one in tensors if one.dtype.is_floating]
    return any(not np.isfinite(one.astype("float64")).all() for one in (*made, *given))


def _is_noise(where: str, first: Ran, other: Ran, case: Case) -> bool:
    """Is what both gave there nothing beside the other numbers of the run: what is left of terms that cancel out?"""
    values = [np.asarray(one, "float64") for one in case.tensors if one.dtype.is_floating]
    values += [leaf.array.astype("float64") for leaf in first.outputs if leaf.kind == "float"]
    largest = max((np.abs(one[np.isfinite(one)]).max(initial=1.0) for one in values), default=1.0)
    parts = [*(first.part(where) or ()), *(other.part(where) or ())]
    return all(
        leaf.kind == "float"
        and bool((np.abs(leaf.array.astype("float64")) < _NOISE * largest).all())
        for leaf in parts
    )


def _weighed(outputs: Any) -> Any:
    """One number in which each float that is returned counts differently; None without floats."""
    found = [
        one
        for one in tf.nest.flatten(outputs, expand_composites=True)
        if tf.is_tensor(one) and one.dtype.is_floating
    ]
    return tf.add_n([_weight(one) for one in found]) if found else None


def _weight(leaf: Any) -> Any:
    wide = tf.cast(leaf, tf.float32)
    bounded = tf.where(tf.math.is_finite(wide), wide, tf.zeros_like(wide))
    return tf.reduce_sum(wide * tf.stop_gradient(1.5 + tf.tanh(bounded)))


def _returnable(outputs: Any) -> Any:
    """Without what is None: a compiled program returns numbers."""
    kept = tf.nest.flatten(outputs, expand_composites=True)
    return [one for one in kept if one is not None]


def _inputs(names: Sequence[str], tensors: Sequence[Any]) -> str:
    return ", ".join(f"{name} = {spelled(one)}" for name, one in zip(names, tensors))


@contextmanager
def as_it_is() -> Iterator[None]:
    """For a rewrite that is another function already."""
    yield


__all__ = ["EAGERLY", "GRADIENTS", "UNDER_XLA", "Outcome", "Trial", "as_it_is", "compare"]
