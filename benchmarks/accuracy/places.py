"""Where in a package's sources a line lies: its statement, and the function that holds it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

Frame = tuple[str, int]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True, order=True)
class Function:
    """A function as it is written: `path` from the package's folder on, dotted `name`, its first and last line."""

    path: str
    name: str
    first: int
    last: int


class Sources:
    """The sources of the package `name`, which lies in the folder `root`."""

    def __init__(self, name: str, root: Path) -> None:
        self.name = name
        self._folder = f"{root.resolve() / name}/"
        self._root = root
        self._files: dict[str, _File] = {}

    def path(self, file: str) -> str | None:
        """`file` from the package's folder on; None where it is another package's."""
        return f"{self.name}/{file[len(self._folder) :]}" if file.startswith(self._folder) else None

    def is_inside(self, path: str) -> bool:
        """Whether `path`, relative to the folder that holds the package, is one of its files."""
        return path.startswith(f"{self.name}/")

    def inside(self, frames: Iterable[Frame]) -> list[Frame]:
        """The frames inside the package, their files cut to paths."""
        cut = ((self.path(file), line) for file, line in frames)
        return [(path, line) for path, line in cut if path is not None]

    def function(self, path: str, line: int) -> Function | None:
        """The smallest function that holds the line; None at the top level of a module or a class."""
        holding = [f for f in self._file(path).functions if f.first <= line <= f.last]
        return min(holding, key=lambda f: f.last - f.first, default=None)

    def statement(self, path: str, line: int) -> tuple[int, int]:
        """First and last line of the smallest statement that holds `line`; of a compound one, the header."""
        holding = [
            extent for extent in self._file(path).statements if extent[0] <= line <= extent[1]
        ]
        return min(holding, key=lambda extent: extent[1] - extent[0], default=(line, line))

    def _file(self, path: str) -> _File:
        if path not in self._files:
            tree = ast.parse((self._root / path).read_text(encoding="utf-8"))
            self._files[path] = _File(
                tuple(_functions(tree, path, "")),
                tuple(_extent(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)),
            )
        return self._files[path]


@dataclass(frozen=True, slots=True)
class _File:
    functions: tuple[Function, ...]
    statements: tuple[tuple[int, int], ...]


def _functions(node: ast.AST, path: str, prefix: str) -> Iterator[Function]:
    for child in ast.iter_child_nodes(node):
        name = prefix
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            name = f"{prefix}{child.name}."
        if isinstance(child, _FUNCTIONS):
            yield Function(path, name[:-1], child.lineno, child.end_lineno or child.lineno)
        yield from _functions(child, path, name)


def _extent(node: ast.stmt) -> tuple[int, int]:
    body = getattr(node, "body", None)
    if body and isinstance(body, list):
        return node.lineno, max(node.lineno, body[0].lineno - 1)
    return node.lineno, node.end_lineno or node.lineno
