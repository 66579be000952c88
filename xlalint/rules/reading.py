"""Which stretches of a module the rules read, and the one walk in which all of them read it."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from xlalint.finding import Finding
from xlalint.rules import all_rules
from xlalint.rules.base import Aim, Passage, key_of, worst
from xlalint.rules.positions import Place, Positions
from xlalint.rules.walk import walk
from xlalint.semantics.facts import Fact, ModuleFacts
from xlalint.semantics.index import ModuleInfo

# An indented function is parsed inside this block, so that its columns stay what they are.
_BLOCK = "if True:\n"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines of a module (1-based, in order) that can be parsed by themselves, indented or not."""

    lines: Sequence[int]
    is_indented: bool


def read_module(
    facts: ModuleFacts, path: str, aim: Aim, selected: Sequence[str]
) -> tuple[list[Finding], list[tuple[int, str]]]:
    """The findings of all selected rules in one module, and where functions begin that could not be read, with the reasons."""
    module = facts.module
    lines = (
        module.text.splitlines(keepends=True) if "\f" not in module.text else _lines(module.text)
    )
    columns = {number: line for number, line in enumerate(lines, 1) if not line.isascii()}
    by_key: dict[Place, list[Fact]] = {}
    for node, known in facts.by_node.items():
        by_key.setdefault(key_of(node, columns), []).extend(known)
    wanted = sorted({key[0] for key in by_key})
    findings: list[Finding] = []
    unread: list[tuple[int, str]] = []
    for stretch in _stretches(module, wanted):
        try:
            findings += _read(stretch, lines, by_key, path, aim, selected)
        except cst.ParserSyntaxError as error:
            # What `ast` could read: tabs and spaces in one block, say.
            unread.append((stretch.lines[0], f"libcst cannot read this: {_first_line(error)}"))
        except RecursionError:
            unread.append((stretch.lines[0], "nested too deep for the rules to read"))
        except Exception as error:
            # A fault of one rule: what is found elsewhere is not lost with it.
            what = f"{type(error).__name__}: {error}"
            why = f"internal error in a rule, please report it ({what})"
            unread.append((stretch.lines[0], why))
    return worst(findings), unread


def _first_line(error: cst.ParserSyntaxError) -> str:
    return error.message.splitlines()[0]


def _lines(text: str) -> list[str]:
    """Lines as Python counts them: a form feed does not end one."""
    return [line + "\n" for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def _read(
    stretch: Stretch,
    lines: Sequence[str],
    facts: dict[Place, list[Fact]],
    path: str,
    aim: Aim,
    selected: Sequence[str],
) -> list[Finding]:
    numbers = [0, *stretch.lines] if stretch.is_indented else stretch.lines
    try:
        module = cst.parse_module("".join([_text_of(number, lines) for number in numbers]))
    except cst.ParserSyntaxError:
        whole = range(stretch.lines[0], stretch.lines[-1] + 1)
        if len(whole) == len(stretch.lines):
            raise
        # A backslash can tie a statement to a line that was left out.
        return _read(Stretch(whole, stretch.is_indented), lines, facts, path, aim, selected)
    passage = Passage(path, facts, Positions(module, numbers, facts), module, aim)
    rules = [rule(passage) for rule in all_rules() if rule.code in selected]
    walk(module, rules, passage.positions.around)
    return passage.findings


def _text_of(number: int, lines: Sequence[str]) -> str:
    return lines[number - 1] if number else _BLOCK


def _stretches(module: ModuleInfo, wanted: Sequence[int]) -> Iterator[Stretch]:
    """The outermost functions and statements that hold the wanted lines (sorted), in order."""
    for node in _outermost(module.tree.body, wanted):
        if _holds_any(node, wanted):
            yield Stretch(_lines_to_read(node, wanted), node.col_offset > 0)


def _lines_to_read(node: ast.stmt, wanted: Sequence[int]) -> list[int]:
    """The lines of a statement. A function or class is read without the statements of its body that hold no wanted line."""
    first, last = _extent(node)
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.With)):
        return list(range(first, last + 1))
    parts = [part for part in node.body if _holds_any(part, wanted)] or node.body[:1]
    lines = list(range(first, _extent(node.body[0])[0]))
    for part in parts:
        inner = _lines_to_read(part, wanted)
        # Statements after a semicolon share a line with the one before.
        lines += inner if not lines or inner[0] > lines[-1] else inner[lines[-1] - inner[0] + 1 :]
    return lines


def _holds_any(node: ast.stmt, wanted: Sequence[int]) -> bool:
    first, last = _extent(node)
    position = bisect_left(wanted, first)
    return position < len(wanted) and wanted[position] <= last


def _extent(node: ast.stmt) -> tuple[int, int]:
    """The first and last line of a statement with its decorators."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return first, node.end_lineno or node.lineno


def _outermost(body: Sequence[ast.stmt], wanted: Sequence[int]) -> Iterator[ast.stmt]:
    """Statements of a module, and of its classes: a class is read method by method, unless its decorators or bases are wanted."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not _is_named_in(node, wanted):
            yield from _outermost(node.body, wanted)
        else:
            yield node


def _is_named_in(node: ast.ClassDef, wanted: Sequence[int]) -> bool:
    """Whether a wanted line is above the body of a class, or may be both, as in `class Rows(Layer): pass`."""
    first, body = _extent(node)[0], _extent(node.body[0])[0]
    position = bisect_left(wanted, first)
    is_short = body in (node.lineno, node.end_lineno)
    return position < len(wanted) and wanted[position] < body + is_short
