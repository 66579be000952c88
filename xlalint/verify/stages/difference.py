"""Which operation is the first that computes something else under XLA?

The program is traced once more, nested tf.functions as part of it, and returns what each of its operations computes. That one
graph runs twice, by TensorFlow's own kernels and compiled by XLA, and the results are held against each other in the order in
which they were made. An operation is to blame when TensorFlow's kernel, given what XLA computed for its inputs, computes
something else than XLA did. Where it computes the same, the difference comes from before: from an operation to blame, or from
rounding that a later one makes large (a cast to integers, an argmax of nearly equal values).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from xlalint.verify import compare, kernels, retrace
from xlalint.verify.patching import Patches
from xlalint.verify.randomness import Dice
from xlalint.verify.stages import compiling
from xlalint.verify.stages.tensors import Result, array, on_host
from xlalint.verify.stages.variables import Kept

# A program whose operations return more than this is not looked into.
_MOST_BYTES = 1 << 30
_MOST_OPERATIONS = 20_000
# What these return is no kernel's work on its inputs.
_NOT_COMPUTED = frozenset({"ReadVariableOp", "Placeholder", "PlaceholderWithDefault", "Const"})


@dataclass(frozen=True, slots=True)
class Cause:
    """`op` is to blame (of a graph, with its traceback), unless there is an `excuse`: it made a difference in last bits large,
    or took equal values in another order.

    Without an `op` the difference could not be traced to one; `words` say what was seen.
    """

    op: Any = None
    words: str = ""
    excuse: str = ""

    @property
    def op_type(self) -> str:
        return "" if self.op is None else str(self.op.type)


def cause(
    program: Callable[..., Any], tensors: Sequence[Any], compiled: Result, dice: Dice
) -> Cause:
    """Why `program` computes something else compiled, as it did in `compiled`, than eagerly. Raises nothing."""
    try:
        return _cause(program, tensors, compiled, dice)
    except (
        Exception
    ):  # private seams of TensorFlow; a program too large: the function alone is named
        return Cause()


def _cause(
    program: Callable[..., Any], tensors: Sequence[Any], compiled: Result, dice: Dice
) -> Cause:
    dice.restart()
    traced = _fetching(program, tensors)
    names = list(traced.structured_outputs["fetched"])
    with Kept(traced):
        run = traced(*tensors)
    plain, result = _arrays(run["fetched"], names), on_host(run["result"])
    if _agree(result, compiled):
        return Cause(
            words="TensorFlow's own kernels compute the same from the traced graph: "
            "what differs is Python that runs once, while tracing"
        )
    jitted = tf.function(lambda *given: traced(*given)["fetched"], jit_compile=True)
    with Kept(traced):
        by_xla = _arrays(compiling.in_time(lambda: jitted(*tensors)), names)
    return _first(traced.graph, plain, by_xla)


def _first(graph: Any, plain: Mapping[str, Any], by_xla: Mapping[str, Any]) -> Cause:
    """The first operation to blame; where the first that differs does so by rounding, and none is to blame, that one."""
    excused: Cause | None = None
    n_differ = 0
    for op in graph.get_operations():
        outputs = [tensor.name for tensor in op.outputs]
        if op.type in _NOT_COMPUTED or not outputs or not all(name in by_xla for name in outputs):
            continue
        seen = [by_xla[name] for name in outputs]
        reference = [plain[name] for name in outputs]
        if compare.outputs(reference, seen) is None:
            continue
        n_differ += 1
        is_fed_alike = _inputs_agree(op, plain, by_xla)
        again = _replayed(op, by_xla)
        if again is None and not is_fed_alike:
            continue
        if again is not None and compare.outputs(again, seen) is None:
            if n_differ == 1 and is_fed_alike:
                excused = Cause(op, excuse=f"rounding that {op.type} makes large")
            continue
        if again is not None and is_fed_alike and _are_ties(op, by_xla, again, seen):
            excused = excused or Cause(
                op, excuse=f"the order in which {op.type} takes equal values"
            )
            continue
        return Cause(op, f"{op.type}{compare.sample(again or reference, seen)}")
    return excused or Cause()


def _fetching(program: Callable[..., Any], tensors: Sequence[Any]) -> Any:
    """The program as a concrete function that returns `result`, and what its operations compute as `fetched`, by name."""

    def run(*given: Any) -> Any:
        result = program(*given)
        graph = tf.compat.v1.get_default_graph()
        chosen = _fetchable(graph.get_operations(), kernels.registered())
        return {"result": result, "fetched": {tensor.name: tensor for tensor in chosen}}

    patches = Patches()
    retrace.inline(patches)
    try:
        specs = [tf.TensorSpec(tensor.shape, tensor.dtype) for tensor in tensors]
        return tf.function(run, autograph=False).get_concrete_function(*specs)
    finally:
        patches.undo()


def _fetchable(ops: Sequence[Any], known: frozenset[str]) -> list[Any]:
    """Raises ValueError where it is too much."""
    chosen = [
        tensor
        for op in ops
        if op.type in known or not known or op.type == "Placeholder"
        for tensor in op.outputs
        if tensor.dtype not in (tf.resource, tf.variant, tf.string)
    ]
    n_bytes = sum((one.shape.num_elements() or 0) * one.dtype.size for one in chosen)
    if len(chosen) > _MOST_OPERATIONS or n_bytes > _MOST_BYTES:
        raise ValueError(f"{len(chosen)} tensors, {n_bytes} bytes: too many to compare")
    return chosen


def _inputs_agree(op: Any, plain: Mapping[str, Any], by_xla: Mapping[str, Any]) -> bool:
    names = [tensor.name for tensor in op.inputs]
    known = [name for name in names if name in by_xla]
    unknown = [
        tensor
        for tensor in op.inputs
        if tensor.name not in by_xla and tensor.dtype not in (tf.resource, tf.variant)
    ]
    if unknown:
        return False
    return compare.outputs([plain[one] for one in known], [by_xla[one] for one in known]) is None


def _replayed(op: Any, by_xla: Mapping[str, Any]) -> list[Any] | None:
    """What TensorFlow's own kernel computes from XLA's inputs; None where it cannot be asked: an operation with a body or
    a state."""
    has_body = any(attribute.HasField("func") for attribute in op.node_def.attr.values())
    if has_body or op.op_def.is_stateful or any(one.name not in by_xla for one in op.inputs):
        return None
    attributes = {
        name: value for name, value in op.node_def.attr.items() if not name.startswith("_")
    }
    with tf.Graph().as_default() as graph:
        inputs = [tf.compat.v1.placeholder(one.dtype) for one in op.inputs]
        dtypes = [one.dtype for one in op.outputs]
        again = graph.create_op(op.type, inputs, dtypes, attrs=attributes, op_def=op.op_def)
        feed = {place: by_xla[tensor.name] for place, tensor in zip(inputs, op.inputs, strict=True)}
        with tf.compat.v1.Session(graph=graph) as session:
            try:
                return [np.asarray(one) for one in session.run(list(again.outputs), feed)]
            except (tf.errors.OpError, ValueError, TypeError):
                return None


def _are_ties(
    op: Any, by_xla: Mapping[str, Any], left: Sequence[Any], right: Sequence[Any]
) -> bool:
    """Do both choose equal values, by other indices? (To XLA, -0.0 comes before 0.0; to TensorFlow they are equal.)"""
    values = by_xla[op.inputs[0].name]
    if op.type == "TopKV2":
        axis, chosen = -1, (left[1], right[1])
    elif op.type in ("ArgMax", "ArgMin"):
        axis = int(by_xla[op.inputs[1].name])
        chosen = (np.expand_dims(left[0], axis), np.expand_dims(right[0], axis))
    else:
        return False
    if chosen[0].shape != chosen[1].shape:
        return False
    one, other = (np.take_along_axis(values, index.astype(np.int64), axis) for index in chosen)
    return bool(np.array_equal(one, other))


def _arrays(fetched: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: array(fetched[name]) for name in names}


def _agree(left: Result, right: Result) -> bool:
    if len(left.gradients) != len(right.gradients):
        return compare.outputs(left.outputs, right.outputs) is None
    return (
        compare.outputs(left.outputs, right.outputs) is None
        and compare.gradients(left.gradients, right.gradients) is None
    )
