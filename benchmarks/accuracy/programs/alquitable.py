"""Calls of alquitable 0.0.4 (Keras 3)."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import keras
from program import Call, Programs

from programs.made import floats

programs = Programs("alquitable")
SHAPES = ((4, 5), (4, 5, 1), (2, 6, 6, 1))


def settings() -> Iterator[tuple[str, dict[str, Any]]]:
    """The loss that a loss is told to weigh: none, by its name, as an object."""
    yield "", {}
    yield "mse", {"loss_to_use": "mse"}
    yield "obj", {"loss_to_use": keras.losses.MeanSquaredError()}


def add(name: str, loss: type, given: dict[str, Any], shape: tuple[int, ...]) -> None:
    def build() -> Call:
        made = loss(**given)
        return Call(lambda y, p: made(y, p), [floats(*shape) + 0.1, floats(*shape) + 0.1], True)

    programs(name)(build)


for module in ("losses", "advanced_losses"):
    home = importlib.import_module(f"alquitable.{module}")
    for name, loss in sorted(vars(home).items()):
        if inspect.isclass(loss) and loss.__module__ == home.__name__:
            for word, given in settings():
                for shape in SHAPES:
                    add(f"{name}{word}{len(shape)}", loss, given, shape)
