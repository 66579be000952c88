"""Attributes that a method makes which is called before a step is: `def _define(self): self.decoder = keras.Sequential(...)`.

Of what such a method leaves, objects, variables and ragged or sparse tensors alone are taken: other tensors and numbers are set again as often as not.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from xlalint.semantics import flow, free_parameters
from xlalint.semantics.classes import SETTING_UP, TRACED_METHODS
from xlalint.semantics.facts import EAGER, Context
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.joins import join_all
from xlalint.semantics.values import (
    COLLECTION,
    INSTANCE,
    MAPPING,
    SEQUENCE,
    VARIABLE,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

_HOLDERS = frozenset({COLLECTION, SEQUENCE})


class LaterAttributes:
    """What methods other than constructors keep in the attributes of their objects."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._makers: dict[ClassInfo, dict[str, list[FunctionInfo]]] = {}
        self._left: dict[tuple[ClassInfo, FunctionInfo], dict[str, Value]] = {}

    def of(self, cls: ClassInfo, name: str) -> Value | None:
        """The object or the variable that methods of a class keep under a name; None where they keep none, or other things too."""
        if cls not in self._makers:
            self._makers[cls] = self._find_makers(cls)
        makers = self._makers[cls].get(name)
        if not makers:
            return None
        found = [self._left_by(cls, maker).get(name) for maker in makers]
        known = [value for value in found if value is not None]
        if len(known) != len(makers) or not all(map(_is_made, known)):
            return None
        whole = join_all(tuple(known))
        return whole._replace(optional=True) if _is_made(whole) else None

    def _find_makers(self, cls: ClassInfo) -> dict[str, list[FunctionInfo]]:
        role = self._analysis.classes.role(cls)
        traced = TRACED_METHODS.get(role.kind, ()) if role is not None else ()
        makers: dict[str, list[FunctionInfo]] = {}
        for owner in self._analysis.classes.line(cls):
            for method in owner.methods.values():
                if method.name in SETTING_UP or method.name in traced:
                    continue
                for name in _assigned(method):
                    makers.setdefault(name, []).append(method)
        return makers

    def _left_by(self, cls: ClassInfo, method: FunctionInfo) -> dict[str, Value]:
        """The attributes as a method leaves them, when nobody compiles it."""
        known = self._left.get((cls, method))
        if known is not None:
            return known
        left = self._left[cls, method] = {}
        traits = self._analysis.traits(method)
        is_other = traits.is_property or traits.is_static or traits.tf_function
        if is_other or method in self._analysis.functions.running:
            return left
        self_value = Value(INSTANCE, ref=cls)
        frame = self._analysis.functions.frame_of(method, Context(EAGER, False), self_value, 1)
        frame.silent = True
        frame.attributes = left
        frame.names.update(free_parameters.held(method, frame, assumed=False))
        if frame.self_name is None:
            return left
        frame.names[frame.self_name] = self_value
        self._analysis.functions.running.append(method)
        body = method.node.body
        flow.run_block(body if isinstance(body, list) else [], frame)
        self._analysis.functions.running.pop()
        return left


# A method is asked for each class that inherits it.
@lru_cache(maxsize=4096)
def _assigned(method: FunctionInfo) -> frozenset[str]:
    """The attributes of its object that a method assigns."""
    targets = (
        target
        for node in method.telling
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    )
    return frozenset(
        target.attr
        for target in targets
        if isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    )


def _is_made(value: Value) -> bool:
    """Whether it is an object, a variable or a table of rows of several lengths, or several."""
    if value.kind is INSTANCE or value.kind is VARIABLE or value.is_composite:
        return True
    if value.kind in _HOLDERS:
        items = value.ref if isinstance(value.ref, tuple) else (value.ref,)
        return bool(items) and all(isinstance(item, Value) and _is_made(item) for item in items)
    if value.kind is MAPPING:
        return bool(value.ref) and all(_is_made(item) for _, item in value.ref)
    return False
