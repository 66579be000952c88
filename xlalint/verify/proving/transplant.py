"""Rewritten functions in a running program: the functions keep their identity and take the code of another text for a while.

So the same objects, weights and captured calls serve the original and the rewrite; nothing is loaded twice, and the user's
file stays as it is.
"""

from __future__ import annotations

import ast
import copy
import gc
import inspect
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from xlalint.verify.proving.redecorated import Redecorated, UnmakeableError
from xlalint.verify.sites import real_path


class UnfitError(Exception):
    """The rewrite changes more than the insides of functions. The message says what."""


# Where a tf.function keeps what it has traced: those without a value here begin with None, caches with an empty one of their type.
_TRACES = ("_variable_creation_config", "_no_variable_creation_config", "_function_cache")


def _without_traces() -> list[tuple[Any, dict[str, Any]]]:
    """Make every living tf.function trace anew; what each has traced is returned."""
    found: list[tuple[Any, dict[str, Any]]] = []
    for one in gc.get_objects():
        kind = type(one)
        home = f"{kind.__module__}"
        if kind.__name__ != "Function" or not home.startswith("tensorflow.python.eager."):
            continue
        traces = {name: vars(one)[name] for name in _TRACES if name in vars(one)}
        if len(traces) == len(_TRACES):
            found.append((one, traces))
            vars(one).update(
                dict.fromkeys(traces), _function_cache=type(traces["_function_cache"])()
            )
    return found


@dataclass(frozen=True, slots=True)
class _Named:
    """A function of a text: its qualified name, and which of those with that name it is."""

    qualname: str
    index: int


class Transplant:
    """The functions of `path` that differ between two texts, `folder` is where the new text is put for tracebacks.

    Raises:
        UnfitError: the texts differ outside of functions, by more than what is added at the top.
    """

    def __init__(
        self, module: ModuleType, path: str, original: str, rewritten: str, folder: Path
    ) -> None:
        self._swapped: list[tuple[FunctionType, CodeType, CodeType]] = []
        self._traced: list[tuple[Any, dict[str, Any]]] = []
        self._module = module
        self._path = real_path(path)
        before, after = ast.parse(original), ast.parse(rewritten)
        self._added = _added(before, after, frozenset(vars(module)))
        self.changed = _changed(before, after)
        redecorated = _redecorated(before, after)
        if not self.changed and not redecorated:
            raise UnfitError("changes no function, but what the module does when it is loaded")
        makers = sorted(one for one in self.changed if one.endswith((".__init__", ".build")))
        if makers:
            raise UnfitError(f"changes {makers[0]}, and what runs here was made before")
        self._old = _by_place(compile(original, path, "exec", dont_inherit=True))
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / Path(path).name
        self.file.write_text(rewritten, encoding="utf-8")
        self._new = _by_name(compile(rewritten, str(self.file), "exec", dont_inherit=True))
        try:
            self._anew = Redecorated(module, redecorated, self.file)
        except UnmakeableError as reason:
            raise UnfitError(str(reason)) from reason

    def call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What the rewritten program calls where the original calls this."""
        return self._anew.call(original)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """While open, the functions that live in this process run the rewritten code.

        Raises:
            UnfitError: a rewritten function needs names of its surroundings that the original does not hold.
        """
        held = frozenset(vars(self._module))
        for statement in self._added:
            code = compile(ast.Module([statement], []), str(self.file), "exec")
            exec(code, vars(self._module))
        brought = vars(self._module).keys() - held
        self._swapped = [
            (function, function.__code__, new)
            for function in self._living()
            if (new := self._new_code(function.__code__)) is not None
        ]
        try:
            self._put(new=True)
            yield
        finally:
            self._put(new=False)
            self._swapped = []
            for name in brought:
                delattr(self._module, name)

    @contextmanager
    def undone(self) -> Iterator[None]:
        """While open within `applied`, the functions run their own code again."""
        self._put(new=False)
        try:
            yield
        finally:
            self._put(new=True)

    def _put(self, *, new: bool) -> None:
        for function, old_code, new_code in self._swapped:
            function.__code__ = new_code if new else old_code
        self._anew.put(new=new)
        # A tf.function that was traced with the one code would run that trace with the other.
        for graph, traces in self._traced:
            vars(graph).update(traces)
        self._traced = _without_traces() if new else []

    def line_of(self, error: BaseException) -> int:
        """The line of the rewritten text in which an error came up; 0 where it did not."""
        found = 0
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == str(self.file):
                found = trace.tb_lineno
            trace = trace.tb_next
        return found

    def _living(self) -> list[FunctionType]:
        """The functions, methods and closures made from this file that exist now."""
        return [
            one
            for one in gc.get_objects()
            if type(one) is FunctionType and real_path(one.__code__.co_filename) == self._path
        ]

    def _new_code(self, old: CodeType) -> CodeType | None:
        """The code that takes the place of `old`; None where it stays."""
        named = self._old.get((old.co_name, old.co_firstlineno))
        if named is None or "<lambda>" in named.qualname:
            return None
        if named.qualname.partition(".<locals>")[0] not in self.changed:
            return None
        new = self._new.get(named)
        if new is None or new.co_freevars == old.co_freevars:
            return new
        missing = set(old.co_freevars) - set(new.co_freevars)
        if set(new.co_freevars) - set(old.co_freevars):
            if "<locals>" in named.qualname:
                return None  # left over from an earlier call: the function around it makes it anew
            needs = ", ".join(sorted(set(new.co_freevars) - set(old.co_freevars)))
            raise UnfitError(f"needs {needs} of the function around it")
        return self._with_names(named, missing)

    def _with_names(self, named: _Named, names: set[str]) -> CodeType | None:
        """The code with names that it uses no more: a function's closure cannot shrink while it lives."""
        tree = ast.parse(self.file.read_text(encoding="utf-8"))
        node = _nodes_by_name(tree).get(named)
        if node is None:
            return None
        loads: list[ast.stmt] = [ast.Expr(ast.Name(name, ast.Load())) for name in sorted(names)]
        never = ast.If(ast.Constant(False), loads, [])
        node.body.insert(1 if ast.get_docstring(node, clean=False) is not None else 0, never)
        ast.copy_location(never, node.body[-1])
        ast.fix_missing_locations(never)
        code = compile(tree, str(self.file), "exec", dont_inherit=True)
        return _by_name(code).get(named)


