"""The stages of `xlalint verify`: what each says of small real programs, through the command line's JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from cli_support import RunXlalint, WriteFiles

pytestmark = pytest.mark.compiler

Targets = dict[str, dict[str, Any]]


@pytest.fixture
def targets(write: WriteFiles, xlalint: RunXlalint) -> Any:
    """The targets of `xlalint verify -- python train.py`, by function."""

    def run(source: str) -> Targets:
        write({"train.py": source})
        command = ("--", sys.executable, "train.py")
        ran = xlalint("verify", "--format", "json", "--strategy", "none", *command)
        assert ran.out.startswith("{"), ran.err
        return {one["function"]: one for one in json.loads(ran.out)["targets"]}

    return run


def line_of(source: str, part: str) -> int:
    (line,) = [number for number, text in enumerate(source.splitlines(), 1) if part in text]
    return line


def outcome(target: dict[str, Any], stage: str) -> tuple[str, str]:
    check = target["checks"][stage]
    return check["status"], check["detail"]


DIFFERENT = """\
import tensorflow as tf


def last(values):
    return values[-1]


@tf.function
def nested_helper(x):
    kept = tf.boolean_mask(x, x > 0)
    return last(kept * 2.0) + tf.reduce_sum(x)


@tf.function
def inner(values):
    scaled = values * 3.0
    return tf.roll(scaled, 1, 0)


@tf.function
def nested_function(x):
    return inner(x[x > 0]) + 1.0


@tf.function
def growing(x):
    rows = tf.TensorArray(tf.float32, size=1, dynamic_size=True)
    for i in tf.range(3):
        rows = rows.write(i, x)
    return rows.stack()


@tf.function
def out_of_bounds(x, i):
    return tf.gather(x * 2.0, i)


class Head(tf.Module):
    def __init__(self):
        self.w = tf.Variable(tf.ones([8]))

    @tf.function
    def step(self, x):
        with tf.GradientTape() as tape:
            kept = x[x > 0] * self.w[:1]
            loss = tf.square(kept[-1])
        self.w.assign_sub(0.1 * tf.convert_to_tensor(tape.gradient(loss, self.w)))
        return loss


x = tf.constant([1.0, -2.0, 3.0, 5.0, -1.0, 2.0, 4.0, -7.0])
nested_helper(x), nested_function(x), growing(x)
head = Head()
head.step(x)
try:
    out_of_bounds(x, tf.constant([1, 20]))
except tf.errors.InvalidArgumentError:
    pass
"""


def test_numbers_that_differ_name_the_line_whose_operation_first_differs(targets: Any) -> None:
    found = targets(DIFFERENT)
    blamed = {
        function: (one["line"], one["column"], one["op"])
        for function, target in found.items()
        for one in target["failures"]
        if one["kind"] == "numbers"
    }
    assert blamed == {
        "nested_helper": (line_of(DIFFERENT, "values[-1]"), 12, "StridedSlice"),
        "nested_function": (line_of(DIFFERENT, "tf.roll"), 12, "Roll"),
        "growing": (line_of(DIFFERENT, "rows.stack"), 12, "TensorListStack"),
        "out_of_bounds": (line_of(DIFFERENT, "tf.gather"), 12, None),
        "Head.step": (line_of(DIFFERENT, "kept[-1]"), 30, "StridedSlice"),
    }
    (failure,) = [one for one in found["nested_helper"]["failures"] if one["kind"] == "numbers"]
    assert failure["message"].startswith("StridedSlice: 8. eagerly, ")
    assert "InvalidArgumentError; XLA returns" in outcome(found["out_of_bounds"], "numbers")[1]


UPDATED = """\
import tensorflow as tf

weights = tf.Variable([[1.0], [2.0]])
bound = tf.Variable(tf.ones([1]))


@tf.function
def joined_step(x):
    with tf.GradientTape() as tape:
        scores = x @ weights
        kept = tf.boolean_mask(scores, x[:, 0] > 0.4)
        loss = tf.reduce_sum(tf.square(tf.concat([kept, scores * 2.0], 0)))
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
    return loss


@tf.function
def looped_step(x):
    for _ in tf.range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(x * bound))
        bound.assign_sub(0.01 * tape.gradient(loss, bound))
    return x


joined_step(tf.reshape(tf.range(16.0) / 16.0, [8, 2]))
looped_step(tf.range(8.0))
"""


def test_gradients_of_updates_that_a_step_makes_itself_are_compared(targets: Any) -> None:
    found = targets(UPDATED)
    status, words = outcome(found["joined_step"], "numbers")
    assert status == "failed"
    # XLA may die of the intermediate values, whose sizes depend on data, when it is asked for them: of a check, or of where it reads.
    assert "gradient 0" in words or "Check failed" in words or "killed by SIGSEGV" in words
    assert outcome(found["looped_step"], "numbers") == ("ok", "")


SAME = """\
import numpy as np
import tensorflow as tf
import keras

