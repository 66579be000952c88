"""Reading and making libcst trees: what the rewritings share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

import libcst as cst
from libcst.helpers import get_full_name_for_node, parse_template_expression

Block = TypeVar("Block", cst.Module, cst.IndentedBlock)


def expression(template: str, **parts: cst.BaseExpression) -> cst.BaseExpression:
    """The template (`same({x})`) with these expressions in its places."""
    return parse_template_expression(template, **parts)


def dotted(node: cst.CSTNode) -> str | None:
    """`tf.math.add` of such an expression, or None."""
    if isinstance(node, (cst.Name, cst.Attribute)):
        return get_full_name_for_node(node)
    return None


def top_functions(module: cst.Module) -> dict[str, cst.FunctionDef]:
    """The functions at the top of a module by name; those that are defined twice are left out."""
    found: dict[str, cst.FunctionDef] = {}
    twice: set[str] = set()
    for statement in module.body:
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            name = statement.name.value
            twice |= {name} & set(found)
            if isinstance(statement, cst.FunctionDef):
                found[name] = statement
    return {name: function for name, function in found.items() if name not in twice}


def parameters(function: cst.FunctionDef) -> list[str] | None:
    """The names of a function's parameters, all of which take arguments by place and by keyword; None of others."""
    params = function.params
    if params.posonly_params or params.kwonly_params or params.star_kwarg is not None:
        return None
    if not isinstance(params.star_arg, cst.MaybeSentinel):
        return None
    return [param.name.value for param in params.params]


def names_in(node: cst.CSTNode) -> list[str]:
    """Every name that is written in a tree, in order and as often as it is written; attributes and imports left out."""
    found: list[str] = []

    class Names(cst.CSTVisitor):
        def visit_Attribute(self, node: cst.Attribute) -> bool:
            node.value.visit(self)
            return False

        def visit_Arg(self, node: cst.Arg) -> bool:
            node.value.visit(self)
            return False

        def visit_Import(self, node: cst.Import) -> bool:
            return False

        def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
            return False

        def visit_Name(self, node: cst.Name) -> None:
            found.append(node.value)

    node.visit(Names())
    return found


def holds(node: cst.CSTNode, kinds: tuple[type[cst.CSTNode], ...]) -> bool:
    """Whether a node of one of these kinds is in the tree."""
    return next(_nodes(node, kinds), None) is not None


def _nodes(node: cst.CSTNode, kinds: tuple[type[cst.CSTNode], ...]) -> Iterator[cst.CSTNode]:
    if isinstance(node, kinds):
        yield node
    for child in node.children:
        yield from _nodes(child, kinds)


def with_helpers(module: cst.Module, code: str) -> cst.Module:
    """The module with more code after its imports."""
    return _inserted(module, code, _after_imports(module))


def with_imports(module: cst.Module, code: str) -> cst.Module:
    """The module with more imports before its own, but after those from the future."""
    place = 0
    for index, statement in enumerate(module.body):
        if _is_docstring(statement) or _imports(statement, from_future=True):
            place = index + 1
    return _inserted(module, code, place)


def _inserted(module: cst.Module, code: str, place: int) -> cst.Module:
    more = cst.parse_module(code).body
    return module.with_changes(body=[*module.body[:place], *more, *module.body[place:]])


def _after_imports(module: cst.Module) -> int:
    place = 0
    for index, statement in enumerate(module.body):
        if (_is_docstring(statement) and index == 0) or _imports(statement):
            place = index + 1
    return place


def _is_docstring(statement: cst.BaseStatement) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    first = statement.body[0]
    return isinstance(first, cst.Expr) and isinstance(first.value, cst.SimpleString)


def is_import(statement: cst.BaseStatement) -> bool:
    """Whether a statement at the top of a module imports, perhaps in a `try`."""
    return _imports(statement) or (
        isinstance(statement, (cst.Try, cst.If))
        and any(_imports(inner) for inner in statement.body.body)  # type: ignore[arg-type]
    )


def _imports(statement: cst.CSTNode, from_future: bool = False) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    first = statement.body[0]
    if from_future:
        return isinstance(first, cst.ImportFrom) and dotted(first.module or first) == "__future__"
    return isinstance(first, (cst.Import, cst.ImportFrom))


def free_of(names: Collection[str], module: cst.Module) -> bool:
    """Whether the module uses none of these names."""
    return not set(names) & set(names_in(module))


def statements(block: Sequence[cst.BaseStatement]) -> Iterator[cst.BaseSmallStatement]:
    """The simple statements of a block, compound ones left out."""
    for statement in block:
        if isinstance(statement, cst.SimpleStatementLine):
            yield from statement.body
