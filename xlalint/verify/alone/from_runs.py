"""Run something that calls the function in question, and keep what it is called with."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import redirect_stderr, redirect_stdout
from types import ModuleType
from typing import Any

from xlalint.verify import captures, steps
from xlalint.verify.alone import ways
from xlalint.verify.alone.seal import TooLongError, at_most
from xlalint.verify.capture import Captured
from xlalint.verify.jobs import Wanted
from xlalint.verify.program import Program, parameter_names
from xlalint.verify.targets import plain

_SECONDS = 60.0
# Of a program that trains, as many steps as give a call with other values.
_STEPS = 2


class NotRunError(Exception):
    """What was run does not call the function, or cannot be run; the message says which."""


def programs_of_owner(
    wanted: Wanted, module: ModuleType, converted: AbstractSet[tuple[str, int]], runs: Any
) -> Iterator[Program]:
    """A function that is defined in one that asks for nothing, with what that one calls it with: the step in `def main():`.

    Raises NotRunError.
    """
    outer, _, inner = wanted.qualname.partition(".<locals>")
    owner = ways.resolve(module, outer)
    if not inner or not inspect.isfunction(plain(owner)) or _asks(owner):
        raise NotRunError(f"is not defined in a function that can be called by itself: {outer}")
    yield from programs(wanted, converted, runs, f"a run of {outer}()", owner)


def _asks(function: Any) -> bool:
    """Whether a call needs arguments, or is one of a method."""
    if "." in plain(function).__qualname__:
        return True
    return any(
        one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        for one in inspect.signature(plain(function)).parameters.values()
    )


def programs(
    wanted: Wanted,
    converted: AbstractSet[tuple[str, int]],
    runs: Any,
    origin: str,
    run: Callable[[], Any],
) -> Iterator[Program]:
    """The function with the arguments that it is given while `run` runs, for a few steps if that trains. Raises NotRunError."""
    capture = steps.Capture(((wanted.path, wanted.line),))
    capture.start()
    limiter = steps.limit(_STEPS, lambda step: None)
    ended: Exception | None = None
    try:
        with at_most(_SECONDS), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            run()
    except steps.StepsDone:
        pass
    except TooLongError:
        ended = NotRunError(f"takes more than {_SECONDS:.0f} s")
    except SystemExit:
        ended = NotRunError("leaves the process")
    except NotRunError as error:
        ended = error
    except Exception as error:
        ended = NotRunError(f"cannot be run: {type(error).__name__}: {error}")
    finally:
        seen = capture.results()
        limiter.undo()
        capture.stop()
    own = [
        one for one in seen if (one.path, one.line) == (wanted.path, wanted.line) and one.examples
    ]
    if not own:
        raise ended or NotRunError("does not call it")
    around = captures.Circumstances(converted, None, runs)
    for one in own[:1]:
        program = _program(wanted, one, around, origin)
        if program is not None:
            yield program


def _program(
    wanted: Wanted, one: Captured, around: captures.Circumstances, origin: str
) -> Program | None:
    call = captures.callable_of(one, around)
    if call is None:
        return None
    if one.kind == "plain" and wanted.is_converted and call is one.function:
        call = captures.converted(call)  # the test called it eagerly
    return Program(
        id=origin,
        function=wanted.qualname,
        path=wanted.path,
        line=wanted.line,
        origin="alone",
        call=call,
        calls=captures.calls_of(one),
        parameters=parameter_names(one.function),
        is_differentiated=False,
        n_calls=one.calls,
        inputs=f"inputs from {origin}",
    )