_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _changed(before: ast.Module, after: ast.Module) -> frozenset[str]:
    """The outermost functions (qualified names) whose bodies differ."""
    old, new = _nodes_by_name(before), _nodes_by_name(after)
    return frozenset(
        named.qualname
        for named, node in old.items()
        if "<locals>" not in named.qualname
        and named in new
        and _dump(node.body) != _dump(new[named].body)
    )


def _redecorated(before: ast.Module, after: ast.Module) -> list[tuple[str, _Function]]:
    """The outermost functions whose decorators differ, as the new text has them."""
    old, new = _nodes_by_name(before), _nodes_by_name(after)
    return [
        (named.qualname, new[named])
        for named, node in old.items()
        if "<locals>" not in named.qualname
        and named in new
        and [ast.dump(one) for one in node.decorator_list]
        != [ast.dump(one) for one in new[named].decorator_list]
    ]


def _added(before: ast.Module, after: ast.Module, taken: AbstractSet[str]) -> list[ast.stmt]:
    """What only the new text has at the top of the module: imports, functions, names that are not `taken`. Raises UnfitError
    for any other difference."""
    old = [ast.dump(_hollow(one)) for one in before.body]
    waiting = list(old)
    added: list[ast.stmt] = []
    for statement in after.body:
        told = ast.dump(_hollow(statement))
        if waiting and waiting[0] == told:
            waiting.pop(0)
        elif told not in old and _is_new(statement, taken):
            added.append(statement)
        else:
            raise UnfitError(
                f"changes more than the insides of functions (line {statement.lineno})"
            )
    if waiting:
        raise UnfitError("takes away what the module does when it is loaded")
    return added


def _is_new(statement: ast.stmt, taken: AbstractSet[str]) -> bool:
    """Does it bring what the old text has not: something imported, or under a name that nothing else has?"""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return statement.name not in taken
    if not isinstance(statement, ast.Assign):
        return False
    return all(isinstance(one, ast.Name) and one.id not in taken for one in statement.targets)


def _hollow(statement: ast.stmt) -> ast.stmt:
    """A statement with the functions in it emptied, and without their decorators."""
    return _Hollow().visit(copy.deepcopy(statement))  # type: ignore[no-any-return]


class _Hollow(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body, node.decorator_list = [], []
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.body, node.decorator_list = [], []
        return node


def _dump(body: list[ast.stmt]) -> list[str]:
    return [ast.dump(statement) for statement in body]


def _nodes_by_name(tree: ast.Module) -> dict[_Named, _Function]:
    found: dict[_Named, _Function] = {}
    counts: dict[str, int] = {}

    def walk(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = f"{prefix}{child.name}"
                index = counts[name] = counts.get(name, -1) + 1
                found[_Named(name, index)] = child
                walk(child, f"{name}.<locals>.")
            elif isinstance(child, ast.ClassDef):
                walk(child, f"{prefix}{child.name}.")
            else:
                walk(child, prefix)

    walk(tree, "")
    return found


def _codes(code: CodeType, prefix: str = "") -> Iterator[tuple[str, CodeType]]:
    """The functions in a module's code with their qualified names (which code objects know from Python 3.11 on)."""
    for constant in code.co_consts:
        if not inspect.iscode(constant):
            continue
        name = f"{prefix}{constant.co_name}"
        if constant.co_flags & inspect.CO_OPTIMIZED:
            yield name, constant
            yield from _codes(constant, f"{name}.<locals>.")
        else:  # the body of a class
            yield from _codes(constant, f"{name}.")


def _numbered(code: CodeType) -> Iterator[tuple[_Named, CodeType]]:
    counts: dict[str, int] = {}
    for name, one in sorted(_codes(code), key=lambda pair: (pair[0], pair[1].co_firstlineno)):
        index = counts[name] = counts.get(name, -1) + 1
        yield _Named(name, index), one


def _by_place(code: CodeType) -> dict[tuple[str, int], _Named]:
    return {(one.co_name, one.co_firstlineno): named for named, one in _numbered(code)}


def _by_name(code: CodeType) -> dict[_Named, CodeType]:
    return dict(_numbered(code))
