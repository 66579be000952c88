"""`xlalint verify` on small real programs: the verdict of every finding, and the lines of every failure."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from cli_support import WriteFiles

from xlalint.finding import CheckResult, Finding, Region, Severity, Span
from xlalint.isolation.sandbox import Limits
from xlalint.project.settings import load
from xlalint.verify import verification
from xlalint.verify.plan import Options
from xlalint.verify.verification import Request

pytestmark = pytest.mark.compiler


def script(*arguments: str) -> tuple[str, ...]:
    return ("--", sys.executable, *arguments)


def line_of(source: str, part: str) -> int:
    (line,) = [number for number, text in enumerate(source.splitlines(), 1) if part in text]
    return line


def judged(report: dict[str, Any]) -> dict[tuple[int, str], str]:
    return {(one["line"], one["code"]): one["verdict"] for one in report["findings"]}


def by_function(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["function"]: one for one in report["targets"]}


KERAS_FIT = """\
import keras
import numpy as np
import tensorflow as tf


class Gate(keras.layers.Layer):
    def call(self, x):
        if tf.reduce_sum(x) > 10:  # stops tracing
            x = x * 2.0
        while tf.reduce_max(x) > 100.0:
            x = x / 2.0
        return x


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(4)
        self.gate = Gate()

    def call(self, x):
        return self.gate(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x) - y))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        return {"loss": loss}


net = Net()
net.compile(optimizer="adam")
net.fit(np.ones((64, 4), "float32"), np.ones((64, 4), "float32"), batch_size=8, epochs=3)
"""


def test_every_question_to_a_symbolic_tensor_in_keras_3_is_confirmed(verify: Any) -> None:
    ran, report = verify({"train.py": KERAS_FIT}, "--strategy", "none", *script("train.py"))
    first, second = line_of(KERAS_FIT, "stops tracing"), line_of(KERAS_FIT, "while tf")
    assert ran.status == 1
    assert judged(report) == {(first, "XLA101"): "confirmed", (second, "XLA102"): "confirmed"}
    (training,) = report["training"]
    assert (training["status"], training["failure"]["line"]) == ("failed", first)
    failures = by_function(report)["Gate.call"]["failures"]
    assert [(one["stage"], one["kind"], one["line"]) for one in failures] == [
        ("trace", "symbolic", first),
        ("trace", "symbolic", second),
    ]


MASKS = """\
import keras
import numpy as np
import tensorflow as tf


