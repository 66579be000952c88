"""What assignments give the names, attributes and items in their targets."""

from __future__ import annotations

import ast

from xlalint.semantics import filled, parameters
from xlalint.semantics.control_flow.narrowing import dotted_name
from xlalint.semantics.elements import element, item_at
from xlalint.semantics.expressions import evaluate
from xlalint.semantics.facts import ARRAY_ITEM, ASSUMED, COMPILED
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import collected, iteration, outliving, unknown_sizes
from xlalint.semantics.index import ClassInfo
from xlalint.semantics.joins import join
from xlalint.semantics.nesting import bounded
from xlalint.semantics.subscripts import is_computed, note_index_of_array, note_index_of_list
from xlalint.semantics.tracing import host_use
from xlalint.semantics.values import (
    ARRIVING,
    COLLECTION,
    COMPUTED,
    MAPPING,
    NDARRAY,
    NONE,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    SHAPE,
    TENSOR,
    UNKNOWN,
    VARIABLE,
    Value,
)


def bind(target: ast.expr, value: Value, frame: Frame) -> None:
    """Give the names in an assignment's target their values."""
    value = bounded(value)
    if isinstance(target, ast.Name):
        if value.kind is UNKNOWN and _is_differentiated(target.id, frame):
            value = Value(TENSOR, COMPUTED, sure=frame.context.region == COMPILED, structured=True)
        frame.names[target.id] = value
        frame.names.forget_attributes(target.id)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(target.elts, value, frame)
    elif isinstance(target, ast.Attribute):
        _bind_attribute(target, value, frame)
    elif isinstance(target, ast.Starred):
        bind(target.value, Value(COLLECTION, ref=value), frame)
    elif isinstance(target, ast.Subscript):
        _bind_item(target, value, frame)


def _is_differentiated(name: str, frame: Frame) -> bool:
    """Whether compiled code takes the gradient of what it calls so: whoever made it, `loss` is a tensor then."""
    info = frame.function if frame.context.is_compiled else None
    return info is not None and name in info.training_uses.differentiated


def _unpack(targets: list[ast.expr], value: Value, frame: Frame) -> None:
    items = _items_of(value, targets) if value.kind is SEQUENCE else None
    if items is not None:
        for target, item in zip(targets, items):
            bind(target.value if isinstance(target, ast.Starred) else target, item, frame)
        return
    sizes = unknown_sizes.sizes_of(value, len(targets)) if value.kind is SHAPE else None
    if sizes is not None and not any(isinstance(target, ast.Starred) for target in targets):
        for target, size in zip(targets, sizes):
            bind(target, size, frame)
        return
    has_star = any(isinstance(target, ast.Starred) for target in targets)
    for place, target in enumerate(targets):
        inner = item_at(value, None if has_star else place)
        is_handed = (value.kind is COLLECTION or value.structured or value.guess) and (
            _is_handed_size(target, inner, frame)
        )
        bind(target, NOTHING_KNOWN if is_handed else inner, frame)


def _is_handed_size(target: ast.expr, inner: Value, frame: Frame) -> bool:
    """`data, batch_size = inputs` of an `inputs: list[tf.Tensor]`: a number, or a shape, that a layer's caller may have read off a tensor."""
    return (
        inner.dependence == ARRIVING
        and frame.function is not None
        and frame.function.name == "call"
        and isinstance(target, ast.Name)
        and (parameters.is_number_of_things(target.id) or target.id.endswith("shape"))
    )


def _items_of(value: Value, targets: list[ast.expr]) -> list[Value] | None:
    """What each of the targets gets of a sequence, the starred one a list; None where the numbers do not fit."""
    items = list(value.ref)
    stars = [place for place, each in enumerate(targets) if isinstance(each, ast.Starred)]
    if not stars:
        return items if len(items) == len(targets) else None
    (star,) = stars
    after = len(items) - (len(targets) - star - 1)
    if after < star:
        return None
    return [
        *items[:star],
        Value(SEQUENCE, ref=tuple(items[star:after]), dtype="list"),
        *items[after:],
    ]


