"""How new code is laid out."""

from __future__ import annotations

from collections.abc import Sequence


def call_lines(
    target: str, function: str, arguments: Sequence[str], *, tall: bool = False
) -> list[str]:
    """`target function(arguments)` on one line, or on one for each argument where one of them has several (or `tall`).

    What is too long for its project is broken when the whole fix is known (`fitting`).
    The arms of tf.cond are `tall`: AutoGraph cannot tell two functions without parameters apart that stand on one line.
    """
    line = f"{target}{function}({', '.join(arguments)})"
    if not tall and "\n" not in line:
        return [line]
    inner = [part for argument in arguments for part in _shifted(f"{argument},")]
    return [f"{target}{function}(", *(f"    {part}" if part else part for part in inner), ")"]


def _shifted(code: str) -> list[str]:
    """The lines of an expression; those after the first indented by one step, as if the first stood at the margin."""
    first, *rest = code.split("\n")
    if not rest or '"""' in code or "'''" in code:
        return [first, *rest]
    least = min(len(line) - len(line.lstrip()) for line in rest if line.strip())
    step = 0 if rest[-1].lstrip()[:1] in ")]}" else 4
    return [first, *(" " * step + line[least:] if line.strip() else "" for line in rest)]
