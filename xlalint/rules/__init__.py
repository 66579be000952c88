"""The rules: one libcst visitor each. A rule asks `facts` and says what is wrong; it infers nothing itself.

The modules are found by their names (`xla101.py` decides XLA101), so that adding a rule touches nothing here.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from xlalint.rules.base import Rule


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule class, sorted by code."""
    found: list[type[Rule]] = []
    for module in pkgutil.iter_modules(__path__):
        if module.name[:3] in ("xla", "ptx"):
            loaded = importlib.import_module(f"{__name__}.{module.name}")
            found += [r for r in vars(loaded).values() if _is_rule(r, loaded.__name__)]
    return tuple(sorted(found, key=lambda rule: rule.code))


def _is_rule(value: object, module: str) -> bool:
    return isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module
