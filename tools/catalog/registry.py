"""Which operations the installed TensorFlow has, and which of them XLA can compile for CPU."""

from __future__ import annotations

import re
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import kernels, op_def_registry

from tools.catalog.compiler import compiled_ops

# What only a host can do: call Python, print, read and write files, keep tables, queues, datasets and summaries.
_HOST = re.compile(
    r"""PyFunc|^Print|^StringFormat$|Summary|^ReadFile$|^WriteFile$|^MatchingFiles$|Reader|^Timestamp$
    |LookupTable|HashTable|^InitializeTable|^Save|^Restore|^MergeV2Checkpoints$|^ShardedFilename$|Iterator
    |Dataset|Queue|Barrier|^Stage|^Unstage|^MapStage|^OrderedMap|^Record|^Send$|^Recv$|^Rpc|^Decode(?!Raw)
    |^Encode|^ParseExample|^ParseSequence|^ParseSingle|^ParseTensor$|^SerializeTensor$|^Audio|^Image.*Summary""",
    re.VERBOSE,
)


def operations() -> dict[str, dict[str, Any]]:
    """Per operation type: `kernel` (XLA compiles it for some dtype), `host`, and `outputs` where it is not 1."""
    compiled = compiled_ops()
    rows: dict[str, dict[str, Any]] = {}
    for name in sorted(_op_types()):
        definition = op_def_registry.get(name)
        row: dict[str, Any] = {}
        if name in compiled:
            row["kernel"] = True
        elif _HOST.search(name):
            row["host"] = True
        if definition is not None and (count := _outputs(definition)) != 1:
            row["outputs"] = count
        rows[name] = row
    return rows


def _op_types() -> set[str]:
    """Every op that a program can name: the raw ops, and whatever has a kernel."""
    raw = {name for name in dir(tf.raw_ops) if not name.startswith("_")}
    kernelled = {each.op for each in kernels.get_all_registered_kernels().kernel}
    return {name for name in raw | kernelled if not name.startswith("_")}


def _outputs(definition: Any) -> int:
    """How many tensors come out; -1 when an attribute decides."""
    if any(arg.number_attr or arg.type_list_attr for arg in definition.output_arg):
        return -1
    return len(definition.output_arg)
