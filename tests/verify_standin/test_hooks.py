"""Callbacks that follow imports, on libraries made for the purpose."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from xlalint.verify import hooks


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Write an importable module; its name is new for each test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    finders = list(sys.meta_path)
    made: list[str] = []

    def make(name: str, source: str = "value = 1\n") -> str:
        (tmp_path / f"{name}.py").write_text(source)
        made.append(name)
        return name

    yield make
    sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, hooks.Hooks)]
    sys.meta_path[:] = finders
    for name in made:
        sys.modules.pop(name, None)


def test_the_callback_runs_after_the_module_has_run(library: Callable[..., str]) -> None:
    name = library("hooked_after")
    seen: list[int] = []
    hooks.install({name: lambda: seen.append(sys.modules[name].value)})
    assert seen == []
    importlib.import_module(name)
    assert seen == [1]


def test_looking_a_library_up_does_not_use_the_callback_up(library: Callable[..., str]) -> None:
    name = library("hooked_lookup")
    seen: list[str] = []
    hooks.install({name: lambda: seen.append(name)})
    assert importlib.util.find_spec(name) is not None
    assert seen == []
    importlib.import_module(name)
    assert seen == [name]


def test_a_library_imported_before_has_its_callback_run_at_once(
    library: Callable[..., str],
) -> None:
    name = library("hooked_late")
    importlib.import_module(name)
    seen: list[str] = []
    hooks.install({name: lambda: seen.append(name)})
    assert seen == [name]


def test_installing_twice_runs_a_callback_once_and_another_one_after_it(
    library: Callable[..., str],
) -> None:
    name = library("hooked_twice")
    seen: list[str] = []

    def first() -> None:
        seen.append("first")

    hooks.install({name: first})
    hooks.install({name: first})
    hooks.install({name: lambda: seen.append("second")})
    importlib.import_module(name)
    assert seen == ["first", "second"]


def test_a_callback_that_raises_is_listed_and_the_import_goes_on(
    library: Callable[..., str],
) -> None:
    name = library("hooked_raising")
    seen: list[str] = []

    def fail() -> None:
        raise RuntimeError("no such attribute")

    installed = hooks.install({name: fail})
    hooks.install({name: lambda: seen.append(name)})
    assert importlib.import_module(name).value == 1
    assert [(one.library, str(one.error)) for one in installed.failures] == [
        (name, "no such attribute")
    ]
    assert seen == [name]


def test_a_module_that_fails_to_import_keeps_its_own_error(library: Callable[..., str]) -> None:
    name = library("hooked_broken", "raise ValueError('broken module')\n")
    seen: list[str] = []
    hooks.install({name: lambda: seen.append(name)})
    with pytest.raises(ValueError, match="broken module"):
        importlib.import_module(name)
    assert seen == []


def test_threads_that_import_together_run_the_callback_once(library: Callable[..., str]) -> None:
    name = library("hooked_threads", "import time\ntime.sleep(0.05)\nvalue = 1\n")
    seen: list[str] = []
    hooks.install({name: lambda: seen.append(name)})
    threads = [threading.Thread(target=importlib.import_module, args=(name,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [name]
