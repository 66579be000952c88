"""What a compiled program holds: memory lost to padding, element types that TPUs emulate, collectives, by source line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from xlalint.tpu.module import Array, Instruction, Module

# Instructions that make no array of their own.
_NO_BUFFER = frozenset(
    {
        "tuple",
        "get-tuple-element",
        "bitcast",
        "while",
        "conditional",
        "call",
        "after-all",
        "constant",
    }
)
# Instructions that compute nothing.
_PLUMBING = _NO_BUFFER | {"parameter", "broadcast", "reshape", "convert", "copy", "iota", "slice"}
_COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "collective-permute", "all-to-all")
# TPUs have no 64-bit units: the compiler splits these into pairs of 32 bits, many instructions for one.
EMULATED = ("f64", "s64", "u64", "c128")
_MOST = 8
_MOST_EMULATED = 256
# How TensorFlow calls what no operation of the program makes.
_NAMES = {"XLA_Args": "(an argument)", "XLA_Retvals": "(a result)"}
# Less than this is not worth a line.
_WORTH_TELLING = 1 << 20


@dataclass(frozen=True, slots=True)
class Waste:
    """One array that padding makes larger: bytes of its elements and bytes in memory, both of one copy of it.

    `op_name` is the scope and name of the operation that makes it, `path` and `line` its source."""

    what: str
    bytes: int
    padded_bytes: int
    op_name: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Padding:
    """All arrays in HBM that the program makes or is given, and those that lose most."""

    bytes: int
    padded_bytes: int
    worst: tuple[Waste, ...]

    @property
    def share(self) -> float:
        """Of the padded bytes, 0 to 1."""
        return 1 - self.bytes / self.padded_bytes if self.padded_bytes else 0.0


@dataclass(frozen=True, slots=True)
class Emulated:
    """Arrays of a 64-bit type, more than single numbers, made at a line of source."""

    dtype: str
    op_name: str
    path: str
    line: int
    instructions: int


@dataclass(frozen=True, slots=True)
class DataSized:
    """An array whose size only the data tell: it is held, and computed with, at its most, which is `bytes`."""

    what: str
    bytes: int
    op_name: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Collectives:
    """Operations between replicas, and the bytes each replica hands over to them."""

    count: int
    bytes: int


def padding(optimized: Module) -> Padding:
    """Of an optimized module, whose layouts are the TPU's."""
    found = [
        Waste(
            _described(one, array),
            array.bytes,
            array.padded_bytes,
            one.op_name,
            one.path,
            one.line,
        )
        for one in optimized.running
        if one.opcode not in _NO_BUFFER and not one.opcode.endswith(("-start", "-done"))
        for array in one.arrays
        if array.space == 0
    ]
    worst = sorted(found, key=lambda waste: (waste.bytes - waste.padded_bytes, waste.what))
    distinct = {(one.what, one.path, one.line): one for one in reversed(worst)}
    told = sorted(
        distinct.values(), key=lambda waste: (waste.bytes - waste.padded_bytes, waste.what)
    )
    return Padding(
        sum(waste.bytes for waste in found),
        sum(waste.padded_bytes for waste in found),
        tuple(one for one in told[:_MOST] if one.padded_bytes - one.bytes >= _WORTH_TELLING),
    )


def products(source: Module) -> tuple[tuple[str, int], ...]:
    """Of a module as TensorFlow lowered it: how many products and convolutions give which element type, sorted."""
    found = [one for one in source.all if one.opcode in ("dot", "convolution")]
    counts = Counter(array.dtype for one in found for array in one.arrays)
    return tuple(sorted(counts.items()))


def repeated(source: Module) -> tuple[str, int]:
    """Of a module as TensorFlow lowered it: the operation that occurs most often in it, and how often."""
    counts = Counter(one.opcode for one in source.all if one.opcode not in _PLUMBING)
    return max(counts.items(), key=lambda item: (item[1], item[0]), default=("", 0))


def emulated(source: Module) -> tuple[Emulated, ...]:
    """Of a module as TensorFlow lowered it: where its 64-bit arrays are made, the most first."""
    counts: dict[tuple[str, str, str, int], int] = {}
    for one in source.all:
        if one.opcode in ("parameter", "tuple", "get-tuple-element"):
            continue
        for array in one.arrays:
            if array.dtype in EMULATED and array.dims:
                key = (array.dtype, one.op_name, one.path, one.line)
                counts[key] = counts.get(key, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Emulated(*key, count) for key, count in ordered[:_MOST_EMULATED])


def data_sized(source: Module) -> tuple[DataSized, ...]:
    """Of a module as TensorFlow lowered it: the largest array of each operation whose size only the data tell."""
    found: dict[tuple[str, str, int], DataSized] = {}
    for one in source.all:
        for array in one.arrays if one.opcode not in _NO_BUFFER else ():
            key = (one.op_name, one.path, one.line)
            if array.is_bounded and (key not in found or found[key].bytes < array.bytes):
                found[key] = DataSized(_described(one, array), array.bytes, *key)
    ordered = sorted(found.values(), key=lambda one: (-one.bytes, one.what, one.op_name))
    return tuple(ordered[:_MOST_EMULATED])


def collectives(optimized: Module) -> Collectives:
    """Of an optimized module: those that wait for other replicas."""
    found = [one for one in optimized.running if one.opcode.removesuffix("-start") in _COLLECTIVES]
    return Collectives(len(found), sum(_handed_over(one.arrays) for one in found))


def _handed_over(arrays: Iterable[Array]) -> int:
    return sum(array.bytes for array in arrays)


def _described(one: Instruction, array: Array) -> str:
    shape = f"{array.dtype}[{','.join(map(str, array.dims))}]"
    name = _NAMES.get(one.op_name) or one.op_name.rpartition("/")[2] or one.opcode
    return f"{shape} {name}" if one.op_name else shape
