"""A fixture as a program to rewrite: its lines carry their numbers along, in comments, wherever a rewriting moves them."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from tests.fixtures.fixture_text import Script, read_fixture

_MARK = re.compile(r"#@(\d+)\s*$")
_FOOTER = re.compile(r"^PROBES = \[$", re.MULTILINE)
# Comments that xlalint reads stay; what the fixtures say in comments is for their own tests.
_READ_BY_CHECK = re.compile(r"#\s*(xlalint:|noqa|type:)")
_MULTILINE = (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))

# The files of a program by name. The fixture's own is called `MAIN`.
Files = Mapping[str, str]
MAIN = "program.py"


@dataclass(frozen=True, slots=True)
class Program:
    """A fixture with numbered lines: what runs (`body`), and the footer for the compiler, which no rewriting touches."""

    script: Script
    path: Path
    body: cst.Module
    footer: str

    @property
    def files(self) -> Files:
        """As it stands."""
        return {MAIN: self.body.code + self.footer}


def read(path: Path) -> Program:
    """The fixture at `path`. Its name in the program is always the same, so that no finding can hang on it."""
    script = read_fixture(path)
    text = numbered(script.text)
    footer = _FOOTER.search(text)
    cut = footer.start() if footer else len(text)
    return Program(script, path, cst.parse_module(text[:cut]), text[cut:])


def numbered(text: str) -> str:
    """The program with its number at the end of each line that can hold a comment."""
    lines = text.splitlines()
    code, comments, within = _lines(text)
    for number, line in enumerate(lines, start=1):
        column = comments.get(number)
        kept = column is not None and _READ_BY_CHECK.match(line[column:])
        if column is not None and not kept:
            line = line[:column].rstrip()
        if number in code and number not in within:
            line += f"  #@{number}"
        lines[number - 1] = line
    made = "\n".join(lines) + "\n"
    if ast.dump(ast.parse(made)) != ast.dump(ast.parse(text)):
        raise ValueError("numbering the lines changed the program")
    return made


def _lines(text: str) -> tuple[set[int], dict[int, int], set[int]]:
    """The lines that hold code, the columns of comments, and the lines that go on in the next one, inside a text."""
    code: set[int] = set()
    comments: dict[int, int] = {}
    within = {n for n, line in enumerate(text.splitlines(), 1) if line.endswith("\\")}
    blank = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments[token.start[0]] = token.start[1]
        elif token.type not in blank:
            code.update(range(token.start[0], token.end[0] + 1))
            if token.type in _MULTILINE:
                within.update(range(token.start[0], token.end[0]))
    return code, comments, within


def numbers(text: str) -> dict[int, int]:
    """Of each line that has come from the fixture, by its number now, the number that it had there."""
    found = ((line, _MARK.search(content)) for line, content in enumerate(text.splitlines(), 1))
    return {line: int(mark[1]) for line, mark in found if mark}
