"""Parameters that hold several tensors by name: `batch["mask"]` of a dictionary, `batch.mask` of a named tuple or an object.

Nobody says what is under which key. What a function computes with is a tensor there, as it is among its parameters, and so is
what bears a name that tensors bear.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from xlalint.semantics import evidence
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.parameters import by_name, is_setting
from xlalint.semantics.uses import Part
from xlalint.semantics.values import (
    DATA,
    INPUTS,
    LIKELY_DATA,
    MAPPING,
    NOTHING_KNOWN,
    TENSOR,
    Value,
)


def may_hold(info: FunctionInfo, parameters: Iterable[Value]) -> bool:
    """Whether a function takes parts of parameters, and has some that may be anything."""
    may_be = any(v.kind is MAPPING or is_open(v) or _is_inputs(v) for v in parameters)
    return may_be and bool(info.uses.parts)  # looked for where it matters alone


def held(
    info: FunctionInfo, parameters: Mapping[str, Value], used: Collection[str], frame: Frame
) -> dict[str, Value]:
    """What those of the parameters hold that are only known by their parts: dictionaries, and attributes by their dotted names.

    `used` are the names and parts that the function treats as tensors.
    """
    parts: dict[str, list[Part]] = {}
    found: dict[str, Value] = {}
    for part in info.uses.parts.values():
        value = parameters.get(part.owner)
        if value is None or part.owner in used:
            continue
        if is_open(value):
            parts.setdefault(part.owner, []).append(part)
        elif _is_inputs(value) and not part.is_item and part.text in used:
            found[part.text] = DATA
    for owner, several in parts.items():
        if not is_setting(owner) and not evidence.is_asked_for_type(info, owner):
            found.update(_of_parameter(owner, parameters[owner], several, info, used, frame))
    return found


def is_open(value: Value) -> bool:
    """Whether a parameter is nothing known, or a tensor by its name alone: `features`."""
    return value == NOTHING_KNOWN or (value.kind is TENSOR and value.guess)


def _is_inputs(value: Value) -> bool:
    """Whether a parameter is what Keras calls a layer with: a tensor, or a structure of them such as a named tuple."""
    return value == INPUTS


def _of_parameter(
    owner: str,
    value: Value,
    parts: list[Part],
    info: FunctionInfo,
    used: Collection[str],
    frame: Frame,
) -> dict[str, Value]:
    tensors = [part for part in parts if part.text in used]
    if not tensors and not evidence.computes(info, frame):
        return {}
    found = {part.text: LIKELY_DATA for part in tensors if not part.is_item}
    keys = [part for part in parts if part.is_item]
    items = {part.key: LIKELY_DATA for part in keys if part in tensors or _bears_name(part)}
    if items:
        # The first entry stands for every other key.
        found[owner] = Value(MAPPING, ref=((None, value), *items.items()), optional=value.optional)
    return found


def _bears_name(part: Part) -> bool:
    return not is_setting(part.key) and by_name(part.key) is not None


def promote(info: FunctionInfo, used: Collection[str], frame: Frame) -> None:
    """In a compiled function, the items that are used as tensors are some: tf.function makes them so."""
    for owner in {part.owner for part in info.uses.parts.values() if part.text in used}:
        value = frame.names.get(owner)
        if value is None or value.kind is not MAPPING or not value.ref:
            continue
        items = tuple(
            (key, item._replace(sure=True, guess=False) if _is_used(owner, key, used) else item)
            for key, item in value.ref
        )
        frame.names[owner] = value._replace(ref=items)


def _is_used(owner: str, key: object, used: Collection[str]) -> bool:
    return isinstance(key, str) and Part(owner, key, True).text in used
