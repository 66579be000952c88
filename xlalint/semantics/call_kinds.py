"""Calls of one function told apart by what decides what it does, when there are too many to tell all apart.

Numbers, shapes and dtypes differ from call to call and change little of what runs. A call may run what no other ran where it is compiled and they
were not, or where it passes in some place what none of them did there: data where they passed constants, a tensor whose size depends on data,
a function, class or object, or a word that chooses an arm.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from xlalint.semantics.elements import flattened
from xlalint.semantics.values import (
    ARRIVING,
    BOUNDED,
    CLASS,
    COMPUTED,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    PYTHON,
    Value,
    class_name,
)

# Whatever is known later is known no sooner: what was run for numbers that the program computes was run for arguments.
_LATE = {BOUNDED: (BOUNDED,), ARRIVING: (ARRIVING,), COMPUTED: (ARRIVING, COMPUTED)}
_DATA_SIZED = "data-sized"


def traits_of_calls(keys: Iterable[tuple[Any, ...]]) -> set[Hashable]:
    """What is passed where in any of these calls; the keys are those of `past_calls.py`."""
    return {trait for key in keys for trait in traits_of_call(key)}


def traits_of_call(key: tuple[Any, ...]) -> Iterator[Hashable]:
    """What is passed where in a call, without numbers, shapes and dtypes."""
    context, self_value, positional, keywords, *_, closure = key
    yield context
    yield "closure", closure
    if self_value is not None:
        yield from (("self", trait) for trait in _traits(self_value))
    for place, value in enumerate(positional):
        yield from ((place, trait) for trait in _traits(value))
    for name, value in keywords:
        yield from ((name, trait) for trait in _traits(value))


def _traits(value: Value) -> Iterator[Hashable]:
    for leaf in flattened((value,)):
        if leaf.is_tensor:
            yield from _LATE.get(leaf.dependence, ())
            if leaf.producer is not None:
                yield _DATA_SIZED
        elif leaf.kind is PYTHON:
            known = leaf.constant()
            if known is not None and (known.value is None or type(known.value) in (str, bool)):
                yield known.value
        elif leaf.kind is INSTANCE:
            yield class_name(leaf)
        elif leaf.kind in (FUNCTION, CLASS, EXTERNAL):
            yield leaf.ref, leaf.closure