generator = tf.random.Generator.from_seed(3)
counter = tf.Variable(0, dtype=tf.int64)
norm, drop = keras.layers.BatchNormalization(), keras.layers.Dropout(0.4)
norm.build([8, 6])


@tf.function
def dropped(x):
    return tf.nn.dropout(x, 0.5) + drop(x, training=True)


@tf.function
def drawn(x):
    return x + generator.normal([6]) + tf.random.normal([6]) + tf.random.stateless_uniform([6], [1, 2])


@tf.function
def normalised(x):
    return norm(x, training=True)


@tf.function
def counted(x):
    counter.assign_add(1)
    return x * tf.cast(counter, tf.float32)


@tf.function
def tied(x):
    y = tf.round(x)
    return tf.sort(y), tf.argsort(y), tf.argmax(y, 1), tf.math.top_k(y, 2)


@tf.function
def nearly_tied(x):
    sums = tf.stack([tf.reduce_sum(x * 0.1, 1), tf.reduce_sum(x, 1) * 0.1], 1)
    return tf.argmax(sums, 1)


@tf.function
def chaotic(x):
    y = tf.math.sigmoid(x)
    for _ in range(60):
        y = 3.99 * y * (1.0 - y)
    return y


@tf.function
def half(x):
    a, b = tf.cast(x, tf.float16), tf.cast(x, tf.bfloat16)
    return tf.nn.softmax(a), tf.matmul(b, b, transpose_b=True), tf.reduce_mean(b)


@tf.function
def double(x):
    y = tf.cast(x, tf.float64)
    return tf.linalg.matmul(y, y, transpose_b=True), tf.exp(y)


@tf.function
def not_numbers(x):
    return tf.math.log(x), x / 0.0


@tf.function
def initialised(x):
    return x @ keras.initializers.GlorotUniform()([6, 6])


@tf.function
def on_host(x):
    return x + np.random.normal()


@tf.function
def shuffled(x):
    return tf.random.shuffle(x)


x = tf.constant(np.random.default_rng(0).normal(size=(8, 6)).astype("float32"))
dropped(x), drawn(x), normalised(x), counted(x), tied(x), nearly_tied(x), chaotic(x), half(x), double(x)
not_numbers(x), initialised(x), on_host(x), shuffled(x)
"""


def test_random_numbers_ties_and_rounding_are_no_wrong_results(targets: Any) -> None:
    found = targets(SAME)
    assert [one["failures"] for one in found.values()] == [[]] * 13
    numbers = {function: outcome(target, "numbers") for function, target in found.items()}
    for function in ("dropped", "drawn", "normalised", "counted", "half", "double", "not_numbers"):
        assert numbers[function] == ("ok", "")
    by_order = "differ by the order in which TopKV2 takes equal values"
    by_a_bit = "differ within what one bit of the inputs changes"
    assert numbers["tied"] in (("ok", by_order), ("ok", ""))
    assert numbers["nearly_tied"] in (("ok", by_a_bit), ("ok", ""))
    assert numbers["chaotic"] == ("ok", by_a_bit)
    by_itself = "not compared: eager code gives other numbers each time it is called"
    assert numbers["on_host"] == numbers["initialised"] == ("skipped", by_itself)
    shuffle = "not compared: RandomShuffle draws other numbers under XLA"
    assert numbers["shuffled"] == ("skipped", shuffle)


OUTCOMES = """\
import dataclasses
import tensorflow as tf
import keras

size = tf.Variable(3, name="size")


@dataclasses.dataclass(eq=False)
class Batch:
    x: tf.Tensor
    mask: tf.Tensor


