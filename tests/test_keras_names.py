"""What Keras no longer has: said of imports and chains, mended, and held against the Keras that is installed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from cli_support import RunXlalint, WriteFiles

from xlalint import data
from xlalint.semantics.environment.keras_names import KerasNames

TABLE = json.loads((data.root() / "keras_names.json").read_bytes())

_ASK = """
import importlib, json, sys
import tensorflow as tf

def has(name):
    home, _, leaf = name.rpartition(".")
    try:
        if hasattr(importlib.import_module(home), leaf):
            return True
    except ImportError:
        pass
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True

print(json.dumps([has(name) for name in json.load(sys.stdin)]))
"""


def held(names: list[str]) -> list[str]:
    """Which of the names can be imported here."""
    command = [sys.executable, "-c", _ASK]
    ran = subprocess.run(
        command, input=json.dumps(names), capture_output=True, text=True, check=True
    )
    answers = json.loads(ran.stdout.splitlines()[-1])
    return [name for name, is_there in zip(names, answers) if is_there]


@pytest.mark.compiler
@pytest.mark.parametrize(
    ("package", "root"), [("keras", "keras"), ("tf.keras", "tensorflow.keras")]
)
def test_what_is_said_to_be_gone_is_gone_and_its_place_is_there(package: str, root: str) -> None:
    gone = [f"{root}.{name}" for name in TABLE[package]["gone"]]
    assert held(gone) == []
    names = KerasNames("2.21", "3")
    told = [names.gone(name) for name in gone]
    uses = {f"{root}.{each.use}" for each in told if each is not None and each.use}
    leaves = (f"{root}.engine.base_layer.{name}" for name in ("Layer", "InputSpec"))
    uses |= {f"{root}.{each.use}" for name in leaves if (each := names.gone(name)) and each.use}
    assert sorted(uses - set(held(sorted(uses)))) == []


@pytest.mark.parametrize(
    ("raw", "tensorflow", "keras", "use"),
    [
        ("keras.engine.topology.Layer", "2.21", "3", "Layer"),
        ("keras.engine.topology.Layer", "2.15", "2", "layers.Layer"),
        ("keras.layers.merge.concatenate", "2.21", "3", "layers.concatenate"),
        ("keras.layers.core.Dense.build", "2.21", "3", "layers.Dense"),
        ("keras.utils.np_utils.to_categorical", "2.15", "2", "utils.to_categorical"),
        # A function that has the name of another one.
        ("keras.utils.conv_utils.shape", "2.21", "3", ""),
        ("keras.preprocessing.text.Tokenizer", "2.21", "3", ""),
        ("tensorflow.keras.utils.to_ordinal", "2.21", "3", ""),
    ],
)
def test_what_is_gone_has_the_place_of_its_name(
    raw: str, tensorflow: str, keras: str, use: str
) -> None:
    gone = KerasNames(tensorflow, keras).gone(raw)
    assert gone is not None
    assert gone.use == use
    assert bool(gone.instead) is not bool(use)


@pytest.mark.parametrize(
    ("raw", "tensorflow", "keras"),
    [
        ("keras.layers.Dense", "2.21", "3"),
        ("keras.of_no_version", "2.21", "3"),
        ("keras.src.engine.base_layer", "2.21", "3"),
        ("tensorflow.python.keras.engine.base_layer", "2.21", "3"),
        ("keras.engine.base_layer", "2.12", "2"),
        ("keras.preprocessing.text.Tokenizer", "2.15", "2"),
        ("tensorflow.keras.preprocessing.text.Tokenizer", "2.21", "3"),
        # tf_keras has it.
        ("tensorflow.keras.utils.to_ordinal", "2.21", "2"),
    ],
)
def test_what_is_there_is_left_alone(raw: str, tensorflow: str, keras: str) -> None:
    assert KerasNames(tensorflow, keras).gone(raw) is None


OLD = """\
import keras.engine.base_layer
import keras
from keras.layers.core import Dense, Flatten
from keras.engine.topology import Layer as Base
from keras.utils import np_utils, to_categorical
from keras.preprocessing.text import Tokenizer

labels = np_utils.to_categorical([1])
again = keras.utils.np_utils.to_categorical([1])
"""


def test_imports_and_chains_are_told_once_where_they_stand(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    write({"old.py": OLD})
    ran = xlalint("check", "--format", "concise", "--select", "XLA504", "old.py")
    places = [line.split(" ")[0] for line in ran.out.splitlines() if "XLA504" in line]
    assert places == [
        "old.py:1:8:",
        "old.py:3:6:",
        "old.py:4:6:",
        "old.py:5:25:",
        "old.py:6:6:",
        "old.py:9:9:",
    ]


def test_what_has_one_place_today_is_mended(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"old.py": OLD})
    xlalint("check", "--fix", "--select", "XLA504", "old.py")
    lines = (folder / "old.py").read_text().splitlines()
    assert lines[2:4] == [
        "from keras.layers import Dense, Flatten",
        "from keras import Layer as Base",
    ]
    assert lines[8] == "again = keras.utils.to_categorical([1])"
    assert lines[4:6] == OLD.splitlines()[4:6]


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    from keras.engine import InputSpec\nexcept ImportError:\n    from keras import InputSpec\n",
        "import keras\nif keras.__version__ < '2.4':\n    from keras.engine import InputSpec\n",
        "from keras.src.engine import base_layer\n",
        "from .keras.engine import base_layer\n",
    ],
)
def test_code_that_is_ready_is_left_alone(
    text: str, write: WriteFiles, xlalint: RunXlalint
) -> None:
    write({"ready.py": text})
    assert xlalint("check", "--select", "XLA504", "ready.py").status == 0


def test_a_project_that_asks_for_an_old_keras_gets_it(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    write({"requirements.txt": "tensorflow>=2.12\nkeras<2.13\n", "old.py": OLD})
    assert xlalint("check", "--select", "XLA504", "old.py").status == 0
