"""Whether a call returns one tensor or several, where an argument decides."""

from __future__ import annotations

from functools import cache

from xlalint.semantics.arguments import Bound
from xlalint.semantics.catalog.entries import Api


def returns_several(api: Api, bound: Bound) -> bool:
    """Whether a call returns several tensors: the catalogue says so of the defaults.

    Arguments may ask for more (`average(x, returned=True)`, `unique(x, return_counts=True)`), or for less
    (`svd(x, compute_uv=False)`).
    """
    asked = [bound[name].constant() for name in _asking(api.params) if name in bound]
    if not asked:
        return api.returns == "structure"
    return any(known is None or bool(known.value) for known in asked)


@cache
def _asking(params: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in params if name in _ASK_FOR_MORE)


_ASK_FOR_MORE = frozenset(
    {"compute_uv", "retstep", "return_counts", "return_index", "return_inverse", "returned"}
)
