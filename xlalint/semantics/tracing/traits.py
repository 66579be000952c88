"""What a function's decorators make of it: a tf.function, a property, host code, code AutoGraph leaves alone."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.results import specs
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.tracing import left_alone
from xlalint.semantics.values import (
    EXTERNAL,
    FALSE,
    FUNCTION,
    MAPPING,
    NONE,
    PARTIAL,
    TRUE,
    Value,
)

# The names of one function.
DO_NOT_CONVERT = (
    "tf.autograph.experimental.do_not_convert",
    "tf.compat.v1.autograph.experimental.do_not_convert",
    "tf.python.autograph.impl.api.do_not_convert",
)
_KEPT_PROPERTY = "functools.cached_property"
_PROPERTIES = frozenset({"builtins.property", _KEPT_PROPERTY})
_CACHES = frozenset({"functools.lru_cache", "functools.cache"})
# Traits that say no more than what a function is bound to.
_BINDING = frozenset({"is_static", "is_classmethod"})
# What a decorator is that has a function replaced by one under tf.custom_gradient.
_OWN_GRADIENT = "a gradient of its own"
# Dunder methods that AutoGraph does convert.
_CONVERTED_DUNDERS = frozenset({"__call__"})


@dataclass(frozen=True, slots=True)
class Traits:
    """`tf_function`: decorated with tf.function; `autograph` and `jit` are then its options, `signature` the tensors that its
    `input_signature` promises for the first parameters.

    `callback` names the API that runs it on the host for compiled code, as a decorator. `custom_gradient`: returns a result and the function that computes its gradient;
    `brings_gradient`: does so, or a decorator of the project's makes such a function of it.
    `is_remembered`: functools keeps what it returned. `by_position`: graphs call it without keywords. `never_converted` gives the reason why AutoGraph leaves the function alone, or None (facts: AutoGraph contexts).
    """

    tf_function: bool = False
    autograph: bool = True
    jit: bool = False
    jit_node: ast.expr | None = None
    signature: tuple[Value, ...] = ()
    is_property: bool = False
    is_remembered: bool = False
    is_static: bool = False
    is_classmethod: bool = False
    is_host: bool = False
    never_converted: str | None = None
    custom_gradient: bool = False
    brings_gradient: bool = False
    by_position: bool = False
    callback: str | None = None


# What most functions are.
PLAIN = Traits()


def read_traits(info: FunctionInfo, frame: Frame) -> Traits:
    """Read the traits of a function; `frame` is where its decorators are looked up."""
    found: dict[str, object] = {}
    reason = _own_reason(info)
    for position, decorator in enumerate((*info.decorators, *_calls_that_name_it(info))):
        name, options = _decorator(decorator, frame)
        if name in ("tf.function", "tf.compat.v1.function"):
            found["tf_function"] = True
            found["autograph"] = options.get("autograph") != FALSE
            jit = options.get("jit_compile", options.get("experimental_compile", NONE))
            found["jit"] = jit not in (FALSE, NONE)
            found["jit_node"] = decorator if jit == TRUE else None
            signature = specs.promised(options.get("input_signature", NONE))
            found["signature"] = signature
            if _takes_no_self(info, len(signature)):
                found["is_static"] = True
        elif name in _PROPERTIES:
            found["is_property"] = True
            found["is_remembered"] = name == _KEPT_PROPERTY
            reason = reason or "a property"
        elif name == "builtins.staticmethod":
            found["is_static"] = True
        elif name == "builtins.classmethod":
            found["is_classmethod"] = True
        elif name in _CACHES:
            found["is_remembered"] = True
            reason = reason or "functools.lru_cache"
        elif name == "contextlib.contextmanager":
            reason = reason or "a context manager"
        elif name in DO_NOT_CONVERT:
            reason = reason or "do_not_convert"
        elif name in ("tf.custom_gradient", "tf.recompute_grad"):
            reason = reason or name
            # Another decorator around it may pass the keywords on by position.
            found["by_position"] = found.keys() <= _BINDING and len(found) == position
            found["custom_gradient"] = found["brings_gradient"] = name == "tf.custom_gradient"
        elif name == _OWN_GRADIENT:
            found["brings_gradient"] = True
        elif name in ("tf.py_function", "tf.numpy_function"):
            found["is_host"], found["callback"] = True, name
        elif isinstance(decorator, ast.Attribute) and decorator.attr in (
            "setter",
            "getter",
            "deleter",
        ):
            found["is_host"] = True
    if info.cls is not None and info.cls.parent is not None:
        # A class inside a function is converted with the text of that function: properties and operators too.
        reason = None
    if reason is None:
        reason = left_alone.package_of(info.module, frame.analysis.modules.project)
    if not found and reason is None:
        return PLAIN
    return Traits(never_converted=reason, **found)  # type: ignore[arg-type]


def _takes_no_self(info: FunctionInfo, promised: int) -> bool:
    """Whether a signature says of each parameter of a function in a class what it is: it is called as `Bridge.build(z, True)`."""
    names = [a.arg for a in (*info.node.args.posonlyargs, *info.node.args.args)]
    return info.cls is not None and 0 < len(names) == promised and names[0] not in ("self", "cls")


def _calls_that_name_it(info: FunctionInfo) -> list[ast.Call]:
    """`step = tf.function(step)` at the top of a module is a decorator to whoever calls it."""
    if info.parent is not None or info.cls is not None:
        return []
    return info.module.handed_on.get(info.name, [])


def _own_reason(info: FunctionInfo) -> str | None:
    name = info.name
    if name.startswith("__"):
        if not name.endswith("__"):
            return "a private method" if info.cls is not None else None
        if name not in _CONVERTED_DUNDERS:
            return f"`{name}`"
    if info.is_generator:
        return "a generator"
    return f"{info.refused_syntax} in it" if info.refused_syntax is not None else None


def decorator_name(node: ast.expr, frame: Frame) -> str:
    """The canonical name of a decorator: "tf.function" of what comes to that, empty of a project's own."""
    return _decorator(node, frame)[0]


