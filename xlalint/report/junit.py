"""`junit`: JUnit XML, as test reports of build servers read it."""

from __future__ import annotations

import re
from itertools import groupby
from xml.etree import ElementTree

from xlalint.finding import CheckResult, FileError, Finding
from xlalint.project.settings import Settings
from xlalint.report import Style
from xlalint.report.text import place

# What XML 1.0 cannot hold, however it is escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(result: CheckResult, settings: Settings, style: Style) -> str:
    """A suite per file with a failed case per finding, an error per file not checked, and one passed case if clean."""
    root = ElementTree.Element("testsuites", name="xlalint")
    for path, findings in groupby(result.findings, key=lambda f: f.path):
        listed = list(findings)
        suite = _suite(root, path, len(listed), failures=len(listed))
        for finding in listed:
            _case(suite, finding)
    for error in result.errors:
        _error(_suite(root, error.path, 1, errors=1), error)
    if not len(root):
        suite = _suite(root, "xlalint", 1)
        ElementTree.SubElement(suite, "testcase", name="no problems found", classname="xlalint")
    root.set("tests", str(max(len(result.findings) + len(result.errors), 1)))
    root.set("failures", str(len(result.findings)))
    root.set("errors", str(len(result.errors)))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(
    root: ElementTree.Element, path: str, tests: int, failures: int = 0, errors: int = 0
) -> ElementTree.Element:
    return ElementTree.SubElement(
        root,
        "testsuite",
        name=_clean(path),
        tests=str(tests),
        failures=str(failures),
        errors=str(errors),
    )


def _case(suite: ElementTree.Element, finding: Finding) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        name=_clean(f"{finding.code} {place(finding)}"),
        classname=_clean(finding.path),
        file=_clean(finding.path),
        line=str(finding.span.line),
    )
    failure = ElementTree.SubElement(
        case, "failure", type=finding.severity.value, message=_clean(finding.message)
    )
    why = " -> ".join(finding.region.why)
    failure.text = _clean("\n".join(filter(None, (place(finding), why, finding.help))))


def _error(suite: ElementTree.Element, error: FileError) -> None:
    name = _clean(error.path)
    case = ElementTree.SubElement(suite, "testcase", name=name, classname=name)
    message = _clean(error.message)
    ElementTree.SubElement(case, "error", type="not-checked", message=message).text = message


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
