"""What the analysis itself could not do."""

from __future__ import annotations

from dataclasses import dataclass

from xlalint.semantics.index import ModuleInfo


@dataclass(frozen=True, slots=True)
class Failure:
    """A function that the analysis itself broke on, which must not cost the user the other findings.

    A RecursionError is the source's doing, anything else a bug of ours.
    """

    module: ModuleInfo
    line: int
    function: str
    error: Exception
