"""Run a test of the project, or an example in a docstring, and keep what the function in question is called with."""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import inspect
import io
import re
import sys
import textwrap
import unittest
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from types import ModuleType
from typing import Any

from xlalint.verify import eager_mode
from xlalint.verify.alone import from_runs, ways
from xlalint.verify.alone.from_runs import NotRunError
from xlalint.verify.jobs import Wanted
from xlalint.verify.program import Program
from xlalint.verify.targets import plain

# Of a test with many sets of parameters, the first few.
_CASES = 3
_FENCED = re.compile(r"```(?:python|py)\n(.*?)```", re.S)


def programs(
    wanted: Wanted, path: str, name: str, converted: AbstractSet[tuple[str, int]], runs: Any
) -> Iterator[Program]:
    """The function with the arguments that the test gave it. Raises NotRunError."""
    test = f"the test {Path(path).name}::{name}"
    yield from from_runs.programs(
        wanted, converted, runs, test, lambda: _run_here(Path(path), name)
    )


def programs_of_examples(
    wanted: Wanted, module: ModuleType, converted: AbstractSet[tuple[str, int]], runs: Any
) -> Iterator[Program]:
    """The same for the examples in the docstrings of the function and of its class. Raises NotRunError."""
    names = wanted.qualname.partition(".<locals>")[0].split(".")
    holders = [ways.resolve(module, ".".join(names[:count])) for count in range(1, len(names) + 1)]
    texts = [inspect.getdoc(plain(one)) or "" for one in holders if one is not None]
    sources = [source for text in texts if (source := _examples(text))]
    if not sources:
        return
    example = f"the example in the docstring of {wanted.qualname}"
    yield from from_runs.programs(
        wanted, converted, runs, example, lambda: _run_examples(sources, module)
    )


def _examples(text: str) -> str:
    """What follows `>>>`, else what stands between fences that say python."""
    try:
        shown = [one.source for one in doctest.DocTestParser().get_examples(text)]
    except ValueError:
        shown = []
    return "".join(shown) or "\n".join(textwrap.dedent(one) for one in _FENCED.findall(text))


def _run_examples(sources: Sequence[str], module: ModuleType) -> None:
    for source in sources:
        _run_example(source, module)


def _run_example(source: str, module: ModuleType) -> None:
    """Statement by statement, as those after one that fails may still be of use."""
    package = module.__name__.partition(".")[0]
    names = {
        **vars(module),
        "tf": importlib.import_module("tensorflow"),
        package: sys.modules[package],
    }
    names["np"] = importlib.import_module("numpy")
    try:
        statements = ast.parse(source).body
    except SyntaxError:
        return
    for statement in statements:
        with contextlib.suppress(Exception):
            exec(compile(ast.Module([statement], []), "<example>", "exec"), names)


def _run_here(path: Path, name: str) -> None:
    try:
        _run(path, name)
    finally:
        eager_mode.restore()  # what follows in this process is driven eagerly


def _run(path: Path, name: str) -> None:
    """The test as pytest runs it; without pytest, as unittest does, or as a plain function. Raises NotRunError."""
    try:
        pytest = importlib.import_module("pytest")
    except ImportError:
        _run_by_hand(path, name)
        return
    options = [
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        "-o",
        "addopts=",
        "--no-header",
    ]
    status = pytest.main([*options, f"{path}::{name}"], plugins=[_FirstCases()])
    if int(status) not in (0, 1):
        raise NotRunError(f"pytest cannot run it (exit status {int(status)})")


class _FirstCases:
    """A plugin of pytest: a few of a test's cases are enough."""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        del items[_CASES:]


def _run_by_hand(path: Path, name: str) -> None:
    sys.path.insert(0, str(path.parent))
    try:
        module = importlib.import_module(path.stem)
    except Exception as error:
        raise NotRunError(f"its import fails: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
    owner, _, test = name.rpartition("::")
    if not owner:
        getattr(module, test)()
        return
    cls = getattr(module, owner)
    if issubclass(cls, unittest.TestCase):
        unittest.TextTestRunner(stream=io.StringIO()).run(cls(test))
    else:
        getattr(cls(), test)()
