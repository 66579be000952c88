"""The settings of a run: read from `[tool.xlalint]` or `xlalint.toml`, overridden by the command line.

`load` finds the file, checks every key and value, and resolves what depends on the project (its TensorFlow version).
`Settings.origins` says where each value came from, for `xlalint config`.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xlalint import pages, toml
from xlalint.project import metadata, versions
from xlalint.project.dependencies import Requirement

TARGETS = ("cpu", "gpu", "tpu-vm", "tpu-node")
SEVERITIES = ("error", "warning", "info")
_PROJECT_FILES = ("pyproject.toml", "setup.cfg", "setup.py", "requirements.txt")
_FAMILY = ("XLA", "PTX")


# Where the TensorFlow version comes from when neither settings nor dependencies name one.
NOBODY_SAYS = "the newest that the catalogue describes"


class SettingsError(Exception):
    """A setting that cannot be used. The message names the file (or the option), the key and what it may be."""


@dataclass(frozen=True, slots=True)
class VerifySettings:
    """`[tool.xlalint.verify]`: what to run and with which inputs.

    Each `entry` is `package.module:function`. `inputs`, for one entry, is either one `package.module:function` that returns the arguments, or
    one `dtype[shape]` such as `float32[8,16]` per argument; as a table, `inputs_of` holds the same for each function that is
    named, and for a class what it is made with. `timeout` is in seconds per child process. `scripts` are commands such
    as `train.py --epochs 1` or `python -m package.train`, run where no other command or path is given.
    """

    entry: tuple[str, ...] = ()
    steps: int = 5
    inputs: tuple[str, ...] = ()
    strategy: str | None = None
    timeout: float | None = None
    scripts: tuple[str, ...] = ()
    inputs_of: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what a run reports. `root` is the folder that relative patterns count from.

    `tf_version` is a minor such as `2.21`, `dependencies` what is declared where that was read; `keras` is `2`, `3` or None (decided by imports and the TensorFlow version).
    Entries of `select` and `ignore` are codes or prefixes of codes. `jobs` is how many compilers
    `verify` runs at once, 0 for one per core: `check` is one process, as trees handed between processes cost more than parsing.
    `baseline` is the file of accepted findings, relative to `root`.
    `stdin` is what the path `-` stands for, where it has been read already. `unsaved` holds the text of files, by real path,
    that is to be taken instead of what is on disk.
    """

    root: Path
    target: str = "tpu-vm"
    tf_version: str = field(default_factory=lambda: versions.known()[-1])
    dependencies: tuple[Requirement, ...] = ()
    keras: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    pedantic: bool = False
    jobs: int = 0
    fail_on: str = "warning"
    baseline: str | None = None
    stdin_filename: str | None = None
    stdin: bytes | None = None
    unsaved: tuple[tuple[str, str], ...] = ()
    verify: VerifySettings = field(default_factory=VerifySettings)
    source: Path | None = None
    origins: tuple[tuple[str, str], ...] = ()

    def is_selected(self, code: str) -> bool:
        """Whether `code` is on: the longest prefix in `select` and `ignore` decides, and `ignore` wins a tie.

        An empty `select` means every rule. Per-file ignores come on top (`is_ignored_in`).
        """
        chosen = max((len(p) for p in self.select if code.startswith(p)), default=-1)
        if not self.select:
            chosen = 0
        dropped = max((len(p) for p in self.ignore if code.startswith(p)), default=-1)
        return chosen > dropped

    def ignored_in(self, path: Path) -> tuple[str, ...]:
        """The code prefixes that `per-file-ignores` turns off for the file at `path` (absolute)."""
        if not self.per_file_ignores:
            return ()
        from xlalint.project.patterns import matches

        return tuple(
            code
            for pattern, codes in self.per_file_ignores
            if matches(pattern, path, self.root)
            for code in codes
        )


def load(
    paths: Sequence[str],
    overrides: Mapping[str, Any] | None = None,
    config: str | None = None,
) -> Settings:
    """Return the settings that hold for `paths`.

    Args:
        paths: the command line's files and folders; the settings file is looked for from the folder that holds them
            all, upwards, as far as the repository's root.
        overrides: values from the command line by field name, and for `extend_select` and `extend_ignore`, what to add.
        config: a settings file to use instead of looking for one.

    Raises:
        SettingsError: the settings file or an override has an unknown key, a wrong type or an unknown rule code.
    """
    start = _start(paths)
    source = _explicit(config) if config else _find(start)
    table = _read(source) if source else {}
    values, origins = _from_table(table, source)
    _apply_overrides(values, origins, overrides or {})
    root = source.parent if source else _project_root(start)
    _resolve_version(values, origins, root, start)
    return Settings(root=root, source=source, origins=tuple(sorted(origins.items())), **values)


# --- finding the file ---------------------------------------------------------------------------------------------


