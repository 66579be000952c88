"""The arguments of what a script called: with values where there were any, with shapes always."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = pytest.mark.compiler

HELPERS = """
import functools
import tensorflow as tf

def scale(x, factor=2.0, *, shift=0.0):
    return x * factor + shift

class Head:
    bias = 1.0

    def add(self, x):
        return x + self.bias

def traced(decorated):
    @functools.wraps(decorated)
    def wrapper(*args, **kwargs):
        return decorated(*args, **kwargs)
    return wrapper

@traced
def decorated(first, *rest, **named):
    return first

head = Head()
"""

CONVERTED = """
@tf.function
def step(x):
    return head.add(scale(x, shift=3.0))
"""

UNCONVERTED = """
@tf.function(autograph=False)
def step(x):
    return head.add(scale(x, shift=3.0))
"""


@pytest.mark.parametrize("step", [CONVERTED, UNCONVERTED], ids=["converted", "autograph=False"])
def test_helpers_called_inside_a_traced_function(train: Callable, step: str) -> None:
    trained = train(
        HELPERS + step + "for _ in range(3):\n    step(tf.constant([1.0, 2.0]))\n",
        flag=["def scale", "def add"],
    )
    assert trained.error is None
    scale = trained.capture("plain", "scale")
    assert scale["signatures"] in ([["float32(2,)"]], [["float32(2,)", 2.0]])
    assert scale["examples"][0]["kwargs"] == {"shift": 3.0}
    assert not scale["examples"][0]["has_values"]
    assert scale["calls"] == 1  # traced once
    add = trained.capture("plain", "add")
    assert (add["bound_to"], add["signatures"]) == ("Head", [["float32(2,)"]])
    whole = trained.capture("tf.function", "step")
    assert (whole["calls"], whole["traces"], whole["line"]) == (3, 1, 26)
    assert [example["args"] for example in whole["examples"]] == [[[1.0, 2.0]], [[1.0, 2.0]]]


def test_helpers_called_in_eager_code(train: Callable) -> None:
    trained = train(
        HELPERS
        + """
scale(tf.constant([1.0]), 3.0)
scale(tf.constant([[2.0]]), shift=1.0)
scale(tf.constant([5.0]), 3.0)
head.add(tf.constant(4.0))
decorated(1, 2, 3, name="x")
del scale, head
""",
        flag=["def scale", "def add", "def decorated"],
    )
    assert trained.error is None
    scale = trained.capture("plain", "scale")
    assert [(call["args"], call["kwargs"]) for call in scale["examples"]] == [
        ([[1.0], 3.0], {"shift": 0.0}),
        ([[[2.0]], 2.0], {"shift": 1.0}),
    ]
    assert scale["calls"] == 3
    assert scale["signatures"] == [["float32(1,)", 3.0], ["float32(1, 1)", 2.0]]
    add = trained.capture("plain", "add")
    assert (add["bound_to"], add["examples"][0]["args"]) == ("Head", [4.0])
    both = trained.capture("plain", "decorated")
    assert (both["examples"][0]["args"], both["examples"][0]["kwargs"]) == (
        [1, 2, 3],
        {"name": "x"},
    )


def test_examples_are_copies_and_signatures_are_eight_at_most(train: Callable) -> None:
    trained = train(
        """
import numpy as np
import tensorflow as tf
buffer = np.zeros(2, "float32")

@tf.function
def step(x, variable, flag):
    return x + variable

weight = tf.Variable(1.0)
step(buffer, weight, True)
buffer[:] = 9
for size in range(10):
    step(tf.ones([size]), weight, False)
"""
    )
    step = trained.capture("tf.function", "step")
    assert step["examples"][0]["args"][0] == [0.0, 0.0]
    assert len(step["examples"]) == 2
    assert len(step["signatures"]) == 8
    assert (step["calls"], step["traces"]) == (11, 11)


def test_a_method_that_is_a_tf_function_and_a_step_defined_inside_one(train: Callable) -> None:
    trained = train(
        """
import tensorflow as tf

class Trainer:
    @tf.function
    def step(self, iterator):
        def inner(batch):
            return batch["x"] * 2.0
        return tf.distribute.get_strategy().run(inner, args=(next(iterator),))

    @tf.function
    def evaluate(self, batch):
        return tf.distribute.get_strategy().run(outputs, args=(batch,))

def outputs(batch):
    return batch["x"]

dataset = tf.data.Dataset.from_tensors({"x": [1.0, 2.0]}).repeat()
trainer = Trainer()
trainer.step(iter(dataset))
trainer.evaluate({"x": tf.constant([5.0])})
"""
    )
    assert trained.error is None
    step = trained.capture("tf.function", "Trainer.step")
    assert (step["line"], step["bound_to"], step["calls"]) == (5, "Trainer", 1)
    inner = trained.capture("strategy.run", "inner")
    assert inner["line"] == 7
    assert inner["path"].endswith("train.py")
    # Traced only: the values are the next batch of the iterator that the tf.function was given.
    assert inner["examples"][0] == {
        "args": [{"x": [1.0, 2.0]}],
        "kwargs": {},
        "has_values": True,
    }
    # ... or the batch that it was called with.
    assert trained.capture("strategy.run", "outputs")["examples"][0]["args"] == [{"x": [5.0]}]


def test_a_train_step_of_the_users_own_model(train: Callable) -> None:
    trained = train(
        """
import keras
import numpy as np

class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(1)

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        return super().train_step((x, y))

model = Model()
model.compile("sgd", "mse")
model.fit(np.full((6, 2), 3.0), np.ones(6), batch_size=3, verbose=0)
"""
    )
    assert trained.error is None
    step = trained.capture("train_step", "Model.train_step")
    assert (step["line"], step["bound_to"]) == (13, "Model")
    ((features, labels),) = step["examples"][0]["args"]
    assert features == [[3.0, 3.0]] * 3
    assert [label for row in labels for label in (row if isinstance(row, list) else [row])] == [
        1.0
    ] * 3
