"""Put the verdicts of several runs of the judge together.

    python benchmarks/accuracy/judge/tables.py spektral.tsv keras_hub.tsv ...

Writes judged.tsv and misses.tsv beside the judge's folder and prints counts per package and per code. A finding that several
programs reach is right when one of them shows it: it speaks of some inputs, not of all;
and wrong only when each program that reaches it says so.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent.parent
_STRENGTH = {"right": 0, "could not run": 1, "wrong": 2}
_JUDGED = ("package", "path", "line", "code", "severity", "verdict", "program", "evidence")
_MISSES = ("program", "stage", "place", "message")


def main() -> int:
    """Write both tables and print the counts."""
    lines = [
        line.split("\t")
        for name in sys.argv[1:]
        for line in Path(name).read_text(encoding="utf-8").splitlines()
    ]
    verdicts = _strongest(line for line in lines if len(line) == len(_JUDGED))
    misses = sorted(line[1:] for line in lines if line[0] == "miss")
    _write(_FOLDER / "judged.tsv", _JUDGED, verdicts)
    _write(_FOLDER / "misses.tsv", _MISSES, misses)
    print(_counted("package", ((v[0], v[5]) for v in verdicts)))
    print(_counted("code", ((f"{v[3]} {v[4]}", v[5]) for v in verdicts)))
    print(
        f"{len(misses)} misses, {sum(line[0] == 'build' for line in lines)} programs could not be built"
    )
    return 0


def _strongest(verdicts: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    best: dict[tuple[str, ...], Sequence[str]] = {}
    for verdict in verdicts:
        key = tuple(verdict[:5])
        if key not in best or _STRENGTH[verdict[5]] < _STRENGTH[best[key][5]]:
            best[key] = verdict
    return sorted(best.values(), key=lambda v: (v[0], v[1], int(v[2]), v[3]))


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    text = "".join("\t".join(row) + "\n" for row in (header, *rows))
    path.write_text(text, encoding="utf-8")


def _counted(title: str, pairs: Iterable[tuple[str, str]]) -> str:
    seen = Counter(pairs)
    lines = [f"| {title} | {' | '.join(_STRENGTH)} |", "|---|---|---|---|"]
    for name in sorted({name for name, _ in seen}):
        lines.append(
            f"| {name} | {' | '.join(str(seen[name, verdict]) for verdict in _STRENGTH)} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
