"""Which assignment a name has its value from at a place, and where the value of an assignment is read.

Only what is sure is answered: where several assignments may have been the last, the answer is None.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from xlalint.fixes.draft import Draft, Function
from xlalint.semantics.control_flow.liveness import binds_in

_LOOPS = (cst.For, cst.While)
_SCOPES = (cst.FunctionDef, cst.Lambda)
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where a name was bound: `node` is the assignment, the parameter or the loop; None for a name of an outer scope.

    Two origins are the same when they are equal. `is_sure` is False where `node` is a compound statement that may have bound
    the name, or left it: what it is then is not known, but it is the same wherever this origin is.
    """

    name: str
    node: cst.CSTNode | None
    is_sure: bool = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin) and self.name == other.name and self.node is other.node

    def __hash__(self) -> int:
        return hash((self.name, id(self.node)))


def origin(draft: Draft, name: str, at: cst.CSTNode) -> Origin | None:
    """Where `name` was bound last before `at` is run; None where that depends on the way there."""
    below: cst.CSTNode = at
    for above in draft.ancestors(at):
        if isinstance(above, _COMPREHENSIONS) and _binds_target(above, name):
            return None
        if isinstance(above, (cst.IndentedBlock, cst.Module)):
            found = _last_in(draft, above.body, below, name)
            if found is not _NOT_HERE:
                assert found is None or isinstance(found, Origin)
                return found
        elif isinstance(above, _LOOPS) and below is above.body:
            if isinstance(above, cst.For) and _names_of(above.target) == {name}:
                return Origin(name, above)
            if _binds(draft, above, name):
                return None
        elif isinstance(above, (cst.Try, cst.Match)) and _binds(draft, above, name):
            return None
        elif isinstance(above, cst.With) and _binds_item(above, name):
            return Origin(name, above)
        elif isinstance(above, _SCOPES):
            return _of_parameter(draft, above, name)
        elif isinstance(above, cst.ClassDef):
            return None
        below = above
    return Origin(name, None)


def reads(draft: Draft, assignment: cst.Assign, name: str) -> list[cst.Name] | None:
    """The places that read what an assignment gave to `name`; None where that cannot be told."""
    function = draft.function(assignment)
    if not isinstance(function, cst.FunctionDef) or _is_shared(draft, function, name):
        return None
    found: list[cst.Name] = []
    own = Origin(name, assignment)
    for node in loads(draft, function.body, name):
        if draft.function(node) is not function:
            return None
        came_from = origin(draft, name, node)
        if came_from is None or not came_from.is_sure:
            return None
        if came_from == own:
            found.append(node)
    return found


def loads(draft: Draft, root: cst.CSTNode, name: str) -> Iterator[cst.Name]:
    """The reads of a name under a node, those of functions defined there included."""
    for node in draft.within(root):
        if isinstance(node, cst.Name) and node.value == name and is_read(draft, node):
            yield node


def is_read(draft: Draft, node: cst.Name) -> bool:
    """Whether a name is read here: not bound, not a keyword, not behind a dot."""
    above = draft.parent(node)
    if isinstance(above, cst.Attribute):
        return above.value is node
    if isinstance(above, cst.Arg):
        return above.value is node
    if isinstance(above, (cst.Param, cst.FunctionDef, cst.ClassDef)):
        return getattr(above, "default", None) is node
    if isinstance(above, (cst.Global, cst.NameItem, cst.ImportAlias, cst.AsName)):
        return False
    if isinstance(above, (cst.AssignTarget, cst.AnnAssign)):
        return above.target is not node
    found = draft.as_ast(node)
    return not isinstance(found, ast.Name) or not isinstance(found.ctx, ast.Store)


def simple_target(assignment: cst.CSTNode) -> str | None:
    """The one name that an assignment `name = value` binds."""
    if isinstance(assignment, cst.Assign) and len(assignment.targets) == 1:
        target = assignment.targets[0].target
        return target.value if isinstance(target, cst.Name) else None
    return None


def called_object(draft: Draft, func: cst.BaseExpression) -> cst.BaseExpression | None:
    """What an object that is called was assigned: a name of the function or of the module, an attribute of `self`."""
    if isinstance(func, cst.Attribute):
        return _attribute(draft, func)
    if not isinstance(func, cst.Name):
        return None
    found = origin(draft, func.value, func)
    made = None if found is None else found.node or bound_once(draft, func.value)
    return made.value if isinstance(made, cst.Assign) and simple_target(made) else None


def _attribute(draft: Draft, func: cst.Attribute) -> cst.BaseExpression | None:
    """What `self.name` is assigned, where its class does that once."""
    around = draft.ancestors(func)
    owner = next((above for above in around if isinstance(above, cst.ClassDef)), None)
    if owner is None or draft.code(func.value) != "self":
        return None
    code = draft.code(func)
    targets = [
        node
        for node in draft.within(owner)
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign))
        and draft.code(node.target) == code
    ]
    assignment = draft.parent(targets[0]) if len(targets) == 1 else None
    return assignment.value if isinstance(assignment, cst.Assign) else None


