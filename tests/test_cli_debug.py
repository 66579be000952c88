"""`xlalint debug facts`: what the analysis believes, beside the source."""

from __future__ import annotations

import json

from cli_support import RunXlalint, WriteFiles

STEP = """\
import tensorflow as tf

@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 8]), tf.TensorSpec([None], tf.bool)])
def step(x, keep):
    kept = tf.boolean_mask(x, keep)
    halves = tf.reshape(x, [-1, 2, x.shape[1] // 2])
    return kept[-1], halves[:, 0] * 2.0, tf.shape(x)[0]

def parse(line):
    return tf.io.decode_raw(line, tf.uint8)

records = tf.data.TFRecordDataset("a").map(parse)
"""


def test_a_file_is_shown_with_what_is_believed_of_it(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    folder = write({"step.py": STEP})
    ran = xlalint("debug", "facts", "step.py", cwd=folder)
    assert ran.status == 0, ran.err
    lines = ran.out.splitlines()
    assert "   # compiled (AutoGraph converts, jit_compile=True), @tf.function step" in lines
    assert "   # host: nothing here is compiled" in lines
    assert "   = x: tensor float32 (?, 8), arrives at run time" in lines
    assert (
        "   = tf.boolean_mask(x, keep): tensor float32 (?, 8), computed from what a mask left, data-sized by a boolean mask"
        in lines
    )
    assert "   = x.shape[1] // 2: python 4" in lines
    assert "   = halves[:, 0] * 2.0: tensor float32 (?, 4), arrives at run time" in lines
    assert "   = tf.shape(x)[0]: tensor int32 (), shape" in lines
    assert any(line.startswith("   ! error XLA204 (certain) `kept[-1]`") for line in lines)


def test_one_line_is_shown_alone(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"step.py": STEP})
    ran = xlalint("debug", "facts", "step.py:6", cwd=folder)
    assert ran.out.splitlines()[0] == " 6 |     halves = tf.reshape(x, [-1, 2, x.shape[1] // 2])"
    assert sum(" | " in line for line in ran.out.splitlines()) == 1


def test_callers_in_other_files_decide_what_arguments_are(
    write: WriteFiles, xlalint: RunXlalint
) -> None:
    files = {
        "helper.py": "def halve(value):\n    return value / 2\n",
        "main.py": (
            "import tensorflow as tf\nfrom helper import halve\n\n"
            "@tf.function\ndef f():\n    return halve(tf.zeros([3, 4]))\n"
        ),
    }
    folder = write(files)
    alone = xlalint("debug", "facts", "helper.py:2", cwd=folder)
    together = xlalint("debug", "facts", "helper.py:2", "main.py", cwd=folder)
    assert "tensor" not in alone.out
    assert " = value: tensor float32 (3, 4), constant" in together.out.replace("  ", " ")


def test_json_holds_the_same_with_places(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"step.py": STEP})
    document = json.loads(
        xlalint("debug", "facts", "step.py:5", "--format", "json", cwd=folder).out
    )
    assert document["schema_version"] == 1
    (call,) = [e for e in document["expressions"] if e["source"].startswith("tf.boolean_mask(")]
    assert (call["line"], call["column"], call["end_column"]) == (5, 12, 36)
    (value,) = call["values"]
    assert (value["shape"], value["dtype"]) == ([None, 8], "float32")
    assert value["data_sized_by"] == "a boolean mask"
    assert [f["code"] for f in document["findings"]] == ["XLA201"]


def test_pedantic_shows_what_was_only_possible(write: WriteFiles, xlalint: RunXlalint) -> None:
    source = "import tensorflow as tf\n\ndef report(x):\n    tf.summary.scalar('a', x, step=0)\n    return tf.nn.relu(x)\n"
    folder = write({"library.py": source.replace("report", "apply")})
    plain = xlalint("debug", "facts", "library.py", cwd=folder)
    pedantic = xlalint("debug", "facts", "library.py", "--pedantic", cwd=folder)
    assert "(possible)" not in plain.out
    assert "XLA402 (possible)" in pedantic.out


def test_a_file_that_is_not_there_is_said(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"broken.py": "def f(:\n"})
    missing = xlalint("debug", "facts", "absent.py", cwd=folder)
    assert (missing.status, "absent.py" in missing.err) == (2, True)
    broken = xlalint("debug", "facts", "broken.py", cwd=folder)
    assert broken.status == 2
    assert "broken.py" in broken.err and "syntax error" in broken.err
