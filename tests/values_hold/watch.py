"""Runs fixture programs eagerly and watches their expressions: `python watch.py FILE...`.

Prints a line for each program, `{"path": ..., "seen": [[line, column, end line, end column, ["float32", [2, 3]]...]...]}`: what each expression of
its functions was seen to hold, a dtype and a shape where that was a tensor or a variable, and null for anything else.
"""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import importlib.util
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import tensorflow as tf

sys.path.insert(0, str(Path(__file__).parents[1] / "fixtures"))
import prover

Span = tuple[int, int, int, int]
# Of an expression that holds something else each time, as many as tell.
_MOST = 12
_HOOK = "seen_by_xlalint"
# They look at the frame or the class that they are called in.
_OF_THEIR_FRAME = frozenset("super locals globals vars eval exec dir".split())


class Watching(ast.NodeTransformer):
    """Wraps what functions load, call, index and compute into calls of the hook."""

    def __init__(self, spans: list[Span]) -> None:
        self._spans = spans
        self._depth = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._depth += 1
        node.body = [self.visit(one) for one in node.body]
        self._depth -= 1
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        depth, self._depth = self._depth, 0
        node.body = [self.visit(one) for one in node.body]
        self._depth = depth
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.body = self.visit(node.body)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.value = None if node.value is None else self.visit(node.value)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._watched(node, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self._watched(node, ast.Attribute(self.visit(node.value), node.attr, node.ctx))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        parts = self.visit(node.value), self.visit(node.slice)
        return self._watched(node, ast.Subscript(*parts, node.ctx))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func
        if isinstance(called, ast.Name) and called.id in _OF_THEIR_FRAME:
            return node
        if isinstance(called, ast.Attribute):
            called = ast.Attribute(self.visit(called.value), called.attr, called.ctx)
        keywords = [ast.keyword(one.arg, self.visit(one.value)) for one in node.keywords]
        return self._watched(node, ast.Call(called, list(map(self.visit, node.args)), keywords))

    def _computed(self, node: Any) -> ast.AST:
        return self._watched(node, self.generic_visit(node))

    visit_BinOp = visit_Compare = visit_UnaryOp = visit_BoolOp = visit_IfExp = _computed  # noqa: N815

    def _left(self, node: Any) -> ast.AST:
        return node  # type: ignore[no-any-return]

    visit_JoinedStr = visit_Match = visit_Delete = visit_AsyncFunctionDef = _left  # noqa: N815

    def _watched(self, node: Any, made: Any) -> ast.AST:
        made = ast.copy_location(made, node)
        if not self._depth or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return made  # type: ignore[no-any-return]
        place = ast.Constant(len(self._spans))
        self._spans.append((node.lineno, node.col_offset, node.end_lineno, node.end_col_offset))
        call = ast.Call(ast.Name(_HOOK, ast.Load()), [place, made], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


class _Loader(importlib.machinery.SourceFileLoader):
    spans: list[Span]

    def get_code(self, fullname: str) -> Any:
        path = self.get_filename(fullname)
        tree = Watching(self.spans).visit(ast.parse(self.get_data(path)))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


def load(path: str, spans: list[Span]) -> ModuleType:
    """A program, watched."""
    name = "_".join(re.findall(r"\w+", path)[-3:])
    home = os.path.dirname(os.path.dirname(path))
    if home not in sys.path:
        sys.path.insert(0, home)
    loader = _Loader(name, path)
    loader.spans = spans
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def watcher(seen: dict[int, list[Any]]) -> Callable[[int, Any], Any]:
    """The hook: it gives what it is given, and keeps what that was."""

    def watch(place: int, value: Any) -> Any:
        told = seen.setdefault(place, [])
        if len(told) < _MOST:
            one = _told(value)
            if one not in told:
                told.append(one)
        return value

    return watch


def _told(value: Any) -> Any:
    is_one = isinstance(value, (tf.Tensor, tf.Variable)) or type(value).__name__ == "KerasVariable"
    if not is_one:
        return None
    shape = tf.TensorShape(value.shape)
    dtype = value.dtype if isinstance(value.dtype, str) else value.dtype.name
    return [dtype, None if shape.rank is None else shape.as_list()]


def main() -> None:
    for path in sys.argv[1:]:
        spans: list[Span] = []
        seen: dict[int, list[Any]] = {}
        setattr(builtins, _HOOK, watcher(seen))
        prover.forget_policy()
        try:
            module = load(path, spans)
            for probe in prover.probes(module):
                if "drive" not in probe and probe.get("jit") != "crashes" and prover.can_run(probe):
                    prover.attempt(lambda probe=probe: prover.run_eagerly(probe, probe))
        except Exception as error:
            print(path, repr(error), file=sys.stderr)
        finally:
            told = [[*spans[place], kinds] for place, kinds in seen.items()]
            print(json.dumps({"path": path, "seen": told}), flush=True)


if __name__ == "__main__":
    main()
