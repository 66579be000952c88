"""Syntax of a later Python than the one that runs: its parser refuses it, though nothing is wrong with the code."""

from __future__ import annotations

import sys


def hint(text: str, refusal: str) -> str:
    """What to do about a file that this Python's parser refuses with `refusal`, where a later one may take it; "" otherwise.

    libcst knows the grammar up to Python 3.14, whichever Python it runs on.
    """
    if "too many" in refusal:
        return ""  # nested so deep that no parser should be asked again
    import libcst

    try:
        libcst.parse_module(text)
    except Exception:
        return ""
    running = ".".join(map(str, sys.version_info[:2]))
    return f" (in Python {running}, which runs xlalint; a later one may take it: run xlalint with that)"
