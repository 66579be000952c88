"""The names of files that Keras 3 saves models to, and reads them from: by their ends it tells the format, and refuses others.

Run with Keras 3.15: `save` and `save_model` take `.keras`, `.h5` and `.hdf5`, `save_weights` `.weights.h5`, ModelCheckpoint `.keras` and `.h5`, or
`.weights.h5` where it saves weights alone; reading takes these. Folders, which Keras 2 wrote and read, raise a ValueError.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.facts import MODEL_FILE
from xlalint.semantics.frames import Frame
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import EXTERNAL, FALSE, NOTHING_KNOWN, TRUE, Value

_MODELS = (".keras", ".h5", ".hdf5")
# Large models are written in several files, which a `.weights.json` lists.
_WEIGHTS = (".weights.h5", ".weights.json")
_CHECKPOINTS = (".keras", ".h5")
_SAVED = (".keras", ".h5", ".hdf5", ".json")
_METHODS: dict[str, tuple[str, ...]] = {
    "save": _MODELS,
    "save_weights": _WEIGHTS,
    "load_weights": _SAVED,
}
METHODS = frozenset(_METHODS)
# Their endings, and the position of the path.
_FUNCTIONS: dict[str, tuple[tuple[str, ...], int]] = {
    f"keras.{module}.{function}": (endings, position)
    for module in ("models", "saving")
    for function, endings, position in (("save_model", _MODELS, 1), ("load_model", _SAVED, 0))
}
_CHECKPOINT = "keras.callbacks.ModelCheckpoint"
FUNCTIONS = frozenset({*_FUNCTIONS, _CHECKPOINT})


class Misnamed(NamedTuple):
    """A call whose file name Keras 3 refuses: what is called, the name as far as it is written, and the endings that it takes."""

    called: str
    path: str
    endings: tuple[str, ...]


def note_method(attr: str, node: ast.AST, frame: Frame) -> None:
    """Note `model.save("folder")`, of a model of Keras 3."""
    _note(f"Model.{attr}", _METHODS[attr], 0, node, frame)


def note_function(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """Note `keras.models.save_model(model, "folder")` and `ModelCheckpoint("checkpoint")`, of Keras 3."""
    if name != _CHECKPOINT:
        endings, position = _FUNCTIONS[name]
        _note(name, endings, position, node, frame)
        return
    weights_alone = arguments.keywords.get("save_weights_only", FALSE)
    if weights_alone in (TRUE, FALSE) and not arguments.open_ended:
        _note(name, _WEIGHTS if weights_alone == TRUE else _CHECKPOINTS, 0, node, frame)


def _note(
    called: str, endings: tuple[str, ...], position: int, node: ast.AST, frame: Frame
) -> None:
    if frame.silent or frame.caught or not isinstance(node, ast.Call):
        return
    if any(isinstance(a, ast.Starred) for a in node.args):
        return
    given = node.args[position : position + 1] + [
        k.value for k in node.keywords if k.arg == "filepath"
    ]
    end, is_whole = _end(given[0], frame) if given else ("", False)
    if not end or end.endswith(endings) or "://" in end or _is_a_word(given[0], end, frame):
        return
    # `name + ".h5"` may be a name that ends in `.weights`.
    if is_whole or not any(ending.endswith(end) for ending in endings):
        written = end if is_whole else f"...{end}"
        frame.analysis.note_anywhere(
            frame, node, MODEL_FILE, NOTHING_KNOWN, Misnamed(called, written, endings)
        )


def _is_a_word(given: ast.expr, text: str, frame: Frame) -> bool:
    """Whether the function asks for this very text (`weights == "imagenet"`): where it goes on to read a file, it has another."""
    info = frame.function
    if not isinstance(given, ast.Name) or info is None:
        return False
    return any(
        isinstance(part, ast.Compare)
        and isinstance(part.left, ast.Name)
        and part.left.id == given.id
        and any(isinstance(c, ast.Constant) and c.value == text for c in part.comparators)
        for part in nodes_of(info.body)
    )


def _end(path: ast.expr, frame: Frame) -> tuple[str, bool]:
    """The end of a path as far as it is known, and whether that is all of it."""
    if isinstance(path, ast.JoinedStr) and path.values:
        return _end(path.values[-1], frame)[0], False
    if isinstance(path, ast.BinOp) and isinstance(path.op, ast.Add):
        return _end(path.right, frame)[0], False
    if isinstance(path, ast.BinOp) and isinstance(path.op, ast.Div):
        return _part(path.right, frame), False
    if isinstance(path, ast.Call) and path.args and not path.keywords:
        made = frame.analysis.evaluate(path.func, frame)
        is_path = made.kind is EXTERNAL and made.ref in ("os.path.join", "tf.io.gfile.join")
        return (_part(path.args[-1], frame) if is_path else ""), False
    return _text(frame.analysis.evaluate(path, frame)), True


def _part(last: ast.expr, frame: Frame) -> str:
    """The end of a path that is joined of parts, of which this is the last."""
    end, is_whole = _end(last, frame)
    return f"/{end}" if is_whole and end else end


def _text(value: Value) -> str:
    known = value.constant()
    return known.value if known is not None and isinstance(known.value, str) else ""
