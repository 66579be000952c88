"""Which device code is written for, where it asks: `jit_compile=True` behind `if num_gpus > 0` is never met on a TPU, behind
`if args.use_xla` it is not left on, and a function that exports a model compiles it for whoever loads it.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from xlalint.semantics.control_flow.liveness import path_to
from xlalint.semantics.facts import JIT_ON
from xlalint.semantics.syntax import nodes_of, words_of
from xlalint.semantics.values import NOTHING_KNOWN

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame


def note_jit(frame: Frame, node: ast.AST, where: str) -> None:
    """Keep that `jit_compile=True` is on in a call, unless the code around it asks for a GPU or for XLA, or exports a model."""
    if not (_is_for_gpu(frame, node) or _exports(frame)):
        frame.analysis.note_anywhere(frame, node, JIT_ON, NOTHING_KNOWN, where)


def _is_for_gpu(frame: Frame, node: ast.AST) -> bool:
    """Whether some `if` around the node, in its function, mentions a GPU or XLA in its test, and the node is in the first arm."""
    body = frame.module.tree.body if frame.function is None else frame.function.node.body
    if not isinstance(body, list):
        return False
    holder = next((s for s in nodes_of(body) if isinstance(s, ast.stmt) and _holds(s, node)), None)
    if holder is None:
        return False
    positions = path_to(body, holder)
    return any(
        isinstance(position.owner, ast.If)
        and position.block is position.owner.body
        and _asks_for_it(position.owner.test)
        for position in positions
    )


def _holds(statement: ast.stmt, node: ast.AST) -> bool:
    """Whether a statement that holds no other statements holds the node."""
    return not hasattr(statement, "body") and any(inner is node for inner in ast.walk(statement))


def _asks_for_it(test: ast.expr) -> bool:
    words = (word.lower() for node in ast.walk(test) for word in words_of(node))
    return any(asked in word for word in words for asked in ("gpu", "xla", "jit"))


_EXPORTS = re.compile(r"(^|_)(export|tflite|saved_model|serving|serve)(_|$)")


def _exports(frame: Frame) -> bool:
    return frame.function is not None and _EXPORTS.search(frame.function.name) is not None
