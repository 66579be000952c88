"""Modules whose names say that they prepare data hold host code, unless something compiles it."""

from __future__ import annotations

import json

import pytest
from cli_support import RunXlalint, WriteFiles

DROPS = """\
import tensorflow as tf


def drop_noise(tokens, noise):
    return tf.boolean_mask(tokens, noise)
"""


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("preprocessors.py", 0),
        ("preprocessor.py", 0),
        ("tf_example_decoder.py", 0),
        ("prepare_tfrecords.py", 0),
        ("tf_example.py", 1),
        ("losses.py", 1),
    ],
)
def test_only_modules_for_data_are_left_alone(
    write: WriteFiles, xlalint: RunXlalint, name: str, count: int
) -> None:
    write({name: DROPS})
    document = json.loads(xlalint("check", name, "--format", "json").out)
    assert [f["code"] for f in document["findings"]] == ["XLA201"] * count


@pytest.mark.parametrize(
    ("package", "count"),
    [("dataloader", 0), ("data_loaders", 0), ("input_pipeline", 0), ("layers", 1)],
)
def test_only_packages_for_data_are_left_alone(
    write: WriteFiles, xlalint: RunXlalint, package: str, count: int
) -> None:
    write({f"{package}/__init__.py": "", f"{package}/augment.py": DROPS})
    document = json.loads(xlalint("check", ".", "--format", "json").out)
    assert [f["code"] for f in document["findings"]] == ["XLA201"] * count


def test_what_is_compiled_is_reported_all_the_same(write: WriteFiles, xlalint: RunXlalint) -> None:
    step = "from preprocessors import drop_noise\nimport tensorflow as tf\nstep = tf.function(drop_noise, jit_compile=True)\n"
    write({"preprocessors.py": DROPS, "train.py": step})
    document = json.loads(xlalint("check", ".", "--format", "json").out)
    assert [(f["path"], f["code"]) for f in document["findings"]] == [
        ("preprocessors.py", "XLA201")
    ]


def test_however_many_callers_run_on_the_host_an_exported_function_is_judged_by_itself(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    solver = """\
import tensorflow as tf


def solved(x: tf.Tensor, rate):
    for _ in range(9):
        x = x * rate
        if tf.reduce_sum(x) < 1.0:
            break
    return x
"""
    callers = "import tensorflow as tf\nfrom pkg.solver import solved\n" + "".join(
        f"\n\ndef evaluated_{n}(x: tf.Tensor):\n    return solved(x, {n}.0).numpy()\n"
        for n in range(20)
    )
    write(
        {
            "pkg/__init__.py": "from pkg.solver import solved\n",
            "pkg/evaluating.py": callers,
            "pkg/solver.py": solver,
        }
    )
    document = json.loads(xlalint("check", "pkg", "--format", "json").out)
    assert [(f["path"], f["code"]) for f in document["findings"]] == [("pkg/solver.py", "XLA104")]