def bound_once(draft: Draft, name: str) -> cst.FunctionDef | cst.Assign | None:
    """The function or the assignment at the top of the module that alone binds a name, in all of the program."""
    found: list[cst.CSTNode] = []
    for node in draft.within(draft.module):
        if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Param)):
            is_bound = node.name.value == name
        elif isinstance(node, (cst.ImportAlias, cst.AsName)):
            is_bound = name in draft.code(node).split()
        else:
            is_bound = isinstance(node, cst.Name) and node.value == name and _is_stored(draft, node)
        if is_bound:
            found.append(node)
    if len(found) != 1:
        return None
    alone = found[0]
    if isinstance(alone, cst.FunctionDef):
        return alone if draft.parent(alone) is draft.module else None
    assignment = next((a for a in draft.ancestors(alone) if isinstance(a, cst.Assign)), None)
    line = None if assignment is None else draft.parent(assignment)
    is_top = line is not None and draft.parent(line) is draft.module
    return assignment if assignment and is_top and simple_target(assignment) == name else None


def _is_stored(draft: Draft, node: cst.Name) -> bool:
    """Whether a name is a target: of an assignment, a loop, a `with`, a deletion."""
    found = draft.as_ast(node)
    return isinstance(found, ast.Name) and not isinstance(found.ctx, ast.Load)


_NOT_HERE = object()


def _last_in(draft: Draft, body: Sequence[cst.CSTNode], below: cst.CSTNode, name: str) -> object:
    """The last binding among the statements before `below`; `_NOT_HERE` where there is none."""
    statements = list(body)
    index = next((i for i, statement in enumerate(statements) if statement is below), None)
    for statement in reversed(statements[:index]):
        if not _binds(draft, statement, name):
            continue
        if isinstance(statement, cst.SimpleStatementLine):
            return Origin(name, statement.body[0]) if len(statement.body) == 1 else None
        is_sure = isinstance(statement, (cst.FunctionDef, cst.ClassDef))
        return Origin(name, statement, is_sure)
    return _NOT_HERE


def _binds(draft: Draft, statement: cst.CSTNode, name: str) -> bool:
    if isinstance(statement, cst.If):
        arms = [statement.body, *([statement.orelse] if statement.orelse is not None else [])]
        is_named = _is_bound_under(draft, statement.test, name)
        return is_named or any(not _leaves(arm) and _binds(draft, arm, name) for arm in arms)
    found = draft.as_ast(statement)
    if isinstance(found, ast.stmt):
        return binds_in([found], name) or _imports(found, name)
    # Several statements on one line, or what `ast` places otherwise.
    return _is_bound_under(draft, statement, name)


def _is_bound_under(draft: Draft, root: cst.CSTNode, name: str) -> bool:
    return any(
        isinstance(node, cst.Name)
        and node.value == name
        and not is_read(draft, node)
        and not isinstance(draft.parent(node), (cst.Attribute, cst.Arg))
        for node in draft.within(root)
    )


def _leaves(arm: cst.CSTNode) -> bool:
    """Whether what follows a conditional is not reached from this arm."""
    body = arm.body if isinstance(arm, cst.Else) else arm
    last = body.body[-1] if isinstance(body, cst.IndentedBlock) and body.body else None
    leaves = (cst.Return, cst.Raise, cst.Continue, cst.Break)
    return isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], leaves)


def _imports(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, (ast.Import, ast.ImportFrom)) and any(
        (alias.asname or alias.name.split(".")[0]) == name for alias in statement.names
    )


def _binds_target(comprehension: cst.CSTNode, name: str) -> bool:
    clause: cst.CompFor | None = comprehension.for_in  # type: ignore[attr-defined]
    while clause is not None:
        if name in _names_of(clause.target):
            return True
        clause = clause.inner_for_in
    return False


def _binds_item(statement: cst.With, name: str) -> bool:
    return any(
        item.asname is not None and name in _names_of(item.asname.name) for item in statement.items
    )


def _names_of(target: cst.CSTNode) -> set[str]:
    if isinstance(target, cst.Name):
        return {target.value}
    if isinstance(target, (cst.Tuple, cst.List)):
        return {name for element in target.elements for name in _names_of(element.value)}
    return set()


def _of_parameter(draft: Draft, function: Function, name: str) -> Origin | None:
    """The parameter of that name, or a name of an outer scope, which nothing in this function binds."""
    parameters = function.params
    every = [*parameters.posonly_params, *parameters.params, *parameters.kwonly_params]
    every += [p for p in (parameters.star_arg, parameters.star_kwarg) if isinstance(p, cst.Param)]
    for parameter in every:
        if parameter.name.value == name:
            return Origin(name, parameter)
    if isinstance(function, cst.FunctionDef) and _binds(draft, function.body, name):
        return None
    return Origin(name, None)


def _is_shared(draft: Draft, function: cst.FunctionDef, name: str) -> bool:
    return any(
        isinstance(node, (cst.Global, cst.Nonlocal))
        and any(i.name.value == name for i in node.names)
        for node in draft.within(function.body)
    )
