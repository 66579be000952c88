"""Which stretches of a module the rules read, and the one walk in which all of them read it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from xlalint.finding import Finding
from xlalint.rules import all_rules
from xlalint.rules.base import Aim, Key, Passage, key_of, worst
from xlalint.rules.walk import walk
from xlalint.semantics.facts import Fact, ModuleFacts
from xlalint.semantics.index import ModuleInfo

# An indented function is parsed inside this block, so that its columns stay what they are.
_BLOCK = "if True:\n"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines `first` to `last` of a module (1-based, inclusive), indented or not."""

    first: int
    last: int
    is_indented: bool


def read_module(facts: ModuleFacts, path: str, aim: Aim, selected: Sequence[str]) -> list[Finding]:
    """The findings of all selected rules in one module.

    Raises:
        libcst.ParserSyntaxError: libcst cannot read what `ast` could.
    """
    module = facts.module
    lines = (
        module.text.splitlines(keepends=True) if "\f" not in module.text else _lines(module.text)
    )
    columns = {number: line for number, line in enumerate(lines, 1) if not line.isascii()}
    by_key: dict[Key, list[Fact]] = {}
    for node, known in facts.by_node.items():
        by_key.setdefault(key_of(node, columns), []).extend(known)
    wanted = sorted({key[0] for key in by_key})
    findings: list[Finding] = []
    for stretch in _stretches(module, wanted):
        findings += _read(stretch, lines, by_key, path, aim, selected)
    return worst(findings)


def _lines(text: str) -> list[str]:
    """Lines as Python counts them: a form feed does not end one."""
    return [line + "\n" for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def _read(
    stretch: Stretch,
    lines: Sequence[str],
    facts: dict[Key, list[Fact]],
    path: str,
    aim: Aim,
    selected: Sequence[str],
) -> list[Finding]:
    text = "".join(lines[stretch.first - 1 : stretch.last])
    offset = stretch.first - 1
    if stretch.is_indented:
        text, offset = _BLOCK + text, offset - 1
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    # `wrapper.resolve` walks the tree once more for providers that there are none of: half the time spent here.
    ranges = PositionProvider()._gen(wrapper)
    passage = Passage(path, facts, ranges, offset, wrapper.module, aim)  # type: ignore[arg-type]
    rules = [rule(passage) for rule in all_rules() if rule.code in selected]
    walk(wrapper.module, rules)
    return passage.findings


def _stretches(module: ModuleInfo, wanted: Sequence[int]) -> Iterator[Stretch]:
    """The outermost functions and statements that hold the wanted lines, in order."""
    remaining = list(wanted)
    for node in _outermost(module.tree.body):
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        last = node.end_lineno or node.lineno
        if any(first <= line <= last for line in remaining):
            remaining = [line for line in remaining if not first <= line <= last]
            yield Stretch(first, last, node.col_offset > 0)


def _outermost(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module, and of its classes: a class is read method by method."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _outermost(node.body)
        else:
            yield node
