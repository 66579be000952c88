"""The checklist as a page for a browser: one file without scripts, to be sent on, read on a telephone, or printed."""

from __future__ import annotations

import re
from collections import Counter
from html import escape

from xlalint import __version__
from xlalint.readiness.items import Checklist, Evidence, Item, State
from xlalint.report.readiness_words import place, summary

_MARKS = {
    State.DONE: "\u2713",
    State.TO_DO: "\u2717",
    State.UNKNOWN: "?",
    State.NOT_APPLICABLE: "\u2013",
}
_CODE = re.compile(r"`([^`]+)`")
_STYLE = """\
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #4b535c; --line: #d5dae0; --paper: #fff; --box: #f3f4f6 }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink); background: var(--paper) }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .3rem } h2 { font-size: 1.1rem; margin: 0 }
header p { margin: .2rem 0; color: var(--soft) }
a { color: inherit } code, pre { font: .85em/1.5 ui-monospace, "DejaVu Sans Mono", monospace }
p, li, code { overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100%; margin: 1.5rem 0 2rem } caption { text-align: left; color: var(--soft); padding: .3rem 0 }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top }
th { font-weight: 600 } td:first-child { text-align: right; color: var(--soft); width: 3rem } td:last-child { width: 10rem }
.state { display: inline-block; font-size: .8rem; font-weight: 600; padding: .05rem .6rem; border-radius: 1rem; border: 1px solid; white-space: nowrap }
.done { color: #0b5d1e; background: #d7f5dd } .to-do { color: #8a1208; background: #ffdcd7 }
.unknown { color: #5c4300; background: #fff1c2 } .not-applicable { color: #3d444d; background: #e8eaed }
section { border-top: 1px solid var(--line); padding: 1rem 0; break-inside: avoid }
section header { display: flex; gap: .8rem; align-items: baseline; justify-content: space-between }
ul { margin: .5rem 0; padding-left: 1.2rem } .next { margin: .5rem 0 .2rem; font-weight: 600 }
pre { background: var(--box); border: 1px solid var(--line); padding: .6rem .8rem; border-radius: .4rem; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
footer { border-top: 1px solid var(--line); color: var(--soft); padding: 1rem 0; font-size: .9rem }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --soft: #b0b8c1; --line: #3a414a; --paper: #16191d; --box: #23272d } }
@media print { body { margin: 0; max-width: none; font-size: 11pt; --paper: #fff; --ink: #000; --soft: #333; --line: #bbb; --box: #fff }
  .state { print-color-adjust: exact; -webkit-print-color-adjust: exact } a { text-decoration: none } h2, .next { break-after: avoid } }"""
_HOW = (
    "An item is done only where something shows that it is; what nothing shows is unknown. xlalint read the source without "
    "running it; what only a compiler can say comes from a report of xlalint verify."
)


def page(checklist: Checklist) -> str:
    """The whole page."""
    title = escape(summary(checklist))
    rows = "\n".join(_row(number, item) for number, item in enumerate(checklist.items, start=1))
    first: dict[str, int] = {}
    sections = []
    for number, item in enumerate(checklist.items, start=1):
        # Three items wait for the same run of verify: one command, said once.
        sections.append(_section(number, item, first.setdefault(item.next, number)))
    body = "\n".join(sections)
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
<header>
<h1>{escape(_verdict(checklist))}</h1>
<p>{_about(checklist)}</p>
</header>
<main>
<table>
<caption>{escape(_counts(checklist))}</caption>
<thead><tr><th scope="col">Item</th><th scope="col">What it takes</th><th scope="col">State</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
{body}
</main>
<footer>{escape(_HOW)} xlalint {escape(__version__)}</footer>
</body>
</html>
"""


def _verdict(checklist: Checklist) -> str:
    return f"{'Ready' if checklist.is_ready else 'Not ready'} for {checklist.target}"


def _counts(checklist: Checklist) -> str:
    counts = Counter(item.state for item in checklist.items)
    return ", ".join(f"{counts[state]} {state.value}" for state in State if counts[state])


def _about(checklist: Checklist) -> str:
    paths = ", ".join(f"<code>{escape(path)}</code>" for path in checklist.paths)
    files = f"{checklist.files_checked} file{'s' * (checklist.files_checked != 1)}"
    report = (
        f"verified by <code>{escape(checklist.report)}</code>"
        if checklist.report
        else "not verified yet"
    )
    where = f"{paths} ({files})" if paths else files
    return f"{where}, TensorFlow {escape(checklist.tf_version)}, {report}"


def _row(number: int, item: Item) -> str:
    link = f'<a href="#{escape(item.key)}">{escape(item.title)}</a>'
    return f"<tr><td>{number}</td><td>{link}</td><td>{_state(item.state)}</td></tr>"


def _state(state: State) -> str:
    kind = state.value.replace(" ", "-")
    mark = f'<span aria-hidden="true">{_MARKS[state]} </span>'
    return f'<span class="state {kind}">{mark}{escape(state.value)}</span>'


def _section(number: int, item: Item, told: int) -> str:
    evidence = "\n".join(f"<li>{_evidence(one)}</li>" for one in item.evidence)
    shown = f"\n<ul>\n{evidence}\n</ul>" if evidence else ""
    advice = ""
    if item.next and told != number:
        advice = f'\n<p class="next">Next: as for item {told}</p>'
    elif item.next:
        advice = f'\n<p class="next">Next</p>\n<pre>{escape(item.next)}</pre>'
    return (
        f'<section id="{escape(item.key)}">\n<header><h2>{number}. {escape(item.title)}</h2>{_state(item.state)}</header>'
        f"{shown}{advice}\n</section>"
    )


def _evidence(one: Evidence) -> str:
    where = place(one).removesuffix(": ")
    told = _CODE.sub(r"<code>\1</code>", escape(one.text))
    return f"<code>{escape(where)}</code>: {told}" if where else told
