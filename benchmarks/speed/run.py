"""Time `xlalint check` beside TorchFix, Fixit and ruff on the same pinned packages, and on sources that grow.

    python benchmarks/speed/run.py --cache ~/.cache/xlalint-benchmarks

Packages are downloaded (never installed) and the peers installed into an environment of their own, once, into --cache.
Prints thousand lines per CPU-second, user and system time of the process and its children, as medians over several
runs, for each package and for all of them together (all lines by the sum of the seconds of separate runs), of the report
for people and of the JSON one, which has a rewrite beside each finding; the memory that a cold run took at its peak; how
many times as fast as each peer xlalint is; start-up and single-file times; and what a line costs in generated sources of
three sizes. The two slow peers run once, and only on packages of at most --peer-lines lines; --alone leaves all peers out.
A command is not run again once its runs have taken ten CPU-seconds: with --alone, all takes ten minutes and more. Standard
error says what is being measured.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from generated import SHAPES, Shape
from packages import Package, fetch, pinned

PEERS = ("torchfix==0.7.0", "fixit==2.2.1", "ruff==0.17.5")
SLOW = ("torchfix", "fixit")
# What has taken so many CPU-seconds is known well enough.
_ENOUGH = 10.0
# Set, it has every start of Python compile what it imports.
_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
_CHECKOUT = Path(__file__).resolve().parent.parent.parent


def main() -> int:
    """Measure and print; with --json also write the figures."""
    arguments = _arguments()
    cache = arguments.cache.expanduser().resolve()
    # As installing does: where Python may not write bytecode, each run would compile xlalint itself again.
    compileall.compile_dir(_CHECKOUT / "xlalint", quiet=1)
    packages = [fetch(pin, cache) for pin in arguments.packages or pinned()]
    peers = None if arguments.alone else _peers(cache)
    rows = [_measure(package, peers, cache, arguments) for package in packages]
    rows.append(_together(rows))
    _print_rates(rows)
    if peers is not None:
        _print_ratios(rows[:-1])
    _tell("small jobs")
    small = _small_jobs(packages[0], arguments.runs)
    _print_small(small)
    growth = {shape.name: _grown(shape, arguments.runs) for shape in SHAPES}
    _print_growth(growth)
    if arguments.json:
        figures = {"klines_per_cpu_second": rows, "cpu_ms": small, "growth": growth}
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, required=True, help="folder for downloads and peers")
    parser.add_argument("--runs", type=int, default=3, help="runs per figure (default 3)")
    parser.add_argument(
        "--peer-lines", type=int, default=30_000, help="largest package for the slow peers"
    )
    parser.add_argument("--alone", action="store_true", help="measure xlalint alone")
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("packages", nargs="*", help="NAME==VERSION instead of packages.txt")
    return parser.parse_args()


# --- what is measured -------------------------------------------------------------------------------------------------


def _with_torch(package: Package, cache: Path) -> Path:
    """A copy of the package in which every file ends in `# torch`: TorchFix passes over files without that word."""
    copies = cache / "with-torch" / package.name
    for path in package.files:
        copy = copies / path.relative_to(package.folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes() + b"\n# torch\n")
    return copies


def _peers(cache: Path) -> Path:
    """The `bin` folder of an environment that holds the peers."""
    environment = cache / "peers"
    if not (environment / "bin" / "fixit").is_file():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        pip = (str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet")
        subprocess.run([*pip, *PEERS], check=True)
    return environment / "bin"


def _xlalint(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "xlalint", *arguments]


_QUIET = ("--exit-zero", "--output-file", os.devnull)
# A report for programs, for which a rewrite is looked for beside each finding.
_WITH_FIXES = ("--format", "json")


def _own_commands(package: Package) -> dict[str, list[str]]:
    folder = str(package.folder)
    return {
        "xlalint cold": _xlalint("check", folder, "--no-cache", *_QUIET),
        "with fixes": _xlalint("check", folder, "--no-cache", *_QUIET, *_WITH_FIXES),
        "xlalint warm": _xlalint("check", folder, *_QUIET),
    }


def _peers_commands(package: Package, peers: Path, with_torch: Path) -> dict[str, list[str]]:
    folder = str(package.folder)
    return {
        "ruff": [str(peers / "ruff"), "check", "--no-cache", "--isolated", "--exit-zero", folder],
        "ruff all": [
            *(str(peers / "ruff"), "check", "--no-cache", "--isolated", "--exit-zero"),
            *("--select", "ALL", "--quiet", folder),
        ],
        "torchfix": [
            *(str(peers / "torchfix"), "--select", "ALL", "--jobs", "1"),
            str(with_torch),
        ],
        "fixit": [str(peers / "fixit"), "lint", folder],
    }


# --- measuring --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """What a command took: CPU seconds, user and system, of it and its children; MiB at the peak of the largest."""

    seconds: float
    memory: float


def _cost(command: Sequence[str], folder: Path, cache: Path) -> Cost:
    """Run a command, with bytecode as an installed package has it. Findings (status 1) are no failure."""
    environment = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE}
    environment |= {"XLALINT_CACHE_DIR": str(cache), "PYTHONPATH": str(_CHECKOUT)}
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read()
    if process.returncode not in (0, 1) or b"Traceback" in said:
        raise SystemExit(f"{' '.join(command)} failed:\n{said.decode()}")
    # Linux counts KiB, macOS bytes.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / unit)


def _median(command: Sequence[str], folder: Path, cache: Path, runs: int) -> Cost:
    costs: list[Cost] = []
    while len(costs) < runs and sum(cost.seconds for cost in costs) < _ENOUGH:
        costs.append(_cost(command, folder, cache))
    return Cost(statistics.median(c.seconds for c in costs), max(c.memory for c in costs))


def _measure(
    package: Package, peers: Path | None, downloads: Path, arguments: argparse.Namespace
) -> dict[str, object]:
    """Thousand lines per CPU-second by tool, None where a slow peer was not run; and MiB at the peak of a cold run."""
    row: dict[str, object] = {"package": package.name, "lines": package.lines, "MiB": None}
    commands = _own_commands(package)
    if peers is not None:
        commands |= _peers_commands(package, peers, _with_torch(package, downloads))
    with tempfile.TemporaryDirectory() as folder:
        away, cache = Path(folder), Path(folder) / "cache"
        for tool, command in commands.items():
            _tell(f"{package.name}: {tool}")
            if tool in SLOW and package.lines > arguments.peer_lines:
                row[tool] = None
                continue
            runs = 1 if tool in SLOW else arguments.runs
            if tool == "xlalint warm":
                _cost(command, away, cache)
            cost = _median(command, away, cache, runs)
            row[tool] = package.lines / 1000 / cost.seconds
            if tool == "xlalint cold":
                row["MiB"] = cost.memory
    return row


def _together(rows: Sequence[dict[str, object]]) -> dict[str, object]:
    """All packages as one: the lines of all by the seconds of all, where a tool has read them all."""
    lines = [row["lines"] for row in rows]
    total = sum(n for n in lines if isinstance(n, int))
    together: dict[str, object] = {"package": "all together", "lines": total}
    for column in rows[0]:
        values = [value for row in rows if isinstance(value := row[column], float)]
        if column not in together:
            whole = len(values) == len(rows)
            seconds = sum(row["lines"] / row[column] for row in rows) if whole else 0.0  # type: ignore[operator]
            together[column] = total / seconds if whole else None
    together["MiB"] = max(value for row in rows if isinstance(value := row["MiB"], float))
    return together


def _grown(shape: Shape, runs: int) -> list[tuple[int, float]]:
    """Lines and CPU seconds of one kind of generated source at a quarter of its size, a half, and all of it."""
    _tell(f"generated sources: {shape.name}")
    return [_generated(shape.make(shape.size // part), runs) for part in (4, 2, 1)]


def _tell(what: str) -> None:
    print(f"measuring {what}", file=sys.stderr, flush=True)


def _generated(files: dict[str, str], runs: int) -> tuple[int, float]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, "source", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        command = _xlalint("check", str(Path(folder, "source")), "--no-cache", *_QUIET)
        cost = _median(command, Path(folder), Path(folder), runs)
    return sum(text.count("\n") for text in files.values()), cost.seconds


def _small_jobs(package: Package, runs: int) -> dict[str, float]:
    """CPU milliseconds of the jobs that should feel instant."""
    by_size = sorted(package.files, key=lambda path: path.stat().st_size)
    middle, largest = by_size[len(by_size) // 2], by_size[-1]
    jobs = {
        "bare python": [sys.executable, "-c", "pass"],
        "xlalint --version": _xlalint("--version"),
        "xlalint rules": _xlalint("rules"),
        f"one file ({middle.name}, {_lines(middle)} lines), cold": _xlalint(
            "check", "--no-cache", "--exit-zero", str(middle)
        ),
        f"one file ({largest.name}, {_lines(largest)} lines), cold": _xlalint(
            "check", "--no-cache", "--exit-zero", str(largest)
        ),
    }
    with tempfile.TemporaryDirectory() as folder:
        away = Path(folder)
        return {
            name: 1000 * _median(command, away, away, max(runs, 5)).seconds
            for name, command in jobs.items()
        }


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


# --- printing ---------------------------------------------------------------------------------------------------------


def _print_rates(rows: Sequence[dict[str, object]]) -> None:
    tools = [name for name in rows[0] if name not in ("package", "lines")]
    print("Thousand lines per CPU-second; MiB at the peak of a cold run")
    print(f"{'package':<32}{'klines':>8}" + "".join(f"{tool:>14}" for tool in tools))
    for row in rows:
        cells = "".join(f"{_number(row[tool]):>14}" for tool in tools)
        print(f"{row['package']:<32}{_number(row['lines'], 1000):>8}{cells}")


def _number(value: object, unit: float = 1) -> str:
    return f"{value / unit:.1f}" if isinstance(value, (int, float)) else "-"


def _print_ratios(rows: Sequence[dict[str, object]]) -> None:
    """Medians over packages of how many times the lines per second xlalint (cold) reads."""
    print("\nxlalint cold, times as fast as")
    for tool in ("torchfix", "fixit", "ruff", "ruff all"):
        ratios = [
            own / other
            for row in rows
            if isinstance(own := row["xlalint cold"], float)
            and isinstance(other := row[tool], float)
        ]
        if ratios:
            print(f"  {tool:<10}{statistics.median(ratios):>8.2f}  (median of {len(ratios)})")


def _print_small(small: dict[str, float]) -> None:
    print("\nCPU milliseconds")
    for name, milliseconds in small.items():
        print(f"  {name:<60}{milliseconds:>8.0f}")


def _print_growth(growth: dict[str, list[tuple[int, float]]]) -> None:
    """What a further line costs while a source grows from a quarter to a half, and from there to the whole."""
    print(f"\nGenerated sources{'':<14}{'lines':>8}{'CPU s':>8}   microseconds per further line")
    for name, sizes in growth.items():
        steps = [
            1e6 * (after[1] - before[1]) / (after[0] - before[0])
            for before, after in pairwise(sizes)
        ]
        lines, seconds = sizes[-1]
        print(f"  {name:<29}{lines:>8}{seconds:>8.2f}   {steps[0]:>8.0f}, then {steps[1]:.0f}")


if __name__ == "__main__":
    sys.exit(main())
