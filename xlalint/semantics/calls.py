"""What a call does: it runs a project function, makes an object, or asks an API that the catalogue knows."""

from __future__ import annotations

import ast
from collections.abc import Callable

from xlalint.semantics import (
    api_objects,
    apis,
    backends,
    keyword_style,
    named_tuples,
    nesting,
    super_calls,
    symbolic,
    unknown_calls,
)
from xlalint.semantics.arguments import Arguments
from xlalint.semantics.attributes import read
from xlalint.semantics.callbacks import builtin_calls, standard_library
from xlalint.semantics.classes import TRACED_METHODS
from xlalint.semantics.environment import by_position, versions
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import (
    custom_gradients,
    hazards,
    iteration,
    outliving,
)
from xlalint.semantics.imports import module_loading
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.joins import alternatives, join_all
from xlalint.semantics.methods import dispatch
from xlalint.semantics.names import api_name
from xlalint.semantics.training import pipelines, reductions
from xlalint.semantics.values import (
    ANY_OF,
    CLASS,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    MAPPING,
    NAMED_TUPLE,
    NOTHING_KNOWN,
    PARTIAL,
    SEQUENCE,
    STRATEGY,
    SUPER,
    UNKNOWN,
    Value,
    wrapping,
)


def call(node: ast.Call, frame: Frame) -> Value:
    """The value of a call expression; notes facts about APIs and conversions on the way."""
    if isinstance(node.func, ast.Attribute):
        return _attribute_call(node, node.func, frame)
    target = frame.analysis.evaluate(node.func, frame)
    if target.kind is EXTERNAL and node.keywords:
        keyword_style.put_in_order(node, str(target.ref), frame)
    return call_value(target, evaluate_arguments(node, frame), node, frame)


def _attribute_call(node: ast.Call, func: ast.Attribute, frame: Frame) -> Value:
    base = backends.of_tensorflow(frame.analysis.evaluate(func.value, frame))
    if base.given and frame.analysis.makes_symbolic:
        symbolic.note_asked(base, func, frame)
    if base.kind is EXTERNAL or base.kind is UNKNOWN:
        target = read(base, func.attr, frame, func)
        if base.kind is EXTERNAL:
            if node.keywords:
                keyword_style.put_in_order(node, str(target.ref), frame)
            return call_value(target, evaluate_arguments(node, frame), node, frame)
    if base.kind is ANY_OF:
        arguments = evaluate_arguments(node, frame)
        known = [dispatch.find(one, func.attr) for one in alternatives(base)]
        is_given = any(func.attr in one.given for one in alternatives(base))
        if known[0] is not None and not is_given and len(set(known)) == 1:
            # What all of them inherit, as `compile` of models that a loop makes.
            every = alternatives(base)
            return join_all(
                tuple(known[0](one, func.attr, arguments, node, frame) for one in every)
            )
        read_by = [read(one, func.attr, frame, func) for one in alternatives(base)]
        return _call_any(Value(ANY_OF, ref=tuple(read_by)), arguments, node, frame)
    if base.kind is SUPER:
        return super_calls.call(base, func.attr, evaluate_arguments(node, frame), node, frame)
    arguments = evaluate_arguments(node, frame)
    method = dispatch.find(base, func.attr)
    if method is not None and func.attr not in base.given:
        return method(base, func.attr, arguments, node, frame)
    local = None
    if isinstance(func.value, ast.Name):
        local = frame.look_up_attribute(func.value.id, func.attr)
    target = local if local is not None else read(base, func.attr, frame, func)
    return call_value(target, arguments, node, frame)


