"""Long and deep sources: costs grow with the lines, and nothing is lost at the far end or beside what is too deep."""

from __future__ import annotations

import cProfile
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from xlalint import engine
from xlalint.finding import CheckResult
from xlalint.project import settings

_GENERATED = Path(__file__).resolve().parent.parent / "benchmarks" / "speed" / "generated.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generated", _GENERATED)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


generated = _load()


def check(folder: Path, files: dict[str, str]) -> CheckResult:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return engine.check([str(folder)], settings.load([str(folder)], {}))


def places(result: CheckResult) -> list[tuple[str, str, int]]:
    return [(Path(f.path).name, f.code, f.span.line) for f in result.findings]


def last_line_with(files: dict[str, str], part: str) -> tuple[str, int]:
    """The last line that holds `part`, in the last file that has one."""
    found = [
        (Path(name).name, number)
        for name, text in files.items()
        for number, line in enumerate(text.split("\n"), 1)
        if part in line
    ]
    return found[-1]


# --- what is found far away -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [generated.call_chain, generated.call_chain_across_modules])
def test_a_condition_is_found_at_the_end_of_two_thousand_calls(make, tmp_path):
    files = make(2000)
    name, line = last_line_with(files, "if tf.reduce_sum(x) > 0:")
    result = check(tmp_path, files)
    assert places(result) == [(name, "XLA101", line)]
    assert not result.errors


def test_a_mask_is_found_at_the_end_of_two_thousand_methods(tmp_path):
    files = generated.method_chain(2000)
    name, line = last_line_with(files, "x[x > 0]")
    assert places(check(tmp_path, files)) == [(name, "XLA201", line)]


def test_a_condition_is_found_after_two_thousand_elifs(tmp_path):
    files = generated.branches(2000)
    name, line = last_line_with(files, "if tf.reduce_sum(x) > 0:")
    assert (name, "XLA101", line) in places(check(tmp_path, files))


# --- what is nested too deep ------------------------------------------------------------------------------------------

_HEAD = "import tensorflow as tf\n\n\n"
_END = "@tf.function(autograph=False)\ndef end(x):\n    if tf.reduce_sum(x) > 0:\n        return x\n    return -x\n"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("return " + "(" * 190 + "x" + " + 1)" * 190, id="parentheses"),
        pytest.param("return " + "[" * 190 + "x" + "]" * 190, id="lists"),
        pytest.param("return " + "tf.abs(" * 190 + "x" + ")" * 190, id="calls"),
        pytest.param("return " + "not " * 1000 + "x", id="not"),
        pytest.param("return " + "x if x is None else " * 1000 + "x", id="ternaries"),
        pytest.param("return x" + ".add(1)" * 700, id="methods"),
        pytest.param("return x" + "[0]" * 1000, id="subscripts"),
        pytest.param("return " + " + ".join(["x"] * 1000), id="sum"),
        pytest.param(
            "\n".join("    " * i + ("    if x:" if i else "if x:") for i in range(97))
            + "\n"
            + "    " * 98
            + "x = 1",
            id="ifs",
        ),
        pytest.param("\n    ".join(f"x = [x, {i}]" for i in range(1000)), id="growing list"),
    ],
)
def test_deep_source_is_understood_and_so_is_what_follows(body, tmp_path):
    text = f"{_HEAD}def deep(x):\n    {body}\n\n\n{_END}"
    _, line = last_line_with({"deep.py": text}, "if tf.reduce_sum")
    result = check(tmp_path, {"deep.py": text})
    assert ("deep.py", "XLA101", line) in places(result)
    assert not result.errors


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        pytest.param("(" * 1000 + "x" + ")" * 1000, "syntax error: too many", id="parentheses"),
        pytest.param("[" * 1000 + "x" + "]" * 1000, "syntax error: too many", id="lists"),
        pytest.param("lambda: " * 20_000 + "x", "nested too deep", id="lambdas"),
    ],
)
def test_a_file_too_deep_for_python_is_named_and_the_others_are_checked(expression, said, tmp_path):
    files = {"deep.py": f"{_HEAD}y = {expression}\n", "end.py": _HEAD + _END}
    result = check(tmp_path, files)
    assert [(Path(e.path).name, said in e.message) for e in result.errors] == [("deep.py", True)]
    assert places(result) == [("end.py", "XLA101", 6)]


def test_a_file_without_tensorflow_that_is_too_deep_costs_the_others_nothing(tmp_path):
    files = {
        "deep.py": "def g(x):\n    return x\n\n\ny = " + "not " * 5000 + "1\n",
        "end.py": "from deep import g, y\n" + _HEAD + _END.replace("return -x", "return g(x)"),
    }
    assert ("end.py", "XLA101", 7) in places(check(tmp_path, files))


# --- what it costs ----------------------------------------------------------------------------------------------------


def calls_made(folder: Path, files: dict[str, str]) -> int:
    """How many Python functions a check calls: work in a unit that a busy machine does not change."""
    profile = cProfile.Profile()
    profile.enable()
    check(folder, files)
    profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("shape", generated.SHAPES, ids=lambda shape: shape.name)
def test_twice_the_source_is_twice_the_work(shape, tmp_path):
    unit = max(shape.size // 20, 20)
    calls_made(tmp_path / "first", shape.make(20))  # what a process reads once is not counted
    quarter, half, whole = (
        calls_made(tmp_path / str(n), shape.make(n)) for n in (unit, 2 * unit, 4 * unit)
    )
    # Linear: the second step is twice the first. Quadratic: four times.
    assert whole - half < 2.6 * (half - quarter)
