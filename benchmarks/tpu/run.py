"""Compile the training steps of known models for TPUs: what it costs, and what the compiler says of memory.

    PYTHON benchmarks/tpu/run.py [--target tpu-v5e,...] [--only NAME] [--search]

in an environment with xlalint[verify,tpu], keras and keras-hub. Prints a table in Markdown. Models have their published
configuration and no weights.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_PROGRAMS = Path(__file__).with_name("programs")
MODELS = {
    "ResNet-50, batch 16": ("vision.py", "ResNet50", "16", "224"),
    "MobileNetV3 large, batch 32": ("vision.py", "MobileNetV3Large", "32", "224"),
    "EfficientNetV2-B0, batch 16": ("vision.py", "EfficientNetV2B0", "16", "224"),
    "ConvNeXt tiny, batch 8": ("vision.py", "ConvNeXtTiny", "8", "224"),
    "BERT tiny, batch 32 x 128": ("bert.py", "2", "128", "32", "128"),
    "BERT base, batch 8 x 128": ("bert.py", "12", "768", "8", "128"),
    # For slices of 8 chips: the same share for each replica.
    "ResNet-50, batch 128": ("vision.py", "ResNet50", "128", "224"),
    "BERT base, batch 64 x 128": ("bert.py", "12", "768", "64", "128"),
}
_COLUMNS = (
    "model",
    "target",
    "verdict",
    "replicas",
    "batch each",
    "peak",
    "memory",
    "arguments",
    "padding",
    "at least",
    "collectives",
    "largest batch each",
    "CPU-seconds",
)
_ALL = "tpu-v2,tpu-v3,tpu-v4,tpu-v5e,tpu-v5p,tpu-v6e"


def main() -> int:
    """Print the table; 1 where a model was not compiled."""
    arguments = _arguments()
    print(f"| {' | '.join(_COLUMNS)} |")
    print("|---|---|---|" + "--:|" * (len(_COLUMNS) - 3))
    failed = 0
    for name, command in MODELS.items():
        if arguments.only != name if arguments.only in MODELS else arguments.only not in name:
            continue
        started = time.monotonic()
        outcomes = _outcomes(command, arguments.target, arguments.search)
        for one in outcomes:
            print(_row(name, one), flush=True)
        failed += not outcomes
        print(f"{name}: {time.monotonic() - started:.0f} s in all", file=sys.stderr)
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", default=_ALL, help="TPUs between commas")
    parser.add_argument("--only", default="", help="a part of a model's name")
    parser.add_argument("--search", action="store_true", help="search the largest batch, too")
    return parser.parse_args()


def _outcomes(command: tuple[str, ...], target: str, search: bool) -> list[dict[str, Any]]:
    program, *rest = command
    options = ("--target", target, "--compile-only", "--steps", "1", "--timeout", "7200")
    options += ("--batch-search" if search else "--no-batch-search", "--format", "json")
    script = (sys.executable, str(_PROGRAMS / program), *rest)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "xlalint", "verify", *options, "--", *script],
            cwd=folder,
            stdout=subprocess.PIPE,
            check=False,
        )
    report = json.loads(done.stdout) if done.stdout else {"tpu": []}
    found: list[dict[str, Any]] = report["tpu"]
    return found


def _row(name: str, one: dict[str, Any]) -> str:
    cells = (
        name,
        one["target"],
        f"{one['status']} ({one['level']})",
        str(one["replicas"]),
        str(one["batch"]),
        f"{one['peak'] / 2**20:,.0f} MiB",
        f"{one['hbm'] / 2**20:,.0f} MiB",
        f"{one['argument'] / 2**20:,.0f} MiB",
        f"{one['padding_share']:.0%}",
        f"{one['bound_seconds'] * 1e3:.2f} ms",
        f"{one['reduced'] / 2**20:,.0f} MiB, {one['collective_share']:.0%}"
        if one["reduced"]
        else "-",
        str(one["largest"]["batch"]) if one["largest"] else "-",
        f"{one['cpu_seconds']:.0f}",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
