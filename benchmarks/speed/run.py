"""Time `xlalint check` beside TorchFix, Fixit and ruff on the same pinned packages.

    python benchmarks/speed/run.py --cache ~/.cache/xlalint-benchmarks

Packages are downloaded (never installed) and the peers installed into an environment of their own, once, into --cache.
Prints thousand lines per CPU-second, user and system time of the process and its children, as medians over several
runs; then how many times as fast as each peer xlalint is; then start-up and single-file times. The two slow peers run
once, and only on packages of at most --peer-lines lines.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from packages import Package, fetch, pinned

PEERS = ("torchfix==0.7.0", "fixit==2.2.1", "ruff==0.17.5")
SLOW = ("torchfix", "fixit")
_CHECKOUT = Path(__file__).resolve().parent.parent.parent


def main() -> int:
    """Measure and print; with --json also write the figures."""
    arguments = _arguments()
    cache = arguments.cache.expanduser().resolve()
    packages = [fetch(pin, cache) for pin in arguments.packages or pinned()]
    peers = _peers(cache)
    rows = [_measure(package, peers, cache, arguments) for package in packages]
    _print_rates(rows)
    _print_ratios(rows)
    small = _small_jobs(packages[0], arguments.runs)
    _print_small(small)
    if arguments.json:
        figures = {"klines_per_cpu_second": rows, "cpu_ms": small}
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


def _commands(package: Package, peers: Path, with_torch: Path) -> dict[str, list[str]]:
    folder = str(package.folder)
    quiet = ("--exit-zero", "--format", "json", "--output-file", os.devnull)
    return {
        "xlalint cold": _xlalint("check", folder, "--no-cache", *quiet),
        "xlalint warm": _xlalint("check", folder, *quiet),
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


def _cpu_seconds(command: Sequence[str], folder: Path, cache: Path) -> float:
    """CPU time, user and system, of a command and all its children. Findings (status 1) are no failure."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "XLALINT_CACHE_DIR": str(cache), "PYTHONPATH": str(_CHECKOUT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1) or b"Traceback" in done.stderr:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr.decode()}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _median(command: Sequence[str], folder: Path, cache: Path, runs: int) -> float:
    return statistics.median(_cpu_seconds(command, folder, cache) for _ in range(runs))


def _measure(
    package: Package, peers: Path, downloads: Path, arguments: argparse.Namespace
) -> dict[str, object]:
    """Thousand lines per CPU-second by tool; None where a slow peer was not run."""
    row: dict[str, object] = {"package": package.name, "lines": package.lines}
    commands = _commands(package, peers, _with_torch(package, downloads))
    with tempfile.TemporaryDirectory() as folder:
        away, cache = Path(folder), Path(folder) / "cache"
        for tool, command in commands.items():
            if tool in SLOW and package.lines > arguments.peer_lines:
                row[tool] = None
                continue
            runs = 1 if tool in SLOW else arguments.runs
            if tool == "xlalint warm":
                _cpu_seconds(command, away, cache)
            seconds = _median(command, away, cache, runs)
            row[tool] = package.lines / 1000 / seconds
    return row


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
            name: 1000 * _median(command, away, away, max(runs, 5))
            for name, command in jobs.items()
        }


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


# --- printing ---------------------------------------------------------------------------------------------------------


def _print_rates(rows: Sequence[dict[str, object]]) -> None:
    tools = [name for name in rows[0] if name not in ("package", "lines")]
    print("Thousand lines per CPU-second")
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


if __name__ == "__main__":
    sys.exit(main())
