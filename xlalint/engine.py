"""One run of check: read the files, understand the project, let the rules read what may be wrong."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from xlalint import pages
from xlalint.deep_stack import on_a_deep_stack
from xlalint.finding import CheckResult, FileError, Finding
from xlalint.project import suppressions, versions
from xlalint.project.dependencies import of_program
from xlalint.project.files import SourceFile, UnreadableError, discover
from xlalint.project.packages import holds_packages, is_in_namespace, is_package
from xlalint.project.settings import NOBODY_SAYS, Settings
from xlalint.project.source import Source
from xlalint.semantics.analysis import Analysis
from xlalint.semantics.catalog import shipped
from xlalint.semantics.environment import legacy_keras, packages
from xlalint.semantics.facts import ModuleFacts
from xlalint.semantics.failures import Failure
from xlalint.semantics.hazards import counts
from xlalint.semantics.index import ModuleInfo, parse_module
from xlalint.semantics.parameter_beliefs import ParameterBeliefs
from xlalint.semantics.project_modules import Project

if TYPE_CHECKING:
    from xlalint.rules.base import Aim
    from xlalint.semantics.beliefs import Beliefs

# Keras 3 is what tf.keras means from this TensorFlow minor on.
_KERAS_3_SINCE = (2, 16)
# Python 3.11 and later keep Python calls off the C stack: deep source is read to this depth, then left alone.
_DEEPEST = 20_000


@dataclass(frozen=True, slots=True)
class _Loaded:
    file: SourceFile
    source: Source
    module: ModuleInfo
    suppressions: suppressions.Suppressions
    # A file that a cell of a notebook writes: `file` has the notebook's name and the path and text of the other.
    is_written: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings of one file, sorted, their places counted in its program (a notebook's cells joined).

    `written` are the modules that a notebook writes; what was found in these names its cell, and counts in that.
    """

    file: SourceFile
    source: Source
    findings: tuple[Finding, ...]
    written: tuple[Source, ...] = ()


def check(
    paths: Sequence[str],
    settings: Settings,
    remains: list[object] | None = None,
    *,
    with_fixes: bool = False,
) -> CheckResult:
    """Check files and folders. Files that cannot be read or parsed become `errors`; the others are still checked.

    `with_fixes` proposes a fix for each finding that a rewrite fits, for which the analysis keeps what it believes. What
    was built on the way is added to `remains`: taking apart the syntax trees of a large project costs a sixth of checking
    it, which a process that is about to end can do without.

    Raises:
        CatalogError: no catalogue is shipped that fits the TensorFlow version of the settings.
    """
    checked, result = check_programs(paths, settings, remains, with_fixes=with_fixes)
    return with_findings(
        result, [item.source.relocate(f) for item in checked for f in item.findings]
    )


def with_findings(result: CheckResult, findings: Iterable[Finding]) -> CheckResult:
    """The result with these findings, sorted and summed up."""
    ordered = tuple(sorted(findings, key=Finding.sort_key))
    return replace(result, findings=ordered, summary=_summary(ordered))


@on_a_deep_stack
def check_programs(
    paths: Sequence[str],
    settings: Settings,
    remains: list[object] | None = None,
    *,
    with_fixes: bool = False,
) -> tuple[list[Checked], CheckResult]:
    """As `check`, but with the findings by file and counted in its program; the result beside them holds all the rest."""
    with _room_to_think():
        loaded, errors = _read_all(paths, settings)
        analysis = _analysis(loaded, settings)
        beliefs = _watched(analysis, loaded) if with_fixes else None
        analysis.run([item.module for item in loaded])
        loaded, broken = _without_broken(loaded)
        found, unread = _findings(loaded, analysis, settings)
        unread += [_told(failure) for failure in analysis.failures if failure.module.is_target]
        if beliefs is not None:
            found = _with_fixes(loaded, found, analysis, beliefs, settings)
    written = [(item.file.display, item.source) for item in loaded if item.is_written]
    loaded, found = _in_their_notebooks(loaded, found)
    if remains is not None:
        remains += [loaded, analysis]
    checked = [
        Checked(
            item.file,
            item.source,
            tuple(sorted(findings, key=Finding.sort_key)),
            tuple(source for display, source in written if display == item.file.display),
        )
        for item, findings in zip(loaded, found)
    ]
    errors = sorted([*errors, *broken, *unread], key=lambda e: (e.path, e.line, e.column))
    also_read = analysis.modules.project.also_read()
    return checked, CheckResult((), tuple(errors), len(loaded), also_read=also_read)