def masked_loss(y, p):
    keep = y > 0.2
    errors = tf.boolean_mask(tf.square(y - p), keep)
    return tf.reduce_mean(errors)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(8, activation="relu")
        self.drop = keras.layers.Dropout(0.3)
        self.out = keras.layers.Dense(1)

    def call(self, x, training=False):
        return self.out(self.drop(self.hidden(x), training=training))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = masked_loss(y, self(x, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        return {"loss": loss}


if __name__ == "__main__":
    net = Net()
    net.compile(optimizer="adam", jit_compile=True)
    x = np.random.rand(128, 4).astype("float32")
    net.fit(x, x[:, :1], batch_size=16, epochs=3)
"""


def test_a_mask_in_a_keras_fit_is_confirmed_as_data_sized_and_trains(verify: Any) -> None:
    ran, report = verify({"train.py": MASKS}, "--steps", "3", "train.py")
    line = line_of(MASKS, "tf.boolean_mask")
    assert ran.status == 0, ran.out
    assert judged(report)[(line, "XLA201")] == "confirmed"
    step = by_function(report)["Net.train_step"]
    assert (step["status"], step["line"]) == ("ok", line_of(MASKS, "def train_step"))
    stages = {name: check["status"] for name, check in step["checks"].items()}
    # With dropout: eager and compiled code draw the same numbers while they are compared.
    passed = ("eager", "trace", "lower", "opaque", "run", "numbers", "values", "shapes")
    assert stages == dict.fromkeys(passed, "ok") | {"gradient": "skipped"}
    assert [(one["strategy"], one["steps"]) for one in report["training"]] == [
        ("none", 3),
        ("mirrored", 3),
    ]
    assert all(len(one["losses"]) == 3 and None not in one["losses"] for one in report["training"])
    assert list(report["training"][0]["compiles"].values()) == [1]


LOOP = """\
import tensorflow as tf

weights = tf.Variable(tf.ones([4, 1]))
optimizer = tf.keras.optimizers.SGD(0.01)


def scale(x):
    if tf.reduce_sum(x) > 0.0:  # AutoGraph converts it
        return x * 2.0
    return x


@tf.function
def step(x, n):
    with tf.GradientTape() as tape:
        y = tf.matmul(scale(x), weights)
        loss = tf.reduce_mean(tf.square(y)) + tf.reduce_sum(tf.zeros([n]))  # size from data
    optimizer.apply_gradients(zip(tape.gradient(loss, [weights]), [weights]))
    return loss


for index in range(50):
    loss = step(tf.random.normal([8, 4]), tf.constant(index + 1))
    print("loss", float(loss))
"""


def test_a_custom_loop_stops_after_its_steps_and_its_step_is_compiled(verify: Any) -> None:
    ran, report = verify({"loop.py": LOOP}, "--steps", "3", *script("loop.py"))
    assert ran.status == 1
    branch, size = line_of(LOOP, "AutoGraph converts"), line_of(LOOP, "size from data")
    assert judged(report)[(branch, "XLA101")] == "confirmed"
    step = by_function(report)["step"]
    assert (step["checks"]["lower"]["status"], step["checks"]["run"]["status"]) == ("failed", "ok")
    (failure,) = [one for one in step["failures"] if one["stage"] == "lower"]
    assert (failure["kind"], failure["op"], failure["path"], failure["line"]) == (
        "not-constant",
        "Fill",
        "loop.py",
        size,
    )
    assert step["compiled_per_value"] == ["n"]
    assert step["calls"] == 3
    as_it_is, mirrored = report["training"]
    for training in (as_it_is, mirrored):
        assert (training["status"], training["steps"], len(training["losses"])) == ("stopped", 3, 3)
    assert (mirrored["strategy"], mirrored["checks"]["loss"]["status"]) == ("mirrored", "ok")
    assert mirrored["checks"]["variables"]["status"] == "ok"


TPU = """\
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
batch = 4 * strategy.num_replicas_in_sync

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Input([3]), tf.keras.layers.Dense(2)])
    optimizer = tf.keras.optimizers.SGD(0.1)


def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    tf.print("loss", loss)
    return loss


@tf.function
def distributed_step(inputs):
    return strategy.reduce("MEAN", strategy.run(train_step, args=inputs), axis=None)


data = tf.data.Dataset.from_tensor_slices((tf.ones([640, 3]), tf.ones([640, 2])))
data = strategy.experimental_distribute_dataset(data.batch(batch, drop_remainder=True).repeat())
for inputs in data:
    distributed_step(inputs)
"""


def test_a_program_for_a_tpu_runs_on_the_stand_in_and_on_several_cpus(verify: Any) -> None:
    ran, report = verify({"train.py": TPU}, *script("train.py"))
    assert ran.status == 0, ran.out
    assert [(one["strategy"], one["replicas"], one["steps"]) for one in report["training"]] == [
        ("tpu", 8, 5),
        ("mirrored", 2, 5),
    ]
    assert by_function(report)["distributed_step"]["status"] == "ok"
    # On a TPU the print goes to the host: a price, and no failure.
    assert judged(report)[(line_of(TPU, "tf.print"), "XLA402")] == "confirmed"


SIGNATURES = """\
import os
import tensorflow as tf

PAIR = [tf.TensorSpec([4], tf.float32), tf.TensorSpec([4], tf.bool)]


@tf.function(input_signature=PAIR)
def last_kept(x, mask):
    return x[mask][-1]


@tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
def words(x):
    values, _, counts = tf.unique_with_counts(x)
    text = tf.strings.as_string(values)
    return counts, tf.strings.length(text)


@tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
def killer(x):
    os.abort()


@tf.function(input_signature=[tf.TensorSpec([5], tf.float32)])
def halve(x):
    i = 0.0
    while i < tf.reduce_sum(x):
        x = x * 0.5
        i += 1.0
    return x


@tf.function(input_signature=[tf.TensorSpec([2, 2], tf.float32)])
def invert(x):
    return tf.linalg.inv(x + 3.0 * tf.eye(2))
