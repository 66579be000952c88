"""`xlalint ready`: the checklist before the move to a TPU."""

from __future__ import annotations

import json
import os
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from cli_support import RunXlalint, WriteFiles

TRAIN = """\
import tensorflow as tf


def make_strategy():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)


def main():
    strategy = make_strategy()
    batch = 128 * strategy.num_replicas_in_sync
    data = tf.data.Dataset.from_tensor_slices(tf.zeros([4 * batch, 8]))
    data = data.map(lambda x: (x, x[:, :1])).batch(batch, drop_remainder=True).repeat()
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("adam", "mse", jit_compile=False)
    model.fit(data.prefetch(tf.data.AUTOTUNE), steps_per_epoch=4, epochs=2)


if __name__ == "__main__":
    main()
"""
LAPTOP = """\
import tensorflow as tf


@tf.function
def positives(x):
    kept = x[x > 0]
    if tf.size(kept) > 3:
        tf.print("many")
    return tf.reduce_sum(kept)


model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.zeros([8, 4]), tf.zeros([8, 1]))
"""
REPORT: dict[str, Any] = {
    "schema_version": 1,
    "targets": [
        {"function": "train_step", "path": "train.py", "line": 16, "status": "ok", "checks": {}}
    ],
    "findings": [],
    "training": [
        {
            "program": "python train.py",
            "strategy": "tpu",
            "replicas": 8,
            "status": "stopped",
            "steps": 5,
            "detail": "",
        }
    ],
    "tpu": [
        {
            "function": "train_step",
            "target": "tpu-v5e",
            "status": "compiles",
            "message": "",
            "path": "",
            "line": 0,
            "peak": 2**30,
            "hbm": 16 * 2**30,
        }
    ],
}


def states(document: dict[str, Any]) -> dict[str, str]:
    return {item["key"]: item["state"] for item in document["items"]}


def item(document: dict[str, Any], key: str) -> dict[str, Any]:
    (found,) = [item for item in document["items"] if item["key"] == key]
    assert isinstance(found, dict)
    return found


def ready(xlalint: RunXlalint, *arguments: str) -> tuple[int, dict[str, Any]]:
    ran = xlalint("ready", *arguments, "--format", "json")
    return ran.status, json.loads(ran.out)


def test_a_project_that_knows_its_tpu_waits_for_the_compiler(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    write({"train.py": TRAIN})
    status, document = ready(xlalint, "train.py")
    found = states(document)
    assert (status, document["ready"]) == (1, False)
    for key in ("conditionals", "shapes", "operations", "setup", "batch", "jit"):
        assert found[key] == "done", key
    assert {found[key] for key in ("compiles", "step", "memory")} == {"unknown"}
    assert item(document, "setup")["evidence"] == [
        {"text": "makes a TPUStrategy", "path": "train.py", "line": 8},
        {"text": "initialises the TPU system", "path": "train.py", "line": 7},
    ]
    assert item(document, "step")["next"].splitlines() == [
        "xlalint verify --steps 5 --target tpu-v5e --format json -- python train.py > verify.json",
        "xlalint ready train.py --verified verify.json",
    ]


def test_a_program_for_a_laptop_has_all_of_it_to_do(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"laptop.py": LAPTOP})
    status, document = ready(xlalint, "laptop.py")
    found = states(document)
    assert status == 1
    for key in ("conditionals", "shapes", "operations", "setup", "scope"):
        assert found[key] == "to do", key
    assert item(document, "shapes")["evidence"][0]["line"] == 6
    # A script that trains as it is imported is run, not imported.
    assert "-- python laptop.py > verify.json" in item(document, "step")["next"]
    assert item(document, "setup")["next"].endswith("tf.distribute.TPUStrategy(resolver)")


def test_verify_answers_what_only_a_compiler_can(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"train.py": TRAIN, "verify.json": json.dumps(REPORT)})
    newer(folder / "verify.json", folder / "train.py")
    _, document = ready(xlalint, "train.py", "--verified", "verify.json")
    found = states(document)
    assert (found["compiles"], found["step"], found["memory"]) == ("done", "done", "done")
    assert item(document, "memory")["evidence"][0]["text"] == (
        "train_step on tpu-v5e: 1.00 of 16.0 GiB of memory"
    )


