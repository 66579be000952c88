"""Library functions: what nobody in the project is seen to call, and is taken as compiled, in an order that meets callers first."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TYPE_CHECKING

from xlalint.semantics import evidence
from xlalint.semantics.classes import CALLBACK, HOST_DATA, INITIALIZER, TEST
from xlalint.semantics.index import ClassInfo, FunctionInfo, ModuleInfo
from xlalint.semantics.tracing import host_signs

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis


def in_order(modules: list[ModuleInfo], analysis: Analysis) -> list[FunctionInfo]:
    """Library functions to take as compiled: those that no text calls first, so that others are met through them."""
    called = _called_names(modules)
    candidates = [
        info for module in modules for info in module.functions if _may_be_compiled(info, analysis)
    ]
    return sorted(candidates, key=lambda info: info.name in called or _is_handed_on(info))


def is_host_class(cls: ClassInfo, analysis: Analysis) -> bool:
    """Whether the methods of a class run on the host: callbacks, makers of batches, tests.

    Keras 2 asks for the first values of weights eagerly, in `tf.init_scope`; Keras 3 asks for them in the program where `fit` builds the model
    (measured, TensorFlow 2.15 and 2.21).
    """
    role = analysis.classes.role(cls)
    if role is None:
        return False
    if role.kind == INITIALIZER:
        return not role.is_of_keras_3(analysis.keras)
    return role.kind in (CALLBACK, HOST_DATA, TEST)


def host_methods(cls: ClassInfo, analysis: Analysis) -> list[FunctionInfo]:
    """The methods of a class that run on the host: all of a host class, but the losses and metrics that a callback has for `compile`."""
    if not is_host_class(cls, analysis):
        return []
    return [m for m in cls.methods.values() if not _is_objective_of_callback(m, analysis)]


def _is_objective_of_callback(info: FunctionInfo, analysis: Analysis) -> bool:
    """Whether a callback has a loss or a metric that it does not call itself: that is for `compile`."""
    cls = info.cls
    role = analysis.classes.role(cls) if cls is not None else None
    if cls is None or role is None or role.kind != CALLBACK:
        return False
    own_calls = (call.func for method in cls.methods.values() for call in method.calls)
    is_called = any(isinstance(f, ast.Attribute) and f.attr == info.name for f in own_calls)
    return not is_called and evidence.is_objective(info, analysis)


def _may_be_compiled(info: FunctionInfo, analysis: Analysis) -> bool:
    name = info.name
    if name.startswith("__") and name != "__call__":
        return False
    if info.cls is not None and name in host_signs.NEVER_TRACED:
        return False
    if name.startswith("test") or host_signs.names_host_work(name):
        return False
    own = analysis.traits(info)
    if own.is_property or own.is_host or info.is_generator or host_signs.returns_array(info):
        return False
    if (
        host_signs.only_checks(info)
        or host_signs.only_prints(info)
        or host_signs.drives_training(info)
    ):
        return False
    for around in info.around:
        if around in analysis.host_functions or host_signs.names_host_work(around.name):
            return False
    if _is_objective_of_callback(info, analysis):
        return True
    if host_signs.holds_host_work(info.module.name):
        return False
    cls = _class_around(info)
    if cls is not None and analysis.classes.is_of_another_framework(cls):
        return False
    return info.cls is None or not is_host_class(info.cls, analysis)


def _class_around(info: FunctionInfo) -> ClassInfo | None:
    """The class of the method that a function is, or is defined in."""
    while info.cls is None and info.parent is not None:
        info = info.parent
    return info.cls


def _is_handed_on(info: FunctionInfo) -> bool:
    """Whether the function around hands this one to others: as the body of a loop, an arm, a step."""
    if info.parent is None:
        return False
    calls = info.parent.calls
    given = (part for call in calls for part in (*call.args, *(k.value for k in call.keywords)))
    return any(isinstance(part, ast.Name) and part.id == info.name for part in given)


# Read backwards, a called name follows its parenthesis: that is found eight times as fast as a name that one follows.
_AFTER_PARENTHESIS = re.compile(r"\((\w+)", re.ASCII)
_STEP_OF_MAP = re.compile(r"map_fn\(\s*(?:fn=)?([A-Za-z_]\w*)")


def _called_names(modules: list[ModuleInfo]) -> frozenset[str]:
    """Names that stand before a parenthesis more often than they are defined, or that tf.map_fn is given: near enough to what is called."""
    seen: Counter[str] = Counter()
    defined: Counter[str] = Counter()
    for module in modules:
        seen.update(_AFTER_PARENTHESIS.findall(module.text[::-1]))
        if "map_fn(" in module.text:
            seen.update(name[::-1] for name in _STEP_OF_MAP.findall(module.text))
        defined.update(info.name for info in module.functions)
    names = ((name[::-1], count) for name, count in seen.items())
    return frozenset(name for name, count in names if count > defined[name])
