"""What is handed to somebody else to be called: a function, a method, an object with `__call__`, or a partial of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.classes import TRACED_METHODS
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.joins import alternatives
from xlalint.semantics.values import FUNCTION, INSTANCE, PARTIAL, Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis


class Callee(NamedTuple):
    """A function that will be called, the object it is bound to, and the arguments that a partial holds for it.

    `closure`: which of the nested functions of its text it is.
    """

    function: FunctionInfo
    bound: Value | None = None
    first: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    closure: int | None = None

    def by_parameter(self) -> tuple[tuple[str, Value], ...]:
        """What the partial holds, by the names of the parameters."""
        arguments = self.function.node.args
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        if self.bound is not None:
            names = names[1:]
        known = {*names, *(a.arg for a in arguments.kwonlyargs)}
        named = [(name, value) for name, value in self.keywords if name in known]
        return (*zip(names, self.first), *named)


def callees(value: Value, analysis: Analysis) -> Iterator[Callee]:
    """The project functions that a call of `value` runs; Keras objects go through Keras, and are none of these."""
    for one in alternatives(value):
        if one.kind is FUNCTION:
            info, bound = one.ref if isinstance(one.ref, tuple) else (one.ref, None)
            yield Callee(info, bound, closure=one.closure)
        elif one.kind is PARTIAL:
            target, first, keywords = one.ref
            for inner in callees(target, analysis):
                yield Callee(
                    inner.function,
                    inner.bound,
                    (*inner.first, *first),
                    (*inner.keywords, *keywords),
                    inner.closure,
                )
        elif one.kind is INSTANCE and isinstance(one.ref, ClassInfo):
            method = _call_method(one.ref, analysis)
            if method is not None:
                yield Callee(method, one)


def only_callee(value: Value, analysis: Analysis) -> Callee | None:
    """The one project function that a call of `value` runs, given what the call gives and nothing more."""
    found = list(callees(value, analysis))
    only = found[0] if len(found) == 1 else None
    return only if only is not None and not (only.first or only.keywords) else None


def as_function(value: Value, analysis: Analysis) -> Value:
    """The `__call__` of an object of the project, bound to it; anything else as it is."""
    callee = only_callee(value, analysis) if value.kind is INSTANCE else None
    return value if callee is None else Value(FUNCTION, ref=(callee.function, callee.bound))


def _call_method(cls: ClassInfo, analysis: Analysis) -> FunctionInfo | None:
    role = analysis.classes.role(cls)
    if role is not None and role.kind in TRACED_METHODS:
        return None
    return analysis.classes.method(cls, "__call__")
