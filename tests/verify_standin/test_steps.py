"""Training stops after the steps asked for, in loops of every kind, and leaves the user's files alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.compiler

ARRAYS = """
import numpy as np
{keras}
features, labels = np.ones((40, 8), "float32"), np.zeros(40, "int32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3, kernel_initializer="zeros")])
model.compile(keras.optimizers.SGD(0.1), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
"""

KERAS = pytest.mark.parametrize("keras", ["import keras", "import tf_keras as keras"])


@KERAS
def test_fit_makes_the_steps_across_epochs_and_the_script_goes_on(
    train: Callable, keras: str
) -> None:
    trained = train(
        ARRAYS.format(keras=keras)
        + """
history = model.fit(features, labels, batch_size=16, epochs=50, verbose=0, validation_split=0.1)
print("optimizer", int(model.optimizer.iterations))
print("epochs", len(history.history["val_loss"]))
print("predictions", model.predict(features, verbose=0).shape)
print("evaluated", model.evaluate(features, labels, verbose=0) > 0)
model.fit(features, labels)
print("never reached")
""",
        steps=5,
    )
    assert trained.error is None
    # 36 rows make three batches: three steps, then two.
    assert trained.printed.splitlines() == [
        "optimizer 5",
        "epochs 2",
        "predictions (40, 3)",
        "evaluated True",
    ]
    assert (trained.end, trained.done) == ("stopped", 5)
    assert [(step["index"], step["source"]) for step in trained.steps] == [
        (index, "fit") for index in (1, 2, 3, 4, 5)
    ]
    assert trained.losses[0] == pytest.approx(math.log(3), rel=1e-5)
    # Each step's own loss, not the epoch's mean so far: all rows are the same, so it falls and falls.
    assert trained.losses == sorted(trained.losses, reverse=True)
    assert trained.losses[4] < trained.losses[3] < trained.losses[2]


def test_fit_with_steps_per_epoch_and_one_train_function_call_for_many_steps(
    train: Callable,
) -> None:
    trained = train(
        ARRAYS.format(keras="import keras\nimport tensorflow as tf")
        + """
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), steps_per_execution=100)
dataset = tf.data.Dataset.from_tensor_slices((features, labels)).batch(8, drop_remainder=True).repeat()
model.fit(dataset, steps_per_epoch=1000, epochs=10, verbose=0, validation_data=dataset)
print("optimizer", int(model.optimizer.iterations))
""",
        steps=3,
    )
    assert (trained.end, trained.error) == ("returned", None)
    assert trained.printed == "optimizer 3\n"
    assert [(step["index"], step["count"]) for step in trained.steps] == [(3, 3)]


LOOP = """
import keras
import tensorflow as tf
weight = tf.Variable(2.0)
optimizer = keras.optimizers.SGD(0.1)

