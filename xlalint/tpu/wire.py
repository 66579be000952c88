"""Protocol buffers' wire format, as much of it as compile options and HLO need: no schema, no dependency."""

from __future__ import annotations

from collections.abc import Iterator

Field = int | bytes


def fields(data: bytes) -> Iterator[tuple[int, Field]]:
    """(number, value) of each field: an int for varints, bytes for all else. Raises ValueError for what is no message."""
    position = 0
    while position < len(data):
        key, position = varint(data, position)
        kind = key & 7
        if kind == 0:
            value, position = varint(data, position)
            yield key >> 3, value
            continue
        if kind == 2:
            size, position = varint(data, position)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError(f"wire type {kind} at byte {position}")
        if position + size > len(data):
            raise ValueError("a field is longer than its message")
        yield key >> 3, data[position : position + size]
        position += size


def varint(data: bytes, position: int) -> tuple[int, int]:
    """(value, position after it). Raises ValueError where the data end."""
    value = shift = 0
    while position < len(data):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise ValueError("the data end inside a number")


def numbers(value: Field) -> list[int]:
    """A repeated integer field, packed or a single one."""
    if isinstance(value, int):
        return [value]
    found, position = [], 0
    while position < len(value):
        number, position = varint(value, position)
        found.append(number)
    return found


def encode_number(field: int, value: int) -> bytes:
    return _encode_varint(field << 3) + _encode_varint(value)


def encode_bytes(field: int, value: bytes) -> bytes:
    return _encode_varint(field << 3 | 2) + _encode_varint(len(value)) + value


def encode_packed(field: int, values: list[int]) -> bytes:
    return encode_bytes(field, b"".join(map(_encode_varint, values)))


def _encode_varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # negative numbers are their two's complement of 64 bits
    encoded = bytearray()
    while True:
        byte, value = value & 0x7F, value >> 7
        encoded.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(encoded)
