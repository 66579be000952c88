"""Methods of `tf.Variable` that XLA has no kernel for, and the functions that call them when they are given a variable.

`tf.gather_nd(variable, indices)` calls `variable.gather_nd`, an operation of its own, unless it is asked for `batch_dims` or
for what to do with bad indices. Keras 3's variables have no such method: TensorFlow reads their values first.
"""

from __future__ import annotations

import ast

from xlalint.semantics.facts import ASSUMED
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import noted_calls
from xlalint.semantics.results import variables
from xlalint.semantics.values import VARIABLE, Value

ASK_VARIABLES = {
    "tf.gather_nd": ("params", "tf.Variable.gather_nd"),
    "tf.compat.v1.gather_nd": ("params", "tf.Variable.gather_nd"),
}
_OTHERWISE = ("batch_dims", "bad_indices_policy")


def note_function(name: str, bound: dict[str, Value], node: ast.AST, frame: Frame) -> None:
    """A function given a variable, that calls a method of it."""
    parameter, method = ASK_VARIABLES[name]
    given = bound.get(parameter)
    if given is None or not _is_of_tensorflow(given, frame):
        return
    asked = [bound[each].constant() for each in _OTHERWISE if each in bound]
    if all(known is not None and known.value in (0, "", "DEFAULT") for known in asked):
        noted_calls.note_refused(method, node, frame)


def note_method(base: Value, attr: str, node: ast.AST, frame: Frame) -> None:
    """A method of a variable. What only hands on its own call (`def gather_nd(self, i): return self.v.gather_nd(i)`) is no use of it."""
    handed_on = frame.function is not None and frame.function.name == attr
    if handed_on and frame.context.region == ASSUMED:
        return
    if _is_of_tensorflow(base, frame):
        noted_calls.note_refused(f"tf.Variable.{attr}", node, frame)


def _is_of_tensorflow(value: Value, frame: Frame) -> bool:
    """Whether a value is surely a `tf.Variable`: with Keras 2, weights of layers are."""
    if value.kind is not VARIABLE or value.optional or value.guess or not value.sure:
        return False
    return value.ref in variables.ALL_OF_TENSORFLOW or frame.analysis.keras == "2"
