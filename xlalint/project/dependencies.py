"""What a project depends on, by the files and lines that declare it; nothing is installed or run.

Requirements files, pyproject.toml (also Poetry's), setup.cfg, setup.py and environment.yml speak for a folder; what is installed, or unpacked
to be looked at, has metadata beside it; a script's own header (PEP 723) and `pip install` lines, as notebooks have them, speak for one program.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xlalint import toml
from xlalint.project import metadata

Clause = tuple[str, str]
# Where the requirements of a script's own header stand: they are all that it asks for.
HEADER = "the script's header"
_REQUIREMENT = re.compile(
    r"""^\s*(?P<name>[A-Za-z][\w.-]*)\s*(\[(?P<extras>[^\]]*)\])?\s*\(?
        (?P<specifier>((===|==|~=|!=|<=|>=|<|>)\s*[\w.*+!-]+\s*,?\s*)*)\)?\s*(;.*)?(\#.*)?$""",
    re.VERBOSE,
)
# What is asked for by a marker for those who ask for an extra, and where such requirements stand.
_EXTRA = re.compile(r";.*\bextra\b")
_OF_SOME = re.compile(
    r"^pyproject\.toml (extra|group) |^setup\.cfg (?!install_requires$)|requires\.txt \["
)
_CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>)\s*([\w.*+!-]+)")
# A conda line pins with one `=`: `tensorflow=2.15` allows 2.15.1, `tensorflow=2.15=build` names a build besides.
_CONDA = re.compile(r"^(?P<name>[A-Za-z][\w.-]*)\s*=\s*(?P<version>[\w.]+)(=.*)?$")
_HEADER = re.compile(r"^# /// script\n(?P<body>(?:#(?: .*)?\n)+?)# ///$", re.MULTILINE)
_INSTALL = re.compile(r"\bpip3?\s+install\s+(?P<rest>[^\n]*)")
# The parts of such a line: `"tensorflow>=2.15,<2.16"`, `tensorflow==2.15`, `-q`.
_WORD = re.compile(r"""(?P<quote>["'])(?P<quoted>.*?)(?P=quote)|(?P<plain>[^\s"']+)""")
_STOPS = frozenset({"&&", "||", ";", "|", "#", ">", "2>&1", "&"})


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package (`tensorflow-text`), the versions of it that are allowed, and where and how that is written.

    `is_optional`: one of those that only some users install, an extra or a group of developers' tools.
    """

    name: str
    clauses: tuple[Clause, ...]
    extras: str
    where: str
    text: str
    is_optional: bool = False

    @property
    def origin(self) -> str:
        """`requirements.txt: tensorflow==2.15`."""
        return f"{self.where}: {self.text}"


def normalized(name: str) -> str:
    """`tf_keras` and `TF.Keras` as the one name that they stand for."""
    return name.lower().replace("_", "-").replace(".", "-")


def requirement(line: str, where: str) -> Requirement | None:
    """A requirement as pip writes it; None where the line is none, or names a file or an address."""
    match = _REQUIREMENT.match(line)
    if match is None:
        return None
    clauses = tuple(_CLAUSE.findall(match["specifier"]))
    text = line.split(";")[0].split("#")[0].strip()
    is_optional = _EXTRA.search(line) is not None or _OF_SOME.search(where) is not None
    name = normalized(match["name"])
    return Requirement(name, clauses, match["extras"] or "", where, text, is_optional)


def sources(folder: Path, package: str = "") -> Iterator[list[Requirement]]:
    """The requirements of a folder, one list for each way to declare them; of several packages in it, those of the one named."""
    for read in (_pyproject, _setup_cfg, _setup_py, _requirements, _environment):
        yield _requirements_in(read(folder))
    yield _requirements_in(metadata.requirements(folder, package))


def _requirements_in(lines: Iterable[tuple[str, str]]) -> list[Requirement]:
    return [found for line, where in lines if (found := requirement(line, where))]


def of_program(text: str, installs: Iterable[str] = ()) -> tuple[Requirement, ...]:
    """What a program says itself: in its header, in `installs` (the shell lines of a notebook), and in comments and calls that hold
    `pip install`. Of several about one package, the last.
    """
    found: dict[str, Requirement] = {}
    if "# /// script" in text:
        for each in _header(text):
            found[each.name] = each
    lines = list(installs)
    if "pip install" in text or "pip3 install" in text:
        lines += [line for line in text.splitlines() if _is_install(line)]
    for line in lines:
        for each in _installed(line):
            found[each.name] = each
    return tuple(found.values())


def _is_install(line: str) -> bool:
    """Whether a line of Python installs: a shell line that was commented out, or one that is handed to a shell."""
    start = line.lstrip()
    if start.startswith("#"):
        return start.lstrip("# ").startswith(("!pip", "%pip", "!python"))
    return "system(" in line or "check_call(" in line or "subprocess.run(" in line


def _header(text: str) -> Iterator[Requirement]:
    match = _HEADER.search(text)
    if match is None:
        return
    body = "\n".join(line[2:] for line in match["body"].splitlines())
    try:
        lines = toml.loads(body).get("dependencies")
    except ValueError:
        return
    for line in lines if isinstance(lines, list) else ():
        found = requirement(line, HEADER) if isinstance(line, str) else None
        if found is not None:
            yield found


def _installed(line: str) -> Iterator[Requirement]:
    """`!pip install -q "tensorflow==2.15" tf-keras`; nothing of what is installed from files and addresses."""
    match = _INSTALL.search(line)
    takes_value = False
    for word in _WORD.finditer(match["rest"]) if match is not None else ():
        text = word["quoted"] if word["quoted"] is not None else word["plain"]
        if text in _STOPS:
            return
        if takes_value or text.startswith("-"):
            takes_value = text in ("-r", "-f", "-i", "-c", "--find-links", "--index-url", "-t")
            continue
        found = requirement(text.strip("\"')]"), "pip install")
        if found is not None:
            yield found


def _environment(folder: Path) -> Iterator[tuple[str, str]]:
    """The `- name=version` lines of a conda environment, and those below its `pip:`."""
    for name in ("environment.yml", "environment.yaml"):
        try:
            lines = (folder / name).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            continue
        for line in lines:
            item = line.split(" #")[0].strip()
            if not item.startswith("- "):
                continue
            item = item[2:].strip().strip("\"'").rpartition("::")[2]
            pinned = _CONDA.match(item)
            version = pinned["version"].rstrip(".*") if pinned is not None else ""
            yield (f"{pinned['name']}=={version}.*" if pinned is not None else item), name


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
        return f">={low},<{numbers(low)[0] + 1}"
    if version.startswith("~") and not version.startswith("~="):
        low = version[1:]
        return f">={low},=={'.'.join(map(str, numbers(low)[:2]))}.*"
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


def numbers(version: str) -> tuple[int, ...]:
    """The release segment of a version: `2.16.0rc1` is (2, 16, 0)."""
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(n) for n in match.group().split(".")) if match else (0,)
