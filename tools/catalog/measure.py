"""The measurements of one API, step by step. Each step is announced before it runs, because it may kill the process."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tools.catalog import bounded
from tools.catalog.compiler import Traced, Verdict, lower_program, trace
from tools.catalog.forms import form
from tools.catalog.gradient import differentiates_eagerly, gradient
from tools.catalog.kept import gradient_in_arm, gradient_in_step
from tools.catalog.operations import OperationProbe
from tools.catalog.program import Program, tensors_of
from tools.catalog.subjects import FunctionSubject, Subject
from tools.catalog.variations import more_numbers, optional_numbers, variations

Step = Callable[[str, Callable[[], dict[str, Any]]], dict[str, Any] | None]

_DTYPES = ("bfloat16", "complex128", "complex64", "float16", "float64", "int32", "int64")
# An op without a kernel for CPUs may have one for XLA; some functions refuse eager execution.
_GRAPH_ONLY = (
    "Could not find device for node",
    "is not supported when eager execution is enabled",
    "is not compatible with eager execution",
)
# What is measured under another name too, or is an operation itself: dtypes and data-sized arguments are left out there.
_REPEATED = (
    "tf.compat.v1.",
    "tf_keras.",
    "tf.raw_ops.",
    "tf.experimental.numpy.",
    "tf.Tensor.",
    "keras.applications.",
)
_WITHOUT_DTYPES = tuple(each for each in _REPEATED if each != "tf.compat.v1.")
_PYTHON = (bool, int, float, complex, str, bytes, np.ndarray, np.generic, tf.DType, tf.TensorShape)


def measure(name: str, subject: Subject, step: Step, probe: OperationProbe | None) -> None:
    """Run every step for one API. `step` runs and reports one, and gives None for one that killed its process before.

    Without a `probe` the single operations are left out.
    """
    arguments = _accepted_call(subject, step)
    if arguments is None:
        return
    if name.startswith(_WITHOUT_DTYPES):
        probe = None  # the graphs of other APIs hold their operations
    may_freeze = isinstance(subject, FunctionSubject)  # what a layer is called with is always data
    default = step("default", lambda: _default(subject.program(arguments), may_freeze))
    if default is None or "status" not in default:
        return
    if step("form", lambda: form(subject, arguments)) is None:
        step("form:traced", lambda: form(subject, arguments, eagerly=False))
    frozen = frozenset(default["frozen"])
    program = subject.program(arguments).freeze(*frozen)
    for signature, run in probe.unseen(program) if probe else ():
        step(f"op:{signature}", run)
    if default["status"] == "compiles":
        step("gradient", lambda: gradient(program))
        _kept(name, subject, arguments, frozen, step)
        for signature, run in probe.unseen_backward(program) if probe else ():
            step(f"op:{signature}", run)
        _constants(subject, arguments, program, step)
        if isinstance(subject, FunctionSubject) and not name.startswith(_REPEATED):
            _data_sized(subject, arguments, program, step)
    _conditions(name, subject, arguments, frozen, step)
    if isinstance(subject, FunctionSubject) and not name.startswith(_WITHOUT_DTYPES):
        _dtypes(program, step)


def _accepted_call(subject: Subject, step: Step) -> dict[str, Any] | None:
    """The first arguments that the API takes eagerly and in a graph; failing that, eagerly."""
    eager_only: dict[str, Any] | None = None
    for index, arguments in enumerate(subject.calls()):
        outcome = step(f"inputs:{index}", functools.partial(_try, subject, arguments))
        if outcome is None:  # malformed arguments can end a process; that says nothing of XLA
            continue
        if outcome.get("graph"):
            return arguments
        if outcome.get("eager_only") and eager_only is None:
            eager_only = arguments
    return eager_only


def _try(subject: Subject, arguments: Mapping[str, Any]) -> dict[str, Any]:
    try:
        program = subject.program(arguments)
        _eager(program)
    except Exception as error:
        return {"error": _first_line(error)}
    try:
        trace(program)
    except Exception as error:
        by_nature = isinstance(error, NotImplementedError) or subject.is_chosen(arguments)
        return {"eager_only": by_nature and _runs_eagerly(program), "error": _first_line(error)}
    return {"graph": True}


def _runs_eagerly(program: Program) -> bool:
    try:
        program.eager()
    except Exception:
        return False
    return True


def _eager(program: Program) -> Any:
    """What the call returns eagerly; None where only a graph can hold it. Raises for arguments that it refuses."""
    try:
        return program.eager()
    except Exception as error:
        if any(sign in str(error) for sign in _GRAPH_ONLY):
            return None
        raise


def _default(program: Program, may_freeze: bool) -> dict[str, Any]:
    """What the call returns, the ops it emits, and whether it compiles once its sizes are constants."""
    eager = _eager(program)
    try:
        traced = trace(program)
    except Exception as error:
        return {"status": "fails", "reason": "eager-only", "frozen": [], "error": _first_line(error),
                "returns": kind_of(eager)}  # fmt: skip
    returns = _kind(eager, traced.result)
    facts: dict[str, Any] = {"ops": list(traced.ops), "returns": returns, "frozen": []}
    if not traced.ops and not tensors_of(traced.result):
        return {**facts, "not_compute": True}
    verdict, frozen = lower_program(program), frozenset[str]()
    if may_freeze and verdict.reason == "constant":
        verdict, frozen = _with_constants(program, verdict)
    facts |= {**verdict.plain(), "frozen": sorted(frozen), **_first_output(program, traced)}
    if verdict.status != "compiles":
        facts["unknown_sizes"] = _unknown_sizes(traced)
    return facts


def _kind(eager: Any, traced: Any) -> str:
    """In a graph a check or a print is an operation, and a value not known yet is None; eagerly each is itself."""
    kind = kind_of(traced)
    if eager is None and kind == "object":
        return "none"
    return kind_of(eager) if kind == "none" else kind


def _with_constants(program: Program, verdict: Verdict) -> tuple[Verdict, frozenset[str]]:
    """Find the fewest arguments that must be constants for XLA to lower the call, and lower it so."""
    names = program.tensor_parameters()
    for name in names:
        alone = lower_program(program.freeze(name))
        if alone.reason != "constant":
            return alone, frozenset({name})
    frozen = program.freeze(*names)
    if lower_program(frozen).reason == "constant":
        return verdict, frozenset()
    for name in names:
        if lower_program(frozen.thaw(name)).reason != "constant":
            frozen = frozen.thaw(name)
    return lower_program(frozen), frozen.frozen


def kind_of(result: Any) -> str:
    """`tensor`, `structure` (tensors inside), `python`, `none` or `object`."""
    if result is None:
        return "none"
    if isinstance(result, tf.Tensor):
        return "tensor"
    if isinstance(result, _PYTHON):
        return "python"
    if tensors_of(result):
        return "structure"
    if isinstance(result, (list, tuple, dict, set, frozenset)):
        leaves = tf.nest.flatten(list(result) if isinstance(result, (set, frozenset)) else result)
        plain = all(leaf is None or isinstance(leaf, _PYTHON) for leaf in leaves)
        return "python" if plain else "object"
    return "object"


def _first_output(program: Program, traced: Traced) -> dict[str, Any]:
    inputs, outputs = program.inputs(), tensors_of(traced.result)
    if not outputs:
        return {}
    facts: dict[str, Any] = {
        "output_dtype": outputs[0].dtype.name,
        "output_rank": outputs[0].shape.rank,
    }
    if inputs:
        facts |= {"input_dtype": inputs[0].dtype.name, "input_rank": inputs[0].shape.rank}
    return facts


def _unknown_sizes(traced: Traced) -> list[int]:
    """Outputs whose static shape TensorFlow itself could not tell, though every input's is known."""
    return [
        index
        for index, each in enumerate(tensors_of(traced.result))
        if not each.shape.is_fully_defined()
    ]


