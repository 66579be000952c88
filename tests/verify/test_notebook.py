"""Notebooks as programs: what is taken out and said, what is set, and places put back into cells."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from xlalint.finding import Finding, Region, Severity, Span
from xlalint.verify import hosted, notebook_program
from xlalint.verify.command import Command, PlanError
from xlalint.verify.notebook import Notebooks
from xlalint.verify.notebook_program import runnable

CELLS = [
    "!pip install -q x\n%env LEVEL=3\nimport os\n",
    "%%bash\nls\n",
    "%%time\nfor n in range(3):\n    print(n)\n",
]


def notebook(*cells: str) -> str:
    made = [{"cell_type": "markdown", "source": ["# Title\n"]}]
    made += [{"cell_type": "code", "source": cell.splitlines(True)} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def books() -> Iterator[Notebooks]:
    with Notebooks() as books:
        yield books


FOUND = Finding(
    code="XLA201",
    name="n",
    severity=Severity.WARNING,
    path="train.ipynb",
    span=Span(1, 1, 1, 2),
    message="",
    function="f",
    region=Region("compiled"),
    help="",
)


def opened(books: Notebooks, folder: Path, *cells: str) -> Command:
    (folder / "train.ipynb").write_text(notebook(*cells))
    return books.program(Command((sys.executable,), "train.ipynb", False, ("--n", "1")), folder)


def test_a_notebook_is_a_program_without_ipython(books: Notebooks, tmp_path: Path) -> None:
    command = opened(books, tmp_path, *CELLS)
    program = Path(command.run).read_text()
    assert program.splitlines() == [
        *["pass", """__import__("os").environ['LEVEL'] = '3'""", "import os", ""],
        *["", "", ""],
        *["", "for n in range(3):", "    print(n)", ""],
    ]
    assert command.label == "python train.ipynb --n 1"
    assert command.variables == (("LEVEL", "3"),)


def test_what_was_taken_out_is_said(books: Notebooks, tmp_path: Path) -> None:
    opened(books, tmp_path, *CELLS)
    assert books.made[0].note == (
        "train.ipynb: run without what only IPython knows: "
        "cell 2 `!pip install -q x`, cell 3 `%%bash`, cell 4 `%%time`"
    )


def test_modules_that_cells_write_lie_beside_the_program(books: Notebooks, tmp_path: Path) -> None:
    model = "%%writefile model.py\nimport tensorflow as tf\n\ndef f(x):\n    return x[x > 0]\n"
    more = "%%writefile -a model.py\n\ndef g(x):\n    return x\n"
    elsewhere = '%%file "/content/lib/losses.py"\ndef loss(y, p):\n    return y\n'
    command = opened(books, tmp_path, model, more, elsewhere, "import model, losses")
    folder = Path(command.run).parent
    lines = (folder / "model.py").read_text().splitlines()
    assert lines[:2] == ["", "import tensorflow as tf"]
    assert lines[-3:] == ["def g(x):", "    return x", ""]
    assert (folder / "losses.py").is_file()
    assert not list(tmp_path.glob("*.py"))
    assert books.made[-1].note == ""
    finding = replace(FOUND, span=Span(5, 12, 5, 20), cell=2)
    placed = books.in_program(finding)
    assert (placed.path, placed.cell) == (str(folder / "model.py"), None)
    assert (folder / "model.py").read_text().splitlines()[placed.span.line - 1] == (
        "    return x[x > 0]"
    )
    told = books.in_cells({"path": placed.path, "line": placed.span.line})
    assert told == {"path": "train.ipynb", "line": 5, "cell": 2}


def test_a_notebook_of_plain_python_needs_no_note(books: Notebooks, tmp_path: Path) -> None:
    opened(books, tmp_path, "x = 1\n")
    assert books.made[0].note == ""


def test_the_program_is_gone_afterwards(tmp_path: Path) -> None:
    with Notebooks() as books:
        program = Path(opened(books, tmp_path, "x = 1\n").run)
    assert not program.exists()


def test_a_finding_of_a_cell_is_one_of_the_program_and_back(
    books: Notebooks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = opened(books, tmp_path, *CELLS)
    span = Span(3, 5, 3, 13)
    region = Region("compiled")
    finding = Finding(
        "XLA105", "x", Severity.ERROR, "train.ipynb", span, "", "", region, "", cell=4
    )
    found = books.in_program(finding)
    assert (found.path, found.cell) == (command.run, None)
    assert (found.span.line, found.span.column) == (10, 5)
    assert Path(command.run).read_text().splitlines()[9] == "    print(n)"


def test_places_in_the_program_are_told_as_cells(books: Notebooks, tmp_path: Path) -> None:
    run = opened(books, tmp_path, *CELLS).run
    told: list[tuple[Any, Any]] = [
        (f"{run}:10:5: wrong", "train.ipynb:cell 4:3:5: wrong"),
        (f'File "{run}", line 3, in f', 'File "train.ipynb, cell 2, line 3, in f'),
        (f"from {Path(run).name}:3", "from train.ipynb:cell 2:3"),
        (
            {"path": run, "line": 9, "column": 1},
            {"path": "train.ipynb", "line": 2, "column": 1, "cell": 4},
        ),
        ([{"path": "other.py", "line": 9}], [{"path": "other.py", "line": 9}]),
    ]
    for text, expected in told:
        assert books.in_cells(text) == expected
    assert books.words(run, "made in line 10, float32[16]") == "made in line 3, float32[16]"
    assert books.words("other.py", "made in line 10") == "made in line 10"


NO_NOTEBOOKS = [
    ("{", "train.ipynb: not a notebook: its JSON does not parse"),
    ("[]", "train.ipynb: not a notebook: it has no list of cells"),
    (notebook("x = = 1\n"), "train.ipynb: cell 2, line 1: invalid syntax"),
    (
        json.dumps({"cells": [], "metadata": {"kernelspec": {"language": "R"}}}),
        "train.ipynb: a notebook in R, not Python",
    ),
]


@pytest.mark.parametrize(("text", "message"), NO_NOTEBOOKS)
def test_what_is_no_notebook_of_python_is_refused(
    text: str, message: str, books: Notebooks, tmp_path: Path
) -> None:
    (tmp_path / "train.ipynb").write_text(text)
    with pytest.raises(PlanError) as caught:
        books.program(Command((sys.executable,), "train.ipynb", False, ()), tmp_path)
    assert str(caught.value).startswith(message)


HOSTED = """\
from google.colab import drive, userdata
from kaggle_datasets import KaggleDatasets
drive.mount("/content/drive")
token = userdata.get("TOKEN")
path = KaggleDatasets().get_gcs_path("flowers")
"""


def test_modules_that_only_a_host_has_do_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    before = set(sys.modules)
    hosted.install(said.append)
    names: dict[str, Any] = {}
    exec(compile(HOSTED, __file__, "exec"), names)
    for module in set(sys.modules) - before:
        del sys.modules[module]
    assert (names["path"], bool(names["token"])) == ("/kaggle/input/flowers", False)
    assert said == [
        "google.colab is not installed here: calls of it do nothing",
        "kaggle_datasets is not installed here: calls of it do nothing",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"""Doc."""\nfrom __future__ import division\nx = 1\n', None),
        (
            "pass\nimport os\nfrom __future__ import (\n    division)\nx = 1\n",
            "pass\nimport os\npass\n\nx = 1\n",
        ),
        (
            "\nimport os\nfrom __future__ import annotations\n",
            "from __future__ import annotations\nimport os\npass\n",
        ),
        (
            "import os\nfrom __future__ import annotations, division\n",
            "from __future__ import annotations; import os\npass\n",
        ),
        (
            "def f():\n    pass\nfrom __future__ import annotations\n",
            "def f():\n    pass\npass\n",
        ),
    ],
)
def test_imports_from_the_future_may_stand_in_any_cell(text: str, expected: str | None) -> None:
    assert runnable(text) == (text if expected is None else expected)
    compile(runnable(text), "<program>", "exec")


def test_a_program_may_wait_at_its_top_level(tmp_path: Path) -> None:
    program = tmp_path / "train.ipynb.py"
    program.write_text(
        "import asyncio, pathlib\nawait asyncio.sleep(0)\n"
        "pathlib.Path(__file__).with_name('said').write_text(__name__ + word)\n"
    )
    main = sys.modules["__main__"]
    try:
        notebook_program.run(str(program), {"word": "!"})
    finally:
        sys.modules["__main__"] = main
    assert (tmp_path / "said").read_text() == "__main__!"
