"""The public functions and classes of an installed package that may hold tensor code."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import pkgutil
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_NO_MODULE = re.compile(
    r"(^|[._])(tests?|testing|test_\w+|\w+_test|examples?|scripts?|tools|binaries|benchmarks?|setup|conftest|main|cli|"
    r"train|trainer|train_eval\w*|visuali[sz]ation|datasets?|data|convert\w*|conversion\w*|export\w*|substrates|demo|"
    r"datasets_\w+|pretrained|colab|v1|google_research|torch|pytorch|jax|flax|backend_\w+|xla|tpu|serving|flags)(?=\.|$)"
)
_NO_FUNCTION = re.compile(
    r"(load|save|download|export|import|plot|write|read|dump|print|show|draw|visuali\w*|main|run|train|fit|from|to|parse|"
    r"register|list|test|assert|validate|check|convert|open|fetch|log|setup|configure|serialize|deserialize|enable|disable|"
    r"summary|compile|install|benchmark|deprecated|delete|remove|wait|start|stop|launch|restore|copy|move|mkdir|exec\w*|kill|evaluate|predict|build_graph|set|clear|reset)"
    r"(_.*)?"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A function or class of the package under the name by which it is imported."""

    name: str
    item: Any


def discover(package: str, skipped: Sequence[str], only: Sequence[str]) -> Iterator[Found]:
    """Each public function and class once, in the order of the modules' names.

    `skipped` and `only` are prefixes of module names; with `only`, no other modules are read.
    """
    seen: set[int] = set()
    for name in _modules(package, skipped, only):
        module = _imported(name)
        if module is None:
            continue
        for attribute, item in sorted(vars(module).items()):
            if attribute.startswith("_") or id(item) in seen:
                continue
            if getattr(item, "__module__", None) != name or not _is_wanted(attribute, item):
                continue
            seen.add(id(item))
            yield Found(f"{name}.{attribute}", item)


def _is_wanted(attribute: str, item: Any) -> bool:
    if inspect.isclass(item):
        return not issubclass(item, BaseException)
    return callable(item) and not _NO_FUNCTION.fullmatch(attribute)


def methods(owner: type, package: str) -> Iterator[str]:
    """Names of the public methods that the package itself writes for `owner`."""
    for name in dir(owner):
        item = inspect.getattr_static(owner, name, None)
        if name.startswith("_") and name != "__call__":
            continue
        if (
            isinstance(item, property)
            or not inspect.isroutine(item)
            or _NO_FUNCTION.fullmatch(name)
        ):
            continue
        function = inspect.unwrap(getattr(item, "__func__", item))
        if (getattr(function, "__module__", "") or "").split(".")[0] == package:
            yield name


def _modules(package: str, skipped: Sequence[str], only: Sequence[str]) -> list[str]:
    root = _imported(package)
    if root is None:
        raise ImportError(f"{package} cannot be imported")
    names = [package, *_below(root.__path__, package + ".", tuple(skipped))]
    return [
        name
        for name in sorted(names)
        if not name.startswith(tuple(skipped)) and (not only or name.startswith(tuple(only)))
    ]


def _below(folders: Sequence[str], prefix: str, skipped: tuple[str, ...]) -> Iterator[str]:
    for module in pkgutil.iter_modules(folders):
        name = prefix + module.name
        if _NO_MODULE.search(name[len(prefix) - 1 :]) or (skipped and name.startswith(skipped)):
            continue
        yield name
        if module.ispkg:
            yield from _below(
                [f"{folder}/{module.name}" for folder in folders], name + ".", skipped
            )


def _imported(name: str) -> Any:
    # What a package prints, raises or exits with while it is imported is its own affair.
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            return importlib.import_module(name)
        except BaseException:
            return None
