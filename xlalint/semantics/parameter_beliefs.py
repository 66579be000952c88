"""What functions were believed to be given, and whether AutoGraph converts them: for whoever has to call them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.values import RAGGED, SPARSE, Value

Handler = Callable[[Any, Frame], Value]


class Believed(NamedTuple):
    """What one parameter holds: `kind` is `tensor`, `sparse`, `ragged`, or another kind of value, as `values` calls them.

    `dtype` and `shape` (None for an unknown dimension) where they are known.
    """

    kind: str
    dtype: str | None = None
    shape: tuple[int | None, ...] | None = None


class ParameterBeliefs:
    """Listens to the analysis. Keys are a module's path as it was given and the line of the `def`."""

    def __init__(self) -> None:
        self.parameters: dict[tuple[str, int], dict[str, Believed]] = {}
        self.converted: dict[tuple[str, int], bool] = {}

    def watch(self, handlers: Mapping[type[ast.AST], Handler]) -> dict[type[ast.AST], Handler]:
        """The same handlers, of which the one for names leaves a record from now on."""
        return {**handlers, ast.Name: self._recording(handlers[ast.Name])}

    def _recording(self, handler: Handler) -> Handler:
        def recorded(node: Any, frame: Frame) -> Value:
            value = handler(node, frame)
            function = frame.function
            if function is not None and not frame.silent and frame.context.is_compiled:
                self._note(node.id, value, frame, function)
            return value

        return recorded

    def _note(self, name: str, value: Value, frame: Frame, function: FunctionInfo) -> None:
        key = (function.module.path, function.node.lineno)
        # Converted wherever one of its callers is: the milder reading.
        self.converted[key] = self.converted.get(key, False) or frame.context.converted
        if name not in function.parameter_names:
            return
        known = self.parameters.setdefault(key, {})
        if name not in known:  # the first mention: before the function gives the name another value
            known[name] = _believed(value)


def _believed(value: Value) -> Believed:
    if value.is_tensor or value.kind in (SPARSE, RAGGED):
        kind = "tensor" if value.is_tensor else value.kind
        shape = value.shape
        numbers = None if shape is None else tuple(n if isinstance(n, int) else None for n in shape)
        return Believed("structure" if value.structured else kind, value.dtype, numbers)
    return Believed(value.kind)