"""


def test_functions_with_a_signature_are_verified_without_a_script(verify: Any) -> None:
    ran, report = verify({"lib.py": SIGNATURES}, ".")
    targets = by_function(report)
    failures = {
        name: [
            (one["stage"], one["kind"], one["line"], one["column"]) for one in target["failures"]
        ]
        for name, target in targets.items()
    }
    assert ran.status == 1
    assert len(report["targets"]) == 5
    assert failures == {
        "last_kept": [("numbers", "numbers", line_of(SIGNATURES, "x[mask][-1]"), 12)],
        "words": [
            ("lower", "no-kernel", line_of(SIGNATURES, "tf.unique_with"), 25),
            ("lower", "no-kernel", line_of(SIGNATURES, "as_string"), 12),
            ("lower", "no-kernel", line_of(SIGNATURES, "strings.length"), 20),
        ],
        "killer": [("eager", "crash", line_of(SIGNATURES, "os.abort"), 0)],
        "halve": [("gradient", "gradient", line_of(SIGNATURES, "while i"), 15)],
        "invert": [],
    }
    assert targets["words"]["notes"] == ["unknown dimensions taken as 4 (first) and 8"]
    assert targets["invert"]["status"] == "ok"
    verdicts = judged(report)
    assert verdicts[(line_of(SIGNATURES, "x[mask][-1]"), "XLA204")] == "confirmed"
    assert verdicts[(line_of(SIGNATURES, "x[mask][-1]"), "XLA201")] == "confirmed"
    assert verdicts[(line_of(SIGNATURES, "as_string"), "XLA403")] == "confirmed"


def test_a_check_that_xla_drops_is_a_difference(verify: Any) -> None:
    source = """\
import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec([2], tf.int32)])
def checked(x):
    tf.debugging.assert_less(x, 0)
    return x + 1
"""
    ran, report = verify({"lib.py": source}, ".")
    checks = by_function(report)["checked"]["checks"]
    assert ran.status == 1
    assert {name: checks[name]["status"] for name in ("eager", "lower", "run", "numbers")} == {
        "eager": "failed",
        "lower": "ok",
        "run": "ok",
        "numbers": "failed",
    }
    assert (
        checks["numbers"]["detail"]
        == "eager code raises InvalidArgumentError; XLA returns a result"
    )


def test_each_size_from_data_is_told_though_the_compiler_names_one(verify: Any) -> None:
    source = """\
import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32)])
def grid(height, width):
    rows = tf.range(height)
    columns = tf.range(width)
    return rows[:, tf.newaxis] * columns
"""
    _, report = verify({"lib.py": source}, ".")
    failures = by_function(report)["grid"]["failures"]
    assert [(one["kind"], one["op"], one["line"]) for one in failures] == [
        ("not-constant", "Range", line_of(source, "rows =")),
        ("not-constant", "Range", line_of(source, "columns =")),
    ]


def test_a_layer_of_the_library_fails_at_the_line_that_made_it(verify: Any) -> None:
    source = """\
import keras
import tensorflow as tf

network = keras.Sequential(
    [
        keras.layers.Input([4, 4, 3]),
        keras.layers.UpSampling2D(interpolation="bicubic"),
    ]
)


@tf.function(input_signature=[tf.TensorSpec([2, 4, 4, 3], tf.float32)])
def up(x):
    return network(x)
"""
    _, report = verify({"lib.py": source}, ".")
    (failure,) = by_function(report)["up"]["failures"]
    assert (failure["op"], failure["line"]) == ("ResizeBicubic", line_of(source, "UpSampling2D"))
    assert failure["called_from"]["line"] == line_of(source, "return network(x)")


def test_the_entry_of_the_settings_is_verified_with_its_inputs(verify: Any) -> None:
    files = {
        "pyproject.toml": """\
            [tool.xlalint.verify]
            entry = "package.model:loss"
            inputs = ["float32[8,3]", "int32[]"]
            """,
        "package/__init__.py": "",
        "package/model.py": """\
            import tensorflow as tf


            def loss(x, n):
                return tf.reduce_sum(x[:, :n] ** 2)
            """,
    }
    ran, report = verify(files)
    (target,) = report["targets"]
    assert ran.status == 0, ran.out
    assert (target["function"], target["path"], target["origin"]) == (
        "loss",
        "package/model.py",
        "entry",
    )
    assert target["compiled_per_value"] == ["n"]


BAD_ENTRIES = [
    ('entry = "model:absent"', "model:absent: model has no absent"),
    ('entry = "absent:f"', "No module named 'absent'"),
    ('entry = "model:f"', "entry model:f takes x: give `inputs`"),
    ('entry = "model:f"\ninputs = ["float33[2]"]', "TensorFlow has no dtype float33"),
]


@pytest.mark.parametrize(("setting", "message"), BAD_ENTRIES, ids=[row[1] for row in BAD_ENTRIES])
def test_an_entry_that_cannot_be_run_is_explained(setting: str, message: str, verify: Any) -> None:
    ran, report = verify(
        {"xlalint.toml": f"[verify]\n{setting}\n", "model.py": "def f(x):\n    return x\n"}
    )
    assert ran.status == 2
    (broken,) = report["broken"]
    assert message in broken["message"]


def test_an_error_of_the_program_itself_is_told_with_its_line(verify: Any) -> None:
    source = """\
