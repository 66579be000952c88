"""The reports that programs read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from xlalint.finding import CheckResult, Edit, FileError, Finding, Fix, Region, Severity, Span
from xlalint.project.settings import Settings
from xlalint.report import Style, render, statistics

FINDING = Finding(
    code="XLA201",
    name="boolean-mask",
    severity=Severity.WARNING,
    path="src/model.py",
    span=Span(4, 12, 4, 19),
    message="`x[mask]`: 100% of it, and more",
    function="Model.call",
    region=Region("compiled", ("fit()", "Model.call")),
    help="Keep every element.",
    fix=Fix("unsafe", "Use tf.where", (Edit(Span(4, 12, 4, 19), "tf.where(mask, x, 0.)"),)),
)
BROKEN = FileError("src/bad.py", 3, 5, "invalid syntax")
RESULT = CheckResult((FINDING,), (BROKEN,), files_checked=2)
SETTINGS = Settings(Path("/project"), tf_version="2.21")


def rendered(format_: str, result: CheckResult = RESULT) -> str:
    return render(result, SETTINGS, format_, Style())


def test_json_is_the_contract() -> None:
    assert json.loads(rendered("json")) == {
        "schema_version": 1,
        "findings": [
            {
                "code": "XLA201",
                "name": "boolean-mask",
                "severity": "warning",
                "path": "src/model.py",
                "line": 4,
                "column": 12,
                "end_line": 4,
                "end_column": 19,
                "message": "`x[mask]`: 100% of it, and more",
                "function": "Model.call",
                "region": {"kind": "compiled", "why": ["fit()", "Model.call"]},
                "fix": {
                    "applicability": "unsafe",
                    "message": "Use tf.where",
                    "edits": [
                        {
                            "line": 4,
                            "column": 12,
                            "end_line": 4,
                            "end_column": 19,
                            "text": "tf.where(mask, x, 0.)",
                        }
                    ],
                },
                "confidence": "certain",
                "help": "Keep every element.",
            }
        ],
        "files_checked": 2,
        "errors": [{"path": "src/bad.py", "line": 3, "column": 5, "message": "invalid syntax"}],
        "summary": {
            "target": "tpu-vm",
            "tf_version": "2.21",
            "severities": {"error": 0, "warning": 1, "info": 0},
            "codes": {"XLA201": 1},
        },
    }


def test_json_names_the_cell_of_a_notebook() -> None:
    result = CheckResult((replace(FINDING, cell=2, fix=None),))
    [finding] = json.loads(rendered("json", result))["findings"]
    assert (finding["cell"], finding["fix"]) == (2, None)


def test_json_of_nothing_has_the_same_keys() -> None:
    empty = json.loads(rendered("json", CheckResult()))
    assert set(empty) == {"schema_version", "findings", "files_checked", "errors", "summary"}
    assert empty["findings"] == []


def test_json_statistics() -> None:
    assert json.loads(statistics(RESULT, "json", Style())) == [
        {"code": "XLA201", "name": "boolean-mask", "severity": "warning", "count": 1}
    ]


def test_sarif_points_at_the_place_and_carries_the_fix() -> None:
    log: dict[str, Any] = json.loads(rendered("sarif"))
    [run] = log["runs"]
    [result] = run["results"]
    assert log["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["XLA201"]
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("XLA201", 0, "warning")
    physical = result["locations"][0]["physicalLocation"]
    region = {"startLine": 4, "startColumn": 12, "endLine": 4, "endColumn": 19}
    assert physical == {"artifactLocation": {"uri": "src/model.py"}, "region": region}
    [change] = result["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [
        {"deletedRegion": region, "insertedContent": {"text": "tf.where(mask, x, 0.)"}}
    ]


def test_sarif_reports_files_that_were_not_checked() -> None:
    [run] = json.loads(rendered("sarif"))["runs"]
    [invocation] = run["invocations"]
    assert invocation["executionSuccessful"] is False
    [notification] = invocation["toolExecutionNotifications"]
    assert notification["message"]["text"] == "invalid syntax"


@pytest.mark.parametrize(
    ("path", "uri"),
    [("a b/m.py", "a%20b/m.py"), ("/elsewhere/m.py", "file:///elsewhere/m.py")],
)
def test_sarif_paths_are_uris(path: str, uri: str) -> None:
    result = CheckResult((replace(FINDING, path=path),))
    [run] = json.loads(rendered("sarif", result))["runs"]
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == uri


# As Jupyter writes it, a line of the program on each line of the file; and as programs write it, all on one.
CELL = ["x = 1\n", "y = x[mask]\n", "z = 2"]
SPREAD = json.dumps({"cells": [{"cell_type": "code", "source": CELL}], "nbformat": 4}, indent=1)
PACKED = json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": "".join(CELL)}]})


@pytest.mark.parametrize(("text", "line"), [(SPREAD, 7), (PACKED, 1), (PACKED[:-9], None)])
def test_services_are_told_the_line_of_a_notebooks_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: int | None
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("n.ipynb").write_text(text, encoding="utf-8")
    found = replace(FINDING, path="n.ipynb", cell=1, span=Span(2, 5, 2, 12), function="<module>")
    result = CheckResult((found,))
    [log] = json.loads(rendered("sarif", result))["runs"]
    [shown] = log["results"]
    region = {} if line is None else {"region": {"startLine": line, "endLine": line}}
    assert shown["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "n.ipynb"}, **region}}
    ]
    assert (shown["properties"]["cell"], shown["properties"]["cellLine"]) == (1, 2)
    assert shown["message"]["text"].startswith("cell 1, line 2: ")
    assert "fixes" not in shown
    place = "" if line is None else f",line={line},endLine={line}"
    assert f"file=n.ipynb{place}::cell 1, line 2: " in rendered("github", result)
    [issue] = json.loads(rendered("gitlab", result))
    assert issue["location"]["lines"] == {"begin": line or 1, "end": line or 1}
    assert "(cell 1, line 2)" in issue["description"]


def test_github_commands_are_escaped() -> None:
    assert rendered("github").splitlines() == [
        "::warning title=xlalint (XLA201),file=src/model.py,line=4,col=12,endLine=4,endColumn=19"
        "::`x[mask]`: 100%25 of it, and more%0AKeep every element.",
        "::error title=xlalint (not checked),file=src/bad.py,line=3,col=5::invalid syntax",
    ]


def test_github_gives_no_columns_over_several_lines() -> None:
    result = CheckResult((replace(FINDING, span=Span(4, 12, 6, 2), help=""),))
    assert rendered("github", result).startswith(
        "::warning title=xlalint (XLA201),file=src/model.py,line=4,endLine=6::"
    )


def test_gitlab_fingerprints_survive_moving_and_tell_twins_apart() -> None:
    moved = replace(FINDING, span=Span(40, 12, 40, 19))
    first, second, error = json.loads(rendered("gitlab", CheckResult((FINDING, moved), (BROKEN,))))
    [alone] = json.loads(rendered("gitlab", CheckResult((moved,))))
    assert first["fingerprint"] == alone["fingerprint"] != second["fingerprint"]
    assert first["location"] == {"path": "src/model.py", "lines": {"begin": 4, "end": 4}}
    assert (first["severity"], error["severity"]) == ("major", "blocker")


def test_junit_has_a_failure_per_finding_and_an_error_per_broken_file() -> None:
    root = ElementTree.fromstring(rendered("junit"))
    assert {k: root.get(k) for k in ("tests", "failures", "errors")} == {
        "tests": "2",
        "failures": "1",
        "errors": "1",
    }
    failure = root.find("testsuite[@name='src/model.py']/testcase/failure")
    assert failure is not None
    assert (failure.get("type"), failure.get("message")) == ("warning", FINDING.message)
    error = root.find("testsuite[@name='src/bad.py']/testcase/error")
    assert error is not None and error.get("message") == "invalid syntax"


def test_junit_of_nothing_is_one_passed_case() -> None:
    root = ElementTree.fromstring(rendered("junit", CheckResult(files_checked=1)))
    assert (root.get("tests"), root.get("failures")) == ("1", "0")


def test_junit_survives_what_xml_cannot_hold() -> None:
    result = CheckResult((replace(FINDING, message="a\x00b<&>"),))
    failure = ElementTree.fromstring(rendered("junit", result)).find(".//failure")
    assert failure is not None and failure.get("message") == "a?b<&>"
