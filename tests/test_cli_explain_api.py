"""`xlalint explain` of an API or an operation: what the catalogue holds of it, in words."""

from __future__ import annotations

import pytest
from cli_support import RunXlalint

ON = ("--tf-version", "2.21")


def says(xlalint: RunXlalint, asked: str) -> list[str]:
    ran = xlalint("explain", asked, *ON)
    assert (ran.status, ran.err) == (0, "")
    return [line.strip() for line in ran.out.splitlines()]


def test_an_api_without_a_kernel(xlalint: RunXlalint) -> None:
    assert says(xlalint, "tf.unique_with_counts") == [
        "tf.unique_with_counts, TensorFlow 2.21.0: does not compile under XLA",
        "operations: UniqueWithCounts",
        "without an XLA kernel: UniqueWithCounts",
        "outputs whose size depends on data: 0, 2",
        "use instead: y, idx = tf.unique(x); count = tf.math.unsorted_segment_sum(tf.ones_like(idx), idx, tf.size(x)), padded with zeros",
        "compiles in TensorFlow: none of 2.12, 2.15, 2.18, 2.21",
    ]


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("tensorflow.reduce_sum", "tf.reduce_sum (tf.math.reduce_sum), TensorFlow 2.21.0: compiles under XLA"),
        ("tf.raw_ops.UniqueWithCounts", "tf.raw_ops.UniqueWithCounts, TensorFlow 2.21.0: does not compile under XLA"),
        ("gen_array_ops.unique_with_counts", "gen_array_ops.unique_with_counts (tf.raw_ops.UniqueWithCounts), TensorFlow 2.21.0: does not compile under XLA"),
        ("tf.compat.v1.where", "tf.compat.v1.where, TensorFlow 2.21.0: compiles under XLA"),
        ("keras.ops.nonzero", "keras.ops.nonzero, TensorFlow 2.21.0: compiles under XLA"),
        ("K.switch", "keras.backend.switch, TensorFlow 2.21.0: compiles under XLA"),
        ("tf.keras.backend.switch", "tf.keras.backend.switch (keras.backend.switch), TensorFlow 2.21.0: compiles under XLA"),
        ("reduce_sum", "tf.reduce_sum (tf.math.reduce_sum), TensorFlow 2.21.0: compiles under XLA"),
        ("tf.reduce_sum()", "tf.reduce_sum (tf.math.reduce_sum), TensorFlow 2.21.0: compiles under XLA"),
        ("RaggedTensor.to_tensor", "tf.RaggedTensor.to_tensor, TensorFlow 2.21.0: does not compile under XLA"),
        ("UniqueWithCounts", "UniqueWithCounts, an operation of TensorFlow 2.21.0: has no kernel for XLA"),
    ],
)  # fmt: skip
def test_names_that_people_write(xlalint: RunXlalint, asked: str, first: str) -> None:
    assert says(xlalint, asked)[0] == first


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ("tf.unique", "outputs whose size depends on data: 0"),
        ("tf.fill", "must be known at compile time: dims"),
        ("tf.slice", "size the output when given as tensors: size"),
        ("tf.while_loop", "gradient: does not compile"),
        ("tf.while_loop", "with maximum_iterations=...: compiles under XLA"),
        ("tf.while_loop", "its gradient compiles"),
        ("tf.image.resize", "with method='bicubic': does not compile under XLA (no XLA kernel: ResizeBicubic)"),
        ("tf.print", "runs on the host: yes"),
        ("tf.argmax", "result: without the axes that are reduced, int64"),
        ("keras.ops.nonzero", "compiles in TensorFlow: 2.18, 2.21 (not known in 2.12, 2.15)"),
        ("Where", "kernel in TensorFlow: 2.12, 2.15, 2.18, 2.21"),
        ("ResizeBicubic", "kernel in TensorFlow: none of 2.12, 2.15, 2.18, 2.21"),
        ("UniqueWithCounts", "stands behind: tf.unique_with_counts"),
    ],
)  # fmt: skip
def test_facts(xlalint: RunXlalint, asked: str, line: str) -> None:
    assert line in says(xlalint, asked)


def test_a_method_of_what_is_not_measured_is_told_by_its_class(xlalint: RunXlalint) -> None:
    assert says(xlalint, "tf.data.Dataset.map") == [
        "tf.data.Dataset, TensorFlow 2.21.0: computes nothing on a device",
        "why: an input pipeline, which runs on the host",
    ]


def test_the_last_part_of_a_name_will_do(xlalint: RunXlalint) -> None:
    assert says(xlalint, "TensorArray.write")[0].startswith("tf.TensorArray.write, TensorFlow 2.21")


def test_a_name_of_several_things_lists_them(xlalint: RunXlalint) -> None:
    lines = says(xlalint, "to_dense")

    assert lines[0] == "to_dense may be one of:"
    assert {"tf.sparse.to_dense", "keras.backend.to_dense"} <= {*lines[1:]}


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("tf.uniqe", "TensorFlow 2.21 has no tf.uniqe that was measured. Did you mean tf.unique"),
        ("tf.unique_with_count", "Did you mean tf.unique_with_counts"),
        ("tf.nn.reduce_sum", "Did you mean tf.reduce_sum, tf.math.reduce_sum"),
        ("tf.no_such_thing_at_all", "TensorFlow 2.21 has no tf.no_such_thing_at_all that was measured."),
    ],
)  # fmt: skip
def test_a_misspelt_name(xlalint: RunXlalint, asked: str, hint: str) -> None:
    ran = xlalint("explain", asked, *ON)

    assert (ran.status, ran.out) == (2, "")
    assert hint in ran.err


def test_a_version_that_is_not_one(xlalint: RunXlalint) -> None:
    ran = xlalint("explain", "tf.unique", "--tf-version", "newest")

    assert ran.status == 2
    assert "newest" in ran.err
