"""Jupyter notebooks read as one program: code cells in order, without what IPython adds, lines kept where they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from xlalint.project.magics import python_lines
from xlalint.project.source import Cell, Source, Unread, split_lines

# `!pip install ...`, `%pip install`, `!{sys.executable} -m pip install`, and a line of a `%%bash` cell.
_INSTALL = re.compile(r"\s*[!%]?\s*[\w{}./ -]*\bpip3?\s+install\b")


# `%%writefile model.py`, `%%file -a "lib/model.py"`; a name that the notebook computes is not known here.
WRITES = re.compile(
    r"""%%(?:write)?file\s+(?P<append>-a\s+|--append\s+)?(?P<quote>["']?)(?P<path>[^"'{}$]+\.py)(?P=quote)\s*$"""
)


class NotebookError(Exception):
    """Not a notebook that can be read as Python. The message says why."""


class LanguageError(NotebookError):
    """A notebook in another language."""


def unfold(text: str) -> Source:
    """The code cells of a notebook (its JSON text) as one program with a map back to the cells.

    A magic or shell line becomes `pass` at its indentation, so that the line count and the blocks stay as they were. A cell that is
    not Python is left empty and told in `unread`.

    Raises:
        NotebookError: not the JSON of a notebook, or not a Python notebook.
    """
    cells: list[Cell] = []
    unread: list[Unread] = []
    lines: list[str] = []
    installs: list[str] = []
    for number, source in _code(_load(text)):
        cells.append(Cell(number, len(lines) + 1))
        installs += [line for line in split_lines(source) if _INSTALL.match(line)]
        try:
            lines += python_lines(source)
        except SyntaxError as error:
            unread.append(Unread(number, error.lineno or 0, error.msg))
            lines += [""] * len(split_lines(source))
    return Source("\n".join(lines) + "\n", tuple(cells), tuple(unread), tuple(installs))


def written(text: str) -> Source:
    """The code cells of a notebook one after the other, as they are written. Raises NotebookError."""
    cells: list[Cell] = []
    lines: list[str] = []
    for number, source in _code(_load(text)):
        cells.append(Cell(number, len(lines) + 1))
        lines += split_lines(source)
    return Source("\n".join(lines) + "\n", tuple(cells))


def files_written(text: str) -> dict[str, Source]:
    """The Python files that cells of a notebook write (`%%writefile`), by the paths they give, as the last of them leave them.

    The line of the magic is left empty, so that lines count as in the cell. Raises NotebookError.
    """
    found: dict[str, tuple[list[str], list[Cell]]] = {}
    if "%%" not in text or "file" not in text:
        return {}
    for number, source in _code(_load(text)):
        magic, *body = split_lines(source.lstrip("\n"))
        match = WRITES.match(magic)
        if match is None:
            continue
        above = split_lines(source)[: len(split_lines(source)) - len(body)]
        lines, cells = found.get(match["path"], ([], [])) if match["append"] else ([], [])
        cells.append(Cell(number, len(lines) + 1))
        lines += [""] * len(above) + body
        found[match["path"]] = (lines, cells)
    return {
        path: Source("\n".join(lines) + "\n", tuple(cells))
        for path, (lines, cells) in found.items()
    }


def cell_sources(text: str) -> dict[int, str]:
    """The code cells of a notebook as they are written, by their number among all cells. Raises NotebookError."""
    return dict(_code(_load(text)))


def _load(text: str) -> dict[str, Any]:
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotebookError(f"not a notebook: its JSON does not parse ({error})") from error
    if not isinstance(notebook, dict) or not any(
        isinstance(notebook.get(key), list) for key in ("cells", "worksheets")
    ):
        raise NotebookError("not a notebook: it has no list of cells")
    language = _language(notebook.get("metadata"))
    if language.lower() not in ("python", "ipython"):
        raise LanguageError(f"a notebook in {language}, not Python")
    return notebook


def _language(metadata: object) -> str:
    """The language that the kernel or its description names; Python where none does."""
    for part, key in (("kernelspec", "language"), ("language_info", "name")):
        described = metadata.get(part) if isinstance(metadata, dict) else None
        language = described.get(key) if isinstance(described, dict) else None
        if isinstance(language, str) and language:
            return language
    return "Python"


def _code(notebook: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """The code cells by their number among all cells (1-based), of format 3 (`worksheets`, `input`) and 4."""
    for number, cell in enumerate(_cells(notebook), start=1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            parts = source if isinstance(source, list) else [source]
            yield number, "".join(part for part in parts if isinstance(part, str))


def _cells(notebook: dict[str, Any]) -> Iterator[object]:
    if isinstance(notebook.get("cells"), list):
        yield from notebook["cells"]
        return
    for sheet in notebook["worksheets"]:
        if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list):
            yield from sheet["cells"]
