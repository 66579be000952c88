"""What a step of a loop leaves longer than it found it, read off the statements of the step: through names, items and functions.

`tokens = tf.concat([tokens, new], 1)` says it in one statement. Caches of keys and values say it in several: `cache["k"] = tf.concat(
[cache["k"], k], 1)`, `y, cache = attend(y, cache)`. What holds several things keeps its places here: `cache['k']`, `state[0]`,
`state[Keys.TOKENS]`, `state.tokens`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from xlalint.semantics.callbacks.callables import only_callee
from xlalint.semantics.control_flow import kept_axes
from xlalint.semantics.control_flow.growth import CONCATENATIONS
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.names import api_name
from xlalint.semantics.syntax import in_order, nodes_of
from xlalint.semantics.truths import is_usual, truth
from xlalint.semantics.values import EXTERNAL, INSTANCE, NAMED_TUPLE, UNKNOWN, Value

_MOST_CALLS = 3
_SAME = frozenset({"tf.identity", "tf.stop_gradient", "tf.cast", "tf.convert_to_tensor"})
_MAPS = frozenset({"tf.nest.map_structure", "tree.map_structure", "keras.tree.map_structure"})
_COPIES = frozenset({"builtins.dict", "builtins.list", "builtins.tuple"})


class _Written(NamedTuple):
    """A key that is no constant here: `.tokens` of a named tuple, `[Keys.TOKENS]` of a name that the project keeps for it."""

    text: str


class Part(NamedTuple):
    """What held these places before the step, as it was or with more behind it.

    `longer` are the axes along which it has grown (None: one that is not known), `changed` those along which it may be shorter.
    `rank` is the least number of axes that it has.
    """

    places: frozenset[str]
    longer: frozenset[int | None] = frozenset()
    changed: frozenset[int] = frozenset()
    rank: int = 0


# A part, several things by their keys (all others under `...`), or nothing known.
Held = Part | dict[object, "Held"] | None
Known = dict[str, Held]


def grown(
    block: Iterable[ast.stmt], ranks: Mapping[str, int], frame: Frame
) -> Iterator[tuple[str, str]]:
    """The places that a step leaves longer: the name they belong to, and how they are written.

    `ranks` are the names that the step assigns, and how many axes they have at least.
    """
    # What was None before the loop is a tensor after its first step: `if cache is not None` holds of it.
    known: Known = {name: Part(frozenset({name}), rank=ranks[name]) for name in ranks}
    _follow(block, known, frame, 0)
    for name in ranks:
        yield from ((name, place) for place in _longer(name, known.get(name)))


def grown_items(
    returned: ast.expr, block: Iterable[ast.stmt], ranks: Mapping[str, int], frame: Frame
) -> dict[int, str]:
    """The same of what the body of a tf.while_loop returns for its parameters, by position."""
    known: Known = {name: Part(frozenset({name}), rank=ranks[name]) for name in ranks}
    _follow(block, known, frame, 0)
    held = _read(returned, known, frame, 0)
    found: dict[int, str] = {}
    for position, name in enumerate(ranks):
        item = held.get(position) if isinstance(held, dict) else None
        place = next(_longer(name, item), None)
        if place is not None:
            found[position] = place
    return found


def _longer(place: str, held: Held) -> Iterator[str]:
    if isinstance(held, Part):
        if held.longer and place in held.places:
            yield place
    elif held is not None:
        for key, item in held.items():
            if key is not ...:
                yield from _longer(_within(place, key), item)


def _within(place: str, key: object) -> str:
    return place + (key.text if isinstance(key, _Written) else f"[{key!r}]")


def _follow(block: Iterable[ast.stmt], known: Known, frame: Frame, depth: int) -> None:
    for statement in in_order(block):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            held = _read(statement.value, known, frame, depth)
            _bind(statement.targets[0], held, known)
        elif isinstance(statement, ast.If) and _is_setting(statement.test, known, frame):
            _follow_setting(statement, known, frame, depth)
        elif isinstance(statement, ast.Expr):
            _update(statement.value, known, frame, depth)
        elif not isinstance(statement, (ast.Pass, ast.Return, ast.Assert)):
            for node in nodes_of([statement], into_functions=False):
                if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                    known[node.id] = None
                elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                    known[ast.unparse(node.value).partition("[")[0]] = None


def _update(node: ast.expr, known: Known, frame: Frame, depth: int) -> None:
    """`state.update({"tokens": longer})`, `state.update(tokens=longer)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return
    if node.func.attr == "update" and known.get(called := ast.unparse(node.func.value)) is not None:
        held: list[Held] = [known[called]]
        held += [_read(each, known, frame, depth) for each in node.args]
        held += [{k.arg: _read(k.value, known, frame, depth)} for k in node.keywords]
        known[called] = _merged(held)


def _merged(held: Iterable[Held]) -> Held:
    """What several dicts make together, the last first."""
    merged: dict[object, Held] = {}
    for each in held:
        if isinstance(each, dict) and ... not in each:
            merged = {**merged, **each}
        else:
            merged = each if isinstance(each, dict) else {...: each}
    return merged


def _is_setting(test: ast.expr, known: Known, frame: Frame) -> bool:
    """Whether a condition is the same in every step: of a parameter that was passed, or a flag from outside of the loop."""
    if _is_given(test, known) is not None:
        return True
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return True  # `mask is not None`
    flag = test.operand if isinstance(test, ast.UnaryOp) else test
    if not isinstance(flag, (ast.Name, ast.Attribute)):
        return False
    if any(isinstance(part, ast.Name) and part.id in known for part in ast.walk(flag)):
        return isinstance(flag, ast.Name) and known[flag.id] is None and _is_flag(flag, frame)
    return not frame.analysis.evaluate(flag, frame).is_tensor


def _is_flag(name: ast.Name, frame: Frame) -> bool:
    """Whether a name is a parameter that is True or False where nobody passes another, in the function that it stands in."""
    info = frame.module.innermost(name.lineno)
    default = info.default_of(name.id) if info is not None else None
    return isinstance(default, ast.Constant) and type(default.value) is bool


def _follow_setting(statement: ast.If, known: Known, frame: Frame, depth: int) -> None:
    """The arm that is gone; where a caller chooses it, both: what grows in one of them grows for some."""
    holds = _is_given(statement.test, known)
    if holds is None:
        value = frame.analysis.evaluate(statement.test, frame)
        holds = is_usual(value) if truth(value) is None else truth(value)
    if holds is not None:
        _follow(statement.body if holds else statement.orelse, known, frame, depth)
        return
    other = dict(known)
    _follow(statement.body, known, frame, depth)
    _follow(statement.orelse, other, frame, depth)
    for name in known.keys() | other.keys():
        known[name] = _either(known.get(name), other.get(name))


def _either(first: Held, second: Held) -> Held:
    if first == second:
        return first
    if isinstance(first, dict) and isinstance(second, dict):
        keys = [*first, *(key for key in second if key not in first)]
        return {k: _either(first.get(k, second.get(k)), second.get(k, first.get(k))) for k in keys}
    longer = [each for each in (first, second) if isinstance(each, Part) and each.longer]
    return longer[0] if len(longer) == 1 else None


def _is_given(test: ast.expr, known: Known) -> bool | None:
    """Whether `cache is not None` holds of a parameter that was passed; None of all other tests."""
    if not isinstance(test, ast.Compare) or not isinstance(test.left, ast.Name):
        return None
    other = test.comparators[0]
    if not isinstance(other, ast.Constant) or other.value is not None or len(test.ops) > 1:
        return None
    if known.get(test.left.id) is None:
        return None
    return isinstance(test.ops[0], (ast.IsNot, ast.NotEq))


def _bind(target: ast.expr, held: Held, known: Known) -> None:
    if isinstance(target, ast.Name):
        known[target.id] = held
    elif isinstance(target, (ast.Tuple, ast.List)):
        for position, each in enumerate(target.elts):
            _bind(each, _item(held, position), known)
    elif isinstance(target, ast.Subscript) and (key := _key(target.slice)) is not None:
        _bind(target.value, _merged([_place(target.value, known), {key: held}]), known)


def _place(node: ast.expr, known: Known) -> Held:
    """What a name holds, or an item of it."""
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Subscript) and (key := _key(node.slice)) is not None:
        return _item(_place(node.value, known), key)
    return None


def _key(node: ast.expr) -> object | None:
    """The key that is written in brackets: a constant, or a name in capitals, which the project keeps for one."""
    if isinstance(node, ast.Constant):
        return node.value
    name = getattr(node, "attr", getattr(node, "id", ""))
    return _Written(f"[{ast.unparse(node)}]") if name.isupper() else None


def _item(held: Held, key: object) -> Held:
    if isinstance(held, dict):
        return held[key] if key in held else _item(held.get(...), key)
    if held is None or held.longer or held.changed:
        return None
    return Part(frozenset(_within(place, key) for place in held.places))


def _read(node: ast.expr, known: Known, frame: Frame, depth: int) -> Held:
    if isinstance(node, ast.Name):
        return _place(node, known)
    if isinstance(node, (ast.Tuple, ast.List)):
        return {i: _read(item, known, frame, depth) for i, item in enumerate(node.elts)}
    if isinstance(node, ast.Dict):
        return _of_dict(node, known, frame, depth)
    if isinstance(node, ast.Subscript) and (key := _key(node.slice)) is not None:
        return _item(_read(node.value, known, frame, depth), key)
    if isinstance(node, ast.Attribute):
        return _item(_place(node.value, known), _Written(f".{node.attr}"))
    if isinstance(node, ast.UnaryOp):
        return _read(node.operand, known, frame, depth)
    if isinstance(node, ast.BinOp):
        return _combined(kept_axes.of_operation(node), known, frame, depth)
    return _of_call(node, known, frame, depth) if isinstance(node, ast.Call) else None


def _of_dict(node: ast.Dict, known: Known, frame: Frame, depth: int) -> Held:
    """`{"tokens": longer}`, and with everything of another one: `{**state, "tokens": longer}`."""
    held: list[Held] = [{}]
    for key, value in zip(node.keys, node.values):
        item = _read(value, known, frame, depth)
        if key is None:
            held.append(item)
        elif (written := _key(key)) is not None:
            held.append({written: item})
    return _merged(held)


def _of_fields(
    node: ast.Call, names: Iterable[str], known: Known, frame: Frame, depth: int
) -> Held:
    """What the fields of a named tuple hold that a call makes."""
    pairs = [*zip(names, node.args), *((k.arg, k.value) for k in node.keywords)]
    return {_Written(f".{n}"): _read(value, known, frame, depth) for n, value in pairs}


def _of_call(node: ast.Call, known: Known, frame: Frame, depth: int) -> Held:
    if not isinstance(node.func, (ast.Name, ast.Attribute)):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "_replace":
        whole = _read(node.func.value, known, frame, depth)
        return _merged([whole, _of_fields(node, (), known, frame, depth)])
    target = frame.analysis.evaluate(node.func, frame)
    if target.kind is UNKNOWN and isinstance(node.func, ast.Name):
        around = frame.module.innermost(node.lineno)
        own = around.nested.get(node.func.id) if around is not None else None
        if own is not None and depth < _MOST_CALLS:
            return _of_function(own, _given(node, own, known, frame, depth), frame, depth)
    if target.kind is EXTERNAL:
        name = api_name(str(target.ref))
        if name in _MAPS and len(node.args) == 2:
            return _mapped(node.args[0], _read(node.args[1], known, frame, depth), frame, depth)
        if name in CONCATENATIONS:
            return _joined(node, known, frame, depth)
        if name in _SAME or name in _COPIES:
            return _read(node.args[0], known, frame, depth) if node.args else None
        return _combined(kept_axes.of_call(name, node, frame), known, frame, depth)
    if target.kind is NAMED_TUPLE:
        return _of_fields(node, (name for name, _ in target.ref), known, frame, depth)
    if depth >= _MOST_CALLS:
        return None
    callee = only_callee(target, frame.analysis)
    info, owner = (callee.function, callee.bound) if callee is not None else (None, None)
    if info is None and target.kind is INSTANCE and isinstance(target.ref, ClassInfo):
        info, owner = frame.analysis.classes.method(target.ref, "call"), target
    if info is None or isinstance(info.node, ast.Lambda):
        return None
    return _of_function(info, _given(node, info, known, frame, depth), frame, depth, owner)


def _mapped(function: ast.expr, held: Held, frame: Frame, depth: int) -> Held:
    """`tf.nest.map_structure(lambda each: tf.gather_nd(each, places), state)`."""
    if isinstance(held, dict):
        return {key: _mapped(function, item, frame, depth) for key, item in held.items()}
    if held is None or not isinstance(function, ast.Lambda) or len(function.args.args) != 1:
        return None
    return _read(function.body, {function.args.args[0].arg: held}, frame, depth)


def _combined(sources: Iterable[kept_axes.Source], known: Known, frame: Frame, depth: int) -> Held:
    """What an operation makes of its arguments: at least as long as each of them."""
    parts: list[Part] = []
    for source in sources:
        held = _read(source.node, known, frame, depth)
        if isinstance(held, Part):
            parts.append(_changed_along(source.changed, held))
    if not parts:
        return None
    parts = [part for part in parts if part.longer] or parts
    return Part(
        frozenset().union(*(part.places for part in parts)),
        frozenset.intersection(*(part.longer for part in parts)),
        frozenset().union(*(part.changed for part in parts)),
        max(part.rank for part in parts),
    )


def _changed_along(axes: frozenset[int], part: Part) -> Part:
    """A part that an operation may have made shorter along these axes."""
    if not axes:
        return part
    still = [
        longer
        for longer in part.longer
        if all(kept_axes.are_apart(longer, axis, part.rank) for axis in axes)
    ]
    return part._replace(longer=frozenset(still), changed=part.changed | axes)


def _joined(node: ast.Call, known: Known, frame: Frame, depth: int) -> Held:
    joined = node.args[0] if node.args else None
    if not isinstance(joined, (ast.List, ast.Tuple)) or len(joined.elts) < 2:
        return None
    held = [_read(item, known, frame, depth) for item in joined.elts]
    parts = [part for part in held if isinstance(part, Part)]
    if not parts:
        return None
    axis = kept_axes.number(_axis_given(node), frame)
    rank = max(kept_axes.written_rank(item, frame) for item in joined.elts)
    parts = [part._replace(rank=max(part.rank, rank)) for part in parts]
    whole = [part for part in parts if _is_whole(part, axis)]
    if not whole:
        return parts[0] if len(parts) == 1 else None
    places = frozenset().union(*(part.places for part in whole))
    changed = frozenset().union(*(part.changed for part in whole))
    longer = frozenset({axis}).union(*(part.longer for part in whole) if len(whole) == 1 else ())
    return Part(places, longer, changed, max(part.rank for part in whole))


def _is_whole(part: Part, axis: int | None) -> bool:
    """Whether a part is as long along an axis as it was, or longer."""
    return all(kept_axes.are_apart(axis, each, part.rank) for each in part.changed)


def _axis_given(node: ast.Call) -> ast.expr | None:
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    return node.args[1] if len(node.args) > 1 else given.get("axis")


def _own_name(info: FunctionInfo, frame: Frame) -> str | None:
    """What a method calls its own object; None of other functions."""
    arguments = info.node.args
    named = (*arguments.posonlyargs, *arguments.args)
    is_method = info.cls is not None and not frame.analysis.traits(info).is_static
    return named[0].arg if is_method and named else None


def _given(
    node: ast.Call, info: FunctionInfo, known: Known, frame: Frame, depth: int
) -> Mapping[str, Held]:
    arguments = info.node.args
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    if _own_name(info, frame) is not None:
        names = names[1:]
    if any(isinstance(each, ast.Starred) for each in node.args):
        return {}
    pairs = [*zip(names, node.args), *((k.arg, k.value) for k in node.keywords)]
    return {name: _read(value, known, frame, depth) for name, value in pairs if name is not None}


def _of_function(
    info: FunctionInfo,
    given: Mapping[str, Held],
    frame: Frame,
    depth: int,
    owner: Value | None = None,
) -> Held:
    """What a function without other ways to its end returns; `owner` is the object that it is bound to."""
    body = list(in_order(info.node.body)) if isinstance(info.node.body, list) else []
    if not body or not isinstance(body[-1], ast.Return):
        return None
    parts = nodes_of(body, into_functions=False)
    returns = [part for part in parts if isinstance(part, ast.Return)]
    if len(returns) != 1 or body[-1].value is None:
        return None
    home = frame.analysis.modules.closures.home(info)
    own = _own_name(info, frame)  # what an object was made with is the same in every step
    if own is not None and owner is not None:
        home = frame.analysis.functions.frame_of(info, frame.context, owner, frame.depth + 1)
        home.names[own] = owner
        home.silent = True
    inner: Known = dict.fromkeys(info.parameter_names - {own}) | dict(given)
    _follow(body[:-1], inner, home, depth + 1)
    return _read(body[-1].value, inner, home, depth + 1)