def evaluate_arguments(node: ast.Call, frame: Frame) -> Arguments:
    positional: list[Value] = []
    keywords: dict[str, Value] = {}
    open_ended = False
    evaluate = frame.analysis.evaluate
    for argument in node.args:
        if argument.__class__ is ast.Starred:
            value = evaluate(argument.value, frame)
            iteration.note_taken_apart(frame, argument.value, value, "`*`")
            if value.kind is SEQUENCE and value.ref:
                positional.extend(value.ref)
            else:
                open_ended = True
        elif open_ended:
            evaluate(argument, frame)
        else:
            positional.append(evaluate(argument, frame))
    for keyword in node.keywords:
        value = evaluate(keyword.value, frame)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif value.kind is MAPPING and value.ref is not None:
            keywords.update({str(key): item for key, item in value.ref if isinstance(key, str)})
            open_ended = open_ended or any(key is None for key, _ in value.ref)
        else:
            open_ended = True
    return Arguments(tuple(positional), keywords, open_ended)


def call_value(target: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Call a value that is already known."""
    target = backends.of_tensorflow(target)
    handler = _CALLABLE.get(target.kind)
    if handler is not None:
        value = handler(target, arguments, node, frame)
        layers = frame.analysis.model_layers
        return layers.carried(value, arguments, frame) if layers.carries else value
    if target.kind is UNKNOWN and isinstance(node, ast.Call):
        if target.made is not None:
            frame.analysis.scopes.saw_use(target, "__call__", frame)
        return unknown_calls.returned(node.func, arguments, frame)
    return NOTHING_KNOWN


def _call_any(target: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Call what a setting has chosen. Project functions are all followed; of APIs, no more is held against the line
    that calls one or another than that some of them lack a kernel.
    """
    results: list[Value] = []
    was_silent = frame.silent
    hazards.note_chosen(alternatives(target), arguments, node, frame)
    for one in alternatives(target):
        frame.silent = was_silent or one.kind is EXTERNAL or _is_judged_alone(one, frame)
        results.append(call_value(one, arguments, node, frame))
        frame.silent = was_silent
    return join_all(tuple(results))


def _is_judged_alone(one: Value, frame: Frame) -> bool:
    """Whether an object is one of Keras's: Keras traces it for itself, and which of a list of layers gets what is not known."""
    if one.kind is not INSTANCE or not isinstance(one.ref, ClassInfo):
        return one.kind is INSTANCE
    role = frame.analysis.classes.role(one.ref)
    return role is not None and role.kind in TRACED_METHODS


def _call_function(target: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    info, bound = unbound(target)
    callback = frame.analysis.traits(info).callback
    if callback is not None:
        return apis.call_api(callback, arguments, node, frame)
    custom_gradients.note_keywords(info, arguments, node, frame)
    frame.analysis.drivers.saw_call(info, arguments, node, frame)
    iteration.note_recursion(info, arguments, node, frame)
    self_value = bound
    positional = list(arguments.positional)
    if frame.context.is_compiled or frame.analysis.traits(info).tf_function:
        positional = pipelines.without_feed(positional)
    if bound is None and info.cls is not None and not frame.analysis.traits(info).is_static:
        # Class.method(instance, ...): the instance is the first argument.
        if positional and not frame.analysis.traits(info).is_classmethod:
            self_value = positional.pop(0)
    value = frame.analysis.functions.invoke(
        info, positional, arguments.keywords, self_value, frame,
        open_ended=arguments.open_ended, made=wrapping(target), closure=target.closure,
        node=_passing(node, positional),
    )  # fmt: skip
    if frame.analysis.modules.frameworks.has_classes:
        value = backends.returned(value, info, frame)
    if frame.analysis.traits(info).is_remembered and value.is_tensor:
        outliving.note_remembered(node, value, frame)
    return frame.analysis.scopes.made(value, "", node, frame) if value.kind is STRATEGY else value


def _passing(node: ast.AST, positional: list[Value]) -> ast.Call | None:
    """The call, where a function gets what stands there: `functools.partial` puts something before it."""
    if not isinstance(node, ast.Call):
        return None
    given = node.args
    if len(given) == len(positional) or any(part.__class__ is ast.Starred for part in given):
        return node
    return None


def unbound(target: Value) -> tuple[FunctionInfo, Value | None]:
    """The function of a FUNCTION value and the instance it is bound to."""
    if isinstance(target.ref, tuple):
        return target.ref[0], target.ref[1]
    return target.ref, None


def _call_class(target: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    fields = frame.analysis.objects.named_fields(target.ref)
    if fields is not None:
        return named_tuples.build(fields, arguments)
    frame.analysis.objects.made.saw_object(target.ref, node, frame)
    held = frame.analysis.objects.construct(target.ref, arguments, frame)
    given = frame.analysis.configurations.given(target.ref, arguments)
    frame.analysis.regions.saw_object(target.ref, given, frame)
    value = nesting.bounded(Value(INSTANCE, ref=target.ref, given=given, fields=held))
    return frame.analysis.scopes.made(value, "", node, frame) if frame.scope else value


def _call_named_tuple(target: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    return named_tuples.build(target.ref, arguments)


def _call_partial(target: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    inner, first, keywords = target.ref
    merged = Arguments(
        (*first, *arguments.positional),
        {**dict(keywords), **arguments.keywords},
        arguments.open_ended,
    )
    return call_value(inner, merged, node, frame)


def _call_instance(target: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if target.made is not None:
        frame.analysis.scopes.saw_use(target, "__call__", frame)
    if len(arguments.positional) > 1 and frame.analysis.keras == "3":
        by_position.note_call(target, arguments, node, frame)
    if isinstance(target.ref, ClassInfo):
        return frame.analysis.objects.call_instance(target, arguments, node, frame)
    value = api_objects.call(target, arguments, node, frame)
    if reductions.is_step(frame):
        return reductions.of_loss_object(target, value, node, frame)
    return value


def _call_external(target: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    name = api_name(str(target.ref))
    module = module_loading.loaded(name, arguments, frame)
    if module is not None:
        return module
    if name.startswith("builtins."):
        return builtin_calls.call(name[9:], arguments, node, frame)
    if "ersion" in name:  # few calls ask for one: `keras.version()`, `tf.__version__.split(".")`
        version = _of_version(target, arguments, frame)
        if version is not None:
            return version
    found = standard_library.call(name, arguments, node, frame)
    if found is not None:
        return found
    if name in _STEPS_OF_KERAS and frame.context.is_compiled:
        return super_calls.LOGS
    if name.endswith(("call__", ".call")):
        inherited = super_calls.by_class(name, arguments, frame)
        if inherited is not None:
            return inherited
    value = apis.call_api(str(target.ref), arguments, node, frame)
    if value == NOTHING_KNOWN and isinstance(node, ast.Call) and not name.startswith(_FOLLOWED):
        value = unknown_calls.returned(node.func, arguments, frame)
    if reductions.is_step(frame):
        return reductions.of_call(name, arguments, value, node, frame)
    if frame.scope or value.kind is STRATEGY:
        return frame.analysis.scopes.made(value, name, node, frame)
    return value


def _of_version(target: Value, arguments: Arguments, frame: Frame) -> Value | None:
    """What `keras.version()` and `tf.__version__.startswith("2")` give; None of any other call."""
    written = str(target.ref)
    asked = versions.asked_for(written)
    if asked is not None:
        return asked
    return versions.method(written, arguments.positional, frame.analysis.keras)


# What the analysis knows itself; nobody sees what other packages' functions do.
_FOLLOWED = ("tf.", "keras.", "tf_keras.", "np.", "math.")
_STEPS_OF_KERAS = frozenset(f"keras.Model.{step}" for step in super_calls.STEPS)


_CALLABLE: dict[str, Callable[[Value, Arguments, ast.AST, Frame], Value]] = {
    FUNCTION: _call_function,
    CLASS: _call_class,
    PARTIAL: _call_partial,
    NAMED_TUPLE: _call_named_tuple,
    INSTANCE: _call_instance,
    EXTERNAL: _call_external,
    ANY_OF: _call_any,
}
