"""A notebook's program made fit for Python, and run as a kernel would run it: `await` at its top level, `from __future__` in any cell."""

from __future__ import annotations

import ast
import asyncio
import inspect
import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

_FUTURE = "__future__"
_ANNOTATIONS = "annotations"


def runnable(text: str) -> str:
    """The program with its `from __future__` imports where Python wants them, above all else; every line keeps its number."""
    tree = ast.parse(text)
    late = [
        node
        for node in tree.body[_opening(tree) :]
        if isinstance(node, ast.ImportFrom) and node.module == _FUTURE
    ]
    if not late:
        return text
    lines = text.split("\n")
    for node in late:
        for number in range(node.lineno - 1, node.end_lineno or node.lineno):
            lines[number] = "pass" if number == node.lineno - 1 else ""
    # The others mean nothing to a Python 3, and this one fits only in front of what is no block.
    wanted = any(alias.name == _ANNOTATIONS for node in late for alias in node.names)
    if wanted and not any(node.lineno == 1 for node in tree.body if _is_block(node)):
        lines[0] = f"from {_FUTURE} import {_ANNOTATIONS}; {lines[0]}".rstrip("; ")
    return "\n".join(lines)


def _opening(tree: ast.Module) -> int:
    """How many statements of the module's opening may stand above `from __future__`, those imports included."""
    for index, node in enumerate(tree.body):
        is_docstring = (
            index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        )
        is_future = isinstance(node, ast.ImportFrom) and node.module == _FUTURE
        if not (is_docstring or is_future):
            return index
    return len(tree.body)


def _is_block(node: ast.stmt) -> bool:
    return hasattr(node, "body")


def run(path: str, names: dict[str, Any]) -> None:
    """Run the program at `path` as `__main__`, with more `names` in its namespace. Modules that its cells write lie beside it."""
    sys.path.insert(0, str(Path(path).parent))
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code = compile(Path(path).read_text(encoding="utf-8"), path, "exec", flags)
    if not code.co_flags & inspect.CO_COROUTINE:
        runpy.run_path(path, init_globals=names, run_name="__main__")
        return
    module = ModuleType("__main__")
    module.__dict__.update(names, __file__=path)
    sys.modules["__main__"] = module

    async def program() -> None:
        await eval(code, module.__dict__)

    asyncio.run(program())
