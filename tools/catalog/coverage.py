"""Which public symbols the catalogue covers, and how: `python -m tools.catalog --coverage`."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from dataclasses import dataclass

from xlalint.semantics.catalog.catalog import Catalog

MEASURED = "measured under XLA"
NO_COMPUTATION = "computes nothing on a device, as measured"
REGISTRY = "told by the registry of operations"
NOT_MEASURED = "not measured, with a reason"
UNEXPLAINED = "not measured, without a reason"
MISSING = "missing"
_ORDER = (MEASURED, NO_COMPUTATION, REGISTRY, NOT_MEASURED, UNEXPLAINED, MISSING)
_GROUPS = ("tf.compat.v1", "tf.raw_ops", "tf", "keras", "tf_keras")


@dataclass(frozen=True, slots=True)
class Covered:
    """One public symbol: how the catalogue covers it, and why not where it does not."""

    name: str
    state: str
    why: str | None


def coverage(declared: Mapping[str, str], catalog: Catalog) -> list[Covered]:
    """Every declared function and class, sorted by name; values such as dtypes are left out."""
    names = [name for name, kind in sorted(declared.items()) if kind == "callable"]
    return [_covered(name, catalog) for name in names]


def _covered(name: str, catalog: Catalog) -> Covered:
    api = catalog.api(name)
    if api is None:
        return Covered(name, MISSING, None)
    if api.status in ("compiles", "fails", "crashes"):
        return Covered(name, MEASURED if catalog.has_row(api.name) else REGISTRY, None)
    if api.why is not None:
        return Covered(name, NOT_MEASURED, api.why)
    if api.status == "untraced" or api.returns is None:
        return Covered(name, UNEXPLAINED, None)
    return Covered(name, NO_COMPUTATION, None)


def report(rows: list[Covered]) -> str:
    """A table of counts, the reasons by how often they are given, and the names that are missing."""
    counts = collections.Counter((_group(row.name), row.state) for row in rows)
    width = max(map(len, _ORDER))
    lines = [f"{'':{width}}" + "".join(f"{group:>14}" for group in _GROUPS)]
    lines += [
        f"{state:{width}}" + "".join(f"{counts[group, state]:>14}" for group in _GROUPS)
        for state in _ORDER
    ]
    reasons = collections.Counter(row.why for row in rows if row.why is not None)
    lines += ["", *(f"{count:>6}  {why}" for why, count in reasons.most_common())]
    open_ends = [row for row in rows if row.state in (UNEXPLAINED, MISSING)]
    lines += ["", *(f"{row.state}: {row.name}" for row in open_ends)] if open_ends else []
    return "\n".join(lines) + "\n"


def _group(name: str) -> str:
    return next(group for group in _GROUPS if name.startswith(f"{group}."))
