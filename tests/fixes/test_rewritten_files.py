"""What happens to files under `check --fix`: written whole or not at all, and nothing of them lost."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from cli_support import RunXlalint, WriteFiles

BAD = """\
import tensorflow as tf


@tf.function(jit_compile=True)
def widen(x: tf.Tensor):
    y = tf.reshape(x, [4, 2])  # rows
    if tf.rank(y) == 1:  # a vector
        y = tf.reshape(y, [1, -1])
    return y * 2.0
"""
GOOD = BAD.replace("tf.rank(y)", "y.shape.rank")


def test_a_fix_is_written_and_said(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"m.py": BAD})
    ran = xlalint("check", "--fix", "m.py")
    assert (ran.status, (folder / "m.py").read_text()) == (0, GOOD)
    assert ran.out == "No problems found in 1 file (target tpu-vm, TensorFlow 2.21)\n"
    assert "Rewrote 1 finding in 1 file (1 safe)" in ran.err


def test_a_diff_writes_nothing(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"m.py": BAD})
    ran = xlalint("check", "--diff", "m.py")
    assert (ran.status, (folder / "m.py").read_text()) == (1, BAD)
    assert ran.out.splitlines() == [
        "--- m.py",
        "+++ m.py",
        "@@ -4,6 +4,6 @@",
        " @tf.function(jit_compile=True)",
        " def widen(x: tf.Tensor):",
        "     y = tf.reshape(x, [4, 2])  # rows",
        "-    if tf.rank(y) == 1:  # a vector",
        "+    if y.shape.rank == 1:  # a vector",
        "         y = tf.reshape(y, [1, -1])",
        "     return y * 2.0",
    ]
    assert "Would rewrite 1 finding in 1 file (1 safe)" in ran.err
    assert xlalint("check", "--diff", "--exit-zero", "m.py").status == 0


def test_a_clean_file_has_no_diff(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"m.py": GOOD})
    ran = xlalint("check", "--diff", "m.py")
    assert (ran.status, ran.out) == (0, "")


def test_a_finding_is_shown_with_its_rewrite(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"m.py": BAD})
    lines = xlalint("check", "--show-fixes", "m.py").out.splitlines()
    start = next(n for n, line in enumerate(lines) if "fix (safe)" in line)
    assert [line.strip() for line in lines[start + 1 : start + 3]] == [
        "-     if tf.rank(y) == 1:  # a vector",
        "+     if y.shape.rank == 1:  # a vector",
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (BAD.replace("\n", "\r\n").encode(), GOOD.replace("\n", "\r\n").encode()),
        (b"\xef\xbb\xbf" + BAD.encode(), b"\xef\xbb\xbf" + GOOD.encode()),
        (
            b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + BAD.encode(),
            b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + GOOD.encode(),
        ),
        (BAD.encode().rstrip(), GOOD.encode().rstrip()),
        (("# 数 𝔘\n" + BAD).encode(), ("# 数 𝔘\n" + GOOD).encode()),
        (BAD.replace("# rows", "# ré 𝔘").encode(), GOOD.replace("# rows", "# ré 𝔘").encode()),
    ],
    ids=["crlf", "bom", "latin-1", "no newline at the end", "unicode above", "unicode before"],
)
def test_bytes_that_are_not_rewritten_stay(
    tmp_path: Path, xlalint: RunXlalint, content: bytes, expected: bytes
) -> None:
    path = tmp_path / "m.py"
    path.write_bytes(content)
    assert xlalint("check", "--fix", "m.py").status == 0
    assert path.read_bytes() == expected


def test_the_mode_of_a_file_stays(write: WriteFiles, xlalint: RunXlalint) -> None:
    path = write({"m.py": BAD}) / "m.py"
    path.chmod(0o750)
    xlalint("check", "--fix", "m.py")
    assert (stat.S_IMODE(path.stat().st_mode), path.read_text()) == (0o750, GOOD)
    assert [p.name for p in path.parent.iterdir()] == ["m.py"], "no temporary file stays"


def test_a_link_out_of_the_folder_is_left_alone(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"elsewhere/m.py": BAD, "src/own.py": BAD})
    (folder / "src" / "linked.py").symlink_to(folder / "elsewhere" / "m.py")
    ran = xlalint("check", "--fix", "src")
    assert (folder / "elsewhere" / "m.py").read_text() == BAD
    assert (folder / "src" / "own.py").read_text() == GOOD
    assert ran.status == 1
    assert "src/linked.py:7:8: XLA106 is not rewritten: it is a link to" in ran.err


def test_a_read_only_file_is_left_alone_and_told(write: WriteFiles, xlalint: RunXlalint) -> None:
    path = write({"m.py": BAD, "n.py": BAD}) / "m.py"
    path.chmod(0o444)
    ran = xlalint("check", "--fix", ".")
    assert (ran.status, path.read_text()) == (2, BAD)
    assert "m.py: cannot be checked: not rewritten: it is read-only" in ran.err
    assert (path.parent / "n.py").read_text() == GOOD


ONE_OF_TWO = """\
import tensorflow as tf


