"""`xlalint verify src/` without a script: where the inputs of functions with findings come from, and what is said of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# Both programs run once: with `--dist loadgroup`, in one worker.
pytestmark = [pytest.mark.compiler, pytest.mark.xdist_group("alone")]

FUNCTIONS = '''\
import dataclasses
from pathlib import Path
from typing import Literal, Optional

import keras
import tensorflow as tf

from . import sizes


@dataclasses.dataclass
class Options:
    count: int
    scale: float = 2.0


@tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])
def signed(x):
    return tf.unique(tf.reshape(x, [-1]))[0] * sizes.WIDTH  # signed


def flattened(x):
    width = keras.backend.int_shape(x)[-1]  # of Keras 2
    return tf.linalg.logm(tf.reshape(x, [width, width]))


def annotated(x: tf.Tensor, kind: Literal["sum", "mean"], top: Optional[int] = None):
    if kind == "mean":
        return tf.linalg.logm(tf.cast(x, tf.complex64))  # annotated
    return x


def shaped(rows: "Float[tf.Tensor, 'batch 6']", columns: "Float[tf.Tensor, '6 batch']"):
    return tf.linalg.sqrtm(tf.matmul(rows, columns))  # shaped


def configured(x: tf.Tensor, options: Options):
    return tf.nn.max_pool_with_argmax(x, options.count, 1, "SAME")[0] * options.scale  # configured


def from_the_settings(data):
    return tf.image.resize(data["picture"], [3, 5], method="bicubic")  # from the settings


def from_a_test(table, where):
    if table.rows != 3 or table.title != "ledger":
        raise ValueError("no ledger")
    return tf.math.segment_sum(where, table.ids)  # from a test


class Ledger:
    def __init__(self, first, second):
        self.rows = tf.stack([first, second])


def from_the_docstring(ledger):
    """Sums.

    >>> from_the_docstring(Ledger(tf.ones([3]), tf.zeros([3])))
    """
    return tf.math.segment_sum(tf.concat([ledger.rows], 0), [0, 1])  # from the docstring


def tried(logits, mask, labels):
    kept = tf.boolean_mask(logits, mask)  # tried
    return tf.reduce_mean(kept) + tf.reduce_sum(tf.one_hot(labels, 3))


def outer(x):
    def inner(y):
        return tf.linalg.sqrtm(y)  # inner

    return inner(x + 1.0)


def main(epochs: int = 2):
    """The step is what is compiled; what prints is no part of it."""
    weights = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def step(rows):
        weights.assign_add(tf.math.segment_sum(rows, [0, 1, 2]))  # step
        return tf.reduce_sum(weights)

    for _ in range(epochs):
        print(f"{float(step(tf.ones([3]))):.2f}")


def never(connection):
    rows = connection.cursor().fetch("select")
    return tf.math.segment_sum(rows, connection.ids)  # never


def deadly(x):
    sizes.insist(x.shape.rank == 3)
    return tf.linalg.sqrtm(x)  # deadly


def writes(x):
    Path("left_behind.txt").write_text("here")
    return tf.linalg.logm(x)  # writes
'''

SIZES = """\
import faulthandler

WIDTH = 2.0


def insist(holds):
    if not holds:
        faulthandler._sigabrt()
"""

TEST = """\
import types

import tensorflow as tf
from pkg.functions import from_a_test


def test_that_sums_a_ledger():
    table = types.SimpleNamespace(rows=3, title="ledger", ids=tf.constant([0, 0, 1]))
    from_a_test(table, tf.ones([3, 2]))
"""

INPUTS = """\
import tensorflow as tf


def picture():
    return ({"picture": tf.ones([1, 4, 4, 3])},)
"""

SETTINGS = """\
[tool.xlalint.verify.inputs]
"pkg.functions:from_the_settings" = "pkg.made:picture"
"""


LAYERS = """\
import keras
import tensorflow as tf


class MixerConfig:
    def __init__(self, vocab_size=30000, hidden_size=768, num_heads=12):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_heads = num_heads


class Mixer(keras.layers.Layer):
    def __init__(self, config, **kwargs):
        super().__init__(**kwargs)
        self.embed = keras.layers.Embedding(config.vocab_size, config.hidden_size)
        self.mix = keras.layers.MultiHeadAttention(config.num_heads, config.hidden_size)

    def call(self, token_ids, weights=None):
        x = self.embed(token_ids)
        x = self._spread(self.mix(x, x))
        if weights is not None:
            if tf.reduce_sum(weights) > 0:  # optional
                x = x * 2.0
        return x

    def _spread(self, x):
        return tf.math.segment_mean(x, tf.range(tf.shape(x)[0]))  # helper


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(4)

    def call(self, x):
        return self.hidden(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x))
        if loss > 10.0:  # step
            loss = loss / 2.0
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables))
        return {"loss": loss}


