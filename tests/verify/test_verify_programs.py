"""`xlalint verify` on whole programs as people have them: notebooks, programs that write files, programs without their data."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.compiler


CELLS = [
    "!pip install -q tensorflow\n%env LEVEL=3\nimport os\nimport numpy as np\nimport tensorflow as tf\nfrom helper import RATE\n",
    "weight = tf.Variable([1.0, 2.0])\n",
    """\
%%time
@tf.function(jit_compile=True)
def train_step(x):
    with tf.GradientTape() as tape:
        kept = tf.boolean_mask(x * weight, x > 0.5)
        loss = tf.reduce_sum(kept ** 2)
    tf.print(loss)
    weight.assign_sub(RATE * tape.gradient(loss, weight))
    return loss
""",
    "for step in range(100):\n    train_step(tf.ones([2]))\n",
]


def notebook(cells: list[str]) -> str:
    made = [{"cell_type": "code", "source": cell.splitlines(True)} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_a_notebook_runs_and_its_findings_are_judged_by_cell_and_line(verify: Any) -> None:
    files = {"nb/train.ipynb": notebook(CELLS), "nb/helper.py": "RATE = 0.1\n"}
    ran, report = verify(files, "--strategy", "none", "nb/train.ipynb")
    assert ran.status == 1
    verdicts = {
        (one["path"], one["cell"], one["line"], one["code"]): one["verdict"]
        for one in report["findings"]
    }
    assert verdicts == {
        ("nb/train.ipynb", 3, 5, "XLA201"): "confirmed",
        ("nb/train.ipynb", 3, 7, "XLA402"): "confirmed",
    }
    (target,) = report["targets"]
    assert (target["path"], target["cell"], target["line"]) == ("nb/train.ipynb", 3, 2)
    failures = {(one["path"], one["cell"], one["line"]) for one in target["failures"]}
    assert failures == {("nb/train.ipynb", 3, 7)}
    assert any("`!pip install -q tensorflow`" in note for note in report["notes"])


SAVES = """\
import json, os, shutil, sqlite3
import h5py
import numpy as np
import tensorflow as tf

print("old", open("results/old.txt").read())
shutil.rmtree("results")
os.makedirs("results/images")
with tf.io.TFRecordWriter("results/x.tfrecord") as writer:
    writer.write(tf.io.serialize_tensor(tf.ones([4])).numpy())
records = tf.data.TFRecordDataset(["results/x.tfrecord"])
for index in range(2):
    tf.io.write_file(f"results/images/{index}.png", tf.io.encode_png(tf.zeros([8, 8, 3], tf.uint8)))
names = sorted(tf.io.gfile.glob("results/images/*.png"))
images = tf.data.Dataset.from_tensor_slices(names).map(tf.io.read_file).map(tf.io.decode_png)
print(names, sum(1 for _ in records), sum(1 for _ in images), tf.io.gfile.listdir("results"))
data = tf.data.Dataset.from_tensors(tf.ones([4])).repeat(8).cache("results/cache")
weight = tf.Variable(2.0)
os.system("echo shell > shell.txt")
for x in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((weight * x) ** 2)
    weight.assign_sub(0.1 * tape.gradient(loss, weight))
    with open("history.json", "w") as file:
        json.dump([float(loss)], file)
    np.save("weight.npy", weight.numpy())
    with h5py.File("weight.h5", "w") as file:
        file["weight"] = weight.numpy()
    with tf.io.gfile.GFile("results/log.txt", "a") as file:
        file.write("step\\n")
    database = sqlite3.connect("runs.db")
    database.execute("create table if not exists runs (loss real)")
    database.commit()
    data.save("results/saved")