import tensorflow as tf


def load(path):
    raise FileNotFoundError(f"no data at {path}")


x = load("/data/train")
"""
    ran, report = verify({"train.py": source}, *script("train.py"))
    (training,) = report["training"]
    assert (ran.status, training["status"]) == (1, "failed")
    assert training["detail"] == "FileNotFoundError: no data at /data/train"
    assert training["failure"]["line"] == line_of(source, "raise")


def test_an_endless_program_is_stopped_at_the_line_where_it_hangs(verify: Any) -> None:
    source = "def wait():\n    while True:\n        pass\n\n\nwait()\n"
    ran, report = verify({"train.py": source}, "--timeout", "3", *script("train.py"))
    (training,) = report["training"]
    assert ran.status == 1
    assert training["detail"].startswith("the process was stopped after")
    assert training["failure"]["line"] in (2, 3)


CLAIMED = """\
import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec([4], tf.float32)])
def fine(x):
    if x.shape[0] > 2:  # static
        x = x * 2.0
    y = tf.where(x > 0.0, x, 0.0)  # no mask
    return tf.reduce_sum(y)


def elsewhere(x):
    return x  # never called
"""


def test_wrong_claims_are_refuted(write: WriteFiles) -> None:
    folder = write({"lib.py": CLAIMED})
    claims = [
        Finding(
            code,
            "x",
            Severity(severity),
            "lib.py",
            Span(line, 5, line, 9),
            "",
            function,
            Region("compiled"),
            "",
        )
        for code, severity, line, function in (
            ("XLA101", "error", line_of(CLAIMED, "static"), "fine"),
            ("XLA201", "warning", line_of(CLAIMED, "no mask"), "fine"),
            ("XLA101", "error", line_of(CLAIMED, "never called"), "elsewhere"),
        )
    ]
    request = Request((str(folder),), (), folder, Options(), Limits(wall=100))
    result = verification.verify(
        request,
        load([str(folder)]),
        lambda paths, settings: CheckResult(tuple(claims)),
        lambda text, child="": None,
    )
    assert [(one.verdict, one.evidence) for one in result.verdicts] == [
        ("refuted", "fine compiles and runs and agrees with eager"),
        (
            "refuted",
            "fine compiles and runs and agrees with eager: all its sizes are known when XLA compiles",
        ),
        (
            "refuted",
            "elsewhere compiles and runs and agrees with eager, with inputs found by trying: x float32[4, 3]",
        ),
    ]
    assert not result.has_failures


KEPT = """\
import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec([6], tf.float32)])
def newest(x):
    return tf.unique(x)[0][-1]  # the last of the buffer


@tf.function(input_signature=[tf.TensorSpec([6], tf.float32)])
def total(x):
    return tf.reduce_sum(tf.unique(x)[0])
"""


def test_made_inputs_of_which_all_is_kept_are_followed_by_some_of_which_a_part_is(
    verify: Any,
) -> None:
    # Six numbers drawn at random are six: the buffer is full, and what follows cannot go wrong.
    _, report = verify({"lib.py": KEPT}, "lib.py")
    status = {one["function"]: one["status"] for one in report["targets"]}
    assert status["total"] == "ok"
    (wrong,) = [one for one in report["findings"] if one["code"] == "XLA204"]
    assert (wrong["line"], wrong["verdict"]) == (line_of(KEPT, "last of the buffer"), "confirmed")


KERAS_2 = """\
import numpy as np
import tensorflow as tf
import tf_keras as keras


class Gate(keras.layers.Layer):
    def call(self, x):
        if tf.reduce_sum(x) > 1e9:
            x = x * 2.0
        return x


