"""What is known of a value that is one of two: where ways through the code meet."""

from __future__ import annotations

from typing import Any

from xlalint.semantics.results import shapes
from xlalint.semantics.values import (
    ANY_OF,
    CALLED,
    CLASS,
    COLLECTION,
    COMPUTED,
    DEFERRED,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    MAPPING,
    NAMED_TUPLE,
    NONE,
    NOTHING_KNOWN,
    PARTIAL,
    PROJECT_MODULE,
    PYTHON,
    SEQUENCE,
    SOME_LENGTH,
    SOME_TEXT,
    SUPER,
    TENSOR,
    TENSOR_ARRAY,
    UNKNOWN,
    VARIABLE,
    OneOf,
    Partly,
    Value,
    class_name,
    with_items,
)

_LISTS = frozenset({SEQUENCE, COLLECTION})


def join(a: Value, b: Value) -> Value:
    """What is known when the value is one of two."""
    if a == b:
        return a
    if a.kind in _LISTS and b.kind in _LISTS and _is_filled(a, b):
        return _join_lists(a, b)
    if a.kind is b.kind:
        if a.kind in _TOLD_BY_REF and (a.ref != b.ref or _close_differently(a, b)):
            return _join_objects(a, b)
        return _join_same_kind(a, b)
    if {a.kind, b.kind} == {TENSOR, VARIABLE}:
        return _join_same_kind(a._replace(kind=TENSOR, ref=None), b._replace(kind=TENSOR, ref=None))
    if _stands_in(a, b):
        return b._replace(optional=True)
    if _stands_in(b, a):
        return a._replace(optional=True)
    if (a.kind in _CHOSEN or a.kind is ANY_OF) and (b.kind in _CHOSEN or b.kind is ANY_OF):
        return _either(a, b)
    if _is_none(a):
        return b._replace(optional=True)
    if _is_none(b):
        return a._replace(optional=True)
    if _is_number_of_data(a) and _is_written_number(b):
        return _or_a_number(a)
    if _is_number_of_data(b) and _is_written_number(a):
        return _or_a_number(b)
    return Value(UNKNOWN, max(a.dependence, b.dependence))


def _close_differently(a: Value, b: Value) -> bool:
    """Whether they are one nested function that was defined for different values around it."""
    return a.closure != b.closure and a.closure is not None and b.closure is not None


def _is_number_of_data(value: Value) -> bool:
    """Whether the program draws or computes a scalar tensor: a random offset, the length of the longest row."""
    return (
        value.kind is TENSOR
        and value.rank == 0
        and value.dependence >= COMPUTED
        and not value.guess
    )


def _is_written_number(value: Value) -> bool:
    known = value.usual()
    return value == SOME_LENGTH or (known is not None and type(known.value) in (int, float))


def _or_a_number(value: Value) -> Value:
    """`tf.random.uniform(()) if moves else 0`: fit for what takes either, and decided by the data where they are asked."""
    return value._replace(dtype=None, ref=None)


def _is_filled(a: Value, b: Value) -> bool:
    """Whether two lists are one that was filled on a way: `[]` before a loop, and what the loop has appended after it."""
    if a.given or b.given:
        return False
    return a.kind is not b.kind or (a.kind is SEQUENCE and len(a.ref) != len(b.ref))


def _join_lists(a: Value, b: Value) -> Value:
    """A list of some items or of others. One that is empty on a way says nothing of them, but that there may be none."""
    items = [item_of(one) for one in (a, b) if one.kind is COLLECTION or one.ref]
    item = join_all(tuple(items))
    return Value(
        COLLECTION,
        max(a.dependence, b.dependence),
        dtype=a.dtype if a.dtype == b.dtype else None,
        ref=item if len(items) == 2 else _perhaps(item),
        sure=a.sure and b.sure,
        optional=a.optional or b.optional,
    )


def _perhaps(value: Value) -> Value:
    """What is there on one way only: a tensor is no more than a guess, and code for sparse and ragged ones may never run."""
    if value.is_composite:
        return NOTHING_KNOWN
    if value.is_tensor:
        return value._replace(guess=True, sure=False)
    return with_items(value, _perhaps)


def _stands_in(a: Value, b: Value) -> bool:
    """Whether `a` is an object of the project that takes the place of a package where it is not installed."""
    return b.kind is EXTERNAL and b.ref in _PACKAGES and a.kind is INSTANCE


_PACKAGES = frozenset({"tf", "keras", "tf_keras", "tf.compat.v1", "tensorflow_probability"})
_TOLD_BY_REF = frozenset(
    {
        FUNCTION,
        CLASS,
        INSTANCE,
        EXTERNAL,
        PROJECT_MODULE,
        SUPER,
        DEFERRED,
        PARTIAL,
        ANY_OF,
        NAMED_TUPLE,
    }
)
_CHOSEN = CALLED | {PROJECT_MODULE}


def _join_objects(a: Value, b: Value) -> Value:
    """Either of two functions, classes or objects: nothing is known, unless both are layers of Keras."""
    if a.kind is INSTANCE and b.kind is INSTANCE:
        names = [class_name(value) for value in (a, b)]
        if all(name is not None and ".layers." in name for name in names):
            return a._replace(ref=names[0])
    return _either(a, b)


