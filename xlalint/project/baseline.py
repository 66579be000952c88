"""The baseline: findings that are known and accepted, so that `check` reports new ones only.

An entry holds where a finding stands in words that outlive moved lines: file, function, rule and the text of the line. Two
findings alike in all of these are one entry with a count. An entry that `verify` wrote holds the TensorFlow version whose
compiler refuted the finding, and the evidence: it does not apply to another version.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xlalint.finding import CheckResult, Finding
from xlalint.project.files import UnreadableError, named
from xlalint.project.settings import Settings, SettingsError
from xlalint.project.source import Source

SCHEMA_VERSION = 1
_KEYS = ("code", "path", "function", "text")


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """`path` is relative to the baseline's folder, with `/`; `text` the flagged line without spaces around it; `count` how
    many findings look like this; `tensorflow` a minor such as `2.21`, or empty where the entry holds for all."""

    path: str
    function: str
    code: str
    text: str
    count: int = 1
    tensorflow: str = ""
    evidence: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.path, self.function, self.code, self.text)


@dataclass(frozen=True, slots=True)
class Applied:
    """A result without what the baseline hides: how many findings that are, entries whose finding is gone, and how many
    entries are for another TensorFlow."""

    result: CheckResult
    hidden: int
    stale: tuple[Entry, ...]
    other_version: int


def read(file: Path) -> tuple[Entry, ...]:
    """The entries of a baseline.

    Raises SettingsError: there is no such file, or it is no baseline.
    """
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
        if raw["schema_version"] != SCHEMA_VERSION:
            raise ValueError(f"schema_version is {raw['schema_version']}, not {SCHEMA_VERSION}")
        return tuple(_entry(one) for one in raw["entries"])
    except OSError as error:
        raise SettingsError(f"cannot read the baseline {file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise SettingsError(
            f"{file} is no baseline ({what}); write one with `xlalint check --write-baseline {file}`"
        ) from error


def write(file: Path, entries: Iterable[Entry]) -> None:
    """Write a baseline, sorted, so that a version control system shows what changed.

    Raises SettingsError where that cannot be done.
    """
    data = {"schema_version": SCHEMA_VERSION, "entries": [_data(one) for one in sorted(entries)]}
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"cannot write the baseline {file}: {error.strerror}") from error


def entries_of(findings: Sequence[Finding], settings: Settings, file: Path) -> list[Entry]:
    """One entry per kind of finding, with counts. `file` is where the baseline stands."""
    texts = _Texts(settings, file)
    counts = Counter(texts.key(finding) for finding in findings)
    return [Entry(*key, count=count) for key, count in counts.items()]


def refuted(
    judged: Sequence[tuple[Finding, str]], tensorflow: str, settings: Settings, file: Path
) -> list[Entry]:
    """Entries of findings that a compiler refuted, each with its evidence. `tensorflow` is the version that did."""
    texts = _Texts(settings, file)
    evidence = {texts.key(finding): told for finding, told in judged}
    counts = Counter(texts.key(finding) for finding, _ in judged)
    minor = minor_of(tensorflow)
    return [Entry(*key, counts[key], minor, told) for key, told in evidence.items()]


def merged(old: Iterable[Entry], new: Iterable[Entry]) -> list[Entry]:
    """The entries of both; of one finding and TensorFlow version, the new one."""
    found = {(one.key, one.tensorflow): one for one in old}
    found.update({(one.key, one.tensorflow): one for one in new})
    return list(found.values())


def applied(
    result: CheckResult, entries: Sequence[Entry], settings: Settings, file: Path
) -> Applied:
    """Take out of `result` what the entries hold for this TensorFlow version, as often as they count it."""
    version = minor_of(settings.tf_version)
    fitting = [one for one in entries if one.tensorflow in ("", version)]
    left = Counter[tuple[str, str, str, str]]()
    for one in fitting:
        left[one.key] = max(left[one.key], one.count)
    texts = _Texts(settings, file)
    kept = []
    for finding in result.findings:
        key = texts.key(finding)
        if left[key] > 0:
            left[key] -= 1
        else:
            kept.append(finding)
    seen = {texts.key(finding) for finding in result.findings}
    stale = tuple(one for one in fitting if one.key not in seen)
    hidden = len(result.findings) - len(kept)
    clean = replace(result, findings=tuple(kept))
    return Applied(clean, hidden, stale, len(entries) - len(fitting))


def minor_of(version: str) -> str:
    """`2.21` of `2.21.0`."""
    return ".".join(version.split(".")[:2])


class _Texts:
    """The keys of findings. Each file is read once."""

    def __init__(self, settings: Settings, file: Path) -> None:
        self._settings = settings
        self._folder = file.resolve().parent
        self._sources: dict[str, Source] = {}

    def key(self, finding: Finding) -> tuple[str, str, str, str]:
        return (
            self._path(finding.path),
            finding.function,
            finding.code,
            self._text(finding),
        )

    def _path(self, path: str) -> str:
        whole = Path(path).resolve()
        if whole.is_relative_to(self._folder):
            return whole.relative_to(self._folder).as_posix()
        return whole.as_posix()

    def _text(self, finding: Finding) -> str:
        if finding.path not in self._sources:
            self._sources[finding.path] = self._read(finding.path)
        lines = self._sources[finding.path].lines(finding.cell)
        at = finding.span.line
        return " ".join(lines[at - 1].split()) if 0 < at <= len(lines) else ""

    def _read(self, path: str) -> Source:
        file = named(path, self._settings)
        try:
            return file.read() if hasattr(file, "read") else Source("")
        except UnreadableError:
            return Source("")


def _entry(raw: Mapping[str, Any]) -> Entry:
    if not all(isinstance(raw[key], str) for key in _KEYS):
        raise TypeError("an entry has the texts code, path, function and text")
    by = raw.get("refuted") or {}
    return Entry(
        path=raw["path"],
        function=raw["function"],
        code=raw["code"],
        text=raw["text"],
        count=int(raw.get("count", 1)),
        tensorflow=by.get("tensorflow", ""),
        evidence=by.get("evidence", ""),
    )


def _data(entry: Entry) -> dict[str, Any]:
    data: dict[str, Any] = {
        "code": entry.code,
        "path": entry.path,
        "function": entry.function,
        "text": entry.text,
        "count": entry.count,
    }
    if entry.tensorflow:
        data["refuted"] = {"tensorflow": entry.tensorflow, "evidence": entry.evidence}
    return data
