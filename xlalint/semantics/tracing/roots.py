"""Where the analysis starts: a function that something compiles, and what it is called with."""

from __future__ import annotations

from dataclasses import dataclass

from xlalint.semantics.facts import Context
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.values import Value


@dataclass(frozen=True, slots=True)
class Root:
    """A function that something compiles (or that is taken as compiled), and what it is called with.

    `given` are the arguments that a functools.partial holds for it, by parameter, `closure` which of the nested functions of its text it is.
    """

    function: FunctionInfo
    context: Context
    self_value: Value | None = None
    arguments: tuple[Value, ...] | None = None
    role_method: str | None = None
    given: tuple[tuple[str, Value], ...] = ()
    closure: int | None = None
