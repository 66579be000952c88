"""Rewritten files put on disk: whole or not at all, with their encoding and mode, and never over what changed meanwhile."""

from __future__ import annotations

import codecs
import io
import os
import stat
import tempfile
import tokenize
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from xlalint.finding import FileError
from xlalint.fixes.fixpoint import Rewritten
from xlalint.project.files import SourceFile

# Somebody may write: root could write what nobody is meant to.
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def write(files: Sequence[Rewritten]) -> list[FileError]:
    """Write the files. Those that cannot be written are left as they are, and told."""
    problems = []
    for item in files:
        problem = _write(item)
        if problem is not None:
            problems.append(FileError(item.file.display, 0, 0, f"not rewritten: {problem}"))
    return problems


def refusal(file: SourceFile) -> str | None:
    """Why a file must not be written, as far as that is known beforehand."""
    if file.is_elsewhere:
        return f"it is a link to {file.path}, outside of the folder given"
    return None


def _write(item: Rewritten) -> str | None:
    """Write one file; why that was not done, where it was not."""
    path = item.file.path
    why = refusal(item.file)
    if why is not None:
        return why
    try:
        content = path.read_bytes()
        if not path.stat().st_mode & _WRITABLE or not os.access(path, os.W_OK):
            return "it is read-only"
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        if content.decode(encoding) != item.before:
            return "it has been changed meanwhile; run again"
        new = item.after.encode(encoding)
        if encoding == "utf-8-sig" and not content.startswith(codecs.BOM_UTF8):
            new = new.removeprefix(codecs.BOM_UTF8)
        _replace(path, content, new)
    except UnicodeEncodeError as error:
        return f"{error.object[error.start]!r} cannot be written in its encoding, {error.encoding}"
    except (OSError, UnicodeError, SyntaxError) as error:
        return getattr(error, "strerror", None) or str(error)
    return None


def _replace(path: Path, before: bytes, after: bytes) -> None:
    """Put other content into a file at one stroke. Raises OSError, and leaves the file as it was then."""
    status = path.stat()
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(stat.S_IMODE(status.st_mode))
        with suppress(OSError, AttributeError):
            # Only root may give files away; for others the group may still be theirs to set.
            os.chown(temporary, status.st_uid, status.st_gid)
        if path.read_bytes() != before:
            raise OSError(0, "it has been changed meanwhile; run again")
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
