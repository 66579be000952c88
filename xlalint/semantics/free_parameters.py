"""What the parameters of a function hold where its callers are not seen, or pass what nobody knows."""

from __future__ import annotations

import ast
from typing import TypeGuard

from xlalint.semantics import (
    documented,
    evidence,
    given_sizes,
    parameters,
    records,
)
from xlalint.semantics.classes import MODEL
from xlalint.semantics.control_flow import left_out
from xlalint.semantics.facts import ASSUMED, COMPILED
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.names import api_name
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import (
    COLLECTION,
    EXTERNAL,
    FROM_SHAPE,
    FUNCTION,
    INPUTS,
    INSTANCE,
    LIKELY_DATA,
    MAPPING,
    NOTHING_KNOWN,
    PYTHON,
    SOME_PYTHON,
    UNKNOWN,
    Value,
    usually,
)


def held(
    info: FunctionInfo, frame: Frame, *, assumed: bool, role_method: str | None = None
) -> dict[str, Value]:
    """What parameters hold in a call that is not seen: by protocol, annotation, default, name and use."""
    arguments = info.node.args
    named = [*arguments.posonlyargs, *arguments.args]
    if frame.self_name is not None and named and named[0].arg == frame.self_name:
        named = named[1:]
    if role_method is None and len(named) == 1 and _is_step_of_model(info, frame):
        role_method = info.name  # by `@tf.function` above it, it is no other step
    defaults: dict[str, ast.expr | None] = {}
    for parameter, default in zip(reversed(named), reversed(arguments.defaults)):
        defaults[parameter.arg] = default
    for extra, given in zip(arguments.kwonlyargs, arguments.kw_defaults):
        defaults[extra.arg] = given
    found: dict[str, Value] = {}
    signed = frame.analysis.traits(info).signature
    used: set[str] | None = None
    for position, parameter in enumerate([*named, *arguments.kwonlyargs]):
        written = defaults.get(parameter.arg)
        if position < len(signed):
            found[parameter.arg] = _as_signed(signed[position], written, frame)
            continue
        value = _declared(info, parameter, written, frame, assumed, role_method, position == 0)
        if value is None:
            if used is None:
                used = evidence.used_as_tensor(info, frame) if assumed else set()
            value = _inferred(info, parameter.arg, written, used, frame, assumed, role_method)
        elif position == 0 and role_method == "call" and value == INPUTS:
            if evidence.is_one_tensor(parameter.arg, info, frame):
                value = value._replace(structured=False)
        found[parameter.arg] = value
    if arguments.vararg is not None:
        each = parameters.from_annotation(arguments.vararg.annotation, frame)
        found[arguments.vararg.arg] = Value(COLLECTION, ref=each)
    if arguments.kwarg is not None:
        found[arguments.kwarg.arg] = Value(MAPPING)
    if frame.context.is_compiled and records.may_hold(info, found.values()):
        if used is None:
            used = evidence.used_as_tensor(info, frame) if assumed else set()
        found.update(records.held(info, found, used, frame))
    if (
        info not in frame.analysis.functions.visited
    ):  # what a package hands on may have callers in sight, who know
        left_out.note_parameters(found, defaults, frame)
    return found


def _is_step_of_model(info: FunctionInfo, frame: Frame) -> bool:
    """Whether a method is one that `fit`, `evaluate` or `predict` runs with a batch."""
    if info.cls is None or info.name not in parameters.STEPS_OF_MODELS:
        return False
    role = frame.analysis.classes.role(info.cls)
    return role is not None and role.kind == MODEL


def infer_unknown(info: FunctionInfo, frame: Frame) -> None:
    """A parameter that a caller passes something unknown for holds what it is annotated as, documented, or treated as; what may be a
    tensor is one in a loss.
    """
    unknown = [name for name, value in frame.names.items() if value == NOTHING_KNOWN]
    for name, value in frame.names.items():
        if value.guess and value.is_tensor and _is_of_loss(name, info, frame):
            frame.names[name] = value._replace(guess=False)
    if not unknown:
        return
    used = evidence.treated_as_tensors(info, frame)
    annotations = info.annotations
    frame.names.update(records.held(info, dict.fromkeys(unknown, NOTHING_KNOWN), used, frame))
    for name in unknown:
        promised = parameters.from_annotation(annotations.get(name), frame)
        if promised is None:
            promised = _documented(info, name, frame)
        if frame.names[name] != NOTHING_KNOWN:
            continue
        if _is_promised(promised, name, info, used):
            # Who writes `x: tf.Tensor` may pass a list of them all the same.
            frame.names[name] = promised._replace(structured=True)
        elif name in used:
            frame.names[name] = LIKELY_DATA