def _in_their_notebooks(
    loaded: Sequence[_Loaded], found: Sequence[list[Finding]]
) -> tuple[list[_Loaded], list[list[Finding]]]:
    """The files, with what was found in files that a notebook writes among the findings of the notebook, by cell and line.

    Rewrites of those are left out: they are of another program than the notebook's.
    """
    kept: dict[str, tuple[_Loaded, list[Finding]]] = {}
    for item, findings in zip(loaded, found):
        if not item.is_written:
            kept[item.file.display] = (item, list(findings))
    for item, findings in zip(loaded, found):
        if item.is_written:
            placed = (replace(item.source.relocate(f), fix=None) for f in findings)
            kept[item.file.display][1].extend(placed)
    return [item for item, _ in kept.values()], [findings for _, findings in kept.values()]


def _watched(analysis: Analysis, loaded: Sequence[_Loaded]) -> Beliefs:
    """What the analysis will believe of the modules that may hold findings: which of them do, it is yet to find out."""
    from xlalint.semantics.beliefs import Beliefs

    beliefs = Beliefs(item.module for item in loaded if not item.module.is_test)
    analysis.handlers = beliefs.watch(analysis.handlers)
    return beliefs


def _with_fixes(
    loaded: Sequence[_Loaded],
    found: Sequence[list[Finding]],
    analysis: Analysis,
    beliefs: Beliefs,
    settings: Settings,
) -> list[list[Finding]]:
    """The findings with the fixes that rewrites propose, who ask what every expression around a finding is."""
    # libcst and the rewrites are imported only here: runs that find nothing do without.
    if not any(found):
        return list(found)
    from xlalint.fixes.proposing import propose

    aim = _aim(analysis, settings)
    result = []
    for item, findings in zip(loaded, found):
        facts = analysis.facts.get(item.module)
        proposed = propose(findings, facts, beliefs.of(item.module), aim) if facts else findings
        result.append(proposed)
    return result


@dataclass(frozen=True, slots=True)
class Inspection:
    """What the analysis believes of one file, for `xlalint debug facts`."""

    module: ModuleInfo
    beliefs: Beliefs
    analysis: Analysis
    findings: tuple[Finding, ...]


def inspect(path: str, paths: Sequence[str], settings: Settings) -> Inspection | FileError:
    """Check `paths`, of which `path` is one file or holds it, and keep what was believed of every expression in it.

    Raises:
        CatalogError: as `check`.
    """
    from xlalint.semantics.beliefs import Beliefs

    with _room_to_think():
        loaded, errors = _read_all((path, *paths), settings)
        wanted = Path(path).resolve()
        found = next((item for item in loaded if item.file.path.resolve() == wanted), None)
        if found is None:
            error = next((e for e in errors if Path(e.path).resolve() == wanted), None)
            return error or FileError(path, 0, 0, "no Python file that is checked here")
        _, broken = _without_broken([found])
        if broken:
            return broken[0]
        analysis = _analysis(loaded, settings)
        beliefs = Beliefs([found.module])
        analysis.handlers = beliefs.watch(analysis.handlers)
        analysis.run([item.module for item in loaded])
        [findings], _ = _findings([found], analysis, settings)
    told = sorted((found.source.relocate(f) for f in findings), key=Finding.sort_key)
    return Inspection(found.module, beliefs, analysis, tuple(told))


def believed_parameters(paths: Sequence[str], settings: Settings) -> ParameterBeliefs:
    """What the functions of `paths` are believed to be given. Files that cannot be read are left out.

    Raises:
        CatalogError: as `check`.
    """
    with _room_to_think():
        loaded, _ = _read_all(paths, settings)
        analysis = _analysis(loaded, settings)
        beliefs = ParameterBeliefs()
        analysis.handlers = beliefs.watch(analysis.handlers)
        analysis.run([item.module for item in loaded])
    return beliefs


