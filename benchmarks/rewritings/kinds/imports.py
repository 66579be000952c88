"""TensorFlow and Keras under other names."""

from __future__ import annotations

import libcst as cst

from benchmarks.rewritings.kinds import syntax


def whole_package_imported(program: cst.Module) -> cst.Module:
    """`import tensorflow`, and everything by its full name."""
    return _renamed(program, "import tensorflow", "tensorflow")


def second_version_imported(program: cst.Module) -> cst.Module:
    """`import tensorflow.compat.v2 as tf`."""
    return _renamed(program, "import tensorflow.compat.v2 as tf", "tf")


def parts_imported(program: cst.Module) -> cst.Module:
    """`from tensorflow import math`, and the like for all that is used of TensorFlow."""
    used: set[str] = set()
    made = program.visit(_Parts(used, set(syntax.names_in(program))))
    lines = [f"from tensorflow import {name} as {_alias(name)}\n" for name in sorted(used)]
    return syntax.with_imports(made, "".join(lines)) if used else program


def imported_where_needed(program: cst.Module) -> cst.Module:
    """Each function imports TensorFlow itself."""
    return program.visit(_Late()) if _import_line(program) else program


_PLAIN = "import tensorflow as tf"


def _import_line(program: cst.Module) -> cst.SimpleStatementLine | None:
    for statement in program.body:
        if isinstance(statement, cst.SimpleStatementLine):
            if program.code_for_node(statement.body[0]).strip() == _PLAIN:
                return statement
    return None


def _renamed(program: cst.Module, line: str, name: str) -> cst.Module:
    """The program with another import of TensorFlow. The footer, which comes after it, finds `tf` all the same."""
    found = _import_line(program)
    if found is None or not syntax.free_of({"tensorflow"}, program):
        return program
    made = program.deep_replace(found, cst.parse_statement(line + "\n"))
    if name == "tf":
        return made  # type: ignore[return-value]
    made = made.visit(_Names("tf", cst.parse_expression(name)))  # type: ignore[assignment]
    return made.with_changes(body=[*made.body, cst.parse_statement(_PLAIN)])  # type: ignore[union-attr, return-value]


class _Names(cst.CSTTransformer):
    """Puts an expression for a name."""

    def __init__(self, name: str, other: cst.BaseExpression) -> None:
        self.name, self.other = name, other

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self.other if updated_node.value == self.name else updated_node

    def visit_Import(self, node: cst.Import) -> bool:
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        return False


class _Parts(cst.CSTTransformer):
    def __init__(self, used: set[str], taken: set[str]) -> None:
        self.used, self.taken = used, taken

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        part = updated_node.attr.value
        if syntax.dotted(updated_node.value) != "tf" or part.startswith("_"):
            return updated_node
        if _alias(part) in self.taken:
            return updated_node
        self.used.add(part)
        return cst.Name(_alias(part))


def _alias(part: str) -> str:
    return f"tf_{part.lower()}" if part[0].islower() else f"Tf{part}"


class _Late(cst.CSTTransformer):
    def __init__(self) -> None:
        self.depth = 0

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.depth += 1

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        self.depth -= 1
        body = updated_node.body
        if self.depth or not isinstance(body, cst.IndentedBlock):
            return updated_node
        if "tf" not in syntax.names_in(body):
            return updated_node
        more = cst.parse_statement(_PLAIN + "\n")
        return updated_node.with_changes(body=body.with_changes(body=[more, *body.body]))


REWRITINGS = (
    whole_package_imported,
    second_version_imported,
    parts_imported,
    imported_where_needed,
)
