"""What XLA404 calls refused, asked of the TPU compiler: each call is rejected, and its rewrite is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from xlalint.tpu import installed, targets
from xlalint.tpu.compiler import Compiler, Result
from xlalint.tpu.statuses import COMPILES, REJECTED

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "XLA404"
# Lowers the functions that the probes of the fixture in argv[1] call into the folder argv[2], by their names.
_LOWER = """\
import runpy, sys
from pathlib import Path
import tensorflow as tf
from tensorflow.python.eager.polymorphic_function import compiler_ir

for probe in runpy.run_path(sys.argv[1])["PROBES"]:
    function, specs = probe["call"], [tf.TensorSpec(one.shape, one.dtype) for one in probe["args"]()]
    concrete = function.get_concrete_function(*specs)
    hlo = compiler_ir.from_concrete_function(concrete, specs)("hlo_serialized")
    Path(sys.argv[2], function.python_function.__name__).write_bytes(hlo)
"""


def _installed() -> installed.Installed | None:
    try:
        return installed.find()
    except installed.Missing:
        return None


pytestmark = [
    pytest.mark.compiler,
    pytest.mark.skipif(_installed() is None, reason="libtpu is not installed"),
]


def compiled(name: str, folder: Path) -> dict[str, Result]:
    """By function: what the compiler makes of a fixture's."""
    subprocess.run([sys.executable, "-c", _LOWER, str(FIXTURES / name), str(folder)], check=True)
    found = _installed()
    assert found is not None
    compiler, target = Compiler(found, use_cache=False), targets.parse("tpu-v5e")
    return {
        path.name: compiler.compile(path.read_bytes(), target, 1)
        for path in sorted(folder.iterdir())
    }


def test_a_tpu_refuses_what_is_flagged_and_takes_the_rewrite(tmp_path: Path) -> None:
    flagged, fixed = tmp_path / "flagged", tmp_path / "fixed"
    flagged.mkdir()
    fixed.mkdir()
    refused = compiled("flagged_only_a_tpu_refuses.py", flagged)
    taken = compiled("fixed_only_a_tpu_refuses.py", fixed)
    names = ["dropped", "rows", "sampled", "seeded", "tones"]
    assert {name: one.status for name, one in refused.items()} == dict.fromkeys(names, REJECTED)
    assert {name: one.status for name, one in taken.items()} == dict.fromkeys(names, COMPILES)
