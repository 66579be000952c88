"""Count XLA's compilations from what TensorFlow logs of each: the only counter that sees them all.

`experimental_get_tracing_count` counts traces, of which one may be compiled many times; the log has a line per compilation
(TensorFlow 2.12 to 2.21) when `ENVIRONMENT` was set before TensorFlow's import.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xlalint.isolation.wire import PHASE
from xlalint.verify.jobs import CALL

ENVIRONMENT = {
    "TF_CPP_MIN_LOG_LEVEL": "0",
    "TF_CPP_VMODULE": "device_compilation_profiler=1",
}
_COMPILED = re.compile(r"Compiled (\S+) (\d+) times?, compile time: (\d+) us")
_CALL = re.compile(rf"^{CALL} (\d+)$")
_GENERATED = re.compile(r"^__inference_|_\d+$")


@dataclass(frozen=True, slots=True)
class Compilation:
    """One compilation by XLA: of which function, in which call (0: before the first), for how many wall seconds."""

    function: str
    call: int
    seconds: float


class CompileLog:
    """Feed it the lines of a child's stderr; `during` tells what was compiled in a phase."""

    def __init__(self) -> None:
        self._phase = "start"
        self._call = 0
        self._compilations: dict[str, list[Compilation]] = {}

    def line(self, text: str) -> None:
        if text.startswith(PHASE):
            self._phase, self._call = text[len(PHASE) :].strip(), 0
        elif match := _CALL.search(text):
            self._call = int(match[1])
        elif match := _COMPILED.search(text):
            name = _GENERATED.sub("", match[1])
            made = Compilation(name, self._call, int(match[3]) / 1e6)
            self._compilations.setdefault(self._phase, []).append(made)

    def during(self, phase: str) -> dict[str, int]:
        """Function name -> number of compilations, the most compiled first."""
        counts: dict[str, int] = {}
        for made in self.compilations(phase):
            counts[made.function] = counts.get(made.function, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def compilations(self, phase: str) -> tuple[Compilation, ...]:
        """In the order in which they were made."""
        return tuple(self._compilations.get(phase, ()))
