"""Registries: tables that a project's own decorators fill, `@register("gelu") def gelu(x)`, for a setting to choose from.

Only tables that are written down are followed: `TABLE = {}` in a module or `_table = {}` in a class, and a decorator that stores
what it is put on, `TABLE[name] = function` or `TABLE.append(function)`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.elements import element
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.joins import join
from xlalint.semantics.syntax import found_in
from xlalint.semantics.values import COLLECTION, FUNCTION, MAPPING, SEQUENCE, Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

_STORES = frozenset({ast.Assign, ast.Call})
_MOST_ENTRIES = 64


class _Store(NamedTuple):
    """Where a decorator puts what it is put on: `owner` is the name before the dot, of a class or its `cls`."""

    owner: str | None
    table: str
    key: ast.expr | None


class Registries:
    """Fills the project's tables as its modules are run."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._stores: dict[FunctionInfo, _Store | None] = {}
        self._of_classes: dict[tuple[ClassInfo, str], Value] = {}

    def saw_definition(
        self, node: ast.FunctionDef | ast.ClassDef, value: Value, frame: Frame
    ) -> None:
        """Note what the decorators of a function or class of a module register it as."""
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            target = self._analysis.evaluate(called, frame)
            if target.kind is not FUNCTION:
                continue
            info = target.ref[0] if isinstance(target.ref, tuple) else target.ref
            if info not in self._stores:
                self._stores[info] = _store_in(info, isinstance(decorator, ast.Call))
            store = self._stores[info]
            # A tf.function is compiled for itself, whoever takes it from the table.
            if store is not None and not self._is_traced(value):
                self._put(store, info, _key(store, info, decorator), value)

    def _is_traced(self, value: Value) -> bool:
        return value.kind is FUNCTION and self._analysis.traits(value.ref).tf_function

    def of_class(self, cls: ClassInfo, name: str, written: Value) -> Value:
        """What a table in the body of a class holds in the end."""
        return self._of_classes.get((cls, name), written) if self._of_classes else written

    def _put(self, store: _Store, info: FunctionInfo, key: str | None, value: Value) -> None:
        if store.owner is None:
            names = self._analysis.modules.module_frame(info.module).names
            if store.table in names:
                names[store.table] = _with_entry(names[store.table], key, value)
            return
        cls = info.cls if info.cls is not None else info.module.definition(store.owner)
        if not isinstance(cls, ClassInfo):
            return
        known = self._of_classes.get((cls, store.table))
        known = known or self._analysis.objects.class_attribute(cls, store.table)
        if known is not None:
            self._of_classes[cls, store.table] = _with_entry(known, key, value)


def _with_entry(table: Value, key: str | None, value: Value) -> Value:
    if table.kind is MAPPING and table.ref is not None:
        return table._replace(ref=(*table.ref, (key, value))[-_MOST_ENTRIES:])
    if table.kind is SEQUENCE and len(table.ref) < _MOST_ENTRIES:
        return table._replace(ref=(*table.ref, value))
    if table.kind is COLLECTION:
        return table._replace(ref=value if table.ref is None else join(element(table), value))
    return table


def _store_in(info: FunctionInfo, is_called: bool) -> _Store | None:
    """The place where a decorator, or the function that a call of it returns, stores its argument."""
    inner = next(iter(info.nested.values()), None) if is_called else info
    arguments = inner.node.args if inner is not None else None
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)] if arguments else []
    if inner is not None and inner.cls is not None and inner is info:
        names = names[1:]
    if inner is None or not names:
        return None
    for node in found_in(inner.body, _STORES):
        if isinstance(node, ast.Assign):
            place = node.targets[0]
            if _is_name(node.value, names[0]) and isinstance(place, ast.Subscript):
                return _place(place.value, place.slice)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "append" and node.args and _is_name(node.args[0], names[0]):
                return _place(node.func.value, None)
    return None


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _place(table: ast.expr, key: ast.expr | None) -> _Store | None:
    if isinstance(table, ast.Name):
        return _Store(None, table.id, key)
    if isinstance(table, ast.Attribute) and isinstance(table.value, ast.Name):
        return _Store(table.value.id, table.attr, key)
    return None


def _key(store: _Store, info: FunctionInfo, decorator: ast.expr) -> str | None:
    """`@register("gelu")`: the key where the decorator stores under its own parameter, and is given a text."""
    if not isinstance(store.key, ast.Name) or not isinstance(decorator, ast.Call):
        return None
    arguments = info.node.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    if info.cls is not None:
        names = names[1:]
    given = dict(zip(names, decorator.args))
    given.update((k.arg, k.value) for k in decorator.keywords if k.arg is not None)
    found = given.get(store.key.id)
    is_text = isinstance(found, ast.Constant) and isinstance(found.value, str)
    return found.value if is_text else None  # type: ignore[union-attr]
