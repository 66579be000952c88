"""Arguments whose size is data: what XLA makes of them, against eager execution.

XLA keeps such a tensor in a buffer of bounded size beside a count. The same call is made with rows that a mask selects
from a longer array, so that the arguments are those of the default call and only XLA knows less of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tools.catalog.gradient import NoGradientError, gradient_function
from tools.catalog.program import Program, tensors_of

_MASK = "mask of the catalogue"
_TRIES = 2
_FINE = {"status": "fine"}


def data_sized_arguments(program: Program) -> dict[str, tuple[str, ...]]:
    """Parameters that hold arrays with a first axis, each with those that have the same number of rows."""
    rows = {
        name: leaf.shape[0]
        for name, value in program.arguments.items()
        if name not in program.frozen
        and (leaf := _first_array(value)) is not None
        and leaf.ndim
        and leaf.shape[0]
    }
    return {
        name: tuple(other for other in rows if rows[other] == count) for name, count in rows.items()
    }


def with_mask(program: Program, names: tuple[str, ...]) -> Program:
    """The same call, in which these arguments are what a mask leaves of longer ones."""
    longer = {name: _longer(program.arguments[name]) for name in names}
    array = _first_array(program.arguments[names[0]])
    assert array is not None  # `data_sized_arguments` found one
    mask = np.array([False, *[True] * len(array), False])

    def call(*positional: Any, **arguments: Any) -> Any:
        kept = _unknown(arguments.pop(_MASK))
        if "*" in names:
            positional = tuple(_masked(list(positional), kept))
        arguments.update({name: _masked(arguments[name], kept) for name in names if name != "*"})
        return Program(program.target, {}).call({**arguments, "*": positional})

    return Program(
        call, {**program.arguments, **longer, _MASK: mask}, program.frozen, program.variables
    )


def with_counted_size(program: Program, name: str, value: Any) -> Program:
    """The same call, in which the (first) number of an argument is the count of a mask."""
    sizes = list(value) if isinstance(value, (list, tuple)) else [value]
    mask = np.array([False, *[True] * sizes[0], False])

    def call(*positional: Any, **arguments: Any) -> Any:
        kept = _unknown(arguments.pop(_MASK))
        count = tf.size(tf.boolean_mask(tf.ones(mask.shape), kept))
        given = tf.stack([count, *sizes[1:]]) if isinstance(value, (list, tuple)) else count
        return Program(program.target, {}).call({**arguments, "*": positional, name: given})

    arguments = {key: each for key, each in program.arguments.items() if key != name}
    return Program(call, {**arguments, _MASK: mask}, program.frozen - {name}, program.variables)


def is_countable(value: Any) -> bool:
    """Whether an argument is a size, or a list that starts with one."""
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return type(first) is int and first > 0


def compare(program: Program, static: Program) -> dict[str, Any]:
    """`fine`, `wrong-numbers` or `rejected`: the call compiled against the call run eagerly.

    `static` is the call with sizes that XLA knows: numbers that are other in it too are not the doing of the sizes.
    """
    found = _compared(_forward(program), program)
    if found["status"] == "wrong-numbers" and _compared(_forward(static), static) != _FINE:
        return {
            "status": "refused",
            "error": "compiled with static sizes, it gives other numbers too",
        }
    return found


def compare_gradient(program: Program, static: Program) -> dict[str, Any]:
    """The same for the backward pass; `none` where there is no gradient."""
    found = _compared(gradient_function(program), program)
    if found["status"] == "wrong-numbers" and _compared(gradient_function(static), static) != _FINE:
        return {
            "status": "refused",
            "error": "compiled with static sizes, it gives other numbers too",
        }
    return found


def _forward(program: Program) -> Callable[..., list[tf.Tensor]]:
    call = program.function()
    return lambda *tensors: tensors_of(call(*tensors))


def _compared(function: Callable[..., list[tf.Tensor]], program: Program) -> dict[str, Any]:
    inputs = program.inputs()
    try:
        eager = [_plain(function(*inputs)) for _ in range(_TRIES)]
    except (LookupError, NoGradientError):
        return {"status": "none"}
    except Exception as error:
        return {"status": "refused", "error": _first_line(error)}
    try:
        compiled = _plain(tf.function(function, jit_compile=True, autograph=False)(*inputs))
    except (LookupError, NoGradientError):
        return {"status": "none"}
    except Exception as error:
        return {"status": "rejected", "error": _first_line(error)}
    repeatable = _agree(eager[0], eager[1])
    same = _agree(eager[0], compiled) if repeatable else _alike(eager[0], compiled)
    if same:
        return dict(_FINE)
    return {"status": "wrong-numbers", "eager": str(eager[0])[:100], "got": str(compiled)[:100]}


def _plain(tensors: list[tf.Tensor]) -> list[Any]:
    return [each.numpy() for each in tensors]


def _agree(a: list[Any], b: list[Any]) -> bool:
    return _alike(a, b) and all(
        np.allclose(x, y, rtol=1e-3, atol=1e-4, equal_nan=True)
        if x.dtype.kind in "fcV"
        else np.array_equal(x, y)
        for x, y in zip(a, b, strict=True)
    )


def _alike(a: list[Any], b: list[Any]) -> bool:
    return [each.shape for each in a] == [each.shape for each in b]


def _unknown(mask: tf.Tensor) -> tf.Tensor:
    """The mask as a value that XLA cannot work out when it compiles, not even from the values of arguments."""
    return tf.logical_and(mask, tf.random.uniform([]) < 2.0)


def _first_array(value: Any) -> Any | None:
    leaf = tf.nest.flatten(value)[0] if tf.nest.flatten(value) else None
    return leaf if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fiubc" else None


def _masked(value: Any, mask: tf.Tensor) -> Any:
    flat = list(tf.nest.flatten(value))
    flat[0] = tf.boolean_mask(flat[0], mask)
    return tf.nest.pack_sequence_as(value, flat)


def _longer(value: Any) -> Any:
    """One row more before, and one behind: other values where any do, else some of its own."""
    flat = list(tf.nest.flatten(value))
    array = flat[0]
    before, behind = array[-1:], array[:1]
    if array.dtype.kind == "f":
        before, behind = np.full_like(before, 0.77), np.full_like(behind, 0.66)
    elif array.dtype.kind == "b":
        before, behind = ~before, ~behind
    flat[0] = np.concatenate([before, array, behind])
    return tf.nest.pack_sequence_as(value, flat)


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]
