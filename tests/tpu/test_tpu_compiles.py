"""The real TPU compiler on real programs: its verdicts at the user's line, and its sizes against ours."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cli_support import RunXlalint

from xlalint.tpu import installed
from xlalint.tpu.statuses import COMPILES


def _installed() -> installed.Installed | None:
    try:
        return installed.find()
    except installed.Missing:
        return None


pytestmark = [
    pytest.mark.compiler,
    pytest.mark.skipif(_installed() is None, reason="libtpu is not installed"),
]


# Not under several devices besides, which compile nothing.
ALONE = ("--strategy", "none")


def line_of(source: str, part: str) -> int:
    (line,) = [number for number, text in enumerate(source.splitlines(), 1) if part in text]
    return line


SPECTRUM = """\
import tensorflow as tf

weights = tf.Variable(tf.ones([8, 4], tf.float64))


def spectrum(x):
    return tf.signal.fft(tf.cast(x, tf.complex128))


@tf.function(jit_compile=True)
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.math.real(spectrum(x)) @ weights))
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
    return loss


for _ in range(20):
    train_step(tf.random.normal([16, 8], dtype=tf.float64))
"""


def test_what_a_cpu_compiles_and_a_tpu_does_not_fails_at_its_line(verify: Any) -> None:
    ran, report = verify({"train.py": SPECTRUM}, *ALONE, "--target", "tpu-v5e", "train.py")
    line = line_of(SPECTRUM, "tf.signal.fft")
    assert ran.status == 1
    step = next(one for one in report["targets"] if one["function"] == "train_step")
    assert (step["checks"]["run"]["status"], step["checks"]["tpu"]["status"]) == ("ok", "failed")
    (failure,) = step["failures"]
    assert (failure["kind"], failure["path"], failure["line"]) == ("tpu", "train.py", line)
    assert "Unexpected operand type for FFT: c128" in failure["message"]
    found = {one["line"]: one for one in report["findings"] if one["code"] == "XLA404"}
    product = line_of(SPECTRUM, "@ weights")
    assert found.keys() == {line, product}
    assert (found[line]["severity"], found[line]["verdict"]) == ("error", "confirmed")
    # A TPU emulates products of float64: that costs, and compiles.
    assert found[product]["severity"] == "warning"


WIDE = """\
import tensorflow as tf


@tf.function(jit_compile=True)
def power(signal):
    wide = tf.cast(signal, tf.complex128)
    return tf.math.real(wide * wide)


print(power(tf.ones([4, 3])))
"""


def test_complex128_compiles_for_a_tpu_and_has_no_kernel_of_tensorflow_there(verify: Any) -> None:
    _, report = verify({"train.py": WIDE}, *ALONE, "--target", "tpu-v5e", "train.py")
    step = next(one for one in report["targets"] if one["function"] == "power")
    assert step["checks"]["tpu"]["status"] == "ok"
    (found,) = [one for one in report["findings"] if one["code"] == "XLA404"]
    assert (found["line"], found["severity"]) == (line_of(WIDE, "complex128"), "error")
    assert found["message"].endswith("refuses the function there")
    assert found["verdict"] == "confirmed"
    assert "TensorFlow registers no such kernel for tpu-v5e" in found["evidence"]


BOUNDS = """\
import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec([8])])
def shuffled(x):
    return tf.random.shuffle(x)


@tf.function(input_signature=[tf.TensorSpec([4, 4]), tf.TensorSpec([4], tf.bool)])
def up_to_kept(x, mask):
    n = tf.reduce_max(tf.boolean_mask(tf.range(4), mask))
    return tf.reduce_sum(x[:n])


@tf.function(input_signature=[tf.TensorSpec([4, 4]), tf.TensorSpec([], tf.int32)])
def newest_first(x, n):
    return x[:n][::-1]
