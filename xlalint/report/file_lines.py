"""Where findings lie in their files as these are stored: what services look at that know no cells, only the JSON of a notebook."""

from __future__ import annotations

from xlalint.finding import FileError, Finding
from xlalint.project.files import UnreadableError, named
from xlalint.project.notebook_cells import json_lines
from xlalint.project.settings import Settings


class FileLines:
    """The first and the last line of findings in the files of one report; notebooks are read when they are asked for."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._cells: dict[str, dict[int, list[int]]] = {}

    def of(self, finding: Finding) -> tuple[int, int] | None:
        """1-based, the last one included; None for a notebook that cannot be read, or is another by now."""
        span = finding.span
        if finding.cell is None:
            return span.line, span.end_line
        if finding.path not in self._cells:
            self._cells[finding.path] = self._read(finding.path)
        lines = self._cells[finding.path].get(finding.cell, [])
        if not 1 <= span.line <= len(lines):
            return None
        return lines[span.line - 1], lines[min(span.end_line, len(lines)) - 1]

    def _read(self, path: str) -> dict[int, list[int]]:
        file = named(path, self._settings)
        try:
            return {} if isinstance(file, FileError) else json_lines(file.raw())
        except (UnreadableError, ValueError, RecursionError):
            return {}
