"""Which TensorFlow a project is written for, read from its declared dependencies without installing or running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from xlalint import data, toml

# The oldest TensorFlow that anything here is said of.
_OLDEST = (2, 12)
_MINOR = re.compile(r"(\d+)\.(\d+)")
_NAMES = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tensorflow-intel",
    "tensorflow-macos",
    "tensorflow-tpu",
)
_REQUIREMENT = re.compile(
    r"""^\s*(?P<name>[A-Za-z][\w.-]*)\s*(\[[^\]]*\])?\s*\(?
        (?P<specifier>((===|==|~=|!=|<=|>=|<|>)\s*[\w.*+!-]+\s*,?\s*)*)\)?\s*(;.*)?(\#.*)?$""",
    re.VERBOSE,
)
_CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>)\s*([\w.*+!-]+)")
# No TensorFlow minor has had more patch releases than this (2.3 had five).
_PATCHES = range(10)


@dataclass(frozen=True, slots=True)
class Detected:
    """A TensorFlow minor (`2.15`) and the declaration it was read from."""

    minor: str
    origin: str


@cache
def known() -> tuple[str, ...]:
    """The TensorFlow minors from the oldest supported one to the newest that the catalogue describes, oldest first.

    Those that it does not describe are there too: which Keras a minor brings matters as much as its kernels.
    """
    found = [_numbers(m) for p in (data.root() / "catalog").glob("*.json") if (m := minor(p.stem))]
    (major, oldest), (_, newest) = _OLDEST, max(found, default=_OLDEST)
    return tuple(f"{major}.{number}" for number in range(oldest, newest + 1))


def minor(version: str) -> str | None:
    """`2.15` from `2.15`, `2.15.1` or `tf-2.15.0rc1`; None where there is no such number."""
    match = _MINOR.search(version)
    return f"{match.group(1)}.{match.group(2)}" if match else None


def detect(folder: Path, candidates: Sequence[str]) -> Detected | None:
    """The newest of `candidates` that the dependencies declared in `folder` allow; None when they name no TensorFlow.

    A project pinned below all candidates gets the oldest, one above all of them the newest. Files that cannot be read
    or parsed are passed over: they are not what this run is about.
    """
    for declared in (_pyproject, _setup_cfg, _setup_py, _requirements):
        found = [d for line, where in declared(folder) if (d := _allowed(line, where, candidates))]
        if found:
            return max(found, key=lambda d: _numbers(d.minor))
    return None


def _allowed(requirement: str, where: str, candidates: Sequence[str]) -> Detected | None:
    match = _REQUIREMENT.match(requirement)
    if match is None or match["name"].lower().replace("_", "-").replace(".", "-") not in _NAMES:
        return None
    clauses = _CLAUSE.findall(match["specifier"])
    if not clauses:
        # A bare `tensorflow` says nothing about the version.
        return None
    fitting = [c for c in candidates if any(_fits((*_numbers(c), k), clauses) for k in _PATCHES)]
    chosen = fitting[-1] if fitting else _nearest(clauses, candidates)
    return Detected(chosen, f"{where}: {requirement.split(';')[0].split('#')[0].strip()}")


def _nearest(clauses: Iterable[tuple[str, str]], candidates: Sequence[str]) -> str:
    """Nothing fits: the project wants something older than all candidates, or newer than all of them."""
    wanted = max((_numbers(version) for _, version in clauses), default=(0,))
    return candidates[0] if wanted < _numbers(candidates[0]) else candidates[-1]


def _numbers(version: str) -> tuple[int, ...]:
    """The release segment of a version: `2.16.0rc1` is (2, 16, 0)."""
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(n) for n in match.group().split(".")) if match else (0,)


def _fits(version: tuple[int, ...], clauses: Iterable[tuple[str, str]]) -> bool:
    return all(_satisfies(version, operator, wanted) for operator, wanted in clauses)


def _satisfies(version: tuple[int, ...], operator: str, wanted: str) -> bool:
    """One clause of a specifier, on release numbers alone (pre-releases count as their release)."""
    numbers = _numbers(wanted)
    if wanted.endswith(".*"):
        same = version[: len(numbers)] == numbers
        return same if operator == "==" else not same
    padded = (*numbers, 0, 0)[: max(3, len(numbers))]
    if operator in ("==", "==="):
        return version == padded
    if operator == "!=":
        return version != padded
    if operator == "~=":
        return version >= padded and version[: len(numbers) - 1] == numbers[:-1]
    if operator == ">=":
        return version >= padded
    if operator == "<=":
        return version <= padded
    return version > padded if operator == ">" else version < padded


# --- where projects declare dependencies ----------------------------------------------------------------------------


def _pyproject(folder: Path) -> Iterator[tuple[str, str]]:
    try:
        table = toml.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    project = _table(table.get("project"))
    lists: list[tuple[str, Any]] = [("dependencies", project.get("dependencies"))]
    lists += [(f"extra {k}", v) for k, v in _table(project.get("optional-dependencies")).items()]
    lists += [(f"group {k}", v) for k, v in _table(table.get("dependency-groups")).items()]
    for where, requirements in lists:
        for line in requirements if isinstance(requirements, list) else ():
            if isinstance(line, str):
                yield line, f"pyproject.toml {where}"
    poetry = _table(_table(table.get("tool")).get("poetry"))
    for name, wanted in _table(poetry.get("dependencies")).items():
        version = wanted.get("version") if isinstance(wanted, dict) else wanted
        if isinstance(version, str):
            yield f"{name}{_poetry(version)}", "pyproject.toml poetry dependencies"


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _poetry(version: str) -> str:
    """Poetry's own operators in the common notation: `^2.12` allows all of 2.x from 2.12 on, a bare version is exact."""
    version = version.strip()
    if version == "*":
        return ""
    if version.startswith("^"):
        low = version[1:]
        return f">={low},<{_numbers(low)[0] + 1}"
    if version.startswith("~") and not version.startswith("~="):
        low = version[1:]
        return f">={low},=={'.'.join(map(str, _numbers(low)[:2]))}.*"
    return version if _CLAUSE.match(version) else f"=={version}"


def _setup_cfg(folder: Path) -> Iterator[tuple[str, str]]:
    try:
        text = (folder / "setup.cfg").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return
    import configparser  # few projects need it, and every start would pay for it

    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except (ValueError, configparser.Error):
        return
    sections = [("options", "install_requires")]
    if parser.has_section("options.extras_require"):
        extras = parser.options("options.extras_require")
        sections += [("options.extras_require", name) for name in extras]
    for section, name in sections:
        for line in parser.get(section, name, fallback="").splitlines():
            yield line, f"setup.cfg {name}"


def _setup_py(folder: Path) -> Iterator[tuple[str, str]]:
    """The string literals of setup.py: it is read, never run."""
    try:
        tree = ast.parse((folder / "setup.py").read_bytes())
    except (OSError, ValueError, SyntaxError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for line in node.value.splitlines():
                yield line, "setup.py"


def _requirements(folder: Path) -> Iterator[tuple[str, str]]:
    files = sorted(folder.glob("requirements*.txt")) + sorted(folder.glob("requirements/*.txt"))
    # `requirements.txt` speaks for the project; `requirements-dev.txt` only where it is silent.
    files.sort(key=lambda p: p.name != "requirements.txt")
    for path in files:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            continue
        for line in lines:
            yield line, str(path.relative_to(folder))
