"""One program as rewrites see it: its libcst tree with places, parents, and what the analysis believes of expressions."""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import libcst as cst

from xlalint.finding import Edit, Span
from xlalint.project.source import split_lines
from xlalint.rules.base import key_of
from xlalint.rules.positions import Place, Positions
from xlalint.rules.walk import children
from xlalint.semantics.beliefs import Belief
from xlalint.semantics.facts import Fact
from xlalint.semantics.imports.imported import imported_names
from xlalint.semantics.joins import join
from xlalint.semantics.names import canonical
from xlalint.semantics.values import NOTHING_KNOWN, Value

Function = cst.FunctionDef | cst.Lambda
_STATEMENTS = (cst.SimpleStatementLine, cst.BaseCompoundStatement)


@dataclass(eq=False, slots=True)
class Draft:
    """A program (a file, or the cells of a notebook joined) that is about to be rewritten. It is read only.

    `beliefs` and `facts` are keyed by place. `tree` is the same program as `ast` has it.
    """

    text: str
    module: cst.Module
    positions: Positions
    tree: ast.Module
    beliefs: Mapping[Place, Sequence[Belief]]
    facts: Mapping[Place, Sequence[Fact]]
    _parents: dict[int, cst.CSTNode] = field(default_factory=dict)
    _at: dict[Place, list[cst.CSTNode]] = field(default_factory=dict)
    _names: frozenset[str] | None = None
    _lines: list[str] = field(default_factory=list)
    _imported: Mapping[str, str] | None = None
    _by_ast: dict[Place, ast.AST] = field(default_factory=dict)

    # --- the tree ----------------------------------------------------------------------------------------------

    def line(self, number: int) -> str:
        """A line of the program (1-based), without its end."""
        return self._lines[number - 1]

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node stands; without its parentheses, and a statement without the comments above and behind it."""
        line, column, end_line, end_column = self.positions.of(node)
        return Span(line, column + 1, end_line, end_column + 1)

    def code(self, node: cst.CSTNode) -> str:
        """The source of a node as it is written, comments within it included."""
        return self.module.code_for_node(node)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node that holds this one; None above the module."""
        return self._parents.get(id(node))

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around this one, innermost first."""
        above = self.parent(node)
        while above is not None:
            yield above
            above = self.parent(above)

    def at(self, span: Span) -> tuple[cst.CSTNode, ...]:
        """The nodes that stand exactly there, outermost first."""
        place = (span.line, span.column - 1, span.end_line, span.end_column - 1)
        return tuple(self._at.get(place, ()))

    def statement(self, node: cst.CSTNode) -> cst.BaseStatement | None:
        """The statement that a node is in, or is: a line of simple statements, or a compound one."""
        for each in (node, *self.ancestors(node)):
            if isinstance(each, _STATEMENTS):
                return each
        return None

    def block(self, statement: cst.CSTNode) -> Sequence[cst.BaseStatement]:
        """The statements among which this one stands, itself included; empty for `if x: y` on one line."""
        above = self.parent(statement)
        if isinstance(above, (cst.IndentedBlock, cst.Module)):
            return above.body
        return ()

    def within(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """A node and all below it that hold code, in the order of the source."""
        pending = [node]
        while pending:
            found = pending.pop()
            yield found
            pending.extend(reversed(children(found)))

    def function(self, node: cst.CSTNode) -> Function | None:
        """The innermost function that a node stands in."""
        return next(
            (a for a in self.ancestors(node) if isinstance(a, (cst.FunctionDef, cst.Lambda))), None
        )

    def as_ast(self, node: cst.CSTNode) -> ast.AST | None:
        """The `ast` node at the same place: a statement, an expression, or a function (without its decorators)."""
        if not self._by_ast:
            self._by_ast.update(_ast_index(self.tree, self._lines))
        return self._by_ast.get(self.positions.of(node))

    # --- what is believed --------------------------------------------------------------------------------------

    def believed(self, node: cst.CSTNode) -> tuple[Belief, ...]:
        """What an expression was seen to be, by context; nothing where the analysis never came."""
        return tuple(self.beliefs.get(self.positions.of(node), ()))

    def value(self, node: cst.CSTNode) -> Value:
        """What an expression is in all contexts together; NOTHING_KNOWN where the analysis never came."""
        known = self.believed(node)
        if not known:
            return NOTHING_KNOWN
        value = known[0].value
        for belief in known[1:]:
            value = join(value, belief.value)
        return value

    def facts_at(self, node: cst.CSTNode, *kinds: str) -> list[Fact]:
        """What the analysis saw at a node: of these kinds, or all of it."""
        seen = self.facts.get(self.positions.of(node), ())
        return [fact for fact in seen if not kinds or fact.kind in kinds]

    def api(self, node: cst.BaseExpression) -> str | None:
        """The canonical name (`tf.rank`) of what another package provides: of an expression, or of what a call calls."""
        if isinstance(node, cst.Call):
            node = node.func
        tail: list[str] = []
        while isinstance(node, cst.Attribute):
            tail.append(node.attr.value)
            node = node.value
        if not isinstance(node, cst.Name):
            return None
        if self._imported is None:
            self._imported = imported_names(self.tree)
        root = self._imported.get(node.value)
        return None if root is None else canonical(".".join((root, *reversed(tail))))

    # --- names -------------------------------------------------------------------------------------------------

    @property
    def tensorflow(self) -> str | None:
        """How the module calls TensorFlow (`tf`); None where it does not import the whole of it by a name at its top."""
        for statement in self.tree.body:
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    if alias.name in ("tensorflow", "tensorflow.compat.v2"):
                        return alias.asname or (
                            "tensorflow" if alias.name == "tensorflow" else None
                        )
            elif isinstance(statement, ast.ImportFrom) and statement.module == "tensorflow.compat":
                for alias in statement.names:
                    if alias.name == "v2":
                        return alias.asname or "v2"
        return None

    def import_tensorflow(self) -> tuple[str, tuple[Edit, ...]]:
        """A name for TensorFlow, and the edit that imports it where the module has none: below its last import."""
        known = self.tensorflow
        if known is not None:
            return known, ()
        name = self.fresh("tf")
        line = _line_for_imports(self.tree)
        place = Span(line, 1, line, 1)
        return name, (Edit(place, f"import tensorflow as {name}{self.module.default_newline}"),)

    def fresh(self, name: str) -> str:
        """`name`, or `name_2`, ... : a name that the program uses nowhere."""
        if self._names is None:
            self._names = frozenset(_names_in(self.tree))
        wanted, number = name, 2
        while wanted in self._names or keyword.iskeyword(wanted) or hasattr(builtins, wanted):
            wanted, number = f"{name}_{number}", number + 1
        return wanted


def _line_for_imports(tree: ast.Module) -> int:
    """The line after the imports at the top of a module; after its docstring and `from __future__`, where there are none."""
    line = 1
    for index, statement in enumerate(tree.body):
        is_docstring = (
            index == 0
            and isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
        )
        if isinstance(statement, ast.Pass):
            continue  # a notebook's `!pip install`, or `%matplotlib inline` among the imports
        if not (is_docstring or isinstance(statement, (ast.Import, ast.ImportFrom))):
            break
        line = (statement.end_lineno or statement.lineno) + 1
    return line


def _ast_index(tree: ast.Module, lines: Sequence[str]) -> dict[Place, ast.AST]:
    columns = {n: line for n, line in enumerate(lines, 1) if not line.isascii()}
    found: dict[Place, ast.AST] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.stmt)):
            found.setdefault(key_of(node, columns), node)
    return found


def _names_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).split(".")[0]
        elif isinstance(node, ast.keyword) and node.arg is not None:
            yield node.arg
        elif isinstance(node, ast.ExceptHandler) and node.name is not None:
            yield node.name
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names


def draft(
    text: str,
    tree: ast.Module,
    beliefs: Mapping[ast.AST, Sequence[Belief]],
    facts: Mapping[ast.AST, Sequence[Fact]],
) -> Draft:
    """Read a program for rewriting: `tree` is of this text. `beliefs` may hold nodes of other programs too.

    Raises:
        libcst.ParserSyntaxError: libcst cannot read what `ast` could.
    """
    module = cst.parse_module(text)
    lines = split_lines(text)
    positions = Positions(module, range(1, len(lines) + 2))
    columns = {number: line for number, line in enumerate(lines, 1) if not line.isascii()}
    result = Draft(
        text,
        module,
        positions,
        tree,
        _by_place({node: beliefs[node] for node in ast.walk(tree) if node in beliefs}, columns),
        _by_place(facts, columns),
        _lines=lines,
    )
    pending: list[cst.CSTNode] = [module]
    while pending:
        node = pending.pop()
        result._at.setdefault(positions.of(node), []).append(node)
        for child in children(node):
            result._parents[id(child)] = node
            pending.append(child)
    return result


_Known = TypeVar("_Known")


def _by_place(
    known: Mapping[ast.AST, Sequence[_Known]], columns: Mapping[int, str]
) -> dict[Place, list[_Known]]:
    merged: dict[Place, list[_Known]] = {}
    for node, said in known.items():
        merged.setdefault(key_of(node, columns), []).extend(said)
    return merged
