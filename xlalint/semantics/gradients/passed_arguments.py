"""Which arguments of a call become which parameters, where a gradient passes through them; and what a function inside of another reads of it."""

from __future__ import annotations

import ast

from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients.carrying import assignments, backwards, bound
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import FUNCTION


def parameters_by_item(info: FunctionInfo) -> list[frozenset[str]]:
    """Of a function that returns a tuple, the parameters that each item is made of; empty for others."""
    returned = [part.value for part in info.carrying if isinstance(part, ast.Return)]
    tuples = [value.elts for value in returned if isinstance(value, ast.Tuple)]
    if not tuples or len(tuples) != len(returned) or len({len(items) for items in tuples}) != 1:
        return []
    assigned = [pair for part in info.carrying for pair in assignments(part)]
    given = info.node.args
    parameters = {a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    return [frozenset(parameters & backwards(items, assigned)) for items in zip(*tuples)]


def arguments_for(
    parameters: frozenset[str], call: ast.Call, info: FunctionInfo, caller: Frame
) -> list[ast.expr]:
    """The arguments of a call that become these parameters, and the items of what is starred that do."""
    given = info.node.args
    names = [a.arg for a in (*given.posonlyargs, *given.args)]
    if info.cls is not None and not caller.analysis.traits(info).is_static:
        names = names[1:]
    found: list[ast.expr] = []
    for place, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            for item, name in enumerate(names[place:]):
                found += _item_of(argument.value, item, caller) if name in parameters else ()
            if parameters:  # of further ones, any may be any
                more = call.args[place + 1 :]
                found += [each.value for each in more if isinstance(each, ast.Starred)]
            break
        if names[place : place + 1] and names[place] in parameters:
            found.append(argument)
    found += [k.value for k in call.keywords if k.arg is None or k.arg in parameters]
    return found


def _item_of(starred: ast.expr, place: int, caller: Frame) -> list[ast.expr]:
    """What an item of a starred argument is made of: `row[0]` of `*row`, or what the function that makes it is given for it."""
    if isinstance(starred, ast.Name):
        item = ast.copy_location(ast.Subscript(starred, ast.Constant(place), ast.Load()), starred)
        return [ast.fix_missing_locations(item)]
    if not isinstance(starred, ast.Call):
        return [starred]
    called = caller.analysis.evaluate(starred.func, caller)
    if called.kind is not FUNCTION:
        return [starred]
    info = called.ref[0] if isinstance(called.ref, tuple) else called.ref
    items = parameters_by_item(info)
    known = place < len(items)
    return arguments_for(items[place], starred, info, caller) if known else [starred]


def names_read(info: FunctionInfo, names: frozenset[str]) -> list[ast.expr]:
    """Where a function inside of another reads these `names` of the function around it."""
    assigned = [pair for part in info.carrying for pair in assignments(part)]
    read = names - bound(info, assigned)
    return [
        part
        for part in nodes_of(info.body)
        if isinstance(part, ast.Name) and part.id in read and isinstance(part.ctx, ast.Load)
    ]