@contextmanager
def _room_to_think() -> Iterator[None]:
    """Deep source needs a deep stack; and syntax trees hold no garbage: looking for some took a third of the time."""
    limit, collects = sys.getrecursionlimit(), gc.isenabled()
    sys.setrecursionlimit(max(limit, _DEEPEST))
    gc.disable()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if collects:
            gc.enable()


def _read_all(paths: Sequence[str], settings: Settings) -> tuple[list[_Loaded], list[FileError]]:
    files, errors = discover(paths, settings)
    loaded: list[_Loaded] = []
    packages: dict[Path, tuple[str, ...]] = {}
    for file in files:
        outcome = _load(file, packages)
        if isinstance(outcome, FileError):
            # In a folder, a notebook in another language is no more a file to check than an R script beside it.
            if file.display in paths or not _is_in_another_language(file):
                errors.append(outcome)
        else:
            loaded.append(outcome)
            errors += _unread_cells(outcome)
    there = {item.file.path for item in loaded}
    for item in [item for item in loaded if item.file.is_notebook]:
        for written in _written_by(item):
            if isinstance(written, FileError):
                errors.append(written)
            elif written.file.path not in there:
                loaded.append(written)
    return loaded, errors


def _written_by(notebook: _Loaded) -> Iterator[_Loaded | FileError]:
    """The modules that the cells of a notebook write beside it; what lies elsewhere (`/content/model.py`) is taken to lie there."""
    from xlalint.project.notebooks import files_written

    for given, source in files_written(notebook.file.raw()).items():
        written = PurePosixPath(given.strip())
        parts = (written.name,) if written.is_absolute() else written.parts
        if ".." in parts:
            continue
        file = replace(
            notebook.file, path=notebook.file.path.parent.joinpath(*parts), text=source.text
        )
        is_package = written.stem == "__init__"
        name = ".".join(parts[:-1] if is_package else (*parts[:-1], written.stem))
        try:
            module = parse_module(name, file.display, source.text, is_package=is_package)
            module.require_python()
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None) or 1
            cell = source.cell_of(line)
            place = (
                "" if cell is None else f"cell {cell.number}, line {line - cell.first_line + 1}: "
            )
            reason = error.msg if isinstance(error, SyntaxError) else _reason(error)
            yield FileError(file.display, 0, 0, f"{place}{reason}")
            continue
        yield _Loaded(file, source, module, suppressions.parse(source.text), is_written=True)


def _is_in_another_language(file: SourceFile) -> bool:
    from xlalint.project.notebooks import LanguageError

    try:
        file.read()
    except UnreadableError as error:
        return isinstance(error.__cause__, LanguageError)
    except (ValueError, RecursionError, MemoryError):
        return False
    return False


def _unread_cells(item: _Loaded) -> list[FileError]:
    return [
        FileError(item.file.display, 0, 0, f"cell {one.cell}, line {one.line}: {one.message}")
        for one in item.source.unread
    ]


def _load(file: SourceFile, packages: dict[Path, tuple[str, ...]]) -> _Loaded | FileError:
    try:
        source, module = _parsed(file, file.read(), packages)
    except UnreadableError as unreadable:
        return unreadable.error
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return _unparsed(file, error)
    # Without findings there is nothing to hide: a comment that means this program says its name.
    is_asked = module.may_hold_findings or "xlalint" in source.text
    comments = suppressions.parse(source.text) if is_asked else suppressions.Suppressions()
    return _Loaded(file, source, module, comments)


def _unparsed(file: SourceFile, error: Exception) -> FileError:
    if isinstance(error, SyntaxError):
        line, column = error.lineno or 0, error.offset or 0
        hint = _about_later_python(file, error.msg)
        return FileError(file.display, line, column, f"syntax error: {error.msg}{hint}")
    return FileError(file.display, 0, 0, f"cannot be parsed: {_reason(error)}")


