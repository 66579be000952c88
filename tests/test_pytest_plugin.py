"""`pytest --xlalint-verify`: targets as test items, with verify's report in the place of tracebacks."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

import xlalint
from xlalint.pytest_plugin.scheduling import scope_of

pytest_plugins = ["pytester"]

SETTINGS = """\
[tool.xlalint.verify]
scripts = ["train.py --size 3"]
steps = 2
"""
LIBRARY = """\
import tensorflow as tf


def total(values, mask):
    return tf.reshape(values[mask], [4])


@tf.function(jit_compile=True)
def unused(x):
    return tf.unique_with_counts(x)
"""
LONELY = """\
import tensorflow as tf


@tf.function(jit_compile=True)
def nobody(x):
    return tf.unique_with_counts(x)
"""
TRAIN = """\
import tensorflow as tf
from library import total, unused


@tf.function(jit_compile=True)
def fine(x):
    return x * 2.0


@tf.function
def step(x, mask):
    return total(x, mask)


fine(tf.ones([3]))
step(tf.ones([4]), tf.constant([True] * 4))
"""
EXPORTED = """\
import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec([4], tf.float32)])
def counts(x):
    return tf.unique_with_counts(x)[2]
"""
TEST = "import sys\n\n\ndef test_own():\n    assert 'tensorflow' not in sys.modules\n"
IDS = [
    "xlalint::train.py --size 3::run",
    "xlalint::train.py --size 3::library.py:total",
    "xlalint::train.py --size 3::library.py:unused",
    "xlalint::train.py --size 3::the rest",
    "xlalint::exported.py::counts",
    "xlalint::exported.py::the rest",
    "xlalint::library.py::total",
    "xlalint::library.py::unused",
    "xlalint::library.py::the rest",
    "xlalint::lonely.py::nobody",
    "xlalint::lonely.py::the rest",
]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    for name, text in {
        "pyproject.toml": SETTINGS,
        "library.py": LIBRARY,
        "lonely.py": LONELY,
        "train.py": TRAIN,
        "exported.py": EXPORTED,
        "tests/test_own.py": TEST,
    }.items():
        path = pytester.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(Path(xlalint.__file__).parents[1]))
    return pytester


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """In a process of its own, with the plugin also where xlalint is not installed."""
    installed = importlib.metadata.entry_points(group="pytest11", name="xlalint")
    named = () if installed else ("-p", "xlalint.pytest_plugin")
    return project.run(sys.executable, "-m", "pytest", *named, *arguments)


def ids(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith("xlalint::")]


def test_targets_are_items_with_stable_ids(project: pytest.Pytester) -> None:
    result = run(project, "--xlalint-verify", "--collect-only", "-q")
    assert ids(result) == IDS
    result.stdout.fnmatch_lines(["tests/test_own.py::test_own", "12 tests collected*"])


def test_without_the_option_there_is_nothing_of_it(project: pytest.Pytester) -> None:
    (project.path / "tests" / "test_own.py").write_text(
        "import sys\n\n\ndef test_own():\n"
        "    assert {name for name in sys.modules if name.startswith('xlalint')} <= {'xlalint', 'xlalint.pytest_plugin'}\n"
    )
    result = run(project)
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("arguments", "chosen"),
    [
        (("-k", "total"), [IDS[1], IDS[6]]),
        (("-k", "exported"), IDS[4:6]),
        (("-m", "not xlalint"), []),
        (("-m", "xlalint"), IDS),
        (
            ("--xlalint-script", "exported.py", "-k", "run or counts"),
            ["xlalint::exported.py::run", "xlalint::exported.py::counts"],
        ),
    ],
)
def test_items_are_chosen_as_tests_are(
    arguments: tuple[str, ...], chosen: list[str], project: pytest.Pytester
) -> None:
    assert ids(run(project, "--xlalint-verify", "--collect-only", "-q", *arguments)) == chosen


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('[tool.xlalint.verify]\nscripts = ["absent.py"]', "absent.py: no such file"),
        ('[tool.xlalint.verify]\nscripts = ["make train"]', "`make` is not Python"),
        ("[tool.xlalint.verify]\nscript = []", "unknown key verify.script; did you mean"),
    ],
)
def test_settings_that_cannot_be_used_are_a_usage_error(
    settings: str, message: str, project: pytest.Pytester
) -> None:
    (project.path / "pyproject.toml").write_text(settings)
    result = run(project, "--xlalint-verify")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()
    assert "Traceback" not in result.stderr.str()


def test_without_tensorflow_the_extra_is_named(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = project.mkdir("site")
    (site / "sitecustomize.py").write_text("import sys\nsys.modules['tensorflow'] = None\n")
    monkeypatch.setenv("PYTHONPATH", f"{site}:{Path(xlalint.__file__).parents[1]}")
    monkeypatch.setenv("PATH", "/nowhere")
    result = run(project, "--xlalint-verify")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*pip install 'xlalint*verify*'"])


def test_items_of_one_program_go_to_one_worker() -> None:
    tests = ["tests/test_a.py::test_one", "tests/test_a.py::test_two"]
    assert [scope_of(name) for name in tests] == tests
    assert {scope_of(name) for name in IDS[:4]} == {"train.py --size 3"}
    assert scope_of("xlalint::train.py::run under mirrored") != scope_of("xlalint::train.py::run")


@pytest.mark.compiler
@pytest.mark.parametrize("workers", [(), ("-n", "4")])
def test_outcomes_are_verifys_and_failures_its_report(
    workers: tuple[str, ...], project: pytest.Pytester
) -> None:
    if workers:
        pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    result = run(project, "--xlalint-verify", "-rs", "--junitxml=junit.xml", *workers)
    result.assert_outcomes(passed=4, failed=4, skipped=4)
    result.stdout.fnmatch_lines(
        [
            "*_ counts in exported.py _*",
            "*exported.py:6:12: lower: UniqueWithCounts has no XLA kernel",
            "*6 | return tf.unique_with_counts(x)[[]2[]]",
        ]
    )
    text = result.stdout.str()
    assert "SKIPPED [1] library.py:10: not reached: nothing that was run calls unused" in text
    assert "FAIL lonely.py:4 nobody" in text
    assert "SKIPPED [1] exported.py:1: nothing else was compiled" in text
    assert (
        "Traceback" not in text and "changed files of yours" not in text and "runtest" not in text
    )
    junit = (project.path / "junit.xml").read_text()
    assert 'name="counts"' in junit and "UniqueWithCounts has no XLA kernel" in junit
