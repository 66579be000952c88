"""`python -m tools.catalog --out rules/catalog`: measure the installed TensorFlow and write its catalogue."""

from __future__ import annotations

import argparse
import collections
import fnmatch
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.catalog.aliases import stored_aliases
from tools.catalog.coverage import MISSING, UNEXPLAINED, coverage, report
from tools.catalog.pool import MeasuringError, Steps, declared_symbols, listing, measure_all
from tools.catalog.replacements import replacements
from tools.catalog.rows import api_row, op_rows
from tools.catalog.skipped import is_called, is_skipped, why_not_measured
from tools.catalog.write import render, write
from xlalint.semantics.catalog.shipped import SCHEMA, CatalogError, load

_SHIPPED = Path("rules/catalog")


def main() -> int:
    """Run from the command line. Exit code 0 when the file was written, 2 when it could not be made."""
    try:
        return _run(_options())
    except MeasuringError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    if options.coverage:
        return _show_coverage()
    started = time.monotonic()
    listed = listing()
    names = [name for name in listed["apis"] if _is_wanted(name, options.only)]
    if not names:
        print(f"error: no public name matches {' or '.join(options.only)}", file=sys.stderr)
        return 2
    measured = [name for name in names if _is_measured(name, listed["apis"][name], listed["ops"])]
    steps = _measure(measured, options)
    catalog = assemble(listed, names, steps)
    if options.out is None and options.only:
        print(render(catalog), end="")
        return 0
    path = write(catalog, options.out or _SHIPPED)
    _report(catalog, path, time.monotonic() - started)
    return 0


def _is_wanted(name: str, patterns: list[str]) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(name, each) for each in patterns)


def _show_coverage() -> int:
    """Print how the shipped catalogue covers what is installed. Exit code 1 when it lacks something."""
    found = declared_symbols()
    try:
        rows = coverage(found["symbols"], load(found["tensorflow"]))
    except CatalogError as error:
        raise MeasuringError(str(error)) from error
    print(report(rows), end="")
    return int(any(row.state in (MISSING, UNEXPLAINED) for row in rows))


def _measure(names: list[str], options: argparse.Namespace) -> dict[str, Steps]:
    """Measure `names`. Those whose steps are in the file `--steps` are left out, but for the steps of `--again`."""
    kept: Path | None = options.steps
    steps: dict[str, Steps] = {}
    if kept is not None and kept.is_file():
        steps = json.loads(kept.read_text(encoding="utf-8"))
    known = {name: _without(each, options.again) for name, each in steps.items()}
    todo = [name for name in names if name not in steps or options.again]
    for done, (name, result) in enumerate(
        measure_all(todo, options.jobs, known, options.without), start=1
    ):
        steps[name] = result
        if done % 100 == 0 or done == len(todo):
            print(f"{done}/{len(todo)} measured", file=sys.stderr)
            if kept is not None:
                kept.write_text(json.dumps(steps, sort_keys=True, indent=1), encoding="utf-8")
    return steps


def _without(steps: Steps, again: list[str]) -> Steps:
    """The results that stay: a step is named by its label or by what stands before the colon."""
    return {
        label: result
        for label, result in steps.items()
        if label not in again and label.partition(":")[0] not in again
    }


def assemble(
    listed: Mapping[str, Any], names: list[str], steps: Mapping[str, Steps]
) -> dict[str, Any]:
    """The catalogue out of the listing and of what was measured."""
    host_ops = frozenset(name for name, row in listed["ops"].items() if row.get("host"))
    advice = replacements()
    apis: dict[str, Any] = {}
    for name in sorted(names):
        info = listed["apis"][name]
        row = _row(name, info, steps.get(name), host_ops)
        if row is not None:
            apis[name] = {**row, **({"replacement": advice[name]} if name in advice else {})}
    return {
        "schema": SCHEMA,
        "tensorflow": listed["tensorflow"],
        "keras": listed["keras"],
        "ops": op_rows(listed["ops"], steps.values()),
        "apis": apis,
        "aliases": stored_aliases(
            {name: listed["apis"][name]["aliases"] for name in names}, frozenset(listed["apis"])
        ),
    }


def _is_measured(name: str, info: Mapping[str, Any], ops: Mapping[str, Any]) -> bool:
    """Of raw ops without a kernel the registry says all there is to say, unless a recipe shows how one is called."""
    op = name.removeprefix("tf.raw_ops.")
    if op != name:
        return bool(info["has_recipe"] or ops.get(op, {}).get("kernel"))
    return not is_skipped(name)


def _row(
    name: str, info: Mapping[str, Any], steps: Steps | None, host_ops: frozenset[str]
) -> dict[str, Any] | None:
    """None for a raw op of which the registry already says all that is known."""
    if steps and not (info["is_class"] and "default" not in steps):
        row = api_row(info["params"], steps, host_ops)
    elif info["is_class"] and not (steps is not None and is_called(name)):
        row = {"params": info["params"], "status": "not-compute", "returns": "object"}
    else:
        row = {"params": info["params"], "status": "not-compute" if steps is None else "untraced"}
    if row["status"] in ("untraced", "not-compute") and not (steps and "default" in steps):
        why = why_not_measured(name, info["is_class"])
        row |= {"why": why} if why else {}
    if name.startswith("tf.raw_ops.") and row["status"] not in ("compiles", "fails", "crashes"):
        return None
    return row


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.catalog", description=__doc__)
    parser.add_argument(
        "--out",
        type=Path,
        help=f"folder to write to (default: {_SHIPPED}, or with --only the terminal)",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PATTERN",
        help="measure the names that match this pattern, or one of several, only",
    )
    parser.add_argument(
        "--coverage",
        action="store_true",
        help="measure nothing: show which public symbols the shipped catalogue covers, and how",
    )
    parser.add_argument("--jobs", type=int, default=1, help="measuring processes (700 MB each)")
    parser.add_argument(
        "--steps",
        type=Path,
        help="keep every step's result in this file, and do not measure again what it holds",
    )
    parser.add_argument(
        "--again",
        action="append",
        default=[],
        metavar="STEP",
        help="with --steps: measure this step again (`form`, `gradient`, `condition`...), for all that the file holds",
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="STEP",
        help="leave this step out (`bounded`, `dtype`...)",
    )
    return parser.parse_args()


def _report(catalog: Mapping[str, Any], path: Path, seconds: float) -> None:
    counts = collections.Counter(row["status"] for row in catalog["apis"].values())
    print(f"{path}: {len(catalog['apis'])} APIs in {seconds:.0f} s: {dict(sorted(counts.items()))}")


if __name__ == "__main__":
    sys.exit(main())