def _start(paths: Sequence[str]) -> Path:
    """The folder that holds all of `paths`: where looking for settings starts."""
    folders = []
    for given in paths:
        path = Path.cwd() if given == "-" else Path(given).absolute()
        folders.append(path if path.is_dir() else path.parent)
    return Path(os.path.commonpath(folders)) if folders else Path.cwd()


def _upwards(start: Path) -> list[Path]:
    """`start` and its parents, as far as the root of the repository that holds it."""
    found = []
    for folder in (start, *start.parents):
        found.append(folder)
        if (folder / ".git").exists():
            break
    return found


def _find(start: Path) -> Path | None:
    for folder in _upwards(start):
        own = folder / "xlalint.toml"
        if own.is_file():
            return own
        shared = folder / "pyproject.toml"
        if shared.is_file() and "tool.xlalint" in _text(shared) and _section(shared) is not None:
            return shared
    return None


def _project_root(start: Path) -> Path:
    """Without a settings file: the nearest folder that looks like a project, or where we started."""
    for folder in _upwards(start):
        if any((folder / name).is_file() for name in _PROJECT_FILES) or (folder / ".git").exists():
            return folder
    return start


def _explicit(config: str) -> Path:
    path = Path(config).absolute()
    if not path.is_file():
        raise SettingsError(f"--config: there is no file {config}")
    return path


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read: {error}") from error


def _toml(path: Path) -> dict[str, Any]:
    try:
        return toml.loads(_text(path))
    except toml.TOMLDecodeError as error:
        raise SettingsError(f"{path}: not valid TOML: {error}") from error


def _section(path: Path) -> dict[str, Any] | None:
    tool = _toml(path).get("tool", {})
    section = tool.get("xlalint") if isinstance(tool, dict) else None
    if section is not None and not isinstance(section, dict):
        raise SettingsError(f"{path}: tool.xlalint must be a table")
    return section


def _read(source: Path) -> dict[str, Any]:
    if source.name == "pyproject.toml":
        return _section(source) or {}
    table = _toml(source)
    # People move `[tool.xlalint]` from pyproject.toml as it stands, and that is clear enough.
    nested = table.get("tool", {}).get("xlalint") if isinstance(table.get("tool"), dict) else None
    return nested if isinstance(nested, dict) else table


# --- checking keys and values -------------------------------------------------------------------------------------

_Convert = Callable[[Any], Any]


