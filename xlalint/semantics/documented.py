"""What docstrings say of parameters: `u: complex valued tensor of shape (..., n, p)`. Authors without annotations write it there."""

from __future__ import annotations

import ast
import re

from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.results.dtypes import COMPLEX, SOME_COMPLEX

# `name: what it is`, `name (type): what it is`, `name : type` and `:param name: what it is`, one entry to a line.
_ENTRY = re.compile(
    r"^[ \t]*(?::param[ \t]+)?(\w+)[ \t]*((?:\([^()\n]*\))?[ \t]*:[ \t]*\S.*)$", re.M
)
_IS_COMPLEX = re.compile(
    r"\bcomplex(?:64|128)?(?:[- ]valued)?\s+(?:\w+\s+){0,2}(?:tensors?|matri(?:x|ces)|vectors?)\b|\bd?type:?\s+(?:tf\.)?complex(?:64|128)\b",
    re.IGNORECASE,
)
# "a real or complex matrix", "float or complex tensor": then nobody knows.
_IS_OPEN = re.compile(
    r"\b(?:real|float\w*|int\w*|or|and|if|whether|number|string|str|bool)\b", re.IGNORECASE
)


def complex_dtype(info: FunctionInfo, name: str) -> str | None:
    """The dtype of a parameter that is documented as a complex tensor, `dtypes.SOME_COMPLEX` of no width; None of all others."""
    if isinstance(info.node, ast.Lambda):
        return None
    text = ast.get_docstring(info.node, clean=False)
    if text is None or "complex" not in text:
        return None
    said = next((match[2] for match in _ENTRY.finditer(text) if match[1] == name), "")
    if _IS_COMPLEX.search(said) is None or _IS_OPEN.search(said) is not None:
        return None
    named = {dtype for dtype in COMPLEX if dtype in said}
    return named.pop() if len(named) == 1 else SOME_COMPLEX