def _as_signed(promised: Value, default: ast.expr | None, frame: Frame) -> Value:
    """What a signature says of a parameter. A number that has a default (`axis=1`) and a graph that others compile: they pass numbers, or
    nothing, and what a call passes as a constant XLA finds in the function that is called, as it does what a shape says.
    """
    is_number = isinstance(default, (ast.Constant, ast.UnaryOp)) and promised.shape == ()
    if frame.context.jit or not is_number or not promised.is_tensor:
        return promised
    return promised._replace(dependence=FROM_SHAPE)


def _declared(
    info: FunctionInfo,
    parameter: ast.arg,
    default: ast.expr | None,
    frame: Frame,
    assumed: bool,
    role_method: str | None,
    first: bool,
) -> Value | None:
    """What protocol, annotation and default say of a parameter; None where they say nothing."""
    name = parameter.arg
    annotated = parameters.from_annotation(parameter.annotation, frame)
    module = parameters.module(name) if name in info.uses.roots else None
    if module is not None and annotated is None and default is None:
        return module
    if annotated is None or annotated.is_tensor or annotated == NOTHING_KNOWN:
        role = frame.analysis.classes.role(info.cls) if role_method and info.cls else None
        kind = role.kind if role is not None else None
        promised = parameters.of_call(info, name, role_method, first, kind)
        if promised is not None:
            if first and role_method == "call" and promised.dtype is None:
                return promised._replace(dtype=frame.analysis.precision.of_inputs(info))
            return promised
    by_default = parameters.from_default(name, default)
    if by_default is not None and by_default.kind is PYTHON:
        return by_default
    is_none = isinstance(default, ast.Constant) and default.value is None
    if annotated is not None and assumed and (annotated.is_tensor or annotated.kind is UNKNOWN):
        if frame.context.region == ASSUMED and parameters.is_size(name):
            return NOTHING_KNOWN  # `size: tf.Tensor`: callers give a number as readily, a `shape: tf.Tensor | list[int]` too
        if annotated.is_tensor and documented.is_array(info, name):
            return NOTHING_KNOWN  # `text: tf.Tensor`, and `text (np.ndarray): ...` in the docstring
    if annotated is not None and annotated != NOTHING_KNOWN:
        return annotated._replace(optional=True) if is_none else annotated
    if by_default is not None:
        return _default_function(info, default, frame) or by_default
    stand_in = info.stand_ins.get(name) if is_none else None
    value = _default_function(info, stand_in, frame) if stand_in is not None else None
    return None if value is None else value._replace(optional=True)


def _default_function(info: FunctionInfo, default: ast.expr | None, frame: Frame) -> Value | None:
    """`pool=tf.math.segment_sum`: the function that a parameter holds where no caller gives another; an object of the project,
    `miner=Miner(0.1)`; or a word, `method=tf.image.ResizeMethod.BICUBIC`.
    """
    if not isinstance(default, (ast.Name, ast.Attribute, ast.Call, ast.Lambda)):
        return None
    modules = frame.analysis.modules
    around = modules.closures.home(info)
    value = frame.analysis.evaluate(default, around)
    if isinstance(default, ast.Call):
        return value if value.kind is INSTANCE and isinstance(value.ref, ClassInfo) else None
    if value.kind is not EXTERNAL:
        return value if value.kind is FUNCTION else None
    owner, _, word = str(value.ref).rpartition(".")
    if owner.endswith("image.ResizeMethod"):
        return usually(word.lower().removesuffix("_neighbor"))
    api = frame.analysis.catalog.api(api_name(str(value.ref)))
    return value if api is not None and api.ops else None


