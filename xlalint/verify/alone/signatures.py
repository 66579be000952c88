"""The parameters of a function or constructor, with what is known of each."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from xlalint.verify.alone.guesses import Parameter
from xlalint.verify.alone.usage import Usage, class_usages, usages
from xlalint.verify.targets import plain

_BY_NAME = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def parameters_of(
    function: Any, is_method: bool, beliefs: Mapping[str, Mapping[str, Any]] | None = None
) -> list[Parameter]:
    """In order, without `self` and without `*args`, `**kwargs`. Raises TypeError or ValueError where Python cannot tell."""
    function = plain(function)
    listed = list(_signature(function).parameters.values())
    seen = usages(function)
    return [
        _parameter(one, seen.get(one.name, Usage()), (beliefs or {}).get(one.name, {}))
        for one in listed[1 if is_method else 0 :]
        if one.kind in _BY_NAME
    ]


def settings_of(cls: type) -> list[Parameter]:
    """The parameters of a class's constructor, each with what its methods do with the attribute of the same name."""
    of_class = class_usages(cls)
    made = []
    for one in parameters_of(constructor_of(cls), is_method=True):
        usage = of_class.get(f"self.{one.name}") or of_class.get(f"self._{one.name}")
        if usage is not None:
            one.usage.literals.extend(x for x in usage.literals if x not in one.usage.literals)
            one.usage.types |= usage.types
            one.usage.attributes |= usage.attributes
            one.usage.is_called |= usage.is_called
        made.append(
            Parameter(one.name, one.annotation, one.default, one.has_default, one.usage, {}, True)
        )
    return made


def constructor_of(cls: type) -> Any:
    """`cls.__init__`, which a type checker finds unsound."""
    return getattr(cls, "__init__")  # noqa: B009


def names_by_position(function: Any, is_method: bool) -> set[str]:
    """Parameters that must be given by position."""
    listed = list(_signature(plain(function)).parameters.values())[1 if is_method else 0 :]
    return {one.name for one in listed if one.kind is one.POSITIONAL_ONLY}


def _signature(function: Any) -> inspect.Signature:
    try:
        return inspect.signature(function, eval_str=True)
    except Exception:  # an annotation that cannot be evaluated here stays text
        return inspect.signature(function)


def _parameter(one: inspect.Parameter, usage: Usage, belief: Mapping[str, Any]) -> Parameter:
    has_default = one.default is not one.empty
    annotation = None if one.annotation is one.empty else one.annotation
    return Parameter(
        one.name, annotation, one.default if has_default else None, has_default, usage, belief
    )
