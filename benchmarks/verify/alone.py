"""A program by itself, left after some steps: `python benchmarks/verify/alone.py STEPS PROGRAM`.

One that asks for a TPU gets the stand-in, since it compiles its step.
"""

from __future__ import annotations

import contextlib
import runpy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from xlalint.verify import hooks, standin, steps

wanted, program = int(sys.argv[1]), sys.argv[2]
sys.argv[:] = [program]
sys.path[0] = str(Path(program).parent)
if "TPUStrategy" in Path(program).read_text():
    hooks.install({"tensorflow": lambda: standin.install(8, lambda event: None)})
steps.limit(wanted, lambda step: None)
with contextlib.suppress(steps.StepsDone):
    runpy.run_path(program, run_name="__main__")
