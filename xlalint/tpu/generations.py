"""What is published of each TPU generation, and how its slices are called.

Peaks and bandwidths are those of Google's documents, per chip: "System architecture" of v5e, v5p and v6e at
docs.cloud.google.com/tpu, "A Domain-Specific Supercomputer for Training Deep Neural Networks" (CACM 2020) for v2 and v3,
"TPU v4: An Optically Reconfigurable Supercomputer" (ISCA 2023). How much memory a device has, the compiler itself says, where it is new enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_GIGA, _TERA = 10**9, 10**12


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation, per chip.

    `flops`: peak of bfloat16 products, FLOP/s. `bandwidth`: of HBM, bytes/s. `interconnect`: of all links of a chip, one
    way, bytes/s. `memory`: HBM that a program may use on a device, bytes. `replicas_per_chip`: how many TensorFlow puts on a
    chip, which are the compiler's devices: v2 and v3 have two cores with memory of their own, from v4 on a chip's cores
    work as one ("megacore"). `chip_config`: how libtpu calls that where it is not what it does by itself. `counts_cores`:
    do accelerator types (`v3-8`) count cores rather than chips? `slices`: chips -> shape.
    """

    name: str
    flops: float
    bandwidth: float
    interconnect: float
    memory: int
    replicas_per_chip: int
    chip_config: str
    counts_cores: bool
    slices: Mapping[int, str]

    @property
    def replica_flops(self) -> float:
        return self.flops / self.replicas_per_chip

    @property
    def replica_bandwidth(self) -> float:
        return self.bandwidth / self.replicas_per_chip


_FLAT = {4: "2x2", 16: "4x4", 32: "4x8", 64: "8x8", 128: "8x16", 256: "16x16"}
_FLAT_OF_CORES = {1: "1x1", **_FLAT}
_FLAT_FROM_ONE = {1: "1x1", **_FLAT, 8: "2x4"}
_CUBES = {
    1: "1x1x1",
    4: "2x2x1",
    8: "2x2x2",
    16: "2x2x4",
    32: "2x4x4",
    64: "4x4x4",
    128: "4x4x8",
    256: "4x8x8",
    512: "8x8x8",
}

# `memory` as libtpu 0.0.52 states it for one chip; libtpu before 0.0.40 states none.
GENERATIONS: tuple[Generation, ...] = (
    Generation("v2", 46 * _TERA, 700 * _GIGA, 248 * _GIGA, 8034172928, 2, "", True, _FLAT_OF_CORES),
    Generation(
        "v3", 123 * _TERA, 900 * _GIGA, 328 * _GIGA, 16624107520, 2, "", True, _FLAT_OF_CORES
    ),
    Generation(
        "v4", 275 * _TERA, 1200 * _GIGA, 300 * _GIGA, 33014413312, 1, "megacore", True, _CUBES
    ),
    Generation(
        "v5e", 197 * _TERA, 819 * _GIGA, 200 * _GIGA, 16909336064, 1, "", False, _FLAT_FROM_ONE
    ),
    Generation("v5p", 459 * _TERA, 2765 * _GIGA, 600 * _GIGA, 102786661888, 1, "", True, _CUBES),
    Generation(
        "v6e", 918 * _TERA, 1640 * _GIGA, 448 * _GIGA, 33546042880, 1, "", False, _FLAT_FROM_ONE
    ),
)
# Other names that Google's tools and documents use.
_ALIASES = {"v5litepod": "v5e", "v5lite": "v5e", "v5litetpu": "v5e", "trillium": "v6e", "v6": "v6e"}


def generation(name: str) -> Generation | None:
    """By name or alias, None for a name that means nothing here."""
    wanted = _ALIASES.get(name, name)
    return next((one for one in GENERATIONS if one.name == wanted), None)
