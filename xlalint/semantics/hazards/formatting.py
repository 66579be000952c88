"""Which pieces of a format string want a number: those a traced tensor cannot give.

`"%s" % t`, `"{}".format(t)` and `f"{t}"` print the symbolic tensor; `%f` and `{:.2f}` raise TypeError.
"""

from __future__ import annotations

import re
import string

_PERCENT = re.compile(
    r"%(?:\(\w+\))?[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?([diouxXeEfFgGcrsa%])"
)


def percent_wants_number(template: str, position: int) -> bool:
    """Whether the conversion at `position` (from 0) of a `%` template is a numeric one."""
    kinds = [kind for kind in _PERCENT.findall(template) if kind != "%"]
    return position < len(kinds) and kinds[position] in "diouxXeEfFgG"


def fields_with_format(template: str) -> set[str]:
    """The fields of a `str.format` template that carry a format specification, by position (`"0"`) or name."""
    found: set[str] = set()
    position = 0
    try:
        for _, name, spec, _ in string.Formatter().parse(template):
            if name is None:
                continue
            if name == "":
                name, position = str(position), position + 1
            if spec:
                found.add(re.split(r"[.\[]", name)[0])
    except ValueError:
        return set()  # not a template after all
    return found