def newer(path: Path, than: Path) -> None:
    at = than.stat().st_mtime + 10
    os.utime(path, (at, at))


def test_a_full_chip_and_a_failed_step_are_to_do(write: WriteFiles, xlalint: RunXlalint) -> None:
    report = json.loads(json.dumps(REPORT))
    report["tpu"][0]["peak"] = 15.5 * 2**30
    report["training"][0] |= {"status": "failed", "detail": "ValueError: no"}
    report["targets"][0]["status"] = "failed"
    folder = write({"train.py": TRAIN, "verify.json": json.dumps(report)})
    newer(folder / "verify.json", folder / "train.py")
    _, document = ready(xlalint, "train.py", "--verified", "verify.json")
    found = states(document)
    assert (found["compiles"], found["step"], found["memory"]) == ("to do", "to do", "to do")


def test_a_report_older_than_the_code_counts_for_nothing(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    folder = write({"train.py": TRAIN, "verify.json": json.dumps(REPORT)})
    newer(folder / "train.py", folder / "verify.json")
    _, document = ready(xlalint, "train.py", "--verified", "verify.json")
    assert states(document)["step"] == "unknown"
    assert item(document, "step")["evidence"] == [
        {"text": "verify.json is older than this file", "path": "train.py", "line": 0}
    ]


def test_what_the_compiler_refuted_is_not_to_do(write: WriteFiles, xlalint: RunXlalint) -> None:
    report = json.loads(json.dumps(REPORT))
    report["findings"] = [
        {"code": "XLA201", "path": "laptop.py", "line": 6, "verdict": "refuted"},
        {"code": "XLA101", "path": "laptop.py", "line": 7, "verdict": "confirmed"},
    ]
    folder = write({"laptop.py": LAPTOP, "verify.json": json.dumps(report)})
    newer(folder / "verify.json", folder / "laptop.py")
    _, document = ready(xlalint, "laptop.py", "--verified", "verify.json")
    assert item(document, "shapes")["evidence"][0]["text"] == (
        "check finds nothing (XLA2xx; 1 refuted by the compiler)"
    )
    texts = [e["text"] for e in item(document, "conditionals")["evidence"]]
    assert texts[0].endswith("(confirmed by the compiler)")


def test_rules_that_are_off_are_named(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"train.py": TRAIN})
    _, document = ready(xlalint, "train.py", "--ignore", "XLA101,XLA501")
    assert item(document, "conditionals")["evidence"][0]["text"] == (
        "check finds nothing (XLA1xx; off in the settings: XLA101)"
    )
    assert item(document, "jit")["state"] == "unknown"


def test_code_without_tensorflow_has_nothing_to_do(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"m.py": "print(1)\n"})
    status, document = ready(xlalint, "m.py")
    assert (status, set(states(document).values())) == (0, {"not applicable"})


def test_bad_input_is_named(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"train.py": TRAIN, "broken.py": "def f(:\n", "list.json": "[]", "not.json": "{"})
    assert "broken.py:1:7: cannot be checked" in xlalint("ready", ".").err
    assert xlalint("ready", ".").status == 2
    for name, why in (
        ("missing.json", "No such file or directory"),
        ("not.json", "not JSON"),
        ("list.json", "not a report of `xlalint verify --format json`"),
    ):
        ran = xlalint("ready", "train.py", "--verified", name)
        assert (ran.status, why in ran.err) == (2, True), ran.err
    assert xlalint("ready", "-").status == 2


def test_people_read_a_list(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"train.py": TRAIN})
    lines = xlalint("ready", "train.py").out.splitlines()
    assert lines[:2] == [
        "[x] Rule 1: no data-dependent conditionals: done",
        "      check finds nothing (XLA1xx)",
    ]
    assert lines[-1].startswith("Not ready for tpu-vm: ")
    assert sum("xlalint verify --steps 5" in line for line in lines) == 1
    assert "      next: as above" in lines