def _constants(
    subject: Subject, arguments: Mapping[str, Any], program: Program, step: Step
) -> None:
    """Give each number-like argument as a tensor that arrives at run time, and each list of numbers as one of tensors."""
    if not isinstance(subject, FunctionSubject):
        return
    for parameter in subject.parameters:
        value = arguments.get(parameter.name, parameter.default)
        number = next(
            (n for n in _numbers(parameter, value) if _takes(program, parameter, n)), None
        )
        if number is None:
            continue
        whole = functools.partial(_as_tensor, program, parameter.name, number)
        step(f"argument:{parameter.name}", whole)
        if isinstance(number, (list, tuple)):
            parts = functools.partial(_as_tensors, program, parameter.name, number)
            step(f"parts:{parameter.name}", parts)


def _takes(program: Program, parameter: inspect.Parameter, value: Any) -> bool:
    """Whether the call runs eagerly with this value, where it is not the one that it has anyway."""
    given = program.arguments.get(parameter.name, parameter.default)
    return given is value or _is_taken(program.replace(**{parameter.name: value}))


def _is_taken(program: Program) -> bool:
    """Whether the call runs eagerly, or would if its operation had a kernel for this machine."""
    try:
        _eager(program)
    except Exception:
        return False
    return True


def _data_sized(
    subject: FunctionSubject, arguments: Mapping[str, Any], program: Program, step: Step
) -> None:
    """Give each array, and each size that XLA must know, as what a mask makes of it."""
    along = _along_first_axis(subject, program)
    for name, alike in bounded.data_sized_arguments(along).items():
        alone = _both_ways(step, "bounded", name, bounded.with_mask(along, (name,)), along)
        if not alone and len(alike) > 1:
            _both_ways(step, "bounded_together", name, bounded.with_mask(along, alike), along)
    for parameter in subject.parameters:
        value = arguments.get(parameter.name, parameter.default)
        if bounded.is_countable(value):
            step(
                f"counted:{parameter.name}",
                functools.partial(_counted, program, parameter.name, value),
            )