def _inferred(
    info: FunctionInfo,
    name: str,
    default: ast.expr | None,
    used: set[str],
    frame: Frame,
    assumed: bool,
    role_method: str | None,
) -> Value:
    """What name and use tell of a parameter; `used` holds the names of those that are used as tensors."""
    inferred = LIKELY_DATA if name in used else None
    if assumed and documented.is_number(info, name):
        return SOME_PYTHON
    if frame.context.region == ASSUMED and documented.is_array(info, name):
        return NOTHING_KNOWN
    if inferred is not None and role_method == "call" and name in evidence.asked_for_extremes(info):
        inferred = inferred._replace(
            guess=False
        )  # a list of numbers is nothing that Keras hands on
    if assumed and default is None and _is_of_loss(name, info, frame):
        inferred = (inferred or LIKELY_DATA)._replace(guess=False)
    if inferred is None and assumed:
        by_author = documented.python_value(info, name)
        if by_author is not None:
            return by_author
        is_traced_code = used or role_method is not None or evidence.computes(info, frame)
        inferred = parameters.by_name(name) if is_traced_code else None
        if inferred is not None and evidence.is_used_as_size(name, info, frame):
            inferred = None
    is_traced = frame.context.region == COMPILED and role_method in (None, "call")
    if inferred is None and assumed and default is None and is_traced:
        inferred = parameters.of_traced_function(name)
        if inferred is not None and evidence.is_used_as_size(name, info, frame):
            is_size = role_method is not None or given_sizes.are_all(info, name)
            inferred = None if is_size else inferred
        if role_method is not None and parameters.is_size(name):
            inferred = None
    written = documented.complex_dtype(info, name) if assumed else None
    if written is not None:
        inferred = (inferred or LIKELY_DATA)._replace(dtype=written)
    elif assumed or _is_plain_constructor(info, default, frame):
        inferred = _documented(info, name, frame) or inferred
    if inferred is None:
        return NOTHING_KNOWN
    is_none = isinstance(default, ast.Constant) and default.value is None
    return inferred._replace(optional=is_none, structured=inferred.structured or is_none)


def _is_of_loss(name: str, info: FunctionInfo, frame: Frame) -> bool:
    return name in evidence.OF_LOSSES and evidence.is_loss(info, frame)


def _is_plain_constructor(info: FunctionInfo, default: ast.expr | None, frame: Frame) -> bool:
    """Whether a function makes an object of no role in Keras, of what must be given: those of layers hold settings."""
    if info.name != "__init__" or info.cls is None or default is not None:
        return False
    return frame.analysis.classes.role(info.cls) is None


def _is_promised(
    promised: Value | None, name: str, info: FunctionInfo, used: frozenset[str]
) -> TypeGuard[Value]:
    """Whether an annotation is to be believed of a parameter that a caller passes something unknown for: not of a size, nor of what
    is only computed with as numbers are (`time: tf.Tensor`, and `time * stride` in the function).
    """
    if promised is None or not promised.is_tensor or parameters.is_size(name):
        return False
    uses = info.uses
    if name in used or name in uses.sliced or name in uses.shaped:
        return True
    return any(one.name == name for one in uses.passed) or not _computes_with(name, info)


def _computes_with(name: str, info: FunctionInfo) -> bool:
    """Whether a function does sums with a parameter."""
    return any(
        isinstance(side, ast.Name) and side.id == name
        for node in nodes_of([info.node])
        if isinstance(node, ast.BinOp)
        for side in (node.left, node.right)
    )


def _documented(info: FunctionInfo, name: str, frame: Frame) -> Value | None:
    """What the docstring promises of a parameter, where nothing in the code speaks against it."""
    if parameters.is_size(name) or parameters.is_setting(name) or "shape" in name:
        return None
    if info.module.is_of_arrays or documented.is_override(info):
        return None
    if evidence.is_asked_for_type(info, name):
        return None
    promised = documented.parameter(info, name)
    # NumPy's arrays are called tensors, too.
    is_array = promised is not None and evidence.is_given_to_numpy(name, info, frame)
    return None if is_array else promised
