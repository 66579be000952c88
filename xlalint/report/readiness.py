"""The checklist before the move to a TPU, for people (`full`, `html`) and for programs (`json`)."""

from __future__ import annotations

import json as standard_json
from collections import Counter
from collections.abc import Iterator
from html import escape

from xlalint.readiness.items import Checklist, Evidence, Item, State
from xlalint.report import Style

FORMATS = ("full", "json", "html")
SCHEMA_VERSION = 1
_BOLD, _DIM = "1", "2"
_COLORS = {
    State.DONE: "32",
    State.TO_DO: "31",
    State.UNKNOWN: "33",
    State.NOT_APPLICABLE: _DIM,
}
_MARKS = {
    State.DONE: "[x]",
    State.TO_DO: "[ ]",
    State.UNKNOWN: "[?]",
    State.NOT_APPLICABLE: "[-]",
}


def render(checklist: Checklist, format_: str, style: Style) -> str:
    """The checklist in one of FORMATS, ending in a line end."""
    if format_ == "json":
        return standard_json.dumps(as_data(checklist), indent=2, ensure_ascii=False) + "\n"
    return html(checklist) if format_ == "html" else full(checklist, style)


def as_data(checklist: Checklist) -> dict[str, object]:
    """The object that `json` writes. Lines are 1-based."""
    return {
        "schema_version": SCHEMA_VERSION,
        "ready": checklist.is_ready,
        "target": checklist.target,
        "tf_version": checklist.tf_version,
        "files_checked": checklist.files_checked,
        "items": [
            {
                "key": item.key,
                "title": item.title,
                "state": item.state.value,
                "evidence": [_evidence_data(one) for one in item.evidence],
                "next": item.next,
            }
            for item in checklist.items
        ],
    }


def _evidence_data(one: Evidence) -> dict[str, object]:
    data: dict[str, object] = {"text": one.text, "path": one.path, "line": one.line}
    return data if one.cell is None else {**data, "cell": one.cell}


def summary(checklist: Checklist) -> str:
    """`Not ready: 2 to do, 3 unknown (9 done, 1 not applicable)`."""
    counts = Counter(item.state for item in checklist.items)
    aside = f"{counts[State.DONE]} done, {counts[State.NOT_APPLICABLE]} not applicable"
    if checklist.is_ready:
        return f"Ready for {checklist.target} ({aside})"
    open_ = [f"{counts[s]} {s.value}" for s in (State.TO_DO, State.UNKNOWN) if counts[s]]
    return f"Not ready for {checklist.target}: {', '.join(open_)} ({aside})"


def full(checklist: Checklist, style: Style) -> str:
    """A line per item with its state, below it the evidence and what to do next."""
    lines: list[str] = []
    told: set[str] = set()
    for item in checklist.items:
        # Three items wait for the same run of verify: one command, said once.
        lines += _item(item, style, "as above" if item.next in told else item.next)
        told.add(item.next)
    lines += ["", _paint(summary(checklist), _BOLD, style)]
    return "".join(f"{line}\n" for line in lines)


def _item(item: Item, style: Style, advice: str) -> Iterator[str]:
    color = _COLORS[item.state]
    yield f"{_paint(_MARKS[item.state], color, style)} {_paint(item.title, _BOLD, style)}: {_paint(item.state.value, color, style)}"
    for one in item.evidence:
        yield f"      {_where(one)}{one.text}"
    for index, line in enumerate(advice.splitlines() if item.next else ()):
        yield f"      {'next: ' if index == 0 else '      '}{line}"


def _where(one: Evidence) -> str:
    if not one.path:
        return ""
    cell = "" if one.cell is None else f"cell {one.cell}:"
    return f"{one.path}:{cell}{one.line}: " if one.line else f"{one.path}: "


def _paint(text: str, code: str, style: Style) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if style.color and text else text


# --- HTML -------------------------------------------------------------------------------------------------------------

_STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; background: #fff }
h1 { font-size: 1.4rem } li { margin: 0 0 1rem } ol { padding-left: 1.5rem }
.state { font-size: .8rem; padding: .1rem .5rem; border-radius: 1rem; margin-left: .5rem; white-space: nowrap }
.done { background: #d7f5dd } .to-do { background: #ffdcd7 } .unknown { background: #fff1c2 } .not-applicable { background: #e8eaed }
.evidence { color: #57606a; margin: .2rem 0; padding-left: 1rem } code, pre { font: 13px/1.45 ui-monospace, monospace }
pre { background: #f3f4f6; padding: .5rem .8rem; border-radius: .4rem; overflow-x: auto; margin: .3rem 0 }
@media (prefers-color-scheme: dark) { body { color: #e6e6e6; background: #16191d } pre { background: #23272d } .evidence { color: #a5adb8 }
  .state { color: #16191d } }"""


def html(checklist: Checklist) -> str:
    """One page that stands by itself: no script, no other file."""
    items = "\n".join(_html_item(item) for item in checklist.items)
    title = escape(summary(checklist))
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{_STYLE}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{checklist.files_checked} files, TensorFlow {escape(checklist.tf_version)}</p>
<ol>
{items}
</ol>
</body>
</html>
"""


def _html_item(item: Item) -> str:
    kind = item.state.value.replace(" ", "-")
    evidence = "".join(
        f'\n<div class="evidence"><code>{escape(_where(one))}</code>{escape(one.text)}</div>'
        for one in item.evidence
    )
    advice = f"\n<pre>{escape(item.next)}</pre>" if item.next else ""
    state = f'<span class="state {kind}">{escape(item.state.value)}</span>'
    return f"<li><strong>{escape(item.title)}</strong>{state}{evidence}{advice}</li>"
