"""XLA105: a traced tensor asked for a Python value."""

from __future__ import annotations

import libcst as cst

from xlalint.rules.base import Rule
from xlalint.semantics import evidence
from xlalint.semantics.facts import (
    ARRAY_ITEM,
    ARRAY_LIBRARY,
    CAST_OPERAND,
    COMPILED,
    CONVERSION,
    FORMATTING,
    KERAS_LOOP,
    NUMPY_CALL,
    NUMPY_METHOD,
    READ_AS_PYTHON,
    TRAINING_FLAG,
    WEIGHTS_AS_ARRAYS,
    Fact,
)

_VARIANTS = {
    ARRAY_ITEM: "array-item",
    CONVERSION: "conversion",
    NUMPY_METHOD: "numpy-method",
    NUMPY_CALL: "numpy-call",
    FORMATTING: "formatting",
    KERAS_LOOP: "keras-loop",
    WEIGHTS_AS_ARRAYS: "weights-as-arrays",
    READ_AS_PYTHON: "python-argument",
}


class TensorToPython(Rule):
    """`int(t)`, `bool(t)`, `t.numpy()`, `np.f(t)`, `"%f" % t` and their like."""

    code = "XLA105"

    def visit_Call(self, node: cst.Call) -> None:
        self._judge(node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        self._judge(node)

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        self._judge(node)

    def visit_Comparison(self, node: cst.Comparison) -> None:
        self._judge(node)

    def visit_FormattedString(self, node: cst.FormattedString) -> None:
        self._judge(node)

    def visit_ConcatenatedString(self, node: cst.ConcatenatedString) -> None:
        self._judge(node)

    def _judge(self, node: cst.BaseExpression) -> None:
        for fact in self.facts(node, CAST_OPERAND):
            name, other = fact.detail
            words = {"call": self.quote(node), "name": name, "other": other}
            self.report(node, fact, "cast-operand", **words, dtype=str(fact.value.dtype))
        for fact in self.facts(node, *_VARIANTS):
            # Arrays are what eager callers ask for: an option that is off by default says who they are.
            is_array = fact.kind in (NUMPY_METHOD, NUMPY_CALL)
            is_option = is_array and not fact.usual and not _is_only_compiled(fact)
            is_possible = fact.value.guess or is_option
            confidence = "possible" if is_possible else None
            is_told = fact.detail in (ARRAY_LIBRARY, TRAINING_FLAG)
            variant = str(fact.detail) if is_told else _VARIANTS[fact.kind]
            self.report(node, fact, variant, confidence=confidence, call=self.quote(node))


def _is_only_compiled(fact: Fact) -> bool:
    """Whether code has no eager callers: the function that is compiled itself, and what is of the same layer.

    One that asks what it is given (`tf.is_tensor(x)`) has them.
    """
    root, function = fact.context.root, fact.function
    if fact.context.region != COMPILED or root is None or function is None:
        return False
    if evidence.asks_for_types(function):
        return False
    return function is root or (function.cls is not None and function.cls is root.cls)