"""


def test_bounds_from_data_and_shuffled_fractions_are_as_check_says_for_a_tpu(verify: Any) -> None:
    """A TPU shuffles the fractions that a CPU does not, and has no size for what a CPU reads off its arguments."""
    _, report = verify({"lib.py": BOUNDS}, *ALONE, "--target", "tpu-v5e", "lib.py")
    checks = {one["function"]: one["checks"] for one in report["targets"]}
    assert checks["shuffled"]["tpu"]["status"] == "ok"
    assert checks["up_to_kept"]["lower"]["status"] == "failed"
    assert checks["newest_first"]["lower"]["status"] == "failed"
    errors = {
        (one["code"], one["line"]): one["verdict"]
        for one in report["findings"]
        if one["severity"] == "error"
    }
    assert errors == {
        ("XLA203", line_of(BOUNDS, "x[:n])")): "confirmed",
        ("XLA204", line_of(BOUNDS, "[::-1]")): "confirmed",
    }


LIBRARY = """\
import subprocess

import tensorflow as tf


@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([8, 4], tf.float64)])
def spectrum(x):
    return tf.math.abs(tf.signal.fft(tf.cast(x, tf.complex128)))


@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([8, 4])])
def normed(x):
    return tf.linalg.normalize(x)[0]


@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([8, 4])])
def started(x):
    subprocess.run(["true"])
    return x + 1.0
"""


def test_functions_that_nobody_calls_are_put_to_it_though_they_may_start_nothing(
    verify: Any,
) -> None:
    _, report = verify({"library.py": LIBRARY}, "--target", "tpu-v5e", "library.py")
    said = {one["function"]: one for one in report["targets"]}
    assert said["spectrum"]["checks"]["tpu"]["status"] == "failed"
    assert said["normed"]["checks"]["tpu"]["status"] == "ok"
    assert {one["function"]: one["status"] for one in report["tpu"]}["normed"] == COMPILES
    assert "lets it not do subprocess.Popen" in json.dumps(said["started"])


LARGE = """\
import tensorflow as tf

weights = tf.Variable(tf.zeros([4096, 4096]))


@tf.function(jit_compile=True)
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.sin(x @ weights) @ tf.transpose(weights)))
    weights.assign_sub(tape.gradient(loss, weights))
    return loss


for _ in range(20):
    train_step(tf.ones([8, 4096]))
"""


def test_memory_bound_and_the_largest_batch_are_told_side_by_side(verify: Any) -> None:
    ran, report = verify({"train.py": LARGE}, *ALONE, "--target", "tpu-v5e,tpu-v6e", "train.py")
    assert ran.status == 0, ran.out
    small, large = report["tpu"]
    assert [(one["target"], one["status"]) for one in (small, large)] == [
        ("tpu-v5e", COMPILES),
        ("tpu-v6e", COMPILES),
    ]
    weights, batch = 4096 * 4096 * 4, 8 * 4096 * 4
    for one in (small, large):
        assert weights + batch <= one["argument"] <= weights + 2 * batch
        assert one["alias"] == weights  # updated in place
        assert one["flops"] >= 2 * 5 * 8 * 4096 * 4096  # two products, and three for the gradient
        assert one["bound_seconds"] > 0
        assert one["largest"]["batch"] >= 8
        assert one["largest"]["compiles"] > 0
    assert small["hbm"] < large["hbm"]
    assert small["largest"]["batch"] <= large["largest"]["batch"]


POD = """\
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
batch = 4 * strategy.num_replicas_in_sync

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Input([64]), tf.keras.layers.Dense(32)])
    optimizer = tf.keras.optimizers.SGD(0.1)


def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def distributed_step(inputs):
    return strategy.reduce("MEAN", strategy.run(train_step, args=inputs), axis=None)


data = tf.data.Dataset.from_tensor_slices((tf.ones([2048, 64]), tf.ones([2048, 32]))).repeat()
data = strategy.experimental_distribute_dataset(data.batch(batch, drop_remainder=True))
for inputs in data:
    distributed_step(inputs)
"""


@pytest.mark.parametrize(("target", "chips"), [("tpu-v5e-8", 8), ("tpu-v5e-256", 256)])
def test_a_slice_has_the_all_reduce_of_the_step_inside(
    verify: Any, target: str, chips: int
) -> None:
    options = (*ALONE, "--target", target, "--no-batch-search", "--compile-only")
    _, report = verify({"train.py": POD}, *options, "train.py")
    assert {one["checks"]["run"]["detail"] for one in report["targets"]} == {"--compile-only"}
    (step,) = [one for one in report["tpu"] if one["function"] == "train_step"]
    assert (step["status"], step["chips"], step["replicas"]) == (COMPILES, chips, chips)
    assert step["collectives"] >= 1
    assert step["batch"] == 4
    assert 0 < step["collective_share"] < 1


FIT = """\
import numpy as np
import KERAS as keras

