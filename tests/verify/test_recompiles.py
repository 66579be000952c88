"""The recompile meter: what made a function trace or compile again, and what to pad lengths to."""

from __future__ import annotations

import pytest

from xlalint.report import recompiles
from xlalint.verify import padding
from xlalint.verify.compilelog import Compilation, CompileLog
from xlalint.verify.recompiles import Again, Change, Metered, meter
from xlalint.verify.records import BatchShapes, MeteredCall, MeteredFunction


def metered(*calls: MeteredCall, compiled: tuple[Compilation, ...] = ()) -> Metered:
    (found,) = meter([MeteredFunction("step", "/t.py", 3, False, calls)], (), compiled).functions
    return found


def test_a_new_shape_is_told_against_the_call_most_like_it() -> None:
    found = metered(
        MeteredCall(1, 1, 0.5, {"x": "int32[8, 17]", "training": "Python value True"}),
        MeteredCall(2, 1, 0.5, {"x": "int32[8, 17]", "training": "Python value False"}),
        MeteredCall(3, 1, 0.25, {"x": "int32[8, 23]", "training": "Python value True"}),
    )
    assert [(one.call, one.what, one.changes) for one in found.again] == [
        (
            2,
            "traced",
            (Change("training", "Python value", "Python value True", "Python value False"),),
        ),
        (3, "traced", (Change("x", "shape", "int32[8, 17]", "int32[8, 23]"),)),
    ]
    assert (found.calls, found.traces, found.programs) == (3, 3, 3)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("float32[4]", "float64[4]", "dtype"),
        ("float32[4]", "float32[4, 1]", "shape"),
        ("Python value 1", "Python value 2", "Python value"),
        ("Model at 0x7f01", "Model at 0x7f02", "object"),
        ("Python value None", "float32[4]", "structure"),
    ],
)
def test_the_kind_of_a_change(before: str, after: str, kind: str) -> None:
    found = metered(MeteredCall(1, 1, 0.1, {"x": before}), MeteredCall(2, 1, 0.1, {"x": after}))
    assert [change.kind for change in found.again[0].changes] == [kind]


def test_a_compilation_without_a_trace_comes_from_the_value_of_a_tensor() -> None:
    found = metered(
        MeteredCall(4, 1, 0.9, {"n": "int32[] = 3"}),
        MeteredCall(7, 0, 0.3, {"n": "int32[] = 4"}),
        MeteredCall(8, 0, 0.1, {"n": "int32[] = 4"}),
        compiled=(Compilation("step", 4, 0.2), Compilation("step", 7, 0.25)),
    )
    assert found.again == (
        Again(2, "compiled", 0.25, (Change("n", "tensor value", "int32[] = 3", "int32[] = 4"),)),
    )
    assert dict(found.compiled) == {"step": 2}
    assert found.compile_seconds == pytest.approx(0.45)
    assert found.trace_seconds == pytest.approx(0.7)
    assert found.programs == 1


def test_another_value_of_a_tensor_is_no_reason_to_trace() -> None:
    found = metered(
        MeteredCall(1, 1, 0.1, {"x": "float32[2]", "n": "int32[] = 3"}),
        MeteredCall(2, 1, 0.1, {"x": "float32[3]", "n": "int32[] = 4"}),
    )
    assert [change.argument for change in found.again[0].changes] == ["x"]


def test_compilations_belong_to_the_call_that_the_log_was_marked_for() -> None:
    log = CompileLog()
    compiled = "x.cc:93] Compiled __inference_step_{n} 1 times, compile time: 141283 us, cumulative"
    for line in ("xlalint-phase: run", "xlalint-call: 1", compiled.format(n=7)):
        log.line(line)
    for line in ("xlalint-call: not ours", "xlalint-call: 2", "loss 3", compiled.format(n=9)):
        log.line(line)
    assert log.compilations("run") == (
        Compilation("step", 1, pytest.approx(0.141283)),
        Compilation("step", 2, pytest.approx(0.141283)),
    )


def test_padding_counts_the_shapes_left_and_the_share_of_padding() -> None:
    found = {one.multiple: one for one in padding.options([30, 40, 100, 100])}
    assert {multiple: one.shapes for multiple, one in found.items()} == {32: 3, 64: 2, 128: 1, 0: 1}
    assert found[32].waste == pytest.approx(1 - 270 / (32 + 64 + 128 + 128))
    assert found[128].waste == pytest.approx(1 - 270 / 512)
    assert found[0].waste == pytest.approx(1 - 270 / 400)


def test_lengths_of_a_dataset_are_padded_and_its_last_batch_is_not() -> None:
    lengths = (17, 23, 23, 40)
    shapes = tuple({"batch[0]": [8, length], "batch[1]": [8]} for length in lengths)
    last = {"batch[0]": [3, 17], "batch[1]": [3]}
    (found,) = meter((), [BatchShapes("/t.py", 9, (*shapes, last), True)], ()).batches
    assert (found.read, found.shapes, found.is_all) == (5, 4, True)
    assert [(one.part, one.axis, one.options is None, dict(one.sizes)) for one in found.axes] == [
        ("batch[0]", 0, True, {3: 1, 8: 4}),
        ("batch[0]", 1, False, {17: 2, 23: 2, 40: 1}),
        ("batch[1]", 0, True, {3: 1, 8: 4}),
    ]


def test_batches_of_one_shape_have_no_axis_that_varies() -> None:
    shapes = ({"batch": [8, 3]},) * 4
    (found,) = meter((), [BatchShapes("/t.py", 9, shapes, False)], ()).batches
    assert (found.shapes, found.axes) == (1, ())


def test_the_report_names_what_changed_and_what_to_pad_to() -> None:
    calls = (
        MeteredCall(1, 1, 1.0, {"x": "int32[8, 17]"}),
        MeteredCall(2, 1, 0.5, {"x": "int32[8, 23]"}),
    )
    data = BatchShapes("/data.py", 9, ({"batch": [8, 17]}, {"batch": [8, 23]}), False)
    compiled = (Compilation("step", 1, 0.25), Compilation("step", 2, 0.25))
    found = meter([MeteredFunction("step", "/t.py", 3, False, calls)], [data], compiled)
    assert list(recompiles.lines(found, lambda path, line: f"{path}:{line}")) == [
        "  /t.py:3 step: 2 calls, 2 traces (1.0 s), 2 XLA compiles (0.5 s)",
        "         call 2: traced again (0.5 s): shape of `x`: int32[8, 17] -> int32[8, 23]",
        "         shape: pad it to a few fixed sizes",
        "  /data.py:9 the data: 2 shapes in the first 2 batches, each a program of its own",
        "         batch axis 1: 17 in 1 batch, 23 in 1 batch",
        "           to multiples of 32: 1 shape, 38% padding; to multiples of 64: 1 shape, 69% padding; "
        "to multiples of 128: 1 shape, 84% padding; all to 23: 1 shape, 13% padding",
    ]


def test_a_run_that_compiled_each_program_once_is_no_news() -> None:
    calls = (MeteredCall(1, 1, 1.0, {"x": "int32[8]"}), MeteredCall(2, 0, 0.1, {"x": "int32[8]"}))
    found = meter([MeteredFunction("step", "/t.py", 3, False, calls)], (), ())
    assert list(recompiles.lines(found, lambda path, line: "")) == []
