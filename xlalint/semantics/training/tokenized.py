"""Texts that a tokenizer pads to the longest of a batch, read from the code that calls it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from xlalint.semantics.control_flow.narrowing import dotted_name
from xlalint.semantics.syntax import nodes_of

_METHODS = ("__call__", "batch_encode_plus", "encode_plus")
_TENSORS = ("tf", "np")


def tokenized_in(body: Sequence[ast.AST]) -> dict[str, ast.Call]:
    """The names that statements give to what a tokenizer returns, with a length that follows the texts, and its calls."""
    found: dict[str, ast.Call] = {}
    for node in nodes_of(body, into_functions=False):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            if _follows_texts(node.value):
                found.update({t.id: node.value for t in node.targets if isinstance(t, ast.Name)})
    return found


def _follows_texts(call: ast.Call) -> bool:
    name = (dotted_name(call.func) or "").lower().split(".")
    if name[-1] in _METHODS:
        name.pop()
    if not name or not name[-1].endswith("tokenizer"):
        return False
    given = {k.arg: k.value for k in call.keywords}
    if None in given or _constant(given.get("return_tensors")) not in _TENSORS:
        return False
    if "pad_to_multiple_of" in given:
        return False
    padding = given.get("padding")
    return padding is None or _constant(padding) in (True, False, "longest")


def _constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def handed_on(call: ast.Call, tokenized: dict[str, ast.Call]) -> Iterator[ast.Call]:
    """The tokenizer calls whose results a call is given: `step(**batch)`, `step(batch["input_ids"])`, `step(batch)`."""
    for given in (*call.args, *(k.value for k in call.keywords)):
        node: ast.expr = given
        while isinstance(node, (ast.Subscript, ast.Attribute)):
            node = node.value
        if isinstance(node, ast.Name) and node.id in tokenized:
            yield tokenized[node.id]


def wrapped_names(tree: ast.Module, wrappers: Sequence[ast.AST]) -> set[str]:
    """The names that hold what `tf.function(f, jit_compile=True)` returned."""
    made = {id(node) for node in wrappers}
    return {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and id(node.value) in made
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def calls_in_loops(tree: ast.Module, names: set[str]) -> Iterator[tuple[str, ast.Call]]:
    """What a tokenizer made in a loop for a compiled function of one of these names: the function, the tokenizer's call."""
    for loop in ast.walk(tree):
        if not isinstance(loop, (ast.For, ast.AsyncFor, ast.While)):
            continue
        tokenized = tokenized_in(loop.body)
        for node in nodes_of(loop.body, into_functions=False) if tokenized else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id in names:
                    for made in handed_on(node, tokenized):
                        yield node.func.id, made
