"""Modules that are brought in without an `import` statement: by name, from `sys.modules`, or when they are first used."""

from __future__ import annotations

import ast

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.frames import Frame
from xlalint.semantics.values import PROJECT_MODULE, Value

# Functions and classes that give the module of a name, and where among their arguments the name is.
_BY_NAME = {
    "importlib.import_module": (0, "name"),
    "importlib.__import__": (0, "name"),
    "builtins.__import__": (0, "name"),
    "sys.modules.get": (0, "key"),
    "lazy_loader.load": (0, "fullname"),
    "tf.python.util.lazy_loader.LazyLoader": (2, "name"),
}
_LOADED = "sys.modules"


def loaded(function: str, arguments: Arguments, frame: Frame) -> Value | None:
    """The module that `importlib.import_module("tensorflow")` gives; None for other calls, and for names that are not known."""
    if function not in _BY_NAME:
        return None
    position, keyword = _BY_NAME[function]
    positional = arguments.positional
    name = positional[position] if len(positional) > position else arguments.keywords.get(keyword)
    return None if name is None else _module(name, frame)


def item(base: Value, written: ast.expr, index: Value, frame: Frame) -> Value | None:
    """The module that `sys.modules["tensorflow"]` is, or `sys.modules[__name__]`, by which a module names itself."""
    if base.ref != _LOADED:
        return None
    if isinstance(written, ast.Name) and written.id == "__name__":
        return Value(PROJECT_MODULE, ref=frame.module)
    return _module(index, frame)


def _module(name: Value, frame: Frame) -> Value | None:
    known = name.constant()
    if known is None or not isinstance(known.value, str) or not known.value.strip("."):
        return None
    is_relative = known.value.startswith(".")
    return None if is_relative else frame.analysis.modules.imported(known.value, frame.module)
