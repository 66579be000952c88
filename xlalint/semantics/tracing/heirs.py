"""Methods that many classes inherit and Keras or tf.function traces: for which of the classes that shows anything new."""

from __future__ import annotations

import ast

from xlalint.semantics.classes import TRACED_METHODS, ClassTable
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.syntax import nodes_of

# For so many classes an inherited method is traced in any case. The hundreds of models of a large library share their
# `test_step`, and differ in `call` alone, which is traced for itself.
_MOST = 12
_TRACED_FOR_THEMSELVES = frozenset(name for names in TRACED_METHODS.values() for name in names)


class Heirs:
    """Remembers what each inherited method has reached so far."""

    def __init__(self, classes: ClassTable) -> None:
        self._classes = classes
        self._first: dict[FunctionInfo, list[ClassInfo]] = {}
        self._reached: dict[FunctionInfo, set[FunctionInfo]] = {}
        self._asked_of_self: dict[FunctionInfo, frozenset[str]] = {}

    def adds(self, cls: ClassInfo, method: FunctionInfo) -> bool:
        """Whether tracing an inherited method for `cls` may reach a method that it did not reach for the classes before."""
        first = self._first.setdefault(method, [])
        if len(first) < _MOST:
            first.append(cls)
            return True
        reached = self._reached.get(method)
        if reached is None:
            reached = set().union(*(self._reached_from(method, each) for each in first))
            self._reached[method] = reached
        here = self._reached_from(method, cls)
        if here <= reached:
            return False
        reached |= here
        return True

    def _reached_from(self, method: FunctionInfo, cls: ClassInfo) -> set[FunctionInfo]:
        """The methods of `cls` that a method names on `self`, and those that these name in turn."""
        found: set[FunctionInfo] = set()
        pending = [method]
        while pending:
            for name in self._names_of(pending.pop()):
                other = self._classes.method(cls, name)
                if other is not None and other not in found:
                    found.add(other)
                    pending.append(other)
        return found

    def _names_of(self, info: FunctionInfo) -> frozenset[str]:
        """The attributes of `self` that a method names, without what is traced for itself."""
        known = self._asked_of_self.get(info)
        if known is None:
            named = {
                node.attr
                for node in nodes_of(info.body)
                if isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
            }
            known = self._asked_of_self[info] = frozenset(named - _TRACED_FOR_THEMSELVES)
        return known