@pytest.mark.parametrize(
    ("files", "ran", "state", "told"),
    [
        ({}, "", "unknown", ["nothing says which TensorFlow this runs with; checked as for"]),
        ({}, "2.21.0", "done", ["verified with TensorFlow 2.21.0 and Keras 3.15.1; the machine"]),
        (
            {"requirements.txt": "tensorflow>=2.15\n"},
            "",
            "done",
            ["TensorFlow 2.21, from requirements.txt: tensorflow>=2.15", "check finds nothing"],
        ),
        (
            {"requirements.txt": "tensorflow>=2.15,<2.21\n"},
            "2.21.0",
            "to do",
            ["TensorFlow 2.20, from", "verified with TensorFlow 2.21.0 and Keras 3.15.1, which is"],
        ),
        (
            {"train.py": f"# !pip install tensorflow==2.18\n{TRAIN}"},
            "",
            "done",
            ["asks for tensorflow==2.18", "check finds nothing"],
        ),
        (
            {"xlalint.toml": 'tf-version = "2.15"\n'},
            "2.21.0",
            "to do",
            ["TensorFlow 2.15, from xlalint.toml", "verified with TensorFlow 2.21.0"],
        ),
    ],
)
def test_versions_are_done_where_something_names_them(
    write: WriteFiles,
    xlalint: RunXlalint,
    files: dict[str, str],
    ran: str,
    state: str,
    told: list[str],
) -> None:
    report = {**REPORT, "environment": {"tensorflow": ran, "keras": "3.15.1"}}
    folder = write({"train.py": TRAIN, "verify.json": json.dumps(report), **files})
    newer(folder / "verify.json", folder / "train.py")
    arguments = ("train.py", "--verified", "verify.json") if ran else ("train.py",)
    _, document = ready(xlalint, *arguments)
    versions = item(document, "versions")
    assert versions["state"] == state
    assert len(versions["evidence"]) == len(told)
    for evidence, text in zip(versions["evidence"], told):
        assert evidence["text"].startswith(text)


def test_a_page_for_a_browser(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"train.py": TRAIN.replace('"mse"', '"mse", metrics=["<b>"]')})
    ran = xlalint("ready", "train.py", "--format", "html", "--output-file", "ready.html")
    assert (ran.status, ran.out) == (1, "")
    page = (folder / "ready.html").read_text(encoding="utf-8")
    balanced = Balanced()
    balanced.feed(page)
    assert balanced.open == []
    assert page.count("<section id=") == 15
    assert page.count('<a href="#') == 15
    assert "http" not in page
    assert "Next: as for item 5" in page


class Balanced(HTMLParser):
    """Fails on a tag that is closed out of turn; `open` holds those that never are."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_program_that_names_no_tpu_is_judged_for_one(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    write({"laptop.py": LAPTOP.replace('"mse")', '"mse", jit_compile=True)')})
    _, document = ready(xlalint, "laptop.py")
    assert item(document, "jit")["state"] == "to do"
    assert item(document, "rate")["evidence"][0]["text"] == (
        "judged once there is a strategy to train under"
    )


def test_the_checklist_is_for_tpus(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"laptop.py": LAPTOP, "xlalint.toml": 'target = "gpu"\n'})
    ran = xlalint("ready", "laptop.py")
    assert ran.status == 2
    assert "this checklist is for TPUs, and the target is gpu: say --target tpu-vm" in ran.err
    assert xlalint("ready", "laptop.py", "--target", "tpu-node").status == 1


READS = """\
import tensorflow as tf

