"""What nested functions close over: the frame that each was defined in.

A function that makes others is called more than once: `dense = noted(_dense)`, `add = noted(tf.add)`. What it defines is one function by its text, and
another for each set of values that the names hold which it reads from around it. A FUNCTION value says by a number (`Value.closure`) which of them
it is; without a number, the one that was defined last is meant.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import FUNCTION, Value

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame
    from xlalint.semantics.modules import Modules

# So many are told apart of one function; of further ones, the last holds for all.
_MOST_CLOSURES = 32
# So many are traced of one that nobody calls.
_MOST_ROOTS = 4


class Closures:
    """Remembers frames for what is defined in them."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self._latest: dict[FunctionInfo | ClassInfo, Frame] = {}
        self._frames: dict[FunctionInfo, dict[int, Frame]] = {}
        self._numbers: dict[FunctionInfo, dict[Hashable, int]] = {}
        self._free_names: dict[FunctionInfo, tuple[str, ...]] = {}

    def define(self, info: FunctionInfo, frame: Frame) -> Value:
        """The function that a definition or a lambda makes where it is run."""
        if frame.function is None:
            return Value(FUNCTION, ref=info)
        self._latest[info] = frame
        numbers = self._numbers.setdefault(info, {})
        closed = tuple((name, frame.look_up(name)) for name in self._read_by(info))
        number = numbers.get(closed)
        if number is None:
            if len(numbers) >= _MOST_CLOSURES:
                return Value(FUNCTION, ref=info)
            number = numbers[closed] = len(numbers)
        self._frames.setdefault(info, {})[number] = frame
        return Value(FUNCTION, ref=info, closure=number)

    def define_class(self, info: ClassInfo, frame: Frame) -> None:
        """Remember where a class was defined, with all its methods."""
        if frame.function is not None:
            self._latest[info] = frame
            for method in info.methods.values():
                self._latest[method] = frame

    def around(self, info: FunctionInfo | ClassInfo, closure: int | None = None) -> Frame | None:
        """The frame of the function around; None of what stands in a module, and of what has not been defined yet."""
        if closure is not None and isinstance(info, FunctionInfo):
            return self._frames[info][closure]
        return self._latest.get(info)

    def home(self, info: FunctionInfo | ClassInfo, closure: int | None = None) -> Frame:
        """The frame in which the decorators, defaults and bases of a definition are read."""
        return self.around(info, closure) or self._modules.module_frame(info.module)

    def first_of(self, info: FunctionInfo) -> Sequence[int | None]:
        """The first functions that a definition has made: one that makes steps may have made several."""
        return list(self._frames.get(info, ()))[:_MOST_ROOTS] or (None,)

    def _read_by(self, info: FunctionInfo) -> tuple[str, ...]:
        names = self._free_names.get(info)
        if names is None:
            arguments = info.node.args
            defaults = [each for each in (*arguments.defaults, *arguments.kw_defaults) if each]
            free = (_free_names(info.node) - {info.name}) | _free_in(defaults, set())
            names = self._free_names[info] = tuple(sorted(free))
        return names


def _free_names(scope: ast.AST) -> set[str]:
    """The names that a function reads and does not bind, functions inside of it included."""
    if isinstance(scope, ast.ClassDef):
        return _free_in(scope.body, set())
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return set()
    given = scope.args
    bound = {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    bound.update(each.arg for each in (given.vararg, given.kwarg) if each is not None)
    return _free_in(scope.body if isinstance(scope.body, list) else [scope.body], bound)


def _free_in(body: list[ast.stmt] | list[ast.expr], bound: set[str]) -> set[str]:
    read: set[str] = set()
    outer: set[str] = set()
    for node in _own_nodes(body):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, (ast.Nonlocal, ast.Global)):
            outer.update(node.names)
        elif isinstance(node, _SCOPES):
            bound.update([node.name] if isinstance(node, _NAMED) else ())
            read |= _free_names(node)
    return (read - bound) | outer


def _own_nodes(body: list[ast.stmt] | list[ast.expr]) -> Iterator[ast.AST]:
    return nodes_of(body, into_functions=False)


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SCOPES = (*_NAMED, ast.Lambda)
