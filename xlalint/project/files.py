"""Which files a run reads, and how: folders walked with .gitignore respected, encodings honoured, notebooks unfolded.

Nothing here parses Python. A file that cannot be read becomes a `FileError`, and the other files are still checked.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from xlalint.finding import FileError
from xlalint.project.patterns import verdict
from xlalint.project.settings import Settings
from xlalint.project.source import Source

# Folders that hold no code of the project: tools' own, environments, what is built or installed.
DEFAULT_EXCLUDES = frozenset(
    (
        *(".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox"),
        *(".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", "__pycache__"),
        *("__pypackages__", "buck-out", "build", "dist", "node_modules", "site-packages", "venv"),
    )
)
_SUFFIXES = (".py", ".ipynb")
_STDIN = "<stdin>"


class UnreadableError(Exception):
    """A file whose text cannot be had. `error` is what to tell the user."""

    def __init__(self, error: FileError) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to check. `display` is the path as the user would write it, `path` the real one, absolute.

    `text` is set where the text does not come from the disk (standard input, or a file that is being rewritten).
    `is_elsewhere`: a walk came to it by a link that leads out of the folder that was walked.
    """

    display: str
    path: Path
    text: str | None = None
    is_elsewhere: bool = False

    @property
    def is_notebook(self) -> bool:
        return self.path.suffix == ".ipynb"

    def content(self) -> bytes:
        """The bytes of the file. Raises UnreadableError."""
        if self.text is not None:
            return self.text.encode("utf-8", "surrogatepass")
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise UnreadableError(_error(self.display, error.strerror or str(error))) from error

    def raw(self) -> str:
        """The text of the file as it is: of a notebook, its JSON. Raises UnreadableError."""
        return self.text if self.text is not None else _decode(self.content(), self.display)

    def read(self) -> Source:
        """The text of the file as one program, with the map of cells for a notebook. Raises UnreadableError."""
        text = self.raw()
        if self.is_notebook:
            from xlalint.project.notebooks import NotebookError, unfold

            try:
                return unfold(text)
            except NotebookError as error:
                raise UnreadableError(_error(self.display, str(error))) from error
        _refuse_null(text, self.display)
        return Source(text)

    def as_written(self) -> Source:
        """As `read`, but with the commands of a notebook as they stand in it: what to show to its reader."""
        if not self.is_notebook:
            return self.read()
        from xlalint.project.notebooks import NotebookError, written

        try:
            return written(self.raw())
        except NotebookError as error:
            raise UnreadableError(_error(self.display, str(error))) from error


def discover(paths: Sequence[str], settings: Settings) -> tuple[list[SourceFile], list[FileError]]:
    """The files that `paths` name, each once, sorted by display path; and an error for each path that is not there.

    A folder is walked for *.py and *.ipynb, without what .gitignore files, the default excludes and `exclude` leave out,
    and without following links to folders. A file named outright is taken whatever its suffix, and whatever `exclude`
    says unless `force_exclude` is on. `-` is standard input.
    """
    found: dict[Path, SourceFile] = {}
    errors: list[FileError] = []
    for given in paths:
        for item in _expand(given, settings):
            if isinstance(item, FileError):
                errors.append(item)
            else:
                found.setdefault(item.path, item)
    for path, text in settings.unsaved:
        if Path(path) in found:
            found[Path(path)] = replace(found[Path(path)], text=text)
    return sorted(found.values(), key=lambda f: f.display), errors


def _expand(given: str, settings: Settings) -> Iterator[SourceFile | FileError]:
    if given == "-":
        yield _stdin(settings)
        return
    path = Path(given)
    if path.is_dir():
        yield from _walk(given, settings)
    elif not path.exists():
        yield _error(given, "no such file or folder")
    elif not path.is_file():
        yield _error(given, "neither a file nor a folder")
    elif not (settings.force_exclude and _is_left_out(path.absolute(), settings)):
        yield SourceFile(given, path.resolve())


def named(display: str, settings: Settings) -> SourceFile | FileError:
    """The file that a finding's `path` names: what `discover` made that path from."""
    if settings.stdin is not None and display == (settings.stdin_filename or _STDIN):
        return _stdin(settings)
    return SourceFile(display, Path(display).resolve())


def _stdin(settings: Settings) -> SourceFile | FileError:
    display = settings.stdin_filename or _STDIN
    content = settings.stdin if settings.stdin is not None else sys.stdin.buffer.read()
    try:
        text = _decode(content, display)
    except UnreadableError as unreadable:
        return unreadable.error
    return SourceFile(display, Path(display).absolute(), text)


def _error(path: str, message: str, line: int = 0, column: int = 0) -> FileError:
    return FileError(path, line, column, message)


# --- walking --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Ignore:
    """The lines of one .gitignore and the folder they count from."""

    folder: Path
    lines: tuple[str, ...]


def _walk(given: str, settings: Settings) -> Iterator[SourceFile | FileError]:
    top = Path(given).absolute()
    ignores = _ignores_above(top) if settings.respect_gitignore else ()
    yield from _walk_folder(Path(given), top, top.resolve(), ignores, settings)


