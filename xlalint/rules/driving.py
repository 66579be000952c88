"""What the rules about driver code share: when XLA is in sight, and how they name what takes the batches."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Aim
from xlalint.semantics.training.drivers import Driven


def compiler_of(detail: Driven, aim: Aim) -> str | None:
    """What compiles the consumer: `jit` (jit_compile=True is on it), `tpu` (a TPU is in sight), or nothing."""
    if detail.jit:
        return "jit"
    return "tpu" if detail.replicas and aim.is_tpu and aim.goes_to_tpu else None


def name_node(call: cst.Call) -> cst.BaseExpression:
    """The name that is called: of a chain over many lines the method alone, which is what has to change."""
    return call.func.attr if isinstance(call.func, cst.Attribute) else call.func
