"""Which packages a program is to run with, and which of them `check` says do not go together."""

from __future__ import annotations

import json

import pytest
from cli_support import RunXlalint, WriteFiles

from xlalint.project.dependencies import of_program
from xlalint.project.versions import bounds

ADDONS = "import tensorflow_addons as tfa\n"


def found(xlalint: RunXlalint, *arguments: str) -> list[tuple[str, str, str]]:
    """Severity, line and message of each finding of the rule."""
    ran = xlalint("check", "--select", "XLA506", "--format", "json", "--no-cache", *arguments)
    findings = json.loads(ran.out)["findings"]
    return [(f["severity"], str(f.get("cell", f["line"])), f["message"]) for f in findings]


@pytest.mark.parametrize(
    ("name", "text", "origin"),
    [
        ("requirements.txt", "tensorflow==2.18.0\n", "requirements.txt: tensorflow==2.18.0"),
        (
            "pyproject.toml",
            "[project]\ndependencies = ['tensorflow~=2.18.0']",
            "pyproject.toml dependencies: tensorflow~=2.18.0",
        ),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n    tensorflow>=2.17\n",
            "setup.cfg install_requires: tensorflow>=2.17",
        ),
        ("setup.py", "setup(install_requires=['tensorflow>=2.17'])", "setup.py: tensorflow>=2.17"),
        (
            "environment.yml",
            "dependencies:\n  - python=3.11\n  - conda-forge::tensorflow=2.17=cpu_py311\n",
            "environment.yml: tensorflow==2.17.*",
        ),
        (
            "environment.yml",
            "dependencies:\n  - pip\n  - pip:\n    - tensorflow==2.17.1  # GPU\n",
            "environment.yml: tensorflow==2.17.1",
        ),
    ],
)
def test_each_way_to_declare_dependencies(
    write: WriteFiles, xlalint: RunXlalint, name: str, text: str, origin: str
) -> None:
    write({name: text, "train.py": ADDONS})
    [(severity, line, message)] = found(xlalint, "train.py")
    assert (severity, line) == ("error", "1")
    assert f"({origin})" in message


def test_a_notebook_says_itself_what_it_installs(write: WriteFiles, xlalint: RunXlalint) -> None:
    cells = [
        ["!pip install -q 'tensorflow==2.16.1' tf_keras tensorflow-probability==0.23 && ls"],
        ["import tensorflow_probability as tfp"],
    ]
    notebook = {
        "cells": [{"cell_type": "code", "source": source} for source in cells],
        "metadata": {},
        "nbformat": 4,
    }
    write({"requirements.txt": "tensorflow==2.15.0\n", "train.ipynb": json.dumps(notebook)})
    [(severity, cell, message)] = found(xlalint, "train.ipynb")
    assert (severity, cell) == ("error", "2")
    assert "pip install: tensorflow-probability==0.23" in message
    assert "pip install: tensorflow==2.16.1" in message


def test_who_sets_the_version_is_believed(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"requirements.txt": "tensorflow==2.18.0\n", "train.py": ADDONS})
    assert found(xlalint, "train.py", "--tf-version", "2.15") == []


def test_nobody_says_which_version(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"train.py": ADDONS})
    [(severity, _, _)] = found(xlalint, "train.py")
    assert severity == "info"


def test_what_pip_would_not_install_is_not_reported(write: WriteFiles, xlalint: RunXlalint) -> None:
    ranking = "import tensorflow_ranking as tfr\n"
    write({"requirements.txt": "tensorflow>=2.12\ntensorflow-ranking\n", "train.py": ranking})
    assert found(xlalint, "train.py") == []


def test_requirements_that_no_versions_fit(write: WriteFiles, xlalint: RunXlalint) -> None:
    requirements = "tensorflow==2.15.1\nkeras==2.15.0\nnumpy>=2.0\n"
    write({"requirements.txt": requirements, "train.py": "import numpy as np\nimport keras\n"})
    [(severity, line, message)] = found(xlalint, "train.py")
    assert (severity, line) == ("error", "1")
    assert "requires numpy<2" in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# !pip install tensorflow==2.15\nimport os\n", ["tensorflow==2.15"]),
        (
            "os.system('pip install tensorflow==2.15 keras-nlp')\n",
            ["tensorflow==2.15", "keras-nlp"],
        ),
        ("# pip install tensorflow==2.15 if you like\n", []),
        ("HELP = 'pip install tensorflow==2.15'\n", []),
        ('# /// script\n# dependencies = ["tf-keras>=2.16"]\n# ///\n', ["tf-keras>=2.16"]),
        ("# /// script\n# dependencies = [broken\n# ///\n", []),
    ],
)
def test_what_a_script_says_itself(text: str, expected: list[str]) -> None:
    assert [each.text for each in of_program(text)] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("!pip install 'tensorflow>=2.15,<2.16'", ["tensorflow>=2.15,<2.16"]),
        ("%pip install -U -r more.txt tensorflow", ["tensorflow"]),
        ("!{sys.executable} -m pip install tf-keras==2.15 # Keras 2", ["tf-keras==2.15"]),
        ("!pip install git+https://example.org/x.git tensorflow_text", ["tensorflow_text"]),
    ],
)
def test_lines_of_notebooks_that_install(line: str, expected: list[str]) -> None:
    assert [each.text for each in of_program("", [line])] == expected


@pytest.mark.parametrize(
    ("clauses", "oldest", "newest"),
    [
        ([("==", "2.15.*")], (2, 15), (2, 15, 10**6)),
        ([("<", "2.16")], (0,), (2, 15, 10**6)),
        ([("<", "3.0")], (0,), (2, 10**6)),
        ([("~=", "2.15.1")], (2, 15, 1), (2, 15, 10**6)),
        ([(">=", "2.12"), ("<=", "2.14")], (2, 12), (2, 14)),
    ],
)
def test_bounds_of_what_is_allowed(
    clauses: list[tuple[str, str]], oldest: tuple[int, ...], newest: tuple[int, ...]
) -> None:
    assert bounds(clauses) == (oldest, newest)


def test_the_same_is_said_once_in_a_project(write: WriteFiles, xlalint: RunXlalint) -> None:
    write(
        {
            "requirements.txt": "tensorflow==2.18.0\n",
            "first.py": ADDONS,
            "second.py": "import os\n" + ADDONS,
        }
    )
    ran = xlalint("check", "--select", "XLA506", "--format", "json", "--no-cache", ".")
    assert [f["path"] for f in json.loads(ran.out)["findings"]] == ["first.py"]
