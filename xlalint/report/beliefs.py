"""What the analysis believes, written beside the source: `xlalint debug facts`."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from typing import Any

from xlalint.engine import Inspection
from xlalint.finding import Finding
from xlalint.report.frames import Sources
from xlalint.semantics.beliefs import DEPENDENCE, Belief, told
from xlalint.semantics.facts import Context
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.values import EXTERNAL, PROJECT_MODULE, PYTHON, UNKNOWN

# Names of modules and APIs, and plain Python numbers, say little beside their own source.
_PLAIN = (EXTERNAL, PROJECT_MODULE)
_MOST_VALUES = 4
_LONGEST = 60


def text(path: str, inspection: Inspection, sources: Sources, line: int | None) -> str:
    """The source, line by line, with what is believed of the expressions that start there."""
    lines = sources.lines(path)
    by_line = _by_line(inspection)
    notes = _function_notes(inspection)
    findings: dict[int, list[Finding]] = {}
    for finding in inspection.findings:
        findings.setdefault(finding.span.line, []).append(finding)
    out: list[str] = []
    width = len(str(len(lines)))
    for number, source in enumerate(lines, start=1):
        if line is not None and number != line:
            continue
        out.append(f"{number:>{width}} | {source}".rstrip())
        pad = " " * width
        out += [f"{pad} # {note}" for note in notes.get(number, ())]
        out += [f"{pad} = {row}" for row in _rows(by_line.get(number, []))]
        out += [f"{pad} ! {_said(finding)}" for finding in findings.get(number, ())]
    return "".join(f"{row}\n" for row in out)


def _said(finding: Finding) -> str:
    return f"{finding.severity.value} {finding.code} ({finding.confidence}) {finding.message}"


def _by_line(inspection: Inspection) -> dict[int, list[tuple[ast.expr, Sequence[Belief]]]]:
    found: dict[int, list[tuple[ast.expr, Sequence[Belief]]]] = {}
    for node, beliefs in inspection.beliefs.of(inspection.module).items():
        if isinstance(node, ast.expr) and hasattr(node, "lineno"):
            found.setdefault(node.lineno, []).append((node, beliefs))
    for nodes in found.values():
        nodes.sort(key=lambda pair: (pair[0].col_offset, -(pair[0].end_col_offset or 0)))
    return found


def _rows(nodes: list[tuple[ast.expr, Sequence[Belief]]]) -> Iterator[str]:
    seen: set[str] = set()
    for node, beliefs in nodes:
        values = _told_values(beliefs)
        if isinstance(node, ast.Constant) or not values:
            continue
        row = f"{_quoted(node)}: {'; or '.join(values)}"
        if row not in seen:
            seen.add(row)
            yield row


def _told_values(beliefs: Sequence[Belief]) -> list[str]:
    """What the values are, compiled code first; what only names something is left out."""
    traced = [b for b in beliefs if b.context.is_compiled] or beliefs
    values = dict.fromkeys(told(b.value) for b in traced if b.value.kind not in _PLAIN)
    shown = list(values)[:_MOST_VALUES]
    return [*shown, f"{len(values) - len(shown)} more"] if len(values) > len(shown) else shown


def _quoted(node: ast.expr) -> str:
    written = " ".join(ast.unparse(node).split())
    return written if len(written) <= _LONGEST else written[: _LONGEST - 3] + "..."


def _function_notes(inspection: Inspection) -> dict[int, list[str]]:
    """For the line of each `def`: where it runs, and why."""
    contexts: dict[FunctionInfo, dict[Context, None]] = {}
    for beliefs in inspection.beliefs.of(inspection.module).values():
        for belief in beliefs:
            if belief.function is not None and belief.function.module is inspection.module:
                contexts.setdefault(belief.function, {}).setdefault(belief.context)
    notes: dict[int, list[str]] = {}
    for info in inspection.module.functions:
        known = contexts.get(info, {})
        rows = dict.fromkeys(_told_context(context) for context in known)
        if inspection.analysis.host_functions.holds(info):
            rows = {"host: nothing here is compiled": None}
        notes[info.node.lineno] = list(rows) or ["not reached"]
    return notes


def _told_context(context: Context) -> str:
    how = "AutoGraph converts" if context.converted else "AutoGraph does not convert"
    jit = ", jit_compile=True" if context.jit else ""
    why = f", {' -> '.join(context.why)}" if context.why else ""
    return (
        f"{context.region} ({how}{jit}){why}" if context.is_compiled else f"{context.region}{why}"
    )


def json_text(path: str, inspection: Inspection, sources: Sources, line: int | None) -> str:
    """The same for programs. Lines and columns are 1-based."""
    expressions = [
        _as_json(node, beliefs)
        for number, nodes in sorted(_by_line(inspection).items())
        for node, beliefs in nodes
        if line is None or number == line
    ]
    notes = _function_notes(inspection)
    functions = [
        {"function": info.qualname, "line": info.node.lineno, "runs": notes[info.node.lineno]}
        for info in inspection.module.functions
    ]
    findings = [
        {"line": f.span.line, "code": f.code, "confidence": f.confidence, "message": f.message}
        for f in inspection.findings
        if line is None or f.span.line == line
    ]
    document = {
        "schema_version": 1,
        "path": path,
        "functions": functions,
        "expressions": expressions,
        "findings": findings,
    }
    return json.dumps(document, indent=1) + "\n"


def _as_json(node: ast.expr, beliefs: Sequence[Belief]) -> dict[str, Any]:
    values = {
        json.dumps(_value(belief), sort_keys=True): None
        for belief in beliefs
        if belief.value.kind is not UNKNOWN
    }
    return {
        "line": node.lineno,
        "column": node.col_offset + 1,
        "end_line": node.end_lineno,
        "end_column": (node.end_col_offset or 0) + 1,
        "source": _quoted(node),
        "values": [json.loads(value) for value in values],
    }


def _value(belief: Belief) -> dict[str, Any]:
    value = belief.value
    return {
        "region": belief.context.region,
        "kind": value.kind,
        "dtype": value.dtype,
        "shape": None if value.shape is None else list(value.shape),
        "dependence": DEPENDENCE[value.dependence] if value.is_tensor else None,
        "data_sized_by": value.producer,
        "sure": value.sure,
        "value": list(value.choices()) if value.kind is PYTHON else None,
    }