model = keras.Sequential([keras.layers.Dense(4), Gate(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((64, 4), "float32"), np.ones((64, 1), "float32"), batch_size=8)
"""


def test_a_branch_that_keras_2_converts_is_no_failure(verify: Any) -> None:
    pytest.importorskip("tf_keras", reason="Keras 2 is not installed")
    ran, report = verify({"train.py": KERAS_2}, "--strategy", "none", *script("train.py"))
    assert ran.status == 0, ran.out
    assert {target["status"] for target in report["targets"]} == {"ok"}
    (one,) = report["findings"]
    assert (one["code"], one["severity"], one["verdict"]) == ("XLA101", "warning", "confirmed")
    assert one["evidence"] == "the graph holds StatelessIf made here"


def test_a_step_that_a_strategy_runs_is_compiled_by_itself(verify: Any) -> None:
    source = """\
import tensorflow as tf

strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
with strategy.scope():
    weights = tf.Variable(tf.ones([3, 1]))
    optimizer = tf.keras.optimizers.SGD(0.1)
data = tf.data.Dataset.from_tensor_slices(tf.ones([640, 3])).batch(8)


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights)))
    optimizer.apply_gradients(zip(tape.gradient(loss, [weights]), [weights]))
    return loss


@tf.function
def train(iterator):
    return strategy.run(step, args=(next(iterator),))


iterator = iter(strategy.experimental_distribute_dataset(data))
for _ in range(20):
    train(iterator)
"""
    ran, report = verify({"train.py": source}, *script("train.py"))
    targets = by_function(report)
    assert (ran.status, targets["step"]["status"], targets["train"]["status"]) == (
        0,
        "ok",
        "skipped",
    )
    assert "lives on the host" in targets["train"]["checks"]["trace"]["detail"]
    assert report["training"][0]["steps"] == 5


def test_two_children_at_a_time_report_what_one_does(verify: Any) -> None:
    files = {
        f"{name}.py": f"import tensorflow as tf\n\n\n@tf.function(input_signature=[tf.TensorSpec([2])])\n"
        f"def {name}(x):\n    return x + 1.0\n"
        for name in ("first", "second")
    }
    ran, report = verify(files, "--jobs", "2", ".")
    assert ran.status == 0, ran.out
    assert [(one["function"], one["status"]) for one in report["targets"]] == [
        ("first", "ok"),
        ("second", "ok"),
    ]


def test_a_program_that_xla_kills_has_its_functions_compiled_one_by_one(verify: Any) -> None:
    source = """\
import ctypes
import tensorflow as tf


@tf.function(jit_compile=True)
def fine(x):
    return x * 2.0


def crash_when_compiled():
    if fine._jit_compile:  # what XLA does to some programs
        ctypes.string_at(0)


@tf.function(jit_compile=True)
def summed(x, mask):
    return tf.cumsum(x[mask])  # XLA on CPU crashes, or keeps all elements


fine(tf.ones([3]))
summed(tf.ones([4]), tf.constant([True, False, True, False]))
crash_when_compiled()
"""
    ran, report = verify({"train.py": source}, *script("train.py"))
    assert ran.status == 1
    assert any(note.startswith("XLA killed the program") for note in report["notes"])
    assert report["training"][0]["detail"] == "the process was killed by SIGSEGV"
    assert by_function(report)["fine"]["status"] == "ok"
    assert judged(report) == {
        (line_of(source, "tf.cumsum"), "XLA201"): "confirmed",
        (line_of(source, "tf.cumsum"), "XLA204"): "confirmed",
    }


def test_a_library_that_is_missing_is_told(verify: Any) -> None:
    ran, report = verify({"train.py": "import no_such_library\n"}, *script("train.py"))
    (training,) = report["training"]
    assert (ran.status, training["failure"]["line"]) == (1, 1)
    assert training["detail"] == "ModuleNotFoundError: No module named 'no_such_library'"


LENGTHS = """\
import tensorflow as tf

lengths = [5, 9, 5, 9, 30, 9, 9]


def sentences():
    for length in lengths:
        yield tf.ones([length], tf.int32)


spec = tf.TensorSpec([None], tf.int32)
data = tf.data.Dataset.from_generator(sentences, output_signature=spec).padded_batch(2)
table = tf.Variable(tf.ones([4, 2]))


@tf.function(jit_compile=True)
def train_step(ids, epoch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(table) * tf.cast(tf.shape(ids)[1], tf.float32)) * epoch
    table.assign_sub(0.01 * tape.gradient(loss, table))
    return loss


@tf.function(jit_compile=True)
def counted(n):
    return tf.reduce_sum(tf.ones([n]))


