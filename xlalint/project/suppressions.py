"""Comments that speak to xlalint.

    x = y[mask]                    # xlalint: ignore[XLA201] the table has eight rows
    x = y[mask]                    # noqa: XLA201
    # xlalint: ignore[XLA201] on a line of its own, about the next statement
    def load(path):                # xlalint: host
    # xlalint: ignore-file[XLA4] anywhere in the file, about all of it

`ignore` without codes hides everything. A comment speaks for the logical line it stands on: any physical line of a
statement will do, and for a compound statement that is its header. `host` says that a function is never compiled.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xlalint import pages
from xlalint.finding import Edit, Finding, Fix, Region, Span
from xlalint.project.settings import Settings

UNUSED = "XLA902"
UNKNOWN = "XLA903"
# Most files hold neither word, and tokenizing costs more than all other work on a file together.
_WORTH_READING = re.compile(r"#.*(?:xlalint\s*:|noqa\s*:.*(?:XLA|PTX))", re.IGNORECASE)
_DIRECTIVE = re.compile(
    r"#\s*xlalint\s*:\s*(?P<word>[A-Za-z-]+)(?:\s*\[(?P<codes>[^\]]*)\])?", re.IGNORECASE
)
_NOQA = re.compile(
    r"#\s*noqa\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:\s*[,\s]\s*[A-Z]+[0-9]+)*)", re.IGNORECASE
)
_SEPARATOR = re.compile(r"[,\s]+")
_OURS = re.compile(r"^(XLA|PTX)\d*$")
_WORDS = ("ignore", "ignore-file", "host")
_SKIP = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


@dataclass(frozen=True, slots=True)
class Suppression:
    """One `ignore` or `noqa` comment. `codes` are prefixes, empty for all; `lines` is None for the whole file.

    `span` is the directive within its comment. `comment` is the whole comment where it holds nothing else than the
    directive and its reason, so that it may be taken away; None otherwise.
    """

    codes: tuple[str, ...]
    lines: range | None
    span: Span
    comment: Span | None

    def hides(self, finding: Finding) -> bool:
        here = self.lines is None or finding.span.line in self.lines
        return here and (not self.codes or finding.code.startswith(self.codes))


@dataclass(frozen=True, slots=True)
class Suppressions:
    """What the comments of one file say. `host_lines` are the lines of the `def`s marked as not compiled."""

    entries: tuple[Suppression, ...] = ()
    host_lines: frozenset[int] = frozenset()
    strangers: tuple[tuple[str, Span], ...] = ()

    def hides(self, finding: Finding) -> bool:
        return any(entry.hides(finding) for entry in self.entries)


def parse(text: str) -> Suppressions:
    """Read the comments of `text`. Text that does not tokenize to its end is read as far as it does."""
    lowered = text.lower()
    if not ("xlalint" in lowered or "noqa" in lowered) or not _WORTH_READING.search(text):
        return Suppressions()
    entries: list[Suppression] = []
    strangers: list[tuple[str, Span]] = []
    host: set[int] = set()
    for comment, lines, header in _comments(text):
        directive = _DIRECTIVE.search(comment.string)
        noqa = _NOQA.search(comment.string)
        if directive is not None:
            word = directive["word"].lower()
            span = _span(comment, directive.start(), directive.end())
            if word == "host":
                host.add(header)
            elif word in _WORDS:
                whole = word == "ignore-file"
                codes = _codes(directive["codes"])
                own = _whole(comment) if _is_ours(comment.string, directive) else None
                entries.append(Suppression(codes, None if whole else lines, span, own))
            else:
                strangers.append((directive["word"], span))
        elif noqa is not None:
            codes = tuple(c for c in _codes(noqa["codes"]) if _OURS.match(c))
            if codes:
                span = _span(comment, noqa.start(), noqa.end())
                entries.append(Suppression(codes, lines, span, None))
    return Suppressions(tuple(entries), frozenset(host), tuple(strangers))


def apply(
    suppressions: Suppressions, findings: Iterable[Finding], path: str, settings: Settings
) -> list[Finding]:
    """The findings of one file that are left, with XLA902 and XLA903 about the comments themselves, sorted.

    Pass every finding of a selected rule, `possible` ones too: they are left out here unless `pedantic` is on, and a
    comment that hides one is in use.
    """
    shown: list[Finding] = []
    used: set[int] = set()
    for finding in findings:
        hiding = [i for i, entry in enumerate(suppressions.entries) if entry.hides(finding)]
        used.update(hiding)
        if not hiding and (settings.pedantic or finding.confidence != "possible"):
            shown.append(finding)
    shown += _remarks(suppressions, used, path, settings)
    return sorted(shown, key=Finding.sort_key)


# --- reading comments -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Line:
    """A logical line: the physical lines it takes, its comments, and its first word (`""` for comments alone)."""

    lines: range
    comments: tuple[tokenize.TokenInfo, ...]
    first: str


def _comments(text: str) -> Iterable[tuple[tokenize.TokenInfo, range, int]]:
    """Each comment with the physical lines it speaks for, and the line of the `def` it would mark as host."""
    logical = _logical_lines(text)
    for index, line in enumerate(logical):
        for comment in line.comments:
            about = line
            if not line.first:
                about = next((later for later in logical[index:] if later.first), line)
            yield comment, about.lines, _header(logical, index)


def _header(logical: Sequence[_Line], index: int) -> int:
    """The line of the `def` that a comment at `index` stands on or above, past other comments and decorators."""
    for line in logical[index:]:
        if line.first and line.first != "@":
            return line.lines.start
    return logical[index].lines.start


def _logical_lines(text: str) -> list[_Line]:
    found: list[_Line] = []
    current: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.COMMENT and not current and _is_alone(token):
                found.append(_Line(range(token.start[0], token.start[0] + 1), (token,), ""))
            elif token.type == tokenize.NEWLINE:
                if current:
                    found.append(_logical(current))
                current = []
            elif token.type not in _SKIP and token.type != tokenize.ENDMARKER:
                current.append(token)
    except (tokenize.TokenError, SyntaxError):
        # The parser reports what is wrong with the file; comments up to there still count.
        pass
    if current:
        found.append(_logical(current))
    return found


def _is_alone(comment: tokenize.TokenInfo) -> bool:
    return not comment.line[: comment.start[1]].strip()


def _logical(tokens: Sequence[tokenize.TokenInfo]) -> _Line:
    comments = tuple(t for t in tokens if t.type == tokenize.COMMENT)
    return _Line(range(tokens[0].start[0], tokens[-1].end[0] + 1), comments, tokens[0].string)


def _is_ours(comment: str, directive: re.Match[str]) -> bool:
    return directive.start() == 0 and "#" not in comment[directive.end() :]


def _codes(listed: str | None) -> tuple[str, ...]:
    return tuple(c.upper() for c in _SEPARATOR.split(listed or "") if c)


def _span(comment: tokenize.TokenInfo, start: int, end: int) -> Span:
    line, column = comment.start
    return Span(line, column + start + 1, line, column + end + 1)


def _whole(comment: tokenize.TokenInfo) -> Span:
    """The comment with the spaces that part it from the code before it."""
    line, column = comment.start
    before = comment.line[:column]
    spaces = len(before) - len(before.rstrip()) if before.strip() else 0
    return Span(line, column - spaces + 1, line, comment.end[1] + 1)


# --- remarks about the comments ---------------------------------------------------------------------------------------


def _remarks(
    suppressions: Suppressions, used: set[int], path: str, settings: Settings
) -> Iterable[Finding]:
    known = pages.codes()
    for index, entry in enumerate(suppressions.entries):
        unknown = [c for c in entry.codes if not any(code.startswith(c) for code in known)]
        if settings.is_selected(UNKNOWN):
            for code in unknown:
                yield _remark(UNKNOWN, "unknown-code", {"code": code}, entry.span, path)
        if index not in used and not unknown and _could_be_used(entry, known, settings):
            what = ", ".join(entry.codes) or "any rule"
            if settings.is_selected(UNUSED):
                yield _remark(UNUSED, "unused", {"codes": what}, entry.span, path, _removal(entry))
    for word, span in suppressions.strangers:
        if settings.is_selected(UNKNOWN):
            yield _remark(UNKNOWN, "unknown-directive", {"word": word}, span, path)


def _could_be_used(entry: Suppression, known: Sequence[str], settings: Settings) -> bool:
    """Whether every rule that the comment names was run: with `--select XLA1`, nothing is known of XLA201.

    One that names none is about the rules for this target.
    """
    on_target = [c for c in known if settings.target in pages.load(c).targets]
    named = [c for c in known if c.startswith(entry.codes)] if entry.codes else on_target
    return all(settings.is_selected(code) and code in on_target for code in named)


def _removal(entry: Suppression) -> Fix | None:
    """Take the comment away where nothing else is in it."""
    if entry.comment is None:
        return None
    return Fix("safe", "Remove the comment", (Edit(entry.comment, ""),))


def _remark(
    code: str,
    variant: str,
    values: dict[str, str],
    span: Span,
    path: str,
    fix: Fix | None = None,
) -> Finding:
    page = pages.load(code)
    message, help_text = page.variants[variant].render(values)
    return Finding(
        code=code,
        name=page.name,
        severity=page.variants[variant].severity,
        path=path,
        span=span,
        message=message,
        function="<module>",
        region=Region("host"),
        help=help_text,
        fix=fix,
    )
