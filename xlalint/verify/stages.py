"""Take one program through the stages: eager, trace, lower from shapes, run, compare, gradient, other values.

The order is the point. Running compiled code on a CPU is not a verdict: TensorFlow bakes the values of arguments into the
program and compiles again for each value, which a TPU, fed from a queue, cannot do. Lowering from shapes alone shows what a
TPU would be asked to compile.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from xlalint.verify import compare, eagerly, hlo, kernels, offenders, randomness, retrace
from xlalint.verify.coverage import Lines, watching
from xlalint.verify.gradients import GradientTap
from xlalint.verify.graphs import operations
from xlalint.verify.locate import Locator
from xlalint.verify.offload import Offloaded
from xlalint.verify.patching import Patches
from xlalint.verify.program import Flat, Program, UnsupportedError, has_values
from xlalint.verify.records import (
    EAGER,
    FAILED,
    GRADIENT,
    LOWER,
    NOTE,
    NUMBERS,
    OK,
    RUN,
    SKIPPED,
    TRACE,
    VALUES,
    Evidence,
    Failure,
    Place,
    Stage,
    TargetReport,
)

# Programs that XLA's CPU back end alone cannot compile (`tf.random.shuffle`: "Expected comparison type SIGNED"); a TPU can.
_CPU_ONLY = ("Expected comparison type SIGNED",)

_OUT_OF_SCOPE = "is out of scope and cannot be used here"
_FOREIGN_RESOURCE = "variable.var() && variable.var()->is_initialized"


@dataclass(frozen=True, slots=True)
class Tools:
    """What the stages need besides the program: where errors are, whose lines to watch, whom to tell of progress."""

    locator: Locator
    flagged_files: frozenset[str]
    offloaded: Offloaded
    on_stage: Callable[[str, TargetReport], None]


@dataclass(slots=True)
class _Progress:
    """What is known of a program so far."""

    stages: list[Stage] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    lines: Lines = field(default_factory=Lines)
    ops: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    bounded: dict[str, list[int]] = field(default_factory=dict)
    per_value: list[str] | None = None
    eager_outputs: list[Any] | None = None


def verify(program: Program, tools: Tools) -> TargetReport:
    """The report on `program`. Raises nothing for what the program does; a crash of XLA ends this process."""
    done = _Progress()
    try:
        _Run(program, tools, done).all_stages()
    except UnsupportedError as reason:
        done.stages.append(Stage(TRACE, SKIPPED, 0.0, str(reason)))
    return _report(program, done)


def _report(program: Program, done: _Progress) -> TargetReport:
    return TargetReport(
        id=program.id,
        function=program.function,
        path=program.path,
        line=program.line,
        origin=program.origin,
        status=_status(done),
        stages=tuple(done.stages),
        failures=tuple(done.failures),
        evidence=Evidence(done.lines.as_dict(), done.ops, done.bounded, done.per_value),
        calls=program.n_calls,
        traces=program.n_traces,
        notes=program.notes,
    )


def _status(done: _Progress) -> str:
    if any(stage.status == FAILED for stage in done.stages):
        return FAILED
    ran = {stage.name for stage in done.stages if stage.status == OK}
    return OK if LOWER in ran else SKIPPED


class _Run:
    def __init__(self, program: Program, tools: Tools, done: _Progress) -> None:
        self._program = program
        self._tools = tools
        self._done = done
        self._flat = Flat(program)
        self._first = self._flat.tensors(program.calls[0])
        self._has_values = has_values(self._first)
        self._specs = self._flat.specs(program.calls[0])
        self._place = Place(program.path, program.line, 0, program.function)
        self._concrete: Any = None
        self._trains = False
        self._eager_error = ""

    def all_stages(self) -> None:
        if self._has_values:
            self._stage(EAGER, self._eager)
        concrete = self._stage(TRACE, self._trace)
        if concrete is None:
            if any(one.stage == TRACE and one.kind == "symbolic" for one in self._done.failures):
                self._ask_on()
            return
        self._concrete = concrete
        self._note_operations(concrete.graph)
        lowered = self._stage(LOWER, lambda: self._lower(concrete))
        if not self._has_values:
            self._skip(RUN, "no values were seen, only shapes")
            return
        if lowered is None and not self._lowering_may_pass_with_values():
            return
        self._stage(RUN, lambda: self._run(concrete))
        if self._passed(RUN) and self._passed(EAGER):
            self._stage(NUMBERS, lambda: self._numbers(concrete))
        elif self._passed(RUN) and self._eager_error:
            self._stage(
                NUMBERS,
                lambda: _Said(
                    FAILED, f"eager code raises {self._eager_error}; XLA returns a result"
                ),
            )
        if lowered is not None and self._passed(RUN):
            self._stage(GRADIENT, lambda: self._gradient(concrete))
        if self._passed(RUN):
            self._stage(VALUES, lambda: self._values(concrete))

    # Stages. Each returns `_Said`, something else (then it passed) or raises; `_stage` keeps the books.

    def _eager(self) -> _Said:
        try:
            self._run_eagerly(self._first)
        except tf.errors.OpError as error:
            self._eager_error = type(error).__name__
            raise
        return _Said(OK, "")

    def _trace(self) -> Any:
        with GradientTap() as tap:
            concrete = self._traced()
        self._trains = tap.has_heard
        return concrete

    def _traced(self) -> Any:
        traced = tf.function(self._flat, jit_compile=True, autograph=False)
        patches = Patches()
        retrace.anew(patches)
        try:
            with watching(self._tools.flagged_files, self._done.lines):
                return traced.get_concrete_function(*self._specs)
        finally:
            patches.undo()

    def _ask_on(self) -> None:
        """After a tensor was asked for its value while tracing: who else asks?"""
        known = {
            (one.place.path, one.place.line) for one in self._done.failures if one.place is not None
        }
        with self._tools.locator.answering() as asked, contextlib.suppress(Exception):
            self._traced()
        for failure in asked:
            if failure.place is not None and (failure.place.path, failure.place.line) not in known:
                self._done.failures.append(failure)

    def _lower(self, concrete: Any) -> _Said:
        text = _lowered(concrete, self._specs)
        self._done.bounded = hlo.bounded_lines(text)
        return _Said(OK, _bounded_words(self._tools.locator.of_users(self._done.bounded)))

    def _run(self, concrete: Any) -> _Said:
        with _Kept(concrete):
            _on_host(concrete(*self._first))
        if not self._passed(LOWER):
            return _Said(OK, "only because the values are known: each new value compiles again")
        return _Said(OK, "")

    def _numbers(self, concrete: Any) -> _Said:
        unfit = randomness.sign_free_ops(operations(concrete.graph))
        if unfit:
            return _Said(SKIPPED, f"not compared: {unfit[0].type} is unique up to signs only")
        with ExitStack() as stack:
            dice = stack.enter_context(randomness.reproducible())
            tap = stack.enter_context(GradientTap()) if self._trains else None
            jitted = tf.function(self._tapped(tap), jit_compile=True, autograph=False)
            traced = jitted.get_concrete_function(*self._specs)
            random = randomness.random_ops(operations(traced.graph))
            if random or dice.in_loop:
                what = random[0].type if random else "a random number drawn in a loop"
                return _Said(SKIPPED, f"not compared: {what} draws other numbers under XLA")
            with _Kept(traced):
                compiled = _on_host(traced(*self._first))
            with _Kept(traced):
                dice.restart()
                eager = _on_host(self._run_eagerly(self._first, self._tapped(tap)))
            difference = self._differ(eager, compiled)
            if difference is None:
                return _Said(OK, "")
            if self._moves_by_itself(traced, dice, tap, eager, difference.error):
                return _Said(OK, "differ within what one bit of the inputs changes")
        return _Said(FAILED, difference.what)

    def _differ(self, eager: _Result, compiled: _Result) -> compare.Difference | None:
        if difference := compare.outputs(eager.outputs, compiled.outputs):
            return difference
        if len(eager.gradients) != len(compiled.gradients):
            return None  # applied inside a nested function, whose tensors do not leave it
        return compare.gradients(eager.gradients, compiled.gradients)

    def _moves_by_itself(
        self, traced: Any, dice: Any, tap: Any, eager: _Result, error: float
    ) -> bool:
        """Would eager code differ as much if its inputs and variables moved by their last bit?"""
        with _Kept(traced, move=True):
            dice.restart()
            moved = _on_host(
                self._run_eagerly([_nudged(tensor) for tensor in self._first], self._tapped(tap))
            )
        by_itself = compare.largest_error(
            [*eager.outputs, *eager.gradients], [*moved.outputs, *moved.gradients]
        )
        return by_itself > error / 20

    def _gradient(self, concrete: Any) -> _Said:
        if self._trains:
            return _Said(SKIPPED, "is part of the step")
        variables = list(concrete.graph.trainable_variables)
        differentiable = [
            index for index, tensor in enumerate(self._first) if tensor.dtype.is_floating
        ]
        if not variables and not differentiable:
            return _Said(SKIPPED, "no float input and no variable")
        with randomness.reproducible() as dice:

            def gradients(*tensors: Any) -> Any:
                watched = [tensors[index] for index in differentiable]
                with tf.GradientTape() as tape:
                    tape.watch(watched)
                    total = _sum_of_floats(self._flat(*tensors))
                found = tape.gradient(total, [*watched, *variables]) if total is not None else []
                return [tf.convert_to_tensor(one) for one in found if one is not None]

            jitted = tf.function(gradients, jit_compile=True, autograph=False)
            traced = jitted.get_concrete_function(*self._specs)
            if not traced.outputs:
                return _Said(
                    SKIPPED, "no gradient flows from inputs or variables to a float output"
                )
            try:
                _lowered(traced, self._specs)
                with _Kept(traced):
                    compiled = _on_host(traced(*self._first))
            except Exception as error:
                raise _AtGraphError(error, traced) from error
            if (
                randomness.random_ops(operations(traced.graph))
                or dice.in_loop
                or not self._passed(EAGER)
            ):
                return _Said(OK, "compiles; not compared")
            with _Kept(traced):
                dice.restart()
                eager = _on_host(self._run_eagerly(self._first, gradients))
        difference = compare.gradients(eager.outputs, compiled.outputs)
        if difference is not None and self._passed(NUMBERS):
            return _Said(FAILED, f"gradient: {difference.what}")
        return _Said(OK, "")

    def _values(self, concrete: Any) -> _Said:
        if len(self._program.calls) < 2:
            return _Said(SKIPPED, "only one call was seen")
        second = self._flat.tensors(self._program.calls[1])
        if [tensor.shape for tensor in second] != [tensor.shape for tensor in self._first]:
            return _Said(SKIPPED, "the calls have different shapes: each compiles")
        base = _lowered(concrete, self._first)
        blamed = []
        for index, name in enumerate(self._flat.names):
            if _same(self._first[index], second[index]):
                continue
            changed = [*self._first[:index], second[index], *self._first[index + 1 :]]
            if not hlo.same_program(base, _lowered(concrete, changed)):
                blamed.append(name)
        self._done.per_value = blamed
        if blamed:
            return _Said(NOTE, f"compiles again for each value of {', '.join(blamed)}")
        return _Said(OK, "")

    # Bookkeeping.

    def _stage(self, name: str, work: Callable[[], Any]) -> Any:
        """What `work` returned, None if it failed; the outcome is in the books."""
        # What is known so far goes out first: the stage may be the last thing that this process does.
        self._tools.on_stage(name, _report(self._program, self._done))
        started = time.monotonic()
        status, detail, result = OK, "", None
        try:
            result = work()
        except Exception as error:
            status, detail = self._failed(name, error)
        if isinstance(result, _Said):
            status, detail = result.status, result.detail
            if status == FAILED:  # compiled, and computes something else
                self._done.failures.append(Failure(name, "numbers", detail, place=self._place))
        self._done.stages.append(Stage(name, status, time.monotonic() - started, detail))
        return result

    def _failed(self, name: str, error: Exception) -> tuple[str, str]:
        message = str(error)
        if _OUT_OF_SCOPE in message:
            return SKIPPED, "uses tensors of the function around it, and is compiled with that"
        if _FOREIGN_RESOURCE in message:
            return self._failed_with_a_host_resource(name)
        if name == RUN and self._passed(LOWER) and any(words in message for words in _CPU_ONLY):
            return NOTE, "XLA's CPU back end cannot compile this; lowering passes, so a TPU may"
        failures, is_all = self._failures_of(name, error)
        self._done.failures.extend(failures)
        if name == GRADIENT and not self._program.is_differentiated:
            return NOTE, f"has no gradient under XLA: {failures[0].message}"
        return FAILED, failures[0].message + (
            "" if is_all else "; mend this to see what else fails"
        )

    def _failures_of(self, name: str, error: Exception) -> tuple[list[Failure], bool]:
        """(what an error tells of, is that all?)"""
        locator, names = self._tools.locator, self._flat.names
        if isinstance(error, _AtGraphError):
            failures, is_all = offenders.failures(
                name, error.error, error.concrete, self._lowers, locator, names
            )
            if not any(failure.place for failure in failures):
                # What nested functions became for the gradient has no Python graph: the forward program has.
                failures = locator.compiler_error(name, error.error, self._concrete.graph)
            return failures, is_all
        if name == LOWER:
            return offenders.failures(name, error, self._concrete, self._lowers, locator, names)
        if name in (EAGER, TRACE, GRADIENT):
            return [locator.python_error(name, error)], True
        return locator.compiler_error(name, error, self._concrete.graph), True

    def _lowers(self, concrete: Any) -> None:
        _lowered(concrete, self._specs)

    def _failed_with_a_host_resource(self, name: str) -> tuple[str, str]:
        """Lowering takes variables and no other resource: a table, a summary writer. Their operations have no kernel."""
        missing = kernels.missing(self._concrete.graph)
        failures = self._tools.locator.missing_kernels(name, missing)
        self._done.failures.extend(failures)
        if failures:
            return FAILED, failures[0].message
        return SKIPPED, "holds a resource that lives on the host"

    def _skip(self, name: str, why: str) -> None:
        self._done.stages.append(Stage(name, SKIPPED, 0.0, why))

    def _passed(self, name: str) -> bool:
        return any(stage.name == name and stage.status in (OK, NOTE) for stage in self._done.stages)

    def _lowering_may_pass_with_values(self) -> bool:
        return all(
            failure.kind == "not-constant"
            for failure in self._done.failures
            if failure.stage == LOWER
        )

    def _note_operations(self, graph: Any) -> None:
        for op in operations(graph) if self._tools.flagged_files else ():
            made_at = self._tools.locator.line_of(op)
            if made_at is not None and made_at[0] in self._tools.flagged_files:
                types = self._done.ops.setdefault(made_at[0], {}).setdefault(str(made_at[1]), [])
                if op.type not in types:
                    types.append(op.type)

        for path, line in self._tools.offloaded.lines:
            if line in self._done.lines.as_dict().get(path, ()):
                self._done.ops.setdefault(path, {}).setdefault(str(line), []).append("PrintV2")

    def _run_eagerly(self, tensors: Sequence[Any], function: Any = None) -> Any:
        with eagerly.everything():
            return (function or self._flat)(*tensors)

    def _tapped(self, tap: GradientTap | None) -> Callable[..., Any]:
        """The program, returning its outputs and, where it applies gradients, those too."""

        def run(*tensors: Any) -> Any:
            if tap is None:
                return self._flat(*tensors)
            tap.clear()
            outputs = self._flat(*tensors)
            return _Tapped(outputs, tap.gradients()).as_structure()

        return run


@dataclass(frozen=True, slots=True)
class _Said:
    """What a stage has to say: its status, and a phrase for the reader."""

    status: str
    detail: str


class _AtGraphError(Exception):
    """A compiler's error and the concrete function that it is about."""

    def __init__(self, error: Exception, concrete: Any) -> None:
        super().__init__(str(error))
        self.error = error
        self.concrete = concrete


