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
from xlalint.semantics.pipelines import Feed, Site, feed_of
from xlalint.semantics.values import (
    DATASET,
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
SEQUENCE_OF_KERAS, AUGMENTED = "sequence", "augmented"
_KERAS_SEQUENCES = ("keras.utils.Sequence", "keras.utils.PyDataset")
_IMAGE_GENERATOR = "keras.preprocessing.image.ImageDataGenerator"
# What its `flow`, `flow_from_directory` and `flow_from_dataframe` return.
_IMAGE_ITERATOR = "keras.preprocessing.image.Iterator"


class NodeInputs:
    """Remarks on the Python in the input of models and strategies."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    def saw_read(self, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """`model.fit(data, validation_data=...)` and its like."""
        given = (
            arguments.keywords.get("x", next(iter(arguments.positional), NOTHING_KNOWN)),
            arguments.keywords.get("validation_data", NOTHING_KNOWN),
        )
        for data in given:
            self.saw(data, node, frame)

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


def flows(name: str, attr: str) -> Value | None:
    """What `ImageDataGenerator().flow(...)` returns; None for other methods."""
    if api_name(name) == _IMAGE_GENERATOR and attr.startswith("flow"):
        return Value(INSTANCE, ref=Made(_IMAGE_ITERATOR, ()))
    return None