def _string(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be a string")
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("must be a whole number of at least 1")
    return value


def _jobs(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("must be a whole number, 0 for automatic")
    return value


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise ValueError("must be a number of seconds above 0")
    return float(value)


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
        raise ValueError("must be a list of strings")
    return tuple(value)


def _choice(*choices: str) -> _Convert:
    def convert(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}, not {value!r}")
        return str(value)

    return convert


def _rule_prefixes(value: Any) -> tuple[str, ...]:
    prefixes = tuple(v.strip().upper() for v in _strings(value))
    for prefix in prefixes:
        _check_prefix(prefix)
    return () if "ALL" in prefixes else prefixes


def _check_prefix(prefix: str) -> None:
    known = pages.codes()
    named = any(code.startswith(prefix) for code in (*known, *_FAMILY))
    if prefix == "ALL" or (prefix and named):
        return
    near = difflib.get_close_matches(prefix, known, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise ValueError(f"names no rule: {prefix!r}{hint} (`xlalint rules` lists them)")


def _per_file_ignores(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError("must be a table of pattern = [codes]")
    # `ALL` here means every family: an empty list would mean none.
    return tuple((str(pattern), _ignore_prefixes(codes)) for pattern, codes in value.items())


def _ignore_prefixes(value: Any) -> tuple[str, ...]:
    prefixes = tuple(v.strip().upper() for v in _strings(value))
    for prefix in prefixes:
        _check_prefix(prefix)
    return tuple(family for p in prefixes for family in (_FAMILY if p == "ALL" else (p,)))


def _version(value: Any) -> str:
    minor = versions.minor(_string(value))
    if minor is None:
        raise ValueError(f"must be a TensorFlow version such as 2.15, not {value!r}")
    return minor


def _entries(value: Any) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else _strings(value)
    for name in names:
        module, colon, function = name.partition(":")
        if not (colon and module and function):
            raise ValueError(f"must be `package.module:function`, not {name!r}")
    return names


def _inputs(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else _strings(value)


def _inputs_of(table: dict[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    _entries(list(table))
    return tuple((name, _inputs(value)) for name, value in table.items())


_KEYS: dict[str, _Convert] = {
    "target": _choice(*TARGETS),
    "tf-version": _version,
    "keras": _choice("2", "3"),
    "select": _rule_prefixes,
    "ignore": _ignore_prefixes,
    "per-file-ignores": _per_file_ignores,
    "exclude": _strings,
    "force-exclude": _boolean,
    "respect-gitignore": _boolean,
    "pedantic": _boolean,
    "jobs": _jobs,
    "fail-on": _choice(*SEVERITIES),
    "baseline": _string,
}
_EXTENSIONS = {
    "extend-select": ("select", _rule_prefixes),
    "extend-ignore": ("ignore", _ignore_prefixes),
}
_VERIFY_KEYS: dict[str, _Convert] = {
    "entry": _entries,
    "steps": _count,
    "inputs": _inputs,
    "strategy": _string,
    "timeout": _seconds,
    "scripts": _strings,
}


def _convert(key: str, value: Any, convert: _Convert, where: str) -> Any:
    try:
        return convert(value)
    except ValueError as error:
        named = f"{where}: {key} {error}" if key else f"{where} {error}"
        raise SettingsError(named) from error


def _from_table(
    table: Mapping[str, Any], source: Path | None
) -> tuple[dict[str, Any], dict[str, str]]:
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for key, value in table.items():
        if key == "verify":
            values["verify"] = _verify(value, str(source))
            origins["verify"] = str(source)
        elif key in _KEYS:
            values[_field(key)] = _convert(key, value, _KEYS[key], str(source))
            origins[_field(key)] = str(source)
        elif key not in _EXTENSIONS:
            raise _unknown(key, (*_KEYS, *_EXTENSIONS, "verify"), str(source))
    for key, (name, convert) in _EXTENSIONS.items():
        if key in table:
            _extend(values, name, _convert(key, table[key], convert, str(source)))
            origins[name] = str(source)
    return values, origins


def _verify(table: Any, where: str) -> VerifySettings:
    if not isinstance(table, dict):
        raise SettingsError(f"{where}: verify must be a table")
    for key in table:
        if key not in _VERIFY_KEYS:
            raise _unknown(key, tuple(_VERIFY_KEYS), where, "verify.")
    values = dict(table)
    inputs_of = ()
    if isinstance(values.get("inputs"), dict):
        inputs_of = _convert("verify.inputs", values.pop("inputs"), _inputs_of, where)
    settings = VerifySettings(
        inputs_of=inputs_of,
        **{
            _field(key): _convert(f"verify.{key}", value, _VERIFY_KEYS[key], where)
            for key, value in values.items()
        },
    )
    if settings.inputs and len(settings.entry) > 1:
        raise SettingsError(
            f"{where}: verify.inputs are one entry's, and verify.entry names {len(settings.entry)}"
        )
    return settings


def _unknown(key: str, known: Sequence[str], where: str, prefix: str = "") -> SettingsError:
    near = difflib.get_close_matches(key.replace("_", "-"), known, n=1)
    hint = f"did you mean {prefix}{near[0]}?" if near else f"known keys: {', '.join(known)}"
    return SettingsError(f"{where}: unknown key {prefix}{key}; {hint}")


def _field(key: str) -> str:
    return key.replace("-", "_")


def _extend(values: dict[str, Any], name: str, more: tuple[str, ...]) -> None:
    # An empty `select` is every rule already, and adding to it must not narrow it.
    if name == "select" and not values.get("select"):
        return
    values[name] = (*values.get(name, ()), *more)


def _apply_overrides(
    values: dict[str, Any], origins: dict[str, str], overrides: Mapping[str, Any]
) -> None:
    """Put the command line's values over the file's, checked in the same way."""
    for name, value in overrides.items():
        key = name.replace("_", "-")
        option = f"--{key}"
        if key in _EXTENSIONS:
            extended, convert = _EXTENSIONS[key]
            _extend(values, extended, _convert("", value, convert, option))
            origins[extended] = option
        elif key == "extend-exclude":
            values["exclude"] = (*values.get("exclude", ()), *_strings(value))
            origins["exclude"] = option
        elif key in _KEYS:
            values[name] = _convert("", value, _KEYS[key], option)
            origins[name] = option
        elif key in ("stdin-filename", "stdin"):
            values[name] = value
        else:
            raise SettingsError(f"no setting is called {key}")


def _resolve_version(
    values: dict[str, Any], origins: dict[str, str], root: Path, start: Path
) -> None:
    """Settle `tf_version`: as given, else what the project depends on, else the newest that the catalogue knows."""
    known = versions.known()
    if "tf_version" in values:
        return
    for folder in dict.fromkeys((*_between(start, root), root, *_beside(start))):
        inside = start.relative_to(folder).parts if start.is_relative_to(folder) else ()
        detected = versions.detect(folder, known, inside[0] if inside else "")
        if detected is not None:
            values["tf_version"], origins["tf_version"] = detected.minor, detected.origin
            values["dependencies"] = detected.declared
            return
    values["tf_version"] = known[-1]
    origins["tf_version"] = NOBODY_SAYS


def _beside(start: Path) -> list[Path]:
    """The folder that a package lies in, where it is installed or unpacked there: its metadata stand beside it."""
    folder = start
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return [folder] if folder != start and metadata.has_any(folder) else []


def _between(start: Path, root: Path) -> list[Path]:
    """The folders from `start` up to `root`: the nearest one that names TensorFlow decides."""
    return [f for f in (start, *start.parents) if f == root or root in f.parents]
