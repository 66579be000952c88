"""Notebooks as programs: written to a temporary file for the child to run, and put back into cells for the reader.

Everything between works on an ordinary Python file. Only at both ends is it a notebook: the findings of check, which count
lines from a cell's first, and the text of the report.
"""

from __future__ import annotations

import linecache
import re
import shlex
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from xlalint.finding import Finding, Span
from xlalint.project import notebooks
from xlalint.project.source import Source, split_lines
from xlalint.verify.command import Command, PlanError
from xlalint.verify.notebook_program import runnable

SUFFIX = ".ipynb"
_SHOWN = 4  # lines of IPython that a note quotes
_NAMED_LINE = re.compile(r"(?<=\bline )\d+")
_SET_VARIABLE = re.compile(r"^\s*%(?:set_)?env\s+(\w+)\s*=?\s*(.*)$")


@dataclass(frozen=True, slots=True)
class Notebook:
    """`path` as the user names it, `program` the Python file made of it, `magics` the lines of IPython that it does without."""

    path: str
    program: Path
    source: Source
    magics: tuple[tuple[int, str], ...]

    @property
    def note(self) -> str:
        """What was taken out, for the reader; empty for a notebook of plain Python."""
        told = [
            f"cell {cell} `{line}`" for cell, line in self.magics if not _SET_VARIABLE.match(line)
        ]
        if not told:
            return ""
        more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
        return f"{self.path}: run without what only IPython knows: {', '.join(told[:_SHOWN])}{more}"

    @property
    def environment(self) -> Mapping[str, str]:
        """What `%env NAME=VALUE` sets."""
        matches = (_SET_VARIABLE.match(line) for _, line in self.magics)
        return {match[1]: " ".join(shlex.split(match[2])) for match in matches if match}


class Notebooks:
    """The notebooks of one run; a context manager that removes the files made of them."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="xlalint-notebook-")
        self._made: list[Notebook] = []

    def __enter__(self) -> Notebooks:
        return self

    def __exit__(self, *exception: object) -> None:
        self._folder.cleanup()

    @property
    def made(self) -> tuple[Notebook, ...]:
        return tuple(self._made)

    def program(self, command: Command, folder: Path) -> Command:
        """The command with its notebook as a program. Raises PlanError for what is no notebook of Python."""
        path = folder / command.run
        try:
            text = path.read_text(encoding="utf-8-sig")
            source = notebooks.unfold(text)
        except (OSError, UnicodeDecodeError, notebooks.NotebookError) as error:
            raise PlanError(f"{command.run}: {error}") from error
        if source.unread:
            cell = source.unread[0]
            raise PlanError(f"{command.run}: cell {cell.cell}, line {cell.line}: {cell.message}")
        program = Path(self._folder.name).resolve() / str(len(self._made)) / f"{path.name}.py"
        program.parent.mkdir()
        program.write_text(runnable(source.text), encoding="utf-8")
        linecache.getlines(str(program))  # reports quote it when the file is gone
        for given, written in notebooks.files_written(text).items():
            self._made.append(
                Notebook(command.run, _write(given, written, program.parent), written, ())
            )
        magics = tuple(_magics(notebooks.cell_sources(text), source))
        made = Notebook(command.run, program, source, magics)
        self._made.append(made)
        variables = tuple(made.environment.items())
        return replace(command, run=str(program), notebook=command.run, variables=variables)

    def shown(self, program: Path) -> Path:
        """The notebook behind a program; a file that is none is itself."""
        return next((Path(one.path) for one in self._made if one.program == program), program)

    def in_program(self, finding: Finding) -> Finding:
        """A finding of check, counted from the first line of the notebook's program."""
        for one in self._made:
            first = next((c.first_line for c in one.source.cells if c.number == finding.cell), None)
            if first is not None and _is_same(finding.path, one.path):
                span = _moved(finding.span, first - 1)
                return replace(finding, path=str(one.program), span=span, cell=None)
        return finding

    def line(self, path: str, line: int) -> int:
        """The number of a program's line in its cell; of any other file, the line itself."""
        made = next((one for one in self._made if str(one.program) == path), None)
        return line if made is None else _place(made, line)[1]

    def words(self, path: str, text: str) -> str:
        """What is said of a finding in a program, with the lines that it names counted in their cells."""
        return _NAMED_LINE.sub(lambda found: str(self.line(path, int(found[0]))), text)

    def in_cells(self, value: Any) -> Any:
        """A report's text, or JSON data, with the notebook's own name, cell and line for each place in its program."""
        for one in self._made:
            value = _in_cells(one, value)
        return value


def _write(given: str, written: Source, folder: Path) -> Path:
    """A file that a cell writes, beside the notebook's program, where its imports find it."""
    path = PurePosixPath(given.strip())
    parts = (path.name,) if path.is_absolute() or ".." in path.parts else path.parts
    file = folder.joinpath(*parts)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(written.text, encoding="utf-8")
    linecache.getlines(str(file))
    return file


def _magics(cells: Mapping[int, str], source: Source) -> Iterable[tuple[int, str]]:
    """(cell, line) of what the program has left out; of a cell that is not Python at all, its first line."""
    for number, text in cells.items():
        kept = source.lines(number)
        lost = [
            line.strip()
            for line, left in zip(split_lines(text), kept)
            if line.strip() and line != left and not _is_kept(line, left)
        ]
        if lost[:1] and not any(kept):
            lost = [line for line in lost[:1] if not notebooks.WRITES.match(line)]
        yield from ((number, line) for line in lost)


def _is_kept(line: str, left: str) -> bool:
    """Whether the statement that a command runs is run all the same: that of `%time f(x)`, or one that was indented."""
    statement = left.strip().removeprefix("pass;").strip()
    return statement not in ("", "pass") and line.endswith(statement)


def _in_cells(one: Notebook, value: Any) -> Any:
    if isinstance(value, dict):
        if value.get("path") == str(one.program) and value.get("line"):
            cell, line = _place(one, value["line"])
            return {**_each(one, value), "path": one.path, "line": line, "cell": cell}
        return _each(one, value)
    if isinstance(value, (list, tuple)):
        return type(value)(_in_cells(one, part) for part in value)
    return _text_in_cells(one, value) if isinstance(value, str) else value


def _each(one: Notebook, data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _in_cells(one, part) for key, part in data.items()}


def _text_in_cells(one: Notebook, text: str) -> str:
    def shown(match: re.Match[str]) -> str:
        number = match[1] or match[2]
        if number is None:
            return one.path
        cell, line = _place(one, int(number))
        return (
            f"{one.path}:cell {cell}:{line}"
            if match[1]
            else f"{one.path}, cell {cell}, line {line}"
        )

    program = f"(?:{re.escape(str(one.program.parent))}/)?{re.escape(one.program.name)}"
    return re.sub(program + r'(?::(\d+)|"?, line (\d+))?', shown, text)


def _place(one: Notebook, line: int) -> tuple[int, int]:
    cell = one.source.cell_of(line)
    return (0, line) if cell is None else (cell.number, line - cell.first_line + 1)


def _moved(span: Span, lines: int) -> Span:
    return replace(span, line=span.line + lines, end_line=span.end_line + lines)


def _is_same(path: str, other: str) -> bool:
    return path == other or Path(path).resolve() == Path(other).resolve()
