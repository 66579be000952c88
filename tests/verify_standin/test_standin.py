"""Scripts written for a TPU, unchanged, on one CPU device."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.compiler

CONNECT = """
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
"""

DATA = """
GLOBAL_BATCH = 4 * strategy.num_replicas_in_sync
features, labels = tf.random.normal([96, 8]), tf.random.uniform([96], 0, 3, tf.int32)
dataset = tf.data.Dataset.from_tensor_slices((features, labels)).repeat()
dataset = dataset.batch(GLOBAL_BATCH, drop_remainder=True)
"""

MODEL = """
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dropout(0.1), keras.layers.Dense(3)])
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss_fn, metrics=["accuracy"], steps_per_execution={steps_per_execution})
"""

FIT = (
    "import tensorflow as tf\n{keras}\n"
    + CONNECT
    + DATA
    + MODEL
    + """
print("replicas", strategy.num_replicas_in_sync)
print("devices", len(tf.config.list_logical_devices("TPU")))
model.fit(dataset, epochs=3, steps_per_epoch=40, verbose=0)
print("went on")
"""
)

STEP = """
with strategy.scope():
    weights = tf.Variable(tf.zeros([8, 3]))
    optimizer = keras.optimizers.SGD(0.1)
    optimizer.build([weights])

def step_fn(inputs):
    x, y = inputs
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, x @ weights)
        loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH)
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss
"""


@pytest.mark.parametrize(
    ("library", "steps_per_execution", "steps_in_each_execution"),
    [
        ("import keras", 1, [1, 1, 1, 1]),
        ("import keras", 2, [2, 2]),
        ("import tf_keras as keras", 1, [1, 1, 1, 1]),
        ("import tf_keras as keras", 2, [2, 2]),
    ],
)
def test_fit_trains_under_the_stand_in(
    train: Callable, library: str, steps_per_execution: int, steps_in_each_execution: list[int]
) -> None:
    script = FIT.format(keras=library, steps_per_execution=steps_per_execution)
    trained = train(script, steps=4, tpu=8)
    assert (trained.end, trained.error) == ("returned", None)
    assert trained.printed.splitlines() == ["replicas 8", "devices 8", "went on"]
    assert [step["count"] for step in trained.steps] == steps_in_each_execution
    assert all(0.1 < loss < 10 for loss in trained.losses)
    step = trained.capture("train_step", "train_step")
    assert step["signatures"] == [[["float32(4, 8)", "int32(4,)"]]]  # a replica's share


@pytest.mark.parametrize("library", ["import keras", "import tf_keras as keras"])
def test_a_step_trains_as_on_replica_0s_share_alone(train: Callable, library: str) -> None:
    script = (
        f"import numpy as np\nimport tensorflow as tf\n{library}\n"
        + CONNECT
        + """
features, labels = np.random.rand(32, 8).astype("float32"), np.random.randint(0, 3, 32)

def build():
    dense = keras.layers.Dense(3, kernel_initializer="ones")
    model = keras.Sequential([keras.Input((8,)), dense])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.5), loss)
    return model

with strategy.scope():
    distributed = build()
batches = tf.data.Dataset.from_tensor_slices((features, labels)).batch(32, drop_remainder=True)
distributed.fit(batches, verbose=0)
alone = build()
alone.fit(features[:4], labels[:4], batch_size=4, verbose=0)
moved = np.abs(alone.get_weights()[0] - 1).max()
apart = np.abs(alone.get_weights()[0] - distributed.get_weights()[0]).max()
print("moved", moved > 0.01, "apart", apart > 1e-6)
"""
    )
    trained = train(script, tpu=8)
    assert trained.error is None
    assert trained.printed == "moved True apart False\n"


def test_a_loop_over_a_distributed_dataset_with_the_fall_back_idiom(train: Callable) -> None:
    script = (
        """
import tensorflow as tf, keras
try:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
    strategy = tf.distribute.experimental.TPUStrategy(resolver)
except ValueError:
    strategy = tf.distribute.get_strategy()
print("replicas", strategy.num_replicas_in_sync, isinstance(strategy, tf.distribute.TPUStrategy))
"""
        + DATA
        + STEP
        + """
@tf.function
def train_step(iterator):
    per_replica = strategy.run(step_fn, args=(next(iterator),))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)

iterator = iter(strategy.experimental_distribute_dataset(dataset))
for _ in range(100):
    train_step(iterator)
"""
    )
    trained = train(script, tpu=8)
    assert (trained.end, trained.error) == ("stopped", None)
    assert trained.printed == "replicas 8 True\n"
    # The per-replica losses are divided by the global batch: their sum over 8 replicas is the mean.
    assert trained.losses[0] == pytest.approx(math.log(3), rel=1e-5)
    step = trained.capture("strategy.run", "step_fn")
    assert step["examples"][0]["has_values"]


def test_a_dataset_per_worker_and_a_loop_inside_the_tf_function(train: Callable) -> None:
    script = (
        "import tensorflow as tf, keras\n"
        + CONNECT
        + DATA
        + STEP
        + """
def dataset_fn(context):
    print("per replica", context.get_per_replica_batch_size(GLOBAL_BATCH))
    return dataset.unbatch().batch(4, drop_remainder=True)

