"""What the TPU compiler makes of calls that XLA compiles here, at its quick level and for one chip; see worker.py."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

from working import Worker, words

sys.path.append(str(Path(__file__).resolve().parents[3]))
# Labels of calls that XLA compiles here.
_COMPILES = ("compatible", "costly")
_QUICK = 9
_OPERATION = re.compile(r'op_name="([^"]+)"')


class TpuWorker(Worker):
    """Compiles the programs that the package's results say compile, forward and backward, in this process: a crash is a result."""

    def __init__(self, settings: dict[str, Any], out: Any) -> None:
        super().__init__(settings, out)
        from xlalint.tpu.installed import find
        from xlalint.tpu.options import compile_options
        from xlalint.tpu.pjrt import Library
        from xlalint.tpu.targets import parse

        target = parse(settings["tpu"])
        self._library = Library(Path(find().library))
        self._topology = self._library.topology(target.topology, target.options)
        self._options = compile_options(1, list(self._topology.devices[:1]), _QUICK)

    def run(self, done: dict[str, dict[str, Any]]) -> None:
        """Run the programs that compile here and are not done."""
        known = Path(self._settings["judged"]).read_text(encoding="utf-8").splitlines()
        labels = {r["program"]: r["label"] for r in map(json.loads, known) if "label" in r}
        seen = set(done)
        for program in self._programs():
            if program.name not in seen and labels.get(program.name) in _COMPILES:
                seen.add(program.name)
                self._one(program)
        self._write({"finished": True})

    def _judged(self, name: str, call: Any) -> dict[str, Any]:
        from compiler import graphs, stack_of

        from xlalint.tpu.pjrt import PjrtError

        record: dict[str, Any] = {
            "program": name,
            "label": "compiles",
            "stage": "",
            "error": "",
            "stack": [],
        }
        concrete = None
        try:
            for graph in graphs(call):
                record["stage"], concrete, hlo = graph
                self._note(name, record["stage"])
                with contextlib.redirect_stdout(io.StringIO()):
                    self._library.compile(self._topology, hlo, self._options)
        except PjrtError as error:
            named = _OPERATION.search(str(error))
            frames = stack_of(concrete, named[1].rpartition("/while/")[2]) if named else ()
            return {
                **record,
                "label": "refused",
                "error": words(error),
                "stack": self._stack(frames),
            }
        except Exception as error:
            return {**record, "label": "not run", "error": words(error)}
        return record
