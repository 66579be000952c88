"""The reports that people read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from xlalint.finding import CheckResult, Finding, Fix, Region, Severity, Span
from xlalint.project.settings import Settings
from xlalint.report import Style, render, statistics
from xlalint.report.frames import frame

FINDING = Finding(
    code="XLA201",
    name="boolean-mask",
    severity=Severity.WARNING,
    path="model.py",
    span=Span(4, 12, 4, 19),
    message="`x[mask]` has a size that depends on data",
    function="Model.call",
    region=Region("compiled", ("fit() under TPUStrategy", "Model.train_step", "Model.call")),
    help="Keep every element:\n    tf.where(mask, x, 0.)",
)
SOURCE = "class Model:\n\n    def call(self, x):\n    \treturn x[mask]\n    # end\n"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    Path("model.py").write_text(SOURCE)
    return Settings(tmp_path, tf_version="2.21")


def test_full_shows_where_why_and_what_next(settings: Settings) -> None:
    finding = replace(FINDING, span=Span(4, 13, 4, 20))
    result = CheckResult((finding,), files_checked=3)
    assert render(result, settings, "full", Style()) == dedent(
        """\
        model.py:4:13: warning XLA201 `x[mask]` has a size that depends on data
          |
        3 |     def call(self, x):
        4 |         return x[mask]
          |                ^^^^^^^
        5 |     # end
          |
          = compiled by: fit() under TPUStrategy -> Model.train_step -> Model.call
          = help: Keep every element:
            tf.where(mask, x, 0.)

        Found 1 warning in 1 of 3 files (target tpu-vm, TensorFlow 2.21)
        """
    )


def test_full_says_what_is_assumed_and_likely_and_how_to_fix(settings: Settings) -> None:
    finding = replace(
        FINDING,
        region=Region("assumed", ("public function",)),
        confidence="likely",
        fix=Fix("unsafe", "Use tf.where", ()),
        help="",
    )
    text = render(CheckResult((finding,), files_checked=1), settings, "full", Style())
    assert text.splitlines()[6:10] == [
        "  |",
        "  = taken as compiled (its callers are not seen): public function",
        "  = confidence: likely",
        "  = fix (unsafe): Use tf.where",
    ]


def test_a_file_that_is_gone_is_reported_without_a_frame(settings: Settings) -> None:
    result = CheckResult((replace(FINDING, path="gone.py", help=""),), files_checked=1)
    assert render(result, settings, "full", Style()).splitlines()[:2] == [
        "gone.py:4:12: warning XLA201 `x[mask]` has a size that depends on data",
        "  = compiled by: fit() under TPUStrategy -> Model.train_step -> Model.call",
    ]


def test_concise_is_a_line_per_finding(settings: Settings) -> None:
    error = replace(FINDING, code="XLA101", severity=Severity.ERROR, cell=3)
    result = CheckResult((FINDING, error), files_checked=1)
    assert render(result, settings, "concise", Style()).splitlines() == [
        "model.py:4:12: warning XLA201 `x[mask]` has a size that depends on data",
        "model.py:cell 3:4:12: error XLA101 `x[mask]` has a size that depends on data",
        "Found 1 error and 1 warning in 1 of 1 file (target tpu-vm, TensorFlow 2.21)",
    ]


def test_nothing_found_says_how_much_was_read(settings: Settings) -> None:
    text = render(CheckResult(files_checked=2), settings, "full", Style())
    assert text == "No problems found in 2 files (target tpu-vm, TensorFlow 2.21)\n"
    assert render(CheckResult(), settings, "full", Style()) == ""


def test_colours_only_when_asked_for(settings: Settings) -> None:
    result = CheckResult((FINDING,), files_checked=1)
    assert "\x1b[" not in render(result, settings, "full", Style(color=False))
    colored = render(result, settings, "full", Style(color=True))
    assert "\x1b[1;33mwarning\x1b[0m" in colored


def test_statistics_count_the_most_frequent_first(settings: Settings) -> None:
    error = replace(FINDING, code="XLA101", name="data-dependent-branch", severity=Severity.ERROR)
    result = CheckResult((FINDING, error, FINDING), files_checked=1)
    assert statistics(result, "full", Style()) == (
        "     2  XLA201  warning  boolean-mask\n"
        "     1  XLA101  error    data-dependent-branch\n"
        "Found 1 error and 2 warnings in 1 of 1 file\n"
    )


# --- code frames ------------------------------------------------------------------------------------------------------


def framed(text: str, span: Span) -> list[str]:
    return [
        line
        for f in frame(text.split("\n"), span)
        for line in ([f"{f.number}|{f.text}"] + ([f" |{f.carets}"] if f.carets else []))
    ]


@pytest.mark.parametrize(
    ("text", "span", "expected"),
    [
        pytest.param("ab cd", Span(1, 4, 1, 6), ["1|ab cd", " |   ^^"], id="plain"),
        pytest.param("ab", Span(1, 3, 1, 3), ["1|ab", " |  ^"], id="end of line"),
        pytest.param("ab", Span(1, 1, 1, 1), ["1|ab", " |^"], id="empty span"),
        pytest.param("\tx = y", Span(1, 6, 1, 7), ["1|    x = y", " |        ^"], id="tab"),
        pytest.param("'日本' + x", Span(1, 8, 1, 9), ["1|'日本' + x", " |         ^"], id="wide"),
        pytest.param(
            "'e\u0301' + x", Span(1, 8, 1, 9), ["1|'e\u0301' + x", " |      ^"], id="combining"
        ),
        pytest.param("a\x1b[31mb", Span(1, 7, 1, 8), ["1|a?[31mb", " |      ^"], id="escape"),
        pytest.param(
            "f(a,\n  b)", Span(1, 1, 2, 5), ["1|f(a,", " |^^^^", "2|  b)", " |  ^^"], id="two lines"
        ),
        pytest.param(
            "if x:\n" + "    y\n" * 6,
            Span(1, 1, 7, 6),
            ["1|if x:", " |^^^^^", "2|    y"],
            id="long span",
        ),
        pytest.param("a\n\nb\n\nc", Span(3, 1, 3, 2), ["3|b", " |^"], id="blank context"),
        pytest.param("a", Span(9, 1, 9, 2), [], id="outside"),
    ],
)
def test_carets_stand_under_the_span(text: str, span: Span, expected: list[str]) -> None:
    assert framed(text, span) == expected


def test_a_long_line_is_cut_around_the_span() -> None:
    text = "x = [" + "1, " * 200 + "bad, " + "1, " * 200 + "]"
    column = text.index("bad") + 1
    [line] = frame([text], Span(1, column, 1, column + 3))
    assert len(line.text) < 160
    assert line.text.startswith("...") and line.text.endswith("...")
    start = line.carets.index("^")
    assert line.text[start : start + 3] == "bad" and line.carets.count("^") == 3
