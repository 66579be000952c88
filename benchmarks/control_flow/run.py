"""Generated programs of conditionals and loops: does check say what AutoGraph and XLA make of each?

    python benchmarks/control_flow/run.py                       # three hundred programs, a minute
    python benchmarks/control_flow/run.py --count 1000 --seed 1
    python benchmarks/control_flow/run.py --gradient            # the gradient of each, in place of its result
    python benchmarks/control_flow/run.py --no-autograph        # as in Keras 3, which converts nothing

Each program (`grammar.py`) is run eagerly and under XLA on a CPU with three inputs, and checked for that target. Printed are the
programs that fail or give other results without an error of check (`missed`), and those that agree in spite of one (`false`): of these, most
hold code whose result nothing reads. A program counts that runs eagerly with one of the inputs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks import judging
from benchmarks.control_flow.grammar import HEAD, program


def inputs() -> judging.Inputs:
    """The inputs that each program is run with: both flags, three numbers of steps."""
    import tensorflow as tf

    x = tf.constant([1.5, -1.0, 2.2, 0.4, -2.0, 3.1, -0.5, 0.3])
    y = tf.constant([[1.0, 2, 3], [-1, 0, 1], [2, 1, 0.5], [0.5, 0.2, 2], [-2, 1, 1], [1, 1, 4]])
    return (
        (x, y, tf.constant(3), tf.constant(True)),
        (-x, 0.1 - y, tf.constant(4), tf.constant(False)),
        (0.2 * x, y, tf.constant(2), tf.constant(False)),
    )


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--count", type=int, default=300, help="how many programs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--gradient",
        action="store_true",
        help="the gradient of each program, in place of its result",
    )
    parser.add_argument(
        "--no-autograph", action="store_true", help="programs that AutoGraph does not convert"
    )
    parser.add_argument("--judge", metavar="FOLDER", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.judge:
        judging.judge_all(options.judge, options.first, inputs(), partly=True)
        return 0
    texts = [
        program(
            f"f{number}",
            f"{options.seed}-{number}",
            is_gradient=options.gradient,
            is_converted=not options.no_autograph,
        )
        for number in range(options.count)
    ]
    with tempfile.TemporaryDirectory() as made:
        file = Path(made, "programs.py")
        head = f"{HEAD}\nCOUNT = {options.count}"
        file.write_text("\n\n\n".join([head, *texts]) + "\n", encoding="utf-8")
        errors = judging.with_errors(file)
        command = [sys.executable, __file__, "--judge", made, "--first"]
        found = judging.verdicts(options.count, command)
    _report(texts, found, errors)
    return 0


def _report(texts: list[str], found: dict[int, str], errors: set[int]) -> None:
    counts: Counter[str] = Counter()
    for number, text in enumerate(texts):
        verdict = found[number]
        if verdict == judging.EAGER:
            counts[judging.EAGER] += 1
            continue
        fails = verdict != judging.AGREES
        sort = "found" if fails else "passed"
        if fails is not (number in errors):
            sort = "missed" if fails else "false"
            print(f"{sort}: {verdict}\n{text}\n")
        counts[sort] += 1
    print(", ".join(f"{count} {name}" for name, count in sorted(counts.items())))


if __name__ == "__main__":
    sys.exit(main())
