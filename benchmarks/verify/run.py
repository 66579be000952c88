"""What `xlalint verify` costs beside the program itself and the compilations that are asked for.

    python benchmarks/verify/run.py [--steps 5] [--runs 1] [PROGRAM ...]

For each program, CPU-seconds (user and system time, children included):

alone     the program by itself for as many steps, TensorFlow's import included
stages    taking its functions through the stages: tracing, lowering, compiling, running, gradients, comparisons
verify    all of `xlalint verify --strategy none`
beyond    what verify costs beyond the two, in seconds and as a share of them
second    what the run under a second strategy adds (default options)

and the seconds that pass on the clock, with one child at a time and with as many as there are cores. Wall times depend on
what else the machine does; CPU times less so.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from xlalint import engine
from xlalint.isolation import sandbox
from xlalint.project.settings import load
from xlalint.pytest_plugin.units import standing_in
from xlalint.verify import plan, run, verification

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAMS = (
    CHECKOUT / "fixtures" / "projects" / "quickstart" / "train.py",
    CHECKOUT / "benchmarks" / "verify" / "programs" / "images.py",
    CHECKOUT / "benchmarks" / "verify" / "programs" / "loop.py",
)


@dataclass(frozen=True)
class Cost:
    """CPU-seconds and seconds on the clock."""

    cpu: float
    wall: float


@dataclass(frozen=True)
class Verified:
    cost: Cost
    stages: float
    children: int
    peak_mb: int


def main() -> None:
    arguments = _arguments()
    print(f"{'program':<24}{'alone':>7}{'stages':>8}{'verify':>8}{'beyond':>8}{'':>6}", end="")
    print(f"{'second':>8}{'wall 1':>8}{'wall n':>8}{'MiB':>7}")
    for program in map(Path.resolve, arguments.programs or PROGRAMS):
        rows = [_measure(program, arguments.steps) for _ in range(arguments.runs)]
        alone, stages, single, second, one, many, peak = map(
            statistics.median, zip(*rows, strict=True)
        )
        base = alone + stages
        name = f"{program.parent.name}/{program.name}"
        print(f"{name:<24}{alone:>7.1f}{stages:>8.1f}{single:>8.1f}{single - base:>8.1f}", end="")
        print(
            f"{(single - base) / base:>6.0%}{second:>8.1f}{one:>8.1f}{many:>8.1f}{peak:>7.0f}",
            flush=True,
        )


def _measure(program: Path, steps: int) -> tuple[float, ...]:
    alone = _alone(program, steps)
    single = _verify(program, steps, "none", 1)
    both = _verify(program, steps, None, 1)
    parallel = _verify(program, steps, None, os.cpu_count() or 1)
    return (
        alone.cpu,
        single.stages,
        single.cost.cpu,
        both.cost.cpu - single.cost.cpu if both.children > 1 else 0.0,
        both.cost.wall,
        parallel.cost.wall,
        float(both.peak_mb),
    )


def _alone(program: Path, steps: int) -> Cost:
    script = str(Path(__file__).with_name("alone.py"))
    return _cost(
        lambda: subprocess.run(
            [sys.executable, script, str(steps), str(program)],
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    )


def _verify(program: Path, steps: int, strategy: str | None, workers: int) -> Verified:
    outcomes: list[sandbox.Outcome] = []
    real = run.sandbox.run

    def recorded(*args: Any, **kwargs: Any) -> sandbox.Outcome:
        outcomes.append(real(*args, **kwargs))
        return outcomes[-1]

    request = verification.Request(
        paths=(),
        command=(sys.executable, str(program)),
        folder=program.parent,
        options=plan.Options(steps, strategy),
        limits=verification.limits(),
        workers=workers,
    )
    run.sandbox.run = recorded
    try:
        with standing_in(program.parent):
            cost = _cost(
                lambda: verification.verify(
                    request,
                    load([str(program)]),
                    lambda paths, settings: engine.check(paths, settings),
                    lambda text, child="", /: None,
                )
            )
    finally:
        run.sandbox.run = real
    stages = sum(_between(outcome, "targets") for outcome in outcomes)
    return Verified(cost, stages, len(outcomes), max(outcome.peak_mb for outcome in outcomes))


def _between(outcome: sandbox.Outcome, phase: str) -> float:
    """CPU-seconds from the start of a phase to the child's end, as far as it came."""
    stamps = [(record.get("phase"), record["cpu"]) for record in outcome.records if "cpu" in record]
    started = [cpu for name, cpu in stamps if name == phase]
    return stamps[-1][1] - started[0] if started else 0.0


def _cost(work: Callable[[], object]) -> Cost:
    before, started = _cpu(), time.monotonic()
    work()
    return Cost(_cpu() - before, time.monotonic() - started)


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", type=Path)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--runs", type=int, default=1)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