{decorator}
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((weight * x) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
    return {result}

for step in range(100):
    train_step(tf.ones([4]))
    print("step", step)
"""


@pytest.mark.parametrize(
    ("decorator", "source", "line"),
    [("@tf.function", "function", 7), ("", "eager", 11)],
    ids=["tf.function", "eager"],
)
def test_a_loop_of_the_users_makes_exactly_the_steps(
    train: Callable, decorator: str, source: str, line: int
) -> None:
    trained = train(LOOP.format(decorator=decorator, result="{'norm': x, 'loss': loss}"), steps=3)
    assert (trained.end, trained.error, trained.done) == ("stopped", None, 3)
    assert trained.printed.splitlines() == ["step 0", "step 1", "step 2"]
    assert [(step["index"], step["source"], step["line"]) for step in trained.steps] == [
        (1, source, line),
        (2, source, line),
        (3, source, line),
    ]
    # w = 2, then each step takes 0.1 * 2w off it.
    assert trained.losses == pytest.approx([4.0, 2.56, 1.6384], rel=1e-5)


def test_two_optimizers_by_turns_make_one_step_together(train: Callable) -> None:
    trained = train(
        """
import keras
import tensorflow as tf
weights = [tf.Variable(1.0), tf.Variable(2.0)]
optimizers = [keras.optimizers.SGD(0.1), keras.optimizers.SGD(0.1)]

def make(index):
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((weights[index] * x) ** 2)
        optimizers[index].apply_gradients([(tape.gradient(loss, weights[index]), weights[index])])
        return loss
    return step

@tf.function
def critic(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((weights[1] * x) ** 2)
    optimizers[1].apply_gradients([(tape.gradient(loss, weights[1]), weights[1])])
    return loss

generator = make(0)
for _ in range(100):
    generator(tf.ones([4]))
    critic(tf.ones([4]))
    print([int(optimizer.iterations) for optimizer in optimizers])
""",
        steps=2,
    )
    assert (trained.end, trained.done) == ("stopped", 2)
    assert trained.printed.splitlines() == ["[1, 1]", "[2, 2]"]


def test_an_epoch_inside_one_tf_function_is_cut_to_the_steps(train: Callable) -> None:
    trained = train(
        """
import keras
import tensorflow as tf
weight = tf.Variable(2.0)
optimizer = keras.optimizers.SGD(0.1)

@tf.function
def epoch(dataset):
    for x in dataset:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((weight * x) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])

dataset = tf.data.Dataset.from_tensors(tf.ones([4])).repeat(10000)
for _ in range(5):
    epoch(dataset)
    print("steps", int(optimizer.iterations))
""",
        steps=4,
    )
    assert (trained.end, trained.done, trained.printed) == ("stopped", 4, "steps 4\n")


INNER = """
import tensorflow as tf
weight = tf.Variable(2.0)
made = tf.Variable(0)
dataset = tf.data.Dataset.from_tensors(tf.ones([4])).repeat()

def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((weight * x) ** 2)
    weight.assign_sub(0.1 * tape.gradient(loss, weight))
    made.assign_add(1)
    return loss

@tf.function
def train_many():
    for i in tf.range(3):  # trains nothing
        weight.assign_add(0.0)
{loop}

for _ in range(5):
    train_many()
    print("made", int(made))
"""

INNER_LOOPS = {
    "range": "    for _ in tf.range(1000):\n        step(tf.ones([4]))",
    "while": "    while tf.constant(True):\n        step(tf.ones([4]))",
    "dataset": "    for x in dataset:\n        step(x)",
    "nested": "    for _ in tf.range(9):\n        for _ in tf.range(9):\n            step(tf.ones([4]))",
}


@pytest.mark.parametrize("loop", INNER_LOOPS.values(), ids=INNER_LOOPS)
def test_a_loop_inside_a_tf_function_is_cut_to_the_steps_whatever_its_length(
    loop: str, train: Callable
) -> None:
    trained = train(INNER.format(loop=loop), steps=4)
    assert (trained.end, trained.error, trained.done) == ("stopped", None, 4)
    assert trained.printed == "made 4\n"


def test_a_short_loop_inside_a_tf_function_makes_the_steps_that_it_makes(train: Callable) -> None:
    short = "    for _ in tf.range(2):\n        step(tf.ones([4]))"
    trained = train(INNER.format(loop=short), steps=4)
    assert (trained.end, trained.done, trained.printed) == ("stopped", 4, "made 2\nmade 4\n")


def test_weights_updated_by_hand_are_steps_too(train: Callable) -> None:
    trained = train(
        """
import tensorflow as tf
weight = tf.Variable(2.0)

@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((weight * x) ** 2)
    weight.assign_sub(0.1 * tape.gradient(loss, weight))
    return loss

for step in range(100):
    train_step(tf.ones([4]))
    print("step", step)
""",
        steps=2,
    )
    assert (trained.end, trained.printed) == ("stopped", "step 0\nstep 1\n")
    assert trained.losses == pytest.approx([4.0, 2.56])


SAVES = (
    ARRAYS.format(keras="import os\nimport keras\nimport tensorflow as tf")
    + """
callbacks = [
    keras.callbacks.ModelCheckpoint("run/{epoch:02d}.keras"),
    keras.callbacks.CSVLogger("run/log.csv"),
    keras.callbacks.BackupAndRestore("run/backup"),
]
model.fit(features, labels, batch_size=20, verbose=0, callbacks=callbacks)
model.save("model.keras")
model.save_weights("model.weights.h5")
model.load_weights("model.weights.h5")
print("loaded", keras.models.load_model("model.keras").count_params())
checkpoint = tf.train.Checkpoint(weight=tf.Variable(7.0))
manager = tf.train.CheckpointManager(checkpoint, "checkpoints", max_to_keep=1)
print("kept", os.path.basename(manager.latest_checkpoint))
for _ in range(3):
    manager.save()
checkpoint.weight.assign(0.0)
checkpoint.restore(manager.latest_checkpoint)
print("restored", float(checkpoint.weight))
tf.saved_model.save(tf.Module(), "saved")
"""
)


def test_what_the_script_saves_goes_elsewhere_and_can_be_loaded_again(train: Callable) -> None:
    def users_files(directory: Path) -> list[str]:
        files = directory.rglob("*")
        return sorted(str(path.relative_to(directory)) for path in files if path.is_file())

    # A checkpoint of an earlier run, which the manager's own save would delete.
    before = {
        "checkpoint": 'model_checkpoint_path: "ckpt-9"\nall_model_checkpoint_paths: "ckpt-9"\n'
    }
    before |= {"ckpt-9.index": "", "ckpt-9.data-00000-of-00001": ""}
    files = {f"checkpoints/{name}": text for name, text in before.items()}
    trained = train(SAVES, files=files)
    assert (trained.end, trained.error) == ("returned", None)
    assert trained.printed.splitlines() == ["loaded 27", "kept ckpt-9", "restored 7.0"]
    assert users_files(trained.directory) == [
        "checkpoints/checkpoint",
        "checkpoints/ckpt-9.data-00000-of-00001",
        "checkpoints/ckpt-9.index",
        "train.py",
    ]
    written = {path.partition("project/")[2].partition("/")[0] for path in trained.outputs}
    assert written == {"checkpoints", "model.keras", "model.weights.h5", "run", "saved"}
