"""Paths that are local to the machine that reads them: those without a scheme, where enough of them is written down."""

from __future__ import annotations

import ast

from xlalint.semantics.elements import leaves
from xlalint.semantics.frames import Frame
from xlalint.semantics.values import DATASET, EXTERNAL, NOTHING_KNOWN, Value

# What opens files where the pipeline runs.
READERS = frozenset(
    f"tf.data.{name}"
    for name in (
        "TFRecordDataset",
        "TextLineDataset",
        "FixedLengthRecordDataset",
        "Dataset.list_files",
    )
)
_FIRST = ("filenames", "file_pattern")
# What makes paths of others, the first of which says where they are.
_PATHS_OF = frozenset(
    {"os.path.join", "glob.glob", "tf.io.gfile.glob", "tf.io.gfile.join", "builtins.sorted"}
    | {"tf.data.Dataset.list_files"}
)


def first_path(node: ast.AST, frame: Frame) -> str | None:
    """The beginning of the first local path that a call is given, as it is written; None where there is none that is known."""
    if not isinstance(node, ast.Call):
        return None
    given = node.args[:1] + [k.value for k in node.keywords if k.arg in _FIRST]
    return _local(given[0], frame) if given else None


def path_at(node: ast.AST, position: int, name: str, frame: Frame) -> str | None:
    """The beginning of the local path at a position, or of a name, of a call; None where it is none, or not known."""
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    given = node.args[position : position + 1] + [k.value for k in node.keywords if k.arg == name]
    return _local(given[0], frame) if given else None


def _local(path: ast.expr, frame: Frame) -> str | None:
    if isinstance(path, ast.JoinedStr) and path.values:
        return _local(path.values[0], frame)
    if isinstance(path, ast.FormattedValue):
        return _local(path.value, frame)
    if isinstance(path, ast.BinOp) and isinstance(path.op, ast.Add):
        return _local(path.left, frame)
    if isinstance(path, ast.List | ast.Tuple) and path.elts:
        return _local(path.elts[0], frame)
    if isinstance(path, ast.Call) and path.args:
        made = frame.analysis.evaluate(path.func, frame)
        is_path = made.kind is EXTERNAL and made.ref in _PATHS_OF
        return _local(path.args[0], frame) if is_path else None
    return _known(frame.analysis.evaluate(path, frame))


def _known(value: Value) -> str | None:
    """A path that is known, and names no file system: a name, or a dataset of names."""
    listed = getattr(value.ref, "local", None) if value.kind is DATASET else None
    if listed is not None:
        return str(listed.words)
    first = next(iter(leaves(value)), NOTHING_KNOWN).constant()
    text = first.value if first is not None else None
    return text if isinstance(text, str) and text and "://" not in text else None
