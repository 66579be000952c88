"""Targets as users name them (`tpu-v5e`, `v3-8`, `v5litepod-16`, `tpu-v4:2x2x2`) to what the compiler takes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from xlalint.tpu.generations import GENERATIONS, Generation, generation

_TARGET = re.compile(
    r"^(?:tpu-)?(?P<name>[a-z0-9]+?)(?:-(?P<count>\d+)|:(?P<shape>\d+(?:x\d+)+))?$"
)


class TargetError(ValueError):
    """A target that does not exist; the message names those that do."""


@dataclass(frozen=True, slots=True)
class Target:
    """A slice of TPUs: `name` as the user may write it, `topology` as the compiler does, `replicas` of the step on it."""

    name: str
    generation: Generation
    topology: str
    chips: int

    @property
    def replicas(self) -> int:
        return self.chips * self.generation.replicas_per_chip

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(size) for size in self.topology.partition(":")[2].split("x"))

    @property
    def options(self) -> dict[str, str | list[int]]:
        """What libtpu must be told besides the topology: how cores work together, and hosts of fewer than 2 x 2 chips."""
        found: dict[str, str | list[int]] = {}
        if self.generation.chip_config:
            found["chip_config_name"] = self.generation.chip_config
        host = [2 if size % 2 == 0 else 1 for size in self.shape[:2]]
        if host != [2, 2]:
            found["chips_per_host_bounds"] = [*host, 1]
        return found


def is_generation(text: str) -> bool:
    """Does it look like a TPU generation or slice, known or not (`tpu-v5e`, `v7-8`), rather than a kind of machine?"""
    return bool(re.match(r"^(?:tpu-)?(?:v\d|trillium)", text))


def parse(text: str) -> Target:
    """The target that `text` names; without a count, one chip. Raises TargetError."""
    match = _TARGET.match(text.strip().lower())
    found = generation(match["name"]) if match else None
    if match is None or found is None:
        known = ", ".join(f"tpu-{one.name}" for one in GENERATIONS)
        raise TargetError(
            f"{text} is no TPU that the compiler knows: {known}, with a slice where wanted (tpu-v5e-8, tpu-v4:2x2x2)"
        )
    if match["shape"]:
        chips = math.prod(int(size) for size in match["shape"].split("x"))
        return Target(
            f"tpu-{found.name}:{match['shape']}", found, f"{found.name}:{match['shape']}", chips
        )
    count = int(match["count"]) if match["count"] else 0
    chips = _chips(found, count, text)
    shape = found.slices.get(chips)
    if shape is None:
        raise TargetError(f"{text}: slices of {found.name} have {_counts(found)}, not {count}")
    name = f"tpu-{found.name}-{count}" if count else f"tpu-{found.name}"
    return Target(name, found, f"{found.name}:{shape}", chips)


def parse_list(text: str) -> list[Target]:
    """Targets between commas, each once, in the order given. Raises TargetError."""
    found = (parse(part) for part in text.split(",") if part.strip())
    return list({one.name: one for one in found}.values())


def _chips(found: Generation, count: int, text: str) -> int:
    if not count:
        return min(found.slices)
    cores = 2 if found.counts_cores else 1  # `v3-8` counts TensorCores, of which a chip has two
    if count % cores:
        raise TargetError(f"{text}: slices of {found.name} have {_counts(found)}, not {count}")
    return count // cores


def _counts(found: Generation) -> str:
    cores = 2 if found.counts_cores else 1
    what = "cores" if found.counts_cores else "chips"
    return ", ".join(str(chips * cores) for chips in sorted(found.slices)) + f" {what}"