def _both_ways(step: Step, label: str, name: str, masked: Program, static: Program) -> bool:
    """Forward and backward; says whether XLA agreed with eager execution in both."""
    forward = step(f"{label}:{name}", lambda: bounded.compare(masked, static))
    backward = step(f"{label}_gradient:{name}", lambda: bounded.compare_gradient(masked, static))
    return {(each or {}).get("status") for each in (forward, backward)} <= {"fine", "none"}


def _along_first_axis(subject: FunctionSubject, program: Program) -> Program:
    """The call told to work along the axis whose size will be data, where it can be told."""
    axis = next((each.name for each in subject.parameters if each.name in ("axis", "axes")), None)
    if axis is None:
        return program
    for first in (0, [0]):
        changed = program.replace(**{axis: first})
        if _runs_eagerly(changed):
            return changed
    return program


def _counted(program: Program, name: str, value: Any) -> dict[str, Any]:
    return bounded.compare(bounded.with_counted_size(program, name, value), program)


def _numbers(parameter: inspect.Parameter, value: Any) -> Iterator[Any]:
    if value is None:
        yield from optional_numbers(parameter.name)
    elif value is not parameter.empty and not isinstance(value, (bool, np.ndarray)):
        try:
            array = np.array(value)
        except (TypeError, ValueError):
            return
        if array.dtype.kind in "if" and array.size:
            yield value


def _as_tensor(program: Program, name: str, value: Any) -> dict[str, Any]:
    """What becomes of a number, or a list of numbers, as one tensor: `refused` where eager execution takes it neither."""
    return _first_taken(program, name, [np.array(value, kind) for kind in _kinds(value)])


def _as_tensors(program: Program, name: str, value: Sequence[Any]) -> dict[str, Any]:
    """What becomes of a list with a tensor for each number."""
    lists = [
        tf.nest.map_structure(functools.partial(np.array, dtype=kind), value)
        for kind in _kinds(value)
    ]
    return _first_taken(program, name, lists)


def _kinds(value: Any) -> tuple[type, ...]:
    """An integer may stand for a float."""
    return (np.int32, np.int64, np.float32) if np.array(value).dtype.kind == "i" else (np.float32,)


