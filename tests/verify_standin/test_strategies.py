"""The strategies that a script without one can be tried under."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import xlalint
from xlalint.verify import strategies

PROGRAM = """
import json, sys
from xlalint.verify import steps, strategies

name, devices = sys.argv[1], int(sys.argv[2])
losses = []
steps.limit(3, lambda step: losses.append(step.loss))
strategies.prepare(name, devices)
strategy = strategies.make(name, devices)

def script():
    import keras
    import numpy as np
    import tensorflow as tf
    print("replicas", tf.distribute.get_strategy().num_replicas_in_sync)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    model.compile("adam", "mse")
    model.fit(np.ones((32, 4)), np.ones((32, 2)), batch_size=16, epochs=9, verbose=0)
    if name == "mirrored" and "break" in sys.argv:
        # The replicas drift apart, as when a variable is made without aggregation.
        model.trainable_variables[0].value.values[1].assign(np.full((4, 2), 5.0))

run = strategies.run_scoped(strategy, script, losses)
print(json.dumps({
    "compared": run.variables_compared,
    "differ": [one.is_trainable for one in run.disagreements],
    "losses": len(losses),
    "unusable": run.unusable_losses,
}))
"""


def run(*arguments: str) -> tuple[str, Any]:
    environment = {
        "PYTHONPATH": str(Path(xlalint.__file__).parents[1]),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    replicas, report = process.stdout.splitlines()
    return replicas, json.loads(report)


@pytest.mark.compiler
@pytest.mark.parametrize(
    ("name", "devices", "replicas", "is_compared"),
    [
        ("one-device", 1, 1, False),
        ("mirrored", 2, 2, True),
        ("mirrored", 4, 4, True),
        ("tpu", 8, 8, False),
    ],
)
def test_a_script_trains_inside_the_scope(
    name: str, devices: int, replicas: int, is_compared: bool
) -> None:
    printed, report = run(name, str(devices))
    assert printed == f"replicas {replicas}"
    assert (report["compared"] > 0) == is_compared
    assert report == {
        "compared": report["compared"],
        "differ": [],
        "losses": 3,
        "unusable": [],
    }


@pytest.mark.compiler
def test_replicas_that_drift_apart_are_found() -> None:
    _, report = run("mirrored", "2", "break")
    assert report["differ"] == [True]


def test_a_loss_that_is_no_number_is_found_by_its_step() -> None:
    assert strategies.unusable([1.0, None, float("nan"), float("inf")]) == (3, 4)


@pytest.mark.parametrize("devices", [1, 9])
def test_mirrored_takes_two_to_eight_devices(devices: int) -> None:
    with pytest.raises(ValueError, match=f"mirrored takes 2 to 8 devices, not {devices}"):
        strategies.prepare("mirrored", devices)


def test_an_unknown_strategy_is_named_with_those_there_are() -> None:
    with pytest.raises(
        ValueError,
        match="unknown strategy 'pod': one of none, one-device, mirrored, multi-worker, ",
    ):
        strategies.prepare("pod")