"""


def test_what_a_program_writes_by_itself_leaves_its_folder_as_it_was(
    verify: Any, tmp_path: Path
) -> None:
    files = {"train.py": SAVES, "results/old.txt": "kept"}
    _, report = verify(
        files, "--steps", "2", "--strategy", "none", "--", sys.executable, "train.py"
    )
    (training,) = report["training"]
    assert (training["status"], training["steps"]) == ("stopped", 2), training
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"train.py", "results/old.txt", "shell.txt"}
    assert (tmp_path / "results/old.txt").read_text() == "kept"
    told, changed = report["notes"][-2:]
    assert re.sub(r"\d+ files", "N files", told) == (
        "what the program wrote went to a temporary place: "
        "history.json, results/ (N files), runs.db, weight.h5, weight.npy"
    )
    assert changed == ("the run changed files of yours, by a way that is not redirected: shell.txt")


WITHIN = {
    "src/pkg/__init__.py": "",
    "src/pkg/loss.py": "import tensorflow as tf\n\n\n@tf.function(jit_compile=True)\ndef loss(x):\n    return tf.reduce_sum(x * x)\n",
    "src/pkg/train.py": "import tensorflow as tf\n\nfrom .loss import loss\n\nif __name__ == '__main__':\n    print(loss(tf.ones([4])))\n",
}


def test_a_program_inside_a_package_runs_as_its_module(verify: Any) -> None:
    ran, report = verify(WITHIN, "--strategy", "none", "src/pkg/train.py")
    (training,) = report["training"]
    assert (ran.status, training["status"]) == (0, "ended"), training
    assert [(one["function"], one["status"]) for one in report["targets"]] == [("loss", "ok")]


ENTRIES = """\
import tensorflow as tf

weight = tf.Variable(2.0)


@tf.function(input_signature=[tf.TensorSpec([4])], jit_compile=True)
def export(x):
    return tf.unique(x)[0] * weight


def main():
    while True:
        with tf.GradientTape() as tape:
            loss = weight**2
        weight.assign_sub(0.1 * tape.gradient(loss, weight))
"""


LOSSES = """\
import tensorflow as tf


def timed(x):
    return tf.reduce_sum(x) + tf.cast(tf.timestamp(), tf.float32)
"""
TRAINS = """\
import tensorflow as tf

from losses import timed

step = tf.function(timed)
for _ in range(3):
    step(tf.ones([4]))
"""


def test_findings_in_what_a_named_program_imports_are_judged_with_it(verify: Any) -> None:
    ran, report = verify(
        {"losses.py": LOSSES, "train.py": TRAINS}, "--strategy", "none", "train.py"
    )
    verdicts = {
        (one["path"], one["line"], one["code"]): one["verdict"] for one in report["findings"]
    }
    assert verdicts == {("losses.py", 5, "XLA401"): "confirmed"}
    assert (ran.status, report["not_found_by_check"]) == (1, [])


def test_several_entries_are_each_run(verify: Any) -> None:
    settings = "[verify]\nentry = ['train:main', 'train:export']\n"
    _, report = verify({"train.py": ENTRIES, "xlalint.toml": settings}, "--steps", "2", ".")
    assert [(one["status"], one["steps"]) for one in report["training"]] == [("stopped", 2)]
    assert {(one["function"], one["origin"]) for one in report["targets"]} == {
        ("export", "entry"),
        ("export", "input_signature"),
    }


OFFLINE = """\
import keras
import numpy as np

