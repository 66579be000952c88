"""A function that kills, stops or leaves the process that compiles it is a result; the functions after it are still compiled."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from cli_support import RunXlalint, WriteFiles

pytestmark = pytest.mark.compiler

LIBRARY = """\
import ctypes, os, sys
import tensorflow as tf


def signed(function):
    return tf.function(function, input_signature=[tf.TensorSpec([2], tf.float32)])


@signed
def first(x):
    return x + 1.0


@signed
def aborts(x):
    os.abort()  # aborts
    return x


@signed
def leaves(x):
    os._exit(0)
    return x


@signed
def exits(x):
    sys.exit(3)
    return x


@signed
def breaks_builtins(x):
    import builtins
    builtins.len = None
    return x * 3.0


@signed
def after_that(x):
    return x * 4.0


@signed
def crashes(x):
    ctypes.string_at(0)  # crashes
    return x


@signed
def last(x):
    return x * 2.0
"""
EAGER_PROGRAM = """\
import tensorflow as tf

tf.config.run_functions_eagerly(True)
tf.config.threading.set_inter_op_parallelism_threads(1)


@tf.function(jit_compile=True)
def double(x):
    return x * 2.0


double(tf.ones([3]))
"""


def line_of(part: str) -> int:
    (line,) = [number for number, text in enumerate(LIBRARY.splitlines(), 1) if part in text]
    return line


@pytest.fixture
def verify(write: WriteFiles, xlalint: RunXlalint) -> Any:
    def run(files: dict[str, str], *arguments: str) -> tuple[int, dict[str, Any]]:
        write(files)
        ran = xlalint("verify", "--format", "json", *arguments)
        assert ran.out.startswith("{"), ran.err
        return ran.status, json.loads(ran.out)

    return run


def test_functions_that_end_their_process_are_results_and_the_others_are_compiled(
    verify: Any,
) -> None:
    status, report = verify({"library.py": LIBRARY}, ".")
    found = {one["function"]: one for one in report["targets"]}
    assert status == 1
    assert found.pop("breaks_builtins")["status"] != "ok"  # it breaks TensorFlow too
    assert {name: one["status"] for name, one in found.items()} == {
        "first": "ok",
        "aborts": "failed",
        "leaves": "failed",
        "exits": "failed",
        "after_that": "ok",
        "crashes": "failed",
        "last": "ok",
    }
    told = {name: (one["failures"] or [{}])[-1] for name, one in found.items()}
    assert told["aborts"]["message"] == "the process was killed by SIGABRT in stage eager"
    assert told["aborts"]["line"] == line_of("# aborts")
    assert told["crashes"]["message"] == "the process was killed by SIGSEGV in stage eager"
    assert told["crashes"]["line"] == line_of("# crashes")
    assert told["leaves"]["message"].startswith("the process left on its own")
    assert told["exits"]["message"].startswith("the process exited with code 3")
    assert report["broken"] == []


def test_a_program_that_runs_all_eagerly_still_has_its_functions_compiled(verify: Any) -> None:
    status, report = verify(
        {"train.py": EAGER_PROGRAM}, "--strategy", "none", "--", sys.executable, "train.py"
    )
    assert report["training"][0]["status"] == "ended", report
    assert status == 0


def test_a_function_that_never_ends_is_named_when_its_time_is_over(verify: Any) -> None:
    source = (
        "import tensorflow as tf\n\n\n@tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])\n"
        "def waits(x):\n    while True:\n        pass\n"
    )
    status, report = verify({"library.py": source}, "--timeout", "25", ".")
    (target,) = report["targets"]
    assert (status, target["status"]) == (1, "failed")
    assert "was stopped after" in target["failures"][-1]["message"]
    assert target["failures"][-1]["line"] in (6, 7)
