"""Score `xlalint check` against the labels that compilers gave.

    python benchmarks/accuracy/score.py --cache DIR [PACKAGE ...]
    python benchmarks/accuracy/score.py --cache DIR --details FILE      # misses and false alarms of the tuned half
    python benchmarks/accuracy/score.py --cache DIR --readme            # put the tables into README.md

Of the packages held out, nothing but totals is shown unless --held-out is given.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import scoring
from checked import CannotCheckError, Pin, check, pins
from labels import read
from packages import fetch
from places import Sources
from scoring import Missed, Score, WronglyBlamed

_HERE = Path(__file__).resolve().parent
_MARK = "<!-- scores: made by score.py --readme -->"
_END = "<!-- end of scores -->"
_WORST = 10


def main() -> int:
    """Score the packages asked for and print the tables."""
    arguments = _arguments()
    scores = []
    for pin in pins(_HERE / "packages.toml"):
        labels = arguments.labels / f"{pin.name}.tsv"
        if labels.is_file() and (not arguments.packages or pin.name in arguments.packages):
            try:
                scores.append(_scored(pin, labels, arguments))
            except (CannotCheckError, subprocess.CalledProcessError) as error:
                print(error, file=sys.stderr)
                return 2
    text = _tables(scores)
    print(text)
    shown = [s for s in scores if arguments.held_out or s.half == "tuned"]
    if arguments.details:
        arguments.details.write_text(_details(shown), encoding="utf-8")
    if arguments.readme:
        _into_readme(f"{text}\n{_worst(shown)}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "packages", nargs="*", help="names of packages.toml [default: all labelled]"
    )
    parser.add_argument("--cache", type=Path, required=True, help="folder for downloads")
    parser.add_argument("--labels", type=Path, default=_HERE / "labels", help="folder of labels")
    parser.add_argument(
        "--checkout", type=Path, default=_HERE.parent.parent, help="sources of xlalint"
    )
    parser.add_argument("--details", type=Path, help="file for misses and false alarms")
    parser.add_argument("--held-out", action="store_true", help="also those of the half held out")
    parser.add_argument("--readme", action="store_true", help="write the tables into README.md")
    return parser.parse_args()


def _scored(pin: Pin, labels: Path, arguments: argparse.Namespace) -> Score:
    package = fetch(pin.pin, arguments.cache.expanduser().resolve())
    report = check(package, pin, arguments.checkout.resolve())
    sources = Sources(pin.folder, package.folder)
    return scoring.score(pin.name, pin.half, read(labels), report.findings, sources)


def _tables(scores: Sequence[Score]) -> str:
    rows = [(s.package, s.half, [s]) for s in scores]
    for half in ("tuned", "held-out"):
        part = [s for s in scores if s.half == half]
        if part:
            rows.append((f"**all {half}**", half, part))
    head = (
        "| package | half | compatible | with an error | incompatible | found | recall | any finding |"
        " on the line | costly | found |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    )
    lines = [head, *(_row(name, half, part) for name, half, part in rows), "", *_kinds(scores)]
    return "\n".join(lines) + "\n"


def _row(name: str, half: str, part: Sequence[Score]) -> str:
    def total(count: Callable[[Score], int]) -> int:
        return sum(count(score) for score in part)

    compatible, wrong = total(lambda s: s.compatible), total(lambda s: len(s.blamed))
    offenders, found = total(lambda s: s.offenders), total(lambda s: s.found)
    cells = [
        name, half, compatible, f"{wrong} ({_share(wrong, compatible, 2)})", offenders, found,
        _share(found, offenders), _share(total(lambda s: s.found_at_all), offenders),
        _share(total(lambda s: s.on_line), found),
        total(lambda s: s.costly), total(lambda s: s.costly_found),
    ]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def _kinds(scores: Sequence[Score]) -> list[str]:
    lines = [
        "| kind of failure | tuned: functions | found | held-out: functions | found |",
        "|---|--:|--:|--:|--:|",
    ]
    for kind in sorted({kind for score in scores for kind, _ in score.per_kind}):
        cells: list[object] = [kind]
        for half in ("tuned", "held-out"):
            seen = [ok for s in scores if s.half == half for k, ok in s.per_kind if k == kind]
            cells += [len(seen), f"{sum(seen)} ({_share(sum(seen), len(seen))})"]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def _share(part: int, whole: int, digits: int = 0) -> str:
    return f"{100 * part / whole:.{digits}f} %" if whole else "-"


def _details(scores: Iterable[Score]) -> str:
    lines = []
    for score in scores:
        lines.append(
            f"\n## {score.package}: {len(score.missed)} misses, {len(score.blamed)} false errors\n"
        )
        lines += [_missed(miss) for miss in score.missed]
        lines += [_blamed(false) for false in score.blamed]
        lines += [f"- costly, silent: `{where}`" for where in score.costly_silent]
    return "\n".join(lines) + "\n"


def _worst(scores: Sequence[Score]) -> str:
    missed = [miss for s in scores for miss in s.missed]
    blamed = [false for s in scores for false in s.blamed]
    rest = (
        f"Misses of the tuned half: {len(missed)}, the first {_WORST} of packages in turn:\n",
        *(_missed(miss) for miss in _in_turn([s.missed for s in scores])),
        f"\nFalse alarms of the tuned half: {len(blamed)}\n",
        *(_blamed(false) for false in _in_turn([s.blamed for s in scores])),
    )
    return "\n".join(rest)


def _in_turn(lists: Sequence[Sequence[object]]) -> list[object]:
    longest = max(map(len, lists), default=0)
    turns = [items[i] for i in range(longest) for items in lists if i < len(items)]
    return turns[:_WORST]


def _missed(miss: Missed) -> str:
    label = miss.label
    said = f"; check says {miss.said}" if miss.said else ""
    return (
        f"- MISS {label.kind} `{label.path}:{label.line}` {label.name} ({label.stage}, {label.program}): "
        f"{label.error}{said}"
    )


def _blamed(false: WronglyBlamed) -> str:
    return f"- FALSE `{false.path}:{false.line}` {false.code}: {false.message} (compiled by {false.program})"


def _into_readme(text: str) -> None:
    path = _HERE / "README.md"
    old = path.read_text(encoding="utf-8")
    start, end = old.index(_MARK) + len(_MARK), old.index(_END)
    path.write_text(f"{old[:start]}\n{text}\n{old[end:]}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
