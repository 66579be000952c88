"""What verify decides to run, and where, from the command line and the sources alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cli_support import WriteFiles

from xlalint.finding import Finding, Region, Severity, Span
from xlalint.verify import choices, plan
from xlalint.verify.command import Command, PlanError, parse_command
from xlalint.verify.jobs import (
    AS_IS,
    CENTRAL_STORAGE,
    MIRRORED,
    MULTI_WORKER,
    PARAMETER_SERVER,
    STANDIN,
)

TRAIN = "print('training')\n"


def finding(path: str, line: int) -> Finding:
    span = Span(line, 1, line, 2)
    return Finding("XLA101", "x", Severity.ERROR, path, span, "", "f", Region("compiled"), "")


COMMANDS = [
    (["python", "train.py"], (), "train.py", False, ()),
    (["python3.11", "-u", "train.py", "--size", "3"], ("-u",), "train.py", False, ("--size", "3")),
    (
        ["python", "-X", "dev", "-W", "error", "train.py"],
        ("-X", "dev", "-W", "error"),
        "train.py",
        False,
        (),
    ),
    (["python", "-m", "pkg.train", "-m", "x"], (), "pkg.train", True, ("-m", "x")),
    (["train.py", "--fast"], (), "train.py", False, ("--fast",)),
]


@pytest.mark.parametrize(("words", "options", "run", "is_module", "arguments"), COMMANDS)
def test_a_command_is_read_as_python_reads_it(
    words: list[str],
    options: tuple[str, ...],
    run: str,
    is_module: bool,
    arguments: tuple[str, ...],
    write: WriteFiles,
) -> None:
    folder = write({"train.py": TRAIN})
    command = parse_command(words, folder)
    assert (command.python[1:], command.run, command.is_module, command.arguments) == (
        options,
        run,
        is_module,
        arguments,
    )


REFUSED = [
    ([], "nothing after `--`"),
    (["bash", "train.sh"], "`bash` is not Python"),
    (["python"], "alone runs nothing"),
    (["python", "-c", "pass"], "`python -c` cannot be verified"),
    (["python", "missing.py"], "missing.py: no such file"),
    (["/nowhere/bin/python", "train.py"], "there is no interpreter /nowhere/bin/python"),
]


@pytest.mark.parametrize(("words", "message"), REFUSED)
def test_what_is_no_python_program_is_refused(
    words: list[str], message: str, write: WriteFiles
) -> None:
    folder = write({"train.py": TRAIN})
    with pytest.raises(PlanError, match=message):
        parse_command(words, folder)


def test_a_python_without_tensorflow_gives_way_to_this_one(write: WriteFiles) -> None:
    folder = write({"train.py": TRAIN, "bin/python": "#!/bin/sh\n"})
    (folder / "bin/python").chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(folder / "bin"))
        assert parse_command(["python", "train.py"], folder).python == (sys.executable,)


def test_a_python_with_tensorflow_is_the_one_that_runs(write: WriteFiles) -> None:
    folder = write(
        {
            "train.py": TRAIN,
            "bin/python": "#!/bin/sh\n",
            "lib/python3.11/site-packages/tensorflow/__init__.py": "",
        }
    )
    (folder / "bin/python").chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(folder / "bin"))
        assert parse_command(["python", "train.py"], folder).python == (str(folder / "bin/python"),)


PROJECT = {
    "pkg/__init__.py": "",
    "pkg/train.py": "from . import model\nfrom pkg.data import load\nimport numpy\n",
    "pkg/model.py": "from .layers import Gate\n",
    "pkg/layers.py": "",
    "pkg/data.py": "",
    "pkg/unused.py": "",
}


def test_the_sources_of_a_module_are_what_it_imports_of_the_project(write: WriteFiles) -> None:
    folder = write(PROJECT)
    command = parse_command(["python", "-m", "pkg.train"], folder)
    found = {str(path.relative_to(folder)) for path in plan.sources_of(command, folder)}
    assert found == {
        "pkg/__init__.py",
        "pkg/train.py",
        "pkg/model.py",
        "pkg/layers.py",
        "pkg/data.py",
    }


@pytest.mark.parametrize(
    ("folder", "module", "roots"),
    [
        ("pkg", "pkg.m", {""}),
        ("src", "src.m", {"", "src"}),
        ("my-project", "my-project.m", {"", "my-project"}),
        ("pkg-1.0", "m", {"pkg-1.0"}),
    ],
)
def test_a_module_is_imported_by_its_name_from_where_its_package_begins(
    write: WriteFiles, folder: str, module: str, roots: set[str]
) -> None:
    base = write({f"{folder}/__init__.py": "", f"{folder}/m.py": ""})
    name, root = plan.module_name(base / folder / "m.py")
    assert name == module
    assert plan.import_roots(root, name, root) == tuple(
        sorted(str((base / each).resolve()) for each in roots)
    )


@pytest.mark.parametrize(
    ("file", "run", "is_module"),
    [
        ("pkg/train.py", "pkg.train", True),  # both kinds of imports
        ("pkg/model.py", "pkg.model", True),
        ("pkg/unused.py", "pkg/unused.py", False),  # runs anywhere
        ("tool.py", "tool.py", False),  # in no package
    ],
)
def test_a_file_that_needs_its_package_is_run_as_a_module(
    write: WriteFiles, file: str, run: str, is_module: bool
) -> None:
    folder = write({**PROJECT, "tool.py": "import pkg.train\n"})
    command = plan.program_at(file, folder)
    assert (command.run, command.is_module) == (run, is_module)
    assert plan.sources_of(command, folder)[0] == folder / file
    (job, *_) = plan.training_jobs(command, plan.Options(strategy="none"), [], folder)
    assert job.first_path == str(folder if is_module else (folder / file).parent)


STRATEGIES = [
    ("model.fit(x)", None, [(AS_IS, 1, False, False), (MIRRORED, 2, True, False)]),
    ("model.fit(x)", "none", [(AS_IS, 1, False, False)]),
    ("model.fit(x)", "tpu", [(STANDIN, 8, True, False)]),
    ("model.fit(x)", "one-device", [(AS_IS, 1, False, False), ("one-device", 1, True, False)]),
    (
        "s = tf.distribute.TPUStrategy()",
        None,
        [(STANDIN, 8, False, False), (MIRRORED, 2, False, True)],
    ),
    ("s = tf.distribute.TPUStrategy()", "tpu", [(STANDIN, 8, False, False)]),
    (
        "s = tf.distribute.MirroredStrategy()",
        None,
        [(AS_IS, 1, False, False), (MIRRORED, 2, False, False)],
    ),
    ("s = tf.distribute.OneDeviceStrategy('cpu')", None, [(AS_IS, 1, False, False)]),
    (
        "s = tf.distribute.MirroredStrategy()",
        "mirrored:4",
        [(AS_IS, 1, False, False), (MIRRORED, 4, False, True)],
    ),
    (
        "s = tf.distribute.MirroredStrategy()",
        "multi-worker,tpu:4",
        [(AS_IS, 1, False, False), (MULTI_WORKER, 2, False, True), (STANDIN, 4, False, True)],
    ),
    (
        "s = tf.distribute.MultiWorkerMirroredStrategy()",
        None,
        [(AS_IS, 1, False, False), (MULTI_WORKER, 2, False, False)],
    ),
    (
        "s = tf.distribute.ParameterServerStrategy(resolver)",
        None,
        [(AS_IS, 1, False, False), (PARAMETER_SERVER, 2, False, False)],
    ),
    (
        "s = tf.distribute.experimental.CentralStorageStrategy()",
        None,
        [(AS_IS, 1, False, False), (CENTRAL_STORAGE, 2, False, False)],
    ),
    ("model.fit(x)", "none,mirrored", [(AS_IS, 1, False, False), (MIRRORED, 2, True, False)]),
    ("for step in range(9): step(x)", None, [(AS_IS, 1, False, False)]),
    (
        "step = tf.function(lambda: optimizer.apply_gradients(g))",
        None,
        [(AS_IS, 1, False, False), (MIRRORED, 2, True, False)],
    ),
]


@pytest.mark.parametrize(("source", "strategy", "expected"), STRATEGIES)
def test_the_strategies_to_run_under_follow_the_program(
    source: str,
    strategy: str | None,
    expected: list[tuple[str, int, bool, bool]],
    write: WriteFiles,
) -> None:
    folder = write({"train.py": f"import tensorflow as tf\n{source}\n"})
    command = parse_command(["python", "train.py"], folder)
    made = plan.training_jobs(command, plan.Options(5, strategy), [], folder)
    assert [
        (job.strategy, job.replicas, job.is_imposed, job.is_substituted) for job in made
    ] == expected
    assert [job.takes_targets for job in made] == [True] + [False] * (len(made) - 1)


def test_an_installed_program_is_looked_into_as_far_as_its_package_goes(write: WriteFiles) -> None:
    site = "venv/lib/python3.11/site-packages"
    folder = write(
        {
            f"{site}/trainer/__init__.py": "",
            f"{site}/trainer/train.py": "from trainer import places\nimport other\n",
            f"{site}/trainer/places.py": "tf.distribute.cluster_resolver.TPUClusterResolver()\n",
            f"{site}/other.py": "tf.distribute.MirroredStrategy()\n",
            "venv/bin/python": "",
        }
    )
    command = Command((str(folder / "venv/bin/python"),), "trainer.train", True, ())
    job = plan.training_jobs(command, plan.Options(), [], folder)[0]
    assert (job.strategy, job.replicas) == (STANDIN, 8)


def test_a_loop_that_names_no_strategy_has_its_steps_given_to_the_replicas(
    write: WriteFiles,
) -> None:
    source = "step = tf.function(lambda: optimizer.apply_gradients(g))\n"
    folder = write({"train.py": source})
    command = parse_command(["python", "train.py"], folder)
    as_it_is, mirrored = plan.training_jobs(command, plan.Options(), [], folder)
    assert (as_it_is.is_driven, mirrored.is_driven, mirrored.is_asked) == (False, True, False)


@pytest.mark.parametrize(
    ("source", "notes"),
    [
        (
            "tf.distribute.OneDeviceStrategy('cpu')",
            ("not run under mirrored: the program has a strategy of its own",),
        ),
        (
            "optimizer.apply_gradients(g)",
            (
                "not run under mirrored: the program's own training loop names no strategy and has no tf.function, which "
                "could be given to the replicas",
            ),
        ),
        ("print('nothing is trained')", ()),
    ],
)
def test_why_there_is_no_run_under_several_replicas_is_said(
    source: str, notes: tuple[str, ...], write: WriteFiles
) -> None:
    folder = write({"train.py": source})
    command = parse_command(["python", "train.py"], folder)
    (job,) = plan.training_jobs(command, plan.Options(), [], folder)
    assert job.notes == notes


CHOICES_REFUSED = [
    ("hope", "'hope' is not one of none, one-device, mirrored, multi-worker, central-storage"),
    ("mirrored:9", "mirrored takes 2 to 8 devices, not 9"),
    ("multi-worker:1", "multi-worker takes 2 to 4 workers, not 1"),
    ("parameter-server:0", "parameter-server takes 1 to 4 workers, not 0"),
    ("tpu:many", "'tpu:many': tpu takes 1 to 2048 replicas, as in tpu:8"),
    ("one-device:2", "one-device takes no number"),
]


@pytest.mark.parametrize(("text", "message"), CHOICES_REFUSED)
def test_what_is_no_strategy_is_refused_with_what_there_is(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        choices.parse(text)


def test_strategies_are_named_once_each_with_how_many() -> None:
    found = choices.parse("mirrored:4, tpu,mirrored:4")
    assert [(one.name, one.count, one.is_counted) for one in found] == [
        (MIRRORED, 4, True),
        (STANDIN, 8, False),
    ]


@pytest.mark.parametrize(
    ("source", "legacy"),
    [
        ("from transformers import TFBertModel", True),
        ("import os\nos.environ['TF_USE_LEGACY_KERAS'] = '0'\nimport transformers", False),
        ("import tensorflow", False),
    ],
)
def test_keras_2_is_asked_for_where_transformers_needs_it(
    source: str, legacy: bool, write: WriteFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TF_USE_LEGACY_KERAS", raising=False)
    folder = write({"train.py": source + "\n"})
    command = parse_command(["python", "train.py"], folder)
    job = plan.training_jobs(command, plan.Options(), [], folder)[0]
    assert job.env == ({"TF_USE_LEGACY_KERAS": "1"} if legacy else {})
    assert any("Keras 2" in note for note in job.notes) == legacy


def test_the_address_that_colab_gives_is_there(
    write: WriteFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLAB_TPU_ADDR", raising=False)
    source = "import os\ntpu = TPUClusterResolver('grpc://' + os.environ['COLAB_TPU_ADDR'])\n"
    folder = write({"train.py": source})
    command = parse_command(["python", "train.py"], folder)
    job = plan.training_jobs(command, plan.Options(), [], folder)[0]
    assert job.env == {"COLAB_TPU_ADDR": "10.0.0.2:8470"}
    assert "COLAB_TPU_ADDR=10.0.0.2:8470, as on a machine with a TPU" in job.notes


FUNCTIONS = """\
import tensorflow as tf