@tf.function(jit_compile=True, input_signature=[tf.TensorSpec({shape}, {dtype})])
def distinct(ids):
    return tf.size(tf.unique(ids)[0])
"""


def test_what_is_known_of_one_file_is_not_taken_for_another(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    """Both stand at the same line and column; of vectors of whole numbers alone the rewrite is safe."""
    whole = ONE_OF_TWO.format(shape="[5]", dtype="tf.int32")
    write({"whole.py": whole, "half.py": ONE_OF_TWO.format(shape="None", dtype="tf.float16")})
    report = json.loads(xlalint("check", "--fix", "--format", "json", ".").out)
    assert [(one["path"], one["fix"]["applicability"]) for one in report["fixed"]] == [
        ("whole.py", "safe")
    ]


def test_what_does_not_parse_takes_nothing_down(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"m.py": BAD, "broken.py": "def f(:\n"})
    ran = xlalint("check", "--fix", ".")
    assert (ran.status, (folder / "m.py").read_text()) == (2, GOOD)
    assert "broken.py:1:7: cannot be checked" in ran.err


def test_a_comment_is_worth_more_than_a_rewrite(write: WriteFiles, xlalint: RunXlalint) -> None:
    source = BAD.replace("tf.rank(y)", "tf.rank(  # how many?\n        y)")
    folder = write({"m.py": source})
    ran = xlalint("check", "--fix", "m.py")
    assert (ran.status, (folder / "m.py").read_text()) == (1, source)
    assert "m.py:7:8: XLA106 is not rewritten: the comment `# how many?` would be lost" in ran.err


def test_findings_that_are_ignored_are_not_rewritten(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    source = BAD.replace("# a vector", "# xlalint: ignore[XLA106] it is meant so")
    folder = write({"m.py": source})
    assert xlalint("check", "--fix", "m.py").status == 0
    assert (folder / "m.py").read_text() == source


def test_a_suppression_that_hides_nothing_is_taken_away(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    unused = GOOD.replace("# rows", "# xlalint: ignore[XLA201] once it did")
    folder = write({"m.py": unused, "n.py": BAD.replace("# rows", "# xlalint: ignore[XLA201]")})
    ran = xlalint("check", "--fix", ".")
    assert ran.status == 0, ran.err
    assert (folder / "m.py").read_text() == GOOD.replace("  # rows", "")
    assert (folder / "n.py").read_text() == GOOD.replace("  # rows", "")


def test_findings_that_a_baseline_holds_are_not_rewritten(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    folder = write({"m.py": BAD})
    xlalint("check", "--write-baseline", "known.json", "m.py")
    assert xlalint("check", "--fix", "--baseline", "known.json", "m.py").status == 0
    assert (folder / "m.py").read_text() == BAD


def test_standard_input_is_rewritten_to_standard_output(xlalint: RunXlalint) -> None:
    ran = xlalint("check", "--fix", "-", "--stdin-filename", "m.py", stdin=BAD)
    assert (ran.status, ran.out) == (0, GOOD)
    assert "No problems found" in ran.err
    broken = xlalint("check", "--fix", "-", stdin="def f(:\n")
    assert (broken.status, broken.out) == (2, "def f(:\n")


def test_json_holds_what_was_done(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"m.py": BAD})
    report = json.loads(xlalint("check", "--fix", "--format", "json", "m.py").out)
    assert report["findings"] == []
    (fixed,) = report["fixed"]
    assert (fixed["code"], fixed["line"], fixed["pass"]) == ("XLA106", 7, 1)
    assert fixed["fix"]["edits"] == [
        {"line": 7, "column": 8, "end_line": 7, "end_column": 18, "text": "y.shape.rank"}
    ]


def test_options_that_contradict_each_other(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"m.py": BAD})
    for options in (
        ("--unsafe-fixes",),
        ("--fix", "--write-baseline", "b.json"),
        ("--diff", "--format", "json"),
    ):
        ran = xlalint("check", *options, "m.py")
        assert ran.status == 2
        assert "Usage:" in ran.err


# --- notebooks --------------------------------------------------------------------------------------------------------


def notebook(source: object, **more: object) -> dict[str, object]:
    return {
        "cell_type": "code",
        "execution_count": 3,
        "metadata": {"id": "Kä"},
        "outputs": [{"output_type": "stream", "name": "stdout", "text": ["[1, 2]\n"]}],
        "source": source,
        **more,
    }


CELLS = [
    {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n"]},
    notebook("%matplotlib inline\nimport tensorflow as tf"),
    notebook(BAD.splitlines(keepends=True)[2:]),
    notebook(["!pip list\n", "print(widen(tf.range(8.0)))"]),
]
DOCUMENT = {"cells": CELLS, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4}


@pytest.mark.parametrize("indent", [None, 1, 2])
@pytest.mark.parametrize("ascii", [True, False])
def test_only_the_source_of_a_cell_changes(
    tmp_path: Path, xlalint: RunXlalint, indent: int | None, ascii: bool
) -> None:
    path = tmp_path / "n.ipynb"
    before = json.dumps(DOCUMENT, indent=indent, ensure_ascii=ascii) + "\n"
    path.write_text(before, encoding="utf-8")
    ran = xlalint("check", "--fix", "n.ipynb")
    assert ran.status == 0, ran.err
    assert path.read_text(encoding="utf-8") == before.replace("tf.rank(y)", "y.shape.rank")


def test_the_diff_of_a_notebook_is_by_cell(tmp_path: Path, xlalint: RunXlalint) -> None:
    (tmp_path / "n.ipynb").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    lines = xlalint("check", "--diff", "n.ipynb").out.splitlines()
    assert lines[:3] == ["--- n.ipynb:cell 3", "+++ n.ipynb:cell 3", "@@ -2,6 +2,6 @@"]


def test_a_line_with_a_magic_is_left_alone(tmp_path: Path, xlalint: RunXlalint) -> None:
    source = BAD.replace("tf.rank(y) == 1", "tf.rank(\ny) == 1") + "%time widen(tf.range(8.0))\n"
    document = {**DOCUMENT, "cells": [notebook(source)]}
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps(document), encoding="utf-8")
    ran = xlalint("check", "--fix", "n.ipynb")
    assert ran.status == 0, ran.err
    (cell,) = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert "".join(cell["source"]) == source.replace("tf.rank(\ny)", "y.shape.rank")


KERAS = """\
class Head(keras.layers.Layer):
    def call(self, x):
        return x * float(keras.ops.max(x))


