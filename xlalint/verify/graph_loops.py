"""Shorten loops of the graph that train and whose length no argument says: `for _ in tf.range(1000)`, `while tf.constant(True)`.

One call of such a tf.function is a thousand steps, or never ends. Whether a loop trains is known once its body has been traced,
so a copy of the function is traced first; the function itself is then traced with the loop's iterations limited.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import textwrap
import threading
from collections.abc import Callable
from typing import Any

from xlalint.verify.patching import Patches
from xlalint.verify.targets import code_of, plain

_CONTROL_FLOW = "tensorflow.python.autograph.operators.control_flow"


class GraphLoops:
    """Finds and limits loops of functions that AutoGraph converts."""

    def __init__(self, patches: Patches) -> None:
        self._patches = patches
        self._local = threading.local()
        self._training: dict[object, bool] = {}  # by body; does a loop inside it train?
        self._looked_at: set[object] = set()
        self._made: dict[object, int] = {}
        self._kept: list[Any] = []

    def patch(self, tf: Any) -> None:
        control_flow = importlib.import_module(_CONTROL_FLOW)
        self._patches.wrap(control_flow, "_tf_while_stmt", self._wrap_while)
        self._patches.wrap(control_flow, "_tf_range_for_stmt", self._wrap_range)
        registry = getattr(control_flow, "for_loop_registry", None)
        loops = getattr(registry, "_registry", None)
        if isinstance(loops, dict):
            # No attribute, and so not put back by `Patches`: without a limit it does nothing.
            for kind, loop in list(loops.items()):
                if isinstance(kind, type) and issubclass(kind, tf.data.Dataset):
                    loops[kind] = self._wrap_dataset(loop)

    def trains(self) -> None:
        """A step is being traced: so does each loop that is being traced train."""
        stack = self._stack()
        for depth, loop in enumerate(stack):
            loop.trains = True
            loop.holds_loop |= depth < len(stack) - 1

    def shortened(self, target: Any, call: Callable[..., Any], left: int) -> _Shortened:
        """`call` of a tf.function with its training loops cut to `left` iterations; `made` says how many steps it made."""
        return _Shortened(self, target, call, left)

    def may_loop(self, target: Any) -> bool:
        """Does the function's own source have a loop?"""
        code = code_of(target)
        if code is None or not hasattr(target, "get_concrete_function"):
            return False
        return _has_loop(plain(target))

    def find(self, target: Any, args: Any, kwargs: Any) -> None:
        """Trace a copy of the function, once, to see which of its loops train."""
        code = code_of(target)
        if code in self._looked_at:
            return
        self._looked_at.add(code)
        tf = importlib.import_module("tensorflow")
        copy = tf.function(target.python_function, reduce_retracing=True)
        self._kept.append(copy)  # variables that it made are the user's own
        self._local.finding = True
        try:
            copy.get_concrete_function(*args, **kwargs)
        except Exception:  # it fails for the program too, and there it is told
            return
        finally:
            self._local.finding = False

    @property
    def limit(self) -> int | None:
        return getattr(self._local, "limit", None)

    @limit.setter
    def limit(self, value: int | None) -> None:
        self._local.limit = value
        self._local.made = None

    def made_by(self, target: Any) -> int:
        """How many steps a call of the function makes: as its loops were traced since `limit` was set, or before; else 1."""
        traced = getattr(self._local, "made", None)
        if traced is not None:
            self._made[code_of(target)] = traced
        return self._made.get(code_of(target), 1)

    def _stack(self) -> list[_Loop]:
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        stack: list[_Loop] = self._local.stack
        return stack

    def _traced(self, body: Any, trace: Callable[[], Any]) -> Any:
        """Trace a loop and remember whether its body trains."""
        loop = _Loop()
        self._stack().append(loop)
        try:
            return trace()
        finally:
            self._stack().pop()
            if loop.trains and getattr(self._local, "finding", False):
                self._training[_key(body)] = loop.holds_loop

    def _most(self, body: Any, length: int | None) -> int | None:
        """How often a loop of `length` iterations (None: not known) may run; None for any number.

        One that holds another that trains runs once.
        """
        key = _key(body)
        if self.limit is None or key not in self._training:
            return None
        if self._training[key]:
            return 1
        self._local.made = max(1, min(self.limit, self.limit if length is None else length))
        return self.limit

    def _wrap_while(self, real: Any) -> Any:
        @functools.wraps(real)
        def loop(test: Any, body: Any, get: Any, put: Any, names: Any, opts: Any) -> Any:
            inner = _user_body(body)
            length, self._local.length = getattr(self._local, "length", None), None
            most = self._most(inner, length)
            if most is not None:
                opts = {**opts, "maximum_iterations": most}
            return self._traced(inner, lambda: real(test, body, get, put, names, opts))

        return loop

    def _wrap_range(self, real: Any) -> Any:
        @functools.wraps(real)
        def loop(iter_: Any, *rest: Any) -> Any:
            self._local.length = iter_.shape[0]  # the loop that follows is this one
            return real(iter_, *rest)

        return loop

    def _wrap_dataset(self, real: Any) -> Any:
        @functools.wraps(real)
        def loop(dataset: Any, extra_test: Any, body: Any, *rest: Any) -> Any:
            most = self._most(body, _length(dataset))
            if most is not None:
                dataset = dataset.take(most)
            return self._traced(body, lambda: real(dataset, extra_test, body, *rest))

        return loop


class _Loop:
    """A loop that is being traced."""

    __slots__ = ("holds_loop", "trains")

    def __init__(self) -> None:
        self.trains = False
        self.holds_loop = False


class _Shortened:
    """A call of a tf.function; `made` steps, once it has been called."""

    def __init__(self, loops: GraphLoops, target: Any, call: Callable[..., Any], left: int) -> None:
        self._loops, self._target, self._call, self._left = loops, target, call, left
        self.made = 1

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._loops.may_loop(self._target):
            return self._call(*args, **kwargs)
        self._loops.find(self._target, args, kwargs)
        self._loops.limit = self._left
        try:
            return self._call(*args, **kwargs)
        finally:
            self.made = self._loops.made_by(self._target)
            self._loops.limit = None


def _length(dataset: Any) -> int | None:
    count = importlib.import_module("tensorflow").get_static_value(dataset.cardinality())
    return int(count) if count is not None and count > 0 else None


def _key(body: Any) -> object:
    code = getattr(body, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else id(body)


def _user_body(body: Any) -> Any:
    """The loop body that AutoGraph made of the user's; a `for` wraps it in one of its own."""
    if getattr(body, "__module__", "") != _CONTROL_FLOW:
        return body
    cells = zip(body.__code__.co_freevars, body.__closure__ or ())
    return next((cell.cell_contents for name, cell in cells if name == "body"), body)


@functools.lru_cache(maxsize=256)
def _has_loop(function: Any) -> bool:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return False
    return any(isinstance(node, (ast.For, ast.While)) for node in ast.walk(tree))
