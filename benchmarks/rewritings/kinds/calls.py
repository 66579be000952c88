"""The same calls, written otherwise: by place or by keyword, unpacked, through a partial, under another name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import libcst as cst

from benchmarks.rewritings.kinds import syntax
from xlalint.semantics.catalog import shipped
from xlalint.semantics.catalog.catalog import Catalog


def keyword_arguments(program: cst.Module) -> cst.Module:
    """Arguments of the program's functions and of TensorFlow's are given by keyword."""
    return program.visit(_Keywords(program))


def positional_arguments(program: cst.Module) -> cst.Module:
    """Keyword arguments that stand in the order of the parameters are given by place."""
    return program.visit(_Positional(program))


def unpacked_arguments(program: cst.Module) -> cst.Module:
    """The program's functions are called with `*[...]`."""
    return program.visit(_Unpacked(program))


def unpacked_keywords(program: cst.Module) -> cst.Module:
    """The program's functions are called with `**{...}`."""
    return program.visit(_UnpackedKeywords(program))


def partial_calls(program: cst.Module) -> cst.Module:
    """The program's functions get their first argument through functools.partial."""
    made = program.visit(_Partials(program))
    return made if made is program else syntax.with_imports(made, "import functools\n")


def other_spellings(program: cst.Module) -> cst.Module:
    """TensorFlow's functions are called under another of their public names."""
    return program.visit(_Spellings())


class _OwnCalls(cst.CSTTransformer):
    """Calls of the program's functions with arguments by place alone; `rewritten` says what becomes of them."""

    def __init__(self, program: cst.Module) -> None:
        self.parameters = {
            name: parameters
            for name, function in syntax.top_functions(program).items()
            if (parameters := syntax.parameters(function)) is not None
        }

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        parameters = self.known(updated_node)
        if parameters is None or not _are_plain(updated_node.args):
            return updated_node
        return self.rewritten(updated_node, parameters)

    def known(self, call: cst.Call) -> Sequence[str] | None:
        return self.parameters.get(syntax.dotted(call.func) or "")

    def rewritten(self, call: cst.Call, parameters: Sequence[str]) -> cst.BaseExpression:
        raise NotImplementedError


class _Keywords(_OwnCalls):
    def known(self, call: cst.Call) -> Sequence[str] | None:
        name = syntax.dotted(call.func) or ""
        return super().known(call) or _parameters_of_api(name)

    def rewritten(self, call: cst.Call, parameters: Sequence[str]) -> cst.BaseExpression:
        if len(call.args) > len(parameters):
            return call
        args = [
            arg if arg.keyword else _by_keyword(arg, name)
            for arg, name in zip(call.args, parameters)
        ]
        return call.with_changes(args=args)


class _Positional(_Keywords):
    def rewritten(self, call: cst.Call, parameters: Sequence[str]) -> cst.BaseExpression:
        args = [
            arg.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
            if arg.keyword and arg.keyword.value == name
            else arg
            for arg, name in zip(call.args, parameters)
        ]
        by_place = [arg.keyword is None for arg in args]
        if len(args) < len(call.args) or sorted(by_place, reverse=True) != by_place:
            return call
        return call.with_changes(args=args)


class _Unpacked(_OwnCalls):
    def rewritten(self, call: cst.Call, parameters: Sequence[str]) -> cst.BaseExpression:
        given = [cst.Element(arg.value) for arg in call.args if arg.keyword is None]
        others = [arg for arg in call.args if arg.keyword is not None]
        if not given:
            return call
        return call.with_changes(args=[cst.Arg(cst.List(given), star="*"), *others])


class _UnpackedKeywords(_OwnCalls):
    def rewritten(self, call: cst.Call, parameters: Sequence[str]) -> cst.BaseExpression:
        names = [
            arg.keyword.value if arg.keyword else name for arg, name in zip(call.args, parameters)
        ]
        if not names or len(names) < len(call.args):
            return call
        items = [
            cst.DictElement(cst.SimpleString(repr(name)), arg.value)
            for name, arg in zip(names, call.args)
        ]
        return call.with_changes(args=[cst.Arg(cst.Dict(items), star="**")])


class _Partials(_OwnCalls):
    def rewritten(self, call: cst.Call, parameters: Sequence[str]) -> cst.BaseExpression:
        if not call.args or call.args[0].keyword:
            return call
        first = call.args[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        bound = cst.Call(cst.parse_expression("functools.partial"), [cst.Arg(call.func), first])
        return call.with_changes(func=bound, args=call.args[1:])


class _Spellings(cst.CSTTransformer):
    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        other = _other_spelling(syntax.dotted(updated_node.func) or "")
        return (
            updated_node.with_changes(func=cst.parse_expression(other)) if other else updated_node
        )


def _are_plain(args: Sequence[cst.Arg]) -> bool:
    """Whether nothing is unpacked."""
    return all(not arg.star for arg in args)


def _by_keyword(arg: cst.Arg, name: str) -> cst.Arg:
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return arg.with_changes(keyword=cst.Name(name), equal=equal)


@cache
def _catalog() -> Catalog:
    return shipped.load(shipped.available()[-1])


@cache
def _parameters_of_api(name: str) -> tuple[str, ...] | None:
    api = _catalog().api(name) if name.startswith("tf.") else None
    if api is None or api.status == "not-compute" or {"args", "kwargs"} & set(api.params):
        return None
    return api.params or None


@cache
def _spellings() -> dict[str, tuple[str, ...]]:
    """Of each canonical name in tf.*, all its names there."""
    found: dict[str, list[str]] = {}
    for name in _catalog().spellings():
        canonical = _catalog().canonical(name)
        if canonical is not None and name.startswith("tf.") and ".keras." not in name:
            found.setdefault(canonical, []).append(name)
    return {canonical: tuple(names) for canonical, names in found.items()}


def _other_spelling(name: str) -> str | None:
    """The next of an API's names: `tf.math.reduce_sum` for `tf.reduce_sum`."""
    names = _spellings().get(_catalog().canonical(name) or "", ()) if name.startswith("tf.") else ()
    if name not in names or len(names) < 2:
        return None
    return names[(names.index(name) + 1) % len(names)]


REWRITINGS = (
    keyword_arguments,
    positional_arguments,
    unpacked_arguments,
    unpacked_keywords,
    partial_calls,
    other_spellings,
)
