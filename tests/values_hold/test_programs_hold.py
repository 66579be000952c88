"""What the analysis believes of the expressions of whole programs is what they hold when the programs run: of all fixtures, eagerly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from xlalint.engine import Inspection, inspect
from xlalint.project.settings import Settings
from xlalint.semantics.beliefs import Belief, told
from xlalint.semantics.facts import ASSUMED, COMPILED
from xlalint.semantics.values import NDARRAY, PYTHON, Value

pytestmark = pytest.mark.compiler

_FIXTURES = Path(__file__).parents[2] / "fixtures"
# Programs that are watched by one child, at most; all children watch about as many.
_TOGETHER = 90
_PROGRAMS = sorted(_FIXTURES.glob("XLA[124]*/*.py"))
_ROUNDS = range(-(-len(_PROGRAMS) // _TOGETHER))
# Where an eager run holds something else than the graph does, by program and line.
_KNOWN = {
    "XLA101/flagged_tests_of_numbers.py:55": "`and` gives one of its operands, the graph a truth value",
    "XLA106/flagged_floating_functions.py:25": "the arms before it stop tracing",
    "XLA107/flagged_names_rebound.py:16": "the graph never sees what a function binds outside of the loop that calls it",
    "XLA107/near_names_rebound.py:16": "AutoGraph turns the loop into one of Python",
}


def _watched(paths: Sequence[Path]) -> dict[str, list[Any]]:
    """What the expressions of programs hold, by path. A program that takes the child down costs its own."""
    found: dict[str, list[Any]] = {}
    waiting = [str(path) for path in paths]
    while waiting:
        ran = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("watch.py")), *waiting],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        lines = [line for line in ran.stdout.splitlines() if line.startswith('{"path"')]
        found.update((told["path"], told["seen"]) for told in map(json.loads, lines))
        assert lines or ran.returncode < 0, ran.stderr[-2000:]
        waiting = waiting[len(lines) + (ran.returncode < 0) :]
    return found


def _wrong(path: Path, seen: list[Any]) -> Iterator[str]:
    """Expressions of which the analysis is sure of something else than what they held."""
    inspection = inspect(str(path), (), Settings(root=path.parent, target="cpu"))
    assert isinstance(inspection, Inspection)
    believed = {
        (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset): beliefs  # type: ignore[attr-defined]
        for node, beliefs in inspection.beliefs.of(inspection.module).items()
        if hasattr(node, "end_lineno") and hasattr(node, "lineno")
    }
    lines = path.read_text(encoding="utf-8").splitlines()
    for *span, kinds in seen:
        line = span[0]
        # Tracing stops where an error is expected: what would follow is nobody's business.
        if "# expect" in lines[line - 1] or f"{_name(path)}:{line}" in _KNOWN or None in kinds:
            continue
        values = [one.value for one in believed.get(tuple(span), ()) if _is_traced(one)]
        if values and all(_is_refuted(value, kinds) for value in values):
            yield f"{_name(path)}:{line}:{span[1] + 1}: {told(values[0])}, not {kinds[:3]}"


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _is_traced(belief: Belief) -> bool:
    return belief.context.region in (COMPILED, ASSUMED)


def _is_refuted(value: Value, kinds: list[Any]) -> bool:
    """Whether none of the tensors that were seen is what the analysis is sure of."""
    if value.kind in (PYTHON, NDARRAY):
        return True
    if not value.is_tensor or value.structured or value.is_data_sized:
        return False
    return not any(_may_be(value, dtype, shape) for dtype, shape in kinds)


def _may_be(value: Value, dtype: str, shape: list[int] | None) -> bool:
    # A number of Python that meets a tensor of an unknown dtype is not told from float64.
    if value.dtype is not None and value.sure and not dtype.startswith(value.dtype):
        return False
    if shape is None:
        return True
    if value.shape is not None:
        is_alike = len(value.shape) == len(shape)
        return is_alike and all(a in (None, b) for a, b in zip(value.shape, shape, strict=True))
    return not value.rank or value.rank <= len(shape)


@pytest.mark.parametrize("round_", _ROUNDS)
def test_what_is_believed_of_a_program_is_what_it_holds(round_: int) -> None:
    paths = _PROGRAMS[round_ :: len(_ROUNDS)]
    seen = _watched(paths)
    assert len(seen) > 0.9 * len(paths)
    assert sum(map(len, seen.values())) > 20 * len(paths)  # else nothing was watched
    wrong = [one for path in paths for one in _wrong(path, seen.get(str(path), []))]
    assert not wrong, "\n".join(wrong)
