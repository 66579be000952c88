"""Decide what to run: which children, what each does, and which of the user's functions to watch. Imports nothing of it."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from xlalint.finding import Finding
from xlalint.project.packages import holds_packages, is_in_namespace
from xlalint.verify import choices, jobs, strategy_runs
from xlalint.verify.command import Command, PlanError
from xlalint.verify.jobs import Job, Module

# Claims about moving to a TPU, not about what compiles: their functions build models and strategies.
ABOUT_TPUS = ("XLA5", "XLA801", "XLA802")
ABOUT_PACKAGES = "XLA506"
# Claims about the code around compiled steps, which a run judges by counting compilations.
ABOUT_DRIVERS = ("XLA30",)
# Claims about how training is set up and fed, which no compiler judges; their functions build models and pipelines.
ABOUT_TRAINING = ("XLA601", "XLA602", "XLA604", "XLA7")
NOT_COMPILED = ABOUT_TPUS + ABOUT_DRIVERS + ABOUT_TRAINING

# What a program asks of its strategy that makes its batches for any number of replicas.
_REPLICAS = "num_replicas_in_sync"
# What Colab and Cloud TPU machines tell programs of their TPU; the stand-in takes any address.
_OF_HOSTS = {"COLAB_TPU_ADDR": "10.0.0.2:8470", "TPU_NAME": "local"}


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: steps of training, the strategies asked for as in `mirrored:4,multi-worker` (None: decided here), replicas of
    the TPU slice that is the target (0: no slice of several)."""

    steps: int = 5
    strategy: str | None = None
    slice_replicas: int = 0


def training_jobs(
    command: Command, options: Options, findings: Sequence[Finding], folder: Path
) -> list[Job]:
    """The children for a training program: one that captures and compiles, one for each further strategy."""
    sources = sources_of(command, folder)
    names = _names_in(sources or _installed_sources(command))
    base = _script_job(command, options, findings, folder, sources)
    base = replace(base, splits_batch=_REPLICAS not in names)
    return strategy_runs.plan(base, names, _choices(options), options.slice_replicas)


def _choices(options: Options) -> tuple[choices.Choice, ...]:
    if options.strategy is None:
        return ()
    try:
        return choices.parse(options.strategy)
    except ValueError as error:
        raise PlanError(f"strategy: {error}") from error


def environment_of(command: Command | None, folder: Path) -> dict[str, str]:
    """The environment variables that a command's child is given because of what its sources import."""
    return {} if command is None else _environment(sources_of(command, folder))[0]


def _script_job(
    command: Command,
    options: Options,
    findings: Sequence[Finding],
    folder: Path,
    sources: Sequence[Path],
) -> Job:
    target = folder / command.run
    script = target / "__main__.py" if target.is_dir() else target
    beside = target if target.is_dir() else script.parent
    first_path = command.home(folder) if command.is_module else beside
    home = (folder / command.notebook).resolve().parent if command.notebook else None
    first_path = home or first_path
    env, notes = _environment(sources or _installed_sources(command))
    return Job(
        kind=jobs.SCRIPT,
        label=command.label,
        first_path=str(first_path.resolve()),
        roots=_roots(folder, first_path, *([script.parent] if home else [])),
        cwd=str(home or ""),
        has_ipython=bool(command.notebook),
        steps=options.steps,
        argv=(command.run, *command.arguments),
        run=command.run if command.is_module else str(script.resolve()),
        is_module=command.is_module,
        flagged=flagged_functions(findings, folder),
        flagged_files=_files(findings, folder),
        python=command.python,
        env={**env, **dict(command.variables)},
        notes=notes,
    )


def module_jobs(files: Iterable[Path], findings: Sequence[Finding], folder: Path) -> list[Job]:
    """A child for each module that has tf.functions with an input_signature."""
    made = []
    for file in files:
        if not _has_signature(file):
            continue
        name, root = module_name(file)
        env, notes = _environment([file])
        made.append(
            Job(
                kind=jobs.MODULES,
                label=f"functions with an input_signature in {_shown(file, folder)}",
                first_path=str(root),
                roots=import_roots(folder, name, root),
                modules=(Module(name, str(root), str(file.resolve())),),
                flagged_files=_files(findings, folder),
                python=(sys.executable,),
                env=env,
                notes=notes,
            )
        )
    return made


def entry_job(
    entry: str, inputs: tuple[str, ...], options: Options, findings: Sequence[Finding], folder: Path
) -> Job:
    """The child for the entry in the settings; `folder` is that of the settings file."""
    source = _local_module(entry.partition(":")[0], [folder])
    env, notes = _environment([source] if source else [])
    return Job(
        kind=jobs.ENTRY,
        label=f"entry {entry}",
        first_path=str(folder.resolve()),
        roots=(str(folder.resolve()),),
        steps=options.steps,
        entry=entry,
        inputs=inputs,
        flagged=flagged_functions(findings, folder),
        flagged_files=_files(findings, folder),
        python=(sys.executable,),
        env=env,
        notes=notes,
    )