train_loss = keras.metrics.Mean(name="train_loss")

@tf.function
def train_many(iterator, steps):
    for _ in tf.range(steps):
        per_replica = strategy.run(step_fn, args=(next(iterator),))
        train_loss.update_state(strategy.reduce("sum", per_replica, axis=None))

iterator = iter(strategy.distribute_datasets_from_function(dataset_fn))
for _ in range(3):
    train_many(iterator, tf.constant(780))
    print("steps", int(optimizer.iterations))
"""
    )
    trained = train(script, tpu=8)
    assert (trained.end, trained.error) == ("stopped", None)
    assert trained.printed.splitlines() == ["per replica 4", "steps 3"]
    assert [(step["index"], step["count"]) for step in trained.steps] == [(3, 3)]
    assert 0.1 < trained.losses[0] < 10


def test_results_are_one_per_replica_and_reductions_count_every_replica(train: Callable) -> None:
    script = (
        "import tensorflow as tf\n"
        + CONNECT
        + """
@tf.function(jit_compile=False)
def replica(x):
    context = tf.distribute.get_replica_context()
    total = context.all_reduce("sum", x)
    return {"x": x, "sum": total, "mean": context.all_reduce("mean", x)}

out = strategy.run(replica, args=(tf.constant(2.0),))
print([len(strategy.experimental_local_results(out[name])) for name in sorted(out)])
print([float(strategy.reduce("mean", out[name], axis=None)) for name in sorted(out)])
print(float(strategy.reduce("sum", out["x"], axis=None)))
print(strategy.gather(strategy.run(tf.function(lambda: tf.ones([2]))), axis=0).shape)
ids = strategy.experimental_distribute_values_from_function(lambda c: c.replica_id_in_sync_group)
print(strategy.experimental_local_results(ids))
"""
    )
    trained = train(script, tpu=4)
    assert trained.error is None
    assert trained.printed.splitlines() == [
        "[4, 4, 4]",
        "[2.0, 8.0, 2.0]",
        "8.0",
        "(8,)",
        "(0, 1, 2, 3)",
    ]


EAGER_RUN = "strategy.run(lambda: tf.ones([2]))\n"
RAGGED = (
    "rows = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3]])).batch(2)\n"
    "strategy.experimental_distribute_dataset(rows)\n"
)
XLA_ALWAYS = (
    "@tf.function(jit_compile=False)\n"
    "def replica(x):\n"
    "    return tf.unique_with_counts(x)\n"
    "strategy.run(replica, args=(tf.constant([1, 1, 2]),))\n"
)


PER_REPLICA = (
    "options = tf.distribute.InputOptions(\n"
    "    experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA,\n"
    "    experimental_fetch_to_device=False,\n"
    ")\n"
    "strategy.distribute_datasets_from_function(lambda context: tf.data.Dataset.range(8), options)\n"
)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (PER_REPLICA, "InputReplicationMode.PER_REPLICA is only supported"),
        (EAGER_RUN, "NotImplementedError: TPUStrategy.run(fn, ...) does not support pure eager"),
        (RAGGED, "TPUStrategy does not support distributed datasets with device prefetch"),
        (XLA_ALWAYS, "UniqueWithCounts"),
    ],
    ids=["input-per-replica", "eager-run", "ragged-input", "compiled-whatever-the-flag"],
)
def test_what_a_tpu_refuses_is_refused(train: Callable, body: str, message: str) -> None:
    trained = train("import tensorflow as tf\n" + CONNECT + body, tpu=8)
    assert trained.end == "failed"
    assert message in trained.error


def test_what_a_tpu_minds_is_told_with_the_users_line(train: Callable) -> None:
    script = (
        "import tensorflow as tf\n"
        + CONNECT
        + """
numbers = tf.data.Dataset.range(64)
strategy.experimental_distribute_dataset(numbers.batch(16))
strategy.experimental_distribute_dataset(numbers.batch(12, drop_remainder=True))
strategy.experimental_distribute_dataset(numbers.batch(16, drop_remainder=True))
topology = tf.tpu.experimental.initialize_tpu_system(resolver)
assignment = tf.tpu.experimental.DeviceAssignment.build(topology, num_replicas=4)
tf.distribute.TPUStrategy(resolver, experimental_device_assignment=assignment)
"""
    )
    trained = train(script, tpu=8)
    assert trained.error is None
    assert [(event["kind"], event["line"]) for event in trained.events] == [
        ("dynamic-batch", 9),
        ("batch-not-divisible", 10),
        ("unsupported-argument", 14),
    ]
    assert trained.events[1]["detail"] == "a batch of 12 does not split over 8 replicas"


def test_a_tensorflow_without_a_part_of_it_is_said_so(train: Callable) -> None:
    trained = train(
        """
import tensorflow.python.distribute.one_device_strategy as one_device
from xlalint.verify import standin

del one_device.OneDeviceExtended
try:
    standin.install()
except standin.StandinUnavailable as reason:
    print(reason)
"""
    )
    assert trained.error is None
    assert trained.printed.partition(" has no ")[2] == (
        "tensorflow.python.distribute.one_device_strategy.OneDeviceExtended\n"
    )
