"""What tf.data makes parallel by itself, which XLA703 keeps silent about."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json
import tensorflow as tf
from tensorflow.python.data.experimental.ops import testing

def plain(x):
    return tf.cast(x, tf.float32) * 2

def drawn(x):
    return tf.cast(x, tf.float32) + tf.random.uniform([])

def flipped(x):
    return tf.image.random_flip_left_right(tf.ones([4, 4, 3]) * tf.cast(x, tf.float32))

def stateless(x):
    return tf.cast(x, tf.float32) + tf.random.stateless_uniform([], [1, 2])

def python(x):
    return tf.numpy_function(lambda v: v, [x], tf.int64)

def is_next(operation, build):
    numbers = tf.data.Dataset.range(10).apply(testing.assert_next([operation]))
    try:
        return bool(list(build(numbers).take(1)))
    except tf.errors.InvalidArgumentError:
        return False

def rows(_):
    return tf.data.Dataset.range(3)

found = {f.__name__: is_next("ParallelMap", lambda d: d.map(f)) for f in (plain, drawn, flipped, stateless, python)}
found["interleave"] = is_next("ParallelInterleave", lambda d: d.interleave(rows, cycle_length=2))
print(json.dumps(found))
"""


@pytest.mark.compiler
def test_only_functions_without_state_are_made_parallel() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=True
    )
    assert json.loads(ran.stdout.splitlines()[-1]) == {
        "plain": True,
        "drawn": False,
        "flipped": False,
        "stateless": True,
        "python": False,
        "interleave": False,
    }
