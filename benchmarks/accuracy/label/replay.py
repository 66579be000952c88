"""A call that was recorded, as a program for the compiler: which of its arguments are data, and which are settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from held import held, holding, is_composite, is_tensor, opened
from labels import COMPATIBLE, COSTLY, INCOMPATIBLE
from program import Call
from recorder import Recorded

Examined = tuple[Any, set[tuple[str, int]]]


def judged(
    recorded: Recorded, package: str, examine: Callable[[Call], Examined]
) -> Examined | None:
    """What the compiler says of the call; None where it is given no data.

    An array may be a setting: where the call cannot be traced with arrays as data, they are constants. So may a short tensor
    of whole numbers (a size, an index): where the call fails with it as data and compiles with it as a constant, it is none.
    """
    for has_arrays in (True, False):
        call = replayed(recorded, package, has_arrays)
        if call is None:
            return None
        said, lines = examine(call)
        cannot_trace = said.label == "not run" or (
            said.label == INCOMPATIBLE and said.stage == "trace"
        )
        if has_arrays and cannot_trace and any(map(_is_array, _values(recorded))):
            continue
        fails = said.label in (INCOMPATIBLE, COSTLY) and said.stage != "bounded"
        if fails and any(map(_may_be_setting, _values(recorded))):
            settled = replayed(recorded, package, has_arrays, has_settings=True)
            other = examine(settled) if settled is not None else None
            if other is not None and other[0].label == COMPATIBLE:
                return other
        return said, lines
    return None


def replayed(
    recorded: Recorded, package: str, has_arrays: bool, has_settings: bool = False
) -> Call | None:
    """The call as a program of its tensors; of its arrays too with `has_arrays`, without short ones with `has_settings`."""
    structure = (recorded.arguments, recorded.keywords)
    values = _values(recorded)
    # Per value that is data or holds some, its place, and how many tensors it takes; 0 where it is one itself.
    places: list[tuple[int, int]] = []
    inputs: list[Any] = []
    for place, value in enumerate(values):
        if has_settings and _may_be_setting(value):
            continue
        if is_tensor(value) or is_composite(value) or (has_arrays and _is_array(value)):
            places.append((place, 0))
            inputs.append(value)
        elif tensors := held(value, package):
            places.append((place, len(tensors)))
            inputs += tensors
    if not inputs:
        return None

    def function(*given: Any) -> Any:
        left = iter(given)
        full = [_built_in(v) if has_settings and _may_be_setting(v) else v for v in values]
        for place, count in places:
            taken = [next(left) for _ in range(count or 1)]
            full[place] = holding(values[place], taken) if count else taken[0]
        arguments, keywords = tf.nest.pack_sequence_as(structure, full)
        return opened(recorded.function(*arguments, **keywords), package)

    return Call(function, inputs, check_gradient=True, check_shape=False)


def _built_in(value: Any) -> Any:
    # A tensor made before is an input of what is traced; one made there is a constant.
    return tf.constant(value.numpy())


def _values(recorded: Recorded) -> list[Any]:
    return list(tf.nest.flatten((recorded.arguments, recorded.keywords)))


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0 and value.dtype.kind in "fiub"


def _may_be_setting(value: Any) -> bool:
    return (
        isinstance(value, tf.Tensor)
        and value.dtype.is_integer
        and value.shape.rank is not None
        and value.shape.rank <= 1
        and value.shape.num_elements() <= 5
    )
