"""A stack for calls that nest deep."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
# In Python's own unit, one per local variable: 1 MiB, some thousand calls.
_ROOM = 2**17


def on_a_deep_stack(work: Callable[_Given, _Result]) -> Callable[_Given, _Result]:
    """Make room for the calls that a function leads to.

    Since 3.11, Python keeps what calls need in pieces of 16 KiB, and maps and unmaps one whenever calls go beyond the end of
    another and come back: up to 70,000 times in a check, with a fifth of its page faults. A frame too large for such a piece
    gets one of the next power of two. One that claims a little more than a half leaves the rest to those after it.
    """

    def roomy(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        return work(*args, **kwargs)

    roomy.__code__ = roomy.__code__.replace(co_stacksize=_ROOM + 1)
    return wraps(work)(roomy)
