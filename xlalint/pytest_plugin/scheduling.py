"""How pytest-xdist spreads the items: those of one program to one worker, which runs it once; other tests as ever."""

from __future__ import annotations

from typing import Any

import pytest

ROOT = "xlalint"


def scheduler(config: pytest.Config, log: Any) -> Any:
    """A scheduler for `-n`; None, which leaves the choice to xdist, where the user asked for another one with `--dist`."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class ByProgram(LoadScopeScheduling):  # type: ignore[misc, unused-ignore]
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    return ByProgram(config, log)


def scope_of(nodeid: str) -> str:
    """Tests of the same scope go to the same worker, one after another."""
    root, _, rest = nodeid.partition("::")
    if root != ROOT:
        return nodeid
    program, _, item = rest.partition("::")
    # A run under a strategy is a child of its own.
    return nodeid if item.startswith("run under ") else program
