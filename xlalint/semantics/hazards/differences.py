"""Calls that compile and then do something else than in eager execution: checks that vanish, other numbers, other streams.

What is noted here was measured: facts/probes, section 5, and the fixtures of XLA406 and XLA408.
"""

from __future__ import annotations

import ast

from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import CHECK_WITHOUT_DATA, DIFFERS, IGNORED_SEED, VANISHING_CHECK
from xlalint.semantics.frames import Frame
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import (
    ARRIVING,
    EXTERNAL,
    NOTHING_KNOWN,
    SEQUENCE,
    UNKNOWN,
    Value,
)

# Operations whose kernels XLA has and that do nothing there.
_CHECKS = frozenset({"Assert", "CheckNumerics"})
# Stateful random operations: XLA draws from a generator of its own, whatever seeds they carry.
_SEEDED_OPS = frozenset(
    {
        "RandomUniform",
        "RandomUniformInt",
        "RandomStandardNormal",
        "ParameterizedTruncatedNormal",
        "TruncatedNormal",
        "RandomShuffle",
        "Multinomial",
    }
)
_NAN_TESTS = frozenset(
    {"tf.math.is_nan", "tf.math.is_finite", "keras.ops.isnan", "keras.ops.isfinite"}
)
_EXTREMES = frozenset(
    {"tf.reduce_max", "tf.reduce_min", "tf.math.reduce_max", "tf.math.reduce_min"}
    | {"keras.ops.max", "keras.ops.min", "keras.backend.max", "keras.backend.min"}
)

# What a DIFFERS fact says in its detail.
HIDDEN_NAN = "hidden-nan"


def note(api: Api, bound: dict[str, Value], node: ast.AST, frame: Frame) -> None:
    """Note a call in compiled code whose result, or whose very effect, differs from eager execution."""
    if _says_nothing(api, bound):
        frame.analysis.note(frame, node, CHECK_WITHOUT_DATA, NOTHING_KNOWN, api.name)
    elif not _CHECKS.isdisjoint(api.ops) and _is_check(api.name):
        if not any(_may_be_data(value, frame) for value in bound.values()):
            return  # of shapes and settings: decided while tracing, or not the data's doing
        frame.analysis.note(frame, node, VANISHING_CHECK, NOTHING_KNOWN, api.name)
    elif "seed" in bound and _is_written(bound["seed"]) and not _SEEDED_OPS.isdisjoint(api.ops):
        frame.analysis.note(frame, node, IGNORED_SEED, NOTHING_KNOWN, api.name)
    elif api.name in _NAN_TESTS:
        _note_nan_test(api, node, frame)


def concerns(api: Api) -> bool:
    """Whether `note` may have something to say of calls of an API."""
    if api.name in _NAN_TESTS:
        return True
    return not (_CHECKS.isdisjoint(api.ops) and _SEEDED_OPS.isdisjoint(api.ops))


def _is_check(name: str) -> bool:
    """`tf.debugging.assert_less`, not `tf.math.confusion_matrix`, which checks its labels on the way."""
    leaf = name.rpartition(".")[2]
    return leaf.startswith("assert_") or leaf in ("Assert", "check_numerics")


def _says_nothing(api: Api, bound: dict[str, Value]) -> bool:
    """`tf.debugging.Assert(condition, [])`: eager TensorFlow takes it, and a graph has no operation that prints nothing."""
    data = bound.get("data", NOTHING_KNOWN)
    return api.name.endswith(".Assert") and data.kind is SEQUENCE and data.ref == ()


def _may_be_data(value: Value, frame: Frame) -> bool:
    """Whether a check looks at data: what nothing is known of counts under an explicit jit_compile=True."""
    return (value.kind is UNKNOWN and frame.context.jit) or any(
        leaf.dependence >= ARRIVING for leaf in leaves(value)
    )


def _is_written(seed: Value) -> bool:
    known = seed.constant()
    return known is not None and known.value is not None


def _is_magnitude(call: ast.Call) -> bool:
    """`tf.reduce_max(tf.abs(gradients))`: an overflow is looked for, and a NaN comes with it."""
    return any(
        isinstance(part, ast.Attribute) and part.attr == "abs" for part in nodes_of(call.args)
    )


def _note_nan_test(api: Api, node: ast.AST, frame: Frame) -> None:
    """A largest or smallest element asked whether it is NaN: XLA's passes over NaN, so the answer is no."""
    if not isinstance(node, ast.Call) or not node.args:
        return
    asked = node.args[0]
    if isinstance(asked, ast.Name):
        asked = _assigned(asked.id, frame)
    if isinstance(asked, ast.Call) and isinstance(asked.func, (ast.Name, ast.Attribute)):
        target = frame.analysis.evaluate(asked.func, frame)
        # The largest of what stands for "none" is infinite: asked whether it is finite, it answers under XLA as well.
        is_meant = api.name.endswith("nan") or _is_magnitude(asked)
        if target.kind is EXTERNAL and str(target.ref) in _EXTREMES and is_meant:
            frame.analysis.note(frame, node, DIFFERS, NOTHING_KNOWN, HIDDEN_NAN)


def _assigned(name: str, frame: Frame) -> ast.expr:
    """What the function assigns to a name, when it does so once."""
    body = frame.function.node.body if frame.function is not None else []
    found = [
        statement.value
        for statement in nodes_of(body if isinstance(body, list) else [])
        if isinstance(statement, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == name for t in statement.targets)
    ]
    return found[0] if len(found) == 1 else ast.Name(name)
