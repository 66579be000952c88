"""Ask XLA: lower a concrete function, run it compiled, and wait no longer than a user would."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from xlalint.verify.stages.tensors import Result, on_host

# Compilations that take longer are not waited for: the other targets come first.
LONGEST = 120.0


class TooLongError(Exception):
    """A compilation took longer than LONGEST; it goes on in the background and nobody waits for it."""

    def __init__(self) -> None:
        super().__init__(f"compiling takes more than {LONGEST:.0f} s: not waited for")


def lowered(concrete: Any, flat: Sequence[Any]) -> str:
    """HLO text of a concrete function for TensorSpecs (no value is known: not of arguments, not of variables, not of captured
    tensors) or for tensors (values, those of variables too, are baked in where XLA asks for them)."""
    from tensorflow.python.eager.polymorphic_function import compiler_ir

    text: str = in_time(lambda: compiler_ir.from_concrete_function(concrete, list(flat))("hlo"))
    return text


def run(concrete: Any, tensors: Sequence[Any]) -> Result:
    """Compile `concrete`, unless it was, and run it."""
    result: Result = in_time(lambda: on_host(concrete(*tensors)))
    return result


def in_time(work: Callable[[], Any]) -> Any:
    """What `work` returns or raises. Raises TooLongError.

    No thread can be stopped, and so one that takes too long is left behind; the process ends without waiting for it.
    """
    outcome: list[Any] = []

    def do() -> None:
        try:
            outcome.extend((True, work()))
        except BaseException as error:
            outcome.extend((False, error))

    thread = threading.Thread(target=do, name="xlalint-compile", daemon=True)
    thread.start()
    thread.join(LONGEST)
    if thread.is_alive():
        raise TooLongError
    has_worked, result = outcome
    if not has_worked:
        raise result
    return result