def _decorator(node: ast.expr, frame: Frame) -> tuple[str, dict[str, Value]]:
    """The canonical name of a decorator and its keyword options, through functools.partial."""
    options: dict[str, Value] = {}
    while isinstance(node, ast.Call):
        options.update(_keywords(node, frame))
        target = frame.analysis.evaluate(node.func, frame)
        if _name(target) == "functools.partial" and node.args:
            node = node.args[0]
        else:
            node = node.func
    value = frame.analysis.evaluate(node, frame)
    if value.kind is PARTIAL:
        inner, _, keywords = value.ref
        return _name(inner), {**dict(keywords), **options}
    if value.kind is FUNCTION:
        return _through(value, options, frame)
    return _name(value), options


def _through(value: Value, options: dict[str, Value], frame: Frame) -> tuple[str, dict[str, Value]]:
    """A project's own decorator that hands what it decorates to tf.function is as good as tf.function."""
    info = value.ref[0] if isinstance(value.ref, tuple) else value.ref
    call = frame.analysis.compiling_call(info)
    if call is None:
        return _OWN_GRADIENT if _replaces_gradient(info) else "", options
    home = frame.analysis.modules.module_frame(info.module)
    passes_on = any(keyword.arg is None for keyword in call.keywords)
    return "tf.function", {**(options if passes_on else {}), **_keywords(call, home)}


def _replaces_gradient(decorator: FunctionInfo) -> bool:
    """Whether a decorator of the project's puts what it decorates into a function under tf.custom_gradient that it defines."""
    nodes = nodes_of(decorator.body) if decorator.module.mentions("custom_gradient") else ()
    return any(
        ast.unparse(maker).endswith("tf.custom_gradient")
        for node in nodes
        if isinstance(node, ast.FunctionDef)
        for maker in node.decorator_list
    )


def compiling_call(info: FunctionInfo, home: Frame) -> ast.Call | None:
    """The call of tf.function in a function, if there is one; `home` is the frame of its module."""
    for node in info.calls:
        if isinstance(node.func, (ast.Name, ast.Attribute)):
            if _name(home.analysis.evaluate(node.func, home)) == "tf.function":
                return node
    return None


def _keywords(node: ast.Call, frame: Frame) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for keyword in node.keywords:
        value = frame.analysis.evaluate(keyword.value, frame)
        if keyword.arg is not None:
            found[keyword.arg] = value
        elif value.kind is MAPPING:
            found.update({key: item for key, item in value.ref or () if isinstance(key, str)})
    return found


def _name(value: Value) -> str:
    return str(value.ref) if value.kind is EXTERNAL else ""
