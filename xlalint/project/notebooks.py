"""Jupyter notebooks read as one program: code cells in order, magics blanked, lines kept where they are."""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any

from xlalint.project.source import Cell, Source, split_lines

# Cell magics whose body is Python that runs in this kernel; every other cell magic takes the cell away.
_PYTHON_MAGICS = ("time", "timeit", "capture", "prun", "python", "python3")
_MAGIC = re.compile(r"^(\s*)(?:[%!]|\?\??\w|[\w.]+\?\??\s*$)")
_ASSIGNED = re.compile(r"^(\s*[\w., ]+=\s*)[%!].*$")
_CELL_MAGIC = re.compile(r"^%%(\w+)")


class NotebookError(Exception):
    """Not a notebook that can be read as Python. The message says why and names the cell."""


def unfold(text: str) -> Source:
    """The code cells of a notebook (its JSON text) as one program with a map back to the cells.

    A magic or shell line becomes `pass` at its indentation, so that the line count and the blocks stay as they were.

    Raises:
        NotebookError: not the JSON of a notebook, not a Python notebook, or a cell that does not parse.
    """
    notebook = _load(text)
    cells: list[Cell] = []
    lines: list[str] = []
    for number, cell in enumerate(notebook["cells"], start=1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        cells.append(Cell(number, len(lines) + 1))
        lines += _python_lines(_source(cell), number)
    return Source("\n".join(lines) + "\n", tuple(cells))


def cell_sources(text: str) -> dict[int, str]:
    """The code cells of a notebook as they are written, by their number among all cells. Raises NotebookError."""
    cells = enumerate(_load(text)["cells"], start=1)
    return {
        number: _source(cell)
        for number, cell in cells
        if isinstance(cell, dict) and cell.get("cell_type") == "code"
    }


def _load(text: str) -> dict[str, Any]:
    try:
        notebook = json.loads(text)
    except ValueError as error:
        raise NotebookError(f"not a notebook: its JSON does not parse ({error})") from error
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise NotebookError("not a notebook of format 4: it has no list of cells")
    metadata = notebook.get("metadata", {})
    language = metadata.get("kernelspec", {}).get("language", "python")
    if str(language).lower() not in ("python", "ipython"):
        raise NotebookError(f"a notebook in {language}, not Python")
    return notebook


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(source) if isinstance(source, list) else str(source)


def _python_lines(source: str, number: int) -> list[str]:
    lines = split_lines(source)
    if _problem(source) is None:
        return lines
    magic = _CELL_MAGIC.match(source)
    if magic and magic.group(1) not in _PYTHON_MAGICS:
        return [""] * len(lines)
    blanked = [_without_magic(line) for line in lines]
    problem = _problem("\n".join(blanked))
    if problem is not None:
        raise NotebookError(f"cell {number}, line {problem.lineno}: {problem.msg}")
    return blanked


def _without_magic(line: str) -> str:
    if _CELL_MAGIC.match(line):
        return ""
    assigned = _ASSIGNED.match(line)
    if assigned:
        return f"{assigned.group(1)}None"
    magic = _MAGIC.match(line)
    return f"{magic.group(1)}pass" if magic else line


def _problem(source: str) -> SyntaxError | None:
    """Why a cell does not parse; `await` at its top level is fine, as it is in a notebook."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        return error
    except ValueError as error:
        return SyntaxError(str(error))
    return None
