"""A program: a small call of a package's function with made-up inputs, which a compiler can judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """What a program compiles: `function(*inputs)`. `check_gradient` compiles the gradient by float inputs too.

    `check_shape` compiles it for another leading dimension. A program that replaces an operation, to let the compiler see
    what follows it, names in `not_judged` the codes of the findings that it says nothing of.
    """

    function: Callable[..., Any]
    inputs: Sequence[Any]
    check_gradient: bool = False
    check_shape: bool = True
    not_judged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """A named program. `make` imports the package and builds what is called, so that failing to build is a verdict."""

    name: str
    make: Callable[[], Call]


class Programs:
    """The programs of one package, in the order they are written.

    `package` is the folder that its findings' paths start with, such as `tensorflow_addons`.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self.all: list[Program] = []

    def __call__(self, name: str) -> Callable[[Callable[[], Call]], Callable[[], Call]]:
        """Decorate the function that makes the program called `name`."""

        def keep(make: Callable[[], Call]) -> Callable[[], Call]:
            self.all.append(Program(name, make))
            return make

        return keep
