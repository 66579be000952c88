"""What a user may call a TPU, and which slice of which generation the compiler is asked for."""

from __future__ import annotations

import pytest

from xlalint.tpu.generations import GENERATIONS
from xlalint.tpu.targets import TargetError, is_generation, parse, parse_list


@pytest.mark.parametrize(
    ("text", "topology", "chips", "replicas"),
    [
        ("tpu-v5e", "v5e:1x1", 1, 1),
        ("tpu-v5e-8", "v5e:2x4", 8, 8),
        ("v5litepod-16", "v5e:4x4", 16, 16),
        ("tpu-v5e-256", "v5e:16x16", 256, 256),
        ("TPU-v5e:2x2", "v5e:2x2", 4, 4),
        ("v6e-8", "v6e:2x4", 8, 8),
        # Accelerator types of v2 to v4 and of v5p count cores, two in a chip; from v4 on the two work as one.
        ("v2-8", "v2:2x2", 4, 8),
        ("tpu-v3", "v3:1x1", 1, 2),
        ("v3-32", "v3:4x4", 16, 32),
        ("v4-8", "v4:2x2x1", 4, 4),
        ("tpu-v5p-128", "v5p:4x4x4", 64, 64),
        ("trillium", "v6e:1x1", 1, 1),
    ],
)
def test_a_name_is_a_slice(text: str, topology: str, chips: int, replicas: int) -> None:
    target = parse(text)
    assert (target.topology, target.chips, target.replicas) == (topology, chips, replicas)


@pytest.mark.parametrize("text", ["tpu-v9", "tpu-v5e-3", "v3-9", "tpu", "v5e-", "gpu", "tpu-v5e:8"])
def test_what_does_not_exist_is_told_with_what_does(text: str) -> None:
    with pytest.raises(TargetError, match=r"v5e|v3"):
        parse(text)


def test_a_list_has_each_target_once() -> None:
    names = [one.name for one in parse_list("tpu-v2, v5e,tpu-v5e,v6e-8")]
    assert names == ["tpu-v2", "tpu-v5e", "tpu-v6e-8"]


def test_kinds_of_machines_are_no_generations() -> None:
    assert [is_generation(text) for text in ("tpu-vm", "tpu-node", "cpu", "tpu-v5e", "v7-8")] == [
        False,
        False,
        False,
        True,
        True,
    ]


def test_every_generation_has_a_single_chip_and_a_pod_slice() -> None:
    for one in GENERATIONS:
        assert min(one.slices) == 1
        assert max(one.slices) >= 256
