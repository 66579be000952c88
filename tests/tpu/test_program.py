"""What is read from a compiled module: padded sizes as they lie in memory, collectives, emulated types."""

from __future__ import annotations

import pytest

from xlalint.tpu import program, roofline
from xlalint.tpu.generations import generation
from xlalint.tpu.module import Array, Instruction, Module, read
from xlalint.tpu.wire import encode_bytes, encode_number, encode_packed


def array(dims: tuple[int, ...], tile: tuple[int, ...] = (8, 128), **other: object) -> Array:
    kinds = {"dtype": "f32", "bits": 32, "order": tuple(range(len(dims) - 1, -1, -1)), "space": 0}
    return Array(**{**kinds, "dims": dims, "tile": tile, **other})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "padded"),
    [
        (array((16, 30, 30, 32)), 16 * 30 * 32 * 128 * 4),
        (array((16, 30, 30, 32), order=(0, 3, 2, 1)), 30 * 30 * 32 * 128 * 4),
        (array((1024,), (128,)), 4096),
        (array((10,), (8, 128)), 4096),
        (array((), (128,)), 512),
        (array((64, 3), (8, 128), dtype="bf16", bits=16), 64 * 128 * 2),
        (array((5, 3), ()), 60),
    ],
)
def test_whole_tiles_lie_in_memory(one: Array, padded: int) -> None:
    assert one.padded_bytes == padded


def instruction(name: str, opcode: str, *arrays: Array, line: int = 7) -> Instruction:
    return Instruction(name, opcode, arrays, f"dense/{name}", "/train.py", line, ())


def test_padding_names_the_lines_that_lose_most() -> None:
    wasteful = instruction("Conv", "fusion", array((512, 64, 64, 3)))
    fine = instruction("MatMul", "fusion", array((1024, 1024)), line=9)
    on_chip = instruction("Mul", "fusion", array((512, 512, 3), space=1))
    found = program.padding(Module((fine, wasteful, on_chip), ()))
    assert [(one.what, one.line) for one in found.worst] == [("f32[512,64,64,3] Conv", 7)]
    assert found.bytes == 512 * 64 * 64 * 3 * 4 + 1024 * 1024 * 4
    assert found.share == pytest.approx(
        1 - found.bytes / (512 * 64 * 64 * 128 * 4 + 1024 * 1024 * 4)
    )


def test_collectives_and_emulated_types_are_counted() -> None:
    reduce = instruction("sum", "all-reduce-start", array((1000,), (128,)))
    done = instruction("sum", "all-reduce-done", array((1000,), (128,)))
    double = instruction("Cast", "convert", array((8,), dtype="f64", bits=64), line=3)
    scalar = instruction("step", "add", array((), dtype="s64", bits=64))
    assert program.collectives(Module((reduce, done), ())) == program.Collectives(1, 4000)
    assert program.emulated(Module((), (double, double, scalar))) == (
        program.Emulated("f64", "dense/Cast", "/train.py", 3, 2),
    )


def test_arrays_of_a_size_from_data_are_told_by_the_operation_that_makes_them() -> None:
    bounded = array((8, 4), is_bounded=True)
    module = Module(
        (),
        (
            instruction("GatherV2", "gather", bounded, array((8,), is_bounded=True)),
            instruction("GatherV2", "reshape", array((4,), is_bounded=True)),
            instruction("Mul", "multiply", array((8, 4))),
            instruction("Get", "get-tuple-element", bounded),
        ),
    )
    assert program.data_sized(module) == (
        program.DataSized("f32[8,4] GatherV2", 128, "dense/GatherV2", "/train.py", 7),
    )


def test_a_module_is_read_from_its_bytes() -> None:
    layout = encode_packed(1, [1, 0]) + encode_bytes(6, encode_packed(1, [8, 128]))
    shape = encode_number(2, 11) + encode_packed(3, [4, 5]) + encode_bytes(5, layout)
    shape += encode_packed(6, [0, 1])  # the second is bounded
    metadata = encode_bytes(2, b"a/MatMul") + encode_bytes(3, b"/t.py") + encode_number(4, 12)
    body = encode_bytes(1, b"dot.1") + encode_bytes(2, b"dot")
    body += encode_bytes(3, shape) + encode_bytes(7, metadata)
    loop = encode_bytes(2, b"while") + encode_packed(38, [2])
    computations = [
        encode_bytes(2, loop) + encode_number(5, 1),
        encode_bytes(2, body) + encode_number(5, 2),
        encode_bytes(2, body) + encode_number(5, 3),  # a fusion's: nothing runs it
    ]
    data = b"".join(encode_bytes(3, one) for one in computations) + encode_number(6, 1)
    for module in (read(data), read(encode_bytes(1, data), with_config=True)):
        assert [one.opcode for one in module.running] == ["while", "dot"]
        assert len(module.all) == 3
        dot = module.running[1]
        assert (dot.op_name, dot.path, dot.line) == ("a/MatMul", "/t.py", 12)
        assert (dot.arrays[0].dims, dot.arrays[0].padded_bytes) == ((4, 5), 4096)
        assert dot.arrays[0].is_bounded


def test_a_bound_is_the_slowest_of_three() -> None:
    v5e = generation("v5e")
    assert v5e is not None
    alone = roofline.bound(v5e, flops=197e12, moved_bytes=0, reduced_bytes=100, replicas=1)
    assert (alone.step, alone.limited_by, alone.collectives) == (1.0, "arithmetic", 0.0)
    eight = roofline.bound(
        v5e, flops=0, moved_bytes=819 * 10**9, reduced_bytes=200 * 10**9, replicas=8
    )
    assert (eight.memory, eight.collectives) == (1.0, pytest.approx(1.75))
    assert eight.limited_by == "collectives"
    assert eight.collective_share == pytest.approx(1.75 / 2.75)
