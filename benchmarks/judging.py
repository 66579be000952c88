"""Generated programs: what XLA makes of each, run in child processes, and in which check finds an error."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Timer

from xlalint import engine
from xlalint.finding import Severity
from xlalint.project import settings

AGREES, EAGER = "agrees", "cannot be run"
# Seconds after which a program that says nothing is taken for one that never ends.
_PATIENCE = 60
_NAME = re.compile(r"def f(\d+)\(")
_CAUSE = re.compile(r"[A-Za-z]*Error: .*|.*(?:must be|not supported|No registered).*")

# A program, and the inputs that it is called with, one after the other.
Program = Callable[..., object]
Inputs = Sequence[tuple[object, ...]]


# In the child


def judge_all(folder: Path, first: int, inputs: Inputs, *, partly: bool = False) -> None:
    """Run the programs `f0`, `f1`, ... of `programs.py` in a folder from this one on, a line of JSON for each on standard output.

    `partly`: a program counts that runs with some of the inputs alone.
    """
    sys.path.insert(0, str(folder))
    programs = importlib.import_module("programs")
    for number in range(first, programs.COUNT):
        print(json.dumps({"begin": number}), flush=True)
        verdict = judge(getattr(programs, f"f{number}"), inputs, partly=partly)
        print(json.dumps({"program": number, "verdict": verdict}), flush=True)


def judge(function: Program, inputs: Inputs, *, partly: bool) -> str:
    """`agrees`, `cannot be run`, or what goes wrong first."""
    import tensorflow as tf

    verdict = EAGER
    for given in inputs:
        tf.config.run_functions_eagerly(True)
        try:
            wanted = _parts(function(*given))
        except Exception:
            if partly:
                continue
            return EAGER
        finally:
            tf.config.run_functions_eagerly(False)
        verdict = AGREES
        try:
            got = _parts(function(*given))
        except Exception as error:
            return f"fails: {_cause(error)}"
        wrong = _difference(wanted, got)
        if wrong is not None:
            return f"differs: {wrong}"
    return verdict


def _cause(error: Exception) -> str:
    """The line of a message that says why; AutoGraph's begin with where."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    found = [line.strip() for line in lines if _CAUSE.match(line.strip())]
    return (found[-1] if lines[0].startswith("in user code") and found else lines[0])[:160]


def _parts(result: object) -> list[object]:
    import numpy as np
    import tensorflow as tf

    parts = tf.nest.flatten(result)
    return [part if part is None or isinstance(part, str) else np.asarray(part) for part in parts]


def _difference(wanted: list[object], got: list[object]) -> str | None:
    import numpy as np

    if len(wanted) != len(got):
        return f"{len(got)} results, not {len(wanted)}"
    for one, other in zip(wanted, got, strict=True):
        if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
            if one is not other and one != other:
                return "another object"
        elif one.shape != other.shape:
            return f"shape {other.shape}, not {one.shape}"
        elif not np.allclose(one.astype(float), other.astype(float), 1e-3, 1e-4, equal_nan=True):
            return "other numbers"
    return None


# In the parent


def verdicts(count: int, command: Sequence[str]) -> dict[int, str]:
    """What becomes of each program. `command` runs `judge_all`, and takes the number to begin with as its last argument; a new child takes
    over where one dies or hangs.
    """
    found: dict[int, str] = {}
    first = 0
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    while first < count:
        child = subprocess.Popen(
            [*command, str(first)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )
        begun, died = _follow(child, found)
        if begun is None:
            if len(found) < count:
                raise RuntimeError(f"the child did nothing (exit status {child.returncode})")
            break
        found[begun] = died
        first = begun + 1
    return found


def _follow(child: subprocess.Popen[str], found: dict[int, str]) -> tuple[int | None, str]:
    """Take down what a child says; the program that it did not come back from, and how."""
    assert child.stdout is not None
    begun: int | None = None
    watch = Timer(_PATIENCE, child.kill)
    watch.start()
    for line in child.stdout:
        watch.cancel()
        watch = Timer(_PATIENCE, child.kill)
        watch.start()
        record = json.loads(line) if line.startswith("{") else {}
        begun = record.get("begin", begun)
        if "verdict" in record:
            found[record["program"]] = record["verdict"]
            begun = None
            if len(found) % 50 == 0:
                print(f"{len(found)} programs run", file=sys.stderr)
    watch.cancel()
    status = child.wait()
    return begun, "never ends" if status == -9 else f"kills the process (exit status {status})"


def with_errors(file: Path) -> set[int]:
    """The programs of a file in which check finds an error for a CPU; of functions before the first, nothing is said."""
    lines = file.read_text(encoding="utf-8").splitlines()
    starts: dict[int, int] = {}
    for place, line in enumerate(lines, 1):
        found = _NAME.match(line)
        if found is not None:
            starts[place] = int(found.group(1))
    result = engine.check([str(file)], settings.load([str(file)], {"target": "cpu"}))
    errors = [f.span.line for f in result.findings if f.severity is Severity.ERROR]
    return {starts[max(s for s in starts if s <= line)] for line in errors if line >= min(starts)}
