"""Whether the callers of a function train what flows through it: `loss = ordered(tf.boolean_mask(losses, mask))` under a tape.

What a function does to its parameters, its callers decide whether a gradient is taken of. The calls that led to a function are
followed outwards, for as long as each hands on what it was given and returns what it made of it.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients.flows import (
    Slices,
    body_of,
    is_cut_off,
    is_too_long,
    is_trained_method,
)
from xlalint.semantics.gradients.passed_arguments import arguments_for, names_read
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.values import EXTERNAL, SEQUENCE

_MOST_CALLS = 8


class Passage(NamedTuple):
    """What a function does: `parameters` flow in, and come out as these items of what it returns, all of it if None.

    `names`: all of its names that flow in, `is_fed`: something trained does from the function itself.
    """

    function: FunctionInfo
    parameters: frozenset[str]
    names: frozenset[str]
    items: frozenset[int] | None
    is_fed: bool


class Way(NamedTuple):
    """How something leaves the functions around it: through which, and whether a gradient is sure to be taken of it."""

    passages: tuple[Passage, ...]
    is_trained: bool


def way_out(flows: Slices, is_fed: bool, names_objectives: bool, frame: Frame) -> Way:
    """Follow what flows through a node of a function to those who called it.

    `names_objectives`: a function that says by its name that it computes a loss is taken to be trained.
    """
    passage = _passage(flows, is_fed, frame)
    if passage is None:
        return Way((), False)
    return _onwards(passage, names_objectives, frame.caller, frame.called_at)


def way_on(
    passages: tuple[Passage, ...],
    called: FunctionInfo,
    names_objectives: bool,
    node: ast.AST | None,
    caller: Frame,
) -> bool:
    """Whether one more caller of a function on that way, who passes the same, trains what comes of it."""
    for passage in passages:
        if passage.function is called:
            return _onwards(passage, names_objectives, caller, node).is_trained
    return False


def _onwards(
    passage: Passage,
    names_objectives: bool,
    caller: Frame | None,
    node: ast.AST | None,
) -> Way:
    passages = [passage]
    while caller is not None and isinstance(node, ast.Call) and len(passages) < _MOST_CALLS:
        if is_too_long(caller) or is_cut_off(node, caller):
            break
        flows = _flows_of_call(node, passage, caller)
        if flows is None:
            break
        feeds = flows.feeds_it()
        is_fed = passage.is_fed or bool(feeds)
        if feeds is False and not is_fed:
            break
        if is_fed and _is_trained_here(flows, caller):
            return Way(tuple(passages), True)
        if names_objectives and not flows.takes_gradient() and flows.is_objective():
            return Way(tuple(passages), True)
        found = _passage(flows, is_fed, caller)
        if found is None:
            break
        passage = found
        passages.append(passage)
        node, caller = caller.called_at, caller.caller
    return Way(tuple(passages), False)


def _is_trained_here(flows: Slices, frame: Frame) -> bool:
    if flows.takes_gradient():
        return flows.reaches_gradient()
    is_root = frame.function is not None and frame.function is frame.context.root
    return is_root and is_trained_method(frame, frame.analysis) and flows.leaves_function()


def _passage(flows: Slices, is_fed: bool, frame: Frame) -> Passage | None:
    """What becomes of a node in its function; None where it does not come out of it in a way that is understood."""
    info = frame.function
    if info is None or flows.takes_gradient():
        return None
    items = _items_returned(flows, info)
    if items is not None and not items:
        return None
    names = flows.names()
    return Passage(info, flows.parameters(names), names, items, is_fed)


def _items_returned(flows: Slices, info: FunctionInfo) -> frozenset[int] | None:
    """Which items of the tuple that a function returns; None if it is what the function returns, none if it is neither."""
    if isinstance(info.node, ast.Lambda):
        return None
    found: set[int | None] = set()
    for part in nodes_of(body_of(info), into_functions=False):
        if isinstance(part, ast.Return) and part.value is not None:
            if isinstance(part.value, ast.Tuple):
                found.update(i for i, item in enumerate(part.value.elts) if flows.reaches(item))
            elif isinstance(part.value, (ast.Dict, ast.List)) and flows.reaches(part.value):
                return frozenset()
            elif flows.reaches(part.value):
                found.add(None)
    if None in found:
        return None if len(found) == 1 else frozenset()
    return frozenset(item for item in found if item is not None)


def _flows_of_call(node: ast.Call, passage: Passage, caller: Frame) -> Slices | None:
    """What flows through a call of a function; None where its result is taken apart in a way that is not understood."""
    given = _given(node, passage, caller)
    if passage.items is None:
        return Slices(node, caller, given)
    for part in nodes_of(body_of(caller.function)):
        if isinstance(part, ast.Call) and _is_starred_in(node, part):
            return Slices(
                part, caller, given
            )  # `loss(*labelled(x, y))`: what comes of the one goes into the other
        if isinstance(part, ast.Subscript) and part.value is node:
            place = getattr(part.slice, "value", None)
            return Slices(part, caller, given) if place in passage.items else None
        if isinstance(part, ast.Assign) and part.value is node and len(part.targets) == 1:
            names = _names_of(part.targets[0], passage.items)
            # Another node than the call: only these names carry it.
            return Slices(ast.Pass(), caller, given, names) if names else None
    return None


def _is_starred_in(node: ast.Call, call: ast.Call) -> bool:
    return any(isinstance(each, ast.Starred) and each.value is node for each in call.args)


def _given(node: ast.Call, passage: Passage, caller: Frame) -> list[ast.expr]:
    """What a call passes for the parameters, and the names that a function inside of the caller reads of it."""
    given = _passed(node, passage, caller)
    if passage.function.parent is not None and passage.function.parent is caller.function:
        given += names_read(passage.function, passage.names)
    return given


def _passed(node: ast.Call, passage: Passage, caller: Frame) -> list[ast.expr]:
    """What a call passes for the parameters; of `tf.map_fn(one, (rows, weights))`, what `one` takes of it."""
    if caller.analysis.evaluate(node.func, caller).kind is not EXTERNAL:
        return arguments_for(passage.parameters, node, passage.function, caller)
    given: list[ast.expr] = []
    for argument in (*node.args, *(k.value for k in node.keywords)) if passage.parameters else ():
        if isinstance(argument, (ast.Tuple, ast.List)) and len(argument.elts) > 1:
            given += _items_taken(argument.elts, called_name(node), passage)
        elif caller.analysis.evaluate(argument, caller).kind is not SEQUENCE:
            given.append(argument)
    return given


def _items_taken(items: list[ast.expr], loop: str | None, passage: Passage) -> list[ast.expr]:
    """Those that flow in: the states of a while loop have parameters of their own, `a, b = row` and `row[0]` take a row apart."""
    info = passage.function
    names = [a.arg for a in (*info.node.args.posonlyargs, *info.node.args.args)]
    if loop == "while_loop":
        return [item for item, name in zip(items, names) if name in passage.parameters]
    for part in nodes_of(body_of(info), into_functions=False):
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Tuple):
            targets = part.targets[0].elts
            if getattr(part.value, "id", "") in names and len(targets) == len(items):
                return [i for i, t in zip(items, targets) if getattr(t, "id", "") in passage.names]
    places = [{f"{name}[{place}]" for name in names} for place in range(len(items))]
    return [item for item, spelt in zip(items, places) if spelt & passage.names]


def _names_of(target: ast.expr, items: frozenset[int]) -> list[str]:
    if not isinstance(target, ast.Tuple) or any(isinstance(e, ast.Starred) for e in target.elts):
        return []
    taken = [target.elts[item] for item in items if item < len(target.elts)]
    return [name.id for name in taken if isinstance(name, ast.Name)]
