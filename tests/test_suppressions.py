"""Comments that hide findings, mark host functions, and what is said of those that do nothing."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from xlalint.finding import Finding, Region, Severity, Span
from xlalint.project.settings import Settings
from xlalint.project.suppressions import apply, parse

ROOT = Path("/project")


def finding(line: int, code: str = "XLA201", confidence: str = "certain") -> Finding:
    span = Span(line, 5, line, 10)
    return Finding(
        code, "n", Severity.WARNING, "m.py", span, "", "f", Region("compiled"), "", confidence
    )


def left(source: str, *findings: Finding, **settings: object) -> list[str]:
    """What is reported: `line:code` of each finding that is left, and of the remarks about comments."""
    shown = apply(parse(dedent(source)), findings, "m.py", Settings(ROOT, **settings))  # type: ignore[arg-type]
    return [f"{f.span.line}:{f.code}" for f in shown]


@pytest.mark.parametrize(
    "comment",
    [
        "# xlalint: ignore[XLA201]",
        "# xlalint: ignore[XLA201] eight rows at most",
        "# xlalint:ignore[XLA101, XLA201]",
        "# xlalint: ignore [xla2]",
        "# xlalint: ignore",
        "# noqa: XLA201",
        "# noqa:E501,XLA201",
        "# NOQA: XLA2 reason",
        "# type: ignore  # noqa: XLA201",
        "# pylint: disable=all  # xlalint: ignore[XLA201]",
    ],
)
def test_a_comment_hides_findings_on_its_line(comment: str) -> None:
    source = f"x = 1\ny = x[m]  {comment}\n"
    assert left(source, finding(2)) == []
    assert "1:XLA201" in left(source, finding(1))


@pytest.mark.parametrize(
    "comment",
    [
        "# xlalint: ignore[XLA101]",
        "# noqa",
        "# noqa: E501",
        "# type: ignore",
        "'# xlalint: ignore'",
        "# about xlalint ignore[XLA201]",
    ],
)
def test_other_comments_hide_nothing(comment: str) -> None:
    assert "2:XLA201" in left(f"x = 1\nf(x[m]); {comment}\n", finding(2))


def test_a_comment_speaks_for_all_lines_of_its_statement() -> None:
    source = """\
        y = f(
            x[mask],
            z,  # xlalint: ignore[XLA201]
        )
        w = x[mask]
    """
    assert left(source, finding(2), finding(5)) == ["5:XLA201"]


def test_on_a_compound_statement_it_speaks_for_the_header() -> None:
    source = """\
        if x > 0:  # xlalint: ignore[XLA101]
            y = x[mask]
    """
    assert left(source, finding(1, "XLA101"), finding(2)) == ["2:XLA201"]


def test_on_a_line_of_its_own_it_speaks_for_the_next_statement() -> None:
    source = """\
        # xlalint: ignore[XLA201] the reason may be long

        # and go on
        y = f(
            x[mask])
        z = x[mask]
    """
    assert left(source, finding(5), finding(6)) == ["6:XLA201"]


@pytest.mark.parametrize(
    "comment", ["# xlalint: ignore-file", "# xlalint: ignore-file[XLA2] generated"]
)
def test_a_whole_file(comment: str) -> None:
    assert left(f"import x\n\n{comment}\ny = x[m]\n", finding(1), finding(4)) == []


def test_text_inside_strings_is_no_comment() -> None:
    source = '''\
        """
        # xlalint: ignore-file
        """
        y = x[m]
    '''
    assert left(source, finding(4)) == ["4:XLA201"]


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):  # xlalint: host\n    pass\n",
        "# xlalint: host\ndef f(x):\n    pass\n",
        "@cache  # xlalint: host\n@other\ndef f(x):\n    pass\n",
        "# xlalint: host\n@cache\n# why\ndef f(\n    x,\n):\n    pass\n",
        "class A:\n    def f(\n        self,\n        x,\n    ):  # xlalint: host it loads files\n        pass\n",
        "async def f(x):  # xlalint: host\n    pass\n",
    ],
)
def test_host_marks_the_line_of_the_def(source: str) -> None:
    line = next(n for n, text in enumerate(source.splitlines(), 1) if "def f" in text)
    assert parse(source).host_lines == {line}


def test_an_unused_comment_is_reported_with_a_fix_that_removes_it() -> None:
    source = "y = x  # xlalint: ignore[XLA201] old\n"
    [remark] = apply(parse(source), [], "m.py", Settings(ROOT))
    assert (remark.code, remark.span) == ("XLA902", Span(1, 8, 1, 33))
    assert remark.message == "this comment hides nothing: XLA201 reports nothing here"
    assert remark.fix is not None and remark.fix.applicability == "safe"
    assert remark.fix.edits[0].span == Span(1, 6, 1, 37)


def test_a_comment_with_something_else_in_it_is_not_removed() -> None:
    source = "y = x  # xlalint: ignore[XLA201]  # type: ignore\nz = x  # noqa: XLA201\n"
    remarks = apply(parse(source), [], "m.py", Settings(ROOT))
    assert [(r.code, r.fix) for r in remarks] == [("XLA902", None), ("XLA902", None)]


@pytest.mark.parametrize(
    ("source", "settings", "expected"),
    [
        ("x  # xlalint: ignore[XLA201]", {"select": ("XLA1", "XLA902")}, []),
        ("x  # xlalint: ignore", {"ignore": ("XLA4",)}, []),
        ("x  # xlalint: ignore", {}, ["1:XLA902"]),
        ("x  # xlalint: ignore[XLA501]", {"target": "cpu"}, []),
        ("x  # xlalint: ignore[XLA501]", {}, ["1:XLA902"]),
        ("x  # xlalint: ignore[XLA201]", {"ignore": ("XLA902",)}, []),
        ("x  # noqa: E501", {}, []),
    ],
)
def test_unused_is_said_only_of_rules_that_were_run(
    source: str, settings: dict[str, object], expected: list[str]
) -> None:
    assert left(source + "\n", **settings) == expected


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        (
            "# xlalint: ignore[XLA999]",
            "this comment names XLA999, which is no rule: it hides nothing",
        ),
        ("# noqa: XLA999", "this comment names XLA999, which is no rule: it hides nothing"),
        (
            "# xlalint: ignor[XLA201]",
            "`# xlalint: ignor` is no directive: this comment does nothing",
        ),
        ("# xlalint: disable", "`# xlalint: disable` is no directive: this comment does nothing"),
    ],
)
def test_comments_that_mean_nothing_are_reported(comment: str, message: str) -> None:
    [remark] = apply(parse(f"x = 1  {comment}\n"), [], "m.py", Settings(ROOT))
    assert (remark.code, remark.message) == ("XLA903", message)


def test_possible_findings_are_shown_by_pedantic_only_and_keep_their_comment_in_use() -> None:
    possible = finding(1, confidence="possible")
    assert left("x\n", possible) == []
    assert left("x\n", possible, pedantic=True) == ["1:XLA201"]
    assert left("x  # xlalint: ignore[XLA201]\n", possible) == []


def test_text_that_does_not_tokenize_is_read_as_far_as_it_does() -> None:
    assert left("x[m]  # xlalint: ignore[XLA201]\ny = '''\n", finding(1)) == []


def test_line_ends_of_other_systems() -> None:
    assert left("x = 1\r\ny = x[m]  # xlalint: ignore[XLA201]\r\n", finding(2)) == []