(x, y), _ = keras.datasets.mnist.load_data()
x = x.reshape(-1, 784).astype("float32")[:64] / 255
model = keras.Sequential([keras.Input((784,)), keras.layers.Dense(10)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y[:64], verbose=0)
backbone = keras.applications.MobileNetV2(input_shape=(32, 32, 3), alpha=0.35, include_top=False)
print(backbone(np.zeros((1, 32, 32, 3))).shape)
keras.utils.get_file("mine.csv", "https://example.com/mine.csv")
"""


def test_a_program_whose_data_cannot_be_fetched_runs_as_far_as_random_data_go(
    verify: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "cache"))
    _, report = verify({"train.py": OFFLINE}, "--strategy", "none", "train.py")
    (training,) = report["training"]
    assert (training["status"], training["steps"]) == ("failed", 2)
    assert training["failure"]["line"] == len(OFFLINE.splitlines())
    stood_in = [note for note in report["notes"] if "stand in" in note]
    assert stood_in == [
        "keras.datasets.mnist cannot be fetched here: random ones of the same shapes stand in",
        "the weights of MobileNetV2 cannot be fetched here: random ones of the same shapes stand in",
    ]
    assert any("the program fetches something from the network" in note for note in report["notes"])


SHORT = """\
import keras
import numpy as np

x = np.ones((64, 4), "float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
history = model.fit(x, x[:, :1], epochs=50, verbose=0)
print("the last epoch", history.history["loss"][49])
"""


def test_what_fails_since_the_training_was_cut_short_is_told_and_not_counted(verify: Any) -> None:
    ran, report = verify({"train.py": SHORT}, "--strategy", "none", "train.py")
    (training,) = report["training"]
    assert (ran.status, training["status"], training["steps"]) == (0, "stopped", 5)
    (event,) = training["events"]
    assert event.startswith("after the last step: ")
    assert "train.py:8: IndexError: list index out of range (few steps leave" in event


OF_KERAS_2 = """\
import keras
import tensorflow as tf

model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(lr=0.01), "mse")
model.fit_generator(iter([]))
"""


def test_what_keras_3_has_dropped_is_confirmed_where_the_program_fails(verify: Any) -> None:
    ran, report = verify({"train.py": OF_KERAS_2}, "--strategy", "none", "train.py")
    assert ran.status == 1
    assert [(one["line"], one["verdict"], one["evidence"]) for one in report["findings"]] == [
        (5, "confirmed", "script: ValueError: Argument(s) not recognized: {'lr': 0.01}"),
        (6, "not reached", "the program ended before it, in line 5"),
    ]


LETS_OUT = """\
import tensorflow as tf


@tf.function
def summarize(x):
    log = {}
    if tf.reduce_sum(x) > 0:
        log.update(scale=x * 2.0)
    return x + log["scale"]


def steps(x):
    width = x * 2.0

    @tf.function(jit_compile=True)
    def one(y):
        return y + width

    return one(x)


tf.function(steps)(tf.ones([3]))
try:
    summarize(tf.ones([3]))
except TypeError as error:
    print("no summary:", type(error).__name__)
"""


def test_a_tensor_that_leaves_a_conditional_is_told_from_one_of_the_function_around(
    verify: Any,
) -> None:
    ran, report = verify({"train.py": LETS_OUT}, "--strategy", "none", "train.py")
    targets = {one["function"]: one for one in report["targets"]}
    assert (ran.status, targets["one"]["status"], targets["summarize"]["status"]) == (
        1,
        "skipped",
        "failed",
    )
    (failure,) = targets["summarize"]["failures"]
    assert (failure["kind"], failure["line"]) == ("out-of-reach", 8)
    assert failure["message"].endswith("Line 9 uses it")
    (found,) = [one for one in report["findings"] if one["code"] == "XLA107"]
    assert (found["line"], found["verdict"]) == (8, "confirmed")


OF_NO_NODE = """\
import tensorflow as tf


@tf.function(jit_compile=True)
def fit(x, y):
    keep = tf.where(x < 2.0)
    kept = tf.gather_nd(x, keep)
    terms = tf.stack([tf.ones_like(kept), kept], 1)
    beta = tf.linalg.lstsq(terms, tf.gather_nd(y, keep)[:, None], l2_regularizer=1e-3)
    return tf.squeeze(beta, 1)


print(fit(tf.constant([1.0, 3.0, 0.5, 1.5]), tf.range(4.0)))
"""


def test_an_error_of_a_pass_that_names_an_instruction_alone_has_its_line(verify: Any) -> None:
    ran, report = verify({"train.py": OF_NO_NODE}, "--strategy", "none", "train.py")
    (target,) = report["targets"]
    (failure,) = target["failures"]
    assert (ran.status, failure["stage"], failure["line"], failure["column"]) == (1, "run", 9, 12)
    assert failure["rule"] == "XLA204"
    judged = [(one["code"], one["line"], one["verdict"]) for one in report["findings"]]
    assert judged == [("XLA202", 6, "confirmed"), ("XLA204", 9, "confirmed")]


GUARDED = """\
import tensorflow as tf

@tf.function(jit_compile=True)
def padded(x):
    n = tf.shape(x)[0]
    if n < 2:
        x = tf.pad(x, [[0, 2 - n]])
    return tf.reduce_sum(x)

padded(tf.ones([3]))
"""


def test_what_fails_in_an_arm_is_told_once_and_not_of_the_conditional_again(verify: Any) -> None:
    ran, report = verify({"short.py": GUARDED}, "--strategy", "none", "short.py")
    assert ran.status == 1
    (target,) = report["targets"]
    assert [one["line"] for one in target["failures"]] == [7]
    assert [(one["line"], one["verdict"]) for one in report["findings"]] == [(7, "confirmed")]
    assert report["not_found_by_check"] == []
