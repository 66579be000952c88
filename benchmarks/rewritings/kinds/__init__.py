"""The rewritings, by what they touch. Each takes the tree of a program and returns another one, or the files of a project.

Its name is that of the function, and the first line of the docstring says what it does. A rewriting that finds nothing to do
returns the tree as it was.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from benchmarks.rewritings.kinds import calls, functions, imports, modules, statements, values

Rewriting = Callable[[cst.Module], cst.Module | dict[str, cst.Module]]

ALL: tuple[Rewriting, ...] = (
    *calls.REWRITINGS,
    *imports.REWRITINGS,
    *statements.REWRITINGS,
    *values.REWRITINGS,
    *functions.REWRITINGS,
    *modules.REWRITINGS,
)


def name_of(rewriting: Rewriting) -> str:
    """As it is written on the command line."""
    return rewriting.__name__.replace("_", "-")