keras.Sequential([Head()]).compile("sgd", "mse", jit_compile=True)
"""
SETUP = ["!pip install -q keras \\\n", "  numpy\n", "import keras\n", "%matplotlib inline\n"]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        # Below the imports, which is the next cell's first line; a cell magic stays first.
        ([[*SETUP, "import numpy as np"], KERAS], (2, 2)),
        ([[*SETUP, "import numpy as np"], "%%time\n" + KERAS], (2, 2)),
        ([[*SETUP, "import numpy as np\n", "x = 1"], KERAS], (1, 2)),
        ([[*SETUP, "import numpy as np\n", "!ls"], ["%%capture\n", "!ls\n", *KERAS.splitlines(True)]], (1, 2)),
    ],
)  # fmt: skip
def test_an_import_goes_into_the_cell_of_the_imports(
    tmp_path: Path, xlalint: RunXlalint, cells: list[object], numbers: tuple[int, int]
) -> None:
    path = tmp_path / "n.ipynb"
    before = json.dumps({**DOCUMENT, "cells": [notebook(source) for source in cells]}, indent=1)
    path.write_text(before)
    report = json.loads(xlalint("check", "--format", "json", "--show-fixes", "n.ipynb").out)
    (finding,) = report["findings"]
    edits = {edit["text"]: edit for edit in finding["fix"]["edits"]}
    assert (edits["import tensorflow as tf\n"]["cell"], finding["cell"]) == numbers
    ran = xlalint("check", "--unsafe-fixes", "--fix", "n.ipynb")
    assert ran.status == 0, ran.err
    after = json.loads(path.read_text())
    for cell in after["cells"]:
        cell["source"] = "".join(cell["source"])
    new = [cell["source"] for cell in after["cells"]]
    assert "tf.cast(keras.ops.max(x), tf.float32)" in new[1]
    assert "import tensorflow as tf\n" in new[numbers[0] - 1]
    for cell, source in zip(after["cells"], cells, strict=True):
        old = source if isinstance(source, str) else "".join(source)
        new_lines = cell["source"].replace("import tensorflow as tf\n", "").splitlines()
        kept = [line for line in old.splitlines() if "float(" not in line]
        assert [line for line in new_lines if "tf.cast" not in line] == kept


def test_a_notebook_of_format_3_keeps_its_form(tmp_path: Path, xlalint: RunXlalint) -> None:
    cells = [{**cell, "input": cell["source"], "language": "python"} for cell in CELLS]
    for cell in cells:
        del cell["source"]
    before = json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}, indent=1)
    (tmp_path / "n.ipynb").write_text(before)
    assert xlalint("check", "--fix", "n.ipynb").status == 0
    assert (tmp_path / "n.ipynb").read_text() == before.replace("tf.rank(y)", "y.shape.rank")


def test_line_ends_within_a_cell_stay(tmp_path: Path, xlalint: RunXlalint) -> None:
    source = KERAS.replace("\n", "\r\n")
    document = {**DOCUMENT, "cells": [notebook("import keras\r\nx = 1\r\n" + source)]}
    (tmp_path / "n.ipynb").write_text(json.dumps(document))
    assert xlalint("check", "--unsafe-fixes", "--fix", "n.ipynb").status == 0
    (cell,) = json.loads((tmp_path / "n.ipynb").read_text())["cells"]
    assert cell["source"].startswith("import keras\r\nimport tensorflow as tf\r\nx = 1\r\n")
    assert cell["source"].count("\n") == cell["source"].count("\r\n")


EXPORTED = """\
# -*- coding: utf-8 -*-
\"\"\"train.ipynb

Automatically generated by Colab.
\"\"\"

!pip install -q something \\
  else
import tensorflow as tf
""" + "\n".join(BAD.splitlines()[2:]) + """
%time y = widen(tf.range(8.0))
print(widen(tf.range(8.0)))
"""  # fmt: skip


def test_a_script_that_colab_exported_keeps_its_commands(
    tmp_path: Path, xlalint: RunXlalint
) -> None:
    (tmp_path / "train.py").write_text(EXPORTED)
    ran = xlalint("check", "--fix", "train.py")
    assert ran.status == 0, ran.err
    assert (tmp_path / "train.py").read_text() == EXPORTED.replace("tf.rank(y)", "y.shape.rank")


def test_a_plain_script_with_commands_is_no_python(tmp_path: Path, xlalint: RunXlalint) -> None:
    (tmp_path / "train.py").write_text("!pip install x\nimport tensorflow as tf\n")
    ran = xlalint("check", "train.py")
    assert (ran.status, ran.err) == (
        2,
        "train.py:1:1: cannot be checked: syntax error: invalid syntax\n",
    )
