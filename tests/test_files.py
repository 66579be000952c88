"""Discovery: which files a run reads, and what it says of those that it cannot read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_support import WriteFiles

from xlalint.finding import Edit, FileError, Finding, Fix, Region, Severity, Span
from xlalint.project.files import SourceFile, UnreadableError, discover
from xlalint.project.settings import Settings
from xlalint.project.source import Cell, Unread


def found_in(folder: Path, *paths: str, **settings: object) -> list[str]:
    """Relative paths of the files that a run in `folder` reads."""
    given = [str(folder / p) for p in paths] or [str(folder)]
    files, errors = discover(given, Settings(folder, **settings))  # type: ignore[arg-type]
    assert errors == []
    return [os.path.relpath(f.display, folder) for f in files]


def unreadable(file: SourceFile) -> FileError:
    with pytest.raises(UnreadableError) as caught:
        file.read()
    return caught.value.error


def test_a_folder_gives_its_python_files_and_notebooks_in_order(write: WriteFiles) -> None:
    folder = write({"b.py": "", "a/z.py": "", "a/n.ipynb": "", "a/t.txt": "", "c.pyi": ""})
    assert found_in(folder) == ["a/n.ipynb", "a/z.py", "b.py"]


def test_folders_of_tools_and_builds_are_left_out(write: WriteFiles) -> None:
    names = (
        ".git",
        ".venv",
        "build",
        "node_modules",
        "x.egg-info",
        "a/site-packages",
        "a/__pycache__",
    )
    folder = write({f"{name}/m.py": "" for name in names} | {"building/m.py": "", "m.py": ""})
    assert found_in(folder) == ["building/m.py", "m.py"]


def test_a_folder_that_is_named_is_walked_even_if_its_name_is_left_out(write: WriteFiles) -> None:
    folder = write({"build/m.py": "", "build/build/n.py": ""})
    assert found_in(folder, "build") == ["build/m.py"]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({".gitignore": "out/\n*.gen.py", "out/a.py": "", "b.gen.py": "", "c.py": ""}, ["c.py"]),
        ({".gitignore": "/a.py", "a.py": "", "b/a.py": ""}, ["b/a.py"]),
        ({"s/.gitignore": "a.py", "s/a.py": "", "s/t/a.py": "", "a.py": ""}, ["a.py"]),
        (
            {".gitignore": "*.py", "keep/.gitignore": "!*.py", "keep/a.py": "", "b.py": ""},
            ["keep/a.py"],
        ),
        ({".gitignore": "# note\n\n!x\n**/gen/*.py", "a/gen/x.py": "", "gen/y.py": ""}, []),
    ],
)
def test_gitignore_files_are_respected_at_every_level(
    write: WriteFiles, files: dict[str, str], expected: list[str]
) -> None:
    assert found_in(write(files)) == expected


def test_gitignore_above_the_folder_holds_as_far_as_the_repository(write: WriteFiles) -> None:
    folder = write(
        {
            ".gitignore": "*.py",
            "repo/.git/info/exclude": "mine.py",
            "repo/.gitignore": "gen/\nlocal.py",
            "repo/src/gen/a.py": "",
            "repo/src/local.py": "",
            "repo/src/mine.py": "",
            "repo/src/b.py": "",
        }
    )
    assert found_in(folder, "repo/src") == ["repo/src/b.py"]
    assert found_in(folder, "repo/src/gen") == ["repo/src/gen/a.py"]


def test_gitignore_can_be_set_aside(write: WriteFiles) -> None:
    folder = write({".gitignore": "a.py", "a.py": ""})
    assert found_in(folder, respect_gitignore=False) == ["a.py"]


def test_exclude_counts_from_the_settings_folder(write: WriteFiles) -> None:
    folder = write({"a/gen/x.py": "", "b/gen/y.py": "", "b/z.py": "", "old_1.py": ""})
    assert found_in(folder, exclude=("/a/gen", "old_*.py")) == ["b/gen/y.py", "b/z.py"]


def test_a_file_that_is_named_is_read_whatever_is_excluded(write: WriteFiles) -> None:
    folder = write({"gen/x.py": "", "script": "", ".gitignore": "gen"})
    assert found_in(folder, "gen/x.py", "script", exclude=("gen",)) == ["gen/x.py", "script"]


@pytest.mark.parametrize("files", [{}, {".git/HEAD": "", ".gitignore": "gen"}])
def test_unless_exclusion_is_forced(write: WriteFiles, files: dict[str, str]) -> None:
    folder = write({"gen/x.py": "", "m.py": "", "build/b.py": "", **files})
    exclude = () if files else ("gen",)
    paths = ("gen/x.py", "m.py", "build/b.py")
    assert found_in(folder, *paths, exclude=exclude, force_exclude=True) == ["m.py"]


def test_each_file_is_read_once(write: WriteFiles) -> None:
    folder = write({"a.py": "", "d/b.py": ""})
    (folder / "link.py").symlink_to(folder / "a.py")
    assert found_in(folder, ".", "a.py", "d", "d/../a.py") == ["a.py", "d/b.py"]


def test_links_to_folders_are_not_followed(write: WriteFiles) -> None:
    folder = write({"a/m.py": ""})
    (folder / "a" / "loop").symlink_to(folder)
    (folder / "broken.py").symlink_to(folder / "nowhere.py")
    assert found_in(folder) == ["a/m.py"]


def test_a_path_that_is_not_there_is_an_error_and_the_others_are_read(write: WriteFiles) -> None:
    folder = write({"a.py": ""})
    files, errors = discover([str(folder / "no.py"), str(folder / "a.py")], Settings(folder))
    assert [f.path.name for f in files] == ["a.py"]
    assert errors == [FileError(str(folder / "no.py"), 0, 0, "no such file or folder")]


def test_standard_input_has_the_name_it_is_given() -> None:
    settings = Settings(Path.cwd(), stdin=b"x = 1\n", stdin_filename="model.py")
    files, errors = discover(["-"], settings)
    assert errors == []
    assert [(f.display, f.read().text) for f in files] == [("model.py", "x = 1\n")]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"x = 'caf\xc3\xa9'\n", "x = 'café'\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"# -*- coding: latin-1 -*-\nx = 'caf\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'café'\n"),
        (b"a = 1\r\nb = 2\r\n", "a = 1\r\nb = 2\r\n"),
        (b"", ""),
    ],
)
def test_text_is_decoded_as_python_would(tmp_path: Path, content: bytes, text: str) -> None:
    path = tmp_path / "m.py"
    path.write_bytes(content)
    assert SourceFile("m.py", path).read().text == text


@pytest.mark.parametrize(
    ("content", "line", "column", "message"),
    [
        (
            b"x = '\xe9'\n",
            1,
            6,
            "not valid utf-8: byte 0xe9 cannot be decoded, and no encoding is declared",
        ),
        (b"a\nb\nc = '\xff'\n", 3, 6, "not valid utf-8: byte 0xff cannot be decoded"),
        (
            b"# coding: ascii\n\nx = '\xc3\xa9'\n",
            3,
            6,
            "not valid ascii: byte 0xc3 cannot be decoded",
        ),
        (b"# coding: klingon\n", 1, 1, "unknown encoding: klingon"),
        (b"x = 1\ny = \0\n", 2, 5, "a null byte: this is not Python source"),
    ],
)
def test_text_that_cannot_be_decoded_says_where(
    tmp_path: Path, content: bytes, line: int, column: int, message: str
) -> None:
    path = tmp_path / "m.py"
    path.write_bytes(content)
    error = unreadable(SourceFile("m.py", path))
    assert (error.path, error.line, error.column) == ("m.py", line, column)
    assert error.message.startswith(message)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text("x = 1")
    path.chmod(0)
    assert unreadable(SourceFile("m.py", path)) == FileError("m.py", 0, 0, "Permission denied")


def test_a_file_that_vanished(tmp_path: Path) -> None:
    error = unreadable(SourceFile("m.py", tmp_path / "m.py"))
    assert error == FileError("m.py", 0, 0, "No such file or directory")


# --- notebooks ------------------------------------------------------------------------------------------------------


def notebook(path: Path, *cells: str | tuple[str, str], **metadata: object) -> SourceFile:
    """A notebook with these cells: code, or (kind, text)."""
    listed = [("code", c) if isinstance(c, str) else c for c in cells]
    raw = {
        "nbformat": 4,
        "metadata": metadata,
        "cells": [
            {"cell_type": kind, "source": text.splitlines(keepends=True)} for kind, text in listed
        ],
    }
    path.write_text(json.dumps(raw), encoding="utf-8")
    return SourceFile(path.name, path)


def test_a_notebook_reads_as_one_program(tmp_path: Path) -> None:
    file = notebook(tmp_path / "n.ipynb", "import tf\nx = 1", ("markdown", "# Title"), "y = x")
    assert file.read().text == "import tf\nx = 1\ny = x\n"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("!pip install x\nx = 1", "pass\nx = 1"),
        ("if x:\n    !ls\ny = 1", "if x:\n    pass\ny = 1"),
        ("files = !ls\nx = 1", "files = None\nx = 1"),
        ("tf.constant?\nx = 1", "pass\nx = 1"),
        ("%%time\nx = 1", "\nx = 1"),
        ("%%bash\nls -l\necho 'x", "\n\n"),
        ("print('%d'\n      % x)", "print('%d'\n      % x)"),
        ("await thing()", "await thing()"),
        ("!pip install \\\n  x y\nx = 1", "pass\n\nx = 1"),
        ("files['a'] = !ls | \\\n wc\nx = 1", "files['a'] = None\n\nx = 1"),
        ("x: list = %sx ls\ny = 1", "x: list = None\ny = 1"),
        ("%time y = f(x)", "pass; y = f(x)"),
        ("if x:\n    %timeit -n 5 f(x)", "if x:\n    pass;        f(x)"),
        ("out = %timeit -o f(x)", "out = None"),
        ("%time !ls", "pass"),
        ("x[0].shape??  # what is it", "pass"),
        ('text = """\n%a magic?\n!ls\n"""\n!ls', 'text = """\n%a magic?\n!ls\n"""\npass'),
        ("x = (a\n%b)\n!ls", "x = (a\n%b)\npass"),
        ("x = a \\\n%b\n!ls", "x = a \\\n%b\npass"),
        ("pip install -q x\nx = 1", "pass\nx = 1"),
        ("  x = 1\n  !ls", "x = 1\npass"),
        ("# why\n%%capture out\n%%time\n!ls\nx = 1", "# why\n\n\npass\nx = 1"),
        ("%%writefile train.py\nx = 1", "\n"),
        ("%%wandb\nx = 1", "\nx = 1"),
        ("%%unheard_of\nselect *", "\n"),
        ("/f a b\n,f a b\nx = 1", "pass\npass\nx = 1"),
        ("", ""),
    ],
)
def test_magics_are_blanked_line_by_line(tmp_path: Path, cell: str, expected: str) -> None:
    assert notebook(tmp_path / "n.ipynb", cell).read().text == expected + "\n"


def test_a_finding_in_a_notebook_counts_from_its_cell(tmp_path: Path) -> None:
    source = notebook(
        tmp_path / "n.ipynb", "a = 1\nb = 2", ("markdown", "x"), "c = 3\nd = 4"
    ).read()
    span = Span(4, 1, 4, 6)
    fix = Fix("safe", "", (Edit(span, "d = 5"),))
    finding = Finding(
        "XLA101", "n", Severity.ERROR, "n.ipynb", span, "", "<module>", Region("host"), "", fix=fix
    )
    moved = source.relocate(finding)
    assert (moved.cell, moved.span) == (3, Span(2, 1, 2, 6))
    assert moved.fix is not None and moved.fix.edits[0].span == Span(2, 1, 2, 6)
    assert source.lines(3) == ["c = 3", "d = 4", ""]
    assert source.lines(1) == ["a = 1", "b = 2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a notebook: its JSON does not parse"),
        ("[]", "not a notebook: it has no list of cells"),
        ('{"worksheets": {}}', "not a notebook: it has no list of cells"),
    ],
)
def test_a_file_that_is_no_notebook(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(text)
    assert unreadable(SourceFile("n.ipynb", path)).message.startswith(message)


def test_a_cell_that_does_not_parse_is_named(tmp_path: Path) -> None:
    file = notebook(tmp_path / "n.ipynb", "x = 1", "%%time\ny = 2\nz = = 3", "w = 4")
    source = file.read()
    assert source.unread == (Unread(2, 3, "invalid syntax"),)
    assert source.text == "x = 1\n\n\n\nw = 4\n"


def test_a_notebook_of_format_3(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": "A"},
        {"cell_type": "code", "language": "python", "input": ["!ls\n", "x = 1"], "outputs": []},
        {"cell_type": "code", "language": "python", "input": "y = 2", "outputs": []},
    ]
    raw = {"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
    (tmp_path / "n.ipynb").write_text(json.dumps(raw))
    source = SourceFile("n.ipynb", tmp_path / "n.ipynb").read()
    assert (source.text, source.cells) == ("pass\nx = 1\ny = 2\n", (Cell(2, 1), Cell(3, 3)))


@pytest.mark.parametrize(
    "metadata", [None, [], {"kernelspec": None}, {"language_info": {}}, {"kernelspec": {"name": 1}}]
)
def test_odd_metadata_says_nothing_of_the_language(tmp_path: Path, metadata: object) -> None:
    cells = [{"cell_type": "code", "source": "x = 1"}, None, {"cell_type": "raw", "source": "!"}]
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells, "metadata": metadata}))
    assert SourceFile("n.ipynb", tmp_path / "n.ipynb").read().text == "x = 1\n"


def test_a_notebook_in_another_language(tmp_path: Path) -> None:
    file = notebook(tmp_path / "n.ipynb", "x <- 1", kernelspec={"language": "R"})
    assert unreadable(file).message == "a notebook in R, not Python"
    file = notebook(tmp_path / "n.ipynb", "x", language_info={"name": "julia"})
    assert unreadable(file).message == "a notebook in julia, not Python"
