"""Which code is compiled, and why: each program holds one call that XLA cannot compile.

A line that ends in `# compiled` must be reported in a compiled region, `# assumed` in a function that nobody calls; every
other line must be silent.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from cli_support import WriteFiles

from xlalint.engine import check
from xlalint.project.settings import Settings

HEAD = "import functools\nimport tensorflow as tf\nimport keras\n\n"

PROGRAMS = {
    "library functions whose names sound like a host's": """
        def generator_loss(x):
            return tf.unique_with_counts(x)  # assumed

        def log_prob(x):
            return tf.unique_with_counts(x)  # assumed

        def decode_boxes(x):
            return tf.unique_with_counts(x)  # assumed

        def decode_image(x):
            return tf.unique_with_counts(x)

        def data_generator(x):
            return tf.unique_with_counts(x)

        def log_metrics(x):
            return tf.unique_with_counts(x)
        """,
    "a library function that compiles a step of its own, and drives it": """
        def fit(start, optimizer, steps=100):
            trial = tf.Variable(start)
            tf.unique_with_counts(start)

            @tf.function
            def step():
                return tf.unique_with_counts(trial)  # compiled

            for _ in range(steps):
                step()
            return trial
        """,
    "a loop over epochs, which runs steps from the host": """
        class Ansatz:
            def pre_train(self, x, y, epochs, size=8):
                for epoch in range(epochs):
                    tf.unique_with_counts(x)
                    self.stepped(x, y)

            def stepped(self, x, y):
                return tf.unique_with_counts(x)  # assumed

            def unrolled(self, x, steps):
                for step in range(steps):
                    x = tf.unique_with_counts(x)  # assumed
                return x
        """,
    "what gives weights their first values, in Keras 2": """
        import tf_keras

        class Orthogonal(tf_keras.initializers.Initializer):
            def __call__(self, shape, dtype=tf.float32):
                return tf.unique_with_counts(tf.ones(shape, dtype))
        """,
    "what gives weights their first values, in Keras 3": """
        class Orthogonal(tf.keras.initializers.Initializer):
            def __call__(self, shape, dtype=tf.float32):
                return tf.unique_with_counts(tf.ones(shape, dtype))  # assumed
        """,
    "a loop over what hands out batches, and a method that leaves it to another": """
        class Classifier:
            def scores(self, loader):
                found = []
                for batch in tqdm(loader):
                    found.append(tf.unique_with_counts(batch))
                return tf.concat(found, 0)

            def classes(self, loader):
                tf.unique_with_counts(loader.first)
                return tf.argmax(self.scores(loader))

            def once(self, batch):
                return tf.unique_with_counts(batch)  # assumed
        """,
    "decorator": """
        @tf.function
        def step(x):
            return tf.unique_with_counts(x)  # compiled
        """,
    "decorator with jit_compile": """
        @tf.function(jit_compile=True, autograph=False)
        def step(x):
            return tf.unique_with_counts(x)  # compiled
        """,
    "call form": """
        def step(x):
            return tf.unique_with_counts(x)  # compiled

        fast = tf.function(step, jit_compile=True)
        """,
    "call form of a bound method, kept in an attribute": """
        class Trainer:
            def __init__(self):
                self.step = tf.function(self._step)

            def _step(self, x):
                return tf.unique_with_counts(x)  # compiled
        """,
    "call form of a lambda": """
        fast = tf.function(lambda x: tf.unique_with_counts(x))  # compiled
        """,
    "call form inside a function that is run": """
        def make_step(model):
            def step(x):
                return tf.unique_with_counts(model(x))  # compiled
            return tf.function(step)
        """,
    "tf.function made by functools.partial": """
        jit = functools.partial(tf.function, jit_compile=True)

        @jit
        def step(x):
            return tf.unique_with_counts(x)  # compiled
        """,
    "a decorator that wraps in tf.function": """
        def compiled(fn):
            @functools.wraps(fn)
            def wrapper(*args, **kwargs):
                return tf.function(fn)(*args, **kwargs)
            return wrapper

        @compiled
        def step(x):
            return tf.unique_with_counts(x)  # compiled
        """,
    "a decorator that only wraps": """
        def logged(fn):
            @functools.wraps(fn)
            def wrapper(*args, **kwargs):
                print("called")
                return fn(*args, **kwargs)
            return wrapper

        @logged
        def helper(x):
            return tf.unique_with_counts(x)  # compiled

        @tf.function
        def step(x):
            return helper(x)
        """,
    "a decorator that takes options and wraps": """
        def compiled(**options):
            def decorate(fn):
                return tf.function(fn, **options)
            return decorate

        @compiled(jit_compile=True)
        def step(x):
            return tf.unique_with_counts(x)  # compiled
        """,
    "functions stored in a dictionary": """
        def plain(x):
            return x

        def counted(x):
            return tf.unique_with_counts(x)  # compiled

        LOSSES = {"plain": plain, "counted": counted}

        @tf.function
        def step(x, name="counted"):
            return LOSSES[name](x)
        """,
    "functions stored in an attribute": """
        def counted(x):
            return tf.unique_with_counts(x)  # compiled

        class Trainer:
            def __init__(self):
                self.loss_fn = counted

            @tf.function
            def step(self, x):
                return self.loss_fn(x)
        """,
    "functions in a list": """
        def counted(x):
            return tf.unique_with_counts(x)  # compiled

        STAGES = [counted, tf.nn.relu]

        @tf.function
        def step(x):
            for stage in STAGES:
                x = stage(x)
            return x
        """,
    "functools.partial of a helper": """
        def counted(scale, x):
            return tf.unique_with_counts(x * scale)  # compiled

        @tf.function
        def step(x):
            return functools.partial(counted, 2.0)(x)
        """,
    "helper passed as an argument": """
        def counted(x):
            return tf.unique_with_counts(x)  # compiled

        def apply(fn, x):
            return fn(x)

        @tf.function
        def step(x):
            return apply(counted, x)
        """,
    "keras layer": """
        class Counted(keras.layers.Layer):
            def call(self, x):
                return tf.unique_with_counts(x)  # compiled
        """,
    "keras model steps": """
        class Net(keras.Model):
            def call(self, x):
                return tf.unique_with_counts(x)  # compiled

            def train_step(self, data):
                x, y = data
                return {"loss": tf.unique_with_counts(y).count}  # compiled

            def test_step(self, data):
                return {"loss": tf.unique_with_counts(data).count}  # compiled

            def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
                return tf.unique_with_counts(y).count  # compiled
        """,
    "losses and metrics handed to compile": """
        def my_loss(y_true, y_pred):
            return tf.unique_with_counts(y_true).count  # compiled

        def my_metric(y_true, y_pred):
            return tf.unique_with_counts(y_pred).count  # compiled

        def main():
            model = keras.Sequential([keras.layers.Dense(1)])
            model.compile(loss=my_loss, metrics=[my_metric])
        """,
    "losses by output name": """
        def my_loss(y_true, y_pred):
            return tf.unique_with_counts(y_true).count  # compiled

        def main(model: keras.Model):
            model.compile(loss={"a": my_loss})
        """,
    "loss and metric classes": """
        class MyLoss(keras.losses.Loss):
            def call(self, y_true, y_pred):
                return tf.unique_with_counts(y_true).count  # compiled

        class MyMetric(keras.metrics.Metric):
            def update_state(self, y_true, y_pred, sample_weight=None):
                self.total.assign_add(tf.unique_with_counts(y_true).count)  # compiled

            def result(self):
                return self.total
        """,
    "add_loss of a function": """
        class Regularized(keras.layers.Layer):
            def penalty(self):
                return tf.unique_with_counts(self.kernel)  # compiled

            def call(self, x):
                self.add_loss(self.penalty)
                return x
        """,
    "transformers model": """
        from transformers import TFPreTrainedModel

        class MyModel(TFPreTrainedModel):
            def call(self, input_ids, training=False):
                return tf.unique_with_counts(input_ids)  # compiled
        """,
    "strategy.run": """
        strategy = tf.distribute.TPUStrategy()

        def replica_step(batch):
            return tf.unique_with_counts(batch)  # compiled

        @tf.function
        def train_step(iterator):
            strategy.run(replica_step, args=(next(iterator),))
        """,
    "a data set that is held in tensors": """
        class Points:
            inputs: tf.Tensor
            observations: tf.Tensor

        @tf.function
        def criterion(dataset: "Points | None"):
            return tf.unique_with_counts(dataset.inputs)  # compiled

        class Feed:
            def __iter__(self):
                return iter([tf.ones([4])])

        @tf.function
        def drive(dataset: Feed):
            for batch in dataset:
                tf.unique_with_counts(batch)
        """,
    "strategy.run of a nested function, strategy in an attribute": """
        class Trainer:
            def __init__(self, strategy: tf.distribute.Strategy):
                self.strategy = strategy

            def train(self, iterator):
                def step_fn(batch):
                    return tf.unique_with_counts(batch)  # compiled
                self.strategy.run(step_fn, args=(next(iterator),))
        """,
    "loop and branch bodies": """
        def body(i, x):
            return i + 1, tf.unique_with_counts(x).y  # compiled

        def if_true():
            return tf.unique_with_counts(tf.random.uniform([4])).y  # compiled

        @tf.function
        def step(x, elems):
            x = tf.while_loop(lambda i, x: i < 4, body, (0, x))[1]
            y = tf.cond(tf.reduce_sum(x) > 0, if_true, lambda: x)
            z = tf.map_fn(lambda e: tf.unique_with_counts(e).y, elems)  # compiled
            w = tf.vectorized_map(lambda e: tf.unique_with_counts(e).y, elems)  # compiled
            v = tf.scan(lambda a, e: tf.unique_with_counts(e).y, elems)  # compiled
            return y, z, w, v
        """,
    "custom gradient": """
        @tf.custom_gradient
        def clipped(x):
            def grad(dy):
                return tf.unique_with_counts(dy).y  # compiled
            return tf.unique_with_counts(x).y, grad  # compiled

        @tf.function
        def step(x):
            return clipped(x)
        """,
    "TPUEstimator model_fn": """
        def model_fn(features, labels, mode, params):
            return tf.unique_with_counts(features)  # compiled

        def main():
            return tf.compat.v1.estimator.tpu.TPUEstimator(model_fn=model_fn, use_tpu=True)
        """,
    "inherited and overridden methods": """
        class Base(keras.Model):
            def call(self, x):
                return self.head(x)

            def head(self, x):
                return x

        class Net(Base):
            def head(self, x):
                return tf.unique_with_counts(x)  # compiled
        """,
    "super()": """
        class Base(keras.layers.Layer):
            def mix(self, x):
                return tf.unique_with_counts(x)  # compiled

        class Net(Base):
            def mix(self, x):
                return super().mix(x) + 1

            def call(self, x):
                return self.mix(x)
        """,
    "keras layer in a functional model": """
        def gate(x):
            return tf.unique_with_counts(x).y  # compiled

        def build():
            inputs = keras.Input([4])
            outputs = keras.layers.Lambda(gate)(inputs)
            return keras.Model(inputs, outputs)
        """,
    "tf.Module with a traced method": """
        class Module(tf.Module):
            @tf.function(input_signature=[tf.TensorSpec([None])])
            def __call__(self, x):
                return tf.unique_with_counts(x)  # compiled
        """,
    "nested tf.function": """
        def train(model, data):
            @tf.function
            def step(x):
                return tf.unique_with_counts(model(x))  # compiled
            for x in data:
                step(x)
        """,
    "get_concrete_function": """
        def serve(x):
            return tf.unique_with_counts(x)  # compiled

        concrete = tf.function(serve).get_concrete_function(tf.TensorSpec([4], tf.int32))
        """,
    "library function that nobody calls": """
        def counted(x):
            return tf.unique_with_counts(x)  # assumed
        """,
    "tf.data functions are host": """
        def parse(x):
            return tf.unique_with_counts(x)

        def keep(x):
            return tf.size(tf.unique_with_counts(x).y) > 2

        def dataset():
            ds = tf.data.Dataset.range(4)
            return ds.map(parse).filter(keep).map(lambda x: tf.unique_with_counts(x)).batch(2)
        """,
    "py_function is host": """
        def on_host(x):
            return tf.unique_with_counts(x).y

        def step(x):
            return tf.py_function(on_host, [x], tf.int32)
        """,
    "callbacks are host": """
        class Log(keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                print(tf.unique_with_counts(self.model.seen))
        """,
    "init_scope is eager": """
        @tf.function
        def step(x):
            with tf.init_scope():
                table = tf.unique_with_counts([1, 1, 2])
            return x + 1
        """,
    "eager guards": """
        @tf.function
        def step(x):
            if tf.executing_eagerly():
                x = tf.unique_with_counts(x).y
            if not tf.executing_eagerly():
                return x
            return tf.unique_with_counts(x).y
        """,
    "inside_function guards": """
        def helper(x):
            if not tf.inside_function():
                return tf.unique_with_counts(x).y
            return x

        @tf.function
        def step(x):
            return helper(x)
        """,
    "config guards leave both arms open": """
        class Net(keras.layers.Layer):
            def __init__(self, config):
                super().__init__()
                self.use_legacy = config.tf_legacy_loss

            def call(self, x):
                if self.use_legacy:
                    return tf.unique_with_counts(x)  # compiled
                return tf.unique_with_counts(x + 1)  # compiled
        """,
    "the main block is eager": """
        def summarize(x):
            print(tf.unique_with_counts(x).y.numpy())

        if __name__ == "__main__":
            x = tf.constant([1, 1, 2])
            print(tf.unique_with_counts(x))
            summarize(x)
        """,
    "a function that its author calls host": """
        def pack(x):  # xlalint: host
            return tf.unique_with_counts(x)
        """,
    "a generator feeds the model": """
        def batches(x):
            while True:
                yield tf.unique_with_counts(x)
        """,
    "tests are eager": """
        class MyTest(tf.test.TestCase):
            def test_counts(self):
                self.assertEqual(tf.unique_with_counts([1, 1]).count[0], 2)
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_region(tmp_path: Path, name: str) -> None:
    source = HEAD + dedent(PROGRAMS[name])
    path = tmp_path / "program.py"
    path.write_text(source)
    result = check([str(path)], Settings(root=tmp_path))
    expected = {
        (number, kind)
        for number, line in enumerate(source.splitlines(), start=1)
        for kind in ("compiled", "assumed")
        if line.endswith(f"# {kind}")
    }
    assert {(f.span.line, f.region.kind) for f in result.findings if f.code == "XLA401"} == expected


def test_what_a_package_exports_again_is_followed(tmp_path: Path, write: WriteFiles) -> None:
    files = {
        "pkg/__init__.py": "from pkg.losses import *\nfrom pkg import losses as criteria\n",
        "pkg/losses.py": "import tensorflow as tf\n\ndef counted(x):\n    return tf.unique_with_counts(x)\n",
        "pkg/train.py": (
            "import tensorflow as tf\nimport pkg\nfrom pkg import counted as c\n\n"
            "@tf.function\ndef step(x):\n    return c(x), pkg.criteria.counted(x)\n"
        ),
    }
    write(files)
    result = check([str(tmp_path)], Settings(root=tmp_path))
    (finding,) = [f for f in result.findings if f.code == "XLA401"]
    assert finding.path.endswith("losses.py")
    assert (finding.region.kind, finding.region.why) == (
        "compiled",
        ("@tf.function step", "counted"),
    )


def test_what_a_package_exports_is_its_own_even_where_a_host_function_calls_it(
    tmp_path: Path, write: WriteFiles
) -> None:
    files = {
        "pkg/__init__.py": "from pkg.text import counted\n",
        "pkg/text.py": (
            "import tensorflow as tf\n\n"
            "def counted_file(path):\n    return counted(tf.io.read_file(path)), hidden(path)\n\n"
            "def counted(x):\n    return tf.unique_with_counts(x)\n\n"
            "def hidden(x):\n    return tf.unique_with_counts(x)\n"
        ),
    }
    write(files)
    result = check([str(tmp_path)], Settings(root=tmp_path))
    assert [(f.code, f.span.line) for f in result.findings] == [("XLA401", 7)]


def test_what_a_package_exports_is_judged_by_itself_whoever_called_its_helpers_before(
    tmp_path: Path, write: WriteFiles
) -> None:
    files = {
        "pkg/__init__.py": "from pkg.rows import repeat_rows\n",
        "pkg/rows.py": (
            "import tensorflow as tf\n\n"
            "def read_rows(path, times):\n"
            "    return repeat_rows(tf.io.read_file(path), tf.shape(times))\n\n"
            "def repeat_thrice(x):\n    return repeat_rows(x, 3)\n\n"
            "def repeat_rows(x, times):\n"
            "    if isinstance(times, int):\n        return tf.tile(x, [times, 1])\n"
            "    return _repeated(x, tf.abs(times))\n\n"
            "def _repeated(x, times):\n    return tf.tile(x, [tf.reduce_max(times), 1])\n"
        ),
    }
    write(files)
    result = check([str(tmp_path)], Settings(root=tmp_path))
    assert [(f.code, f.span.line) for f in result.findings] == [("XLA203", 15)]


def test_what_a_package_exports_as_the_step_of_a_loop_is_judged_in_it(
    tmp_path: Path, write: WriteFiles
) -> None:
    files = {
        "pkg/__init__.py": "from pkg.boxes import best, losses\n",
        "pkg/boxes.py": (
            "import tensorflow as tf\n\n"
            "def best(x):\n"
            "    kept = tf.boolean_mask(x[1], x[2] > 0.0)\n"
            "    return tf.reduce_max(x[0] * tf.reduce_sum(kept[:, 1] - kept[:, 0]))\n\n"
            "def losses(boxes, truth, weights):\n"
            "    return tf.map_fn(best, (boxes, truth, weights), tf.float32)\n"
        ),
    }
    write(files)
    # In the bodies of loops XLA takes counts as equal, also before TensorFlow 2.16.
    result = check([str(tmp_path)], Settings(root=tmp_path, tf_version="2.15"))
    assert [(f.code, f.span.line) for f in result.findings] == [("XLA201", 4)]


@pytest.mark.parametrize(
    "files",
    [
        ("kept-1.0/__init__.py",),
        ("src/__init__.py",),
        ("checkout/__init__.py", "checkout/setup.py"),
    ],
    ids=lambda files: files[0].partition("/")[0],
)
def test_a_stray_init_beside_a_package_does_not_hide_what_it_imports(
    tmp_path: Path, files: tuple[str, ...]
) -> None:
    folder = tmp_path / Path(files[0]).parent
    package = folder / "kept"
    package.mkdir(parents=True)
    for path in (*(tmp_path / file for file in files), package / "__init__.py"):
        path.touch()
    (package / "counts.py").write_text(
        "import tensorflow as tf\n\ndef counted(x):\n    return tf.unique_with_counts(x)\n"
    )
    (package / "steps.py").write_text(
        "import tensorflow as tf\nfrom kept.counts import counted\n\n"
        "@tf.function\ndef step(x):\n    return counted(x)\n"
    )
    for given in (folder, package):
        (finding,) = check([str(given)], Settings(root=tmp_path)).findings
        assert finding.region.why == ("@tf.function step", "counted")


def test_what_a_module_of_numpy_alone_slices_is_an_array(tmp_path: Path, write: WriteFiles) -> None:
    boxes = (
        "import numpy as np\n\n"
        "def centers(boxes):\n    return 0.5 * (boxes[:, 0] + boxes[:, 2])\n\n"
        "def decode(boxes, deltas):\n    x = centers(boxes) + deltas[:, 0]\n    return np.column_stack((x, x))\n"
    )
    files = {
        "pkg/__init__.py": "",
        "pkg/boxes.py": boxes,
        "pkg/tensors.py": boxes.replace("numpy as np", "numpy as np, tensorflow as tf").replace(
            "0.5 * (boxes[:, 0] + boxes[:, 2])", "tf.reduce_mean(boxes[:, ::2], 1)"
        ),
        "pkg/drawing.py": (
            "import tensorflow as tf\nfrom pkg import boxes, tensors\n\n"
            'def placed(given, kept):\n    return boxes.decode(given["boxes"], kept)\n\n'
            'def placed_tensors(given, kept):\n    return tensors.decode(given["boxes"], kept)\n'
        ),
    }
    write(files)
    result = check([str(tmp_path)], Settings(root=tmp_path))
    found = [(Path(f.path).name, f.code, f.span.line) for f in result.findings]
    assert found == [("tensors.py", "XLA105", 8)]


def test_what_a_function_computes_with_is_a_tensor_whatever_its_caller_knows(
    tmp_path: Path,
) -> None:
    source = HEAD + dedent(
        """
        def pooled(config, x):
            return positive(config.project(x)), tf.exp(x)

        def positive(rows):
            return rows[rows[:, 0] > 0.5]
        """
    )
    path = tmp_path / "program.py"
    path.write_text(source)
    result = check([str(path)], Settings(root=tmp_path))
    assert [(f.code, f.span.line) for f in result.findings] == [("XLA201", 10)]


def test_the_optimizers_and_steps_of_tf1_belong_to_the_graph_and_checkpoints_to_the_host(
    tmp_path: Path,
) -> None:
    source = HEAD + dedent(
        """
        from tensorflow.compat.v1 import train

        def warmed_up(x):
            step = tf.cast(train.get_or_create_global_step(), tf.float32)
            return tf.unique_with_counts(x * tf.minimum(step, 1.0))

        def restored(x):
            train.load_checkpoint("model")
            return tf.unique_with_counts(x)
        """
    )
    path = tmp_path / "program.py"
    path.write_text(source)
    result = check([str(path)], Settings(root=tmp_path))
    assert [(f.code, f.span.line) for f in result.findings] == [("XLA401", 10)]


def test_a_function_decorated_as_a_host_callback_is_one_where_it_is_called(tmp_path: Path) -> None:
    source = HEAD + dedent(
        """
        @tf.numpy_function(Tout=tf.float32)
        def env_step(action):
            return action.sum()

        @tf.function
        def step(x):
            return env_step(x) + 1.0

        class Net(keras.Model):
            def train_step(self, data):
                loss = self.loss_fn(tf.abs(data))
                if loss < 0.1:
                    return {}
                return {"loss": loss}
        """
    )
    path = tmp_path / "program.py"
    path.write_text(source)
    result = check([str(path)], Settings(root=tmp_path))
    assert [(f.code, f.span.line) for f in result.findings] == [("XLA402", 12), ("XLA101", 17)]


def test_modules_of_pytorch_beside_layers_of_keras_are_not_traced(tmp_path: Path) -> None:
    source = HEAD + dedent(
        """
        from torch import nn

        class Base(nn.Module):
            def warn(self, ids):
                if self.pad in ids[:, [-1, 0]]:
                    print("padded")

        class Model(Base):
            def forward(self, ids, mask):
                self.warn(ids)

                def shortened(x):
                    return x[:, 1:] if mask[:, 0] > 0 else x

                return shortened(ids)

        class Layer(keras.layers.Layer):
            def call(self, ids):
                return ids if ids[0, 0] > 0 else -ids
        """
    )
    path = tmp_path / "program.py"
    path.write_text(source)
    result = check([str(path)], Settings(root=tmp_path))
    (line,) = [n for n, text in enumerate(source.splitlines(), 1) if "else -ids" in text]
    assert [(f.code, f.span.line) for f in result.findings] == [("XLA101", line)]
