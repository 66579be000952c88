"""Sizes that XLA needs when it compiles, where the catalogue has no row for what takes them: objects and builtins."""

from __future__ import annotations

import ast

from xlalint.semantics.facts import CALL, CallDetail, Verdict
from xlalint.semantics.frames import Frame
from xlalint.semantics.values import ARRIVING, Value


def note_sizes(
    api: str, bound: dict[str, Value], constants: tuple[str, ...], node: ast.AST, frame: Frame
) -> None:
    """Note a call of `api` when one of its arguments `constants`, which XLA must know as it compiles, comes from data."""
    given = [bound[name] for name in constants if name in bound]
    size = next(
        (v for v in given if v.is_tensor and v.dependence >= ARRIVING and not v.guess), None
    )
    if size is not None:
        verdict = Verdict("compiles", (), None, (), constants)
        detail = CallDetail(api, tuple(bound.items()), verdict, False, "certain", None)
        frame.analysis.note(frame, node, CALL, size, detail)
