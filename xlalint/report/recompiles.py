"""How the recompile meter reads in the reports of `xlalint verify`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from xlalint.verify.padding import Padding
from xlalint.verify.recompiles import (
    COMPILED,
    DTYPE,
    OBJECT,
    PYTHON,
    SHAPE,
    TRACED,
    VALUE,
    Again,
    Axis,
    Batches,
    Change,
    Metered,
    Recompiles,
)

_MOST_AGAIN = 5
# What helps, by kind of change.
_REMEDIES = {
    SHAPE: "pad it to a few fixed sizes",
    DTYPE: "cast it before the call",
    PYTHON: "pass a tensor: tf.constant(value)",
    OBJECT: "make the object once and hand over the same one",
    VALUE: "XLA needs this value when it compiles",
}
_CAUSES = {TRACED: "traced again", COMPILED: "compiled again"}


def lines(found: Recompiles, place: Callable[[str, int], str]) -> Iterator[str]:
    """A line per function that was traced or compiled again and per dataset of several shapes, with what changed."""
    for metered in found.functions:
        if metered.again or metered.programs > 1:
            yield f"  {place(metered.path, metered.line)} {metered.function}: {_counts(metered)}"
            yield from _again(metered)
    for batches in found.batches:
        if batches.shapes > 1:
            yield from _batches(batches, place)


def data(found: Recompiles, relative: Callable[[str], str]) -> dict[str, Any]:
    """For JSON."""
    return {
        "functions": [{**asdict(one), "path": relative(one.path)} for one in found.functions],
        "batches": [{**asdict(one), "path": relative(one.path)} for one in found.batches],
    }


def _counts(metered: Metered) -> str:
    parts = [
        _number(metered.calls, "call"),
        f"{_number(metered.traces, 'trace')} ({metered.trace_seconds:.1f} s)",
    ]
    total = sum(metered.compiled.values())
    if total:
        others = [name for name in metered.compiled if name != metered.function.rpartition(".")[2]]
        of = f" of {', '.join(others)}" if others else ""
        parts.append(f"{_number(total, 'XLA compile')}{of} ({metered.compile_seconds:.1f} s)")
    elif metered.programs > 1:
        parts.append(f"not compiled by XLA here; under XLA {metered.programs} programs")
    return ", ".join(parts)


def _again(metered: Metered) -> Iterator[str]:
    for again in metered.again[:_MOST_AGAIN]:
        yield f"         call {again.call}: {_CAUSES[again.what]} ({again.seconds:.1f} s): {_changed(again)}"
    left = len(metered.again) - _MOST_AGAIN
    if left > 0:
        yield f"         and {left} more"
    kinds = {change.kind for again in metered.again for change in again.changes}
    for kind, remedy in _REMEDIES.items():
        if kind in kinds:
            yield f"         {kind}: {remedy}"


def _changed(again: Again) -> str:
    if again.changes:
        return "; ".join(_change(change) for change in again.changes)
    if again.what == TRACED:
        return "no argument differs in shape, dtype or Python value"
    return (
        "no shape differs: the batch behind an iterator, or a value that XLA needs when it compiles"
    )


def _change(change: Change) -> str:
    if not change.before:
        return f"`{change.argument}` {change.after}, which no call had before"
    if not change.after:
        return f"`{change.argument}` is not given any more"
    if change.kind == OBJECT:
        return f"`{change.argument}` is another {change.after.partition(' at ')[0]}"
    return (
        f"{change.kind} of `{change.argument}`: {_short(change.before)} -> {_short(change.after)}"
    )


def _short(word: str) -> str:
    return word.removeprefix("Python value ")


def _batches(batches: Batches, place: Callable[[str, int], str]) -> Iterator[str]:
    read = f"all {batches.read}" if batches.is_all else f"the first {batches.read}"
    yield (
        f"  {place(batches.path, batches.line)} the data: {batches.shapes} shapes in {read} batches, "
        "each a program of its own"
    )
    parts: dict[str, list[Axis]] = {}
    for axis in batches.axes:
        parts.setdefault(f"axis {axis.axis}: {_sizes(axis)}", []).append(axis)
    for told, (axis, *others) in parts.items():
        names = ", ".join(one.part for one in (axis, *others))
        yield f"         {names} {told}"
        if axis.options is None:
            yield "           a smaller batch: drop_remainder=True, or fill it up and weigh the filling with 0"
        else:
            yield "           " + "; ".join(_option(option, axis) for option in axis.options)


def _sizes(axis: Axis) -> str:
    if len(axis.sizes) <= 3:
        return ", ".join(
            f"{size} in {_number(count, 'batch', 'batches')}" for size, count in axis.sizes.items()
        )
    return f"{len(axis.sizes)} sizes from {min(axis.sizes)} to {max(axis.sizes)}"


def _option(option: Padding, axis: Axis) -> str:
    to = f"to multiples of {option.multiple}" if option.multiple else f"all to {max(axis.sizes)}"
    return f"{to}: {_number(option.shapes, 'shape')}, {option.waste:.0%} padding"


def _number(count: int, noun: str, plural: str = "") -> str:
    return f"{count} {noun if count == 1 else plural or noun + 's'}"
