"""`xlalint verify --strategy`: every strategy of tf.distribute with every way of training, on this machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_support import Ran, RunXlalint, WriteFiles

pytestmark = pytest.mark.slow

Verify = Callable[..., tuple[Ran, dict[str, Any]]]


@pytest.fixture
def verify(write: WriteFiles, xlalint: RunXlalint) -> Verify:
    """Train `source` for two steps under `strategies`: (what ran, its report)."""

    def run(source: str, strategies: str) -> tuple[Ran, dict[str, Any]]:
        write({"train.py": source})
        command = ("--", sys.executable, "train.py")
        options = ("--steps", "2", "--timeout", "240", "--format", "json")
        ran = xlalint("verify", *options, "--strategy", strategies, *command)
        assert ran.out.startswith("{"), ran.err
        return ran, json.loads(ran.out)

    return run


def under(report: dict[str, Any], strategy: str) -> dict[str, Any]:
    (found,) = [one for one in report["training"] if one["strategy"] == strategy]
    return found  # type: ignore[no-any-return]


def told(training: dict[str, Any]) -> dict[str, str]:
    return {name: check["detail"] for name, check in training["checks"].items()}


FIT = """\
import numpy as np
{keras}
x, y = np.random.rand(64, 8).astype("float32"), np.random.randint(0, 3, 64)
model = keras.Sequential([
    keras.Input((8,)), keras.layers.Dense(4), keras.layers.BatchNormalization(), keras.layers.Dense(3)
])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("sgd", loss, metrics=["accuracy"])
model.fit(x, y, batch_size=16, epochs=9, verbose=0)
"""

SEVERAL = "mirrored:4,central-storage,multi-worker,parameter-server"
IN_NAMES = SEVERAL.replace(":4", "").split(",")


def test_fit_of_keras_3_trains_where_tensorflow_can_and_says_where_it_cannot(
    verify: Verify,
) -> None:
    ran, report = verify(FIT.format(keras="import keras"), SEVERAL)
    assert ran.status == 2  # what was asked for could not be done
    assert [(one, under(report, one)["status"]) for one in IN_NAMES] == [
        ("mirrored", "ended"),
        ("central-storage", "impossible"),
        ("multi-worker", "impossible"),
        ("parameter-server", "impossible"),
    ]
    assert under(report, "mirrored")["replicas"] == 4
    assert told(under(report, "mirrored"))["variables"].startswith("equal on every replica")
    details = [under(report, one)["detail"] for one in IN_NAMES[1:]]
    assert "tf_keras works" in details[0]
    assert all("fit of tf_keras works" in detail for detail in details[1:])
    assert all(under(report, one)["failure"]["line"] == 9 for one in IN_NAMES[1:])


def test_fit_of_tf_keras_trains_under_every_strategy(verify: Verify) -> None:
    ran, report = verify(FIT.format(keras="import tf_keras as keras"), SEVERAL)
    assert ran.status == 0, ran.out
    assert [(one, under(report, one)["status"]) for one in IN_NAMES] == [
        (one, "ended") for one in IN_NAMES
    ]
    assert all(under(report, one)["steps"] == 2 for one in IN_NAMES)
    assert told(under(report, "multi-worker")) == {
        "loss": "finite in every step",
        "variables": "equal on every worker (10 variables)",
        "workers": "worker 0 made 2 steps, worker 1 made 2 steps",
    }
    assert told(under(report, "parameter-server"))["workers"].startswith("3 servers ran")


LOOP = """\
import keras
import numpy as np
import tensorflow as tf

model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4, "relu"), keras.layers.Dense(3)])
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(0.1)
x, y = np.random.rand(64, 8).astype("float32"), np.random.randint(0, 3, 64)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for inputs in tf.data.Dataset.from_tensor_slices((x, y)).batch(16).repeat():
    loss = train_step(*inputs)
    print(f"loss {float(loss):.3f}")
"""


def test_a_loop_that_names_no_strategy_trains_under_each(verify: Verify) -> None:
    ran, report = verify(LOOP, f"{SEVERAL},tpu")
    assert ran.status == 0, ran.out
    assert [(one, under(report, one)["status"]) for one in [*IN_NAMES, "tpu"]] == [
        (one, "stopped") for one in [*IN_NAMES, "tpu"]
    ]
    assert told(under(report, "mirrored"))["variables"] == "equal on every replica (6 variables)"
    # The step itself is compiled alone, as it is.
    (step,) = report["targets"]
    assert (step["function"], step["checks"]["lower"]["status"]) == ("train_step", "ok")


OWN_LOOP = """\
import json, os, sys
import tensorflow as tf

# As TensorFlow's guide does: a cluster that is not this one.
os.environ["TF_CONFIG"] = json.dumps({{
    "cluster": {{"worker": ["localhost:12345", "localhost:23456"]}}, "task": {{"type": "worker", "index": 0}}
}})
strategy = tf.distribute.MultiWorkerMirroredStrategy()
task = strategy.cluster_resolver.task_id or 0
with strategy.scope():
    weights = tf.Variable(tf.zeros([4, 1]))
    optimizer = tf.keras.optimizers.SGD(0.1)
