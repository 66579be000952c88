"""The rewrites, one module for each way to mend code.

A module names the rules whose findings it may mend in `MENDS`, in `ORDER` when it is asked (lower first, 50 where it says
nothing), and offers `propose(site)`, which returns a `Fix`, or None where it does not fit. The modules are found by
looking, so that adding one touches nothing here.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xlalint.finding import Fix
    from xlalint.fixes.site import Site

Rewrite = Callable[["Site"], "Fix | None"]


@cache
def by_code() -> Mapping[str, tuple[Rewrite, ...]]:
    """The rewrites for the findings of each rule, in the order in which they are asked."""
    modules = [
        importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)
    ]
    found: dict[str, list[Rewrite]] = {}
    for module in sorted(modules, key=_order):
        for code in getattr(module, "MENDS", ()):
            found.setdefault(code, []).append(module.propose)
    return MappingProxyType({code: tuple(rewrites) for code, rewrites in found.items()})


def _order(module: ModuleType) -> tuple[int, str]:
    return (getattr(module, "ORDER", 50), module.__name__)
