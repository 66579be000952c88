"""Label the functions of a package by what XLA makes of them.

    PYTHON benchmarks/accuracy/label PACKAGE --work DIR [--fresh]
    PYTHON benchmarks/accuracy/label PACKAGE --work DIR --tests FOLDER
    PYTHON benchmarks/accuracy/label PACKAGE --work DIR --tpu tpu-v5e

Runs in an environment where the package can be imported. Calls the programs written for the package (programs/PACKAGE.py)
and the public functions and classes that it finds, one after another in a child process, and keeps what came of each in
DIR/PACKAGE.jsonl, so that a run that was stopped goes on where it was. With --tests, runs the package's unit tests instead,
with pytest, and calls what they call with their arguments. Then writes labels/PACKAGE.tsv of all that DIR knows.

With --tpu, hands the programs that DIR says compile to that TPU's compiler instead, keeps what it says of each in
DIR/PACKAGE.tpu.jsonl, and prints what it refuses.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomllib

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from labels import write
from merge import merged
from places import Sources

_HERE = Path(__file__).resolve().parent
_STALL_SECONDS = 90
_COMPILING = ("lower", "run", "locate", "gradient", "second shape")
_MEMORY_BYTES = 5 << 30


def main() -> int:
    """Run or go on running one package's programs, then write its labels."""
    arguments = _arguments()
    packages = _packages(arguments.packages_file)
    entry = next(p for p in packages if p["name"] == arguments.package)
    tests = str(arguments.tests.resolve()) if arguments.tests else ""
    judged = arguments.work.resolve() / f"{arguments.package}.jsonl"
    results = judged.with_suffix(".tpu.jsonl") if arguments.tpu else judged
    results.parent.mkdir(parents=True, exist_ok=True)
    if arguments.fresh:
        results.unlink(missing_ok=True)
    deadline = time.monotonic() + arguments.seconds
    tpu = (arguments.tpu, str(judged)) if arguments.tpu else None
    while time.monotonic() < deadline and not _is_finished(results, tests):
        why = _watch(_start(entry, results, tests, tpu=tpu), results, deadline, tests)
        if why and tpu:
            _note_end(results, why)
        elif why:
            _note_death(entry, results, why, tests)
    records = list(_records(results))
    _print(arguments.package, records)
    if tpu:
        _print_refused(records)
        return 0
    sources = Sources(entry.get("import", entry["name"]), _folder(entry))
    write(arguments.labels / f"{arguments.package}.tsv", merged(records, sources))
    return 0


def _folder(entry: dict[str, Any]) -> Path:
    """The folder that the package is installed in."""
    spec = importlib.util.find_spec(entry.get("import", entry["name"]))
    # A package without an __init__.py has folders alone.
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not folders:
        raise SystemExit(f"{entry['name']} is not installed here")
    return Path(folders[0]).resolve().parent


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("package", help="a name of packages.toml")
    parser.add_argument("--work", type=Path, required=True, help="folder for results")
    parser.add_argument("--tests", type=Path, help="folder of the package's unit tests")
    parser.add_argument("--tpu", help="a target of xlalint's, such as tpu-v5e")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    parser.add_argument(
        "--labels", type=Path, default=_HERE.parent / "labels", help="folder of labels"
    )
    parser.add_argument(
        "--packages-file", type=Path, default=_HERE.parent / "packages.toml", help="which packages"
    )
    return parser.parse_args()


def _packages(file: Path) -> list[dict[str, Any]]:
    return list(tomllib.loads(file.read_text(encoding="utf-8"))["package"])