@tf.function
def outer(x):
    def inner(y):
        return y if y > 0 else -y
    return inner(x)


class Layer:
    def call(self, x):
        return x


z = 3
"""


@pytest.mark.parametrize(
    ("line", "around"), [(5, (4, 8)), (7, (6, 7)), (8, (4, 8)), (13, (12, 13)), (16, None)]
)
def test_the_function_around_a_line_starts_at_its_first_decorator(
    line: int, around: tuple[int, int] | None, write: WriteFiles
) -> None:
    folder = write({"m.py": FUNCTIONS})
    assert plan.function_around(folder / "m.py", line) == around
    expected = ((str(folder / "m.py"), around[0]),) if around else ()
    assert plan.flagged_functions([finding("m.py", line)], folder) == expected


STATEMENTS = "x = [\n    1,\n    2,\n]\nif (x and\n        x):\n    y = 1\n    z = 2\n"


@pytest.mark.parametrize(
    ("line", "around"), [(1, (1, 4)), (3, (1, 4)), (5, (5, 6)), (6, (5, 6)), (7, (7, 7))]
)
def test_the_statement_around_a_line_is_its_head_where_it_is_compound(
    line: int, around: tuple[int, int], write: WriteFiles
) -> None:
    folder = write({"m.py": STATEMENTS})
    assert plan.statement_around(folder / "m.py", line) == around


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""Docs."""\nimport tensorflow\n\ndef f(): pass\n', False),
        ('def main(): pass\n\nif __name__ == "__main__":\n    main()\n', True),
        ("model.fit(x)\n", True),
        ("for batch in data:\n    pass\n", True),
        ("def broken(:\n", False),
    ],
)
def test_a_program_does_something_when_it_is_run(
    source: str, expected: bool, write: WriteFiles
) -> None:
    assert plan.is_script(write({"m.py": source}) / "m.py") is expected


