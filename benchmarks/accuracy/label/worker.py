"""Runs a package's programs one after another; one line of JSON per stage and per outcome on the file given.

Started by __main__.py, which watches it: a program that kills or stalls this process is a result as well.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from working import Worker


def main() -> None:
    """Run all programs that the file of results does not know yet."""
    settings = json.loads(sys.argv[1])
    results = Path(settings["results"])
    os.chdir(tempfile.mkdtemp())
    with results.open("a", encoding="utf-8") as out:
        worker = _kind(settings)(settings, out)
        if settings["locate"]:
            worker.locate(settings["locate"])
        else:
            worker.run(_done(results))


def _kind(settings: dict[str, Any]) -> type[Worker]:
    if settings["tpu"]:
        from on_tpu import TpuWorker

        return TpuWorker
    if not settings["tests"]:
        return Worker
    from testing import TestsWorker

    return TestsWorker


def _done(results: Path) -> dict[str, dict[str, Any]]:
    if not results.is_file():
        return {}
    lines = results.read_text(encoding="utf-8").splitlines()
    return {record["program"]: record for record in map(json.loads, lines) if "label" in record}


if __name__ == "__main__":
    main()
