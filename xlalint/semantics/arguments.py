"""The arguments of a call, evaluated."""

from __future__ import annotations

from typing import NamedTuple

from xlalint.semantics.values import Value

# Arguments by the names of the parameters that take them.
Bound = dict[str, Value]


class Arguments(NamedTuple):
    """The evaluated arguments of a call. `open_ended` says that `*args` or `**kwargs` hold more than is known."""

    positional: tuple[Value, ...]
    keywords: dict[str, Value]
    open_ended: bool

    @property
    def values(self) -> tuple[Value, ...]:
        """All of them, in the order in which they are written."""
        return (*self.positional, *self.keywords.values())


def bind(params: tuple[str, ...], arguments: Arguments) -> Bound:
    """Arguments by parameter name; positional ones beyond the known parameters are left out."""
    bound = dict(zip(params, arguments.positional))
    bound.update(arguments.keywords)
    return bound
