"""The user's own command, as what stands after `--` says it: `python -u train.py --size 3`, `python -m pkg.train`, a notebook."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_INTERPRETER = re.compile(r"^(?:python|pypy)[\d.]*$")
# Options of Python that the child can be given too; those with a value of their own.
_PLAIN_OPTIONS = frozenset({"-u", "-O", "-OO", "-B", "-s", "-E", "-q", "-v", "-b", "-I"})
_VALUED_OPTIONS = frozenset({"-X", "-W"})
_PROGRAMS = (".py", ".ipynb")


class PlanError(Exception):
    """What was asked for cannot be run; the message says what would do."""


@dataclass(frozen=True, slots=True)
class Command:
    """A user's own command. `python` is the interpreter with its options, `run` a file, a folder or a module.

    `notebook` is the one that `run` was made from, empty for all else; `variables` those of the environment that it sets.
    `root` is the folder that a module's package lies in, empty for the folder that the command is given in.
    """

    python: tuple[str, ...]
    run: str
    is_module: bool
    arguments: tuple[str, ...]
    notebook: str = ""
    variables: tuple[tuple[str, str], ...] = ()
    root: str = ""

    def home(self, folder: Path) -> Path:
        """Where Python looks for a module that is run in `folder`."""
        return Path(self.root) if self.root else folder

    @property
    def label(self) -> str:
        program = f"-m {self.run}" if self.is_module else self.notebook or self.run
        return " ".join(["python", program, *map(shlex.quote, self.arguments)])


def parse_command(words: Sequence[str], folder: Path) -> Command:
    """The command after `--`, as Python would read it. Raises PlanError for what is no Python program."""
    if not words:
        raise PlanError(
            "nothing after `--`; give the command that trains, such as `-- python train.py`"
        )
    first, rest = words[0], list(words[1:])
    if not _INTERPRETER.match(Path(first).name):
        if first.endswith(_PROGRAMS):
            return _checked(Command((sys.executable,), first, False, tuple(rest)), folder)
        raise PlanError(
            f"`{first}` is not Python; give the program itself: `-- python train.py`, `-- python -m pkg.train` or `-- train.ipynb`"
        )
    python = _interpreter(first)
    options: list[str] = []
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "-m" and rest:
            return _checked(Command((python, *options), rest[0], True, tuple(rest[1:])), folder)
        if option in _VALUED_OPTIONS and rest:
            options += [option, rest.pop(0)]
        elif option in _PLAIN_OPTIONS or option[:2] in _VALUED_OPTIONS:
            options.append(option)
        else:
            raise PlanError(f"`python {option}` cannot be verified; give a file or `-m module`")
    if not rest:
        raise PlanError(f"`{first}` alone runs nothing; give a file or `-m module`")
    return _checked(Command((python, *options), rest[0], False, tuple(rest[1:])), folder)


def _interpreter(name: str) -> str:
    """The interpreter that a shell would run; this one for a bare name that leads to it or to nothing."""
    found = shutil.which(name)
    if found is None and "/" in name:
        raise PlanError(f"there is no interpreter {name}")
    return (
        found if found is not None and ("/" in name or _has_tensorflow(found)) else sys.executable
    )


def _has_tensorflow(python: str) -> bool:
    """Is TensorFlow installed beside this interpreter? Looked up in its folders; nothing is run."""
    prefix = Path(python).parent.parent  # unresolved: a virtual environment's own folder
    return any(prefix.glob("lib/python3*/site-packages/tensorflow/__init__.py"))


def _checked(command: Command, folder: Path) -> Command:
    if command.is_module:
        return command
    path = folder / command.run
    if path.is_dir():
        path = path / "__main__.py"
    if not path.is_file():
        raise PlanError(f"{command.run}: no such file")
    return command
