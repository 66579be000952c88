"""Names that a module gives to a class or to itself with words: `Backend.register_method("conj", tf.math.conj)`, `setattr(module, name, ...)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xlalint.semantics.frames import Frame
from xlalint.semantics.values import SEQUENCE, Value, constant


def given(name: str, frame: Frame) -> Value | None:
    """What the body of a module, which was run, gives under a name; None where it is not seen to give it."""
    for call, looped in _calls(frame.module.tree.body):
        if len(call.args) < 2:
            continue
        word, given_under = call.args[-2:]
        if isinstance(word, ast.Constant) and word.value == name:
            return frame.analysis.evaluate(given_under, frame)
        if looped is not None and name in _words(looped.iter, frame):
            found = _of_loop(looped, word, given_under, name, frame)
            if found is not None:
                return found
    return None


def _calls(body: list[ast.stmt]) -> Iterator[tuple[ast.Call, ast.For | None]]:
    """The calls that a module makes for what they do, each with the loop around it."""
    for node in body:
        inside = node.body if isinstance(node, ast.For) else [node]
        for each in inside:
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
                yield each.value, node if isinstance(node, ast.For) else None


def _of_loop(
    loop: ast.For, word: ast.expr, given_under: ast.expr, name: str, frame: Frame
) -> Value | None:
    """`for name in NAMES: give(name, getattr(tf.math, name))`."""
    target = loop.target
    if not (isinstance(target, ast.Name) and isinstance(word, ast.Name) and word.id == target.id):
        return None
    previous = frame.names.get(target.id)
    frame.names[target.id] = constant(name)
    found = frame.analysis.evaluate(given_under, frame)
    if previous is None:
        del frame.names[target.id]
    else:
        frame.names[target.id] = previous
    return found


def _words(names: ast.expr, frame: Frame) -> frozenset[str]:
    if isinstance(names, ast.BinOp):  # `BASIC + ["sort", "flip"]`
        return _words(names.left, frame) | _words(names.right, frame)
    value = frame.analysis.evaluate(names, frame)
    if value.kind is not SEQUENCE:
        return frozenset()
    known = (item.constant() for item in value.ref)
    return frozenset(str(each.value) for each in known if each is not None)
