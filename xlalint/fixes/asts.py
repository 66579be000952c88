"""A draft read by its `ast` nodes, whose patterns are shorter to write than those of libcst."""

from __future__ import annotations

import ast
import builtins
import io
import keyword
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from xlalint.finding import Span
from xlalint.fixes.draft import Draft
from xlalint.rules.base import key_of
from xlalint.semantics.control_flow.liveness import Position, path_to
from xlalint.semantics.facts import Fact
from xlalint.semantics.joins import join
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import NOTHING_KNOWN, PYTHON, Value

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Source:
    """What a draft knows of `ast` nodes of its tree."""

    draft: Draft

    def span(self, node: ast.AST) -> Span:
        """Where a node stands, without the parentheses around it."""
        numbers = (node.lineno, node.end_lineno or node.lineno)  # type: ignore[attr-defined]
        lines = {n: self.draft.line(n) for n in numbers if not self.draft.line(n).isascii()}
        line, column, end_line, end_column = key_of(node, lines)
        return Span(line, column + 1, end_line, end_column + 1)

    def text(self, span: Span) -> str:
        """The source of a span."""
        draft = self.draft
        lines = [draft.line(number) for number in range(span.line, span.end_line + 1)]
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return "\n".join(lines)

    def code(self, node: ast.AST) -> str:
        """The source of a node as it is written; of a name that was made up for a rewrite, the name."""
        if isinstance(node, ast.Name) and not hasattr(node, "lineno"):
            return node.id
        return self.text(self.span(node))

    def value(self, node: ast.AST) -> Value:
        """What an expression is in all contexts together; NOTHING_KNOWN where the analysis never came."""
        if not hasattr(node, "lineno"):
            return NOTHING_KNOWN
        place = self._place(node)
        known = self.draft.beliefs.get(place, ())
        if not known:
            return NOTHING_KNOWN
        value = known[0].value
        for belief in known[1:]:
            value = join(value, belief.value)
        return value

    def facts(self, node: ast.AST, *kinds: str) -> list[Fact]:
        """What the analysis saw at a node, of these kinds."""
        return [f for f in self.draft.facts.get(self._place(node), ()) if f.kind in kinds]

    def api(self, node: ast.expr) -> str | None:
        """The canonical name (`tf.rank`) of what another package provides: of an expression, or of what a call calls."""
        target = node.func if isinstance(node, ast.Call) else node
        if not hasattr(target, "lineno"):
            return None
        found = self.draft.at(self.span(target))
        named = self.draft.api(found[-1]) if found else None  # type: ignore[arg-type]
        if named is None and isinstance(target, ast.Attribute):
            known = self.value(target)
            return known.ref if known.kind == "external" and isinstance(known.ref, str) else None
        return named

    def _place(self, node: ast.AST) -> tuple[int, int, int, int]:
        span = self.span(node)
        return (span.line, span.column - 1, span.end_line, span.end_column - 1)

    # --- statements --------------------------------------------------------------------------------------------

    def function(self, statement: ast.AST) -> Function | None:
        """The innermost function that a node stands in, where it is not a lambda."""
        found = self.draft.at(self.span(statement))
        holder = self.draft.function(found[-1]) if found else None
        node = self.draft.as_ast(holder) if holder is not None else None
        return node if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None

    def path(self, statement: ast.stmt) -> tuple[Position, ...]:
        """The blocks of the function around a statement, innermost last; empty outside of functions."""
        function = self.function(statement)
        return path_to(function.body, statement) if function is not None else ()

    def fresh(self, statement: ast.AST, name: str) -> str:
        """`name`, or `name_2`, ... : a name that the outermost function around a statement uses nowhere."""
        found = self.draft.at(self.span(statement))
        around = (
            [n for n in self.draft.ancestors(found[-1]) if isinstance(n, cst.FunctionDef)]
            if found
            else []
        )
        outermost = self.draft.as_ast(around[-1]) if around else None
        if outermost is None:
            return self.draft.fresh(name)
        used = {n.id for n in ast.walk(outermost) if isinstance(n, ast.Name)}
        used |= {n.arg for n in ast.walk(outermost) if isinstance(n, ast.arg)}
        used |= {
            n.name for n in ast.walk(outermost) if isinstance(n, (ast.FunctionDef, ast.ClassDef))
        }
        wanted, number = name, 2
        while wanted in used or keyword.iskeyword(wanted) or hasattr(builtins, wanted):
            wanted, number = f"{name}_{number}", number + 1
        return wanted

    def comments(self, span: Span) -> list[str]:
        """The comments that stand inside a span, in order."""
        # With its margin, so that all lines of a block are indented alike.
        text = " " * (span.column - 1) + self.text(span)
        found: list[str] = []
        try:
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.type == tokenize.COMMENT:
                    found.append(token.string)
        except (tokenize.TokenError, IndentationError, SyntaxError):
            pass  # what is missing then is missed when the rewrite is checked
        return found


