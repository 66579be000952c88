"""The fixes of real packages, and what running each of them showed.

    python benchmarks/fixes/run.py [--cache DIR] [NAME==VERSION ...]

Each package is downloaded once, copied, and the copy rewritten by `check --fix --unsafe-fixes --prove`. What the packages
need beside TensorFlow must be installed for the Python that runs this (without it their modules cannot be imported, and their
fixes are not runnable). The table counts fixes; those of which the finding stays, or which bring another, are not proposed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.packages import fetch
from xlalint.fixes.proof import NOT_RUNNABLE, PROVEN, REFUTED

PINS = (
    "spektral==1.3.1",
    "tensorflow_addons==0.23.0",
    "keras_cv==0.9.0",
    "tf_agents==0.19.0",
    "tensorflow_graphics==2021.12.3",
    "tensorflow_ranking==0.5.5",
)
COLUMNS = ("proposed", "safe", "unsafe", PROVEN, REFUTED, NOT_RUNNABLE)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("pins", nargs="*", default=list(PINS), metavar="NAME==VERSION")
    default = Path.home() / ".cache" / "xlalint-benchmarks"
    parser.add_argument("--cache", type=Path, default=default, help="where packages are kept")
    options = parser.parse_args()
    rows: list[tuple[str, Counter[str]]] = []
    for pin in options.pins:
        package = fetch(pin, options.cache)
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "copy")
            shutil.copytree(package.folder, copy)
            rows.append((package.name, _proven(copy)))
        _show(rows[-1:], len(rows) == 1)
    if len(rows) > 1:
        _show([("all", sum((counts for _, counts in rows), Counter()))], False)
    return 0


def _proven(folder: Path) -> Counter[str]:
    """Rewrite what is in the folder; how many fixes came to what."""
    paths = [
        str(Path(__file__).resolve().parents[2]),
        *filter(None, [os.environ.get("PYTHONPATH")]),
    ]
    command = (sys.executable, "-m", "xlalint", "check", "--fix", "--unsafe-fixes", "--prove")
    done = subprocess.run(
        [*command, "--format", "json", "."],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "TF_CPP_MIN_LOG_LEVEL": "3"},
        stdout=subprocess.PIPE,
        check=False,
    )
    report = json.loads(done.stdout)
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    for item in (*report["fixed"], *report["withheld"]):
        proof = item.get("proof")
        key = json.dumps([item["path"], item["fix"]])
        if proof is None or key in seen:  # findings that one fix mends are one
            continue
        seen.add(key)
        counts.update(("proposed", item["fix"]["applicability"], proof["status"]))
        if proof["status"] != PROVEN:
            _tell(item, proof)
    return counts


def _tell(item: dict[str, Any], proof: dict[str, Any]) -> None:
    """What was not proven, on standard error."""
    where = f"{item['path']}:{item['line']}: {item['code']} ({item['fix']['applicability']})"
    print(f"{where} {proof['status']}: {proof['evidence']}", file=sys.stderr)
    for name, value in (proof["counterexample"] or {}).items():
        print(f"    {name}: {value}", file=sys.stderr)


def _show(rows: list[tuple[str, Counter[str]]], with_head: bool) -> None:
    if with_head:
        print(f"| package | {' | '.join(COLUMNS)} |")
        print("|---" * (len(COLUMNS) + 1) + "|")
    for name, counts in rows:
        print(f"| {name} | {' | '.join(str(counts[column]) for column in COLUMNS)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
