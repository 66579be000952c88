"""The least time that a step can take: arithmetic at the published peak, memory at the published bandwidth."""

from __future__ import annotations

from dataclasses import dataclass

from xlalint.tpu.generations import Generation


@dataclass(frozen=True, slots=True)
class Bound:
    """Seconds per step, each a lower bound: `arithmetic` with every product at the peak of bfloat16, `memory` with
    arguments read and results written once and everything else kept on the chip, `collectives` over all links at once."""

    arithmetic: float
    memory: float
    collectives: float

    @property
    def step(self) -> float:
        """The three may overlap: no step is faster than the slowest of them."""
        return max(self.arithmetic, self.memory, self.collectives)

    @property
    def limited_by(self) -> str:
        times = {
            "arithmetic": self.arithmetic,
            "memory": self.memory,
            "collectives": self.collectives,
        }
        return max(times, key=lambda name: times[name])

    @property
    def collective_share(self) -> float:
        """Of the three's sum: what they take where nothing overlaps."""
        total = self.arithmetic + self.memory + self.collectives
        return self.collectives / total if total else 0.0


def bound(
    generation: Generation, *, flops: float, moved_bytes: int, reduced_bytes: int, replicas: int
) -> Bound:
    """For one replica. An all-reduce over n replicas sends and receives 2 (n - 1) / n times its bytes."""
    exchanged = 2 * reduced_bytes * (replicas - 1) / replicas if replicas > 1 else 0.0
    return Bound(
        flops / generation.replica_flops,
        moved_bytes / generation.replica_bandwidth,
        exchanged / (generation.interconnect / generation.replicas_per_chip),
    )