for index, ids in enumerate(data):
    train_step(ids, tf.constant(1.0))
    counted(tf.constant(index))
"""


def test_the_meter_says_what_changed_and_what_to_pad_to(verify: Any) -> None:
    _, report = verify({"train.py": LENGTHS}, "--steps", "3", *script("train.py"))
    (found,) = report["recompiles"]
    step, count = found["functions"]
    assert (step["function"], step["line"]) == (
        "train_step",
        line_of(LENGTHS, "def train_step") - 1,
    )
    assert (step["calls"], step["traces"], step["compiled"]) == (3, 2, {"train_step": 2})
    (again,) = step["again"]
    assert (again["call"], again["what"]) == (3, "traced")
    assert again["changes"] == [
        {"argument": "ids", "kind": "shape", "before": "int32[2, 9]", "after": "int32[2, 30]"}
    ]
    assert (count["traces"], count["compiled"], count["programs"]) == (1, {"counted": 3}, 1)
    assert [one["changes"][0]["kind"] for one in count["again"]] == ["tensor value"] * 2
    (batches,) = found["batches"]
    assert (batches["line"], batches["read"], batches["is_all"]) == (
        line_of(LENGTHS, "for index, ids"),
        4,
        True,
    )
    rows, lengths = batches["axes"]
    assert (rows["axis"], rows["sizes"], rows["options"]) == (0, {"1": 1, "2": 3}, None)
    assert (lengths["axis"], lengths["sizes"]) == (1, {"9": 3, "30": 1})
    assert [(one["multiple"], one["shapes"]) for one in lengths["options"]] == [
        (32, 1),
        (64, 1),
        (128, 1),
        (0, 1),
    ]
    padded = line_of(LENGTHS, ".padded_batch(2)")
    evidence = {one["code"]: (one["line"], one["evidence"]) for one in report["findings"]}
    told = "XLA compiled train_step 2 times in the run"
    assert evidence["XLA301"] == (
        padded,
        f"{told}; the data bring batches with a number of rows of 1 and 2",
    )
    assert evidence["XLA302"] == (padded, f"{told}; shape of `ids`: int32[2, 9] -> int32[2, 30]")


BACKWARDS = """\
import keras
import numpy as np
import tensorflow as tf


class Mapped(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.rate = self.add_weight(shape=(), name="rate", initializer="ones")

    @tf.function
    def call(self, x):
        return tf.map_fn(lambda row: tf.reduce_sum(tf.square(row * self.rate), 0), x)


w = tf.Variable(2.0)


@tf.function(jit_compile=True)
def means_of_either(x):
    with tf.GradientTape() as tape:
        losses = tf.reshape(tf.square(x * w), [-1])
        loss = tf.cond(
            losses[4] > 0.1,
            lambda: tf.reduce_mean(losses[losses > 0.1]),
            lambda: tf.reduce_mean(losses[losses < 0.3]),
        )
    return tape.gradient(loss, w)


@tf.function(jit_compile=True)
def noisy(x):
    with tf.GradientTape() as tape:
        y = x * w
        loss = tf.reduce_sum(
            tf.cond(tf.random.uniform([]) < 0.5, lambda: tf.nn.softmax(y, axis=-2), lambda: y) ** 2
        )
    return tape.gradient(loss, w)


for step in (means_of_either, noisy):
    try:
        step(tf.reshape(tf.range(12.0) / 12.0, [2, 6]))
    except Exception as error:
        print(type(error).__name__)
model = keras.Sequential([keras.Input((4, 3)), Mapped(), keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=True)
model.fit(np.random.rand(8, 4, 3), np.zeros((8, 1)), batch_size=4, verbose=0)
"""


def test_gradients_that_conditionals_and_loops_lack_are_confirmed(verify: Any) -> None:
    ran, report = verify({"train.py": BACKWARDS}, "--steps", "2", *script("train.py"))
    assert ran.status == 1
    verdicts = {
        (one["code"], one["line"]): one["verdict"]
        for one in report["findings"]
        if one["severity"] == "error"
    }
    assert verdicts == {
        ("XLA103", line_of(BACKWARDS, "tf.map_fn")): "confirmed",
        ("XLA407", line_of(BACKWARDS, "loss = tf.cond(")): "confirmed",
        ("XLA407", line_of(BACKWARDS, "tf.nn.softmax")): "confirmed",
    }