def test_a_module_is_imported_by_its_name_in_its_package(write: WriteFiles) -> None:
    folder = write(PROJECT)
    assert plan.module_name(folder / "pkg/layers.py") == ("pkg.layers", folder)
    assert plan.module_name(folder / "pkg/__init__.py") == ("pkg", folder)


def test_a_part_for_tensorflow_of_that_name_is_imported_with_the_package_around(
    tmp_path: Path,
) -> None:
    package = tmp_path / "tools/tensorflow"
    package.mkdir(parents=True)
    for name in ("__init__.py", "layers.py"):
        (package / name).touch()
    (tmp_path / "tools/tensorflow.py").touch()
    assert plan.module_name(package / "layers.py") == ("tools.tensorflow.layers", tmp_path)
    assert plan.module_name(tmp_path / "tools/tensorflow.py") == ("tensorflow", tmp_path / "tools")


def test_only_modules_with_a_signature_are_imported(write: WriteFiles) -> None:
    folder = write(
        {
            "with.py": "f = tf.function(g, input_signature=[tf.TensorSpec([2])])\n",
            "without.py": "f = tf.function(g)\n",
        }
    )
    (job,) = plan.module_jobs([folder / "with.py", folder / "without.py"], [], folder)
    assert [module.path for module in job.modules] == [str(folder / "with.py")]


def test_a_job_survives_its_file(tmp_path: Path, write: WriteFiles) -> None:
    from xlalint.verify import jobs

    folder = write({"train.py": "model.fit()\n"})
    command = parse_command(["python", "train.py", "--n", "1"], folder)
    job = plan.training_jobs(command, plan.Options(), [finding("train.py", 1)], folder)[0]
    job.write(tmp_path / "job.json")
    assert jobs.read(str(tmp_path / "job.json")) == job
