"""Run `xlalint check` over pinned packages and show the findings added and removed since the last recorded run.

    python benchmarks/accuracy/run.py --cache ~/.cache/xlalint-benchmarks             # compare
    python benchmarks/accuracy/run.py --cache ~/.cache/xlalint-benchmarks --record    # and accept
    python benchmarks/accuracy/run.py --cache ~/.cache/xlalint-benchmarks spektral    # one package

Exit status 1 when something was added or removed and not recorded, 2 when a package could not be checked.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from checked import CannotCheckError, Pin, check, pins
from packages import Package, fetch
from records import Row, counted, counts, difference, read, write

_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Checked:
    """What check found in a package, and the seconds (wall clock) that it took."""

    rows: tuple[Row, ...]
    seconds: float


def main() -> int:
    """Compare the packages asked for, print what changed, and record it if asked to."""
    arguments = _arguments()
    wanted = [
        p
        for p in pins(arguments.packages_file)
        if p.half == "tuned" and (not arguments.packages or p.name in arguments.packages)
    ]
    unknown = set(arguments.packages) - {pin.name for pin in wanted}
    if unknown:
        print(f"not in {arguments.packages_file}: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    cache = arguments.cache.expanduser().resolve()
    try:
        changed = [_compare(pin, cache, arguments) for pin in wanted]
    except (CannotCheckError, ValueError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 2
    return int(any(changed) and not arguments.record)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="folder for downloads")
    parser.add_argument("--record", action="store_true", help="accept the findings as they are")
    parser.add_argument(
        "--recorded", type=Path, default=_HERE / "recorded", help="folder of the records"
    )
    parser.add_argument(
        "--packages-file", type=Path, default=_HERE / "packages.toml", help="which packages"
    )
    parser.add_argument("packages", nargs="*", help="names out of that file [default: all]")
    return parser.parse_args()


def _compare(pin: Pin, cache: Path, arguments: argparse.Namespace) -> bool:
    """Check one package, print and perhaps record the outcome; whether it differs from the record."""
    package = fetch(pin.pin, cache)
    now = _check(package, pin)
    path = arguments.recorded / f"{package.name}.tsv"
    before = read(path)
    added, removed = difference(before, now.rows), difference(now.rows, before)
    _print(package, now, added, removed)
    if arguments.record:
        write(path, now.rows)
    return bool(added or removed)


def _check(package: Package, pin: Pin) -> Checked:
    report = check(package, pin)
    rows = [
        Row(f["path"], f["line"], f["column"], f["code"], f["severity"], f["confidence"])
        for f in report.findings
    ]
    rows += [Row(e["path"], e["line"], e["column"], "unread", "-", "-") for e in report.errors]
    return Checked(tuple(rows), report.seconds)


def _print(package: Package, now: Checked, added: Sequence[Row], removed: Sequence[Row]) -> None:
    speed = package.lines / 1000 / now.seconds
    print(
        f"{package.name}: {counted(len(now.rows), 'finding')}, {len(added)} added, {len(removed)} removed; "
        f"{package.lines / 1000:.0f} thousand lines in {now.seconds:.1f} s ({speed:.1f} klines/s)"
    )
    if now.rows:
        print(f"  {counts(now.rows)}")
    for sign, rows in (("+", added), ("-", removed)):
        for row in rows:
            print(
                f"  {sign} {row.path}:{row.line}:{row.column} {row.code} {row.severity} {row.confidence}"
            )


if __name__ == "__main__":
    sys.exit(main())
