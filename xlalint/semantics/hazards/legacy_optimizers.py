"""Optimizers of `tf.keras.optimizers.legacy`, which update a variable by one operation: with `amsgrad=True`, Adam's has no XLA kernel.

Those of Keras 3 and the newer ones of tf_keras are made of operations that have kernels (measured with dense gradients, TensorFlow 2.15 and 2.21:
fixtures/XLA401/flagged_legacy_optimizers.py). The sparse gradients of embeddings, for which other optimizers lack a kernel, are not told apart here.
"""

from __future__ import annotations

import ast

from xlalint.semantics.arguments import Arguments, bind
from xlalint.semantics.facts import CALL, CallDetail, Verdict
from xlalint.semantics.frames import Frame
from xlalint.semantics.values import NOTHING_KNOWN, TRUE, Made, Value

_ADAM = "keras.optimizers.legacy.Adam"
_PARAMETERS = ("learning_rate", "beta_1", "beta_2", "epsilon", "amsgrad", "name")
_STEPS = frozenset({"apply_gradients", "minimize"})
_LACKS = ("ResourceApplyAdamWithAmsgrad",)
_REFUSED = CallDetail(
    _ADAM,
    (),
    Verdict("fails", _LACKS, "kernel", (), ()),
    False,
    "certain",
    "tf.keras.optimizers.Adam(amsgrad=True), which is made of operations that have one",
    _LACKS,
)


def made(name: str, plain: str, arguments: Arguments) -> str | Made:
    """The class of an optimizer, with what it is made with where that decides which operation updates the variables."""
    if plain != _ADAM or bind(_PARAMETERS, arguments).get("amsgrad") != TRUE:
        return name
    return Made(name, (("amsgrad", TRUE),))


def note(base: Value, plain: str, attr: str, node: ast.AST, frame: Frame) -> None:
    """Note a step of such an optimizer in code that is compiled."""
    if plain == _ADAM and type(base.ref) is Made and attr in _STEPS:
        frame.analysis.note(frame, node, CALL, NOTHING_KNOWN, _REFUSED)