files = tf.data.Dataset.list_files(PATTERN)
data = tf.data.TFRecordDataset(files).batch(8, drop_remainder=True)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(data)
"""


def test_a_tpu_node_reads_buckets_and_nothing_else(write: WriteFiles, xlalint: RunXlalint) -> None:
    write(
        {
            "local.py": READS.replace("(files)", "('data.tfrecord')"),
            "bucket.py": READS.replace("PATTERN", "'gs://bucket/*.tfrecord'"),
            "asked.py": READS.replace("PATTERN", "input()"),
            "kaggle.py": "from kaggle_datasets import KaggleDatasets\n"
            + READS.replace("PATTERN", "KaggleDatasets().get_gcs_path('x') + '/*.tfrec'"),
            "memory.py": LAPTOP,
        }
    )
    states_of = {}
    for name in ("local.py", "bucket.py", "asked.py", "kaggle.py", "memory.py"):
        _, document = ready(xlalint, name, "--target", "tpu-node")
        data = item(document, "data")
        assert data["title"] == "The TPU node can read the data"
        states_of[name] = (data["state"], data["evidence"][-1]["line"])
    assert states_of == {
        "local.py": ("to do", 4),
        "bucket.py": ("done", 3),
        "asked.py": ("unknown", 4),
        "kaggle.py": ("done", 4),
        "memory.py": ("done", 0),
    }
    _, document = ready(xlalint, "asked.py", "--target", "tpu-node")
    assert item(document, "data")["next"].startswith("gcloud storage cp")


def test_a_report_about_other_files_counts_for_nothing(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    folder = write({"other.py": TRAIN, "verify.json": json.dumps(REPORT)})
    newer(folder / "verify.json", folder / "other.py")
    _, document = ready(xlalint, "other.py", "--verified", "verify.json")
    assert states(document)["step"] == "unknown"
    assert item(document, "step")["evidence"][0]["text"] == "verify.json is about other files"


def test_a_failure_is_told_where_it_happened(write: WriteFiles, xlalint: RunXlalint) -> None:
    report = json.loads(json.dumps(REPORT))
    failure = {"message": "Detected unsupported operations\nmore", "path": "train.py", "line": 15}
    report["targets"][0] |= {"status": "failed", "failures": [failure]}
    folder = write({"train.py": TRAIN, "verify.json": json.dumps(report)})
    newer(folder / "verify.json", folder / "train.py")
    _, document = ready(xlalint, "train.py", "--verified", "verify.json")
    assert item(document, "compiles")["evidence"] == [
        {
            "text": "train_step fails: Detected unsupported operations",
            "path": "train.py",
            "line": 15,
        }
    ]


def test_a_verdict_counts_for_its_cell_only(write: WriteFiles, xlalint: RunXlalint) -> None:
    masked = "@tf.function(jit_compile=True)\ndef {}(x: tf.Tensor):\n    return x[x > 0]\n"
    sources = ("import tensorflow as tf", masked.format("f"), masked.format("g"))
    cells = [{"cell_type": "code", "source": source} for source in sources]
    report = json.loads(json.dumps(REPORT))
    place = {"code": "XLA201", "path": "n.ipynb", "line": 3}
    report["findings"] = [
        {**place, "cell": 2, "verdict": "confirmed"},
        {**place, "cell": 3, "verdict": "refuted"},
    ]
    folder = write(
        {"n.ipynb": json.dumps({"cells": cells, "nbformat": 4}), "verify.json": json.dumps(report)}
    )
    newer(folder / "verify.json", folder / "n.ipynb")
    _, document = ready(xlalint, "n.ipynb", "--verified", "verify.json")
    (evidence,) = item(document, "shapes")["evidence"]
    assert (evidence["cell"], evidence["line"]) == (2, 3)
    assert evidence["text"].endswith("(confirmed by the compiler)")


def test_the_program_that_trains_is_the_one_to_verify(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    folder = write(
        {"a project/check.py": "import tensorflow as tf\nfor n in range(3):\n    pass\n"}
    )
    (folder / "a project" / "train.py").write_text(TRAIN)
    _, document = ready(xlalint, "a project")
    assert item(document, "step")["next"].splitlines() == [
        "xlalint verify --steps 5 --target tpu-v5e --format json -- python 'a project/train.py' > verify.json",
        "xlalint ready 'a project' --verified verify.json",
    ]


BORROWED = """\
import tensorflow as tf
from helpers import get_strategy, get_strategy_scope


def main():
    strategy = get_strategy("tpu")
    with get_strategy_scope(strategy):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
    model.fit(tf.zeros([8 * strategy.num_replicas_in_sync, 2]))
"""


def test_a_strategy_that_other_files_make_is_not_missing(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    mirrored = "tf.distribute.MirroredStrategy()"
    write({"borrowed.py": BORROWED, "own.py": BORROWED.replace('get_strategy("tpu")', mirrored)})
    _, document = ready(xlalint, "borrowed.py")
    assert (item(document, "setup")["state"], item(document, "scope")["state"]) == (
        "unknown",
        "done",
    )
    assert item(document, "setup")["evidence"][0]["text"] == (
        "a strategy is used here, and made in files that were not checked"
    )
    _, document = ready(xlalint, "own.py")
    assert item(document, "setup")["state"] == "to do"
