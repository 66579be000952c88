"""Runs a script as verify's child process does, and writes what was seen as JSON.

usage: driver.py OPTIONS_JSON SCRIPT
"""

from __future__ import annotations

import dataclasses
import json
import runpy
import sys
from pathlib import Path
from typing import Any

from xlalint.verify import hooks, outputs, standin, steps


def main() -> None:
    options, script = json.loads(sys.argv[1]), sys.argv[2]
    report: dict[str, Any] = {"events": [], "steps": [], "end": "returned", "error": None}
    standins: list[standin.Standin] = []
    if options["tpu"]:
        hooks.install({"tensorflow": lambda: standins.append(standin.install(options["tpu"]))})
    written = outputs.Outputs(project=[Path(script).parent])
    written.start()
    limiter = steps.limit(
        options["steps"], lambda step: report["steps"].append(dataclasses.asdict(step))
    )
    capture = steps.Capture([(path, line) for path, line in options["flagged"]])
    capture.start()
    sys.argv = [script]
    try:
        runpy.run_path(script, run_name="__main__")
    except steps.StepsDone:
        report["end"] = "stopped"
    except Exception as error:
        report["end"] = "failed"
        report["error"] = f"{type(error).__name__}: {error}"
    report["done"] = limiter.done
    report["hook_failures"] = [repr(failure) for failure in hooks.install({}).failures]
    report["events"] = [dataclasses.asdict(event) for each in standins for event in each.events]
    report["programs"] = [program.name for each in standins for program in each.programs]
    report["captured"] = [_shown(one) for one in capture.results()]
    report["outputs"] = sorted(
        str(path.relative_to(written.root)) for path in written.root.rglob("*") if path.is_file()
    )
    capture.stop()
    written.undo()
    Path(options["report"]).write_text(json.dumps(report))


def _shown(one: steps.Captured) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "name": one.name,
        "line": one.line,
        "path": one.path,
        "calls": one.calls,
        "traces": one.traces,
        "bound_to": type(one.bound_to).__name__ if one.bound_to is not None else None,
        "examples": [
            {
                "args": _plain(call.args),
                "kwargs": _plain(dict(call.kwargs)),
                "has_values": call.has_values,
            }
            for call in one.examples
        ],
        "signatures": [_plain(signature.args) for signature in one.signatures],
    }


def _plain(value: Any) -> Any:
    """JSON for arguments: values of small tensors, shapes and dtypes of specs."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if type(value).__name__ == "TensorSpec":
        return f"{value.dtype.name}{value.shape}"
    if type(value).__name__ == "ndarray":
        return value.tolist()
    if hasattr(value, "numpy"):
        return value.numpy().tolist()
    if isinstance(value, (int, float, str, type(None))):
        return value
    return type(value).__name__


if __name__ == "__main__":
    main()
