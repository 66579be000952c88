"""`xlalint check` from end to end: what it reads, prints and exits with."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import RunXlalint, WriteFiles

BAD = """\
import tensorflow as tf


@tf.function(jit_compile=True)
def f(x):
    mask = tf.greater(x, 0.0)
    return x[mask]
"""
GOOD = """\
import tensorflow as tf


@tf.function(jit_compile=True)
def f(x):
    return tf.where(x > 0.0, x, 0.0)
"""
ERROR = """\
import tensorflow as tf


@tf.function(jit_compile=True, autograph=False)
def f(x):
    if tf.reduce_sum(x) > 10.0:
        return x
    return -x
"""
FLAGGED = "warning XLA201 boolean mask `x[mask]`"


# --- exit status --------------------------------------------------------------------------------------------------------


def test_clean_code_is_status_0(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"m.py": GOOD})
    ran = xlalint("check", "m.py")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == "No problems found in 1 file (target tpu-vm, TensorFlow 2.21)\n"


def test_a_finding_is_status_1(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"m.py": BAD})
    ran = xlalint("check", "m.py", "--format", "concise")
    assert (ran.status, ran.err) == (1, "")
    assert ran.out.startswith(f"m.py:7:12: {FLAGGED}")


@pytest.mark.parametrize(
    ("source", "options", "status"),
    [
        (BAD, ("--fail-on", "error"), 0),
        (BAD, ("--fail-on", "info"), 1),
        (ERROR, ("--fail-on", "error"), 1),
        (ERROR, ("--exit-zero",), 0),
        (ERROR, ("--select", "XLA2"), 0),
        (BAD, ("--ignore", "XLA201"), 0),
        (BAD, ("--target", "cpu"), 1),
    ],
)
def test_what_counts_can_be_chosen(
    write: WriteFiles, xlalint: RunXlalint, source: str, options: tuple[str, ...], status: int
) -> None:
    write({"m.py": source})
    assert xlalint("check", "m.py", *options).status == status


@pytest.mark.parametrize(
    ("files", "paths", "message"),
    [
        ({}, ("gone.py",), "gone.py: cannot be checked: no such file or folder"),
        ({"bad.py": "def f(:\n"}, ("bad.py",), "bad.py:1:7: cannot be checked: syntax error: "),
        ({"bad.py": "x = '\0'\n"}, ("bad.py",), "bad.py:1:6: cannot be checked: a null byte"),
        ({"n.ipynb": "{"}, (".",), "n.ipynb: cannot be checked: not a notebook"),
    ],
)
def test_what_cannot_be_checked_is_status_2_and_the_rest_is_checked(
    write: WriteFiles,
    xlalint: RunXlalint,
    files: dict[str, str],
    paths: tuple[str, ...],
    message: str,
) -> None:
    write({"m.py": BAD, **files})
    ran = xlalint("check", "m.py", *paths, "--format", "concise", "--exit-zero")
    assert ran.status == 2
    assert ran.err.startswith(message)
    assert ran.out.startswith(f"m.py:7:12: {FLAGGED}")


def test_a_broken_module_that_another_imports_is_status_2_and_the_rest_is_checked(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    write({"m.py": "from broken import helper\n" + BAD, "broken.py": "def helper(x:\n"})
    ran = xlalint("check", ".", "--format", "concise", "--exit-zero")
    assert ran.status == 2
    assert ran.err.startswith("broken.py:1:11: cannot be checked: syntax error: ")
    assert ran.out.startswith(f"m.py:8:12: {FLAGGED}")


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads it")
def test_syntax_of_a_later_python_is_told_from_a_mistake(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    write({"m.py": BAD, "later.py": "type Shape = tuple[int, ...]\n", "bad.py": "type Shape = (\n"})
    ran = xlalint("check", ".", "--format", "concise", "--exit-zero")
    assert ran.status == 2
    broken, later = ran.err.splitlines()[:2]
    assert broken == "bad.py:1:6: cannot be checked: syntax error: invalid syntax"
    assert later == (
        "later.py:1:6: cannot be checked: syntax error: invalid syntax (in Python 3.11, which runs xlalint; "
        "a later one may take it: run xlalint with that)"
    )
    assert ran.out.startswith(f"m.py:7:12: {FLAGGED}")


def test_a_wrong_encoding_is_named(tmp_path: Path, xlalint: RunXlalint) -> None:
    (tmp_path / "m.py").write_bytes(b"x = 1\ny = '\xe9'\n")
    ran = xlalint("check", "m.py")
    assert ran.status == 2
    assert ran.err.startswith("m.py:2:6: cannot be checked: not valid utf-8: byte 0xe9")


@pytest.mark.parametrize("files", [{}, {"notes.txt": ""}])
def test_a_folder_without_python_files_is_clean_and_says_so(
    write: WriteFiles, xlalint: RunXlalint, files: dict[str, str]
) -> None:
    write(files)
    ran = xlalint("check")
    assert (ran.status, ran.out, ran.err) == (0, "", "xlalint: no Python files\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", "--target", "tpu"), "Invalid value for '--target'"),
        (("check", "--format", "xml"), "Invalid value for '--format'"),
        (("check", "--tf-version", "latest"), "--tf-version must be a TensorFlow version such as"),
        (("check", "--config", "no.toml"), "--config: there is no file no.toml"),
        (("check", "--output-file", "no/such/x"), "cannot write no/such/x: No such file"),
        (("chek",), "No such command 'chek'"),
        (("m.py",), "To check it: xlalint check m.py"),
    ],
)
def test_wrong_usage_is_status_2_without_a_traceback(
    write: WriteFiles, xlalint: RunXlalint, arguments: tuple[str, ...], message: str
) -> None:
    write({"m.py": GOOD})
    ran = xlalint(*arguments)
    assert ran.status == 2
    assert message in ran.err and "Traceback" not in ran.err


# --- what is read -------------------------------------------------------------------------------------------------------


def test_without_paths_the_folder_is_checked(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"a/m.py": BAD, "b.py": GOOD, ".gitignore": "gen.py", "gen.py": BAD})
    ran = xlalint("check", "--format", "concise")
    assert [line.split(":")[0] for line in ran.out.splitlines()[:-1]] == ["a/m.py"]
    assert ran.out.endswith("in 1 of 2 files (target tpu-vm, TensorFlow 2.21)\n")


def test_standard_input(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"xlalint.toml": "per-file-ignores = { 'gen.py' = ['XLA201'] }"})
    ran = xlalint("check", "-", "--stdin-filename", "model.py", stdin=BAD)
    assert ran.status == 1
    assert ran.out.startswith(f"model.py:7:12: {FLAGGED}")
    assert "7 |     return x[mask]" in ran.out
    assert xlalint("check", "-", "--stdin-filename", "gen.py", stdin=BAD).status == 0
    assert xlalint("check", "-", stdin=b"x = '\xff'").err.startswith("<stdin>:1:6: cannot be")


def test_a_notebook_is_reported_by_cell(write: WriteFiles, xlalint: RunXlalint) -> None:
    head, body = BAD.split("\n\n\n")
    cells = [{"cell_type": "code", "source": "%matplotlib inline\n" + head}]
    cells += [{"cell_type": "markdown", "source": "# x"}, {"cell_type": "code", "source": body}]
    write({"n.ipynb": json.dumps({"nbformat": 4, "metadata": {}, "cells": cells})})
    ran = xlalint("check", "n.ipynb")
    assert ran.out.startswith(f"n.ipynb:cell 3:4:12: {FLAGGED}")
    assert "4 |     return x[mask]\n" in ran.out
    [finding] = json.loads(xlalint("check", "n.ipynb", "--format", "json").out)["findings"]
    assert (finding["cell"], finding["line"]) == (3, 4)


def test_a_message_that_names_another_line_counts_it_in_the_cell(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    body = (
        "@tf.function(jit_compile=True)\ndef f(x):\n    out = x\n"
        "    for i in tf.range(4):\n        out = tf.concat([out, x], 0)\n    return out\n"
    )
    cells = [
        {"cell_type": "code", "source": source} for source in ("import tensorflow as tf\n", body)
    ]
    write({"n.ipynb": json.dumps({"nbformat": 4, "metadata": {}, "cells": cells})})
    ran = xlalint("check", "--format", "concise", "--select", "XLA205", "n.ipynb")
    assert ran.out.startswith("n.ipynb:cell 2:4:14: ")
    assert "(`out = tf.concat([out, x], 0)`, line 5)" in ran.out


def test_a_cell_that_is_no_python_costs_no_other(write: WriteFiles, xlalint: RunXlalint) -> None:
    cells = [
        {"cell_type": "code", "source": ["import keras\n", "%%time"]},
        {"cell_type": "code", "source": ["%%time\n", "print 'old'"]},
        {"cell_type": "code", "source": BAD + "%time f(tf.range(3))"},
    ]
    write({"n.ipynb": json.dumps({"nbformat": 4, "metadata": {}, "cells": cells})})
    ran = xlalint("check", "n.ipynb")
    assert ran.status == 2
    assert f"n.ipynb:cell 3:7:12: {FLAGGED}" in ran.out
    assert ran.err.startswith(
        "n.ipynb: cannot be checked: cell 2, line 2: Missing parentheses in call to 'print'"
    )


def test_frames_show_a_cell_as_it_is_written(write: WriteFiles, xlalint: RunXlalint) -> None:
    source = BAD.replace("    return x[mask]", "    return x[mask]\n%time f(tf.range(3.0))")
    cells = [{"cell_type": "code", "source": source}]
    write({"n.ipynb": json.dumps({"nbformat": 4, "metadata": {}, "cells": cells})})
    assert "8 | %time f(tf.range(3.0))\n" in xlalint("check", "n.ipynb").out


def test_comments_and_settings_decide_together(write: WriteFiles, xlalint: RunXlalint) -> None:
    write(
        {
            "pyproject.toml": "[tool.xlalint]\nper-file-ignores = { 'old/*' = ['XLA2'] }\n",
            "old/m.py": BAD,
            "a.py": BAD.replace("x[mask]", "x[mask]  # xlalint: ignore[XLA201] few rows"),
            "b.py": GOOD + "# xlalint: ignore-file[XLA201]\n",
            "c.py": BAD.replace("def f(x):", "def f(x):  # xlalint: host"),
        }
    )
    ran = xlalint("check", "--format", "concise")
    assert [line.split(" ")[:3] for line in ran.out.splitlines()[:-1]] == [
        ["b.py:7:1:", "warning", "XLA902"]
    ]


# --- how it is written --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_", ["json", "sarif", "gitlab"])
def test_machine_formats_are_json_whatever_happens(
    write: WriteFiles, xlalint: RunXlalint, format_: str
) -> None:
    write({"m.py": BAD, "bad.py": "def"})
    for path in ("m.py", "bad.py", "gone.py"):
        json.loads(xlalint("check", path, "--format", format_).out)


def test_the_report_can_go_to_a_file(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"m.py": BAD})
    ran = xlalint("check", "m.py", "--format", "json", "--output-file", "report.json")
    assert (ran.status, ran.out) == (1, "")
    report = json.loads((folder / "report.json").read_text())
    assert [f["code"] for f in report["findings"]] == ["XLA201"]


def test_statistics(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"m.py": BAD, "n.py": BAD})
    ran = xlalint("check", "--statistics")
    assert ran.status == 1
    assert ran.out.splitlines() == [
        "     2  XLA201  warning  boolean-mask",
        "Found 2 warnings in 2 of 2 files",
    ]


@pytest.mark.parametrize(
    ("options", "environment", "colored"),
    [
        ((), {}, False),
        (("--color", "always"), {}, True),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
    ],
)
def test_colours_when_asked_for(
    write: WriteFiles,
    xlalint: RunXlalint,
    options: tuple[str, ...],
    environment: dict[str, str],
    colored: bool,
) -> None:
    write({"m.py": BAD})
    assert ("\x1b[" in xlalint("check", "m.py", *options, **environment).out) is colored


@pytest.mark.parametrize(("no_color", "colored"), [("", True), ("1", False)])
def test_colours_on_a_terminal(write: WriteFiles, no_color: str, colored: bool) -> None:
    folder = write({"m.py": BAD})
    terminal, inside = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "xlalint", "check", "m.py", "--no-cache"],
        stdout=inside,
        stdin=subprocess.DEVNULL,
        cwd=folder,
        env={**os.environ, "NO_COLOR": no_color, "TERM": "xterm", "PYTHONPATH": _checkout()},
        check=False,
    )
    os.close(inside)
    shown = os.read(terminal, 100_000).decode()
    assert "XLA201" in shown
    assert ("\x1b[" in shown) is colored


def _checkout() -> str:
    import xlalint

    return str(Path(xlalint.__file__).parent.parent)


def test_a_reader_that_goes_away_is_no_error(write: WriteFiles) -> None:
    folder = write({f"m{n}.py": BAD for n in range(120)})
    command = f"'{sys.executable}' -m xlalint check . --no-cache | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": _checkout()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr
    assert done.stdout.splitlines()[0].startswith("m0.py:7:12")


def test_the_same_code_gives_the_same_report(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({f"{name}/m.py": BAD + ERROR for name in "cab"})
    first = xlalint("check", "--format", "json", "--no-cache", PYTHONHASHSEED="1").out
    second = xlalint("check", "--format", "json", "--no-cache", PYTHONHASHSEED="2").out
    assert first == second
    places = [(f["path"], f["line"]) for f in json.loads(first)["findings"]]
    assert places == sorted(places)


# --- the cache ----------------------------------------------------------------------------------------------------------


def was_analysed(folder: Path, *options: str) -> bool:
    """Whether a run imported the analysis: an answer from the cache does without it."""
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "xlalint", "check", *options],
        cwd=folder,
        env={**os.environ, "XLALINT_CACHE_DIR": str(folder / ".cache"), "PYTHONPATH": _checkout()},
        capture_output=True,
        text=True,
        check=False,
    )
    return "xlalint.engine" in ran.stderr


def test_an_unchanged_project_is_not_analysed_again(write: WriteFiles) -> None:
    folder = write({"pkg/__init__.py": "", "pkg/m.py": BAD, "pkg/helper.py": "X = 1\n"})
    assert was_analysed(folder)
    assert not was_analysed(folder)
    assert not was_analysed(folder, "--format", "concise", "--fail-on", "error")
    # What JSON holds besides, the fixes, is found only when somebody asks for it.
    assert was_analysed(folder, "--format", "json")
    assert not was_analysed(folder, "--format", "json")
    assert was_analysed(folder, "--no-cache")
    assert was_analysed(folder, "--target", "gpu")
    write({"pkg/helper.py": "X = 2\n"})
    assert was_analysed(folder)
    assert not was_analysed(folder)
    write({"pkg/new.py": ""})
    assert was_analysed(folder)


def test_a_file_that_was_read_for_another_counts(write: WriteFiles) -> None:
    source = BAD.replace(
        "import tensorflow as tf", "import tensorflow as tf\nfrom pkg import helper"
    )
    source = source.replace("return x[mask]", "return helper.g(x)")
    folder = write({"pkg/__init__.py": "", "pkg/m.py": source, "pkg/helper.py": "def g(x): pass\n"})
    assert was_analysed(folder, "pkg/m.py")
    assert not was_analysed(folder, "pkg/m.py")
    write({"pkg/helper.py": "def g(x): return x\n"})
    assert was_analysed(folder, "pkg/m.py")


def test_the_cached_report_is_the_report(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"m.py": BAD + ERROR, "bad.py": "def"})
    cold = xlalint("check")
    warm = xlalint("check")
    assert cold == warm
    assert cold == xlalint("check", "--no-cache")
