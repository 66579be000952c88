"""TF_USE_LEGACY_KERAS: what a program must do with it for `check` to take tf.keras for Keras 2."""

from __future__ import annotations

import json

import pytest
from cli_support import RunXlalint, WriteFiles

# In Keras 2, AutoGraph converts `call`: a conditional on data is a warning. In Keras 3 it is an error.
PROGRAM = """\
import os

{first}
import tensorflow as tf
{second}


class Gate(tf.keras.layers.Layer):
    def call(self, x):
        if tf.reduce_sum(x) > 0:
            return x
        return -x
"""


def severity(write: WriteFiles, xlalint: RunXlalint, first: str, second: str = "") -> str:
    write({"program.py": PROGRAM.format(first=first, second=second)})
    arguments = ("--select", "XLA101", "--format", "json", "--no-cache", "--exit-zero")
    (finding,) = json.loads(xlalint("check", *arguments, "program.py").out)["findings"]
    return str(finding["severity"])


@pytest.mark.parametrize(
    "first",
    [
        'os.environ["TF_USE_LEGACY_KERAS"] = "1"',
        'os.environ["TF_USE_LEGACY_KERAS"] = "True"',
        'os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")',
        'os.environ.update({"TF_USE_LEGACY_KERAS": "1"})',
        'os.environ.update(TF_USE_LEGACY_KERAS="1")',
        'os.environ["TF_USE_LEGACY_KERAS"] = os.environ.get("OLD_KERAS", "1")',
    ],
)
def test_it_is_set_to_something_true_or_unknown(
    write: WriteFiles, xlalint: RunXlalint, first: str
) -> None:
    assert severity(write, xlalint, first) == "warning"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("", ""),
        ("# TF_USE_LEGACY_KERAS=1 is not set here", ""),
        ('os.environ["TF_USE_LEGACY_KERAS"] = "0"', ""),
        ('print(os.environ.get("TF_USE_LEGACY_KERAS", "1"))', ""),
        ("", 'tf.keras.utils.set_random_seed(0)\nos.environ["TF_USE_LEGACY_KERAS"] = "1"'),
    ],
)
def test_it_is_mentioned_turned_off_or_set_too_late(
    write: WriteFiles, xlalint: RunXlalint, first: str, second: str
) -> None:
    assert severity(write, xlalint, first, second) == "error"


def test_a_notebook_sets_it_by_a_magic(write: WriteFiles, xlalint: RunXlalint) -> None:
    lines = ["%env TF_USE_LEGACY_KERAS=1", PROGRAM.format(first="", second="")]
    cells = [
        {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "source": text,
            "execution_count": None,
        }
        for text in lines
    ]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    write({"program.ipynb": json.dumps(notebook)})
    arguments = ("--select", "XLA101", "--format", "json", "--no-cache", "--exit-zero")
    (finding,) = json.loads(xlalint("check", *arguments, "program.ipynb").out)["findings"]
    assert finding["severity"] == "warning"


@pytest.mark.parametrize(
    ("requirements", "first", "expected"),
    [
        ("tensorflow>=2.16\ntf-keras\n", "", "warning"),
        ("tensorflow>=2.16\ntf-keras\n", "import tf_keras", "error"),
        ("tensorflow>=2.16\n", "", "error"),
        ("tensorflow>=2.16\ntf-keras\ntf-agents\n", "", "warning"),
        ("tensorflow>=2.16\ntf-keras\ntf-agents\n", "import tf_agents", "error"),
        ("tensorflow>=2.16\ntf-keras\ntransformers\n", "import transformers", "error"),
    ],
)
def test_a_project_that_asks_for_tf_keras_and_does_not_import_it_has_it_as_tf_keras(
    write: WriteFiles, xlalint: RunXlalint, requirements: str, first: str, expected: str
) -> None:
    write({"requirements.txt": requirements})
    assert severity(write, xlalint, first) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "pyproject.toml",
            "[project]\ndependencies = ['tensorflow>=2.16']\n[project.optional-dependencies]\ntest = ['tf-keras']\n",
        ),
        (
            "setup.cfg",
            "[options]\ninstall_requires = tensorflow>=2.16\n[options.extras_require]\ntest = tf-keras\n",
        ),
        ("PKG-INFO", "Requires-Dist: tensorflow>=2.16\nRequires-Dist: tf-keras; extra == 'test'\n"),
        ("program.egg-info/requires.txt", "tensorflow>=2.16\n\n[test]\ntf-keras\n"),
    ],
)
def test_what_some_users_install_besides_chooses_nothing(
    write: WriteFiles, xlalint: RunXlalint, name: str, text: str
) -> None:
    write({name: text})
    assert severity(write, xlalint, "") == "error"