def _walk_folder(
    display: Path, folder: Path, real: Path, ignores: tuple[_Ignore, ...], settings: Settings
) -> Iterator[SourceFile | FileError]:
    """The files under `folder`, which is `real` when links are followed."""
    try:
        entries = sorted(os.scandir(folder), key=lambda e: e.name)
    except OSError as error:
        yield _error(str(display), error.strerror or str(error))
        return
    if settings.respect_gitignore:
        ignores = (*ignores, *_ignores_of(folder))
    for entry in entries:
        path = folder / entry.name
        # A link to a folder is not followed: what it points to is checked under its own name, and loops cannot arise.
        is_folder = entry.is_dir(follow_symlinks=False)
        if not is_folder and not (entry.name.endswith(_SUFFIXES) and entry.is_file()):
            continue
        if _is_excluded(path, is_folder, settings) or _is_ignored(path, is_folder, ignores):
            continue
        if is_folder:
            yield from _walk_folder(
                display / entry.name, path, real / entry.name, ignores, settings
            )
        else:
            own = path.resolve() if entry.is_symlink() else real / entry.name
            yield SourceFile(str(display / entry.name), own, is_elsewhere=own.parent != real)


def _is_excluded(path: Path, is_folder: bool, settings: Settings) -> bool:
    """Whether `path` is a folder that is never walked, or `exclude` names it."""
    if is_folder and (path.name in DEFAULT_EXCLUDES or path.name.endswith(".egg-info")):
        return True
    return bool(settings.exclude and verdict(settings.exclude, path, settings.root, is_folder))


def _is_left_out(path: Path, settings: Settings) -> bool:
    """Whether a walk from the root would leave out the file at `path`, for `force_exclude`."""
    folders = [p for p in reversed(path.parents) if settings.root in p.parents]
    if any(_is_excluded(p, p != path, settings) for p in (*folders, path)):
        return True
    if not settings.respect_gitignore:
        return False
    ignores = _ignores_above(path)
    return any(_is_ignored(p, p != path, ignores) for p in (*folders, path))


def _is_ignored(path: Path, is_folder: bool, ignores: tuple[_Ignore, ...]) -> bool:
    """The deepest .gitignore that has something to say of `path` decides, as in git."""
    for ignore in reversed(ignores):
        decided = verdict(ignore.lines, path, ignore.folder, is_folder)
        if decided is not None:
            return decided
    return False


def _ignores_above(top: Path) -> tuple[_Ignore, ...]:
    """The .gitignore files above `top` as far as the repository's root; none where they leave out `top` itself.

    Naming an ignored folder on the command line is asking for it.
    """
    above: list[_Ignore] = []
    for folder in top.parents if not (top / ".git").exists() else ():
        above[:0] = _ignores_of(folder)
        if (folder / ".git").exists():
            exclude = _lines(folder / ".git" / "info" / "exclude")
            above[:0] = [_Ignore(folder, exclude)] if exclude else []
            break
    else:
        # No repository: a stray .gitignore in a home folder is not about this project.
        return ()
    return () if top.is_dir() and _is_ignored(top, True, tuple(above)) else tuple(above)


def _ignores_of(folder: Path) -> tuple[_Ignore, ...]:
    lines = _lines(folder / ".gitignore")
    return (_Ignore(folder, lines),) if lines else ()


def _lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8", errors="replace").splitlines())
    except OSError:
        return ()


# --- decoding -------------------------------------------------------------------------------------------------------


# A byte order mark, or a cookie: next to no file has either.
_MAY_SAY_ENCODING = re.compile(rb"\xef\xbb\xbf|[^\n]*coding|[^\n]*\n[^\n]*coding")


def _decode(content: bytes, display: str) -> str:
    """Decode as Python would: a byte order mark, a PEP 263 cookie in the first two lines, else UTF-8.

    Line ends stay as they are, since edits count from this text. Raises UnreadableError.
    """
    if not _MAY_SAY_ENCODING.match(content):
        with suppress(UnicodeDecodeError):
            return content.decode("utf-8")
    # Imported here: a run that finds its answer in the cache reads bytes only.
    import tokenize

    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding)
    except SyntaxError as error:
        # Also what `detect_encoding` raises for bytes on the first two lines that are not UTF-8.
        if "unknown encoding" in str(error):
            raise UnreadableError(_error(display, str(error), 1, 1)) from error
        raise UnreadableError(_not_utf8(content, display)) from error
    except UnicodeDecodeError as error:
        line, column = _position(content, error.start)
        message = f"not valid {encoding}: byte 0x{content[error.start]:02x} cannot be decoded"
        raise UnreadableError(_error(display, message, line, column)) from error


def _not_utf8(content: bytes, display: str) -> FileError:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = _position(content, error.start)
        byte = f"0x{content[error.start]:02x}"
        message = f"not valid utf-8: byte {byte} cannot be decoded, and no encoding is declared"
        return _error(display, message, line, column)
    return _error(
        display, "the encoding declared in the first two lines contradicts the text", 1, 1
    )


def _position(content: bytes, offset: int) -> tuple[int, int]:
    """The 1-based line and column (in bytes) of `offset`."""
    before = content[:offset]
    line = len(re.findall(rb"\r\n|\r|\n", before)) + 1
    start = max(before.rfind(b"\n"), before.rfind(b"\r")) + 1
    return line, offset - start + 1


def _refuse_null(text: str, display: str) -> None:
    offset = text.find("\0")
    if offset >= 0:
        line = len(re.findall(r"\r\n|\r|\n", text[:offset])) + 1
        column = offset - max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset))
        raise UnreadableError(
            _error(display, "a null byte: this is not Python source", line, column)
        )
