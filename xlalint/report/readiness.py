"""The checklist before the move to a TPU, for people (`full`, `html`) and for programs (`json`)."""

from __future__ import annotations

import json as standard_json
from collections.abc import Iterator

from xlalint.readiness.items import Checklist, Evidence, Item, State
from xlalint.report import Style
from xlalint.report.readiness_page import page
from xlalint.report.readiness_words import place, summary

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
    return page(checklist) if format_ == "html" else full(checklist, style)


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
        yield f"      {place(one)}{one.text}"
    for index, line in enumerate(advice.splitlines() if item.next else ()):
        yield f"      {'next: ' if index == 0 else '      '}{line}"


def _paint(text: str, code: str, style: Style) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if style.color and text else text
