"""The rule pages: the words, severities and evidence of every rule, read from `rules/*.md`.

A page is the only place where a rule's words live. It starts with TOML front matter between two `+++` lines
(`code`, `name`, `category`, `targets`, `versions`, `fix`, `evidence`, and a `[variants.KEY]` table with `severity`,
`message` and `help` for each way the rule can speak) and goes on in Markdown under `##` headings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from xlalint import data, toml
from xlalint.finding import Severity

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_HEADING = re.compile(r"^## (.+?)\s*$", re.MULTILINE)
_FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"^[A-Z]{3}\d{3}$")
_FIXES = ("none", "safe", "unsafe", "display")


class PageError(Exception):
    """A page is missing, or does not hold what a page must hold. The message names the file and what is wrong."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way in which a rule speaks: how bad it is, what it says, and how to rewrite."""

    key: str
    severity: Severity
    message: str
    help: str

    def render(self, values: Mapping[str, str]) -> tuple[str, str]:
        """Return the message and the help with `{placeholders}` filled from `values`.

        Only `{lower_case}` names are placeholders, so a page may show `{"a": 1}` or `f"{x:.2f}"` as they are.

        Raises:
            PageError: the page names a placeholder that `values` lacks.
        """
        return self._fill(self.message, values), self._fill(self.help, values)

    def _fill(self, template: str, values: Mapping[str, str]) -> str:
        def value(match: re.Match[str]) -> str:
            name = match.group(1)
            if name not in values:
                raise PageError(f"variant {self.key!r} needs a value for {{{name}}}: {template!r}")
            return values[name]

        return _PLACEHOLDER.sub(value, template)


@dataclass(frozen=True, slots=True)
class Page:
    """One rule's page. `sections` maps a heading (`What it does`) to its Markdown, in the order of the page."""

    code: str
    name: str
    category: str
    targets: tuple[str, ...]
    versions: str
    fix: str
    evidence: tuple[str, ...]
    variants: Mapping[str, Variant]
    sections: Mapping[str, str]

    @property
    def severity(self) -> Severity:
        """The worst severity that the rule can report."""
        return max((v.severity for v in self.variants.values()), key=lambda s: s.rank)

    @property
    def summary(self) -> str:
        """The first paragraph of `What it does` on one line, or the rule's name in words where there is none."""
        text = self.sections.get("What it does", "").strip().split("\n\n")[0]
        return " ".join(text.split()) or self.name.replace("-", " ")

    @property
    def markdown(self) -> str:
        """The page without its front matter, under a title."""
        body = "\n\n".join(f"## {head}\n\n{text.strip()}" for head, text in self.sections.items())
        return f"# {self.name} ({self.code})\n\n{body}\n"

    def example(self, heading: str = "Example") -> str:
        """The Python block under `heading`, or an empty string."""
        match = _FENCE.search(self.sections.get(heading, ""))
        return match.group(1) if match else ""


@cache
def codes() -> tuple[str, ...]:
    """The codes of all rules, sorted. Reads file names only, so it costs next to nothing."""
    return tuple(sorted(p.stem for p in data.root().glob("*.md") if _CODE.match(p.stem)))


@cache
def load(code: str) -> Page:
    """Read the page of `code`.

    Raises:
        PageError: there is no such rule, or its page is malformed.
    """
    if code not in codes():
        raise PageError(f"no rule {code}")
    path = data.root() / f"{code}.md"
    try:
        return _parse(path.read_text(encoding="utf-8"))
    except (KeyError, TypeError, ValueError) as error:
        raise PageError(f"{path}: {type(error).__name__}: {error}") from error


def all_pages() -> tuple[Page, ...]:
    """Every page, sorted by code."""
    return tuple(load(code) for code in codes())


def _parse(text: str) -> Page:
    """Read one page. Raises KeyError, TypeError or ValueError for what a page must not be."""
    start, front, body = text.split("+++\n", 2)
    if start:
        raise ValueError("a page starts with `+++`")
    head: dict[str, Any] = toml.loads(front)
    if head["fix"] not in _FIXES:
        raise ValueError(f"fix is {head['fix']!r}, not one of {', '.join(_FIXES)}")
    variants = {key: _variant(key, table) for key, table in head["variants"].items()}
    if not variants:
        raise ValueError("a page needs at least one [variants.KEY]")
    return Page(
        code=head["code"],
        name=head["name"],
        category=head["category"],
        targets=tuple(head["targets"]),
        versions=head["versions"],
        fix=head["fix"],
        evidence=tuple(head["evidence"]),
        variants=variants,
        sections=_sections(body),
    )


def _variant(key: str, table: Mapping[str, str]) -> Variant:
    return Variant(key, Severity(table["severity"]), table["message"], table["help"].strip())


def _sections(body: str) -> dict[str, str]:
    pieces = _HEADING.split(body)[1:]
    return {heading: text.strip() for heading, text in zip(pieces[::2], pieces[1::2], strict=True)}
