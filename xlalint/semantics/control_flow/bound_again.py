"""Names of the function around that are bound again once a function inside of it is there.

`rows = []`, `def step(z): rows.append(...)`, `decode(z, step)`, `rows = tf.concat(rows, 1)`: whoever was handed `step` has called it by then,
or calls it later, and finds the list or the tensor.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import NOTHING_KNOWN, Value


def around(info: FunctionInfo) -> dict[str, Value]:
    """What is known of such names where a function inside is run and nobody was seen to call it: nothing."""
    if info.parent is None:
        return {}
    start, end = info.node.lineno, info.node.end_lineno or info.node.lineno
    lines = _bound_at(info.parent).items()
    twice = {name for name, (first, last) in lines if first < start and last > end}
    if not twice:
        return {}
    read = {
        node.id
        for node in nodes_of(info.body)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    return dict.fromkeys(twice & read - info.parameter_names, NOTHING_KNOWN)


@lru_cache(maxsize=16)
def _bound_at(outer: FunctionInfo) -> dict[str, tuple[int, int]]:
    """The first and the last line at which a function binds each name."""
    found: dict[str, tuple[int, int]] = {}
    for node in nodes_of(outer.body, into_functions=False):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            first, last = found.get(node.id, (node.lineno, node.lineno))
            found[node.id] = (min(first, node.lineno), max(last, node.lineno))
    return found
