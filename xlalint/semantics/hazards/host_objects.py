"""Objects of TensorFlow whose methods run on the host or lack a kernel: tables, queues, locks, generators, operators."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.facts import ASSUMED
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import linear_operators
from xlalint.semantics.hazards.noted_calls import note_operation, note_refused, note_size
from xlalint.semantics.tracing import host_use
from xlalint.semantics.values import (
    COMPUTED,
    INSTANCE,
    NOTHING_KNOWN,
    TENSOR,
    Value,
    class_name,
)

_DISTRIBUTIONS = ("tf.distributions",)
_DRAWN_FROM_GAMMA = ("Gamma", "Beta", "DirichletMultinomial", "Dirichlet", "StudentT")
# By the start of the class's name, the operation that a method emits (tensorflow/python/ops, 2.12 to 2.21).
_OPERATIONS: dict[str, dict[str, str]] = {
    "tf.lookup.": {
        "lookup": "LookupTableFindV2",
        "__getitem__": "LookupTableFindV2",
        "insert": "LookupTableInsertV2",
        "insert_or_assign": "LookupTableInsertV2",
        "accum": "LookupTableInsertV2",
        "remove": "LookupTableRemoveV2",
        "erase": "LookupTableRemoveV2",
        "size": "LookupTableSizeV2",
        "export": "LookupTableExportV2",
    },
    "tf.queue.": {
        "enqueue": "QueueEnqueueV2",
        "enqueue_many": "QueueEnqueueManyV2",
        "dequeue": "QueueDequeueV2",
        "dequeue_many": "QueueDequeueManyV2",
        "dequeue_up_to": "QueueDequeueUpToV2",
        "size": "QueueSizeV2",
        "close": "QueueCloseV2",
    },
    # Those that draw from a gamma distribution or count what they draw (tensorflow/python/ops/distributions, 2.12 to 2.21).
    **{
        f"{home}.{name}": {"sample": "RandomGamma"}
        for home in _DISTRIBUTIONS
        for name in _DRAWN_FROM_GAMMA
    },
    "tf.CriticalSection": {"execute": "MutexLock"},
    "tf.train.Checkpoint": {
        "read": "RestoreV2",
        "restore": "RestoreV2",
        "save": "SaveV2",
        "write": "SaveV2",
    },
    "tf.random.Generator": {"binomial": "StatefulRandomBinomial"},
    **linear_operators.OPERATIONS,
}
# How many numbers a method draws, which XLA has to know when it compiles.
_SIZES: dict[str, dict[str, str]] = {
    "tf.random.Generator": {
        **dict.fromkeys(("normal", "uniform", "truncated_normal", "uniform_full_int"), "shape"),
        "make_seeds": "count",
    }
}
_CHECKPOINT = "tf.train.Checkpoint"
_RETURN_TENSORS = frozenset(
    {
        "sample",
        "lookup",
        "__getitem__",
        "export",
        "size",
        "dequeue",
        "dequeue_many",
        "dequeue_up_to",
    }
    | {
        "determinant",
        "log_abs_determinant",
        "solve",
        "solvevec",
        "matmul",
        "matvec",
        "trace",
        "to_dense",
    }
)


# What making one emits, where a compiled function makes it.
_MADE_BY = {
    "FIFOQueue": "FIFOQueueV2",
    "PaddingFIFOQueue": "PaddingFIFOQueueV2",
    "PriorityQueue": "PriorityQueueV2",
    "RandomShuffleQueue": "RandomShuffleQueueV2",
}


def note_making(value: Value, node: ast.AST, frame: Frame) -> None:
    """Note a queue that is made in compiled code."""
    operation = _MADE_BY.get((class_name(value) or "").rpartition(".")[2])
    if operation is not None:
        note_operation(operation, (), node, frame)


def may_make(name: str) -> bool:
    """Whether `make` may know what calling this makes."""
    return name in linear_operators.OPERATIONS or _is_class(name.replace("tf.compat.v1.", "tf.", 1))


def make(name: str, values: Sequence[Value], keywords: Mapping[str, Value]) -> Value | None:
    """The instance that calling a class of this name makes; None for other names."""
    if linear_operators.is_known(name, values, keywords):
        return Value(INSTANCE, ref=name)
    name = name.replace("tf.compat.v1.", "tf.", 1)
    return Value(INSTANCE, ref=name) if _is_class(name) else None


def _is_class(name: str) -> bool:
    leaf = name.rsplit(".", 1)[-1]
    is_one = name in ("tf.CriticalSection", "tf.train.Checkpoint", "tf.train.CheckpointManager")
    is_one = is_one or name.startswith(("tf.lookup.", "tf.queue.", "tf.distributions."))
    return is_one and leaf[:1].isupper() and "Initializer" not in leaf


def call(
    name: str, attr: str, node: ast.AST, frame: Frame, arguments: Arguments | None = None
) -> Value | None:
    """The value of a method call of an instance of the class `name`, noted if XLA has no kernel for it."""
    if name.startswith(_CHECKPOINT):
        frame.host |= host_use.WORK
        if frame.context.region == ASSUMED:
            return NOTHING_KNOWN  # whoever saves drives the training, and is run eagerly
    for prefix, methods in _OPERATIONS.items():
        if name.startswith(prefix):
            if attr in methods:
                note_operation(methods[attr], (), node, frame)
            refused = linear_operators.REFUSED.get(prefix, {}).get(attr)
            if refused is not None:
                note_refused(refused, node, frame)
            size = _SIZES.get(prefix, {}).get(attr)
            if size is not None and arguments is not None:
                given = arguments.positional[:1] or (arguments.keywords.get(size, NOTHING_KNOWN),)
                note_size(f"{prefix}.{attr}", size, given[0], node, frame)
            is_drawn = prefix == "tf.random.Generator" and not attr.startswith("_")
            returns = attr in _RETURN_TENSORS or is_drawn
            return Value(TENSOR, COMPUTED) if returns else NOTHING_KNOWN
    return None
