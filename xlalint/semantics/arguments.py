"""The arguments of a call, evaluated."""

from __future__ import annotations

from typing import NamedTuple

from xlalint.semantics.values import Value


class Arguments(NamedTuple):
    """The evaluated arguments of a call. `open_ended` says that `*args` or `**kwargs` hold more than is known."""

    positional: tuple[Value, ...]
    keywords: dict[str, Value]
    open_ended: bool
