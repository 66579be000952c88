"""Tests by which programs for several devices ask whether they run on a TPU: `if self.use_tpu:`, `if not is_xla_compiled():`.

What they keep from a TPU is no part of the program that a TPU gets. Only names tell; what a test is known to be comes first.
"""

from __future__ import annotations

import ast
import re
from functools import cache

from xlalint.semantics.frames import Frame
from xlalint.semantics.values import PYTHON, UNKNOWN, Value

_ASKS = re.compile(
    r"(?:^|_)(?:use|using|is|on|has|with|for|run_on|running_on|in|inside|under)_(?:tpus?|xla)(?:_|$)|^is_xla_compiled$|^tpu$",
    re.IGNORECASE,
)
# `use_xla` is a choice that a program for TPUs leaves off: TPUs compile anyway.
_CHOICE = re.compile(r"(?:use|using|with)_xla", re.IGNORECASE)


def answer(test: ast.expr, value: Value, frame: Frame) -> bool | None:
    """What a test comes to on a TPU, in code compiled for one; None where it does not ask for that."""
    is_open = value.kind in (UNKNOWN, PYTHON) and frame.analysis.is_for_tpu
    if not is_open or not frame.context.is_compiled:
        return None
    return _asked(test)


def _asked(test: ast.expr) -> bool | None:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _asked(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.Call) and not test.args and not test.keywords:
        test = test.func
    return True if _asks(_last_name(test)) else None


@cache
def _asks(name: str) -> bool:
    return _ASKS.search(name) is not None and _CHOICE.search(name) is None


def _last_name(test: ast.expr) -> str:
    if isinstance(test, ast.Name):
        return test.id
    if isinstance(test, ast.Attribute):
        return test.attr
    if isinstance(test, ast.Subscript) and isinstance(test.slice, ast.Constant):
        return str(test.slice.value)
    return ""