model = keras.Sequential([keras.layers.Input([64]), keras.layers.Dense(32), keras.layers.Dense(8)])
model.compile("adam", "mse")
model.fit(np.zeros([512, 64], "float32"), np.zeros([512, 8], "float32"), batch_size=256)
"""
LOOP = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Input([64]), tf.keras.layers.Dense(32), tf.keras.layers.Dense(8)])
optimizer = tf.keras.optimizers.Adam()


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for _ in range(20):
    train_step(tf.ones([256, 64]), tf.ones([256, 8]))
"""
# Gradients of embeddings are summed as whole tables.
BERT = """\
import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForSequenceClassification

config = BertConfig(vocab_size=512, hidden_size=32, num_hidden_layers=1, num_attention_heads=1, intermediate_size=64)
model = TFBertForSequenceClassification(config)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
tokens = {"input_ids": np.zeros([256, 16], "int32"), "attention_mask": np.ones([256, 16], "int32")}
data = tf.data.Dataset.from_tensor_slices((tokens, np.zeros([256], "int32"))).batch(256, True)
model.fit(data)
"""
DENSE = 4 * (64 * 32 + 32 + 32 * 8 + 8)  # bytes of the gradients


@pytest.mark.parametrize(
    ("needs", "source", "gradients"),
    [
        ("keras", FIT.replace("KERAS", "keras"), DENSE),
        ("tf_keras", FIT.replace("KERAS", "tf_keras"), DENSE),
        ("tensorflow", LOOP, DENSE),
        ("transformers", BERT, 4 * 512 * 32),
    ],
)
def test_steps_of_every_kind_compile_for_a_chip_and_for_slices(
    verify: Any, needs: str, source: str, gradients: int
) -> None:
    pytest.importorskip(needs)
    options = (*ALONE, "--target", "tpu-v5e,tpu-v5e-8,tpu-v4-512,tpu-v3", "--compile-only")
    ran, report = verify({"train.py": source}, *options, "--no-batch-search", "train.py")
    assert ran.status == 0, ran.out
    found = {one["target"]: one for one in report["tpu"] if "train_step" in one["function"]}
    # The program's batch is 256, whatever the number of replicas: a core of v3, a chip of the others.
    assert [(one["chips"], one["replicas"], one["batch"]) for one in found.values()] == [
        (1, 1, 256),
        (8, 8, 32),
        (256, 256, 1),
        (1, 2, 128),
    ]
    assert {one["status"] for one in found.values()} == {COMPILES}
    assert found["tpu-v5e"]["collectives"] == 0
    for target in ("tpu-v5e-8", "tpu-v4-512", "tpu-v3"):
        assert found[target]["reduced"] >= gradients


def test_what_cannot_be_a_replica_is_compiled_alone_and_said_to_be(verify: Any) -> None:
    alone = (
        "    assert tf.distribute.get_strategy().num_replicas_in_sync == 1, 'one replica only'\n"
    )
    source = LOOP.replace("    with tf", f"{alone}    with tf")
    _, report = verify(
        {"train.py": source},
        *ALONE,
        "--target",
        "tpu-v5e-8",
        "--compile-only",
        "--no-batch-search",
        "train.py",
    )
    (step,) = report["tpu"]
    assert (step["status"], step["replicas"], step["collectives"]) == (COMPILES, 1, 0)
    assert "one replica only" in step["note"]


def test_what_was_compiled_is_kept_for_the_next_run(verify: Any, xlalint: RunXlalint) -> None:
    options = (*ALONE, "--target", "tpu-v5e", "--compile-only", "--no-batch-search", "train.py")
    _, first = verify({"train.py": LOOP}, *options)
    ran = xlalint("verify", "--format", "json", *options)
    assert (
        json.loads(ran.out)["tpu"] == first["tpu"]
    )  # CPU-seconds included: those of the first time


def test_a_tpu_that_does_not_exist_is_told_before_any_work(xlalint: RunXlalint) -> None:
    ran = xlalint("verify", "--target", "tpu-v5e-3", "train.py")
    assert ran.status == 2
    assert "slices of v5e have 1, 4, 8, 16" in ran.err