def _start(
    entry: dict[str, Any],
    results: Path,
    tests: str,
    locate: str = "",
    tpu: tuple[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    name = entry.get("import", entry["name"])
    written = _HERE.parent / "programs" / f"{entry['name']}.py"
    settings = {
        "package": name,
        "results": str(results),
        "written": entry["name"] if written.is_file() else "",
        "discover": entry.get("discover", True),
        "skip": entry.get("skip", []),
        "only": entry.get("only", []),
        "tests": tests,
        "locate": locate,
        "tpu": tpu[0] if tpu else "",
        "judged": tpu[1] if tpu else "",
    }
    environment = {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "-1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "AUTOGRAPH_VERBOSITY": "0",
        # Code is judged, not its speed.
        "XLA_FLAGS": "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true",
    }
    if "legacy_keras" in entry:
        environment["TF_USE_LEGACY_KERAS"] = str(int(entry["legacy_keras"]))
    command = [sys.executable, str(_HERE / "worker.py"), json.dumps(settings)]
    with (results.parent / f"{entry['name']}.log").open("ab") as log:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
        )


def _watch(worker: subprocess.Popen[bytes], results: Path, deadline: float, tests: str) -> str:
    """Wait for the end of `worker`, or end it; why it ended, nothing where the time was up or all is done."""
    said, changed = -1, time.monotonic()
    while worker.poll() is None:
        time.sleep(1)
        size = results.stat().st_size if results.is_file() else 0
        if size != said:
            said, changed = size, time.monotonic()
        why = ""
        if time.monotonic() - changed > _STALL_SECONDS:
            why = "takes too long"
        elif _memory(worker.pid) > _MEMORY_BYTES:
            why = "takes too much memory"
        if why or time.monotonic() > deadline:
            worker.kill()
            worker.wait()
            return why
    return "" if _is_finished(results, tests) else f"ended with {worker.returncode}"


def _memory(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError):
        return 0
    return pages * resource.getpagesize()


def _note_death(entry: dict[str, Any], results: Path, why: str, tests: str) -> None:
    last = next(reversed(list(_records(results))), {})
    if "begins" not in last:
        raise SystemExit(f"the worker ended between programs: {why}; see the log")
    # Only a crash of the compiler is the compiled code's fault.
    is_crash = why.startswith("ended") and last["begins"] in _COMPILING
    record = {
        "program": last["program"],
        "label": "incompatible" if is_crash else "not run",
        "stage": f"crash: {last['begins']}" if is_crash else last["begins"],
        "error": why,
        "lines": {},
        "offenders": [{"error": why, "stack": _crashing(entry, last["program"], results, tests)}]
        if is_crash
        else [],
    }
    with results.open("a", encoding="utf-8") as out:
        out.write(json.dumps(record) + "\n")


def _note_end(results: Path, why: str) -> None:
    """The process that held the TPU compiler ended: with it, or because the program took too long or too much."""
    last = next(reversed(list(_records(results))), {})
    if "begins" not in last:
        raise SystemExit(f"the worker ended between programs: {why}; see the log")
    is_crash = why.startswith("ended") and last["begins"] in ("forward", "gradient")
    record = {"label": "refused" if is_crash else "not run", "stage": last["begins"], "stack": []}
    with results.open("a", encoding="utf-8") as out:
        out.write(json.dumps({"program": last["program"], **record, "error": why}) + "\n")


def _crashing(entry: dict[str, Any], program: str, results: Path, tests: str) -> list[Any]:
    """The stack of the operation that kills the compiler: its parts are run until one does."""
    worker = _start(entry, results, tests, program)
    _watch(worker, results, time.monotonic() + _STALL_SECONDS, tests)
    last = list(_records(results))[-1]
    return list(last.get("stack", [])) if worker.returncode else []


def _records(results: Path) -> Iterator[dict[str, Any]]:
    if results.is_file():
        yield from map(json.loads, results.read_text(encoding="utf-8").splitlines())


def _is_finished(results: Path, tests: str) -> bool:
    wanted = "tests" if tests else True
    return any(record.get("finished") == wanted for record in _records(results))


def _print(package: str, records: list[dict[str, Any]]) -> None:
    counted = Counter(record["label"] for record in records if "label" in record)
    print(f"{package}: " + ", ".join(f"{n} {label}" for label, n in sorted(counted.items())))


def _print_refused(records: list[dict[str, Any]]) -> None:
    for record in records:
        if record.get("label") == "refused":
            path, line = (record["stack"] or [("", 0)])[-1]
            print(f"{path}:{line}: {record['program']} ({record['stage']}): {record['error']}")


if __name__ == "__main__":
    sys.exit(main())
