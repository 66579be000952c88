"""Input that runs Python or reads local files, handed to a model or a strategy: a TPU node's worker has neither.

A pipeline runs where its strategy's devices are, and a dataset remembers in its feed where it needs Python or files. What happens then was seen
with a worker in another process, and is in rules/XLA701.md and XLA702.md.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.facts import EAGER, NODE_FILE, NODE_INPUT, Context, Remark
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo
from xlalint.semantics.names import api_name
from xlalint.semantics.training import local_files
from xlalint.semantics.training.pipelines import Feed, Site, feed_of
from xlalint.semantics.values import (
    DATASET,
    FUNCTION,
    INSTANCE,
    NOTHING_KNOWN,
    Made,
    Value,
    class_name,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.arguments import Arguments

# Methods of a model that read a dataset.
READERS = frozenset({"fit", "evaluate", "predict"})
SEQUENCE_OF_KERAS, AUGMENTED, OWN_GENERATOR = "sequence", "augmented", "yielded"
_KERAS_SEQUENCES = ("keras.utils.Sequence", "keras.utils.PyDataset")
_IMAGE_GENERATOR = "keras.preprocessing.image.ImageDataGenerator"
# What its `flow`, `flow_from_directory` and `flow_from_dataframe` return.
_IMAGE_ITERATOR = "keras.preprocessing.image.Iterator"

# What writes with operations that run where the variables are, and which argument says where to: its position and name.
_WRITERS = {
    "tf.train.Checkpoint.save": (0, "file_prefix"),
    "tf.train.Checkpoint.write": (0, "file_prefix"),
    "tf.train.CheckpointManager": (1, "directory"),
    "tf.saved_model.save": (1, "export_dir"),
    "keras.Model.export": (0, "filepath"),
    "keras.Sequential.export": (0, "filepath"),
}


class NodeInputs:
    """Remarks on the Python in the input of models and strategies."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._written: dict[Site, None] = {}

    def saw_write(self, name: str, node: ast.AST, frame: Frame) -> None:
        """`checkpoint.save("checkpoints/x")`, `tf.saved_model.save(module, "exported")`: operations of TensorFlow write that."""
        place = _WRITERS.get(name)
        if place is None or frame.silent or frame.context.is_compiled:
            return
        is_told = isinstance(node, ast.Call) and any(
            k.arg in ("options", None) for k in node.keywords
        )
        path = None if is_told else local_files.path_at(node, *place, frame)
        if path is not None:
            self._written.setdefault(Site(node, frame.module, frame.function, path))

    def judge(self) -> None:
        """Keep a fact for each such path where a TPU is in sight, and nothing in the project says which machine is to write."""
        modules = self._analysis.modules.project.modules.values()
        is_told = any(m is not None and "experimental_io_device" in m.text for m in modules)
        if self._analysis.saw_tpu and not is_told:
            for site in self._written:
                self._note(site, NODE_FILE, Remark("written", (("path", site.words),)))

    def saw_read(self, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """`model.fit(data, validation_data=...)` and its like."""
        given = (
            arguments.keywords.get("x", next(iter(arguments.positional), NOTHING_KNOWN)),
            arguments.keywords.get("validation_data", NOTHING_KNOWN),
        )
        for data in given:
            self.saw(data, node, frame)
        if _is_generator(node, frame):
            self._keep(Site(node, frame.module, frame.function), OWN_GENERATOR)

    def saw(self, data: Value, node: ast.AST, frame: Frame) -> None:
        """Data given to a model or a strategy: what of it runs Python is remarked on where that is written."""
        feed = feed_of(data) if data.kind is DATASET else None
        if feed is not None:
            self._saw_dataset(feed)
        elif data.kind is INSTANCE:
            name = class_name(data) or ""
            if name == _IMAGE_ITERATOR:
                self._keep(Site(node, frame.module, frame.function), AUGMENTED)
            elif isinstance(data.ref, ClassInfo) and self._is_keras_sequence(data.ref):
                self._keep(Site(node, frame.module, frame.function), SEQUENCE_OF_KERAS)

    def _saw_dataset(self, feed: Feed) -> None:
        if feed.python is not None:
            self._keep(feed.python, feed.python.words)
        if feed.local is not None:
            remark = Remark("read", (("path", feed.local.words),))
            self._note(feed.local, NODE_FILE, remark)

    def _is_keras_sequence(self, cls: ClassInfo) -> bool:
        classes = self._analysis.classes
        bases = (base for ancestor in classes.line(cls) for base in classes.bases(ancestor))
        return any(isinstance(base, str) and api_name(base) in _KERAS_SEQUENCES for base in bases)

    def _keep(self, site: Site, variant: str) -> None:
        self._note(site, NODE_INPUT, Remark(variant))

    def _note(self, site: Site, kind: str, remark: Remark) -> None:
        frame = Frame(self._analysis, site.module, site.function, Context(EAGER, False))
        self._analysis.keep(frame, site.node, kind, NOTHING_KNOWN, remark)


def _is_generator(node: ast.AST, frame: Frame) -> bool:
    """Whether what a model is given first is a call of a function of the project that yields."""
    if not isinstance(node, ast.Call):
        return False
    data = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "x")]
    if not data or not isinstance(data[0], ast.Call):
        return False
    made = frame.analysis.evaluate(data[0].func, frame)
    if made.kind is not FUNCTION:
        return False
    info = made.ref[0] if isinstance(made.ref, tuple) else made.ref
    return bool(info.is_generator)


def flows(name: str, attr: str) -> Value | None:
    """What `ImageDataGenerator().flow(...)` returns; None for other methods."""
    if api_name(name) == _IMAGE_GENERATOR and attr.startswith("flow"):
        return Value(INSTANCE, ref=Made(_IMAGE_ITERATOR, ()))
    return None