def names_read(nodes: Sequence[ast.AST]) -> set[str]:
    """The names that code reads, that of functions inside of it included."""
    return {
        node.id
        for node in nodes_of(nodes)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)
    }


def names_bound(nodes: Sequence[ast.AST]) -> list[str]:
    """The names that statements bind by themselves, in the order of the source."""
    found: dict[str, tuple[int, int]] = {}
    for node in nodes_of(nodes, into_functions=False):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found[node.id] = min(found.get(node.id, (1 << 60, 0)), (node.lineno, node.col_offset))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.setdefault(node.name, (node.lineno, node.col_offset))
        elif isinstance(node, ast.alias):
            found.setdefault((node.asname or node.name).split(".")[0], (1 << 59, 0))
    return sorted(found, key=lambda name: found[name])


def parameters(function: Function) -> set[str]:
    """The names of a function's parameters."""
    args = function.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return {arg.arg for arg in every if arg is not None}


def earlier(source: Source, statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements that have run before one in its function, nearest first; of blocks around it, those before it."""
    for block, place, _ in reversed(source.path(statement)):
        yield from reversed(block[:place])


def assigned_before(source: Source, statement: ast.stmt, name: str) -> ast.expr | None:
    """The expression that a name has been assigned when a statement begins; None where it is not that simple."""
    loops = (ast.For, ast.AsyncFor, ast.While)
    for at in source.path(statement):
        if isinstance(at.owner, loops) and name in names_bound([at.owner]):
            return None  # a step before this one may have bound it
    for before in earlier(source, statement):
        if name not in names_bound([before]):
            continue
        if isinstance(before, ast.Assign) and len(before.targets) == 1:
            target = before.targets[0]
            return before.value if isinstance(target, ast.Name) else None
        return before.value if isinstance(before, ast.AnnAssign) else None
    return None


def is_bound_before(source: Source, statement: ast.stmt, name: str) -> bool:
    """Whether a name is sure to have a value of this function when a statement begins."""
    function = source.function(statement)
    if function is None:
        return False
    if name in parameters(function):
        return True
    path = source.path(statement)
    if any(
        isinstance(at.owner, (ast.For, ast.AsyncFor)) and name in names_bound([at.owner.target])
        for at in path
    ):
        return True
    return any(_is_sure_to_bind(before, name) for before in earlier(source, statement))


def _is_sure_to_bind(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.If):
        arms = (statement.body, statement.orelse)
        return all(any(_is_sure_to_bind(s, name) for s in arm) for arm in arms)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return name in names_bound(
            [i.optional_vars for i in statement.items if i.optional_vars]
        ) or any(_is_sure_to_bind(s, name) for s in statement.body)
    if isinstance(statement, (ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match)):
        return False
    return name in names_bound([statement])


def python_constant(value: Value) -> bool | int | float | None:
    """The Python number that a value is known to be."""
    known = value.constant() if value.kind is PYTHON else None
    found = known.value if known is not None else None
    return found if isinstance(found, (bool, int, float)) else None
