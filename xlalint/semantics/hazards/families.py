"""What kind of operation it is that has no kernel: callbacks, printing, files, pipelines, text, sparse and ragged, others.

Each is mended in a way of its own, and so each has a rule of its own.
"""

from __future__ import annotations

import re
from functools import cache

CALLBACK = "callback"
PRINTING = "printing"
FILES = "files"
PIPELINE = "pipeline"
TEXT = "text"
COMPOSITE = "composite"
KERNEL = "kernel"

_CALLBACK = re.compile(r"^(EagerPyFunc|PyFunc|PyFuncStateless)$")
# Operations run for what they write, whose results nothing waits for.
_PRINTING = re.compile(r"^(PrintV2|Print|StringFormat)$|Summary")
_FILES = re.compile(
    r"^(ReadFile|WriteFile|MatchingFiles|Save|SaveV2|SaveSlices|Restore|RestoreV2|RestoreSlice|MergeV2Checkpoints|"
    r"ShardedFilename|ShardedFilespec)$|Reader"
)
_PIPELINE = re.compile(r"Dataset|Iterator|Queue|Barrier|^(Unstage|Stage|MapStage|OrderedMap)")
_TEXT = re.compile(
    r"^(String|AsString|Substr|ReduceJoin|UnsortedSegmentJoin|Regex|StaticRegex|Unicode|Fingerprint|Skipgram|Encode|"
    r"Decode|Parse|Serialize|Deserialize|ExtractJpegShape|DecodeRaw)|LookupTable|HashTable|StringToHash"
)
# Optimizers have sparse updates of their own, which are no matter of sparse tensors.
_COMPOSITE = re.compile(r"(?<!Resource)Sparse(?!Apply)|Ragged")
_BY_OPERATION = (
    (CALLBACK, _CALLBACK),
    (PRINTING, _PRINTING),
    (FILES, _FILES),
    (PIPELINE, _PIPELINE),
    (TEXT, _TEXT),
    (COMPOSITE, _COMPOSITE),
)


# Layers over text whose compilation ends the process before it can say which operation was to blame.
_OF_TEXT = frozenset({"keras.layers.TextVectorization"})


def of_call(name: str, missing: tuple[str, ...], emitted: tuple[str, ...]) -> str:
    """The family of a call of `name` that lacks kernels for `missing` among all the operations that it emits."""
    return TEXT if name in _OF_TEXT else _of_operations(missing, emitted)


@cache
def _of_operations(missing: tuple[str, ...], emitted: tuple[str, ...]) -> str:
    """Printing is told by what is emitted: a summary has no operation at all where it has no writer."""
    for family, pattern in _BY_OPERATION:
        operations = emitted if family == PRINTING else missing
        if any(pattern.search(operation) for operation in operations):
            return family
    return KERNEL