class Gate(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(4)

    def call(self, x, training=False):
        return self.dense(x) if training else x


gate = Gate()
gate.build([8, 4])
gate.dense.build([8, 4])


def helper(values, mask):
    return tf.reduce_sum(tf.boolean_mask(values, mask))


@tf.function
def step(batch, name, scale=None):
    return helper(gate(batch.x, training=True)[:, 0], batch.mask)


@tf.function
def sized_by_argument(x, n):
    return tf.reduce_sum(tf.range(n)) + tf.cast(x[0, 0], tf.int32)


@tf.function
def sized_by_mask(x, mask):
    return tf.zeros([tf.reduce_sum(tf.cast(mask, tf.int32))]) + x[0, 0]


@tf.function
def hardest(values, mask):
    kept = tf.boolean_mask(values, mask)
    return tf.reduce_mean(tf.math.top_k(kept, tf.minimum(2, tf.size(kept)))[0])  # the gradient


@tf.function
def sized_by_variable(x):
    return tf.zeros([size]) + x[0, 0]


@tf.function
def sized_inside(x):
    return tf.zeros([tf.random.uniform([], 1, 3, tf.int32)]) + x[0, 0]


@tf.function
def sliced(x, n):
    return x[:n]


@tf.function
def asks_for_its_batch(x):
    return tf.reshape(x, [x.shape[0] * 2, -1])


@tf.function
def takes_eight(x):
    return x + tf.ones([8, 4])


@tf.function(input_signature=[tf.TensorSpec([8, 4])])
def signed(x):
    return x * 2.0


@tf.function
def of_strings(x):
    return tf.strings.length(x)


@tf.function
def of_iterator(iterator):
    return next(iterator) + 1


@tf.function
def of_ragged(r):
    return tf.reduce_sum(r.values)


x = tf.random.stateless_normal([8, 4], [1, 2])
step(Batch(x, x[:, 0] > 0), "train")
sized_by_argument(x, tf.constant(5)), sized_by_variable(x), sized_inside(x), sliced(x, tf.constant(5))
sized_by_mask(x, x[:, 0] > 0), hardest(x[:, 0], x[:, 0] > 0)
asks_for_its_batch(x), takes_eight(x), signed(x), of_strings(tf.constant(["a"]))
of_iterator(iter(tf.data.Dataset.range(3))), of_ragged(tf.ragged.constant([[1.0, 2.0], [3.0]]))
"""


@pytest.fixture
def outcomes(targets: Any) -> Targets:
    return targets(OUTCOMES)  # type: ignore[no-any-return]


def test_each_stage_tells_its_outcome_or_why_it_did_not_run(outcomes: Targets) -> None:
    stages = ["eager", "trace", "lower", "opaque", "run", "numbers", "gradient", "values", "shapes"]
    assert all(list(target["checks"]) == stages for target in outcomes.values())
    _the_value_that_is_needed(outcomes)
    _compilations_of_other_values(outcomes)
    _other_shapes(outcomes)
    _arguments_of_all_kinds(outcomes)
    (failure,) = outcomes["hardest"]["failures"]
    assert failure["message"].endswith(", in the gradient of TopKV2")
    assert OUTCOMES.splitlines()[failure["line"] - 1].endswith("# the gradient")


def _the_value_that_is_needed(found: Targets) -> None:
    lacking = "is needed when XLA compiles; a TPU has none"
    assert outcome(found["sliced"], "opaque") == ("ok", "")
    assert outcome(found["sized_by_argument"], "opaque") == (
        "failed",
        f"the value of argument n {lacking}",
    )
    assert outcome(found["sized_by_mask"], "opaque") == (
        "failed",
        f"the value of argument mask {lacking}",
    )
    assert outcome(found["sized_by_variable"], "opaque") == (
        "failed",
        f"the value of variable size {lacking}",
    )
    status, detail = outcome(found["sized_inside"], "opaque")
    assert (status, "computed while the program runs" in detail) == ("failed", True)
    assert outcome(found["of_strings"], "opaque") == (
        "skipped",
        "lowering fails for another reason",
    )


def _compilations_of_other_values(found: Targets) -> None:
    compiles = {"other_values": 2, "compiles": 2}
    for function in ("sliced", "sized_by_argument"):
        note = ("note", "compiles again for each value of n")
        assert outcome(found[function], "values") == note
        assert found[function]["value_compiles"] == compiles
    assert outcome(found["sized_by_variable"], "values") == (
        "note",
        "compiles again for each value of variable size",
    )
    assert outcome(found["asks_for_its_batch"], "values") == ("ok", "")
    assert found["asks_for_its_batch"]["value_compiles"] == {"other_values": 2, "compiles": 0}


def _other_shapes(found: Targets) -> None:
    assert outcome(found["sliced"], "shapes") == ("ok", "batch 4 for 8")
    status, detail = outcome(found["asks_for_its_batch"], "shapes")
    line = line_of(OUTCOMES, "x.shape[0] * 2")
    needs = f"batch 4 for 8; tracing fails where the batch size is not known, in train.py:{line}: TypeError"
    assert (status, detail.startswith(needs)) == ("note", True)
    status, detail = outcome(found["takes_eight"], "shapes")
    assert (status, detail.startswith("eager code does not take batch 4 for 8")) == (
        "skipped",
        True,
    )
    only = "its input_signature takes these shapes only"
    assert outcome(found["signed"], "shapes") == ("skipped", only)
    made_up = "other sizes of ragged and sparse inputs are not made up"
    assert outcome(found["of_ragged"], "shapes") == ("skipped", made_up)


def _arguments_of_all_kinds(found: Targets) -> None:
    for function in ("step", "helper", "Gate.call", "of_ragged"):
        assert found[function]["failures"] == []
        assert outcome(found[function], "numbers") == ("ok", "")
    # Called while tracing alone: the values come from another, eager run.
    assert outcome(found["helper"], "eager") == ("ok", "")
    assert [found[name]["origin"] for name in ("helper", "Gate.call")] == ["plain", "layer"]
    for stage in ("trace", "lower", "numbers"):
        status, detail = outcome(found["of_iterator"], stage)
        assert (status, "lives on the host" in detail) == ("skipped", True)
