"""Calls of methods of text, lists and dictionaries."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from xlalint.semantics import filled, known_texts, named_tuples
from xlalint.semantics.elements import element, keys_of
from xlalint.semantics.facts import FORMATTING
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import collected, formatting, iteration, outliving
from xlalint.semantics.joins import alternatives, join
from xlalint.semantics.values import (
    ARRIVING,
    CALLED,
    COLLECTION,
    MAPPING,
    NONE,
    NOTHING_KNOWN,
    SEQUENCE,
    SOME_PYTHON,
    TENSOR,
    Value,
    constant,
    usually,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments


def of_python(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    known = base.constant()
    if attr == "format" and known is not None and isinstance(known.value, str):
        formatted = formatting.fields_with_format(known.value)
        given = {str(i): v for i, v in enumerate(arguments.positional)} | arguments.keywords
        for name in sorted(formatted & given.keys()):
            if given[name].is_tensor and not (given[name].guess or given[name].structured):
                frame.analysis.note(frame, node, FORMATTING, given[name])
        return known_texts.formatted(known.value, given)
    return SOME_PYTHON


def of_sequence(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if base.given:
        return named_tuples.method(base, attr, arguments) or SOME_PYTHON
    if attr in ("insert", "pop") and arguments.positional and isinstance(node, ast.Call):
        iteration.note_key(node, arguments.positional[0], frame)
    if attr in ("append", "extend", "insert", "add") and arguments.positional:
        added = arguments.positional[-1]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            collected.note_collected(node, node.func.value, added, frame)
            if frame.context.is_compiled:
                outliving.note_kept_in_list(node, node.func.value, added, frame)
            if attr == "extend":
                iteration.note(frame, node, added, "`extend`")
        if attr == "append" and base.kind is SEQUENCE and len(base.ref) < _MOST_APPENDED:
            _append(node, base, added, frame)
        else:
            _grow(node, base, element(added) if attr == "extend" else added, frame)
        return NONE
    if attr in ("pop", "popleft"):
        return element(base)
    if attr in ("copy",):
        return base
    return SOME_PYTHON


# Of longer lists, what is in them is known, not how many there are.
_MOST_APPENDED = 8


def _append(node: ast.AST, base: Value, added: Value, frame: Frame) -> None:
    """`items.append(x)` of a list of which every item is known: one more. Where ways of two lengths meet, it is any number."""
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    dependence = max(base.dependence, added.dependence)
    filled.keep(
        node.func.value, base._replace(ref=(*base.ref, added), dependence=dependence), frame
    )


def _grow(node: ast.AST, base: Value, added: Value, frame: Frame) -> None:
    """`items.append(x)`: from here on the name holds a collection of what it held and `x`."""
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    if base.kind is SEQUENCE and not base.ref:
        filled.keep(node.func.value, Value(COLLECTION, ref=added), frame)
        return
    item = join(element(base), added)
    if item.guess and added.is_tensor and not added.guess:
        # Whatever else is in it, this is.
        item = item._replace(guess=False, sure=added.sure)
    filled.keep(node.func.value, Value(COLLECTION, ref=item), frame)


def of_mapping(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if attr in ("get", "pop", "setdefault") and arguments.positional and isinstance(node, ast.Call):
        iteration.note_key(node, arguments.positional[0], frame)
    if attr == "setdefault" and len(arguments.positional) == 2:
        _set_default(node, base, arguments.positional, frame)
    if attr in ("get", "pop", "setdefault") and arguments.positional:
        return _usually_left_out(base, arguments, node, frame) or _looked_up(base, arguments)
    if attr == "update":
        _update(node, base, arguments, frame)
        return NONE
    if attr in ("items", "values", "keys"):
        return _gone_through(base, attr)
    if base.guess and attr in _TESTS_OF_STEPS:
        return Value(TENSOR, ARRIVING, dtype="bool", sure=False)
    return base if attr == "copy" else NOTHING_KNOWN


# What the time steps of TF-Agents are asked, which are named tuples.
_TESTS_OF_STEPS = frozenset({"is_first", "is_last", "is_mid"})


def _gone_through(base: Value, attr: str) -> Value:
    """`table.items()`, `table.values()`, `table.keys()`: in order, where every key is known."""
    keys = keys_of(base)
    if not keys:
        item, key = element(base), SOME_PYTHON
        whole = {"items": Value(SEQUENCE, ref=(key, item)), "values": item, "keys": key}
        return Value(COLLECTION, ref=whole[attr])
    held = dict(base.ref)
    pairs = tuple((constant(key), held[key]) for key in keys)
    if attr == "items":
        return Value(SEQUENCE, ref=tuple(Value(SEQUENCE, ref=pair) for pair in pairs))
    return Value(SEQUENCE, ref=tuple(pair[attr == "values"] for pair in pairs))


def _usually_left_out(
    base: Value, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """`kwargs.pop("method", "bicubic")` of a function's `**kwargs` that nobody is seen to fill: as a parameter with a default."""
    default = arguments.positional[1].constant() if len(arguments.positional) > 1 else None
    if base.ref is not None or default is None or default.value is None or frame.function is None:
        return None
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None  # fmt: skip
    own = frame.function.node.args.kwarg
    if own is None or not isinstance(owner, ast.Name) or owner.id != own.arg:
        return None
    return usually(default.value)


def _update(node: ast.AST, base: Value, arguments: Arguments, frame: Frame) -> None:
    """`results.update(loss=x)`: from here on the name holds these items as well."""
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    owner = node.func.value
    if not filled.is_held(owner, frame) or base.ref is None:
        return
    pairs: list[tuple[Hashable, Value]] = []
    for given in arguments.positional:
        if given.kind is not MAPPING or given.ref is None:
            filled.keep(owner, base._replace(ref=None), frame)
            return
        pairs += given.ref
    pairs += arguments.keywords.items()
    collected.note_updated(node, owner, pairs, frame)
    pairs = [*base.ref, *pairs][-64:]
    held = base._replace(ref=None if arguments.open_ended else tuple(pairs))
    filled.keep(owner, held, frame)


def _set_default(node: ast.AST, base: Value, given: Sequence[Value], frame: Frame) -> None:
    """`results.setdefault("loss", loss)` of a dictionary that has no such key: one more item."""
    key = given[0].constant()
    if key is None or base.ref is None or any(name == key.value for name, _ in base.ref):
        return
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    owner = node.func.value
    if filled.is_held(owner, frame):
        pair = (key.value, given[1])
        collected.note_updated(node, owner, [pair], frame)
        filled.keep(owner, base._replace(ref=(*base.ref, pair)[-64:]), frame)


def _looked_up(base: Value, arguments: Arguments) -> Value:
    """`table.get(key, default)`: of a table of functions, one of them for a key that a setting chooses."""
    key = arguments.positional[0].constant()
    for name, item in reversed(base.ref or ()):
        if key is not None and name == key.value:
            return item  # type: ignore[no-any-return]
    others = next((item for name, item in base.ref or () if name is None), NOTHING_KNOWN)
    default = arguments.positional[1] if len(arguments.positional) > 1 else NONE
    if others.is_tensor and default == NONE:
        return others._replace(optional=True, structured=True)  # as an annotation says of each key
    if others.is_tensor or others.kind is MAPPING:
        return join(others, default)
    found = element(base)
    if key is not None or not all(one.kind in CALLED for one in alternatives(found)):
        return NOTHING_KNOWN
    return join(found, default)
