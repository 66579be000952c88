"""The recompile meter: which calls traced or compiled again, what had changed, what it cost, what to pad to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlalint.verify import padding
from xlalint.verify.compilelog import Compilation
from xlalint.verify.records import BatchShapes, MeteredCall, MeteredFunction

TRACED, COMPILED = "traced", "compiled"
# Kinds of change.
SHAPE, DTYPE, VALUE, PYTHON, OBJECT, STRUCTURE = (
    "shape",
    "dtype",
    "tensor value",
    "Python value",
    "object",
    "structure",
)
_TENSOR = re.compile(r"^(\w+)(\[.*?\])(?: = (.*))?$")
_OBJECT = re.compile(r" at 0x[0-9a-f]+$")


@dataclass(frozen=True, slots=True)
class Change:
    """One argument that differs from an earlier call's; `before` is empty for one that was not given then."""

    argument: str
    kind: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Again:
    """A call, counted from 1, that was TRACED or COMPILED again.

    `changes` against the earlier call most like it; none where no argument's type, shape or scalar value differs: then
    the values of larger tensors, a batch from an iterator, or what the function reads besides its arguments did.
    """

    call: int
    what: str
    seconds: float
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Metered:
    """A function's count. `compiled`: name of what XLA compiled in its calls -> how often; `programs`: how many
    different static shapes and Python values it was called with, each a program of its own on a TPU.

    `trace_seconds` are those of the calls that traced, less what XLA's compilations took of them.
    """

    function: str
    path: str
    line: int
    calls: int
    traces: int
    trace_seconds: float
    compiled: Mapping[str, int]
    compile_seconds: float
    programs: int
    again: tuple[Again, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a dataset's batches whose size varies: size -> number of batches. `options` are None for the first
    axis of a last, smaller batch, which is dropped or filled up rather than padded."""

    part: str
    axis: int
    sizes: Mapping[int, int]
    options: tuple[padding.Padding, ...] | None


@dataclass(frozen=True, slots=True)
class Batches:
    """What a dataset brings: batches read, different shapes among them, the axes that vary."""

    path: str
    line: int
    read: int
    is_all: bool
    shapes: int
    axes: tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Recompiles:
    """Of one run."""

    functions: tuple[Metered, ...] = ()
    batches: tuple[Batches, ...] = ()


def meter(
    functions: Sequence[MeteredFunction],
    sources: Sequence[BatchShapes],
    compilations: Sequence[Compilation],
) -> Recompiles:
    """Join what the child saw of calls with what TensorFlow logged of compilations."""
    by_call: dict[int, list[Compilation]] = {}
    for made in compilations:
        by_call.setdefault(made.call, []).append(made)
    return Recompiles(
        tuple(_metered(one, by_call) for one in functions if one.calls),
        tuple(_batches(one) for one in sources),
    )


def _metered(one: MeteredFunction, by_call: Mapping[int, Sequence[Compilation]]) -> Metered:
    made = [compiled for call in one.calls for compiled in by_call.get(call.index, ())]
    traced = [call for call in one.calls if call.traces]
    in_traced = sum(compiled.seconds for call in traced for compiled in by_call.get(call.index, ()))
    return Metered(
        function=one.function,
        path=one.path,
        line=one.line,
        calls=len(one.calls),
        traces=sum(call.traces for call in one.calls),
        trace_seconds=max(0.0, sum(call.seconds for call in traced) - in_traced),
        compiled=dict(Counter(compiled.function for compiled in made).most_common()),
        compile_seconds=sum(compiled.seconds for compiled in made),
        programs=len({_program(call) for call in one.calls}),
        again=tuple(_again(one.calls, by_call)),
    )


def _again(
    calls: Sequence[MeteredCall], by_call: Mapping[int, Sequence[Compilation]]
) -> list[Again]:
    found = []
    for index, call in enumerate(calls[1:], start=1):
        compiled = by_call.get(call.index, ())
        if not call.traces and not compiled:
            continue
        seconds = sum(one.seconds for one in compiled)
        what = COMPILED
        if call.traces:
            what, seconds = TRACED, call.seconds
        found.append(Again(index + 1, what, seconds, _changes(calls[:index], call, what)))
    return found


def _changes(earlier: Sequence[MeteredCall], call: MeteredCall, what: str) -> tuple[Change, ...]:
    """Against the earlier call with the fewest differences, the latest of those."""
    wanted = {VALUE} if what == COMPILED else set()
    best: tuple[Change, ...] | None = None
    for other in reversed(earlier):
        changes = tuple(
            change
            for change in _differences(other.arguments, call.arguments)
            if change.kind != VALUE or VALUE in wanted
        )
        if best is None or len(changes) < len(best):
            best = changes
    return best or ()


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    found = []
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name, ""), after.get(name, "")
        if old != new:
            found.append(Change(name, _kind(old, new), old, new))
    return found


def _kind(old: str, new: str) -> str:
    first, second = _TENSOR.match(old), _TENSOR.match(new)
    if first and second:
        if first[1] != second[1]:
            return DTYPE
        return SHAPE if first[2] != second[2] else VALUE
    if old.startswith("Python value") and new.startswith("Python value"):
        return PYTHON
    if _OBJECT.search(old) and _OBJECT.search(new):
        return OBJECT
    return STRUCTURE


def _program(call: MeteredCall) -> tuple[tuple[str, str], ...]:
    """What XLA compiles apart: static shapes, dtypes, Python values; not the values of tensors."""
    return tuple(
        (name, f"{match[1]}{match[2]}" if (match := _TENSOR.match(word)) else word)
        for name, word in sorted(call.arguments.items())
    )


def _batches(source: BatchShapes) -> Batches:
    parts = list(dict.fromkeys(name for shapes in source.shapes for name in shapes))
    axes = [axis for part in parts for axis in _axes(part, source.shapes)]
    different = {
        tuple(sorted((k, tuple(v)) for k, v in shapes.items())) for shapes in source.shapes
    }
    return Batches(
        source.path, source.line, len(source.shapes), source.is_all, len(different), tuple(axes)
    )


def _axes(part: str, batches: Sequence[Mapping[str, list[int]]]) -> list[Axis]:
    shapes = [batch[part] for batch in batches if part in batch]
    if len({len(shape) for shape in shapes}) != 1:
        return []
    found = []
    for axis in range(len(shapes[0])):
        sizes = [shape[axis] for shape in shapes]
        if len(set(sizes)) > 1:
            is_remainder = axis == 0 and _is_remainder(sizes)
            advice = None if is_remainder else padding.options(sizes)
            found.append(Axis(part, axis, dict(sorted(Counter(sizes).items())), advice))
    return found


def _is_remainder(sizes: Sequence[int]) -> bool:
    """Equal batches and smaller ones now and then: the ends of epochs."""
    common, count = Counter(sizes).most_common(1)[0]
    return max(sizes) == common and count >= len(sizes) // 2
