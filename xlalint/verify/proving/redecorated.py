"""Functions whose decorators a rewrite changes: made anew beside the old ones, and put in their place for a while."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any


class UnmakeableError(Exception):
    """The function cannot be made outside of its class or function. The message says why."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """What `owner`, the module or a class of it, holds under a name, and what the rewrite holds there."""

    owner: Any
    name: str
    old: Any
    new: Any


class Redecorated:
    """The functions of `names` (`step`, `Model.step`) as the text in `file` has them.

    Raises:
        UnmakeableError: one needs what only the body of its class gives.
    """

    def __init__(
        self,
        module: ModuleType,
        nodes: Sequence[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]],
        file: Path,
    ) -> None:
        self._pairs = [_made(module, qualname, node, file) for qualname, node in nodes]

    def put(self, *, new: bool) -> None:
        for pair in self._pairs:
            setattr(pair.owner, pair.name, pair.new if new else pair.old)

    def call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What the rewritten program calls where the original calls this."""
        for pair in self._pairs:
            if original is pair.old:
                return pair.new  # type: ignore[no-any-return]
        return original


def _made(
    module: ModuleType,
    qualname: str,
    node: ast.FunctionDef | ast.AsyncFunctionDef,
    file: Path,
) -> _Pair:
    *classes, name = qualname.split(".")
    owner: Any = module
    for one in classes:
        owner = getattr(owner, one, None)
    if owner is None or name not in vars(owner):
        raise UnmakeableError(
            f"changes the decorators of {qualname}, which the module no longer holds"
        )
    if classes and any(_is_of_class(inner) for inner in ast.walk(node)):
        raise UnmakeableError(
            f"changes the decorators of {qualname}, which needs its class around it"
        )
    code = compile(ast.Module([node], []), str(file), "exec", dont_inherit=True)
    made: dict[str, Any] = {}
    exec(code, vars(module), made)
    return _Pair(owner, name, vars(owner)[name], made[name])


def _is_of_class(node: ast.AST) -> bool:
    """`super()`, `__class__`, and private names, which Python spells otherwise within a class."""
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    is_private = str(name).startswith("__") and not str(name).endswith("__")
    return name in ("super", "__class__") or is_private
