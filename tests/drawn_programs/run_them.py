"""Runs programs eagerly and compiles them with XLA: `python run_them.py PROGRAMS ANSWERS` writes a line of JSON for each that both can be asked of.

A program that kills the process, or does not end, costs its own answer: the rest go on in another one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from typing import Any

# After so long, a program has its process killed.
_SECONDS = 30


def main() -> int:
    """Write `[position, why it fails or null]` for each program; exit status 1 when TensorFlow does not start."""
    with open(sys.argv[1], encoding="utf-8") as file:
        values, specs, programs = json.load(file)
    start = 0
    while start < len(programs):
        child = os.fork()
        if child == 0:
            _run(values, specs, programs, start)
            os._exit(0)
        os.waitpid(child, 0)
        with open(sys.argv[2], encoding="utf-8") as file:
            reached = [json.loads(line) for line in file]
        if not reached or reached[-1][0] < start:
            print("TensorFlow ended before the first program", file=sys.stderr)
            return 1
        start = reached[-1][0] + 1
    return 0


def _run(values: list[str], specs: str, programs: list[str], start: int) -> None:
    import tensorflow as tf  # in the child: a fork of a process with threads hangs

    inputs = [eval(value, {"tf": tf}) for value in values]
    signature = eval(specs, {"tf": tf})
    with open(sys.argv[2], "a", encoding="utf-8", buffering=1) as file:
        for position in range(start, len(programs)):
            print(json.dumps([position, "begins"]), file=file)
            signal.alarm(_SECONDS)
            answer = _answer(_made(programs[position], tf), inputs, signature, tf)
            signal.alarm(0)
            if answer != "does not run":
                print(json.dumps([position, answer]), file=file)


def _made(program: str, tf: Any) -> Any:
    """The function that a program defines, from a file: AutoGraph reads its source."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(program)
    names: dict[str, Any] = {"tf": tf}
    exec(compile(program, file.name, "exec"), names)
    return next(each for name, each in names.items() if name.startswith("program_"))


def _answer(function: Any, inputs: list[Any], signature: list[Any], tf: Any) -> str | None:
    """Why a program fails under XLA, by these values or by what is said of the inputs alone. None when it does not."""

    def results(run: Callable[..., Any]) -> list[Any]:
        return [tf.convert_to_tensor(each).numpy() for each in tf.nest.flatten(run(*inputs))]

    try:
        eager = results(function.python_function)
        # With what a graph refuses, XLA or not, and with random numbers there is nothing to compare.
        again = [tf.function(function.python_function), *[function.python_function] * 3]
        if not all(_agree(eager, results(each)) for each in again):
            return "does not run"
    except Exception:
        return "does not run"
    try:
        compiled = results(function)
        function.experimental_get_compiler_ir(*signature)(stage="optimized_hlo")
    except Exception as error:
        return str(error)[:300] or type(error).__name__
    return None if _agree(eager, compiled) else "another result"


def _agree(one: list[Any], other: list[Any]) -> bool:
    import numpy as np

    return len(one) == len(other) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-2, atol=1e-3, equal_nan=True)
        for a, b in zip(one, other)
    )


if __name__ == "__main__":
    sys.exit(main())
