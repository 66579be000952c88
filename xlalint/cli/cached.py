"""`check` with a memory: a run over the same bytes with the same settings and the same xlalint is not done again."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import xlalint
from xlalint import data
from xlalint.finding import CheckResult, Edit, FileError, Finding, Fix, Region, Severity, Span
from xlalint.project import cache
from xlalint.project.files import UnreadableError, discover
from xlalint.project.settings import Settings

# Fields of the settings that do not change what a run finds.
_IRRELEVANT = (
    "jobs",
    "fail_on",
    "baseline",
    "verify",
    "origins",
    "source",
    "stdin",
    "stdin_filename",
)


def check(
    paths: Sequence[str],
    settings: Settings,
    remains: list[object] | None = None,
    *,
    with_fixes: bool = False,
) -> CheckResult:
    """What `engine.check` returns, from the cache where nothing has changed since it was put there."""
    key = _key(paths, settings, with_fixes=with_fixes)
    stored = cache.load(key)
    result = None if stored is None else decode(stored)
    if result is None:
        from xlalint import engine

        result = engine.check(paths, settings, remains, with_fixes=with_fixes)
        cache.store(key, encode(result))
    return result


def _key(paths: Sequence[str], settings: Settings, *, with_fixes: bool) -> str:
    digest = hashlib.sha256()
    asked = "with fixes" if with_fixes else "findings alone"
    for part in (*_program(), asked, *_relevant(settings), *_project(paths, settings)):
        digest.update(part.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()


def _program() -> Iterator[str]:
    """Which xlalint this is: its version, and for a checkout that is being worked on, its files as they are now."""
    yield xlalint.__version__
    # Where installed base classes are looked for.
    yield from sys.path
    package = Path(xlalint.__file__).parent
    files = [*package.rglob("*.py"), *data.root().glob("*.md"), *data.root().glob("catalog/*.json")]
    for path in sorted(files):
        status = path.stat()
        yield f"{path}:{status.st_size}:{status.st_mtime_ns}"


def _relevant(settings: Settings) -> Iterator[str]:
    for field in dataclasses.fields(settings):
        if field.name not in _IRRELEVANT:
            yield f"{field.name}={getattr(settings, field.name)!r}"
    # Asking for a TPU outright turns rules on that are off for code which never names one.
    yield f"target from {dict(settings.origins).get('target')}"


def _project(paths: Sequence[str], settings: Settings) -> Iterator[str]:
    """The files of the run by name and content, and the paths that are not there."""
    files, errors = discover(paths, settings)
    for error in errors:
        yield f"{error.path}: {error.message}"
    for file in files:
        try:
            content = hashlib.sha256(file.content()).hexdigest()
        except UnreadableError as unreadable:
            content = unreadable.error.message
        yield f"{file.display}:{file.path}:{content}"


def encode(result: CheckResult) -> bytes:
    """`result` as JSON, with the state of the files that it rests on besides those it is about."""
    state = [[path, _state(path)] for path in result.also_read]
    return json.dumps([dataclasses.asdict(result), state], separators=(",", ":")).encode()


def decode(stored: bytes) -> CheckResult | None:
    """The result that `encode` was given; None where a file that it rests on has changed since."""
    raw, state = json.loads(stored)
    if any(_state(path) != before for path, before in state):
        return None
    return CheckResult(
        findings=tuple(_finding(f) for f in raw["findings"]),
        errors=tuple(FileError(**e) for e in raw["errors"]),
        files_checked=raw["files_checked"],
        summary=raw["summary"],
        also_read=tuple(raw["also_read"]),
    )


def _state(path: str) -> list[int] | None:
    """Size and time of the last change: enough for files that nobody asked to check, and cheap for thousands."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]


def _finding(raw: dict[str, Any]) -> Finding:
    return Finding(
        **{
            **raw,
            "severity": Severity(raw["severity"]),
            "span": Span(**raw["span"]),
            "region": Region(raw["region"]["kind"], tuple(raw["region"]["why"])),
            "fix": None if raw["fix"] is None else _fix(raw["fix"]),
        }
    )


def _fix(raw: dict[str, Any]) -> Fix:
    edits = tuple(Edit(Span(**e["span"]), e["text"], e["cell"]) for e in raw["edits"])
    return Fix(raw["applicability"], raw["message"], edits)
