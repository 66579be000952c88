"""How the TPU compiler's answers read in the reports of `xlalint verify`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from xlalint.tpu.outcome import Outcome
from xlalint.tpu.statuses import COMPILES, OVERFLOWS, REJECTED, UNVERIFIED

_WORDS = {COMPILES: "ok", OVERFLOWS: "FAIL", REJECTED: "FAIL", UNVERIFIED: "?"}
_MOST_LINES = 3
_LONGEST = 400
# What the figures mean, said once per report.
ASSUMPTIONS = (
    "memory and batch: of one replica, which is a core of v2 and v3 (two in a chip) and a chip of the others (v4: its two cores as "
    "one)",
    "at least: every product at the published bfloat16 peak, arguments read and results written once at the published "
    "bandwidth; a real step is slower",
)
Place = Callable[[str, int], str]


def lines(function: str, outcomes: Sequence[Outcome], place: Place) -> Iterator[str]:
    """Each target's answer on one function, and a table where there are several."""
    for outcome in outcomes:
        yield from _outcome(function, outcome, place)
    if len(outcomes) > 1:
        yield from _table(outcomes)


def data(outcome: Outcome, function: str, relative: Callable[[str], str]) -> dict[str, Any]:
    """For JSON."""
    found = asdict(outcome)
    found["path"] = relative(outcome.path) if outcome.path else ""
    for part in (*found["wasted"], *found["emulated"], *found["data_sized"]):
        part["path"] = relative(part["path"]) if part["path"] else ""
    return {"function": function, **found}


def _outcome(function: str, one: Outcome, place: Place) -> Iterator[str]:
    yield f"  {_WORDS[one.status]:<4} {one.target} ({_whole(one)}) {function}: {_verdict(one)}"
    if one.note:
        yield f"         {one.note}"
    if one.message:
        where = f"{place(one.path, one.line)}: " if one.path else ""
        yield f"         {where}{' '.join(one.message.split())[:_LONGEST]}"
    if one.status == COMPILES:
        yield f"         {_time(one)}"
        if one.collectives:
            yield (
                f"         {one.collectives} collective{'s' * (one.collectives != 1)} of {_size(one.reduced)} in all, "
                f"{one.collective_share:.0%} of the time where nothing overlaps"
            )
        elif one.replicas > 1 and one.is_step:
            yield "         no all-reduce: each replica would train on its own (does an optimizer apply the gradients?)"
        if one.padding_share > 0.1 and one.wasted:
            yield f"         padding to tiles: {one.padding_share:.0%} of the arrays in memory"
            yield from (
                f"           {_at(waste.path, waste.line, place)}{waste.what}: "
                f"{_size(waste.padded_bytes)} for {_size(waste.bytes)}"
                for waste in one.wasted[:_MOST_LINES]
            )
        for emulated in one.emulated[:_MOST_LINES]:
            yield (
                f"         {_at(emulated.path, emulated.line, place)}{emulated.dtype} arrays, which TPUs emulate "
                f"({emulated.instructions} instruction{'s' * (emulated.instructions != 1)})"
            )
        for sized in one.data_sized[:_MOST_LINES]:
            yield (
                f"         {_at(sized.path, sized.line, place)}{sized.what}: as many elements as the data say, computed at "
                f"its most ({_size(sized.bytes)})"
            )
        yield f"         {_compiled(one)}"
    if one.largest is not None:
        yield f"         {_largest(one)}"


def _whole(one: Outcome) -> str:
    """`8 chips, 8 replicas with a batch of 4 each`."""
    chips = f"{one.chips} chip{'s' * (one.chips != 1)}"
    if one.replicas == 1:
        return f"{chips}, batch {one.batch}" if one.batch else chips
    replicas = f"{chips}, {one.replicas} replicas"
    return f"{replicas} with a batch of {one.batch} each" if one.batch else replicas


def _verdict(one: Outcome) -> str:
    if one.status == COMPILES:
        return (
            f"compiles; {_size(one.peak)} of {_size(one.hbm)} memory (arguments {_size(one.argument)}, "
            f"temporaries {_size(one.temporary)}, results {_size(one.output)}, {_size(one.alias)} of them in place)"
        )
    return one.status


def _time(one: Outcome) -> str:
    per_byte = f", {one.flops / one.bytes_accessed:.1f} FLOP per byte" if one.bytes_accessed else ""
    return (
        f"at least {_seconds(one.bound_seconds)} a step, for its {one.limited_by}; {_count(one.flops)}FLOP, "
        f"{_count(one.bytes_accessed)}B moved{per_byte}"
    )


def _compiled(one: Outcome) -> str:
    compiles = f"{one.compiles} compile{'s' * (one.compiles != 1)}"
    return f"{compiles}, {one.cpu_seconds:.1f} CPU-seconds, at the compiler's {one.level} level"


def _largest(one: Outcome) -> str:
    assert one.largest is not None
    found = one.largest
    told = f"largest per-replica batch that fits: {found.batch}" if found.batch else "no batch fits"
    beyond = f"{found.too_large} does not" if found.too_large else "none up to 65536 is too large"
    spent = f"{found.compiles} compile{'s' * (found.compiles != 1)} more"
    note = f"; {found.note}" if found.note else ""
    return f"{told} ({beyond}; {spent}{note})"


def _table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    rows = [("target", "chips", "replicas", "batch", "fits", "memory", "at least", "largest batch")]
    for one in outcomes:
        compiled = one.status == COMPILES
        rows.append(
            (
                one.target,
                str(one.chips),
                str(one.replicas),
                str(one.batch or "-"),
                {COMPILES: "yes", OVERFLOWS: "no", REJECTED: "rejected", UNVERIFIED: "?"}[
                    one.status
                ],
                f"{_size(one.peak)} of {_size(one.hbm)}" if compiled else "-",
                f"{_seconds(one.bound_seconds)}" if compiled else "-",
                str(one.largest.batch) if one.largest is not None else "-",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"         {'  '.join(cells).rstrip()}"


def _at(path: str, line: int, place: Place) -> str:
    return f"{place(path, line)} " if path else ""


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.2f} GiB"


def _count(count: float) -> str:
    for unit in ("", "k", "M", "G", "T"):
        if count < 1000 or unit == "T":
            break
        count /= 1000
    return f"{count:.3g} {unit}"


def _seconds(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:.3g} {unit}"
    return ""