def _about_later_python(file: SourceFile, refusal: str) -> str:
    from xlalint.project import later_python

    try:
        return later_python.hint(file.read().text, refusal)
    except (UnreadableError, ValueError, RecursionError, MemoryError):
        return ""


def _without_broken(loaded: Sequence[_Loaded]) -> tuple[list[_Loaded], list[FileError]]:
    """The files that are Python, and an error for each other: of those that the analysis had no need to parse, too."""
    sound: list[_Loaded] = []
    broken: list[FileError] = []
    for item in loaded:
        try:
            item.module.require_python()
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            if not isinstance(error, SyntaxError) or _without_magics(item.source) is None:
                broken.append(_unparsed(item.file, error))
                continue
        sound.append(item)
    return sound, broken


def _without_magics(source: Source) -> str | None:
    """The text of a script that was exported from a notebook; None of any other."""
    from xlalint.project.magics import exported

    return exported(source.text)


def _parsed(
    file: SourceFile, source: Source, packages: dict[Path, tuple[str, ...]]
) -> tuple[Source, ModuleInfo]:
    """The module of a file. A script exported from a notebook may still have lines that only IPython knows.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as the parser does.
    """
    name, is_package = module_name(file.path, packages)

    def module(source: Source) -> ModuleInfo:
        is_test = _is_test(file.path)
        return parse_module(name, file.display, source.text, is_package=is_package, is_test=is_test)

    try:
        return source, module(source)
    except SyntaxError:
        plain = _without_magics(source)
        if plain is None:
            raise
        return Source(plain), module(Source(plain))


def _reason(error: Exception) -> str:
    # What Python's parser says of source that is nested too deep differs by version; MemoryError says nothing at all.
    is_too_deep = isinstance(error, (RecursionError, MemoryError))
    return "nested too deep for Python's parser" if is_too_deep else str(error)


def module_name(path: Path, packages: dict[Path, tuple[str, ...]]) -> tuple[str, bool]:
    """The dotted name of a file, counted from the topmost folder that is a package, and whether it is a package.

    `packages` keeps what has been found of folders.
    """
    is_init = path.stem == "__init__"
    parts = _package(path.parent, packages) + (() if is_init else (path.stem,))
    return ".".join(parts) or path.parent.name, is_init


def _package(folder: Path, packages: dict[Path, tuple[str, ...]]) -> tuple[str, ...]:
    """The names of the packages that a folder is in, itself included; none when it is not a package."""
    if folder not in packages:
        is_one = is_package(folder)
        above = _package(folder.parent, packages) if is_one else ()
        if is_one and not above and is_in_namespace(folder):
            above = (folder.parent.name,)
        packages[folder] = (*above, folder.name) if is_one else ()
    return packages[folder]


def _is_test(path: Path) -> bool:
    return (
        path.name.startswith("test_")
        or path.stem.endswith(("_test", "_tests"))
        or path.name == "conftest.py"
    )


def _analysis(loaded: Sequence[_Loaded], settings: Settings) -> Analysis:
    project = Project(_roots(loaded, settings.root))
    for item in loaded:
        project.add(item.module, item.file.path)
    version = shipped.nearest(settings.tf_version)
    installed = [
        Path(entry) for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))
    ]
    analysis = Analysis(
        project,
        shipped.load(version),
        _keras(loaded, settings),
        installed,
        tells_counts_apart=counts.are_told_apart(settings.tf_version),
        is_for_tpu=settings.target.startswith("tpu"),
        declared_in=_declared(loaded, settings),
    )
    for item in loaded:
        analysis.host_functions.leave(item.module, item.suppressions.host_lines)
    return analysis


def _declared(
    loaded: Sequence[_Loaded], settings: Settings
) -> Callable[[ModuleInfo], packages.Declared]:
    """Which packages each module is to run with: what its project declares, and what the file itself says."""
    is_chosen = settings.tf_version != versions.known()[-1]
    origin = dict(settings.origins).get("tf_version", "the settings" if is_chosen else NOBODY_SAYS)
    if origin == NOBODY_SAYS:
        origin = ""
    sources = {item.module: item.source for item in loaded}

    def declared(module: ModuleInfo) -> packages.Declared:
        source = sources.get(module)
        own = () if source is None else of_program(source.text, source.installs)
        return packages.declared(settings.tf_version, origin, settings.dependencies, own)

    return declared


