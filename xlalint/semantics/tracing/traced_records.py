"""What a traced function is handed as one thing and takes apart: `batch["x"]`, `batch.reward`, `states, rewards = batch`.

tf.function makes tensors of what a structure holds, unless that is a setting or an object with methods of its own; nobody says which
by a parameter's name alone, but `config.rate` and `model.encode(x)` do.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from xlalint.semantics import records
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.parameters import is_setting, is_size
from xlalint.semantics.syntax import last_name, nodes_of
from xlalint.semantics.values import (
    ARRIVING,
    COLLECTION,
    MAPPING,
    NAMED_TUPLE,
    NOTHING_KNOWN,
    TENSOR,
    Value,
)

# What is no batch, whatever is asked of it.
_NO_BATCH = re.compile(
    r"(^|_)(cfg|conf|configs?|configuration|args|kwargs|params|hparams|hps?|flags?|opts?|options|settings|info|meta|metadata|spec|specs|"
    r"self|cls|strategy|replica|context|ctx|optimizers?|optim|tape|metrics?|loss(es)?(_fn)?|loss_object|criterion|dataset|iterator|"
    r"(q?net|network|model|agent|policy|actor|critic|encoder|decoder|generator|discriminator|layer|module|teacher|student|gen|disc)s?|"
    r"fn|func|function|dist|distribution|env|buffer|logger|writer|callbacks?|schedule|scheduler|manager|trainer|state|graph)$"
)
# What is one, or parts of one.
_BATCH = re.compile(
    r"(^|_)(batch(es)?|data|inputs?|features?|samples?|examples?|observations?|transitions?|experiences?|trajector(y|ies)|elements?|"
    r"tensors?|images?|labels?|targets?)$"
)
# Methods of dictionaries and named tuples, and of the time steps of TF-Agents.
_METHODS = frozenset(
    "items keys values get _asdict _replace is_last is_first is_mid copy pop".split()
)
# What is asked of a tensor, dense or not, or of an object.
_OF_TENSORS = frozenset(
    "shape dtype ndim rank name op graph device T dense_shape flat_values row_splits".split()
)
_ITEM = Value(TENSOR, ARRIVING, sure=False, structured=True)
_RECORD = Value(MAPPING, ref=((None, _ITEM),), guess=True)


def held(info: FunctionInfo, parameters: Mapping[str, Value], frame: Frame) -> dict[str, Value]:
    """Those of a traced function's parameters that are nothing known by anything else, and that it takes apart."""
    found = _of_several(info, parameters)
    names = {
        name for name, value in parameters.items() if _is_open(value) and not _NO_BATCH.search(name)
    }
    names = {name for name in names if _may_be_batch(info.annotations.get(name), frame)}
    names -= _with_defaults(info)
    names &= info.parameter_names  # not `**options`
    if not names:
        return found
    asked, unpacked = _asked_of(names, info)
    for name in sorted(names):
        parts = asked.get(name, {})
        if not all(parts.values()):
            continue
        if all(map(str.isdigit, parts)):
            # `height, width = size`, `size[0]`: of numbers, by their name
            if (parts or name in unpacked) and not (is_setting(name) or is_size(name)):
                found[name] = _named(name)
        elif not all(map(is_setting, parts)):
            settings = _settings(name, parameters[name], parts, info)
            known = dict(
                (parameters[name].ref or ())[1:] if parameters[name].kind is MAPPING else ()
            )
            found[name] = _RECORD._replace(ref=(*_RECORD.ref, *(settings | known).items()))
    return found


def _of_several(info: FunctionInfo, parameters: Mapping[str, Value]) -> dict[str, Value]:
    """`*inputs`, of which nothing is said."""
    several = info.node.args.vararg
    if several is None or several.annotation is not None or _NO_BATCH.search(several.arg):
        return {}
    is_open = parameters.get(several.arg) == Value(COLLECTION)
    return {several.arg: Value(COLLECTION, ref=_named(several.arg))} if is_open else {}


def _named(name: str) -> Value:
    """What `first, second = name` takes apart: `pads` may be numbers as well."""
    return _ITEM if _BATCH.search(name) else _ITEM._replace(guess=True)


def _settings(name: str, held: Value, parts: Iterable[str], info: FunctionInfo) -> dict[str, Value]:
    """Parts that are called as settings are: items hold no more than is known of all of them."""
    every = held.ref[0][1] if held.kind is MAPPING and held.ref else held
    guessed = every if every.is_tensor else NOTHING_KNOWN
    used = info.uses.parts.values()
    items = {part.key for part in used if part.owner == name and part.is_item}
    return {key: guessed if key in items else NOTHING_KNOWN for key in parts if is_setting(key)}


def _is_open(value: Value) -> bool:
    """Whether nothing is known of a parameter, or, of a dictionary's items, of those that are not named."""
    if value.kind is MAPPING:
        return not value.ref or (value.ref[0][0] is None and records.is_open(value.ref[0][1]))
    return records.is_open(value)


def _may_be_batch(annotation: ast.expr | None, frame: Frame) -> bool:
    """A class of the project's own says itself what it holds."""
    if annotation is None or isinstance(annotation, ast.Subscript):
        return True
    said = frame.analysis.evaluate(annotation, frame)
    return said.kind is NAMED_TUPLE or said.ref == "builtins.dict"


def _with_defaults(info: FunctionInfo) -> set[str]:
    given = info.node.args
    named = [*given.posonlyargs, *given.args]
    late = [each.arg for each in named[len(named) - len(given.defaults) :]]
    return {*late, *(each.arg for each, d in zip(given.kwonlyargs, given.kw_defaults) if d)}


def _asked_of(
    names: Iterable[str], info: FunctionInfo
) -> tuple[dict[str, dict[str, bool]], set[str]]:
    """Of each name what is asked of it, and whether that is asked of records; and those that are unpacked."""
    wanted = frozenset(names)
    asked: dict[str, dict[str, bool]] = {}
    unpacked: set[str] = set()
    called = {id(node.func) for node in nodes_of(info.body) if isinstance(node, ast.Call)}
    for node in nodes_of(info.body):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            if node.value.id in wanted and isinstance(node.targets[0], (ast.Tuple, ast.List)):
                unpacked.add(node.value.id)
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.value, ast.Name):
            owner = node.value.id
            if owner in wanted:
                key, is_of_record = _part(node, id(node) in called)
                parts = asked.setdefault(owner, {})
                parts[key] = parts.get(key, True) and is_of_record
    return asked, unpacked


def _part(node: ast.Attribute | ast.Subscript, is_called: bool) -> tuple[str, bool]:
    """The key or the attribute, and whether it is one that is asked of a record."""
    if isinstance(node, ast.Attribute):
        if is_called:
            return node.attr, node.attr in _METHODS
        return node.attr, isinstance(node.ctx, ast.Load) and node.attr not in _OF_TENSORS
    key = node.slice
    if isinstance(key, ast.Constant):
        # `batch[0]`: a part of a tuple, or of a tensor.
        return str(key.value), type(key.value) in (str, int)
    name = last_name(key)
    return name, name.isupper()  # `batch[Keys.IMAGE]`