def definition_line(path: Path, first: int) -> int:
    """The line of the `def` of the function that Python says starts in line `first`."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            starts = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if starts == first:
                return node.lineno
    return first


def environment_for(sources: Sequence[Path]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The environment variables that a child with these sources is given, and what to tell the user of them."""
    return _environment(sources)


def shown(file: Path, folder: Path) -> str:
    """A path for the reader: relative to `folder` where it is below."""
    return _shown(file, folder)


def text_of(file: Path) -> str:
    """A file's text, empty for one that cannot be read."""
    return _text(file)


def is_script_without_guard(file: Path) -> bool:
    """Does importing it do what running it does: loops and calls outside of `if __name__ == "__main__"`?"""
    return any(
        isinstance(node, (ast.For, ast.While)) or _names_a_loop_of_keras(node)
        for node in _tree(file).body
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.If, ast.AsyncFunctionDef))
    )


def _names_a_loop_of_keras(node: ast.AST) -> bool:
    return any(
        isinstance(inner, ast.Attribute) and inner.attr in ("fit", "evaluate", "predict")
        for inner in ast.walk(node)
    )


def is_script(file: Path) -> bool:
    """Is it a program: does it do something when it is run, beyond defining names?"""
    return any(
        isinstance(node, (ast.For, ast.While))
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        or (isinstance(node, ast.If) and "__main__" in ast.dump(node.test))
        for node in _tree(file).body
    )


def program_at(file: str, folder: Path) -> Command:
    """The command that runs a file: as a module where it imports from the package that it lies in, as users of `-m` do."""
    name, root = module_name(folder / file)
    package = name.rpartition(".")[0]
    if package and any(_is_within(package, imported) for imported in _imports(folder / file)):
        return Command((sys.executable,), name, True, (), root=str(root))
    return Command((sys.executable,), file, False, ())


def _is_within(package: str, imported: str) -> bool:
    top = package.partition(".")[0]
    return imported.partition(".")[0] == top


def sources_of(command: Command, folder: Path) -> list[Path]:
    """The program's file and the project's own modules that it imports, as far as their imports lead."""
    home = command.home(folder)
    start = _local_module(command.run, [home]) if command.is_module else folder / command.run
    if start is None:
        return []
    if start.is_dir():
        start = start / "__main__.py"
    seen: dict[Path, None] = {}
    waiting = [start.resolve()]
    while waiting:
        file = waiting.pop(0)
        if file in seen:
            continue
        seen[file] = None
        folders = [start.resolve().parent, home.resolve(), file.parent]
        folders += [(folder / command.notebook).resolve().parent] if command.notebook else []
        waiting += [
            found.resolve() for name in _imports(file) if (found := _local_module(name, folders))
        ]
    return list(seen)


def _installed_sources(command: Command) -> list[Path]:
    """The sources of `python -m installed.module`: the module and those of its own package that it imports."""
    # Unresolved: a virtual environment's own folder.
    prefix = Path(command.python[0]).absolute().parent.parent
    for folder in sorted(prefix.glob("lib*/python3*/*-packages")) if command.is_module else ():
        if _local_module(command.run, [folder]) is not None:
            return _following(command.run, folder)
    return []


def _following(module: str, folder: Path) -> list[Path]:
    """A module's file and those of its own package that it imports, as far as their imports lead."""
    package = module.partition(".")[0] + "."
    found: dict[Path, None] = {}
    waiting = [module]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        file = None if name in seen else _local_module(name, [folder])
        seen.add(name)
        if file is not None and file not in found:
            found[file] = None
            waiting += [name for name in _imports(file) if name.startswith(package)]
    return list(found)


def flagged_functions(findings: Iterable[Finding], folder: Path) -> tuple[tuple[str, int], ...]:
    """(real path, first line) of the innermost function around each finding that a compiler can judge.

    Python counts from a function's first decorator.
    """
    found = set()
    for finding in findings:
        path = Path(folder, finding.path).resolve()
        if (
            finding.cell is None
            and path.suffix == ".py"
            and not finding.code.startswith(NOT_COMPILED)
        ):
            function = function_around(path, finding.span.line)
            if function is not None:
                found.add((str(path), function[0]))
    return tuple(sorted(found))


