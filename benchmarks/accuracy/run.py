"""Run `xlalint check` over pinned packages and show the findings added and removed since the last recorded run.

    python benchmarks/accuracy/run.py --cache ~/.cache/xlalint-benchmarks            # compare
    python benchmarks/accuracy/run.py --cache ~/.cache/xlalint-benchmarks --record   # and accept

The record is one file per package in benchmarks/accuracy/recorded, one finding per line, so that a change of the analysis
shows in its diff. Exit status 1 when something was added or removed and not recorded.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from packages import Package, fetch, pinned

_HERE = Path(__file__).resolve().parent
_CHECKOUT = _HERE.parent.parent


def main() -> int:
    """Compare all packages, print what changed, and record it if asked to."""
    arguments = _arguments()
    cache = arguments.cache.expanduser().resolve()
    changed = False
    for pin in arguments.packages or pinned():
        package = fetch(pin, cache)
        now = _findings(package, arguments.options)
        before = _recorded(package)
        added, removed = _difference(before, now), _difference(now, before)
        changed = changed or bool(added or removed)
        _print(package, now, added, removed)
        if arguments.record:
            _record_path(package).parent.mkdir(exist_ok=True)
            _record_path(package).write_text("".join(f"{line}\n" for line in now), encoding="utf-8")
    return int(changed and not arguments.record)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="folder for downloads")
    parser.add_argument("--record", action="store_true", help="accept the findings as they are")
    parser.add_argument(
        "--option", dest="options", action="append", default=[], help="passed on to xlalint check"
    )
    parser.add_argument("packages", nargs="*", help="NAME==VERSION instead of packages.txt")
    return parser.parse_args()


def _findings(package: Package, options: Sequence[str]) -> list[str]:
    """One line per finding, and one per file that could not be checked, in the order of the report."""
    command = [sys.executable, "-m", "xlalint", "check", ".", "--no-cache", "--exit-zero"]
    done = subprocess.run(
        [*command, "--format", "json", *options],
        cwd=package.folder,
        env={**os.environ, "PYTHONPATH": str(_CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout:
        raise SystemExit(f"{package.name}: {done.stderr}")
    report = json.loads(done.stdout)
    lines = [
        f"{f['path']}:{f['line']}:{f['column']} {f['code']} {f['severity']} {f['confidence']} "
        f"{f['region']['kind']} {f['message']}"
        for f in report["findings"]
    ]
    return lines + [
        f"{e['path']}:{e['line']} not checked: {e['message']}" for e in report["errors"]
    ]


def _record_path(package: Package) -> Path:
    return _HERE / "recorded" / f"{package.name}.txt"


def _recorded(package: Package) -> list[str]:
    path = _record_path(package)
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def _difference(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """The lines of `second` that `first` lacks, counting repeated ones."""
    spare = Counter(first)
    extra = []
    for line in second:
        if spare[line]:
            spare[line] -= 1
        else:
            extra.append(line)
    return extra


def _print(
    package: Package, now: Sequence[str], added: Sequence[str], removed: Sequence[str]
) -> None:
    rate = len(now) / (package.lines / 1000)
    print(
        f"{package.name}: {len(now)} findings ({rate:.2f} per thousand lines), "
        f"{len(added)} added, {len(removed)} removed"
    )
    for line in added:
        print(f"  + {line}")
    for line in removed:
        print(f"  - {line}")


if __name__ == "__main__":
    sys.exit(main())
