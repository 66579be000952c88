"""No module of xlalint needs itself when it runs: each can be imported first. (Names in types alone may go in circles.)"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import xlalint

_PACKAGE = Path(xlalint.__file__).parent


def test_no_modules_import_each_other_in_a_circle() -> None:
    modules = {_name_of(path): path for path in _PACKAGE.rglob("*.py")}
    imports = {
        name: set(_imported(path, modules)) & modules.keys() for name, path in modules.items()
    }
    assert _in_circles(imports) == set()


def test_a_circle_would_be_found() -> None:
    imports = {"a": {"b", "d"}, "b": {"c"}, "c": {"a"}, "d": {"e"}, "e": set[str]()}
    assert _in_circles(imports) == {"a", "b", "c"}


def _name_of(path: Path) -> str:
    parts = path.relative_to(_PACKAGE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def _imported(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """The modules that one imports when it runs, inside of its functions as well: not those it names in types alone."""
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else node.module or ""
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += node.orelse
        elif not isinstance(node, ast.expr):
            pending += ast.iter_child_nodes(node)


def _in_circles(imports: dict[str, set[str]]) -> set[str]:
    """What is left when whatever imports nothing that is left, or is imported by nothing that is, is taken away."""
    left = {name: set(found) for name, found in imports.items()}
    while True:
        needed = set().union(*left.values())
        free = {
            name for name, found in left.items() if not found & left.keys() or name not in needed
        }
        if not free:
            return set(left)
        left = {name: found - free for name, found in left.items() if name not in free}
