"""What proofs say of rewrites, right and wrong ones, made by hand."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from cli_support import WriteFiles

from xlalint import engine
from xlalint.fixes.proof import NOT_RUNNABLE, PROVEN, REFUTED, Proof
from xlalint.project import settings
from xlalint.verify import verification
from xlalint.verify.proving import judging, planning

pytestmark = pytest.mark.compiler


def prove(folder: Path, source: str, *changes: tuple[str, str]) -> list[Proof]:
    """The proofs of changes to a program, each made at its first finding in the function that it changes."""
    path = folder / "model.py"
    path.write_text(source, encoding="utf-8")
    options = settings.load([str(path)], {})
    found = engine.check([str(path)], options).findings
    asks = []
    for old, new in changes:
        assert source.count(old) == 1
        line = source[: source.index(old)].count("\n") + 1
        last = line + old.rstrip("\n").count("\n")
        finding = next(f for f in found if line <= f.span.line <= last)
        after = source.replace(old, new)
        asks.append(planning.Ask(finding, path, source, source, after, after))
    known = judging.known_of([str(path)], options, folder)
    return planning.prove(asks, folder, known, verification.limits(120.0), lambda *_: None)


BRANCH = dedent(
    """
    import tensorflow as tf


    @tf.function(jit_compile=True, autograph=False)
    def ratio(x, y):
        if tf.reduce_sum(x) > 0:
            z = x * 2.0
        else:
            z = y / x
        return z


    class Scale(tf.keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(shape[-1],), initializer="random_normal")

        def call(self, x):
            if tf.reduce_sum(x) > 1.0:
                x = x - 1.0
            return super().compute_dtype and x * self.w
    """
)
RATIO = """\
    if tf.reduce_sum(x) > 0:
        z = x * 2.0
    else:
        z = y / x
"""
SCALE = """\
        if tf.reduce_sum(x) > 1.0:
            x = x - 1.0
"""


def test_proofs_of_branches(write: WriteFiles) -> None:
    folder = write({})
    cond = "tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: y / x)"
    chosen, both, wrong, layer = prove(
        folder,
        BRANCH,
        (RATIO, f"    z = {cond}\n"),
        (RATIO, "    z = tf.where(tf.reduce_sum(x) > 0, x * 2.0, y / x)\n"),
        (RATIO, "    z = tf.where(tf.reduce_sum(x) >= 0, x * 2.0, y / x)\n"),
        (SCALE, "        x = tf.where(tf.reduce_sum(x) > 1.0, x - 1.0, x)\n"),
    )
    assert chosen.status == PROVEN, chosen
    assert "outputs and gradients agree on" in chosen.evidence
    assert "the original does not compile (" in chosen.evidence
    # The gradient of the arm that is not taken divides by zero.
    assert both.status == REFUTED and both.counterexample is not None
    assert both.counterexample.where == "gradients"
    assert "nan" in both.counterexample.rewritten and "nan" not in both.counterexample.original
    # All zeros: the sum is zero.
    assert wrong.status == REFUTED and wrong.counterexample is not None
    assert wrong.counterexample.inputs.startswith("zeros: ")
    assert wrong.counterexample.how == "eagerly"
    assert layer.status == PROVEN, layer


MASK = dedent(
    """
    import tensorflow as tf


    @tf.function(jit_compile=True)
    def masked_mean(x):
        kept = tf.boolean_mask(x, x > 0.5)
        return tf.reduce_mean(kept)
    """
)
MEAN = """\
    kept = tf.boolean_mask(x, x > 0.5)
    return tf.reduce_mean(kept)
"""
QUIET = """\
    counted = tf.cast(x > 0.5, x.dtype)
    return tf.math.divide_no_nan(tf.reduce_sum(x * counted), tf.reduce_sum(counted))
"""


def test_an_empty_mask_tells_means_apart(write: WriteFiles) -> None:
    (quiet,) = prove(write({}), MASK, (MEAN, QUIET))
    assert quiet.status == REFUTED and quiet.counterexample is not None
    assert quiet.counterexample.inputs.startswith("zeros: x = [[0., 0., 0.]")
    assert "nan" in quiet.counterexample.original
    assert quiet.counterexample.rewritten == "0."


def test_a_rewrite_that_does_not_compile_is_refuted(write: WriteFiles) -> None:
    (proof,) = prove(
        write({}),
        BRANCH,
        (RATIO, RATIO.replace("> 0", "> 0.0 and True")),
    )
    assert proof.status == REFUTED
    assert "does not compile" in proof.evidence


def test_a_rewrite_is_traced_though_the_original_has_been(write: WriteFiles) -> None:
    """The tf.function that other compiled code calls has the original's trace; of the rewrite it says nothing."""
    source = dedent(
        """
        import tensorflow as tf


        @tf.function
        def doubled(x):
            rows = tf.TensorArray(tf.float32, size=2, element_shape=[3])
            for i in tf.range(2):
                rows.write(i, x[i] * 2.0)
            return rows.stack()


        FIRST = doubled(tf.ones([2, 3]))
        """
    )
    write_row = "rows.write(i, x[i] * 2.0)"
    bound, wrong = prove(
        write({}),
        source,
        (write_row, f"rows = {write_row}"),
        (write_row, f"rows = {write_row.replace('2.0', '3.0')}"),
    )
    assert bound.status == PROVEN
    assert (
        "as well" not in bound.evidence
    )  # under XLA it agrees with eager code, as the original does not
    assert wrong.status == REFUTED


def test_what_is_not_inside_a_function_cannot_be_compared(write: WriteFiles) -> None:
    source = BRANCH.replace(", autograph=False", "")
    (proof,) = prove(write({}), source + "\n", (RATIO, RATIO))
    assert proof.status == NOT_RUNNABLE
    assert "changes no function" in proof.evidence
