"""Where modules import, or reach through their imports, what Keras no longer has (`keras_names.py`)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from xlalint.semantics.environment.fallbacks import asks, is_ready
from xlalint.semantics.environment.keras_names import Gone, KerasNames
from xlalint.semantics.environment.rename_table import Entry, Rename, table
from xlalint.semantics.facts import EAGER, RENAMED, Context
from xlalint.semantics.frames import Frame
from xlalint.semantics.imports.imported import imported_names, imports_in
from xlalint.semantics.index import ModuleInfo
from xlalint.semantics.names import rooted
from xlalint.semantics.values import NOTHING_KNOWN

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

_IMPORTED_WHOLE = re.compile(r"^[ \t]*import ((?:tensorflow\.)?keras\.[\w.]+)", re.MULTILINE)
_ROOTS = ("keras", "tensorflow", "tensorflow.keras")
# Clauses that keep a package from what its newest version is.
_HELD = ("==", "===", "<", "<=", "~=")

_Found = tuple[ast.AST, str, str, Entry]


def note(analysis: Analysis, modules: Iterable[ModuleInfo]) -> None:
    """Keep a fact for each name of Keras in these modules that is gone, and that `rules/renamed.toml` does not speak of."""
    names = KerasNames(analysis.catalog.tensorflow, analysis.keras)
    for module in modules:
        if not module.may_hold_findings or "keras." not in module.text:
            continue
        mentioned = _mentioned(module.text, dict(imports_in(module.tree)))
        if not any(names.gone(raw) for raw in mentioned):
            continue
        if module.name.partition(".")[0] == "keras" or _holds_keras(analysis, module):
            continue
        reader = _Reader(names, imported_names(module.tree))
        for node, kind, found, entry in reader.read(module.tree):
            frame = Frame(analysis, module, None, Context(EAGER, False))
            detail = Rename(entry, kind, found, is_gone=True)
            analysis.keep(frame, node, RENAMED, NOTHING_KNOWN, detail)


def _holds_keras(analysis: Analysis, module: ModuleInfo) -> bool:
    """Whether the project asks for an older Keras by its version."""
    asked = analysis.declared_in(module).requirements.get("keras")
    return asked is not None and any(operator in _HELD for operator, _ in asked.clauses)


def _mentioned(text: str, imported: Mapping[str, str]) -> Iterator[str]:
    """The dotted names that a module may reach through its imports of Keras: all of them, and perhaps some that it does not."""
    yield from imported.values()
    yield from _IMPORTED_WHOLE.findall(text)
    for name, dotted in imported.items():
        if _leads_to_names(dotted):
            reached = f"{name}.keras." if dotted == "tensorflow" else f"{name}."
            if reached in text:
                for chain in set(_chains(reached).findall(text)):
                    yield f"{dotted}{chain[len(name) :]}"


def _leads_to_names(dotted: str) -> bool:
    """Whether it is TensorFlow, Keras or a module of Keras, whose attributes are names."""
    if dotted in _ROOTS:
        return True
    return (
        dotted.startswith(("keras.", "tensorflow.keras.")) and dotted.rpartition(".")[2].islower()
    )


@lru_cache(maxsize=256)
def _chains(reached: str) -> re.Pattern[str]:
    """What may be reached through a name. (What begins with plain text is looked for ten times as fast.)"""
    return re.compile(rf"{re.escape(reached)}\w+(?:\.\w+)*")


class _Reader:
    """Reads one module for what is gone."""

    def __init__(self, names: KerasNames, imported: Mapping[str, str]) -> None:
        self._names = names
        self._imported = imported
        # What an import that is told has bound: its uses need not be told again.
        self._broken: set[str] = set()

    def read(self, tree: ast.Module) -> Iterator[_Found]:
        pending: list[ast.AST] = [tree]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Try) and is_ready(node):
                continue
            if isinstance(node, (ast.If, ast.IfExp)) and asks(node.test):
                continue
            if isinstance(node, ast.ImportFrom):
                yield from self._in_import_from(node)
            elif isinstance(node, ast.Import):
                yield from self._in_import(node)
            elif isinstance(node, ast.Attribute) and (raw := self._dotted(node)) is not None:
                yield from self._in_chain(node, raw)
                continue
            pending += reversed(list(ast.iter_child_nodes(node)))

    def _gone(self, raw: str) -> Gone | None:
        return None if _is_in_table(raw) else self._names.gone(raw)

    def _in_import(self, node: ast.Import) -> Iterator[_Found]:
        for alias in node.names:
            gone = self._gone(alias.name)
            if gone is not None:
                self._broken.add(alias.asname or alias.name)
                yield alias, "import", f"keras.{gone.name}", _entry(gone)

    def _in_import_from(self, node: ast.ImportFrom) -> Iterator[_Found]:
        if not node.module or node.level:
            return
        told = [(alias, self._gone(f"{node.module}.{alias.name}")) for alias in node.names]
        gone = [each for _, each in told if each is not None]
        self._broken.update(alias.asname or alias.name for alias, each in told if each is not None)
        whole = self._gone(node.module)
        if whole is not None and len(gone) == len(told):
            entry = _entry_of_all(whole, gone)
            yield _module_of(node), "module", rooted(node.module), entry
            return
        for alias, each in told:
            if each is not None:
                yield alias, "name", f"keras.{each.name}", _entry(each)

    def _in_chain(self, node: ast.Attribute, raw: str) -> Iterator[_Found]:
        gone = self._gone(raw)
        if gone is None or any(raw.startswith(each) for each in self._broken):
            return
        depth = raw.count(".") - gone.name.count(".") - (2 if gone.package == "tf.keras" else 1)
        inner: ast.expr = node
        for _ in range(depth):
            if isinstance(inner, ast.Attribute):
                inner = inner.value
        yield inner, "name", f"keras.{gone.name}", _entry(gone)

    def _dotted(self, node: ast.expr) -> str | None:
        """`tensorflow.keras.layers.Dense`, by what its first name was imported as."""
        tail: list[str] = []
        while isinstance(node, ast.Attribute):
            tail.append(node.attr)
            node = node.value
        if (
            not isinstance(node, ast.Name)
            or node.id in self._broken
            or node.id not in self._imported
        ):
            return None
        return ".".join((self._imported[node.id], *reversed(tail)))


def _is_in_table(raw: str) -> bool:
    """Whether the table that is kept by hand speaks of the name, and better."""
    known, name = table(), rooted(raw)
    while name:
        entry = known.names.get(name) or known.families.get(name)
        if entry is not None and entry.is_meant_by(raw):
            leaf = rooted(raw)[len(name) + 1 :].partition(".")[0]
            return not entry.members or leaf in entry.members
        name = name.rpartition(".")[0]
    return False


def _entry(gone: Gone) -> Entry:
    use = f"keras.{gone.use}" if gone.use else ""
    through = "tf.keras" if gone.package == "tf.keras" else "keras"
    return Entry(f"keras.{gone.name}", use, gone.instead, "long", "", through, "", (), frozenset())


def _entry_of_all(whole: Gone, names: list[Gone]) -> Entry:
    """What becomes of the names that one statement imports from a module that is gone."""
    places = {each.use.rpartition(".")[0] for each in names}
    kept = all(
        each.use and each.use.rpartition(".")[2] == each.name.rpartition(".")[2] for each in names
    )
    entry = _entry(whole)
    if kept and len(places) == 1:
        place = places.pop()
        return entry._replace(use=f"keras.{place}" if place else "keras", instead="")
    said = dict.fromkeys(
        f"`{each.package}.{each.use}`" if each.use else each.instead for each in names
    )
    return entry._replace(use="", instead=", ".join(said))


def _module_of(node: ast.ImportFrom) -> ast.AST:
    """The name of the module in `from keras.engine import Layer`, which has no node of its own."""
    assert node.module is not None
    begin = node.col_offset + len("from ")
    place = ast.Attribute(ast.Name("keras", ast.Load()), node.module, ast.Load())
    place.lineno = place.end_lineno = node.lineno
    place.col_offset, place.end_col_offset = begin, begin + len(node.module)
    return place