@dataclass(frozen=True, slots=True)
class _Tapped:
    outputs: Any
    gradients: list[Any]

    def as_structure(self) -> Any:
        return {"outputs": self.outputs, "gradients": self.gradients}


@dataclass(frozen=True, slots=True)
class _Result:
    outputs: list[Any]
    gradients: list[Any]


def _on_host(result: Any) -> _Result:
    """The arrays of a result: outputs, and gradients where the program was tapped."""
    if isinstance(result, dict) and set(result) == {"outputs", "gradients"}:
        return _Result(_arrays(result["outputs"]), _arrays(result["gradients"]))
    return _Result(_arrays(result), [])


def _arrays(structure: Any) -> list[Any]:
    leaves = tf.nest.flatten(structure, expand_composites=True)
    tensors = [
        leaf
        for leaf in leaves
        if tf.is_tensor(leaf) or isinstance(leaf, (np.ndarray, np.generic, float, int))
    ]
    return [np.asarray(tensor) for tensor in tensors]


def _lowered(concrete: Any, flat: Sequence[Any]) -> str:
    """HLO text of a concrete function for TensorSpecs (no values to bake in) or tensors (baked where XLA asks)."""
    from tensorflow.python.eager.polymorphic_function import compiler_ir

    text: str = compiler_ir.from_concrete_function(concrete, list(flat))(stage="hlo")
    return text


