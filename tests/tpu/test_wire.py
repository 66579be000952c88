"""The wire format of protocol buffers: what is written is read again, and what is cut off is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlalint.tpu import wire
from xlalint.tpu.options import compile_options


@given(st.integers(1, 2**28), st.integers(0, 2**64 - 1))
def test_numbers_come_back(field: int, value: int) -> None:
    assert list(wire.fields(wire.encode_number(field, value))) == [(field, value)]


@given(st.integers(1, 2**28), st.binary(max_size=300))
def test_bytes_come_back(field: int, value: bytes) -> None:
    assert list(wire.fields(wire.encode_bytes(field, value))) == [(field, value)]


@given(st.lists(st.integers(0, 2**40), max_size=20))
def test_packed_numbers_come_back(values: list[int]) -> None:
    ((_, packed),) = wire.fields(wire.encode_packed(3, values))
    assert wire.numbers(packed) == values


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    try:
        list(wire.fields(data))
    except ValueError as error:
        assert str(error)


def test_a_negative_number_is_its_complement() -> None:
    assert list(wire.fields(wire.encode_number(1, -1))) == [(1, 2**64 - 1)]


def test_options_place_each_replica_on_its_device() -> None:
    ((_, build),) = wire.fields(compile_options(2, [4, 6], level=9))
    assert isinstance(build, bytes)
    found = dict(wire.fields(build))
    assert (found[4], found[5], found[24]) == (2, 1, 9)
    assert isinstance(found[9], bytes)
    assignment = dict(wire.fields(found[9]))
    assert isinstance(assignment[3], bytes)
    ((_, devices),) = wire.fields(assignment[3])
    assert wire.numbers(devices) == [4, 6]


def test_a_replica_without_a_device_is_an_error() -> None:
    with pytest.raises(ValueError, match="3 replicas"):
        compile_options(3, [0, 1])
