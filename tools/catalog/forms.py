"""The form of a result told from what goes in: its shape and its dtype, by calling again with other arguments.

Nothing is compiled here: each call is eager. A hypothesis such as "as the first argument" stands when every call that
the API accepts agrees with it and at least one call could have contradicted it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from tools.catalog.compiler import trace
from tools.catalog.subjects import Subject
from tools.catalog.variations import alternatives

Shape = tuple[int, ...]
Leaf = tuple[str, int]  # a parameter, and which of the arrays that it holds

_AXIS = ("axis", "axes", "dim", "reduction_indices")
_KEEP = ("keepdims", "keep_dims")
_DTYPE_NAMES = ("dtype", "out_type", "output_type", "output_dtype", "Tout", "type")
_MOST_CALLS = 90


@dataclass(frozen=True)
class Seen:
    """One call that was accepted: the arrays that went in, and the form of what came out.

    `changed` is the parameter whose constant was changed, None where only arrays were.
    """

    shapes: Mapping[Leaf, Shape]
    dtypes: Mapping[Leaf, str]
    shape: Shape
    dtype: str
    changed: str | None


def form(subject: Subject, arguments: Mapping[str, Any], eagerly: bool = True) -> dict[str, Any]:
    """`shape`, `shape_unless`, `dtype` and `dtype_arg` of the one tensor that comes out; empty where there is not one.

    - `shape`: `same` as the first array argument, `like:PARAMETER`, `broadcast` of all array arguments, `matmul`,
      `reduce` (over all axes unless told, `reduce:K` over axis K), `drop:N` (without the last N axes),
      `given:PARAMETER` (the value of an argument), `rank:N`, `rank+N` or `rank-N` (against the first array argument).
    - `shape_unless`: optional arguments that make it something else when given.
    - `dtype`: `same` as the first array argument, `like:PARAMETER`, or the one dtype that always comes out.
    - `dtype_arg`: the argument that decides the dtype where it is given.

    Not `eagerly`, only graphs are built: some kernels end the process over arguments that they do not like.
    """
    if any(_hides_form(value) for value in arguments.values()):
        return {}
    trial = _Trial(subject, dict(arguments), eagerly)
    first = trial.call({}, None)
    if first is None:
        return {}
    facts: dict[str, Any] = {}
    shape, unless = _shape(trial, first)
    if shape is not None:
        facts["shape"] = shape
    if unless:
        facts["shape_unless"] = unless
    dtype, argument = _dtype(trial, first)
    if dtype is not None:
        facts["dtype"] = dtype
    if argument is not None:
        facts["dtype_arg"] = argument
    return facts


def _hides_form(value: Any) -> bool:
    """Functions and equations decide what comes out; sparse and ragged values have no one shape."""
    return callable(value) or any(
        callable(leaf)
        or isinstance(leaf, tf.__internal__.CompositeTensor)
        or (isinstance(leaf, str) and "->" in leaf)
        for leaf in tf.nest.flatten(value)
        if not isinstance(leaf, (tf.DType, np.ndarray))
    )


class _Trial:
    """Calls of one API with changed arguments."""

    def __init__(self, subject: Subject, arguments: dict[str, Any], eagerly: bool) -> None:
        self.subject = subject
        self.arguments = arguments
        self._eagerly = eagerly
        self.leaves = tuple(
            (name, index)
            for name, value in arguments.items()
            for index, leaf in enumerate(tf.nest.flatten(value))
            if isinstance(leaf, np.ndarray)
        )
        self._left = _MOST_CALLS

    def array(self, leaf: Leaf) -> Any:
        return tf.nest.flatten(self.arguments[leaf[0]])[leaf[1]]

    def with_arrays(self, change: Mapping[Leaf, Any]) -> dict[str, Any]:
        """The arguments in which these arrays took the place of others."""
        changed: dict[str, Any] = {}
        for name in {leaf[0] for leaf in change}:
            flat = list(tf.nest.flatten(self.arguments[name]))
            for (owner, index), array in change.items():
                if owner == name:
                    flat[index] = array
            changed[name] = tf.nest.pack_sequence_as(self.arguments[name], flat)
        return changed

    def call(self, changes: Mapping[str, Any], changed: str | None) -> Seen | None:
        """What came out, or None for a call that was refused or that gives anything but one tensor."""
        if self._left <= 0:
            return None
        self._left -= 1
        arguments = {**self.arguments, **changes}
        try:
            program = self.subject.program(arguments)
            result = program.eager() if self._eagerly else trace(program).result
        except Exception:
            return None
        if not isinstance(result, tf.Tensor) or not result.shape.is_fully_defined():
            return None
        flat = {
            (name, index): leaf
            for name, value in arguments.items()
            for index, leaf in enumerate(tf.nest.flatten(value))
            if isinstance(leaf, np.ndarray)
        }
        return Seen(
            shapes={leaf: array.shape for leaf, array in flat.items()},
            dtypes={leaf: _dtype_name(array) for leaf, array in flat.items()},
            shape=tuple(result.shape),
            dtype=result.dtype.name,
            changed=changed,
        )


def _dtype_name(array: Any) -> str:
    return "string" if array.dtype.kind in "SUO" else tf.as_dtype(array.dtype).name


def _shape(trial: _Trial, first: Seen) -> tuple[str | None, list[str]]:
    arrays = list(_reshaped(trial))
    seen = [first, *arrays]
    constants = list(_with_constants(trial))
    reduction = _reduction(trial)
    if reduction is not None:
        return reduction, []
    for name, agrees in _hypotheses(trial, seen):
        if not all(agrees(each) for each in seen):
            continue
        against = sorted({each.changed or "" for each in constants if not agrees(each)})
        if all(_is_left_out(trial, parameter) for parameter in against):
            return name, against
    given = _given(trial, first, constants)
    if given is not None:
        return given, []
    return _rank(trial, seen, constants)


def _is_left_out(trial: _Trial, parameter: str) -> bool:
    """Whether a call as people write it need not give this argument."""
    return parameter not in trial.arguments and any(
        each.name == parameter and each.default is not each.empty
        for each in trial.subject.parameters
    )


def _hypotheses(
    trial: _Trial, seen: Sequence[Seen]
) -> Iterator[tuple[str, Callable[[Seen], bool]]]:
    """What may be true and could have been contradicted by what was seen."""
    leaves = trial.leaves
    if not leaves or len({each.shape for each in seen}) < 2:
        return
    lead = leaves[0]
    if _varies(seen, lead):
        yield "same", lambda each: each.shape == each.shapes.get(lead)
    if len(leaves) > 1 and _told_apart(seen, leaves):
        yield "broadcast", lambda each: each.shape == _broadcast(each)
    for leaf in leaves[1:]:
        if leaf[1] == 0 and _varies(seen, leaf):
            yield f"like:{leaf[0]}", lambda each, leaf=leaf: each.shape == each.shapes.get(leaf)  # type: ignore[misc]
    if len(leaves) == 2:
        yield "matmul", lambda each: each.shape == _product(each, leaves)
    if len({len(each.shapes[lead]) for each in seen if lead in each.shapes}) > 1:
        for count in (1, 2):
            yield (
                f"drop:{count}",
                lambda each, count=count: each.shape == _shortened(each, count),  # type: ignore[misc]
            )


def _varies(seen: Sequence[Seen], leaf: Leaf) -> bool:
    return len({each.shapes[leaf] for each in seen if leaf in each.shapes}) > 1


def _told_apart(seen: Sequence[Seen], leaves: Sequence[Leaf]) -> bool:
    """Whether some call gave a shape that none of its arguments had."""
    return any(all(each.shapes.get(leaf) != each.shape for leaf in leaves) for each in seen)


def _broadcast(each: Seen) -> Shape | None:
    try:
        return tuple(np.broadcast_shapes(*each.shapes.values()))
    except ValueError:
        return None


def _shortened(each: Seen, count: int) -> Shape | None:
    whole = _broadcast(each)
    return None if whole is None or len(whole) < count else whole[:-count]


def _product(each: Seen, leaves: Sequence[Leaf]) -> Shape | None:
    a, b = (each.shapes.get(leaf, ()) for leaf in leaves)
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
        return None
    try:
        return (*np.broadcast_shapes(a[:-2], b[:-2]), a[-2], b[-1])
    except ValueError:
        return None


def _reshaped(trial: _Trial) -> Iterator[Seen]:
    """Calls with arrays of other shapes: all alike ones together, each alone, and pairs that broadcast."""
    leaves = trial.leaves
    groups = [tuple(leaf for leaf in leaves if trial.array(leaf).shape == trial.array(leaves[0]).shape)
              if leaves else ()]  # fmt: skip
    groups += [(leaf,) for leaf in leaves if (leaf,) not in groups]
    if len(leaves) > 1 and len(groups[0]) < len(leaves):
        # Labels and logits have their first axis in common.
        for change in _resized(1):
            yield from _accepted(
                trial,
                {leaf: change(trial.array(leaf)) for leaf in leaves if trial.array(leaf).ndim},
            )
    for group in groups:
        if not group:
            continue
        for change in _resized(len(trial.array(group[0]).shape)):
            yield from _accepted(trial, {leaf: change(trial.array(leaf)) for leaf in group})
    if len(leaves) > 1:
        for shapes in _crossed(leaves):
            yield from _accepted(
                trial, {leaf: _of_shape(trial.array(leaf), shape) for leaf, shape in shapes.items()}
            )


def _accepted(trial: _Trial, change: Mapping[Leaf, Any]) -> Iterator[Seen]:
    outcome = trial.call(trial.with_arrays(change), None)
    if outcome is not None:
        yield outcome


def _resized(rank: int) -> Iterator[Callable[[Any], Any]]:
    yield lambda array: np.stack([array, array])
    for axis in range(rank):
        yield lambda array, axis=axis: np.take(
            array, range(array.shape[axis] + 1), axis, mode="wrap"
        )  # type: ignore[misc]
        yield lambda array, axis=axis: np.take(array, [0], axis)  # type: ignore[misc]
    if rank:
        yield lambda array: np.asarray(array[0])
        yield lambda array: np.stack([array, array], -1)
    if rank == 2:
        yield lambda array: np.stack([np.stack([array, array, array])] * 2)


def _crossed(leaves: Sequence[Leaf]) -> Iterator[dict[Leaf, Shape]]:
    a, b = leaves[0], leaves[1]
    rest: dict[Leaf, Shape] = dict.fromkeys(leaves[2:], ())
    yield {a: (3, 1), b: (1, 4), **rest}
    yield {a: (), b: (2, 3), **rest}
    yield {a: (2, 3), b: (), **rest}
    yield {a: (2, 3), b: (3, 4)}
    yield {a: (5, 2, 3), b: (5, 3, 4)}
    if len(leaves) > 2:
        yield {a: (3, 1), b: (1, 4), **dict.fromkeys(rest, (1, 4))}
        yield {a: (2,), b: (3, 2), **dict.fromkeys(rest, (3, 1))}


def _of_shape(array: Any, shape: Shape) -> Any:
    return np.resize(array, shape)


def _with_constants(trial: _Trial) -> Iterator[Seen]:
    """Calls with other Python values, one parameter at a time."""
    for parameter in trial.subject.parameters:
        if parameter.name in ("name", "seed"):
            continue
        value = trial.arguments.get(parameter.name, parameter.default)
        if parameter.default is parameter.empty and parameter.name not in trial.arguments:
            continue
        for other in _others(parameter, value):
            outcome = trial.call({parameter.name: other}, parameter.name)
            if outcome is not None:
                yield outcome


def _others(parameter: inspect.Parameter, value: Any) -> Iterator[Any]:
    if parameter.name in _DTYPE_NAMES:
        yield from (tf.float64, tf.int32, tf.uint8)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        # Windows and strides of nothing end the process: only what may be left out is tried so.
        yield value + 1
        if parameter.default is not parameter.empty:
            yield from (number for number in (0, 1, -1) if number != value)
    elif _is_sizes(value):
        for index in range(len(value)):
            yield [each + (place == index) for place, each in enumerate(value)]
        yield [1] * len(value)
        yield list(reversed(value))
    elif value is None:
        # What may be left out: an axis, a size, a list of either.
        yield from (*alternatives(parameter, None), 0, 1, [1], [2, 2], True)
    elif isinstance(value, str):
        yield from alternatives(parameter, value)
    elif isinstance(value, tuple):
        yield 1


def _is_sizes(value: Any) -> bool:
    return bool(
        isinstance(value, (list, tuple)) and value and all(type(each) is int for each in value)
    )


def _reduction(trial: _Trial) -> str | None:
    """`reduce` where an axis is taken away, all of them unless told; checked with three axes of different size."""
    axis = next((each.name for each in trial.subject.parameters if each.name in _AXIS), None)
    if axis is None or not trial.leaves:
        return None
    alike = [leaf for leaf in trial.leaves
             if trial.array(leaf).shape == trial.array(trial.leaves[0]).shape]  # fmt: skip
    cube = trial.with_arrays({leaf: _of_shape(trial.array(leaf), (2, 3, 4)) for leaf in alike})
    for given, expected in ((0, (3, 4)), (1, (2, 4)), (-1, (2, 3))):
        outcome = trial.call({**cube, axis: given}, axis)
        if outcome is None or outcome.shape != expected:
            return None
    keep = next((each.name for each in trial.subject.parameters if each.name in _KEEP), None)
    if keep is not None:
        outcome = trial.call({**cube, axis: 1, keep: True}, keep)
        if outcome is None or outcome.shape != (2, 1, 4):
            return None
    whole = trial.call(cube, None)
    forms = {(): "reduce", (3, 4): "reduce:0", (2, 3): "reduce:-1"}
    if axis in trial.arguments:  # an axis must be given: there is nothing to reduce by default
        return "reduce:0" if _is_required(trial, axis) else None
    return None if whole is None else forms.get(whole.shape)


def _is_required(trial: _Trial, parameter: str) -> bool:
    return any(
        each.name == parameter and each.default is each.empty for each in trial.subject.parameters
    )


def _given(trial: _Trial, first: Seen, constants: Sequence[Seen]) -> str | None:
    """The parameter whose value is the shape of the result, where two different values said so."""
    for name, value in trial.arguments.items():
        if not _is_sizes(value) or tuple(value) != first.shape:
            continue
        if any(each.changed != name and each.shape != first.shape for each in constants):
            continue
        tried = [tuple(value)]
        for other in (*_others(_named(name), list(value)), [1, *value], [*value, 1]):
            outcome = trial.call({name: other}, name)
            if outcome is not None and outcome.shape != tuple(other):
                break
            tried += [tuple(other)] if outcome is not None else []
        else:
            if len(set(tried)) > 1:
                return f"given:{name}"
    return None


def _named(name: str) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY)


def _rank(
    trial: _Trial, seen: Sequence[Seen], constants: Sequence[Seen]
) -> tuple[str | None, list[str]]:
    """How many axes come out, where it is always as many, or always as many more than the first argument has."""
    lead = trial.leaves[0] if trial.leaves else None
    if lead is None or len({len(each.shapes.get(lead, ())) for each in seen}) < 2:
        return None, []
    ranks = {len(each.shape) for each in seen}
    differences = {len(each.shape) - len(each.shapes[lead]) for each in seen}
    if len(ranks) == 1:
        rank = ranks.pop()
        against = {each.changed or "" for each in constants if len(each.shape) != rank}
        text = f"rank:{rank}"
    elif len(differences) == 1:
        more = differences.pop()
        against = {
            each.changed or "" for each in constants
            if len(each.shape) - len(each.shapes.get(lead, ())) != more
        }  # fmt: skip
        text = f"rank{more:+d}"
    else:
        return None, []
    if all(_is_left_out(trial, parameter) for parameter in against):
        return text, sorted(against)
    return None, []


def _dtype(trial: _Trial, first: Seen) -> tuple[str | None, str | None]:
    seen = [first, *_retyped(trial)]
    argument = _dtype_argument(trial)
    if argument in trial.arguments and not _is_default(trial, argument):
        return None, argument
    for leaf in trial.leaves:
        kinds = {each.dtypes[leaf] for each in seen}
        if len(kinds) > 1 and all(each.dtype == each.dtypes[leaf] for each in seen):
            return "same" if leaf == trial.leaves[0] else f"like:{leaf[0]}", argument
    kinds = {each.dtype for each in seen}
    if len(kinds) == 1 and _is_fixed(trial, seen):
        return kinds.pop(), argument
    return None, argument


def _is_default(trial: _Trial, argument: str | None) -> bool:
    return any(
        each.name == argument and each.default is trial.arguments.get(argument or "")
        for each in trial.subject.parameters
    )


def _is_fixed(trial: _Trial, seen: Sequence[Seen]) -> bool:
    """Whether one dtype out says anything: other dtypes went in, or another one than comes out, or booleans."""
    came = seen[0].dtype
    if not trial.leaves:
        return True
    lead = trial.leaves[0]
    return len({each.dtypes[lead] for each in seen}) > 1 or came in ("bool", "string") or (
        seen[0].dtypes[lead] != came
    )  # fmt: skip


def _retyped(trial: _Trial) -> Iterator[Seen]:
    """Calls with arrays of other dtypes: all of one dtype together, and each alone."""
    kinds = {
        np.dtype(np.float32): (np.float64, np.float16, np.int32),
        np.dtype(np.int32): (np.int64, np.float32),
        np.dtype(np.int64): (np.int32,),
        np.dtype(np.bool_): (np.int32, np.float32),
    }
    for dtype, others in kinds.items():
        alike = [leaf for leaf in trial.leaves if trial.array(leaf).dtype == dtype]
        groups = [alike, *([leaf] for leaf in alike)] if len(alike) > 1 else [alike]
        for group in groups:
            for other in others if group else ():
                yield from _accepted(
                    trial, {leaf: trial.array(leaf).astype(other) for leaf in group}
                )
    if not trial.leaves:
        yield from _with_fractions(trial)


def _with_fractions(trial: _Trial) -> Iterator[Seen]:
    """Whole numbers as fractions: `tf.range(5)` and `tf.range(5.0)` differ."""
    for name, value in trial.arguments.items():
        if type(value) is int or (isinstance(value, list) and value and type(value[0]) is int):
            other = [float(each) for each in value] if isinstance(value, list) else float(value)
            outcome = trial.call({name: other}, name)
            if outcome is not None:
                yield outcome


def _dtype_argument(trial: _Trial) -> str | None:
    for parameter in trial.subject.parameters:
        if parameter.name not in _DTYPE_NAMES:
            continue
        got = [
            (wanted, outcome.dtype)
            for wanted in ("float64", "float16", "int64", "int32")
            if (outcome := trial.call({parameter.name: tf.as_dtype(wanted)}, parameter.name))
        ]
        if len(got) > 1 and all(wanted == dtype for wanted, dtype in got):
            return parameter.name
    return None
