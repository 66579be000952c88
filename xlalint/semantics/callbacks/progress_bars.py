"""Progress bars around what a loop goes over: `for row in tqdm(rows)`.

They give what they are given, from an iterator of their own, so that AutoGraph sees no tensor and leaves the loop to Python: of a symbolic
tensor, "Iterating over a symbolic `tf.Tensor` is not allowed" (measured with tqdm 4.70, TensorFlow 2.21: fixtures/XLA104).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from xlalint.semantics.callbacks import builtin_calls
from xlalint.semantics.elements import element
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import iteration
from xlalint.semantics.values import COLLECTION, TENSOR, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

_BARS = re.compile(
    r"^(tqdm\.(\w+\.)*(tqdm|tqdm_notebook|tqdm_gui)|rich\.progress\.track|alive_progress\.alive_it|fastprogress\.(\w+\.)*(progress_bar|master_bar))$"
)
_RANGES = re.compile(r"^tqdm\.(\w+\.)*(trange|tnrange)$")


def call(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value | None:
    """What a bar around something gives; None of any other function."""
    if not arguments.positional:
        return None
    if _RANGES.match(name):
        return builtin_calls.call("range", arguments, node, frame)
    if not _BARS.match(name):
        return None
    shown = arguments.positional[0]
    if shown.kind is not TENSOR:
        return shown
    if isinstance(node, ast.Call):
        iteration.note(frame, node, shown, f"`{name.rpartition('.')[2]}`")
    return Value(COLLECTION, shown.dependence, ref=element(shown))