data = tf.data.Dataset.from_tensor_slices(tf.random.normal([64, 4], seed=1)).batch(8).repeat()
data = strategy.experimental_distribute_dataset(data)


def replica_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ weights - 1.0))
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss


@tf.function
def train_step(x):
    return strategy.reduce("MEAN", strategy.run(replica_step, args=(x,)), axis=None)


for index, x in enumerate(data):
    train_step(x)
    {then}
"""
DRIFTS = "weights.assign_add(tf.ones([4, 1]) * float(task))"
DIES = "os._exit(7) if task == 1 and index == 0 else None"
RAISES = "None if task == 0 else [][index]"


def test_a_program_with_several_workers_trains_on_real_ones(verify: Verify) -> None:
    ran, report = verify(OWN_LOOP.format(then="pass"), "multi-worker")
    assert ran.status == 0, ran.out
    assert [(one["strategy"], one["replicas"], one["status"]) for one in report["training"]] == [
        ("none", 1, "stopped"),
        ("multi-worker", 2, "stopped"),
    ]
    assert told(report["training"][1])["variables"] == "equal on every worker (1 variable)"


@pytest.mark.parametrize(
    ("then", "detail", "line"),
    [
        (DIES, "worker 1 died after 1 step: its process exited with code 7", 0),
        (RAISES, "worker 1 failed first: IndexError: list index out of range", 31),
    ],
    ids=["dies", "raises"],
)
def test_a_worker_that_fails_is_named(
    verify: Verify, then: str, detail: str, line: int, tmp_path: Path
) -> None:
    ran, report = verify(OWN_LOOP.format(then=then), "multi-worker")
    assert ran.status == 1
    training = under(report, "multi-worker")
    assert (training["status"], training["detail"]) == ("failed", detail)
    assert (training["failure"] or {"line": 0})["line"] == line
    assert not _left_behind(tmp_path)


def test_workers_that_drift_apart_are_found(verify: Verify) -> None:
    ran, report = verify(OWN_LOOP.format(then=DRIFTS), "multi-worker")
    assert ran.status == 1
    check = under(report, "multi-worker")["checks"]["variables"]
    assert check["status"] == "failed"
    assert check["detail"].startswith("the workers disagree on Variable")


def _left_behind(folder: Path) -> list[str]:
    """Processes that still run in the program's folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").resolve().is_relative_to(folder.resolve()):
                found.append((process / "cmdline").read_bytes().decode())
        except OSError:
            continue
    return [command for command in found if "child.py" in command]


UNEVEN = """\
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    weights = tf.Variable(tf.zeros([4, 1]))
    optimizer = tf.keras.optimizers.SGD(0.1)
data = tf.data.Dataset.from_tensor_slices(tf.ones([81, 4])).shuffle(81).batch(16)


def replica_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ weights - 1.0))  # of no rows: NaN
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss


@tf.function
def train_step(x):
    return strategy.reduce("MEAN", strategy.run(replica_step, args=(x,)), axis=None)


for epoch in range(9):
    for x in strategy.experimental_distribute_dataset(data):
        train_step(x)
"""


def test_the_last_step_has_the_batch_that_leaves_a_replica_without_examples(verify: Verify) -> None:
    ran, report = verify(UNEVEN, "mirrored")
    assert ran.status == 1
    training = under(report, "mirrored")
    assert told(training) == {
        "variables": "equal on every replica (3 variables)",  # no rows, no gradient
        "loss": "not a number in step 2",
        "last batch": "step 2 had 1 of 16 rows, as each epoch's last, which leaves 1 of 2 replicas without examples: "
        "the loss is not a number",
    }


SERVERS = """\
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    weights = tf.Variable(tf.zeros([4, 1]))
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.build([weights])


def dataset_fn():
    return tf.data.Dataset.from_tensor_slices(tf.ones([64, 4])).batch(8).repeat()


@tf.function
def step_fn(iterator):
    def replica_fn(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ weights - 1.0))
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
        return loss

    return strategy.run(replica_fn, args=(next(iterator),))


@tf.function
def per_worker():
    return strategy.distribute_datasets_from_function(lambda context: dataset_fn())


iterator = iter(coordinator.create_per_worker_dataset(per_worker))
for step in range(100):
    loss = coordinator.schedule(step_fn, args=(iterator,))
coordinator.join()
print("loss", float(loss.fetch()))
"""


def test_a_program_for_parameter_servers_trains_on_real_ones(verify: Verify) -> None:
    ran, report = verify(SERVERS, "parameter-server")
    assert ran.status == 0, ran.out
    alone, servers = report["training"]
    assert (servers["status"], servers["steps"]) == ("stopped", 2)
    assert servers["losses"] == pytest.approx([1.0, 0.04], rel=1e-3)
    # Without servers the program ran on one device, so that its step could be compiled.
    assert (alone["status"], alone["losses"]) == ("stopped", servers["losses"])
    assert "step_fn" in {target["function"] for target in report["targets"]}
