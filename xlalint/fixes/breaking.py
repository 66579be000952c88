"""One line of code broken over several, as black does it."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

_INDENT = "    "
_OPEN, _CLOSE = "([{", ")]}"
_DEEPEST = 12
# What holds less than this is not broken where another pair of brackets can be: `[0]`.
_LITTLE = 8


@dataclass(frozen=True, slots=True)
class _Token:
    """A token by its columns in the line; `depth` counts the brackets around it, its own not included."""

    text: str
    start: int
    end: int
    depth: int
    is_name: bool


def broken(line: str, width: int) -> list[str] | None:
    """The lines that stand for a too long one; None where it has no place to be broken.

    A line is one of a statement over several lines, or all of a statement, and may end in a comment.
    """
    margin = line[: len(line) - len(line.lstrip())]
    code, comment = _without_comment(line.strip())
    rows = _split(code, margin, width, _DEEPEST)
    if rows is None or len(rows) < 2:
        return None
    if comment:
        # Behind the first line, as it was about the whole.
        rows[0] = f"{rows[0]}  {comment}"
    return rows


def _without_comment(code: str) -> tuple[str, str]:
    for token in _raw(code):
        if token.type == tokenize.COMMENT:
            return code[: token.start[1]].rstrip(), token.string
    return code, ""


def _raw(code: str) -> list[tokenize.TokenInfo]:
    found: list[tokenize.TokenInfo] = []
    # A line may be a part of a statement.
    with suppress(tokenize.TokenError, IndentationError, SyntaxError):
        found.extend(tokenize.generate_tokens(io.StringIO(code).readline))
    return found


def _tokens(code: str) -> list[_Token] | None:
    """The tokens of a line; None where its brackets are not closed in it, or closed that were not opened."""
    found, depth = [], 0
    skipped = (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT)
    for token in _raw(code):
        if token.type in skipped or not token.string:
            continue
        if token.start[0] != 1 or token.end[0] != 1:
            return None
        if token.string in _CLOSE:
            depth -= 1
        if depth < 0:
            return None
        is_name = token.type == tokenize.NAME
        found.append(_Token(token.string, token.start[1], token.end[1], depth, is_name))
        if token.string in _OPEN:
            depth += 1
    return found if depth == 0 else None


def _split(code: str, margin: str, width: int, deep: int) -> list[str] | None:
    """The rows of a piece of code; one row where it fits. None where it cannot be broken."""
    if len(margin) + len(code) <= width:
        return [margin + code]
    tokens = _tokens(code)
    if not tokens or deep == 0:
        return None
    return _in_parentheses(code, tokens, margin, width, deep) or _at_bracket(
        code, tokens, margin, width, deep
    )


# --- brackets -------------------------------------------------------------------------------------------------------


def _at_bracket(
    code: str, tokens: Sequence[_Token], margin: str, width: int, deep: int
) -> list[str] | None:
    """What stands in the last brackets on rows of its own."""
    pairs = _pairs(tokens)
    large = [p for p in pairs if tokens[p[1]].start - tokens[p[0]].end > _LITTLE]
    for opening, closing in reversed(large or pairs):
        if opening + 1 == closing:
            continue  # `()` holds nothing
        head = margin + code[: tokens[opening].end]
        tail = margin + code[tokens[closing].start :]
        if len(head) > width or len(tail) > width:
            continue
        inside = code[tokens[opening].end : tokens[closing].start].strip()
        # A list or tuple of its own gets a row for each item; the arguments of a call may share one.
        is_whole = opening > 0 and tokens[opening - 1].text in ("=", "return")
        held = tokens[opening + 1 : closing]
        kept = _body(inside, held, margin + _INDENT, width, deep, is_tall=is_whole)
        if kept is None:
            continue
        return [head, *kept, tail]
    return None


def _pairs(tokens: Sequence[_Token]) -> list[tuple[int, int]]:
    """The outermost brackets of a line, by the places of their tokens."""
    found, opening = [], -1
    for index, token in enumerate(tokens):
        if token.depth == 0 and token.text in _OPEN:
            opening = index
        elif token.depth == 0 and token.text in _CLOSE:
            found.append((opening, index))
    return found


def _body(
    inside: str,
    tokens: Sequence[_Token],
    margin: str,
    width: int,
    deep: int,
    *,
    is_tall: bool = False,
) -> list[str] | None:
    """The rows inside of brackets: one where all fits, or one for each part (`is_tall`: always that)."""
    least = tokens[0].depth
    is_comprehension = any(t.text == "for" and t.depth == least for t in tokens)
    has_comma = not is_comprehension and any(t.text == "," and t.depth == least for t in tokens)
    ends_in_comma = inside.endswith(",")
    is_tall = (is_tall and has_comma) or sum(
        t.text == "lambda" and t.depth == least for t in tokens
    ) > 1
    if len(margin) + len(inside) <= width and not ends_in_comma and not is_tall:
        return [margin + inside]
    parts = _parts(inside, tokens)
    if parts is None:
        return None
    rows: list[str] = []
    for part in parts:
        found = _part(f"{part}," if has_comma else part, margin, width, deep - 1)
        if found is None:
            return None
        rows += found
    return rows


def _part(code: str, margin: str, width: int, deep: int) -> list[str] | None:
    """The rows of something inside of brackets, where operators may begin a row."""
    tokens = _tokens(code) or []
    is_clause = bool(tokens) and tokens[0].text in ("for", "if", "async")
    if len(margin) + len(code) > width and tokens and not is_clause:
        level = [t for t in tokens if t.depth == 0]
        pieces = _cut(code, [t.start for t in _operators(level)])
        rows = [_split(piece, margin, width, deep - 1) for piece in pieces]
        if len(pieces) > 1 and None not in rows:
            return [row for some in rows if some is not None for row in some]
    return _split(code, margin, width, deep)


def _parts(inside: str, tokens: Sequence[_Token]) -> list[str] | None:
    """What the brackets hold, parted by commas; or by the clauses of a comprehension, or by operators."""
    least, offset = tokens[0].depth, tokens[0].start
    level = [t for t in tokens if t.depth == least]
    if any(t.text == "for" for t in level):
        return _cut(inside, [t.start - offset for t in _clauses(level)])
    commas = [t for t in level if t.text == "," and not _in_lambda(level, t)]
    if commas:
        rows, done = [], 0
        for comma in commas:
            rows.append(inside[done : comma.start - offset].strip())
            done = comma.end - offset
        rest = inside[done:].strip()
        return [*rows, rest] if rest else rows
    cuts = _operators(level)
    return _cut(inside, [t.start - offset for t in cuts]) if cuts else [inside]


def _in_lambda(level: Sequence[_Token], comma: _Token) -> bool:
    """Whether a comma parts the parameters of a lambda."""
    is_open = False
    for token in level:
        if token is comma:
            return is_open
        if token.text == "lambda":
            is_open = True
        elif token.text == ":":
            is_open = False
    return False


def _clauses(level: Sequence[_Token]) -> list[_Token]:
    """The `for` and `if` that the clauses of a comprehension begin with."""
    start = next(i for i, t in enumerate(level) if t.text == "for")
    ternaries = 0
    found = [level[start]]
    for token in reversed(level[start + 1 :]):
        if token.text == "else":
            ternaries += 1
        elif token.text == "if" and ternaries:
            ternaries -= 1
        elif token.text in ("for", "if"):
            found.append(token)
    return sorted(found, key=lambda t: t.start)


def _cut(code: str, places: Sequence[int]) -> list[str]:
    edges = [0, *places, len(code)]
    return [code[a:b].strip() for a, b in pairwise(edges) if code[a:b].strip()]


# --- operators ------------------------------------------------------------------------------------------------------

# What binds least is broken at first.
_LEVELS = (("if", "else"), ("or",), ("and",), ("<", ">", "==", "!=", "<=", ">=", "in", "is"), ("|",), ("^",), ("&",),
           ("+", "-"), ("*", "/", "//", "%", "@"))  # fmt: skip


def _operators(level: Sequence[_Token]) -> list[_Token]:
    """The operators between operands, of the kind that binds least."""
    if any(t.text in ("lambda", ":=", "=") for t in level):
        return []
    for kind in _LEVELS:
        found = [
            token
            for before, token in pairwise(level)
            if token.text in kind and (before.text in _CLOSE or _is_operand(before))
        ]
        if found:
            return found
    return []


def _is_operand(token: _Token) -> bool:
    if token.is_name:
        return token.text not in ("and", "or", "in", "is", "if", "else", "not", "return")
    return token.text[:1].isalnum() or token.text[:1] in "\"'._" or token.text in _CLOSE


def _in_parentheses(
    code: str, tokens: Sequence[_Token], margin: str, width: int, deep: int
) -> list[str] | None:
    """`name = (` and the operands of the value on rows, where one bracket at its end does not hold most of it."""
    top = [t for t in tokens if t.depth == 0]
    place = _value_start(top)
    if place is None or code.endswith((":", ",")):
        return None
    value = [t for t in top if t.start >= place]
    if any(t.text == "," for t in value) and "lambda" not in (t.text for t in value):
        held = [t for t in tokens if t.start >= place]
        parts = _body(code[place:], held, margin + _INDENT, width, deep, is_tall=True)
        return parts and [f"{margin}{code[:place].rstrip()} (", *parts, f"{margin})"]
    cuts = _operators(value)
    if not cuts:
        return None
    ends_in_bracket = value[-1].text in _CLOSE
    is_empty = ends_in_bracket and tokens[-2].text in _OPEN
    if len(cuts) == 1 and ((ends_in_bracket and not is_empty) or value[0].text in _OPEN):
        return None
    inside = code[place:].strip()
    head = margin + code[:place].rstrip() + " ("
    inner = margin + _INDENT
    if len(inner) + len(inside) <= width:
        return [head, inner + inside, f"{margin})"]
    rows: list[str] = []
    for part in _cut(inside, [t.start - place for t in cuts]):
        found = _split(part, inner, width, deep - 1)
        if found is None:
            return None
        rows += found
    return [head, *rows, f"{margin})"]


def _value_start(top: Sequence[_Token]) -> int | None:
    """Where the value of an assignment or a `return` begins."""
    if top and top[0].text == "return" and len(top) > 1:
        return top[1].start
    for token, following in zip(reversed(top[:-1]), reversed(top[1:])):
        if token.text == "=" or (token.text.endswith("=") and token.text[0] in "+-*/%|&^@"):
            return following.start
    return None
