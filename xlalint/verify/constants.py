"""Where the value comes from that XLA needs as a compile-time constant and does not get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xlalint.verify.dependence import FROM_SHAPES
from xlalint.verify.graphs import Part, parts

# Hand values on, or put them together: the reader looks for what is behind them.
_PASSING = frozenset(
    {
        "Cast", "ConcatV2", "ExpandDims", "Identity", "IdentityN", "Pack", "ReadVariableOp", "Reshape", "Squeeze",
        "StopGradient", "StridedSlice",
    }
)  # fmt: skip
_BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
_LOOPS = frozenset({"While", "StatelessWhile"})


@dataclass(frozen=True, slots=True)
class Origin:
    """`argument` is the operation's own name for its input, `made_by` the operations that compute its value (nearest
    first), `roots` the arguments, variables and other things that it is computed from, in words."""

    argument: str
    made_by: tuple[Any, ...]
    roots: tuple[str, ...]


def origin(graph: Any, op: Any, index: int, names: Sequence[str]) -> Origin:
    """Where input `index` of an operation of a program comes from. `names` are those of the program's arguments."""
    walk = _Walk(graph, names)
    walk.back(op.inputs[index])
    return Origin(_argument(op, index), tuple(walk.made_by), tuple(dict.fromkeys(walk.roots)))


def _argument(op: Any, index: int) -> str:
    """An input's name in the definition of its operation."""
    names: list[str] = []
    for argument in op.op_def.input_arg:
        count = int(op.get_attr(argument.number_attr)) if argument.number_attr else 1
        names += [argument.name] * count
    return names[index] if index < len(names) else f"input {index}"


class _Walk:
    def __init__(self, graph: Any, names: Sequence[str]) -> None:
        self._outermost = graph
        self._parts: Mapping[int, Part] = {id(part.graph): part for part in parts(graph)}
        self._names = names
        self._seen: set[int] = set()
        self.made_by: list[Any] = []
        self.roots: list[str] = []

    def back(self, tensor: Any, behind_computation: bool = False) -> None:
        """Note what a tensor is computed from. Shapes and constants are known to XLA, and not of interest."""
        waiting = [(tensor, behind_computation)]
        while waiting:
            current, behind = waiting.pop(0)
            op = current.op
            if id(current) in self._seen or op.type in FROM_SHAPES:
                continue
            self._seen.add(id(current))
            if op.type == "Placeholder":
                waiting += [(outer, behind) for outer in self._outside(current)]
                continue
            if not op.inputs:
                self.roots.append(_of_no_input(op))
            if op.type not in _PASSING and not behind:
                self.made_by.append(op)
                behind = True
            waiting += [(value, behind) for value in op.inputs]

    def _outside(self, placeholder: Any) -> Iterator[Any]:
        """What the caller of a function passes for one of its parameters."""
        graph = placeholder.graph
        index = next(
            (at for at, tensor in enumerate(graph.inputs) if tensor is placeholder),
            len(self._names),
        )
        if graph is self._outermost:
            self.roots.append(self._argument(index, placeholder))
            return
        part = self._parts.get(id(graph))
        caller = None if part is None else part.caller
        if caller is None:
            return
        if caller.type in _LOOPS and _is_changed(graph, index):
            self.roots.append("a variable of the loop")
            return
        at = index + (1 if caller.type in _BRANCHES else 0)
        if at < len(caller.inputs):
            yield caller.inputs[at]

    def _argument(self, index: int, placeholder: Any) -> str:
        if index < len(self._names):
            return f"argument `{self._names[index]}`"
        name = placeholder.op.name
        return "a variable" if placeholder.dtype.name == "resource" else f"`{name}`"


def _is_changed(graph: Any, index: int) -> bool:
    """Does the body of a loop return another value for its variable `index` than it was given?"""
    outputs = getattr(graph, "outputs", ())
    if index >= len(outputs):
        return True
    tensor = outputs[index]
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor is not graph.inputs[index]


def _of_no_input(op: Any) -> str:
    return "a random number" if "Random" in op.type else op.type
