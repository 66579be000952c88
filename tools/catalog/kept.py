"""The gradient of a call in an arm of a conditional, and in a step of a loop: what it needs of what was computed there is no constant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tools.catalog.compiler import lower
from tools.catalog.gradient import NoGradientError, gradient_function
from tools.catalog.program import Program, tensors_of

_STEPS = 2


def gradient_in_arm(program: Program) -> dict[str, Any]:
    """Lower the gradient of a conditional that makes the call in one arm, and returns zeros from the other."""
    return _lowered(program, _arm)


def gradient_in_step(program: Program) -> dict[str, Any]:
    """Lower the gradient of a loop that makes the call in each of two steps, of inputs that the step scales by its state."""
    return _lowered(program, _steps)


def _lowered(program: Program, around: Callable[[Any, Sequence[tf.Tensor]], Any]) -> dict[str, Any]:
    call = program.function()
    kept = Program(
        lambda *tensors: around(call, tensors), {"*": program.inputs()}, variables=program.variables
    )
    backward = gradient_function(kept)
    specs = kept.specs()
    try:
        tf.function(backward, autograph=False).get_concrete_function(*specs)
    except (LookupError, NoGradientError):
        return {"status": "none"}
    except Exception as error:
        return {
            "status": "refused",
            "error": f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"[:200],
        }
    return lower(backward, specs).plain()


def _floats(result: Any) -> list[tf.Tensor]:
    return [each for each in tensors_of(result) if each.dtype.is_floating or each.dtype.is_complex]


def _arm(call: Callable[..., Any], tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    if not _floats(call(*tensors)):
        raise NoGradientError
    return list(
        tf.cond(
            tf.random.uniform([]) > 0.5,
            lambda: _floats(call(*tensors)),
            lambda: [tf.zeros_like(each) for each in _floats(call(*tensors))],
        )
    )


def _steps(call: Callable[..., Any], tensors: Sequence[tf.Tensor]) -> tf.Tensor:
    def step(number: tf.Tensor, total: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        scaled = [
            each * tf.cast(1.0 + total, each.dtype)
            if each.dtype.is_floating or each.dtype.is_complex
            else each
            for each in tensors
        ]
        found = _floats(call(*scaled))
        if not found:
            raise NoGradientError
        parts = [tf.cast(tf.reduce_sum(each), tf.float32) for each in found]
        return number + 1, total + tf.add_n(parts)

    _, total = tf.while_loop(
        lambda number, total: number < _STEPS, step, (0, 0.0), maximum_iterations=_STEPS
    )
    return total
