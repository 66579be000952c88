"""The baseline: accepted findings are left out, wherever their lines move, and new ones are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import RunXlalint, WriteFiles

from xlalint.finding import Finding, Region, Severity, Span
from xlalint.project import baseline
from xlalint.project.settings import load

TWO = """\
import tensorflow as tf


@tf.function(jit_compile=True)
def step(x):
    tf.print(x)
    return tf.unique_with_counts(x)
"""


@pytest.fixture
def accepted(write: WriteFiles, xlalint: RunXlalint) -> Path:
    """A project whose findings are all in its baseline."""
    folder = write({"m.py": TWO})
    ran = xlalint("check", "--write-baseline", "known.json", "m.py")
    assert (ran.status, ran.out) == (0, "Wrote 2 findings to known.json\n")
    return folder


def codes(xlalint: RunXlalint, *options: str) -> tuple[list[str], str]:
    ran = xlalint("check", "--format", "json", "--baseline", "known.json", *options, "m.py")
    assert ran.out.startswith("{"), ran.err
    return [one["code"] for one in json.loads(ran.out)["findings"]], ran.err


def test_what_the_baseline_holds_is_left_out(accepted: Path, xlalint: RunXlalint) -> None:
    assert codes(xlalint) == ([], "xlalint: the baseline hides 2 findings\n")
    assert xlalint("check", "--baseline", "known.json", "m.py").status == 0
    assert xlalint("check", "m.py").status == 1


def test_moved_lines_and_other_spaces_are_the_same_finding(
    accepted: Path, xlalint: RunXlalint
) -> None:
    moved = TWO.replace("import", "# a comment\n\nimport", 1).replace(
        "    tf.print(x)", "    tf.print(x)  "
    )
    (accepted / "m.py").write_text(moved)
    assert codes(xlalint)[0] == []


def test_one_more_of_the_same_is_new(accepted: Path, xlalint: RunXlalint) -> None:
    (accepted / "m.py").write_text(TWO.replace("    tf.print(x)\n", "    tf.print(x)\n" * 2))
    assert codes(xlalint)[0] == ["XLA402"]


def test_the_same_line_in_another_function_is_new(accepted: Path, xlalint: RunXlalint) -> None:
    (accepted / "m.py").write_text(TWO.replace("def step", "def other"))
    found, said = codes(xlalint)
    assert found == ["XLA402", "XLA401"]
    assert (
        "holds XLA401 of a line that has no such finding now (m.py, in step: return tf.unique_with_counts(x))"
        in said
    )


def test_a_mended_line_is_told_as_stale(accepted: Path, xlalint: RunXlalint) -> None:
    (accepted / "m.py").write_text(TWO.replace("    tf.print(x)\n", ""))
    found, said = codes(xlalint)
    assert found == []
    assert "the baseline hides 1 finding\n" in said
    assert (
        "holds XLA402 of a line that has no such finding now (m.py, in step: tf.print(x))" in said
    )


def test_the_settings_may_name_it(accepted: Path, xlalint: RunXlalint) -> None:
    (accepted / "xlalint.toml").write_text('baseline = "known.json"\n')
    assert xlalint("check", "m.py").status == 0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema_version": 2, "entries": []}', '{"schema_version": 1, "entries": [{"code": 1}]}'])  # fmt: skip
def test_what_is_no_baseline_is_refused(text: str, accepted: Path, xlalint: RunXlalint) -> None:
    (accepted / "known.json").write_text(text)
    ran = xlalint("check", "--baseline", "known.json", "m.py")
    assert (ran.status, ran.out) == (2, "")
    assert "known.json is no baseline" in ran.err


def test_a_baseline_that_is_not_there_is_refused(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"m.py": TWO})
    ran = xlalint("check", "--baseline", "none.json", "m.py")
    assert ran.status == 2
    assert "cannot read the baseline none.json: No such file" in ran.err


def finding(line: int) -> Finding:
    span = Span(line, 5, line, 9)
    return Finding("XLA402", "x", Severity.ERROR, "m.py", span, "", "step", Region("compiled"), "")


def test_what_a_compiler_refuted_holds_for_its_version_only(
    accepted: Path, xlalint: RunXlalint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(accepted)
    file = accepted / "known.json"
    new = baseline.refuted([(finding(6), "step compiles")], "2.21.0", load(["m.py"]), file)
    baseline.write(file, new)
    (entry,) = json.loads(file.read_text())["entries"]
    assert entry["refuted"] == {"tensorflow": "2.21", "evidence": "step compiles"}
    assert entry["text"] == "tf.print(x)"
    assert codes(xlalint, "--tf-version", "2.21")[0] == ["XLA401"]
    found, said = codes(xlalint, "--tf-version", "2.18")
    assert sorted(found) == ["XLA401", "XLA402"]
    assert "1 of the baseline's entries are for another TensorFlow version" in said


def test_a_run_adds_to_what_others_wrote(tmp_path: Path) -> None:
    old = baseline.Entry("a.py", "f", "XLA101", "if x:")
    again = baseline.Entry("a.py", "f", "XLA201", "x[m]", 1, "2.21", "compiles")
    newer = baseline.Entry("a.py", "f", "XLA201", "x[m]", 1, "2.21", "compiles and runs")
    baseline.write(tmp_path / "b.json", baseline.merged([old, again], [newer]))
    assert baseline.read(tmp_path / "b.json") == (old, newer)
