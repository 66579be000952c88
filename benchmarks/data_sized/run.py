"""Generated programs that work with tensors whose size depends on data: does check say what XLA makes of each?

    python benchmarks/data_sized/run.py                        # each use alone: a thousand programs, five minutes
    python benchmarks/data_sized/run.py --count 1000 --seed 1  # two uses after each other, chosen by chance
    python benchmarks/data_sized/run.py --gradient             # and the gradient of each, too

Each program keeps some elements of a vector or rows of a matrix, uses what it kept (`uses.py`), and is run eagerly and under
XLA on a CPU with two inputs, and checked for that target. Printed are the programs that fail or give other numbers without an
error of check (`missed`), and those that agree in spite of one (`false`). Some of the latter agree by chance: what lies behind
the count is not always garbage.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from threading import Timer

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.data_sized.uses import MATRICES, OF_MATRICES, OF_VECTORS, VECTORS
from xlalint import engine
from xlalint.finding import Severity
from xlalint.project import settings

AGREES, EAGER = "agrees", "cannot be run"
# Seconds after which a program that says nothing is taken for one that never ends.
_PATIENCE = 60


@dataclass(frozen=True, slots=True)
class Made:
    """A program: what it keeps, and how it uses that, one use after the other."""

    kept: str
    uses: tuple[str, ...]
    is_gradient: bool = False

    def text(self, name: str) -> str:
        """Its function under this name."""
        lines = [f"v0 = {self.kept}"]
        for i, use in enumerate(self.uses):
            lines.append(f"v{i + 1} = {use.replace('{v}', f'v{i}')}")
        if self.is_gradient:
            lines = [
                "with tf.GradientTape() as tape:",
                "    tape.watch((x, y))",
                *(f"    {line}" for line in lines),
                f"    loss = tf.reduce_sum(tf.sin(v{len(self.uses)}))",
                'parts = tape.gradient(loss, (x, y), unconnected_gradients="zero")',
                "return [tf.convert_to_tensor(part) for part in parts]",
            ]
        else:
            lines[-1] = lines[-1].replace(f"v{len(self.uses)} =", "return", 1)
        head = ["@tf.function(jit_compile=True)", f"def {name}(x: tf.Tensor, y: tf.Tensor):"]
        return "\n".join([*head, *(f"    {line}" for line in lines)])


def one_use_each() -> list[Made]:
    """Every use of everything that is kept."""
    return [
        Made(kept, (use,))
        for sources, uses in ((VECTORS, OF_VECTORS), (MATRICES, OF_MATRICES))
        for kept in sources.values()
        for use in uses
    ]


def two_uses(count: int, seed: int) -> list[Made]:
    """Programs of two uses, chosen by chance; not all of them can be run."""
    dice = Random(seed)
    made = []
    for _ in range(count):
        sources, uses = dice.choice(((VECTORS, OF_VECTORS), (MATRICES, OF_MATRICES)))
        then = dice.choice((OF_VECTORS, OF_MATRICES))
        made.append(
            Made(dice.choice(list(sources.values())), (dice.choice(uses), dice.choice(then)))
        )
    return made


# In the child


def judge_all(folder: Path, first: int) -> None:
    """Run the programs of a folder from this one on, a line of JSON for each on standard output."""
    import importlib

    import tensorflow as tf

    sys.path.insert(0, str(folder))
    programs = importlib.import_module("programs")
    x = tf.constant([1.5, -1.0, 2.2, 0.4, -2.0, 3.1, -0.5, 0.3])
    y = tf.constant([[1.0, 2, 3], [-1, 0, 1], [2, 1, 0.5], [0.5, 0.2, 2], [-2, 1, 1], [1, 1, 4]])
    for number in range(first, programs.COUNT):
        print(json.dumps({"begin": number}), flush=True)
        verdict = judge(getattr(programs, f"f{number}"), ((x, y), (-x, 0.1 - y)))
        print(json.dumps({"program": number, "verdict": verdict}), flush=True)


def judge(function: object, inputs: Sequence[tuple[object, ...]]) -> str:
    """`agrees`, `cannot be run`, or what goes wrong."""
    import numpy as np
    import tensorflow as tf

    assert callable(function)
    for given in inputs:
        tf.config.run_functions_eagerly(True)
        try:
            wanted = [np.asarray(part) for part in tf.nest.flatten(function(*given))]
        except Exception:
            return EAGER
        finally:
            tf.config.run_functions_eagerly(False)
        try:
            got = [np.asarray(part) for part in tf.nest.flatten(function(*given))]
        except Exception as error:
            return f"fails: {str(error).strip().splitlines()[0][:120]}"
        for one, other in zip(wanted, got, strict=True):
            if one.shape != other.shape:
                return f"differs: shape {other.shape}, not {one.shape}"
            if not np.allclose(one, other, 1e-3, 1e-4, equal_nan=True):
                return "differs: other numbers"
    return AGREES


# In the parent


def verdicts(programs: Sequence[Made], folder: Path) -> dict[int, str]:
    """What becomes of each program, run in child processes, of which a new one takes over where one dies or hangs."""
    found: dict[int, str] = {}
    first = 0
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    while first < len(programs):
        command = [sys.executable, __file__, "--judge", str(folder), "--first", str(first)]
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True
        )
        begun, died = _follow(child, found)
        if begun is None:
            if len(found) < len(programs):
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


def with_errors(file: Path, programs: Sequence[Made]) -> set[int]:
    """The programs in which check finds an error."""
    lines = file.read_text(encoding="utf-8").splitlines()
    starts = [i for i, line in enumerate(lines, 1) if line.startswith("@tf.function")]
    assert len(starts) == len(programs)
    result = engine.check([str(file)], settings.load([str(file)], {"target": "cpu"}))
    errors = [f.span.line for f in result.findings if f.severity is Severity.ERROR]
    return {max(i for i, start in enumerate(starts) if start <= line) for line in errors}


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--count", type=int, help="programs of two uses, in place of each use alone"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--gradient",
        action="store_true",
        help="the gradient of each program, in place of its result",
    )
    parser.add_argument("--judge", metavar="FOLDER", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.judge:
        judge_all(options.judge, options.first)
        return 0
    programs = two_uses(options.count, options.seed) if options.count else one_use_each()
    if options.gradient:
        programs = [replace(one, is_gradient=True) for one in programs]
    with tempfile.TemporaryDirectory() as made:
        file = Path(made, "programs.py")
        parts = [one.text(f"f{number}") for number, one in enumerate(programs)]
        head = ["import tensorflow as tf", f"COUNT = {len(programs)}"]
        file.write_text("\n\n\n".join([*head, *parts]) + "\n", encoding="utf-8")
        errors = with_errors(file, programs)
        found = verdicts(programs, Path(made))
    _report(programs, found, errors)
    return 0


def _report(programs: Sequence[Made], found: dict[int, str], errors: set[int]) -> None:
    counts: Counter[str] = Counter()
    for number, one in enumerate(programs):
        verdict = found[number]
        if verdict == EAGER:
            counts[EAGER] += 1
            continue
        is_right = (verdict == AGREES) is (number not in errors)
        counts["right" if is_right else "false" if verdict == AGREES else "missed"] += 1
        if not is_right:
            sort = "false" if verdict == AGREES else "missed"
            print(f"{sort:8} {one.kept}  ->  {'  ->  '.join(one.uses)}   {verdict}")
    print(", ".join(f"{count} {name}" for name, count in sorted(counts.items())))


if __name__ == "__main__":
    sys.exit(main())
