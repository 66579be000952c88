"""Programs to verify that need no script: tf.functions with an input_signature, and the entry that the settings name."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import tensorflow as tf

from xlalint.verify import eagerly
from xlalint.verify.program import Call, Program, example, parameter_names, static
from xlalint.verify.sites import real_path
from xlalint.verify.targets import code_of, name_of

# What stands for an unknown dimension: small, and unlike each other, so that a mix-up shows.
_LEADING, _OTHER = 4, 8
_SHAPED = re.compile(r"^\s*([a-z]+\d*)\s*\[\s*([\d\s,]*)\]\s*$")

_SIGNATURE = "input_signature"


class EntryError(Exception):
    """The settings' entry or inputs cannot be used; the message says why and what would do."""


@dataclass(frozen=True, slots=True)
class Training:
    """An entry that takes no arguments: it is run for some steps, like a script."""

    run: Callable[[], None]


def in_module(
    module: ModuleType,
    path: str,
    begin: Callable[[str, str, str, int, str], None] = lambda *of_program: None,
    skip: Collection[str] = (),
) -> Iterator[Program]:
    """The tf.functions of a module that say what they take, but for the ids in `skip`.

    `begin` hears (id, function, path, line, origin) before a function is called to find sizes with which it runs, as that may
    be the end of this process.
    """
    function_class = type(tf.function(lambda: None))
    for name, value in vars(module).items():
        if isinstance(value, function_class) and value.input_signature is not None:
            code = code_of(value)
            identity = f"{module.__name__}:{name}"
            if code is None or real_path(code.co_filename) != real_path(path) or identity in skip:
                continue
            begin(identity, name_of(value), path, code.co_firstlineno, _SIGNATURE)
            yield _program(identity, value, value.input_signature)


def entry(name: str, inputs: Sequence[str]) -> Program | Training:
    """The settings' entry `package.module:function`, with inputs as `float32[8,16]` each or one function that makes them.

    Raises EntryError.
    """
    target = _attribute(name)
    if inspect.isclass(target):
        target = _instance(target, name)
    if not callable(target):
        raise EntryError(f"entry {name} is not a function")
    if inputs:
        return _with_calls(name, target, _calls(inputs), "entry")
    signature = getattr(target, "input_signature", None)
    if signature is not None:
        return _program(name, target, signature, "entry")
    required = _required(target)
    if required:
        raise EntryError(
            f"entry {name} takes {', '.join(required)}: give `inputs` in [tool.xlalint.verify], one `dtype[shape]` such as "
            f'"float32[8,16]" per argument, or "package.module:function" that returns them'
        )
    return Training(target)


def _program(name: str, function: Any, signature: Any, origin: str = _SIGNATURE) -> Program:
    has_unknown = any(
        not spec.shape.is_fully_defined() for spec in tf.nest.flatten(tuple(signature))
    )
    leading, other = _sizes(function, tuple(signature)) if has_unknown else (_LEADING, _OTHER)
    specs = static(tuple(signature), leading, other)
    notes = (f"unknown dimensions taken as {leading} (first) and {other}",) if has_unknown else ()
    calls = [Call(example(specs, 1)), Call(example(specs, 2))]
    return replace(_with_calls(name, function, calls, origin, notes), has_made_inputs=True)


def _sizes(function: Any, signature: Any) -> tuple[int, int]:
    """Sizes for unknown dimensions with which the function runs eagerly: some dimensions must be equal."""
    for leading, other in ((_LEADING, _OTHER), (_LEADING, _LEADING), (1, _OTHER)):
        try:
            with eagerly.everything():
                function(*example(static(signature, leading, other), 1))
        except Exception:
            continue
        return leading, other
    return _LEADING, _OTHER


def _with_calls(
    name: str, function: Any, calls: Sequence[Call], origin: str, notes: tuple[str, ...] = ()
) -> Program:
    code = code_of(function)
    return Program(
        id=name,
        function=name_of(function),
        path=real_path(code.co_filename) if code else "",
        line=code.co_firstlineno if code else 0,
        origin=origin,
        call=function,
        calls=tuple(calls),
        parameters=parameter_names(function),
        notes=notes,
    )


def _calls(inputs: Sequence[str]) -> list[Call]:
    if len(inputs) == 1 and ":" in inputs[0]:
        return [made_by(inputs[0]), made_by(inputs[0])]
    specs = tuple(spec(text) for text in inputs)
    return [Call(example(specs, 1)), Call(example(specs, 2))]


def made_by(name: str) -> Call:
    made = _attribute(name)()
    if isinstance(made, dict):
        return Call((), made)
    return Call(tuple(made) if isinstance(made, (tuple, list)) else (made,))


def spec(text: str) -> Any:
    match = _SHAPED.match(text)
    if match is None:
        raise EntryError(f"input {text!r} is not `dtype[shape]`, such as float32[8,16] or int32[]")
    try:
        dtype = tf.as_dtype(match[1])
    except TypeError as error:
        raise EntryError(f"input {text!r}: TensorFlow has no dtype {match[1]}") from error
    return tf.TensorSpec([int(size) for size in match[2].split(",") if size.strip()], dtype)


def _attribute(name: str) -> Any:
    module_name, _, path = name.partition(":")
    if not path:
        raise EntryError(f"{name} is not `package.module:function`")
    try:
        value: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise EntryError(f"{name}: {error}") from error
    for part in path.split("."):
        if not hasattr(value, part):
            raise EntryError(f"{name}: {module_name} has no {path}")
        value = getattr(value, part)
    return value


def _instance(cls: Any, name: str) -> Any:
    try:
        return cls()
    except TypeError as error:
        raise EntryError(
            f"entry {name} is a class that cannot be made without arguments: {error}"
        ) from error


def _required(function: Any) -> list[str]:
    try:
        parameters = inspect.signature(
            getattr(function, "python_function", function)
        ).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind
        in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