def _bind_attribute(target: ast.Attribute, value: Value, frame: Frame) -> None:
    key = dotted_name(target)
    if key is None:
        evaluate(target.value, frame)
        return
    frame.names[key] = value
    if (
        frame.context.is_compiled
        and not frame.silent
        and frame.self_value is not None
        and isinstance(target.value, ast.Name)
        and target.value.id == frame.self_name
        and isinstance(frame.self_value.ref, ClassInfo)
    ):
        kept = _if_made(value) if frame.undecided else value
        frame.analysis.objects.keep_attribute(frame.self_value.ref, target.attr, kept)
        if value.is_tensor or value.kind is SEQUENCE or value.kind is COLLECTION:
            outliving.note_kept(target, value, frame)
    if (
        frame.attributes is not None
        and isinstance(target.value, ast.Name)
        and target.value.id == frame.self_name
    ):
        known = frame.attributes.get(target.attr)
        if known is not None and known != NONE and not _overrides(target.attr, frame):
            value = join(known, value)
        elif known is not None and known == NONE and frame.undecided:
            value = _if_made(value)
        frame.attributes[target.attr] = value


def _if_made(value: Value) -> Value:
    """What an attribute holds that one way alone sets: a variable, or none."""
    return value._replace(optional=True) if value.kind is VARIABLE else value


def _overrides(attr: str, frame: Frame) -> bool:
    """Whether what was left in an attribute is replaced, whatever the settings are: by a statement of the method itself, or what the
    constructor of a base left.
    """
    if frame.undecided or frame.unusual or frame.loops:
        return False
    if frame.depth <= 1:
        return True
    if attr not in frame.inherited:
        return False
    frame.inherited.discard(attr)
    return True


def _bind_item(target: ast.Subscript, value: Value, frame: Frame) -> None:
    base = evaluate(target.value, frame)
    name = dotted_name(target.value)
    if name is None or name not in frame.names:
        collected.note_collected(target, target.value, value, frame)
        if value.is_tensor and frame.context.is_compiled:
            outliving.note_kept(target, value, frame)
        return
    if base.kind is NDARRAY:
        _store_in_array(target, base, value, frame)
        return
    if base.kind is MAPPING:
        asked = evaluate(target.slice, frame)
        iteration.note_key(target, asked, frame)
        collected.note_stored(target, value, frame)
        keys = asked.choices() or (None,)
        pairs = (*(base.ref or ()), *((key, value) for key in keys))
        held = bounded(base._replace(ref=pairs[-64:]))
        frame.names[name] = held
        filled.keep(target.value, held, frame)
    elif base.kind in (SEQUENCE, COLLECTION):
        index = None
        if not isinstance(target.slice, ast.Slice):
            index = evaluate(target.slice, frame)
            if not isinstance(target.slice, ast.Constant):
                note_index_of_list(target, base, index, frame)
        held = bounded(_with_item(base, index, value))
        frame.names[name] = held
        filled.keep(target.value, held, frame)


def _with_item(base: Value, index: Value | None, value: Value) -> Value:
    """A list of which an item is replaced: any, where nobody knows which. A slice (`index` is None) may leave more or fewer items."""
    if index is None or base.kind is COLLECTION:
        return Value(COLLECTION, ref=join(element(base), value))
    place = index.constant()
    if place is None:
        return base._replace(ref=tuple(join(item, value) for item in base.ref))
    items = list(base.ref)
    if isinstance(place.value, int) and -len(items) <= place.value < len(items):
        items[place.value] = value
    return base._replace(ref=tuple(items))


def _is_at_tensors(index: ast.expr, frame: Frame) -> bool:
    """`array[0, i]`, where `i` goes over a tensor: eager code alone has numbers for it."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    names = [part for part in parts if isinstance(part, ast.Name)]
    return any(frame.analysis.evaluate(name, frame).kind is TENSOR for name in names)


def _store_in_array(target: ast.Subscript, base: Value, value: Value, frame: Frame) -> None:
    """`array[i] = tensor`: only an array of objects takes one."""
    if frame.context.region == ASSUMED:
        # Nobody compiles what fills arrays with what it is given or computes, or at places that it does; with sizes, permutations and tables, many do.
        if value.kind not in (PYTHON, SHAPE, NDARRAY) or _is_at_tensors(target.slice, frame):
            frame.host |= host_use.WORK
    elif base.dtype not in (None, "object") and is_computed(value):
        frame.analysis.note(frame, target, ARRAY_ITEM, value)
    else:
        note_index_of_array(target, frame)
