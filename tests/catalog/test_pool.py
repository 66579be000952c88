"""A measuring process that dies or hangs costs one step, not the run."""

from __future__ import annotations

import sys
from textwrap import dedent

import pytest

from tools.catalog.pool import Child, MeasuringError, measure_one

# Speaks the protocol of tools.catalog.child without TensorFlow; the job's name says what its second step does.
STAND_IN = dedent(
    """
    import json, os, signal, sys, time
    def say(**message):
        print(json.dumps(message), flush=True)
    say(ready=True)
    for line in sys.stdin:
        job = json.loads(line)
        for step in ("first", "second", "third"):
            if step in job["deadly"]:
                continue
            say(start=step)
            if step == "second" and job["name"] == "killed":
                os.kill(os.getpid(), signal.SIGSEGV)
            if step == "second" and job["name"] == "hung":
                time.sleep(60)
            if step == "second" and job["name"] == "exits":
                sys.exit(3)
            say(done=step, result={"status": "compiles"})
        say(end=True)
    """
)


def steps_of(name: str) -> dict[str, str]:
    child = Child(command=(sys.executable, "-c", STAND_IN), step_limit=2.0)
    try:
        measured = measure_one(child, name)
        again = measure_one(child, "fine")
    finally:
        child.close()
    assert len(again) == 3
    return {step: str(result.get("signal", result["status"])) for step, result in measured.items()}


def test_all_is_well() -> None:
    assert steps_of("fine") == {"first": "compiles", "second": "compiles", "third": "compiles"}


def test_a_signal_is_a_result_and_the_other_steps_go_on() -> None:
    assert steps_of("killed") == {"first": "compiles", "second": "SIGSEGV", "third": "compiles"}


def test_an_exit_is_a_result() -> None:
    assert steps_of("exits") == {"first": "compiles", "second": "exit 3", "third": "compiles"}


def test_a_hang_is_a_result() -> None:
    assert steps_of("hung") == {"first": "compiles", "second": "TIMEOUT", "third": "compiles"}


def test_a_process_that_does_not_start_says_how_to_see_why() -> None:
    child = Child(command=(sys.executable, "-c", "raise SystemExit(1)"))
    with pytest.raises(MeasuringError, match="is TensorFlow installed in this environment"):
        measure_one(child, "fine")
    child.close()


def test_steps_of_an_earlier_run_are_kept() -> None:
    child = Child(command=(sys.executable, "-c", STAND_IN), step_limit=2.0)
    known = {"zeroth": {"status": "fails"}, "second": {"status": "crashes", "signal": "SIGSEGV"}}
    try:
        measured = measure_one(child, "killed", known)
    finally:
        child.close()

    assert measured == {
        **known,
        "first": {"status": "compiles"},
        "third": {"status": "compiles"},
    }