def function_around(path: Path, line: int) -> tuple[int, int] | None:
    """(first line, last line) of the innermost function that holds `line`."""
    best: tuple[int, int] | None = None
    for node in ast.walk(_tree(path)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        last = node.end_lineno or node.lineno
        if first <= line <= last and (best is None or first >= best[0]):
            best = (first, last)
    return best


def decorated_at(path: Path, line: int) -> tuple[str, int] | None:
    """The qualified name of the function that has a decorator on `line`, and the line of its first statement that does
    something; None where there is none."""
    pending: list[tuple[ast.AST, str]] = [(_tree(path), "")]
    while pending:
        node, prefix = pending.pop()
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if any(one.lineno <= line <= (one.end_lineno or 0) for one in child.decorator_list):
                    body = child.body[1:] if ast.get_docstring(child) is not None else child.body
                    return f"{prefix}{child.name}", (body or child.body)[0].lineno
                inner = f"{prefix}{child.name}.<locals>."
            elif isinstance(child, ast.ClassDef):
                inner = f"{prefix}{child.name}."
            pending.append((child, inner))
    return None


def statement_around(path: Path, line: int) -> tuple[int, int]:
    """(first line, last line) of the innermost simple statement, or the head of the compound one, that holds `line`."""
    best = (line, line)
    size: int | None = None
    for node in ast.walk(_tree(path)):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        last = (body[0].lineno - 1 if body else node.end_lineno) or node.lineno
        last = max(last, node.lineno)
        if node.lineno <= line <= last and (size is None or last - node.lineno < size):
            best, size = (node.lineno, last), last - node.lineno
    return best


def block_around(path: Path, line: int) -> tuple[int, int]:
    """(first line, last line) of the `if` or `while` whose head holds `line`, its body included; (1, 0) without one."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, (ast.If, ast.While)):
            head_ends = max(node.lineno, node.body[0].lineno - 1)
            if node.lineno <= line <= head_ends:
                return node.lineno, node.end_lineno or node.lineno
    return 1, 0


def module_name(file: Path) -> tuple[str, Path]:
    """The dotted name of a file's module, and the folder that must be on sys.path."""
    file = file.resolve()
    parts = [] if file.name == "__init__.py" else [file.stem]
    folder = file.parent
    # A folder with a dot in its name (`package-1.0`) is imported by nobody; one with a dash is, for what its modules import from each other.
    while (folder / "__init__.py").is_file() and "." not in folder.name:
        parts.insert(0, folder.name)
        folder = folder.parent
    if folder != file.parent and is_in_namespace(folder / parts[0]):
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts), folder


def import_roots(folder: Path, module: str, root: Path) -> tuple[str, ...]:
    """The folders that must be on sys.path for a module: the current one, its root, and its topmost package where packages begin in that."""
    top = root / module.partition(".")[0]
    return _roots(folder, root, *([top] if top.is_dir() and holds_packages(top) else []))


def _roots(*folders: Path) -> tuple[str, ...]:
    return tuple(sorted({str(folder.resolve()) for folder in folders}))


def _files(findings: Iterable[Finding], folder: Path) -> tuple[str, ...]:
    return tuple(sorted({str(Path(folder, finding.path).resolve()) for finding in findings}))


def _shown(file: Path, folder: Path) -> str:
    try:
        return str(file.resolve().relative_to(folder.resolve()))
    except ValueError:
        return str(file)


def _environment(sources: Sequence[Path]) -> tuple[dict[str, str], tuple[str, ...]]:
    """What the environment must say before TensorFlow is imported, and what to tell the user of it."""
    modules = {name.partition(".")[0] for file in sources for name in _imports(file)}
    texts = [_text(file) for file in sources]
    env = {
        name: value
        for name, value in _OF_HOSTS.items()
        if name not in os.environ and any(name in text for text in texts)
    }
    notes = tuple(f"{name}={value}, as on a machine with a TPU" for name, value in env.items())
    mentioned = any("TF_USE_LEGACY_KERAS" in text for text in texts)
    if "transformers" in modules and not mentioned and "TF_USE_LEGACY_KERAS" not in os.environ:
        # Its TensorFlow models are Keras 2 models and need tf.keras to be that.
        env["TF_USE_LEGACY_KERAS"] = "1"
        notes = (*notes, "TF_USE_LEGACY_KERAS=1, since transformers needs Keras 2")
    return env, notes


def _names_in(sources: Sequence[Path]) -> set[str]:
    found = set()
    for file in sources:
        for node in ast.walk(_tree(file)):
            if isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.Name):
                found.add(node.id)
    return found


def _imports(file: Path) -> Iterator[str]:
    """Dotted names of the modules that a file imports, absolute and relative."""
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module_name(file)[0].split(".")
                package = package[: len(package) - node.level + (file.name == "__init__.py")]
                base = ".".join([*package, *([base] if base else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _local_module(name: str, folders: Sequence[Path]) -> Path | None:
    """The project's file for a dotted name; None for what is installed or is no module."""
    if not name:
        return None
    for folder in folders:
        base = folder.joinpath(*name.split("."))
        for candidate in (base.with_suffix(".py"), base / "__main__.py", base / "__init__.py"):
            if candidate.is_file():
                return candidate
    return None


def _has_signature(file: Path) -> bool:
    return any(
        isinstance(node, ast.keyword) and node.arg == "input_signature"
        for node in ast.walk(_tree(file))
    )


def _tree(file: Path) -> ast.Module:
    try:
        return ast.parse(_text(file))
    except (SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
