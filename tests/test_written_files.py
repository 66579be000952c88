"""Notebooks that write their modules (`%%writefile`), and notebooks that are none of ours."""

from __future__ import annotations

import json
from typing import Any

from cli_support import RunXlalint, WriteFiles

MODEL = """\
%%writefile model.py
import tensorflow as tf


def masked(x: tf.Tensor):
    return tf.reduce_sum(x[x > 0])
"""
MORE = """\
%%file -a model.py

def compared(x: tf.Tensor):
    return masked(x)[::-1] if x.shape.rank else tf.unique(x)[0]
"""
USES = """\
import tensorflow as tf
from model import masked

step = tf.function(masked, jit_compile=True)
"""


def notebook(*cells: str, language: str = "python") -> str:
    code = [{"cell_type": "code", "source": source.splitlines(True)} for source in cells]
    metadata = {"kernelspec": {"language": language}}
    return json.dumps({"cells": code, "metadata": metadata, "nbformat": 4})


def found(xlalint: RunXlalint, *arguments: str) -> tuple[int, dict[str, Any]]:
    ran = xlalint("check", *arguments, "--format", "json")
    return ran.status, json.loads(ran.out)


def places(document: dict[str, Any]) -> list[tuple[str, str, int | None, int]]:
    return [(f["code"], f["path"], f.get("cell"), f["line"]) for f in document["findings"]]


def test_a_module_that_a_cell_writes_is_checked_as_one(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    write({"n.ipynb": notebook("!pip install x", MODEL, USES)})
    status, document = found(xlalint, "n.ipynb")
    assert (status, document["files_checked"]) == (1, 1)
    assert places(document) == [("XLA201", "n.ipynb", 2, 6)]
    [finding] = document["findings"]
    assert finding["region"] == {"kind": "compiled", "why": ["tf.function", "masked"]}
    assert finding["fix"] is None
    assert "6 |     return tf.reduce_sum(x[x > 0])" in xlalint("check", "n.ipynb").out


def test_what_is_appended_counts_in_its_own_cell(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"n.ipynb": notebook(MODEL, USES, MORE)})
    _, document = found(xlalint, "n.ipynb")
    assert ("XLA202", "n.ipynb", 3, 4) in places(document)


def test_a_cell_that_writes_the_file_anew_is_the_one_that_counts(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    write({"n.ipynb": notebook(MODEL, USES, MODEL.replace("x[x > 0]", "tf.nn.relu(x)"))})
    assert found(xlalint, "n.ipynb")[0] == 0


def test_a_file_of_that_name_is_checked_once(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"n.ipynb": notebook(MODEL, USES), "model.py": MODEL.partition("\n")[2]})
    assert places(found(xlalint, ".")[1]) == [("XLA201", "model.py", None, 5)]


def test_a_module_in_a_folder_is_found_by_its_import(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    inside = MODEL.replace("model.py", "lib/model.py")
    write({"n.ipynb": notebook(inside, USES.replace("from model", "from lib.model"))})
    [finding] = found(xlalint, "n.ipynb")[1]["findings"]
    assert finding["region"]["why"] == ["tf.function", "masked"]


def test_comments_hide_what_they_say(write: WriteFiles, xlalint: RunXlalint) -> None:
    hidden = MODEL.replace("0])", "0])  # xlalint: ignore[XLA201]")
    write({"n.ipynb": notebook(hidden, USES)})
    assert found(xlalint, "n.ipynb")[0] == 0


def test_a_module_that_does_not_parse_is_named_by_its_cell(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    write({"n.ipynb": notebook(USES, "%%writefile broken.py\ndef f(:\n    pass")})
    status, document = found(xlalint, "n.ipynb")
    assert (status, document["errors"][0]["message"]) == (2, "cell 2, line 2: invalid syntax")


def test_ready_sees_what_the_modules_do(write: WriteFiles, xlalint: RunXlalint) -> None:
    train = "%%writefile train.py\nimport tensorflow as tf\nmodel = tf.keras.Sequential()\n"
    write({"n.ipynb": notebook(train, "!python train.py")})
    document = json.loads(xlalint("ready", "n.ipynb", "--format", "json").out)
    [setup] = [item for item in document["items"] if item["key"] == "setup"]
    assert setup["state"] == "to do"


def test_a_notebook_in_another_language_is_an_error_only_where_it_is_named(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    write({"r.ipynb": notebook("x <- 1", language="R"), "n.ipynb": notebook(USES)})
    assert found(xlalint, ".")[0] == 0
    status, document = found(xlalint, "r.ipynb")
    assert (status, document["errors"][0]["message"]) == (2, "a notebook in R, not Python")
