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
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks import judging
from benchmarks.data_sized.uses import MATRICES, OF_MATRICES, OF_VECTORS, VECTORS


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


def inputs() -> judging.Inputs:
    """The two inputs that each program is run with."""
    import tensorflow as tf

    x = tf.constant([1.5, -1.0, 2.2, 0.4, -2.0, 3.1, -0.5, 0.3])
    y = tf.constant([[1.0, 2, 3], [-1, 0, 1], [2, 1, 0.5], [0.5, 0.2, 2], [-2, 1, 1], [1, 1, 4]])
    return ((x, y), (-x, 0.1 - y))


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
        judging.judge_all(options.judge, options.first, inputs())
        return 0
    programs = two_uses(options.count, options.seed) if options.count else one_use_each()
    if options.gradient:
        programs = [replace(one, is_gradient=True) for one in programs]
    with tempfile.TemporaryDirectory() as made:
        file = Path(made, "programs.py")
        parts = [one.text(f"f{number}") for number, one in enumerate(programs)]
        head = ["import tensorflow as tf", f"COUNT = {len(programs)}"]
        file.write_text("\n\n\n".join([*head, *parts]) + "\n", encoding="utf-8")
        errors = judging.with_errors(file)
        command = [sys.executable, __file__, "--judge", made, "--first"]
        found = judging.verdicts(len(programs), command)
    _report(programs, found, errors)
    return 0


def _report(programs: Sequence[Made], found: dict[int, str], errors: set[int]) -> None:
    counts: Counter[str] = Counter()
    for number, one in enumerate(programs):
        verdict = found[number]
        if verdict == judging.EAGER:
            counts[judging.EAGER] += 1
            continue
        is_right = (verdict == judging.AGREES) is (number not in errors)
        counts["right" if is_right else "false" if verdict == judging.AGREES else "missed"] += 1
        if not is_right:
            sort = "false" if verdict == judging.AGREES else "missed"
            print(f"{sort:8} {one.kept}  ->  {'  ->  '.join(one.uses)}   {verdict}")
    print(", ".join(f"{count} {name}" for name, count in sorted(counts.items())))


if __name__ == "__main__":
    sys.exit(main())