class Clipped(keras.losses.Loss):
    def call(self, y_true, y_pred):
        if tf.reduce_max(y_pred) > 1.0:  # loss
            y_pred = tf.minimum(y_pred, 1.0)
        return tf.reduce_mean(tf.square(y_true - y_pred), -1)


class Hits(keras.metrics.Metric):
    def __init__(self, threshold, **kwargs):
        super().__init__(**kwargs)
        self.threshold = threshold
        self.hits = self.add_weight(name="hits", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        if tf.reduce_any(y_pred > self.threshold):  # metric
            self.hits.assign_add(1.0)

    def result(self):
        return self.hits


for one in (Clipped, Hits):
    one.__doc__ = f"{one.__name__}, as in the paper."
"""

BROKEN = """\
import tensorflow as tf
import a_library_that_is_not_there


def lost(x):
    return tf.linalg.logm(x)  # lost
"""


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report on a package of functions that nothing calls."""
    files = {
        "pyproject.toml": SETTINGS,
        "pkg/__init__.py": "",
        "pkg/sizes.py": SIZES,
        "pkg/made.py": INPUTS,
        "pkg/functions.py": FUNCTIONS,
        "tests/test_functions.py": TEST,
    }
    return verified(tmp_path_factory.mktemp("functions"), files)


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report on a file of Keras classes and on one that cannot be imported."""
    files = {"src/layers.py": LAYERS, "src/broken.py": BROKEN}
    return verified(tmp_path_factory.mktemp("layers"), files, "src")


def verified(folder: Path, files: dict[str, str], *arguments: str) -> dict[str, Any]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    before = sorted(folder.rglob("*"))
    ran = subprocess.run(
        [sys.executable, "-m", "xlalint", "verify", "--format", "json", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.startswith("{"), ran.stderr
    written = [path for path in sorted(folder.rglob("*")) if path not in before]
    return {"status": ran.returncode, "written": written, **json.loads(ran.stdout)}


def line_of(source: str, part: str) -> int:
    (line,) = [n for n, text in enumerate(source.splitlines(), 1) if text.endswith(f"# {part}")]
    return line


def judged(report: dict[str, Any], source: str, part: str) -> tuple[str, str]:
    line = line_of(source, part)
    (told,) = {(f["verdict"], f["evidence"]) for f in report["findings"] if f["line"] == line}
    return told


def target(report: dict[str, Any], function: str) -> dict[str, Any]:
    return next(one for one in report["targets"] if one["function"] == function)


SOURCES = [
    ("annotated", "annotated", "inputs found by trying: x float32[3, 3], kind='mean'"),
    ("shaped", "shaped", "inputs found by trying: rows float32[4, 6], columns float32[6, 4]"),
    (
        "configured",
        "configured",
        "inputs found by trying: x float32[2, 8, 8, 3], options=Options with small sizes",
    ),
    ("from the settings", "from_the_settings", "inputs from the settings: pkg.made:picture"),
    (
        "from a test",
        "from_a_test",
        "inputs from the test test_functions.py::test_that_sums_a_ledger",
    ),
    (
        "from the docstring",
        "from_the_docstring",
        "inputs from the example in the docstring of from_the_docstring",
    ),
    ("inner", "outer.<locals>.inner through outer", "inputs found by trying: x float32[3, 3]"),
    ("step", "main.<locals>.step", "inputs from a run of main()"),
]


@pytest.mark.parametrize(("part", "function", "inputs"), SOURCES)
def test_inputs_come_from_wherever_they_can_be_had(
    functions: dict[str, Any], part: str, function: str, inputs: str
) -> None:
    assert judged(functions, FUNCTIONS, part)[0] == "confirmed"
    assert target(functions, function)["inputs"] == inputs


def test_values_fit_each_other(functions: dict[str, Any]) -> None:
    assert judged(functions, FUNCTIONS, "tried")[0] == "confirmed"
    told = target(functions, "tried")["inputs"]
    assert "logits float32[4, 3], mask bool[4], labels int32[4]" in told


def test_a_function_that_says_what_it_takes_is_called_with_that_alone(
    functions: dict[str, Any],
) -> None:
    assert judged(functions, FUNCTIONS, "signed")[0] == "confirmed"
    origins = [one["origin"] for one in functions["targets"] if one["function"] == "signed"]
    assert origins == ["input_signature"]


def test_what_was_tried_in_vain_is_said_and_is_no_failure(functions: dict[str, Any]) -> None:
    verdict, evidence = judged(functions, FUNCTIONS, "never")
    one = target(functions, "never")
    assert (verdict, one["status"], one["failures"]) == ("not reached", "skipped", [])
    assert evidence.startswith("no inputs were found with which it runs (never: ")
    assert one["notes"][-1].startswith(
        'give its arguments in [tool.xlalint.verify.inputs]: "pkg.functions:never" = '
    )


def test_no_inputs_help_where_a_name_is_gone(functions: dict[str, Any]) -> None:
    verdict, evidence = judged(functions, FUNCTIONS, "of Keras 2")
    assert verdict == "confirmed"
    assert evidence.endswith("module 'keras.backend' has no attribute 'int_shape'")
    assert target(functions, "flattened")["status"] == "failed"


def test_inputs_that_kill_the_process_are_not_tried_again(functions: dict[str, Any]) -> None:
    assert judged(functions, FUNCTIONS, "deadly")[0] == "confirmed"
    assert target(functions, "deadly")["inputs"].startswith("inputs found by trying: x float32[2, ")


def test_made_up_arguments_write_nothing_in_the_project(functions: dict[str, Any]) -> None:
    assert functions["written"] == []
    assert "lets it not write" in judged(functions, FUNCTIONS, "writes")[1]


KERAS = [
    ("optional", "Mixer.call", "Mixer(config=MixerConfig with small sizes); token_ids int32[2, 8], weights "),
    ("helper", "Mixer._spread through Mixer.call", "Mixer(config=MixerConfig with small sizes); token_ids "),
    ("step", "Net.train_step", "x float32[4, 3], targets="),
    ("loss", "Clipped.call", "y_true float32[4, 3], y_pred float32[4, 3]"),
    ("metric", "Hits.update_state", "Hits(threshold=0.3); y_true float32[4, 3], y_pred float32[4, 3]"),
]  # fmt: skip


@pytest.mark.parametrize(("part", "function", "inputs"), KERAS)
def test_keras_classes_are_made_and_called_as_keras_calls_them(
    layers: dict[str, Any], part: str, function: str, inputs: str
) -> None:
    assert judged(layers, LAYERS, part)[0] == "confirmed"
    told = [one["inputs"] for one in layers["targets"] if one["function"] == function]
    assert any(one.startswith(f"inputs found by trying: {inputs}") for one in told), told


def test_a_module_that_cannot_be_imported_costs_the_others_nothing(layers: dict[str, Any]) -> None:
    (broken,) = layers["broken"]
    assert layers["status"] == 2
    assert (Path(broken["path"]).name, broken["line"]) == ("broken.py", 2)
    assert "a_library_that_is_not_there" in broken["message"]
    verdict, evidence = judged(layers, BROKEN, "lost")
    assert verdict == "not reached"
    assert evidence.startswith("its module could not be run: ModuleNotFoundError")


def test_a_loop_in_a_module_of_functions_is_no_training(layers: dict[str, Any]) -> None:
    assert layers["training"] == []


SHORTENED = """\
import tensorflow as tf


def shortened(x, counted=False):
    if counted:
        return tf.unique_with_counts(x)[2]  # counted
    return x * 2.0
"""
OF_TENSORFLOW_1 = """\
import tensorflow.compat.v1 as tf

from pkg import lengths


class LengthsTest(tf.test.TestCase):
    def setUp(self):
        tf.disable_eager_execution()

    def test_lengths(self):
        with self.cached_session():
            self.assertAllClose(lengths.shortened(tf.constant([1.0, 2.0])).eval(), [2.0, 4.0])
"""


def test_a_test_that_turns_eager_execution_off_costs_what_is_tried_after_it_nothing(
    tmp_path: Path,
) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "pkg"\n',
        "pkg/__init__.py": "",
        "pkg/lengths.py": SHORTENED,
        "tests/test_lengths.py": OF_TENSORFLOW_1,
    }
    verdict, evidence = judged(verified(tmp_path, files), SHORTENED, "counted")
    assert (verdict, "UniqueWithCounts" in evidence) == ("confirmed", True), evidence
