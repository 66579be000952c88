"""Helpers in another module of a project, and the ways to import them."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from benchmarks.rewritings.kinds import syntax

Files = dict[str, cst.Module]
_MAIN = "program.py"


def imported_by_name(program: cst.Module) -> cst.Module | Files:
    """`from helpers import f`."""
    return _moved(program, "helpers.py", _MAIN, "from helpers import {names}\n")


def imported_by_star(program: cst.Module) -> cst.Module | Files:
    """`from helpers import *`."""
    return _moved(program, "helpers.py", _MAIN, "from helpers import *\n")


def imported_relatively(program: cst.Module) -> cst.Module | Files:
    """`from .helpers import f`, in a package."""
    files = {"package/__init__.py": ""}
    line = "from .helpers import {names}\n"
    return _moved(program, "package/helpers.py", f"package/{_MAIN}", line, files)


def imported_through_a_package(program: cst.Module) -> cst.Module | Files:
    """`from parts import f`, which `parts/__init__.py` has from another module."""
    files = {"parts/__init__.py": "from .helpers import {names}\n\n__all__ = [{quoted}]\n"}
    return _moved(program, "parts/helpers.py", _MAIN, "from parts import {names}\n", files)


def imported_as_a_module(program: cst.Module) -> cst.Module | Files:
    """`import helpers` and `helpers.f(x)`."""
    return _moved(program, "helpers.py", _MAIN, "import helpers\n", {}, "helpers")


def imported_as_a_relative_module(program: cst.Module) -> cst.Module | Files:
    """`from . import helpers` and `helpers.f(x)`."""
    files = {"package/__init__.py": ""}
    line = "from . import helpers\n"
    return _moved(program, "package/helpers.py", f"package/{_MAIN}", line, files, "helpers")


def imported_as_a_short_name(program: cst.Module) -> cst.Module | Files:
    """`import parts.helpers as h` and `h.f(x)`."""
    files = {"parts/__init__.py": ""}
    return _moved(program, "parts/helpers.py", _MAIN, "import parts.helpers as h\n", files, "h")


def imported_by_its_full_name(program: cst.Module) -> cst.Module | Files:
    """`import parts.helpers` and `parts.helpers.f(x)`."""
    files = {"parts/__init__.py": ""}
    line = "import parts.helpers\n"
    return _moved(program, "parts/helpers.py", _MAIN, line, files, "parts.helpers")


def imported_in_functions(program: cst.Module) -> cst.Module | Files:
    """`from helpers import f` inside the functions that call it."""
    made = _moved(program, "helpers.py", _MAIN, "from helpers import {names}\n")
    if isinstance(made, cst.Module):
        return made
    moved = {n for s in made["helpers.py"].body for n in _defined(s)}
    if moved & _local_names(program):
        return program
    return made | {_MAIN: made[_MAIN].visit(_Late(moved))}


def _moved(
    program: cst.Module,
    helpers: str,
    main: str,
    line: str,
    others: dict[str, str] | None = None,
    prefix: str = "",
) -> cst.Module | Files:
    """The program with its helpers in a file of their own, imported by `line` and used as `prefix.f`."""
    there, here = _split(program)
    names = sorted({name for statement in there for name in _defined(statement)})
    if not names or not here:
        return program
    words = {"names": ", ".join(names), "quoted": ", ".join(f'"{name}"' for name in names)}
    imports = [s for s in program.body if syntax.is_import(s)]
    rest = program.with_changes(body=[s for s in program.body if s in imports or s in here])
    if prefix:
        if not syntax.free_of(_local_names(program), cst.Module([_names_module(names)])):
            return program
        rest = rest.visit(_Qualified(set(names), prefix))
        # The footer calls them by their own names.
        tail = "".join(f"{name} = {prefix}.{name}\n" for name in names)
        rest = rest.with_changes(body=[*rest.body, *cst.parse_module("\n\n" + tail).body])
    rest = syntax.with_helpers(rest, line.format(**words))
    files = {name: cst.parse_module(text.format(**words)) for name, text in (others or {}).items()}
    return {
        **files,
        helpers: program.with_changes(body=[*imports, *there]),
        main: rest,
    }


def _names_module(names: list[str]) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([cst.Expr(cst.Name(name)) for name in names])


def _split(program: cst.Module) -> tuple[list[cst.BaseStatement], list[cst.BaseStatement]]:
    """The helpers with all that they need, and what stays."""
    own = [s for s in program.body if not syntax.is_import(s) and _defined(s)]
    by_name = {name: s for s in own for name in _defined(s)}
    there: list[cst.BaseStatement] = []
    waiting = [s for s in own if isinstance(s, cst.FunctionDef) and not s.decorators]
    if syntax.holds(program, (cst.Global,)):
        return [], own
    while waiting:
        statement = waiting.pop()
        if not any(statement is kept for kept in there):
            there.append(statement)
            waiting += [by_name[name] for name in syntax.names_in(statement) if name in by_name]
    ordered = [s for s in program.body if any(s is kept for kept in there)]
    return ordered, [
        s for s in program.body if not syntax.is_import(s) and not any(s is kept for kept in there)
    ]


def _defined(statement: cst.BaseStatement) -> list[str]:
    """The names that a statement at the top of a module defines."""
    if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
        return [statement.name.value]
    if isinstance(statement, cst.SimpleStatementLine):
        return [
            target.target.value
            for small in statement.body
            if isinstance(small, cst.Assign)
            for target in small.targets
            if isinstance(target.target, cst.Name)
        ]
    return []


def _local_names(program: cst.Module) -> set[str]:
    """Every name that a function of the program binds for itself."""
    found: set[str] = set()

    class Locals(cst.CSTVisitor):
        def visit_Param(self, node: cst.Param) -> None:
            found.add(node.name.value)

        def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
            for target in _targets(node.body):
                found.update(syntax.names_in(target))

    program.visit(Locals())
    return found


def _targets(body: cst.BaseSuite) -> list[cst.CSTNode]:
    targets: list[cst.CSTNode] = []

    class Targets(cst.CSTVisitor):
        def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
            targets.append(node.target)

        def visit_For(self, node: cst.For) -> None:
            targets.append(node.target)

        def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
            targets.append(node.name)

    body.visit(Targets())
    return targets


class _Qualified(cst.CSTTransformer):
    """Puts `prefix.name` for the names."""

    def __init__(self, names: set[str], prefix: str) -> None:
        self.names, self.prefix = names, prefix

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        if updated_node.value not in self.names:
            return updated_node
        return cst.parse_expression(f"{self.prefix}.{updated_node.value}")

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.Attribute:
        return updated_node.with_changes(attr=original_node.attr)

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        return updated_node.with_changes(keyword=original_node.keyword)

    def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:
        return updated_node.with_changes(name=original_node.name)

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        return updated_node.with_changes(name=original_node.name)

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef:
        return updated_node.with_changes(name=original_node.name)

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False


class _Late(cst.CSTTransformer):
    """Imports the names in the functions that use them, and not at the top."""

    def __init__(self, names: set[str]) -> None:
        self.names, self.depth = names, 0

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.depth += 1

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        self.depth -= 1
        body = updated_node.body
        used = sorted(self.names & set(syntax.names_in(body)))
        if self.depth or not used or not isinstance(body, cst.IndentedBlock):
            return updated_node
        line = cst.parse_statement(f"from helpers import {', '.join(used)}\n")
        return updated_node.with_changes(body=body.with_changes(body=[line, *body.body]))


REWRITINGS: tuple[Callable[[cst.Module], cst.Module | Files], ...] = (
    imported_by_name,
    imported_by_star,
    imported_relatively,
    imported_through_a_package,
    imported_as_a_module,
    imported_as_a_relative_module,
    imported_as_a_short_name,
    imported_by_its_full_name,
    imported_in_functions,
)
