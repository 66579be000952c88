"""Keras layers without XLA support, as Keras 3 treats them: it runs the model without XLA, and says so in a warning at most."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Aim
from xlalint.semantics.facts import CallDetail, Fact

# Keras 3 knows of these (`supports_jit`); of others, MixUp among them, it does not, and they fail with XLA.
KNOWN_TO_KERAS = frozenset(
    f"keras.layers.{name}"
    for name in (
        *("RandomPerspective", "RandomRotation", "RandomShear", "RandomTranslation", "RandomZoom"),
        *("HashedCrossing", "Hashing", "IntegerLookup", "StringLookup", "TextVectorization"),
    )
)


def turns_jit_off(fact: Fact, detail: CallDetail, aim: Aim) -> bool:
    """Whether such a layer makes Keras 3 drop `jit_compile` instead of failing: not on TPUs, which compile all the same."""
    is_layer = detail.api in KNOWN_TO_KERAS
    by_keras = bool(fact.context.why) and fact.context.why[0].startswith("Keras 3")
    return is_layer and by_keras and not fact.context.jit and not aim.is_tpu


def named_in(call: cst.Call) -> cst.BaseExpression:
    """What a call is named by: of `keras.layers.StringLookup(...)(x)`, the layer's class; of `METHODS.get(name)(x)`, the look-up."""
    called = call.func
    if not isinstance(called, cst.Call):
        return called
    maker = called.func.attr if isinstance(called.func, cst.Attribute) else called.func
    is_class = isinstance(maker, cst.Name) and maker.value[:1].isupper()
    return called.func if is_class else called
