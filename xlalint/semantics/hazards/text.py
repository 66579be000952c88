"""Strings that a compiled program would have to hold: arguments, what data choose, results.

Strings that are known while tracing are folded away: only what is computed from data, passed in or returned stays.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from xlalint.semantics import known_texts
from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import TEXT
from xlalint.semantics.frames import Frame
from xlalint.semantics.results import dtypes
from xlalint.semantics.values import ARRIVING, CAPTURED, COMPUTED, CONSTANT, PYTHON, Value

# How a string comes to be on the device: the words are on the rule's page.
ARRIVES = "arrives"
CHOSEN = "chosen"
LISTED = "listed"
RETURNED = "returned"

# Functions that pick among their arguments, and where those stand.
_CHOICES = {
    "tf.where": ("x", "y"), "keras.ops.where": ("x1", "x2"), "tf.gather": ("params",), "keras.ops.take": ("x",),
}  # fmt: skip


def note_call(
    api: Api, bound: dict[str, Value], result: Value, node: ast.AST, frame: Frame
) -> None:
    """Note an operation that would have to compute on strings."""
    if _any_arrives(bound.values()):
        frame.analysis.note(frame, node, TEXT, result, ARRIVES)
    elif result.is_tensor and result.dependence >= ARRIVING and picks_text(api, bound):
        frame.analysis.note(frame, node, TEXT, result, CHOSEN)


def picks_text(api: Api, bound: dict[str, Value]) -> bool:
    """`tf.where(large, "a", "b")`: one of several strings that are known."""
    options = [bound[name] for name in _CHOICES.get(api.name, ()) if name in bound]
    return bool(options) and all(_is_text(option) for option in options)


def note_item(node: ast.Subscript, base: Value, values: Iterable[Value], frame: Frame) -> None:
    """Note `words[place]`, where the words are known and the place is one that the program computes."""
    if base.dtype == "string" and _is_text(base):
        if any(value.is_tensor and value.dependence >= ARRIVING for value in values):
            frame.analysis.note(frame, node, TEXT, base, CHOSEN)


def chosen(words: Value, dependence: int) -> int:
    """On what a choice among known words depends: the program makes it, and it is reported there, not where it goes on."""
    is_made = words.dtype == "string" and words.dependence < ARRIVING <= dependence
    return COMPUTED if is_made else dependence


# What keeps a row of each step in a list.
LISTS = frozenset({"tf.map_fn", "tf.scan"})


def note_rows(result: Value, node: ast.AST, frame: Frame) -> None:
    """Note text that a loop collects step by step: `tf.map_fn(..., fn_output_signature=tf.string)`."""
    if any(leaf.dtype == "string" for leaf in leaves(result)):
        frame.analysis.note(frame, node, TEXT, result, LISTED)


def note_array(dtype: Value, node: ast.AST, frame: Frame) -> None:
    """Note a tf.TensorArray of strings."""
    if dtypes.named(dtype) == "string":
        frame.analysis.note(frame, node, TEXT, dtype, LISTED)


def note_returned(node: ast.expr, value: Value, frame: Frame) -> None:
    """Note text among the results of a function that XLA compiles by itself."""
    if is_of_program(frame) and any(_is_text(leaf) for leaf in leaves(value)):
        frame.analysis.note(frame, node, TEXT, value, RETURNED)


def is_of_program(frame: Frame) -> bool:
    """Whether this is the body of a function that XLA compiles by itself, so that what it returns leaves the program."""
    info = frame.function
    if info is None or not frame.context.jit or frame.depth != 0 or frame.silent:
        return False
    own = frame.analysis.traits(info)
    return (own.tf_function and own.jit) or frame.context.root is info  # `tf.function(f)`


def _any_arrives(values: Iterable[Value]) -> bool:
    # Every call of an operation comes here, and next to none has a string: asked first, and without a generator.
    for value in values:
        for leaf in leaves(value) if value.kind is not PYTHON else ():
            if leaf.dtype == "string" and leaf.sure and leaf.is_tensor:
                # What the program makes of text is reported where it is made.
                if leaf.dependence == ARRIVING:
                    return True
    return False


def _is_text(value: Value) -> bool:
    if value.kind is PYTHON:
        return known_texts.are_texts(value)
    parts = leaves(value)
    if parts and parts != (value,):
        return all(_is_text(part) for part in parts)
    return value.is_tensor and value.dtype == "string" and value.dependence in (CONSTANT, CAPTURED)
