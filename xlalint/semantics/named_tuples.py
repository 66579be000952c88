"""Named tuples: `collections.namedtuple`, `typing.NamedTuple` and classes made of it. What they hold is read by name or position."""

from __future__ import annotations

import ast

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.values import (
    MAPPING,
    NAMED_TUPLE,
    NOTHING_KNOWN,
    SEQUENCE,
    Const,
    Value,
    constant,
)

# Pairs of a field's name and its default, NOTHING_KNOWN where it has none.
Fields = tuple[tuple[str, Value], ...]
_BASES = frozenset({"typing.NamedTuple", "collections.namedtuple"})


def made(name: str, arguments: Arguments) -> Value | None:
    """The class that `namedtuple("Step", ["state", "reward"])` makes; None for other calls, and where the fields are not known."""
    if name not in _BASES:
        return None
    given = arguments.positional[1:2] or tuple(
        v for k, v in arguments.keywords.items() if k in ("field_names", "fields")
    )
    names = _field_names(given[0]) if given else None
    if names is None:
        return None
    defaults = arguments.keywords.get("defaults")
    last = defaults.ref if defaults is not None and defaults.kind is SEQUENCE else ()
    values = (NOTHING_KNOWN,) * (len(names) - len(last)) + last
    return Value(NAMED_TUPLE, ref=tuple(zip(names, values)))


def _field_names(given: Value) -> list[str] | None:
    known = given.constant()
    if known is not None and isinstance(known.value, str):
        return known.value.replace(",", " ").split()
    if given.kind is not SEQUENCE:
        return None
    # typing.NamedTuple takes pairs of a name and a type.
    items = [item.ref[0] if item.kind is SEQUENCE and item.ref else item for item in given.ref]
    names = [item.ref.value for item in items if type(item.ref) is Const]
    if len(names) != len(given.ref) or not all(isinstance(name, str) for name in names):
        return None
    return names


def build(fields: Fields, arguments: Arguments) -> Value:
    """An instance: a tuple whose items have names."""
    if arguments.open_ended:
        return NOTHING_KNOWN
    values = dict(fields)
    values.update(zip(values, arguments.positional))
    values.update((name, item) for name, item in arguments.keywords.items() if name in values)
    return Value(SEQUENCE, ref=tuple(values.values()), given=tuple(values))


def field(value: Value, name: str) -> Value | None:
    """`step.reward`; None where the tuple has no field of that name."""
    if name == "_fields" and value.given:
        return Value(SEQUENCE, ref=tuple(constant(each) for each in value.given))
    if name not in value.given or len(value.given) != len(value.ref):
        return None
    return value.ref[value.given.index(name)]  # type: ignore[no-any-return]


def method(value: Value, name: str, arguments: Arguments) -> Value | None:
    """`step._replace(reward=r)` and `step._asdict()`; None for the methods of any tuple."""
    if not value.given or len(value.given) != len(value.ref):
        return None
    named = dict(zip(value.given, value.ref))
    if name == "_asdict":
        return Value(MAPPING, ref=tuple(named.items()))
    if name != "_replace":
        return None
    named.update((key, item) for key, item in arguments.keywords.items() if key in named)
    return value._replace(ref=tuple(named.values()))


def of_class(target: Value, attr: str) -> Value:
    """`Step._fields`, and `Step._make`, which takes what it is made of as one sequence."""
    names = tuple(name for name, _ in target.ref)
    if attr == "_fields":
        return Value(SEQUENCE, ref=tuple(constant(name) for name in names))
    return NOTHING_KNOWN


def fields_of(node: ast.ClassDef) -> list[tuple[str, ast.expr | None]]:
    """The fields that the body of a class declares, with their defaults."""
    return [
        (each.target.id, each.value)
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]