def _bounded_words(lines: Mapping[str, Sequence[int]]) -> str:
    places = [f"{Path(path).name}:{line}" for path, numbers in lines.items() for line in numbers]
    if not places:
        return ""
    more = f" and {len(places) - 3} more lines" if len(places) > 3 else ""
    return f"dimensions that depend on data, from {', '.join(places[:3])}{more}"


def _sum_of_floats(outputs: Any) -> Any:
    leaves = [
        leaf for leaf in tf.nest.flatten(outputs, expand_composites=True) if tf.is_tensor(leaf)
    ]
    floats = [tf.reduce_sum(tf.cast(leaf, tf.float32)) for leaf in leaves if leaf.dtype.is_floating]
    return tf.add_n(floats) if floats else None


def _same(left: Any, right: Any) -> bool:
    return bool(np.array_equal(np.asarray(left), np.asarray(right)))


def _nudged(tensor: Any) -> Any:
    if not tensor.dtype.is_floating:
        return tensor
    step = {"bfloat16": 2.0**-8, "float16": 2.0**-10, "float64": 2.0**-52}.get(
        tensor.dtype.name, 2.0**-23
    )
    return tensor * tf.cast(1.0 + step, tensor.dtype)


class _Kept:
    """Put back the variables that a function can change. `move` lets floats start one bit away."""

    def __init__(self, concrete: Any, move: bool = False) -> None:
        self._handles = [
            (handle, dtype)
            for handle in concrete.captured_inputs
            if handle.dtype == tf.resource and (dtype := _variable_dtype(handle)) is not None
        ]
        self._move = move
        self._values: list[Any] = []

    def __enter__(self) -> None:
        self._values = [
            tf.raw_ops.ReadVariableOp(resource=h, dtype=dtype) for h, dtype in self._handles
        ]
        if self._move:
            for (handle, _), value in zip(self._handles, self._values, strict=True):
                tf.raw_ops.AssignVariableOp(resource=handle, value=_nudged(value))

    def __exit__(self, *_: object) -> None:
        for (handle, _), value in zip(self._handles, self._values, strict=True):
            tf.raw_ops.AssignVariableOp(resource=handle, value=value)


def _variable_dtype(handle: Any) -> Any:
    data = getattr(handle, "_handle_data", None)
    described = getattr(data, "shape_and_type", None) or getattr(
        getattr(data, "shape_inference", None), "shape_and_type", None
    )
    return tf.as_dtype(described[0].dtype) if described else None