def _roots(loaded: Sequence[_Loaded], project: Path) -> list[Path]:
    """The folders that absolute imports count from: above each file's topmost package, in that where packages begin in it, and
    those around, up to the project's own: folders need no `__init__.py` (`from core.blocks import conv` in `scripts/train.py`).
    """
    roots: dict[Path, None] = {}
    tops: dict[Path, None] = {}
    around: dict[Path, None] = {}
    whole = project.resolve()
    for item in loaded:
        depth = item.module.name.count(".") + (1 if item.module.is_package else 0)
        folder = item.file.path.parent
        for _ in range(depth - 1):
            folder = folder.parent
        if depth:
            tops[folder] = None
            folder = folder.parent
        roots[folder] = None
        while folder not in around and whole in folder.parents:
            around[folder] = None
            folder = folder.parent
    around[whole] = None
    begin = [top for top in tops if holds_packages(top)]
    return list(dict.fromkeys((*roots, *begin, *around)))


def _keras(loaded: Sequence[_Loaded], settings: Settings) -> str:
    """Which Keras `tf.keras` and `keras` are: by settings, by the environment the code sets, by what it asks for, by the version."""
    if settings.keras is not None:
        return settings.keras
    modules = [item.module for item in loaded]
    if any(map(legacy_keras.is_chosen, modules)):
        return "2"
    if packages.leaves_keras_to_users(settings.dependencies, modules):
        return "2"
    major, _, minor = settings.tf_version.partition(".")
    return "3" if (int(major), int(minor.split(".")[0] or 0)) >= _KERAS_3_SINCE else "2"


def _findings(
    loaded: Sequence[_Loaded], analysis: Analysis, settings: Settings
) -> tuple[list[list[Finding]], list[FileError]]:
    """The findings of each file, counted in its program, and what could not be read."""
    selected = [code for code in pages.codes() if settings.is_selected(code)]
    findings: list[list[Finding]] = []
    errors: list[FileError] = []
    for item in loaded:
        facts = analysis.facts.get(item.module)
        found: list[Finding] = []
        if facts is not None and facts.by_node:
            found, unread = _read(item, facts, analysis, selected, settings)
            errors += unread
        ignored = settings.ignored_in(item.file.path)
        kept = [f for f in found if not f.code.startswith(ignored)] if ignored else found
        told = suppressions.apply(item.suppressions, kept, item.file.display, settings)
        findings.append([f for f in told if not (ignored and f.code.startswith(ignored))])
    return findings, errors


def _read(
    item: _Loaded,
    facts: ModuleFacts,
    analysis: Analysis,
    selected: Sequence[str],
    settings: Settings,
) -> tuple[list[Finding], list[FileError]]:
    # The rules, and libcst with them, are imported only here: most runs over most projects never need it.
    from xlalint.rules.reading import read_module

    aim = _aim(analysis, settings)
    found, unread = read_module(facts, item.file.display, aim, selected)
    errors = [FileError(item.file.display, line, 0, why) for line, why in unread]
    return [f for f in found if settings.target in pages.load(f.code).targets], errors


def _aim(analysis: Analysis, settings: Settings) -> Aim:
    from xlalint.rules.base import Aim

    names_tpu = analysis.saw_tpu or "target" in dict(settings.origins)
    trains = analysis.saw_tpu or analysis.drivers.makes_steps
    return Aim(settings.target, names_tpu, trains)


def _told(failure: Failure) -> FileError:
    if isinstance(failure.error, RecursionError):
        message = f"{failure.function} is nested too deep to be understood"
    else:
        what = f"{type(failure.error).__name__}: {failure.error}"
        message = f"internal error while analysing {failure.function}, please report it ({what})"
    return FileError(failure.module.path, failure.line, 0, message)


def _summary(findings: Iterable[Finding]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.code] = counts.get(finding.code, 0) + 1
    return dict(sorted(counts.items()))
