"""Thousands of generated programs, rewritten and run: is every `safe` fix the same program?

    python benchmarks/fixes/generated.py [--count 8000] [--seed 0] [--cases 12] [--unsafe]

Each program (`programs.py`) is rewritten by `check --fix` (in memory), and both versions are run on a dozen inputs: the
original eagerly, the rewrite eagerly and under XLA, forward and backward. A safe fix that a counterexample refutes is a bug.
`--unsafe` makes the unsafe fixes too, of which some are refuted by what their message says.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.fixes.programs import Made, made
from xlalint.fixes import fixpoint
from xlalint.fixes.site import SAFE, UNSAFE
from xlalint.project import settings

BATCH = 150
PROVEN, REFUTED, STUCK, EAGER, UNUSABLE, CRASHED = (
    "proven",
    "refuted",
    "does not compile",
    "agrees eagerly, other findings remain",
    "the original cannot be run",
    "the process died",
)
BAD = (REFUTED, STUCK, CRASHED)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A program and what `--fix` makes of it. `is_clean`: no finding remains that says that it does not compile."""

    seed: int
    before: str
    after: str
    specs: Sequence[tuple[str, Sequence[int]]]
    names: Sequence[str]
    is_open: bool
    fixes: Sequence[str]
    is_clean: bool


def rewritten(programs: Mapping[int, Made], *, unsafe: bool) -> list[Rewritten]:
    """Those of the programs, which are known by their seeds, in which something was mended."""
    allowed = (SAFE, UNSAFE) if unsafe else (SAFE,)
    with tempfile.TemporaryDirectory() as folder:
        seeds = {str(Path(folder, f"p{seed}.py").resolve()): seed for seed in programs}
        for path, seed in seeds.items():
            Path(path).write_text(programs[seed].text, encoding="utf-8")
        outcome = fixpoint.run([folder], settings.load([folder], {"jobs": 1}), allowed)
    errors = {
        str(Path(f.path).resolve()) for f in outcome.result.findings if f.severity.value != "info"
    }
    fixes: dict[str, list[str]] = {}
    for item in outcome.applied:
        path = str(Path(item.finding.path).resolve())
        fixes.setdefault(path, []).append(f"{item.finding.code} {item.fix.applicability}")
    return [
        Rewritten(
            seed := seeds[path],
            item.before,
            item.after,
            programs[seed].specs,
            programs[seed].names,
            programs[seed].is_open,
            fixes[path],
            path not in errors,
        )
        for item in outcome.files
        for path in [str(item.file.path)]
    ]


# In the child


def prove_all(file: str, most: int) -> None:
    """Prove the programs of a file, a line of JSON for each on standard output."""
    import tensorflow  # noqa: F401

    # TensorFlow's own objects need not be looked through for variables, again and again.
    gc.collect()
    gc.freeze()
    for data in json.loads(Path(file).read_text(encoding="utf-8")):
        print(json.dumps({"begin": data["seed"]}), flush=True)
        status, words = prove(Rewritten(**data), Path(file).parent, most)
        print(json.dumps({"seed": data["seed"], "status": status, "words": words}), flush=True)


def prove(one: Rewritten, folder: Path, most: int) -> tuple[str, list[str]]:
    """What running both versions on `most` inputs says, and the counterexample."""
    import tensorflow as tf

    from xlalint.verify.program import Call, Flat, Program, example
    from xlalint.verify.proving import trial

    given = example([tf.TensorSpec(shape, dtype) for dtype, shape in one.specs], 1)
    sides = []
    for name, text in (("before", one.before), ("after", one.after)):
        subject = load(folder / f"p{one.seed}_{name}.py", text)
        program = Program(
            name, name, "", 0, "test", subject, (Call(tuple(given)),), tuple(one.names)
        )
        sides.append(Flat(program))
    outcome = trial.compare(
        trial.Trial(sides[0], sides[1], sides[0].names, trial.as_it_is, trial.as_it_is),
        iter(chosen(one, tuple(sides[0].tensors(Call(tuple(given)))), most)),
        seconds=60.0,
        compiles_original=False,
        compiles_rewrite=one.is_clean,
    )
    if outcome.counterexample is not None:
        return REFUTED, list(outcome.counterexample.lines)
    if outcome.unusable:
        return UNUSABLE, [outcome.unusable]
    if not one.is_clean:
        return EAGER, outcome.notes
    if outcome.stuck:
        return STUCK, [outcome.stuck]
    return PROVEN, outcome.notes


def chosen(one: Rewritten, tensors: tuple[Any, ...], most: int) -> list[Any]:
    """The inputs as they are, and of the edge cases some, others for each program. Shapes that a program leaves open are
    varied in one of four: each needs a compilation."""
    from xlalint.verify.proving.cases import Given, cases

    free, closed = (True,) * len(tensors), (False,) * len(tensors)
    dice = Random(one.seed)
    is_open = one.is_open and dice.random() < 0.25
    found = list(cases(Given(tensors, free, closed, (is_open,) * len(tensors))))
    others = [case for case in found[1:] if case.signature == found[0].signature]
    shapes = [case for case in found[1:] if case.signature != found[0].signature]
    return [found[0], *dice.sample(others, min(len(others), most - 1)), *shapes]


def load(path: Path, text: str) -> Any:
    """The subject of a program."""
    import importlib.util

    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module.subject


# In the parent


def proofs(programs: Sequence[Rewritten], most: int) -> Iterator[tuple[Rewritten, str, list[str]]]:
    """The proofs of programs, from child processes, of which a new one takes over where one dies."""
    waiting = {one.seed: one for one in programs}
    while waiting:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "programs.json")
            file.write_text(json.dumps([asdict(one) for one in waiting.values()]))
            command = [sys.executable, __file__, "--prove", str(file), "--cases", str(most)]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        begun: int | None = None
        for line in done.stdout.decode().splitlines():
            record = json.loads(line) if line.startswith("{") else {}
            begun = record.get("begin", begun)
            if "status" in record:
                yield waiting.pop(record["seed"]), record["status"], record["words"]
                begun = None
        if begun is None and waiting:
            raise RuntimeError(f"the child did nothing (exit status {done.returncode})")
        if begun is not None:
            yield waiting.pop(begun), CRASHED, [f"exit status {done.returncode}"]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--count", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=12, help="inputs that each program is run on")
    parser.add_argument("--unsafe", action="store_true")
    parser.add_argument("--prove", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prove:
        prove_all(options.prove, options.cases)
        return 0
    counts: Counter[str] = Counter()
    fixes: Counter[str] = Counter()
    for first in range(options.seed, options.seed + options.count, BATCH):
        last = min(first + BATCH, options.seed + options.count)
        batch = {seed: made(Random(seed)) for seed in range(first, last)}
        mended = rewritten(batch, unsafe=options.unsafe)
        counts["programs"] += len(batch)
        counts["with a fix"] += len(mended)
        counts["with a fix, nothing else left"] += sum(one.is_clean for one in mended)
        for one, status, words in proofs(mended, options.cases):
            counts[status] += 1
            fixes.update(f"{fix}: {status}" for fix in one.fixes)
            if status in BAD:
                told = "\n    ".join(
                    (f"seed {one.seed} ({', '.join(one.fixes)}): {status}", *words)
                )
                print(told, flush=True)
        print(f"... {dict(counts)}", file=sys.stderr, flush=True)
    for name, count in (*counts.items(), *sorted(fixes.items())):
        print(f"{count:6} {name}")
    return 1 if any(counts[status] for status in BAD) and not options.unsafe else 0


if __name__ == "__main__":
    sys.exit(main())
