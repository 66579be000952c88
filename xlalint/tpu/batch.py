"""Search the largest per-replica batch that fits: the batch that was seen, doubled or halved until it does not, or does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xlalint.tpu.compiler import Result
from xlalint.tpu.statuses import COMPILES, OVERFLOWS

_MOST_COMPILES = 8
_LARGEST = 1 << 16


@dataclass(frozen=True, slots=True)
class Largest:
    """`batch` fits (0: none that was tried does) and `too_large` does not (None: none up to 65,536 is too large).

    Both are the batch that was seen, times or divided by a power of two. `compiles` is what the search spent.
    """

    batch: int
    too_large: int | None
    compiles: int
    note: str = ""


def largest(batch: int, first: Result, compile_at: Callable[[int], Result | None]) -> Largest:
    """From what `batch` came to, go on with `compile_at(other batch)`, which is None where the step takes no such batch."""
    tried = {batch: first}
    spent = 0
    note = ""
    while spent < _MOST_COMPILES:
        following = _next(tried)
        if following is None:
            break
        result = compile_at(following)
        if result is None:
            note = f"the step does not trace with a batch of {following}"
            break
        spent += result.compiles
        if result.status not in (COMPILES, OVERFLOWS):
            note = (
                f"a batch of {following} was not compiled: {result.message.splitlines()[0][:120]}"
            )
            break
        tried[following] = result
    fitting = [size for size, result in tried.items() if result.status == COMPILES]
    failing = [size for size, result in tried.items() if result.status == OVERFLOWS]
    return Largest(max(fitting, default=0), min(failing, default=None), spent, note)


def _next(tried: dict[int, Result]) -> int | None:
    """The batch to try next; None when the answer is known."""
    fitting = sorted(size for size, result in tried.items() if result.status == COMPILES)
    failing = sorted(size for size, result in tried.items() if result.status == OVERFLOWS)
    if not fitting:
        smallest = failing[0]
        return smallest // 2 if smallest > 1 else None
    best = fitting[-1]
    if failing:
        gap = failing[0] // best
        return None if gap <= 2 else best * _half(gap)
    guess = best * 2
    if len(fitting) > 1:
        guess = max(guess, best * _power(_predicted(fitting[-2], fitting[-1], tried) / best))
    capped = min(guess, best * _power(_LARGEST / best))
    return capped if capped > best else None


def _predicted(smaller: int, larger: int, tried: dict[int, Result]) -> float:
    """Where the line through two peaks meets the memory of the device."""
    low, high = tried[smaller], tried[larger]
    slope = (high.peak - low.peak) / (larger - smaller)
    return larger + (high.hbm - high.peak) / slope if slope > 0 else float(_LARGEST)


def _power(ratio: float) -> int:
    """The largest power of two that is not above `ratio`."""
    power = 1
    while power * 2 <= min(ratio, _LARGEST):
        power *= 2
    return power


def _half(gap: int) -> int:
    """The power of two in the middle of a gap of powers of two."""
    return 1 << (gap.bit_length() - 1) // 2
