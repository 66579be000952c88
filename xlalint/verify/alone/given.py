"""Inputs that the settings give: `dtype[shape]`, a plain Python value, `name=...`, or a function that makes them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from xlalint.verify import found
from xlalint.verify.alone import ways
from xlalint.verify.jobs import Wanted
from xlalint.verify.program import Call, Program, example, parameter_names


class SettingsError(Exception):
    """What the settings say cannot be used; the message says why."""


def from_settings(wanted: Wanted, module: ModuleType) -> Program:
    """The function with the inputs of the settings. Raises SettingsError."""
    outer = wanted.qualname.partition(".<locals>")[0]
    calls = [_call(wanted.inputs, seed) for seed in (1, 2)]
    made_with = _call(wanted.constructor, 1) if wanted.constructor else Call(())
    target = _target(wanted, module, outer, made_with)
    return Program(
        id=wanted.identity,
        function=wanted.qualname,
        path=wanted.path,
        line=wanted.line,
        origin="alone",
        call=target,
        calls=tuple(calls),
        parameters=parameter_names(target),
        is_differentiated=False,
        inputs=f"inputs from the settings: {', '.join(wanted.inputs)}",
    )


def _target(wanted: Wanted, module: ModuleType, outer: str, made_with: Call) -> Any:
    owner_name, _, method = outer.rpartition(".")
    try:
        owner = ways.resolve(module, owner_name) if owner_name else None
        if owner is None:
            return ways.as_traced(ways.resolve(module, outer), wanted.is_converted)
        made = owner(*made_with.args, **made_with.kwargs)
        if ways.kind_of(owner) and method == "call":
            return ways.as_keras(made)
        return ways.as_traced(getattr(made, method), wanted.is_converted)
    except Exception as error:
        raise SettingsError(f"{outer}: {type(error).__name__}: {error}") from error


def _call(inputs: Sequence[str], seed: int) -> Call:
    try:
        if len(inputs) == 1 and ":" in inputs[0] and "[" not in inputs[0]:
            return found.made_by(inputs[0])
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for text in inputs:
            name, equals, rest = text.partition("=")
            if equals and name.strip().isidentifier():
                kwargs[name.strip()] = _value(rest.strip(), seed)
            else:
                args.append(_value(text, seed))
    except found.EntryError as error:
        raise SettingsError(str(error)) from error
    return Call(tuple(args), kwargs)


def _value(text: str, seed: int) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return example(found.spec(text), seed)
