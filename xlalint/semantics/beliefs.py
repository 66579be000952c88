"""What the analysis believes of every expression it meets: rewrites ask for it, and `xlalint debug facts` shows it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from xlalint.semantics.facts import Context
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo, ModuleInfo
from xlalint.semantics.values import (
    ARRIVING,
    BOUNDED,
    CAPTURED,
    CLASS,
    COMPUTED,
    CONSTANT,
    EXTERNAL,
    FACTORED,
    FROM_SHAPE,
    FUNCTION,
    INSTANCE,
    PROJECT_MODULE,
    PYTHON,
    REGROUPED,
    SEQUENCE,
    SHAPE,
    UNKNOWN,
    Value,
)

Handler = Callable[[Any, Frame], Value]

DEPENDENCE = {
    CONSTANT: "constant",
    FROM_SHAPE: "shape",
    BOUNDED: "bounded size",
    CAPTURED: "captured when it is traced",
    ARRIVING: "arrives at run time",
    COMPUTED: "computed as the program runs",
    FACTORED: "computed with a factored matrix",
    REGROUPED: "computed from what a mask left",
}


class Belief(NamedTuple):
    """One value that an expression was seen to have, in one function (None for a module's body) and context."""

    value: Value
    context: Context
    function: FunctionInfo | None


class Beliefs:
    """Everything that expressions of some modules were believed to be, in the order in which the analysis met them."""

    def __init__(self, modules: Iterable[ModuleInfo]) -> None:
        self._of_module: dict[ModuleInfo, dict[ast.AST, list[Belief]]] = {m: {} for m in modules}

    def of(self, module: ModuleInfo) -> Mapping[ast.AST, Sequence[Belief]]:
        """What was believed of the expressions of one of the modules."""
        return self._of_module[module]

    def watch(self, handlers: Mapping[type[ast.AST], Handler]) -> dict[type[ast.AST], Handler]:
        """The same handlers, which from now on leave a record of what they say of these modules."""
        return {kind: self._recording(handler) for kind, handler in handlers.items()}

    def _recording(self, handler: Handler) -> Handler:
        of_module = self._of_module

        def recorded(node: Any, frame: Frame) -> Value:
            value = handler(node, frame)
            known = of_module.get(frame.module)
            if known is not None and not frame.silent:
                belief = Belief(value, frame.context, frame.function)
                said = known.get(node)
                if said is None:
                    known[node] = [belief]
                elif belief not in said:
                    said.append(belief)
            return value

        return recorded


def told(value: Value) -> str:
    """A value in words: `tensor float32 (?, 8), arrives at run time`."""
    if value.kind is UNKNOWN:
        return "unknown"
    parts = [_what(value)]
    if value.is_tensor:
        parts.append(DEPENDENCE[value.dependence])
    if value.producer is not None:
        parts.append(f"data-sized by {value.producer}")
    parts += [word for holds, word in _doubts(value) if holds]
    return ", ".join(parts)


def _what(value: Value) -> str:
    if value.kind is PYTHON:
        known = value.choices()
        return "python " + " or ".join(repr(v) for v in known) if known else "python"
    if value.kind in (EXTERNAL, INSTANCE, CLASS, FUNCTION, PROJECT_MODULE):
        return f"{value.kind} {_name(value.ref)}".rstrip()
    if value.kind is SHAPE:
        return "shape" if value.shape is None else f"shape {written(value.shape)}"
    if value.kind is SEQUENCE:
        return f"sequence of {len(value.ref)}" if value.ref else "sequence"
    if not value.is_tensor:
        return value.kind
    words = [value.kind]
    if value.dtype is not None:
        words.append(value.dtype)
    if value.shape is not None:
        words.append(written(value.shape))
    elif value.rank is not None:
        words.append("scalar" if value.rank == 0 else f"of {value.rank} dimensions or more")
    return " ".join(words)


def written(shape: tuple[int | None, ...]) -> str:
    """`(?, 8)`; a vector as `(3,)`."""
    inside = ", ".join("?" if size is None else str(size) for size in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"


def _name(ref: Any) -> str:
    if isinstance(ref, tuple) and ref:
        ref = ref[0]
    return str(getattr(ref, "qualname", None) or getattr(ref, "name", None) or ref or "")


def _doubts(value: Value) -> tuple[tuple[bool, str], ...]:
    return (
        (value.guess, "a guess"),
        (not value.sure and not value.guess, "likely"),
        (value.optional, "or None"),
        (value.structured, "or a structure of tensors"),
    )