_MOST_ALTERNATIVES = 8


def alternatives(value: Value) -> tuple[Value, ...]:
    """The functions, classes, objects or modules that a value may be; the value itself where it is one."""
    return value.ref if value.kind is ANY_OF else (value,)


def _either(a: Value, b: Value) -> Value:
    """Either of two functions, classes, objects or modules, which may be such choices themselves."""
    every = tuple(dict.fromkeys((*alternatives(a), *alternatives(b))))
    if len(every) > _MOST_ALTERNATIVES or not all(v.kind in _CHOSEN for v in every):
        return NOTHING_KNOWN
    return Value(ANY_OF, ref=every, optional=a.optional or b.optional)


def _is_none(value: Value) -> bool:
    return value.kind is PYTHON and value.ref == NONE.ref


def _join_same_kind(a: Value, b: Value) -> Value:
    return Value(
        a.kind,
        max(a.dependence, b.dependence),
        a.producer or b.producer,
        a.dtype if a.dtype == b.dtype else None,
        a.rank if a.rank == b.rank else None,
        _join_refs(a, b),
        a.sure and b.sure,
        a.optional or b.optional,
        a.structured or b.structured,
        a.guess or b.guess,
        a.shape if a.shape == b.shape else shapes.join(a.shape, b.shape),
        _join_axes(a, b),
        _join_counts(a, b),
        None,
        a.given if a.given == b.given else (),
        a.fields if a.fields == b.fields else _join_fields(a, b),
        a.closure if a.closure == b.closure else None,
    )


def _join_fields(a: Value, b: Value) -> tuple[tuple[str, Value], ...]:
    others = dict(b.fields)
    return tuple((name, join(v, others[name])) for name, v in a.fields if name in others)


def _join_axes(a: Value, b: Value) -> int | None:
    """Which dimension is data-sized, in whichever of the two is."""
    if a.producer is None:
        return b.sized_axis
    return a.sized_axis if b.producer is None or a.sized_axis == b.sized_axis else None


def _join_counts(a: Value, b: Value) -> int | None:
    """Who counted the elements, in whichever of the two is data-sized: `if mask is not None: x = x[mask]`."""
    if a.counted == b.counted or (a.producer is None) is (b.producer is None):
        return a.counted if a.counted == b.counted else None
    return b.counted if a.producer is None else a.counted


def _join_refs(a: Value, b: Value) -> Any:
    if a.ref == b.ref:
        return a.ref
    if a.kind is PYTHON:
        return _join_constants(a, b)
    if a.kind is SEQUENCE and len(a.ref) == len(b.ref):
        return tuple(join(x, y) for x, y in zip(a.ref, b.ref))
    if a.kind is SEQUENCE:
        return ()
    if a.kind is COLLECTION and a.ref is not None and b.ref is not None:
        return join(a.ref, b.ref)
    if a.kind is MAPPING and a.ref is not None and b.ref is not None:
        return _join_items(a.ref, b.ref)
    if a.kind is TENSOR_ARRAY and a.ref is not None and b.ref is not None:
        return a.ref.joined(b.ref)
    return None


_MOST_ITEMS = 64


def _join_items(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The items of a dictionary that two ways fill. None where there are many."""
    if len(a) + len(b) > _MOST_ITEMS:
        return None
    first, second = _by_key(a), _by_key(b)
    return tuple(
        (key, join(first[key], second[key]))
        if key in first and key in second
        else (key, _of_one_way(key, first[key] if key in first else second[key]))
        for key in {**first, **second}
    )


def _of_one_way(key: object, item: Value) -> Value:
    """An item that one way puts in. What any key holds is asked for nowhere but where it is there."""
    return item if key is None else _perhaps(item)


def _by_key(pairs: tuple[Any, ...]) -> dict[Any, Value]:
    """What was put last under each key; under those that are not known, any of what was put there."""
    items: dict[Any, Value] = {}
    for key, value in pairs:
        items[key] = join(items[key], value) if key is None and None in items else value
    return items


MOST_CHOICES = 6


def _join_constants(a: Value, b: Value) -> OneOf | Partly | None:
    """`"nearest" if small else "bilinear"` is one of two words, or some text; numbers and flags are left open."""
    both = a.choices() + b.choices()
    if (
        a.choices()
        and b.choices()
        and len(both) <= MOST_CHOICES
        and all(isinstance(v, str) for v in both)
    ):
        return OneOf(tuple(sorted(set(both))))
    return SOME_TEXT.ref if _is_text(a) and _is_text(b) else None


def _is_text(value: Value) -> bool:
    choices = value.choices()
    is_known = bool(choices) and all(isinstance(v, str) for v in choices)
    return is_known or type(value.ref) is Partly


def join_all(values: tuple[Value, ...]) -> Value:
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result


def item_of(value: Value) -> Value:
    """What a list holds, whichever of its items is meant."""
    if value.kind is SEQUENCE:
        return join_all(value.ref) if value.ref else NOTHING_KNOWN
    return value.ref if value.ref is not None else NOTHING_KNOWN
