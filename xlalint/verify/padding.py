"""What to pad variable lengths to: how many shapes are left, and what share of the work is padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MULTIPLES = (32, 64, 128)


@dataclass(frozen=True, slots=True)
class Padding:
    """Lengths rounded up to multiples of `multiple` (0: all to the longest).

    `shapes` is how many different lengths are left, `waste` the share of the padded length that is padding (0 to 1).
    """

    multiple: int
    shapes: int
    waste: float


def options(lengths: Sequence[int]) -> tuple[Padding, ...]:
    """A Padding for each of MULTIPLES and one for the longest length, one entry of `lengths` per batch."""
    return tuple(_padding(lengths, multiple) for multiple in (*MULTIPLES, 0))


def _padding(lengths: Sequence[int], multiple: int) -> Padding:
    longest = max(lengths)
    padded = [-(-length // multiple) * multiple if multiple else longest for length in lengths]
    total = sum(padded)
    return Padding(multiple, len(set(padded)), 1 - sum(lengths) / total if total else 0.0)
