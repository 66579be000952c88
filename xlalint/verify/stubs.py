"""Lower a program again without the operations that are known to fail, to learn what else would.

A compiler stops at the first operation that it refuses. Here a copy of the program is made in which such an operation is
replaced by random numbers of its shape and dtype: its value stays unknown when the program is compiled, so that what needs
it as a constant still fails, and nothing else does that did not fail before. Functions inside (branches, loop bodies,
nested tf.functions) are copied with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import tensorflow as tf

from xlalint.verify.graphs import parts

_REFERENCE = re.compile(r"^(\^?)([^:]+)(?::([^:]+):(\d+))?$")
_CASTABLE = (
    tf.bool,
    tf.int8,
    tf.int16,
    tf.int32,
    tf.int64,
    tf.uint8,
    tf.uint16,
    tf.uint32,
    tf.uint64,
    tf.float16,
    tf.bfloat16,
    tf.float32,
    tf.float64,
    tf.complex64,
    tf.complex128,
)


@dataclass(frozen=True, slots=True)
class Result:
    """What replaces an output of an operation: a dtype and a static shape."""

    dtype: Any
    shape: tuple[int, ...]


class StubError(Exception):
    """An operation cannot be replaced: a function returns the text or resource that it makes, or the rank is not known."""


class Copies:
    """Copies of one concrete function. Functions are registered with TensorFlow under names of their own."""

    def __init__(self, concrete: Any) -> None:
        self._concrete = concrete
        self._graphs = {part.name: part.graph for part in parts(concrete.graph)}
        self._count = 0

    def without(self, failing: Iterable[Any]) -> Any:
        """Something that lowers like the concrete function, with stubs for the operations `failing`.

        Raises StubError where one has no stub.
        """
        replaced = _with_consumers_of_text(failing)
        self._count += 1
        name = _text(self._concrete.name)
        made = self._copy(name, self._graphs[""], replaced, {})
        return SimpleNamespace(
            name=made.encode() if isinstance(self._concrete.name, bytes) else made,
            captured_inputs=self._concrete.captured_inputs,
            inputs=self._concrete.inputs,
            structured_input_signature=self._concrete.structured_input_signature,
        )

    def _copy(self, name: str, graph: Any, failing: tuple[Any, ...], made: dict[str, str]) -> str:
        """Copy a function and those that it calls; the new name."""
        from tensorflow.python.eager import context

        if name in made:
            return made[name]
        eager_context = context.context()
        function = _definition(eager_context, name)
        if function is None:
            return name
        made[name] = f"{name}_without_{self._count}"
        function.signature.name = made[name]
        for node in function.node_def:
            for attribute in node.attr.values():
                for called in _called(attribute):
                    inner = self._graphs.get(called.name)
                    called.name = self._copy(called.name, inner, failing, made)
        _replace(function, {op.name: op for op in failing if op.graph is graph})
        eager_context.add_function_def(function)
        return made[name]


def _with_consumers_of_text(failing: Iterable[Any]) -> tuple[Any, ...]:
    """What has to go with the failing operations: text cannot be replaced, and so what takes it is."""
    waiting, found = list(failing), dict[int, Any]()
    while waiting:
        op = waiting.pop(0)
        if id(op) in found:
            continue
        found[id(op)] = op
        for tensor in op.outputs:
            if tensor.dtype in _CASTABLE:
                continue
            if any(tensor is output for output in getattr(op.graph, "outputs", ())):
                raise StubError(f"{op.type} returns {tensor.dtype.name}")
            waiting += tensor.consumers()
    return tuple(found.values())


def _definition(eager_context: Any, name: str) -> Any:
    """A copy of a function's definition, None where there is no such function."""
    try:
        found = eager_context.get_function_def(name)
    except tf.errors.NotFoundError:
        return None
    copy = type(found)()
    copy.CopyFrom(found)
    return copy


def _called(attribute: Any) -> Iterator[Any]:
    if attribute.HasField("func"):
        yield attribute.func
    yield from attribute.list.func


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


def _replace(function: Any, failing: Mapping[str, Any]) -> None:
    """Put stubs in the place of the failing operations of one function definition."""
    kept, new, outputs = [], [], {}
    for node in function.node_def:
        op = failing.get(node.name)
        if op is None or op.type != node.op:
            kept.append(node)
            continue
        results = {
            index: _result(tensor, op)
            for index, tensor in enumerate(op.outputs)
            if tensor.dtype in _CASTABLE
        }
        names = list(_output_names(op))
        for index, result in results.items():
            last = node.name if index == min(results) else f"{node.name}_xlalint_{index}"
            new += _stub(node.name, last, index, result)
            outputs[(node.name, *names[index])] = f"{last}:y:0"
        if not results:  # something may wait for it
            new.append(_node(node.name, "NoOp", [], {}))
    if len(kept) == len(function.node_def):
        return
    del function.node_def[:]
    function.node_def.extend([*kept, *new])
    for node in function.node_def:
        for index, reference in enumerate(node.input):
            node.input[index] = _redirected(reference, outputs)
    for name, reference in function.ret.items():
        function.ret[name] = _redirected(reference, outputs)


def _redirected(reference: str, outputs: Mapping[tuple[str, str, int], str]) -> str:
    match = _REFERENCE.match(reference)
    if match is None or match[3] is None:
        return reference
    return outputs.get((match[2], match[3], int(match[4])), reference)


def _output_names(op: Any) -> Iterator[tuple[str, int]]:
    """(name, index) of each output, as a function definition refers to it."""
    for argument in op.op_def.output_arg:
        count = 1
        if argument.number_attr:
            count = int(op.get_attr(argument.number_attr))
        elif argument.type_list_attr:
            count = len(op.get_attr(argument.type_list_attr))
        yield from ((argument.name, index) for index in range(count))


def _result(tensor: Any, op: Any) -> Result:
    """What an output is replaced by. A dimension that is not known becomes 1, which broadcasts."""
    if tensor.shape.rank is None:
        raise StubError(f"the rank of what {op.type} returns is not known")
    return Result(tensor.dtype, tuple(1 if size is None else size for size in tensor.shape))


def _stub(node: str, last: str, index: int, result: Result) -> list[Any]:
    """Nodes that make random numbers: their value is not known when the program is compiled."""
    shape, numbers = f"{node}_xlalint_shape_{index}", f"{node}_xlalint_numbers_{index}"
    sizes = tf.make_tensor_proto(list(result.shape), tf.int32, shape=[len(result.shape)])
    return [
        _node(shape, "Const", [], {"dtype": _type(tf.int32), "value": _tensor(sizes)}),
        _node(
            numbers,
            "RandomStandardNormal",
            [f"{shape}:output:0"],
            {"dtype": _type(tf.float32), "T": _type(tf.int32)},
        ),
        _node(
            last,
            "Cast",
            [f"{numbers}:output:0"],
            {"SrcT": _type(tf.float32), "DstT": _type(result.dtype)},
        ),
    ]


def _node(name: str, op: str, inputs: Sequence[str], attributes: Mapping[str, Any]) -> Any:
    node = tf.compat.v1.NodeDef(name=name, op=op, input=list(inputs))
    for key, value in attributes.items():
        node.attr[key].CopyFrom(value)
    return node


def _type(dtype: Any) -> Any:
    return tf.compat.v1.AttrValue(type=dtype.as_datatype_enum)


def _tensor(value: Any) -> Any:
    return tf.compat.v1.AttrValue(tensor=value)