def _first_taken(program: Program, name: str, values: Sequence[Any]) -> dict[str, Any]:
    for value in values:
        changed = program.replace(**{name: value})
        if _is_taken(changed):
            return lower_program(changed).plain()
    return {"status": "refused"}


_AROUND = {"arm": gradient_in_arm, "step": gradient_in_step}


def _kept(
    name: str, subject: Subject, arguments: Mapping[str, Any], frozen: frozenset[str], step: Step
) -> None:
    """The gradient in an arm and in a step; where one fails, with which other arguments it fails too."""
    program = subject.program(arguments).freeze(*frozen)
    for where, measured in _AROUND.items():
        found = step(f"kept:{where}", functools.partial(measured, program))
        if found is None or found.get("status") != "fails":
            continue
        step("kept:given", lambda: {"given": sorted(arguments)})
        for index, (parameter, value) in enumerate(_single(name, subject, arguments)):
            given = {**arguments, parameter: value}
            run = functools.partial(_kept_with, subject, given, frozen, measured)
            step(f"kept_with:{where}:{parameter}:{index}", run)


def _single(name: str, subject: Subject, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for changes, _ in variations(name, subject.parameters, arguments):
        if len(changes) == 1:
            yield from changes.items()
    yield from more_numbers(subject.parameters)


def _kept_with(
    subject: Subject,
    arguments: Mapping[str, Any],
    frozen: frozenset[str],
    measured: Callable[[Program], dict[str, Any]],
) -> dict[str, Any]:
    try:
        program = subject.program(arguments)
        program.eager()
    except Exception as error:
        return {"status": "refused", "error": _first_line(error)}
    return measured(program.freeze(*frozen))


def _conditions(
    name: str, subject: Subject, arguments: Mapping[str, Any], frozen: frozenset[str], step: Step
) -> None:
    for index, (changes, spelled) in enumerate(variations(name, subject.parameters, arguments)):
        step(
            f"condition:{index}",
            functools.partial(_condition, subject, spelled, {**arguments, **changes}, frozen),
        )


def _condition(
    subject: Subject, spelled: dict[str, Any], arguments: Mapping[str, Any], frozen: frozenset[str]
) -> dict[str, Any]:
    return {"when": spelled, **_varied(subject, arguments, frozen)}


def _varied(
    subject: Subject, arguments: Mapping[str, Any], frozen: frozenset[str]
) -> dict[str, Any]:
    """The verdict for other arguments, or `refused` where eager execution does not take them either."""
    try:
        program = subject.program(arguments)
        program.eager()
    except Exception as error:
        return {"status": "refused", "error": _first_line(error)}
    verdict = lower_program(program.freeze(*frozen))
    facts = verdict.plain()
    if frozen and verdict.status == "compiles" and lower_program(program).status == "compiles":
        facts["frozen"] = []
    if verdict.status == "compiles":
        backward = gradient(program.freeze(*frozen))
        if backward.get("status") == "fails" and not differentiates_eagerly(program):
            return facts  # TensorFlow's own refusal of these arguments
        facts["gradient"] = backward.get("status")
        if backward.get("missing"):
            facts["gradient_missing"] = list(backward["missing"])
    return facts


def _dtypes(program: Program, step: Step) -> None:
    """The same call with its float32 inputs in other dtypes."""
    if not any(each.dtype == tf.float32 for each in program.inputs()):
        return
    for dtype in _DTYPES:
        step(f"dtype:{dtype}", functools.partial(_with_dtype, program, dtype))


def _with_dtype(program: Program, dtype: str) -> dict[str, Any]:
    kind = tf.as_dtype(dtype).as_numpy_dtype
    converted = program.replace(
        **{
            name: tf.nest.map_structure(
                lambda leaf: (
                    leaf.astype(kind)
                    if isinstance(leaf, np.ndarray) and leaf.dtype == np.float32
                    else leaf
                ),
                value,
            )
            for name, value in program.arguments.items()
        }
    )
    try:
        converted.eager()
        traced = trace(converted)
    except Exception as error:
        return {"status": "refused", "error": _first_line(error)}
    return {**lower_program(converted).plain(), **_first_output(converted, traced)}


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"[:200]
