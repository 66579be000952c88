"""What packages hand on: the functions and classes that are made for others to call, whoever calls them in the project."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from xlalint.semantics.imports.frameworks import Frameworks
from xlalint.semantics.index import ClassInfo, FunctionInfo, ModuleInfo
from xlalint.semantics.project_modules import Project


class Exports:
    """The names that the `__init__.py` around a module offers: each by itself, with `import *`, or in a module of its own."""

    def __init__(self, project: Project, frameworks: Frameworks) -> None:
        self._project = project
        self._frameworks = frameworks
        # By the package's module: the modules that it imports as a whole, and those that it takes every name of.
        self._offered: dict[ModuleInfo, tuple[frozenset[ModuleInfo], frozenset[ModuleInfo]]] = {}
        self._starred: dict[ModuleInfo, frozenset[ModuleInfo]] = {}

    def hold(self, info: FunctionInfo | ClassInfo) -> bool:
        """Whether the package of a function or class hands it on, by name or with all that is in its module."""
        if self._frameworks.offers(info):
            return True
        home = self._home(info)
        if home is None:
            return False
        if _is_named(info, home):
            return True
        if info.name.startswith("_"):
            return False
        whole, starred = self._offers(home)
        return info.module in whole or (info.module in starred and _is_public(info))

    def name(self, info: FunctionInfo | ClassInfo) -> bool:
        """Whether the package of a function or class names it."""
        home = self._home(info)
        return home is not None and _is_named(info, home)

    def _home(self, info: FunctionInfo | ClassInfo) -> ModuleInfo | None:
        """The package that can hand on a function or class of a module's own level."""
        package = info.module.name.rpartition(".")[0]
        home = self._project.module(package) if package else None
        if home is None or not home.is_package or info.parent is not None:
            return None
        is_method = isinstance(info, FunctionInfo) and info.cls is not None
        return None if is_method else home

    def _offers(self, home: ModuleInfo) -> tuple[frozenset[ModuleInfo], frozenset[ModuleInfo]]:
        known = self._offered.get(home)
        if known is None:
            whole = frozenset(self._imported_whole(home))
            starred = set(self._taken_over(home))
            for module in whole:
                starred.update(self._taken_over(module))
            known = self._offered[home] = (whole, frozenset(starred))
        return known

    def _imported_whole(self, home: ModuleInfo) -> Iterator[ModuleInfo]:
        """`from . import losses`, `from package import losses as l`: what the package names, not its private ones."""
        for node in home.tree.body:
            if not isinstance(node, ast.ImportFrom):
                continue
            source = home.absolute(node.level, node.module)
            for alias in node.names:
                if not (alias.asname or alias.name).startswith("_"):
                    module = self._project.module(f"{source}.{alias.name}")
                    if module is not None and module is not home:
                        yield module

    def _taken_over(self, module: ModuleInfo) -> frozenset[ModuleInfo]:
        """The modules of which a module takes every public name, and those that they take over in turn."""
        known = self._starred.get(module)
        if known is None:
            self._starred[module] = frozenset()  # modules that import each other in a circle
            found: set[ModuleInfo] = set()
            for source in self._starred_by(module):
                found.add(source)
                found |= self._taken_over(source)
            known = self._starred[module] = frozenset(found)
        return known

    def _starred_by(self, module: ModuleInfo) -> Iterator[ModuleInfo]:
        if "import *" not in module.text:
            return
        for node in module.tree.body:
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                source = self._project.module(module.absolute(node.level, node.module))
                if source is not None:
                    yield source


def _is_named(info: FunctionInfo | ClassInfo, home: ModuleInfo) -> bool:
    # Finding a bare word in a long text is quick, and finding none is the rule.
    return info.name in home.text and (
        re.search(rf"\b{re.escape(info.name)}\b", home.text) is not None
    )


def _is_public(info: FunctionInfo | ClassInfo) -> bool:
    """Whether `import *` takes a name: each without an underscore, or only those that `__all__` lists."""
    text = info.module.text
    return "__all__" not in text or f'"{info.name}"' in text or f"'{info.name}'" in text
