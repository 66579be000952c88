"""Read an HLO module from its serialized form (xla/service/hlo.proto): instructions, their arrays, their source lines."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlalint.tpu.wire import Field, fields, numbers

# PrimitiveType of xla_data.proto: name and bits of one element.
_ELEMENTS = {
    1: ("pred", 8),
    2: ("s8", 8),
    3: ("s16", 16),
    4: ("s32", 32),
    5: ("s64", 64),
    6: ("u8", 8),
    7: ("u16", 16),
    8: ("u32", 32),
    9: ("u64", 64),
    10: ("f16", 16),
    11: ("f32", 32),
    12: ("f64", 64),
    15: ("c64", 64),
    16: ("bf16", 16),
    18: ("c128", 128),
    19: ("f8e5m2", 8),
    20: ("f8e4m3fn", 8),
    21: ("s4", 4),
    22: ("u4", 4),
}
_TUPLE = 13
# Computations that run on their own, rather than inside one instruction as a fusion's do.
_RUNS_OTHERS = ("while", "conditional", "call", "async-start")


@dataclass(frozen=True, slots=True)
class Array:
    """An array as the compiler lays it out: element type, dimensions, tile of the layout's minor dimensions, memory
    space (0: HBM). `is_bounded`: does a dimension have a size that only the data tell, of which `dims` has the most?"""

    dtype: str
    bits: int
    dims: tuple[int, ...]
    order: tuple[int, ...]
    tile: tuple[int, ...]
    space: int
    is_bounded: bool = False

    @property
    def bytes(self) -> int:
        """Of its elements alone."""
        return math.prod(self.dims) * self.bits // 8

    @property
    def padded_bytes(self) -> int:
        """With the dimensions rounded up to whole tiles, as it lies in memory."""
        if not self.tile:
            return self.bytes
        physical = [self.dims[axis] for axis in reversed(self.order)] or [1]
        physical = [1] * (len(self.tile) - len(physical)) + physical
        head, tail = physical[: -len(self.tile)], physical[-len(self.tile) :]
        whole = [-(-size // tile) * tile for size, tile in zip(tail, self.tile, strict=True)]
        return math.prod(head) * math.prod(whole) * self.bits // 8


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; `path` and `line` are those of its operation's source, empty and 0 where there is none."""

    name: str
    opcode: str
    arrays: tuple[Array, ...]
    op_name: str
    path: str
    line: int
    calls: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Module:
    """`running`: the instructions of the entry and of the loops and branches it runs, those inside fusions left out;
    `all`: every instruction."""

    running: tuple[Instruction, ...]
    all: tuple[Instruction, ...]


def read(data: bytes, *, with_config: bool = False) -> Module:
    """A HloModuleProto, or a HloModuleProtoWithConfig as executables return it. Raises ValueError for anything else."""
    if with_config:
        data = next((_bytes(value) for number, value in fields(data) if number == 1), b"")
    computations: dict[int, list[Instruction]] = {}
    entry = 0
    for number, value in fields(data):
        if number == 3:
            identifier, instructions = _computation(_bytes(value))
            computations[identifier] = instructions
        elif number == 6:
            entry = _int(value)
    return Module(
        tuple(_running(computations, entry)),
        tuple(one for instructions in computations.values() for one in instructions),
    )


def fingerprint(data: bytes) -> str:
    """A hash of a HloModuleProto, the same for the same program: the attributes of an instruction (its field 68) are a map, which
    is written in another order in each process."""
    found = hashlib.sha256()
    for number, value in fields(data):
        parts = fields(_bytes(value)) if number == 3 else [(number, value)]
        for inner, part in parts:
            if number == 3 and inner == 2:
                of_instruction = fields(_bytes(part))
                found.update(repr([_in_order(field) for field in of_instruction]).encode())
            else:
                found.update(repr((number, inner, part)).encode())
    return found.hexdigest()


def _in_order(field: tuple[int, Field]) -> tuple[int, object]:
    number, value = field
    return (number, sorted(fields(_bytes(value)), key=repr)) if number == 68 else field


def _running(computations: Mapping[int, Sequence[Instruction]], entry: int) -> list[Instruction]:
    found: list[Instruction] = []
    waiting, seen = [entry], set()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for instruction in computations.get(current, ()):
            found.append(instruction)
            if instruction.opcode in _RUNS_OTHERS:
                waiting += instruction.calls
    return found


def _computation(data: bytes) -> tuple[int, list[Instruction]]:
    identifier, instructions = 0, []
    for number, value in fields(data):
        if number == 2:
            instructions.append(_instruction(_bytes(value)))
        elif number == 5:
            identifier = _int(value)
    return identifier, instructions


def _instruction(data: bytes) -> Instruction:
    name = opcode = op_name = path = ""
    line = 0
    arrays: tuple[Array, ...] = ()
    calls: list[int] = []
    for number, value in fields(data):
        if number == 1:
            name = _text(value)
        elif number == 2:
            opcode = _text(value)
        elif number == 3:
            arrays = tuple(_arrays(_bytes(value)))
        elif number == 7:
            op_name, path, line = _metadata(_bytes(value))
        elif number == 38:
            calls += numbers(value)
    return Instruction(name, opcode, arrays, op_name, path, line, tuple(calls))


def _metadata(data: bytes) -> tuple[str, str, int]:
    found: dict[int, Field] = dict(fields(data))
    return _text(found.get(2, b"")), _text(found.get(3, b"")), _int(found.get(4, 0))


def _arrays(data: bytes) -> list[Array]:
    """The array of a shape, or those of a tuple, nested ones too."""
    kind, dims, layout = 0, [], b""
    parts: list[Array] = []
    is_bounded = False
    for number, value in fields(data):
        if number == 2:
            kind = _int(value)
        elif number == 3:
            dims += numbers(value)
        elif number == 4:
            parts += _arrays(_bytes(value))
        elif number == 5:
            layout = _bytes(value)
        elif number == 6:
            is_bounded |= any(numbers(value))
    if kind == _TUPLE:
        return parts
    if kind not in _ELEMENTS:
        return []
    dtype, bits = _ELEMENTS[kind]
    order, tile, space = _layout(layout)
    if len(order) != len(dims):
        order = tuple(range(len(dims) - 1, -1, -1))
    return [Array(dtype, bits, tuple(dims), order, tile, space, is_bounded)]


def _layout(data: bytes) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    order: list[int] = []
    tile: tuple[int, ...] = ()
    space = 0
    for number, value in fields(data):
        if number == 1:
            order += numbers(value)
        elif number == 6 and not tile:  # further tiles order the elements inside the first
            inner = [numbers(part) for place, part in fields(_bytes(value)) if place == 1]
            tile = tuple(size for part in inner for size in part)
        elif number == 8:
            space = _int(value)
    return tuple(order), tile, space


def _bytes(value: Field) -> bytes:
    if isinstance(value, int):
        raise ValueError("a number where a message belongs")
    return value


def _int(value: Field) -> int:
    if not isinstance(value, int):
        raise ValueError("a message where a number belongs")
    return value


def _text(value: Field) -> str:
    return "" if isinstance(value, int) else value.decode("utf-8", "replace")
