"""The project's tests that name a function or class, found by reading them."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_FEW = 3
_MOST_FILES = 5000
_NOT_THE_PROJECT = frozenset(
    {"site-packages", "node_modules", "__pycache__", "build", "dist", "venv", "env", "fixtures"}
)
_TEST_FILE = re.compile(r"^(test_.*|.*_test|tests)\.py$")


@dataclass(frozen=True, slots=True)
class _Test:
    """One test: `name` is what pytest calls it within its file (`TestGate::test_it`)."""

    path: str
    name: str
    words: frozenset[str]


class TestIndex:
    """The tests below some folders. Each file is read once, when first asked for."""

    __test__ = False  # for pytest: no class of tests, whatever its name

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._tests: tuple[_Test, ...] | None = None

    def of(self, qualname: str) -> tuple[tuple[str, str], ...]:
        """(file, name) of the few tests that name all of `Gate.call`, or its class, or the function around it."""
        if self._tests is None:
            self._tests = tuple(_tests(self._folders))
        parts = [part for part in qualname.split(".") if part != "<locals>"]
        whole = [test for test in self._tests if test.words.issuperset(parts)]
        owner = [test for test in self._tests if parts[0] in test.words]
        # Small tests first: they are the quickest, and say the least beside.
        few = dict.fromkeys(
            (test.path, test.name)
            for tests in (whole, owner)
            for test in sorted(tests, key=lambda test: len(test.words))
        )
        return tuple(few)[:_FEW]


def _tests(folders: Sequence[Path]) -> Iterator[_Test]:
    seen: set[Path] = set()
    for folder in folders:
        for path in _files(folder):
            if path not in seen:
                seen.add(path)
                yield from _in_file(path)


def _files(folder: Path) -> Iterator[Path]:
    count = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in _NOT_THE_PROJECT and "-" not in name
        )
        count += len(names)
        if count > _MOST_FILES:
            return
        yield from (Path(parent, name) for name in sorted(names) if _TEST_FILE.match(name))


def _in_file(path: Path) -> Iterator[_Test]:
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in tree.body:
        if _is_test(node):
            yield _Test(str(path), node.name, _words(node))  # type: ignore[attr-defined]
        elif isinstance(node, ast.ClassDef):
            shared = frozenset[str]().union(
                *(_words(one) for one in node.body if not _is_test(one))
            )
            for one in node.body:
                if _is_test(one):
                    name = f"{node.name}::{one.name}"  # type: ignore[attr-defined]
                    yield _Test(str(path), name, _words(one) | shared)


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test")


def _words(node: ast.AST) -> frozenset[str]:
    return frozenset(
        inner.id if isinstance(inner, ast.Name) else inner.attr
        for inner in ast.walk(node)
        if isinstance(inner, (ast.Name, ast.Attribute))
    )
