"""Keras layers without XLA support, as Keras 3 treats them: it runs the model without XLA, and says so in a warning at most."""

from __future__ import annotations

from xlalint.rules.base import Aim
from xlalint.semantics.facts import CallDetail, Fact


def turns_jit_off(fact: Fact, detail: CallDetail, aim: Aim) -> bool:
    """Whether such a layer makes Keras 3 drop `jit_compile` instead of failing: not on TPUs, which compile all the same."""
    is_layer = detail.api.startswith("keras.layers.")
    by_keras = bool(fact.context.why) and fact.context.why[0].startswith("Keras 3")
    return is_layer and by_keras and not fact.context.jit and not aim.is_tpu
