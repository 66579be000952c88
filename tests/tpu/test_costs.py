"""What the pages of XLA801 to XLA803 say that a TPU pays, asked of its compiler: flagged code costs it, fixed code does not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from xlalint.tpu import installed, targets
from xlalint.tpu.compiler import COMPILES, Compiler, Result

PAGES = Path(__file__).resolve().parents[2] / "rules"
_BLOCK = re.compile(r"^## (?:Example|Use instead)\n.*?^```python\n(.*?)^```$", re.M | re.S)
# Lowers `example` of the program in argv[1] to argv[2], for the shapes and dtypes of `INPUTS`.
_LOWER = """\
import runpy, sys
import tensorflow as tf
from tensorflow.python.eager.polymorphic_function import compiler_ir

made = runpy.run_path(sys.argv[1])
specs = [tf.TensorSpec(one.shape, one.dtype) for one in made["INPUTS"]]
traced = tf.function(made["example"], jit_compile=True)
concrete = traced.get_concrete_function(*specs)
with open(sys.argv[2], "wb") as out:
    out.write(compiler_ir.from_concrete_function(concrete, specs)("hlo_serialized"))
"""


def _installed() -> installed.Installed | None:
    try:
        return installed.find()
    except installed.Missing:
        return None


pytestmark = [
    pytest.mark.compiler,
    pytest.mark.skipif(_installed() is None, reason="libtpu is not installed"),
]


def compiled(source: str, folder: Path, target: str = "tpu-v5e") -> Result:
    """What the compiler makes of `example` in a program."""
    program, hlo = folder / "program.py", folder / "program.hlo"
    program.write_text(source, encoding="utf-8")
    subprocess.run([sys.executable, "-c", _LOWER, str(program), str(hlo)], check=True)
    found = _installed()
    assert found is not None
    compiler = Compiler(found, use_cache=False)
    result = compiler.compile(hlo.read_bytes(), targets.parse(target), 1)
    assert result.status == COMPILES, result.message
    return result


def examples(code: str) -> tuple[str, str]:
    """The example of a page, and what it says to use instead."""
    flagged, fixed = _BLOCK.findall((PAGES / f"{code}.md").read_text(encoding="utf-8"))
    return flagged, fixed


@pytest.mark.parametrize(("code", "times"), [("XLA801", 100), ("XLA803", 500)])
def test_the_example_of_a_page_moves_many_times_the_bytes_of_its_rewrite(
    code: str, times: int, tmp_path: Path
) -> None:
    flagged, fixed = (compiled(source, tmp_path) for source in examples(code))
    assert flagged.bytes_accessed > times * fixed.bytes_accessed
    assert flagged.memory is not None
    assert fixed.memory is not None
    assert flagged.memory["temp"] > 10 * fixed.memory["temp"]


LOOKUP = """\
import tensorflow as tf


def example(table, ids):
    return {how}


INPUTS = (tf.ones([1000]), tf.zeros([65536], tf.int32))
"""


def test_numbers_looked_up_one_by_one_cost_a_tile_each(tmp_path: Path) -> None:
    one_by_one = compiled(LOOKUP.format(how="tf.gather(table, ids)"), tmp_path)
    product = "tf.linalg.matvec(tf.one_hot(ids, 1000), table)"
    at_once = compiled(LOOKUP.format(how=product), tmp_path)
    assert one_by_one.bytes_accessed > 4000 * 65536 > 400 * at_once.bytes_accessed


LOOP = """\
import tensorflow as tf


def example(x, w):
    for _ in {turns}(300):
        x = tf.tanh(x @ w)
    return x


INPUTS = (tf.ones([256, 256]), tf.ones([256, 256]))
"""


def test_an_unrolled_loop_is_as_many_copies_in_the_program(tmp_path: Path) -> None:
    unrolled = compiled(LOOP.format(turns="range"), tmp_path)
    once = compiled(LOOP.format(turns="tf.range"), tmp_path)
    assert unrolled.memory is not None
    assert once.memory is not None
    assert unrolled.memory["generated_code"] > 4 * once.memory["generated_code"]


STEP = """\
import keras
import tensorflow as tf

keras.mixed_precision.set_dtype_policy("{policy}")
layers = [keras.layers.Dense(512, activation="relu") for _ in range(3)]
model = keras.Sequential([keras.layers.Input([512]), *layers, keras.layers.Dense(8, dtype="float32")])
optimizer = keras.optimizers.SGD(0.1)
if "{policy}" == "mixed_float16":
    optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
optimizer.build(model.trainable_variables)


def example(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        scaled = optimizer.scale_loss(loss)
    gradients = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


INPUTS = (tf.ones([{batch}, 512]), tf.ones([{batch}, 8]))
"""


def test_bfloat16_halves_what_is_kept_for_the_gradient(tmp_path: Path) -> None:
    single, brain = (
        compiled(STEP.format(policy=policy, batch=4096), tmp_path)
        for policy in ("float32", "mixed_bfloat16")
    )
    assert single.memory is not None
    assert brain.memory is not None
    assert brain.memory["temp"] < 0.7 * single.memory["temp"]
    assert brain.flops == pytest.approx(single.flops, rel=0.1)  # products are no faster


def test_loss_scaling_takes_a_copy_of_the_weights(tmp_path: Path) -> None:
    brain, half = (
        compiled(STEP.format(policy=policy, batch=8), tmp_path)
        for policy in ("mixed_bfloat16", "mixed_float16")
    )
    assert brain.memory is not None
    assert half.memory is not None
    weights = 3 * 512 * 512 * 4
    assert half.memory["temp"] - brain.memory["temp"] > 0.3 * weights


PROGRAM = """\
import tensorflow as tf

VALUES = tf.TensorSpec([65536], tf.float32)


@tf.function(jit_compile=True, input_signature=[VALUES])
def kept_mean(x):
    kept = tf.boolean_mask(x, x > 0.0)
    return tf.reduce_mean(kept)


@tf.function(jit_compile=True, input_signature=[VALUES])
def settled(x):
    for _ in range(150):
        x = x - 0.01 * tf.tanh(x)
    return x


@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([270_000, 64], tf.float32)])
def rows(table):
    return tf.gather(table, tf.constant([1, 5, 9]) + tf.cast(table[0, 0], tf.int32))


kept_mean(tf.linspace(-1.0, 1.0, 65536))
settled(tf.ones([65536]))
rows(tf.ones([270_000, 64]))
"""


def test_verify_confirms_what_a_tpu_pays(verify: Any) -> None:
    _, report = verify(
        {"train.py": PROGRAM},
        *("--strategy", "none", "--target", "tpu-v5e", "--no-batch-search", "train.py"),
    )
    told = {
        (one["code"], one["line"]): (one["verdict"], one["evidence"].partition(":")[0])
        for one in report["findings"]
        if one["code"].startswith("XLA8")
    }
    lines = PROGRAM.splitlines()
    flagged = ("tf.reduce_mean", "range(150)", "tf.gather")
    at = [next(n for n, text in enumerate(lines, 1) if part in text) for part in flagged]
    assert told == {
        ("XLA803", at[0]): ("confirmed", "tpu-v5e"),
        ("XLA803", at[1]): ("confirmed", "tpu-v5e"),
        ("XLA801", at[2]): ("confirmed", "tpu-v5e"),
    }
