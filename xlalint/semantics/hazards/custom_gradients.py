"""Functions under `tf.custom_gradient` or `tf.recompute_grad` that are called by keyword: eager code may, no graph takes it.

"The custom_gradient decorator currently supports keywords arguments only when eager execution is enabled" is what every traced call
with a keyword ends in, whatever the keyword is for (`_graph_mode_decorator`, TensorFlow 2.15 and 2.21).
"""

from __future__ import annotations

import ast

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.facts import CALL, CallDetail, Verdict
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.values import NOTHING_KNOWN

REASON = "custom-gradient"
_REFUSED = CallDetail(
    "tf.custom_gradient", (), Verdict("fails", (), REASON, (), ()), False, "certain", None
)


def note_keywords(info: FunctionInfo, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """Note a call by keyword of a function that takes none where it is traced."""
    if arguments.keywords and frame.analysis.traits(info).by_position:
        frame.analysis.note(frame, node, CALL, NOTHING_KNOWN, _REFUSED)
