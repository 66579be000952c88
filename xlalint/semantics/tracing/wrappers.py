"""Wrappers: what a project's own decorators put around a function runs with it, wherever it is called.

The function itself is run as ever, with what its caller gives it; the wrapper then runs with the same arguments, and gets
what that run returned where it calls the function.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics import calls
from xlalint.semantics.arguments import Arguments
from xlalint.semantics.facts import EAGER, Context
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.tracing.traits import decorator_name
from xlalint.semantics.values import FUNCTION, NOTHING_KNOWN, PARTIAL, UNKNOWN, Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis


class Wrappers:
    """Runs the wrappers of decorated functions."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        # What the functions return whose wrappers are being run.
        self.results: dict[FunctionInfo, Value] = {}
        # Large libraries write the docstrings of a thousand functions so: these need no run.
        self._marking: dict[FunctionInfo, bool] = {}
        self._makers_of_marks: dict[FunctionInfo, bool] = {}

    def run(
        self,
        info: FunctionInfo,
        result: Value,
        arguments: Arguments,
        self_value: Value | None,
        frame: Frame,
        *,
        traced: bool,
    ) -> Value:
        """What a call of a decorated function returns, of which the function itself returns `result`.

        `frame` is the caller's; `traced` where tf.function compiles the call, with the decorators that stand below it.
        """
        for decorator in reversed(self._decorators(info, traced)):
            wrapper = self._wrapper(decorator, info)
            if wrapper is None:
                continue
            positional = list(arguments.positional)
            if info.cls is not None and not self._analysis.traits(info).is_static:
                if self_value is None:
                    return result
                positional.insert(0, self_value)
            returned = self._call(info, wrapper, result, positional, arguments, frame)
            if returned.kind is not UNKNOWN:
                result = returned
        return result

    def _call(
        self,
        info: FunctionInfo,
        wrapper: Value,
        result: Value,
        positional: list[Value],
        arguments: Arguments,
        frame: Frame,
    ) -> Value:
        functions = self._analysis.functions
        function, _ = calls.unbound(wrapper)
        functions.forget_results(function)  # they are of another function that it was put around
        self.results[info] = result
        try:
            return functions.invoke(
                function, positional, arguments.keywords, None, frame,
                open_ended=arguments.open_ended, closure=wrapper.closure,
            )  # fmt: skip
        finally:
            del self.results[info]

    def _decorators(self, info: FunctionInfo, traced: bool) -> list[ast.expr]:
        """The decorators of a function that run with it where it is compiled."""
        found = info.decorators
        if not traced:
            return found
        home = self._home(info)
        names = [decorator_name(decorator, home) for decorator in found]
        return found[names.index("tf.function") + 1 :] if "tf.function" in names else []

    def _home(self, info: FunctionInfo) -> Frame:
        return self._analysis.modules.closures.home(info)

    def _wrapper(self, decorator: ast.expr, info: FunctionInfo) -> Value | None:
        """The function that a decorator of the project returns in place of the one it is given; None where it is none."""
        home = self._home(info)
        if isinstance(decorator, ast.Call):
            maker = self._analysis.evaluate(decorator.func, home)
            if maker.kind is FUNCTION and self._makes_marks(calls.unbound(maker)[0]):
                return None
            made = self._made(maker, calls.evaluate_arguments(decorator, home))
        else:
            made = self._analysis.evaluate(decorator, home)
        if made.kind is FUNCTION and self._marks(calls.unbound(made)[0]):
            return None
        value = self._made(made, Arguments((Value(FUNCTION, ref=info),), {}, False))
        if value.kind is not FUNCTION:
            return None
        wrapper, bound = calls.unbound(value)
        if wrapper is info or bound is not None or wrapper.is_generator:
            return None
        return value

    def _makes_marks(self, maker: FunctionInfo) -> bool:
        """Whether all that a maker of decorators returns are functions that only mark what they are given."""
        known = self._makers_of_marks.get(maker)
        if known is None:
            named = [v.id if isinstance(v, ast.Name) else "" for v in _returned(maker)]
            made = [maker.nested.get(name) for name in named]
            known = bool(made) and all(
                one is not None and not one.decorators and self._marks(one) for one in made
            )
            self._makers_of_marks[maker] = known
        return known

    def _marks(self, decorator: FunctionInfo) -> bool:
        """Whether a decorator hands back the very function that it is given, having written its docstring or registered it."""
        known = self._marking.get(decorator)
        if known is None:
            given = decorator.parameter_names - _assigned(decorator)
            returned = _returned(decorator)
            known = bool(returned) and all(
                isinstance(value, ast.Name) and value.id in given for value in returned
            )
            self._marking[decorator] = known
        return known

    def _made(self, maker: Value, arguments: Arguments) -> Value:
        """What a decorator returns, run anew so that what it defines closes over what it was given here."""
        if maker.kind is PARTIAL:
            maker, first, keywords = maker.ref
            arguments = Arguments(
                (*first, *arguments.positional),
                {**dict(keywords), **arguments.keywords},
                arguments.open_ended,
            )
        if maker.kind is not FUNCTION:
            return NOTHING_KNOWN
        info, bound = calls.unbound(maker)
        functions = self._analysis.functions
        is_host = self._analysis.compiling_call(info) is not None
        if is_host or info.is_generator or info in functions.running:
            return NOTHING_KNOWN
        context = Context(EAGER, False, False, (info.qualname,))
        frame = functions.frame_of(info, context, bound, 0)
        frame.silent = True
        positional, keywords = list(arguments.positional), arguments.keywords
        functions.bind_parameters(info, positional, keywords, bound, frame, arguments.open_ended)
        functions.running.append(info)
        try:
            return functions.run_body(info, frame)
        finally:
            functions.running.pop()


def _returned(info: FunctionInfo) -> list[ast.expr | None]:
    """What the `return` statements of a function return."""
    nodes = nodes_of(info.body, into_functions=False)
    return [node.value for node in nodes if isinstance(node, ast.Return)]


def _assigned(info: FunctionInfo) -> set[str]:
    """The names that a function binds to something else."""
    return {
        node.id
        for node in nodes_of(info.body)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }


def arguments_of(info: FunctionInfo, frame: Frame) -> Arguments:
    """What a function's parameters hold, as a caller would pass it."""
    signature = info.node.args
    names = [a.arg for a in (*signature.posonlyargs, *signature.args)]
    if names and names[0] == frame.self_name:
        names = names[1:]
    given = tuple(frame.names.get(name, NOTHING_KNOWN) for name in names)
    keywords = {a.arg: frame.names.get(a.arg, NOTHING_KNOWN) for a in signature.kwonlyargs}
    return Arguments(given, keywords, False)
