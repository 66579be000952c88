"""Classes of installed packages: which Keras role they have, read from their source without importing them."""

from __future__ import annotations

import ast
from pathlib import Path

from xlalint.semantics.names import canonical

# Known through names.py and the catalogue, or without Keras classes: never worth reading.
_NEVER_READ = frozenset(
    "tf keras tf_keras tensorflow np numpy scipy pandas torch jax jaxlib flax sklearn matplotlib PIL cv2 google absl typing abc "
    "collections functools dataclasses enum builtins six typing_extensions packaging setuptools threading logging os".split()
)
_MOST_HOPS = 12


class InstalledClasses:
    """Follows a dotted class name through the files of installed packages to a Keras base class."""

    def __init__(self, search_path: list[Path]) -> None:
        self._search_path = search_path
        self._trees: dict[str, tuple[ast.Module, bool] | None] = {}

    def keras_base(self, dotted: str) -> str | None:
        """The canonical Keras name that the class at `dotted` descends from, or None."""
        return self._follow(dotted, _MOST_HOPS)

    def _follow(self, dotted: str, hops: int) -> str | None:
        name = canonical(dotted)
        if name.startswith(("keras.", "tf_keras.", "tf.")):
            return name
        module, _, leaf = dotted.rpartition(".")
        if hops == 0 or not module or dotted.split(".", 1)[0] in _NEVER_READ:
            return None
        loaded = self._load(module)
        if loaded is None:
            return None
        tree, is_package = loaded
        for node in _statements(tree.body):
            found = self._step(node, leaf, module, is_package, hops)
            if found is not None:
                return found
        return None

    def _step(
        self, node: ast.stmt, leaf: str, module: str, is_package: bool, hops: int
    ) -> str | None:
        if isinstance(node, ast.ClassDef) and node.name == leaf:
            for base in node.bases:
                spelled = _spelled(base)
                found = self._resolve(spelled, module, hops) if spelled else None
                if found is not None:
                    return found
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == leaf:
                    source = _absolute(module, is_package, node.level, node.module)
                    return self._follow(f"{source}.{alias.name}", hops - 1)
        return None

    def _resolve(self, spelled: str, module: str, hops: int) -> str | None:
        """A name as written in `module`, through that module's own imports."""
        loaded = self._load(module)
        if loaded is None:
            return None
        tree, is_package = loaded
        head, _, rest = spelled.partition(".")
        for node in _statements(tree.body):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if (alias.asname or alias.name.split(".")[0]) == head:
                        target = alias.name if alias.asname else head
                        return self._follow(f"{target}.{rest}" if rest else target, hops - 1)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == head:
                        source = _absolute(module, is_package, node.level, node.module)
                        target = f"{source}.{alias.name}"
                        return self._follow(f"{target}.{rest}" if rest else target, hops - 1)
            elif isinstance(node, ast.ClassDef) and node.name == head and not rest:
                return self._follow(f"{module}.{head}", hops - 1)
        return None

    def _load(self, module: str) -> tuple[ast.Module, bool] | None:
        if module not in self._trees:
            self._trees[module] = self._read(module)
        return self._trees[module]

    def _read(self, module: str) -> tuple[ast.Module, bool] | None:
        relative = Path(*module.split("."))
        for root in self._search_path:
            for path, is_package in (
                (root / relative / "__init__.py", True),
                (root / relative.with_suffix(".py"), False),
            ):
                if path.is_file():
                    try:
                        return ast.parse(path.read_text("utf-8")), is_package
                    except (OSError, ValueError, SyntaxError, RecursionError):
                        return None
        return None


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """Top-level statements, including those in `try` and `if` blocks around imports."""
    found: list[ast.stmt] = []
    for node in body:
        found.append(node)
        if isinstance(node, (ast.Try, ast.If)):
            found.extend(_statements(node.body))
            found.extend(_statements(node.orelse))
            for handler in getattr(node, "handlers", ()):
                found.extend(_statements(handler.body))
    return found


def _spelled(node: ast.expr) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _absolute(module: str, is_package: bool, level: int, target: str | None) -> str:
    if level == 0:
        return target or ""
    parts = module.split(".")
    kept = parts[: len(parts) - level + (1 if is_package else 0)]
    return ".".join([*kept, target] if target else kept)
