"""Jacobians: `tape.jacobian(y, x)` makes one graph of the gradients of all elements of y (`pfor`), which XLA runs where no loop is in it.

What a loop of the graph keeps for its gradient becomes lists of a kind that has no kernel (`TensorListReserve`), bounded loops included.
`experimental_use_pfor=False` runs one gradient after the other, and compiles (measured, TensorFlow 2.21). Of a tensor whose size
depends on data there are as many gradients as the data say, and XLA compiles none (TensorFlow 2.15 and 2.21:
fixtures/XLA204/flagged_jacobians.py).
"""

from __future__ import annotations

import ast

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import DATA_SIZED_USE
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.values import NOTHING_KNOWN

_METHODS = frozenset({"jacobian", "batch_jacobian"})
JACOBIAN = "jacobian"
_SWITCH = "experimental_use_pfor"


def differentiated(info: FunctionInfo | None) -> list[ast.expr]:
    """What a function takes Jacobians of, all elements at once."""
    if info is None:
        return []
    found = []
    for call in info.calls:
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _METHODS:
            continue
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        switch = named.get(_SWITCH)
        target = call.args[0] if call.args else named.get("target")
        if target is not None and len(call.args) < 4 and (switch is None or _is_true(switch)):
            found.append(target)
    return found


def note(attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """Note a Jacobian of a tensor whose size depends on data."""
    if attr not in _METHODS or _SWITCH in arguments.keywords or not frame.context.is_compiled:
        return
    given = arguments.positional[0] if arguments.positional else arguments.keywords.get("target")
    for leaf in leaves(given or NOTHING_KNOWN):
        if leaf.is_tensor and leaf.is_data_sized:
            frame.analysis.note(frame, node, DATA_SIZED_USE, leaf, JACOBIAN)
            return


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
