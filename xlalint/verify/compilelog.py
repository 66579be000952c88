"""Count XLA's compilations from what TensorFlow logs of each: the only counter that sees them all.

`experimental_get_tracing_count` counts traces, of which one may be compiled many times; the log has a line per compilation
(TensorFlow 2.12 to 2.21) when `ENVIRONMENT` was set before TensorFlow's import.
"""

from __future__ import annotations

import re

from xlalint.verify.jobs import PHASE

ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "0",
    "TF_CPP_VMODULE": "device_compilation_profiler=1",
}
_COMPILED = re.compile(r"Compiled (\S+) (\d+) times?, compile time: (\d+) us")
_GENERATED = re.compile(r"^__inference_|_\d+$")


class CompileLog:
    """Feed it the lines of a child's stderr; `during` tells what was compiled in a phase."""

    def __init__(self) -> None:
        self._phase = "start"
        self._counts: dict[str, dict[str, int]] = {}

    def line(self, text: str) -> None:
        if text.startswith(PHASE):
            self._phase = text[len(PHASE) :].strip()
            return
        match = _COMPILED.search(text)
        if match:
            counts = self._counts.setdefault(self._phase, {})
            name = _GENERATED.sub("", match[1])
            counts[name] = counts.get(name, 0) + 1

    def during(self, phase: str) -> dict[str, int]:
        """Function name -> number of compilations, the most compiled first."""
        counts = self._counts.get(phase, {})
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
