"""`check --prove`: rewrites are run against the code that they replace, and only what is proven is applied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import RunXlalint, WriteFiles

pytestmark = pytest.mark.compiler

RANK = """
    import tensorflow as tf


    def as_batch(x):
        if tf.rank(x) == 1:
            x = tf.expand_dims(x, 0)
        return x


    @tf.function(jit_compile=True)
    def energies(x: tf.Tensor) -> tf.Tensor:
        batch = as_batch(tf.reshape(x, [4, 2]))
        return tf.reduce_sum(batch * batch, axis=-1)
    """


def proofs(text: str) -> list[dict[str, Any]]:
    report = json.loads(text)
    return [item["proof"] for item in (*report["fixed"], *report["withheld"])]


def test_a_proven_fix_is_applied_with_its_evidence(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"model.py": RANK})
    ran = xlalint("check", "--fix", "--prove", "--format", "json", "model.py")
    (proof,) = proofs(ran.out)
    assert proof["status"] == "proven", proof
    assert proof["counterexample"] is None
    assert "agree on" in proof["evidence"] and "does not compile" in proof["evidence"]
    assert "if x.shape.rank == 1:" in (folder / "model.py").read_text(encoding="utf-8")


def test_the_user_is_told_what_was_proven(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"model.py": RANK})
    before = (folder / "model.py").read_bytes()
    ran = xlalint("check", "--diff", "--prove", "model.py")
    assert ran.out.startswith("--- model.py")
    assert "model.py:6:8: XLA106 proven: outputs" in ran.err
    assert "proofs: 1 proven, 0 refuted, 0 not-runnable" in ran.err
    assert (folder / "model.py").read_bytes() == before


def test_a_module_that_cannot_be_imported_is_left_alone(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    folder = write({"model.py": "import surely_not_installed\n" + "\n".join(_dedented(RANK))})
    before = (folder / "model.py").read_bytes()
    ran = xlalint("check", "--fix", "--prove", "--format", "json", "model.py")
    (proof,) = proofs(ran.out)
    assert proof["status"] == "not-runnable"
    assert "No module named 'surely_not_installed'" in proof["evidence"]
    assert "is not rewritten: not proven: its module cannot be imported" in ran.err
    assert (folder / "model.py").read_bytes() == before


def test_verify_says_of_each_fix_whether_it_is_proven(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    write({"model.py": RANK})
    ran = xlalint("verify", "--format", "json", "model.py")
    (finding,) = json.loads(ran.out)["findings"]
    assert (finding["code"], finding["verdict"]) == ("XLA106", "confirmed")
    assert finding["fix"]["applicability"] == "safe"
    assert finding["proof"]["status"] == "proven"


def test_prove_alone_proves_nothing(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"model.py": RANK})
    ran = xlalint("check", "--prove", "model.py")
    assert ran.status == 2
    assert "--prove goes with --fix or --diff" in ran.err
    assert xlalint("check", "--fix", "--prove", "-", stdin="").status == 2


def _dedented(text: str) -> list[str]:
    from textwrap import dedent

    return dedent(text).splitlines()


OWN = """
    import tensorflow as tf


    @tf.function(jit_compile=True, autograph=False, input_signature=[tf.TensorSpec([4])])
    def rooted(x):
        if tf.reduce_sum(x) < 9.0:
            y = tf.sqrt(tf.abs(tf.nn.relu(x)))
        else:
            y = x * 2.0
        return tf.reduce_max(y)
    """


def test_what_the_authors_own_operations_do_under_xla_is_no_counterexample(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    """The gradient of the root is NaN eagerly where `x` is negative, and 0 under XLA, whatever becomes of the branch."""
    write({"model.py": OWN})
    ran = xlalint("check", "--fix", "--prove", "--format", "json", "model.py")
    (proof,) = proofs(ran.out)
    assert proof["status"] == "proven", proof
    assert "XLA and eager code differ by what the operations" in proof["evidence"]


CELLS = (
    "import tensorflow as tf\n%matplotlib inline",
    """\
class Gate(tf.keras.layers.Layer):
    def call(self, x):
        if tf.reduce_mean(x) > 0.5:
            return x * 3.0
        return tf.zeros_like(x)
""",
    "display(Gate()(tf.constant([[1.0, 2.0]])))",
)


def test_the_code_of_a_notebook_is_run(tmp_path: Path, xlalint: RunXlalint) -> None:
    cells = [
        {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": 1}
        for text in CELLS
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "a model.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    ran = xlalint("check", "--fix", "--prove", "--format", "json", "a model.ipynb")
    (proof,) = proofs(ran.out)
    assert proof["status"] == "proven", proof
    assert "tf.where(" in (tmp_path / "a model.ipynb").read_text(encoding="utf-8")


DECORATED = """
    import tensorflow as tf


    class Scale(tf.Module):
        def __init__(self):
            super().__init__()
            self.factor = tf.Variable(2.0)

        @tf.function(experimental_compile=True)
        def scaled(self, x: tf.Tensor):
            return tf.tanh(x) * self.factor
    """


def test_a_function_with_another_decorator_is_made_anew(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    folder = write({"model.py": DECORATED})
    ran = xlalint("check", "--fix", "--prove", "--format", "json", "model.py")
    (proof,) = proofs(ran.out)
    assert proof["status"] == "proven", proof
    assert "@tf.function(jit_compile=True)" in (folder / "model.py").read_text(encoding="utf-8")
