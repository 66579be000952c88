"""Settings that a call of a class fixes for the object that it makes: `Sampler(is_static=True)` never takes the other arm.

Only flags and words that some test of the class asks for are followed: everything else would have its methods run anew for
each size and name. What a call leaves to its default stays as open as it is for the class.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import (
    ANY_OF,
    CLASS,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    Const,
    Usual,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.arguments import Arguments

# Parameter names and values, sorted.
Given = tuple[tuple[str, Value], ...]
_MOST_SETTINGS = 4
_TESTS = (ast.If, ast.IfExp, ast.While)
# Names that say what a thing is called: tests of them are about texts.
_LABELS = frozenset({"name", "scope", "prefix", "trainable"})


class Outline(NamedTuple):
    """What a class does with its settings, read off its syntax.

    `asked` are the names and attributes in tests, `handed_on` the parameters of `__init__` that it passes to other
    classes, `sources` says which names an attribute is computed from, `changed` are attributes that other methods set.
    """

    asked: frozenset[str]
    handed_on: frozenset[str]
    sources: dict[str, frozenset[str]]
    changed: frozenset[str]

    def decides(self, parameter: str) -> bool:
        """Whether what a class does may depend on a parameter of its constructor."""
        if parameter in self.asked or parameter in self.handed_on:
            return True
        return any(
            attribute in self.asked and parameter in names
            for attribute, names in self.sources.items()
        )


class Configurations:
    """Which settings the objects of the project's classes are made with."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._outlines: dict[ClassInfo, Outline] = {}

    def given(self, cls: ClassInfo, arguments: Arguments) -> Given:
        """The settings of an object that a call makes, where they differ from what holds for all objects of the class."""
        flags = self._flags(cls, arguments)
        if not flags:
            return ()
        outline = self._outline(cls)
        found = {
            name: value
            for name, value in flags.items()
            if outline.decides(name) and name not in _LABELS
        }
        return tuple(sorted(found.items())[:_MOST_SETTINGS])

    def _flags(self, cls: ClassInfo, arguments: Arguments) -> dict[str, Value]:
        flags = {name: value for name, value in arguments.keywords.items() if _is_flag(value)}
        if not any(_is_flag(value) for value in arguments.positional):
            return flags
        named = zip(self._parameters(cls), arguments.positional)
        return flags | {name: value for name, value in named if _is_flag(value)}

    def _parameters(self, cls: ClassInfo) -> list[str]:
        method = self._analysis.classes.method(cls, "__init__")
        if method is None:
            return list(self._analysis.objects.declared_fields(cls))
        arguments = method.node.args
        return [a.arg for a in (*arguments.posonlyargs, *arguments.args)][1:]

    def keeps(self, cls: ClassInfo, attribute: str) -> bool:
        """Whether nothing is seen to set an attribute once the object is made."""
        if attribute in self._outline(cls).changed:
            return False
        pattern = re.compile(rf"(?<!\bself)\.{re.escape(attribute)}\s*=(?!=)")
        return pattern.search(cls.module.text) is None

    def _outline(self, cls: ClassInfo) -> Outline:
        known = self._outlines.get(cls)
        if known is None:
            known = self._outlines[cls] = _read(
                [
                    m
                    for ancestor in self._analysis.classes.line(cls)
                    for m in ancestor.methods.values()
                ]
            )
        return known


def settled(value: Value) -> bool:
    """Whether a constructor's settings may have decided an attribute: a flag, a choice of functions, another object."""
    if value.kind in (FUNCTION, EXTERNAL, CLASS, INSTANCE, ANY_OF):
        return True
    return _is_flag(value)


def _is_flag(value: Value) -> bool:
    return type(value.ref) in (Const, Usual) and isinstance(
        value.ref.value, (bool, str, type(None))
    )


def _read(methods: list[FunctionInfo]) -> Outline:
    asked: set[str] = set()
    handed_on: set[str] = set()
    changed: set[str] = set()
    sources: dict[str, set[str]] = {}
    for method in methods:
        is_constructor = method.name == "__init__"
        for node in nodes_of(method.body):
            if isinstance(node, _TESTS):
                asked |= _names(node.test)
            elif isinstance(node, ast.BoolOp):
                asked |= _names(node)
            elif isinstance(node, ast.Match):
                asked |= _names(node.subject)
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for attribute in (t.attr for t in targets if isinstance(t, ast.Attribute)):
                    if not is_constructor:
                        changed.add(attribute)
                    elif node.value is not None:
                        sources.setdefault(attribute, set()).update(_names(node.value))
            elif is_constructor and isinstance(node, ast.Call) and _may_make(node.func):
                for given in (*node.args, *(k.value for k in node.keywords)):
                    handed_on |= _names(given)
    return Outline(
        frozenset(asked),
        frozenset(handed_on),
        {name: frozenset(names) for name, names in sources.items()},
        frozenset(changed),
    )


def _names(node: ast.expr) -> set[str]:
    """The names and the attributes of `self` in an expression."""
    found: set[str] = set()
    for part in nodes_of([node]):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(part.attr)
    return found


def _may_make(func: ast.expr) -> bool:
    """`Sampler(...)` and `super().__init__(...)`."""
    if isinstance(func, ast.Name):
        return func.id[:1].isupper()
    return isinstance(func, ast.Attribute) and func.attr == "__init__"
