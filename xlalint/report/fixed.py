"""What was rewritten, for people and for programs: a unified diff, and the list of fixes applied and withheld."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xlalint.finding import Finding, Fix
from xlalint.fixes.fixpoint import Applied, Outcome, Rewritten, Withheld
from xlalint.fixes.proof import NOT_RUNNABLE, PROVEN, REFUTED, Proof
from xlalint.project.notebooks import cell_sources
from xlalint.report import json as findings_json
from xlalint.report.text import place

# What running a fix showed, by the finding that it mends.
Proofs = Mapping[tuple[Finding, Fix], Proof]
_STATUSES = (PROVEN, REFUTED, NOT_RUNNABLE)
_LINES = re.compile(r".*?(?:\r\n|\r|\n)|.+\Z", re.DOTALL)


def diff(files: Sequence[Rewritten]) -> str:
    """A unified diff of the files; of a notebook, of each cell that changes."""
    return "".join(line for item in files for line in _of_file(item))


def _of_file(item: Rewritten) -> Iterator[str]:
    if not item.file.is_notebook:
        yield from _unified(item.before, item.after, item.file.display)
        return
    before, after = cell_sources(item.before), cell_sources(item.after)
    for number, source in before.items():
        yield from _unified(source, after[number], f"{item.file.display}:cell {number}")


def _unified(before: str, after: str, name: str) -> Iterator[str]:
    old, new = _LINES.findall(before), _LINES.findall(after)
    for line in difflib.unified_diff(old, new, name, name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def summary(
    outcome: Outcome, proofs: Proofs, *, wrote: bool, offered: Sequence[Finding]
) -> list[str]:
    """What to tell of a run: how much was rewritten, what was withheld and why, and what else is on offer."""
    done = "Rewrote" if wrote else "Would rewrite"
    count = len(outcome.applied)
    lines = []
    if count:
        kinds = Counter(item.fix.applicability for item in outcome.applied)
        parts = " and ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
        where = f"{len(outcome.files)} file{'s' * (len(outcome.files) != 1)}"
        lines.append(f"{done} {count} finding{'s' * (count != 1)} in {where} ({parts})")
    for item in outcome.applied:
        proof = proofs.get((item.finding, item.fix))
        if proof is not None:
            lines.append(
                f"{place(item.finding)}: {item.finding.code} {proof.status}: {proof.evidence}"
            )
    for withheld in outcome.withheld:
        finding = withheld.finding
        lines.append(f"{place(finding)}: {finding.code} is not rewritten: {withheld.why}")
    if proofs:
        counts = Counter(proof.status for proof in proofs.values())
        told = ", ".join(f"{counts[status]} {status}" for status in _STATUSES)
        lines.append(f"proofs: {told} (--prove applies only what is proven)")
    if outcome.is_cut_off:
        lines.append("stopped after many passes: run again to go on")
    unsafe = sum(f.fix is not None and f.fix.applicability == "unsafe" for f in offered)
    if unsafe:
        lines.append(
            f"{unsafe} more finding{'s' * (unsafe != 1)} can be rewritten in a way that may change what the code does: "
            "see --unsafe-fixes --diff"
        )
    return lines


def data(outcome: Outcome, proofs: Proofs) -> dict[str, Any]:
    """What the JSON report of a run with fixes holds beside the findings that remain."""
    return {
        "fixed": [{**_data(item, proofs), "pass": item.number} for item in outcome.applied],
        "withheld": [{**_data(item, proofs), "why": item.why} for item in outcome.withheld],
    }


def _data(item: Applied | Withheld, proofs: Proofs) -> dict[str, Any]:
    proof = proofs.get((item.finding, item.fix))
    proven = {} if proof is None else {"proof": proof.as_dict()}
    return {**findings_json.finding_data(item.finding), **proven}
