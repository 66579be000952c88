"""The backward pass of a call: the gradient of the sum of squares of its float outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tools.catalog.compiler import lower
from tools.catalog.program import Program, tensors_of


def gradient(program: Program) -> dict[str, Any]:
    """Lower the backward pass of the sum of squares of all float outputs."""
    backward = gradient_function(program)
    specs = program.specs()
    try:
        tf.function(backward, autograph=False).get_concrete_function(*specs)
    except (LookupError, NoGradientError):
        return {"status": "none"}
    except Exception as error:
        return {
            "status": "fails",
            "reason": "trace",
            "message": f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"[:200],
        }
    return lower(backward, specs).plain()


def differentiates_eagerly(program: Program) -> bool:
    """Whether eager execution finds the gradient."""
    try:
        gradient_function(program)(*program.inputs())
    except Exception:
        return False
    return True


class NoGradientError(Exception):
    """Nothing differentiable goes in or comes out, or nothing connects them."""


def gradient_function(program: Program) -> Callable[..., list[tf.Tensor]]:
    """The function of a program's inputs that returns its gradients. It raises NoGradientError while tracing."""
    call = program.function()

    def backward(*tensors: tf.Tensor) -> list[tf.Tensor]:
        sources = [each for each in tensors if _is_differentiable(each)] + list(program.variables)
        with tf.GradientTape() as tape:
            tape.watch([each for each in sources if isinstance(each, tf.Tensor)])
            outputs = [each for each in tensors_of(call(*tensors)) if _is_differentiable(each)]
            if not outputs or not sources:
                raise NoGradientError
            total = tf.add_n([_sum_of_squares(each) for each in outputs])
        gradients = [each for each in tape.gradient(total, sources) if each is not None]
        if not gradients:
            raise NoGradientError
        return [each for gradient in gradients for each in tensors_of(gradient)]

    return backward


def _is_differentiable(tensor: tf.Tensor) -> bool:
    return bool(tensor.dtype.is_floating or tensor.dtype.is_complex)


def _sum_of_squares(tensor: tf.Tensor) -> tf.Tensor:
    square = (
        tf.math.real(tensor * tf.math.conj(tensor)) if tensor.dtype.is_complex else tensor * tensor
    )
    return tf.cast(tf.reduce_sum(square), tf.float32)
