"""What `check` understands of a project: names, classes, calls, regions; and that nothing in a source file breaks it."""

from __future__ import annotations

import ast
import random
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import libcst as cst
import pytest

from xlalint import engine
from xlalint.finding import CheckResult, Finding
from xlalint.project import settings
from xlalint.semantics import expressions, parameters
from xlalint.semantics.catalog.shipped import load
from xlalint.semantics.facts import CALL
from xlalint.semantics.frames import Frame
from xlalint.semantics.values import Value

REPOSITORY = Path(__file__).resolve().parents[1]


def check_files(folder: Path, files: Mapping[str, str], **overrides: object) -> CheckResult:
    """Check a project made of these files; paths in findings are relative to nothing: they are as given."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return engine.check([str(folder)], settings.load([str(folder)], overrides))


def said(result: CheckResult) -> list[tuple[str, int, str]]:
    return [(Path(f.path).name, f.span.line, f.code) for f in result.findings]


def only(result: CheckResult) -> Finding:
    assert len(result.findings) == 1, said(result)
    return result.findings[0]


ALIASES = {
    "module alias": "import tensorflow as tf\nunique = tf.unique_with_counts",
    "compat.v2": "import tensorflow.compat.v2 as tf\nunique = tf.unique_with_counts",
    "compat.v1": "import tensorflow.compat.v1 as tf1\nunique = tf1.unique_with_counts",
    "from import": "from tensorflow import unique_with_counts as unique",
    "attribute chain": "import tensorflow\nunique = tensorflow.raw_ops.UniqueWithCounts",
    "private module": "from tensorflow.python.ops import array_ops\nunique = array_ops.unique_with_counts",
    "generated module": "from tensorflow.python.ops import gen_array_ops\nunique = gen_array_ops.unique_with_counts",
    "through try": """
try:
    from tensorflow import unique_with_counts as unique
except ImportError:
    unique = None
""",
}


@pytest.mark.parametrize("imports", ALIASES.values(), ids=ALIASES.keys())
def test_an_api_is_known_under_every_name(tmp_path: Path, imports: str) -> None:
    text = f"{imports}\nimport tensorflow\n\n\n@tensorflow.function(jit_compile=True)\ndef f(x):\n    return unique(x)\n"
    finding = only(check_files(tmp_path, {"m.py": text}))
    assert finding.code == "XLA401"
    assert "UniqueWithCounts" in finding.message


def test_no_api_stops_the_analysis(tmp_path: Path) -> None:
    """However many arguments it is given: a row of the catalogue may name no parameters at all."""
    names = load("2.21").names()
    lines = [
        "import keras",
        "import tensorflow as tf",
        "from tensorflow.python.ops import gen_state_ops",
    ]
    for number, name in enumerate(("gen_state_ops.assign_sub", *names[:: len(names) // 300])):
        lines += [
            "@tf.function(jit_compile=True)",
            f"def f{number}(x, n, *args, **options):",
            f"    a = {name}(x, n)",
            f"    b = {name}(*args, **options)",
            f"    return {name}() + a[b > 0], {name}(tf.boolean_mask(x, n), [a, b], n, n, n, n)",
        ]
    result = check_files(tmp_path, {"m.py": "\n".join(lines)})
    assert result.errors == ()
    assert result.findings


BY_ANOTHER_MODULE = {
    "from a module": ("from compat import tf", "tf"),
    "among others": ("from compat import (\n    np,\n    tf,\n)", "tf"),
    "everything": ("from compat import *", "tf"),
    "as an attribute": ("import compat", "compat.tf"),
    "returned": ("import compat\ntf = compat.backend()", "tf"),
}


@pytest.mark.parametrize("imports, name", BY_ANOTHER_MODULE.values(), ids=BY_ANOTHER_MODULE.keys())
def test_a_module_may_have_tensorflow_from_another(tmp_path: Path, imports: str, name: str) -> None:
    result = check_files(
        tmp_path,
        {
            "compat.py": """
                import numpy as np
                import tensorflow as tf

                def backend():
                    return tf
            """,
            "ops.py": f"{imports}\n\n\ndef count(x):\n    return {name}.unique_with_counts({name}.abs(x))\n",
        },
    )
    assert [(path, code) for path, _, code in said(result)] == [("ops.py", "XLA401")]


def test_a_module_that_only_speaks_of_tensorflow_is_still_read(tmp_path: Path) -> None:
    speaks = '"""Adapted from https://github.com/tensorflow/models: takes a torch.Tensor or tf.Tensor."""\n'
    result = check_files(
        tmp_path,
        {
            "sizes.py": f"{speaks}\n\ndef rows(mask, x, select):\n    return select(x, mask)[-1]\n",
            "broken.py": f"{speaks}\ndef f(:\n",
            "step.py": """
                import tensorflow as tf
                from sizes import rows

                @tf.function(jit_compile=True)
                def step(x):
                    return rows(x > 0, x, tf.boolean_mask)
            """,
        },
    )
    assert [(Path(e.path).name, e.line) for e in result.errors] == [("broken.py", 3)]
    assert "XLA201" in {code for _, _, code in said(result)}


def test_decorators_and_bases_of_classes_are_read(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        {
            "cells.py": """
                import tensorflow as tf

                class Short(tf.keras.metrics.MeanTensor): pass

                class Wide(
                    tf.keras.metrics.MeanTensor
                ): pass

                @tf.keras.saving.register_keras_serializable()
                class Cell(tf.keras.layers.AbstractRNNCell):
                    class Inner(tf.keras.metrics.MeanTensor): pass

                    def call(self, x):
                        return tf.unique_with_counts(x)
            """,
        },
    )
    assert result.errors == ()
    found = [(line, code) for _, line, code in said(result)]
    gone = [(line, "XLA504") for line in (4, 7, 10, 11, 12)]
    assert found == [*gone, (15, "XLA401")]


OTHER_BACKENDS = {
    "chosen": 'import os\n\nos.environ["KERAS_BACKEND"] = "jax"\nimport tensorflow as tf\n',
    "chosen by default": 'import os\n\nos.environ.setdefault("KERAS_BACKEND", "torch")\n',
    "computed with": "import jax\nimport jax.numpy as jnp\n",
    "trained with": "import torch\n\n\ndef update(loss):\n    loss.backward()\n\n\n",
    "documented for all": 'import torch\n\n\ndef update(loss):\n    """Takes a tf.Tensor."""\n    loss.backward()\n\n\n',
}
TENSORFLOWS = {
    "its own": 'import os\n\nos.environ["KERAS_BACKEND"] = "tensorflow"\n',
    "default": "",
    "loads with PyTorch": "from torch.utils.data import DataLoader\n",
    "for several": "import jax\nimport tensorflow as tf\n",
    "for several, from elsewhere": "import jax\nfrom backend import tf\n",
    "chosen in a test alone": 'import os\n\n\ndef other():\n    os.environ["KERAS_BACKEND"] = "jax"\n\n\n',
}
_BINOMIAL = """
from keras import layers, random


class Noise(layers.Layer):
    def call(self, inputs):
        return inputs * random.binomial((3,), 5, 0.5)
"""


@pytest.mark.parametrize("beginning", OTHER_BACKENDS.values(), ids=OTHER_BACKENDS.keys())
def test_nothing_is_said_of_code_that_another_backend_of_keras_runs(
    tmp_path: Path, beginning: str
) -> None:
    assert said(check_files(tmp_path, {"layer.py": beginning + _BINOMIAL})) == []


@pytest.mark.parametrize("beginning", TENSORFLOWS.values(), ids=TENSORFLOWS.keys())
def test_tensorflow_runs_keras_where_nothing_else_is_chosen(tmp_path: Path, beginning: str) -> None:
    result = check_files(tmp_path, {"layer.py": beginning + _BINOMIAL})
    assert [code for _, _, code in said(result)] == ["XLA401"]


def test_a_name_re_exported_by_the_project_is_followed(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        {
            "pkg/__init__.py": "from .compat import tf, keras\n",
            "pkg/compat.py": "import tensorflow as tf\nfrom tensorflow import keras\n",
            "pkg/base.py": """
                from pkg import keras

                class Block(keras.layers.Layer):
                    pass
            """,
            "pkg/model.py": """
                from . import tf
                from .base import Block

                class Gate(Block):
                    def call(self, inputs):
                        if tf.reduce_sum(inputs) > 0:
                            return inputs
                        return -inputs
            """,
        },
    )
    assert said(result) == [("model.py", 7, "XLA101")]


def test_a_base_class_of_an_installed_package_is_read_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site-packages"
    package = installed / "blocks"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .core import Base\nraise RuntimeError('imported')\n")
    (package / "core.py").write_text(
        "import tensorflow as tf\n\nclass Root(tf.keras.layers.Layer): pass\n\nclass Base(Root): pass\n"
    )
    monkeypatch.setattr(sys, "path", [*sys.path, str(installed)])
    result = check_files(
        tmp_path / "project",
        {
            "m.py": """
                import tensorflow as tf
                from blocks import Base

                class Gate(Base):
                    def call(self, inputs):
                        return inputs if tf.reduce_sum(inputs) > 0 else -inputs
            """
        },
    )
    assert said(result) == [("m.py", 7, "XLA101")]


def test_a_finding_says_through_which_calls_its_code_is_compiled(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        {
            "losses.py": """
                import tensorflow as tf

                def masked_mean(values, mask):
                    return tf.reduce_mean(values[mask])
            """,
            "train.py": """
                import tensorflow as tf
                from losses import masked_mean

                class Trainer:
                    @tf.function(jit_compile=True)
                    def step(self, batch, labels):
                        return self.loss(batch, labels)

                    def loss(self, batch, labels):
                        return masked_mean(tf.square(batch), labels > 0)
            """,
        },
    )
    finding = only(result)
    assert (finding.code, finding.function) == ("XLA201", "masked_mean")
    assert finding.region.kind == "compiled"
    assert finding.region.why == ("@tf.function Trainer.step", "Trainer.loss", "masked_mean")


def test_a_library_function_nobody_calls_is_assumed_to_be_compiled(tmp_path: Path) -> None:
    text = """
        import tensorflow as tf

        def counts(labels):
            return tf.unique_with_counts(labels)
    """
    finding = only(check_files(tmp_path, {"m.py": text}))
    assert (finding.region.kind, finding.region.why) == ("assumed", ("counts",))


QUIET = {
    "an input function": """
        def clean(record):
            if tf.reduce_sum(record) > 0:
                record = tf.unique_with_counts(record)[0]
            return record

        dataset = tf.data.Dataset.range(3).map(clean)
    """,
    "what an input function calls": """
        def helper(record):
            return tf.strings.length(tf.strings.as_string(record))

        def clean(record):
            return helper(record)

        dataset = tf.data.Dataset.range(3).map(lambda record: clean(record))
    """,
    "a function marked as host code": """
        def clean(record):  # xlalint: host
            return tf.unique_with_counts(record)
    """,
    "the loop around strategy.run": """
        strategy = tf.distribute.MirroredStrategy()

        def replica_step(batch):
            return tf.reduce_sum(batch)

        @tf.function
        def train_step(batch):
            loss = strategy.run(replica_step, args=(batch,))
            tf.print(loss)
            if tf.reduce_sum(batch) > 0:
                tf.print("positive")
            return loss
    """,
    "a callback": """
        class Report(tf.keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                if tf.reduce_sum(self.model.losses) > 0:
                    print(tf.reduce_sum(self.model.losses).numpy())
    """,
    "init_scope": """
        @tf.function(jit_compile=True)
        def f(x):
            with tf.init_scope():
                table = tf.unique_with_counts(tf.constant([1, 1]))
            return x
    """,
    "static shapes and settings": """
        class Layer(tf.keras.layers.Layer):
            def __init__(self, depth=2, causal=False):
                super().__init__()
                self.depth, self.causal = depth, causal

            def call(self, inputs, training=None, mask=None):
                if training and self.causal or self.depth > 1:
                    inputs = inputs * 2.0
                if mask is not None and inputs.shape[0] is None:
                    inputs = tf.reshape(inputs, [tf.shape(inputs)[0], -1])
                if isinstance(inputs, (list, tuple)) or len(inputs.shape) == 3:
                    inputs = inputs[0]
                return inputs
    """,
    "the eager arm": """
        @tf.function(jit_compile=True)
        def f(x):
            if tf.executing_eagerly():
                return x.numpy()
            return x
    """,
}


@pytest.mark.parametrize("text", QUIET.values(), ids=QUIET.keys())
def test_code_that_is_not_compiled_or_not_dynamic_is_left_alone(tmp_path: Path, text: str) -> None:
    result = check_files(tmp_path, {"m.py": "import tensorflow as tf\n" + textwrap.dedent(text)})
    assert said(result) == []


HARD = {
    "a sum of 900 terms": "x = " + " + ".join(["1"] * 900) + "\n",
    "80 nested calls": "import tensorflow as tf\ny = " + "tf.abs(" * 80 + "1." + ")" * 80 + "\n",
    "a chain of 2000 functions": "import tensorflow as tf\n"
    + "".join(f"def f{i}(x):\n    return f{i + 1}(x)\n" for i in range(2000))
    + "def f2000(x):\n    return tf.unique_with_counts(x)\n\n@tf.function\ndef start(x):\n    return f0(x)\n",
    "a function that calls itself with more each time": "import tensorflow as tf\n@tf.function\n"
    "def f(x, seen):\n    return f(x, [*seen, x]) + f(x, {**seen, 'a': x})\n",
    "classes that inherit from each other": "import tensorflow as tf\nclass A(B): pass\nclass B(A):\n"
    "    def call(self, x):\n        return tf.unique(x)\n",
    "modules that are only a form feed": "\f\nimport tensorflow as tf\f\n",
    "annotations that hold nothing": "import tensorflow as tf\nfrom typing import Union\n@tf.function\n"
    "def f(x: Union[tuple[()], int], y: list[()], z: dict[()]):\n    return tf.abs(x)\n",
    "a dataset mapped over what makes it": "import tensorflow as tf\ndef data(x):\n"
    "    return tf.data.Dataset.from_tensor_slices(x).map(data).shuffle(8).batch(2)\n"
    "print(tf.random.uniform([]), tf.distribute.TPUStrategy)\n",
    "a name bound to itself": "from m import m\nfrom m import x as x\nprint(x)\n",
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_hard_sources_end_without_an_error(tmp_path: Path, text: str) -> None:
    assert check_files(tmp_path, {"m.py": text}).errors == ()


def test_a_bug_in_the_analysis_costs_one_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(node: object, frame: object) -> object:
        raise ZeroDivisionError("boom")

    monkeypatch.setitem(expressions.HANDLERS, ast.Set, broken)
    result = check_files(
        tmp_path,
        {
            "m.py": """
                import tensorflow as tf

                @tf.function
                def broken(x):
                    return {x}

                @tf.function
                def fine(x):
                    return tf.unique_with_counts(x)
            """
        },
    )
    assert said(result) == [("m.py", 10, "XLA401")]
    (error,) = result.errors
    assert (error.line, "analysing broken" in error.message) == (5, True)


def test_a_bug_about_a_parameter_costs_one_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    understood = parameters.from_annotation

    def broken(annotation: ast.expr | None, frame: Frame) -> Value | None:
        if isinstance(annotation, ast.Name) and annotation.id == "Odd":
            raise ZeroDivisionError("boom")
        return understood(annotation, frame)

    monkeypatch.setattr(parameters, "from_annotation", broken)
    result = check_files(
        tmp_path,
        {
            "m.py": """
                import tensorflow as tf

                @tf.function
                def broken(x: Odd):
                    return tf.unique_with_counts(x)

                @tf.function
                def fine(x):
                    return tf.unique_with_counts(x)
            """
        },
    )
    assert said(result) == [("m.py", 10, "XLA401")]
    (error,) = result.errors
    assert (error.line, "analysing broken" in error.message) == (5, True)


def test_a_bug_in_a_rule_costs_one_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xlalint.rules import xla401

    real = xla401.NoXlaKernel.visit_Call

    def broken(self: xla401.NoXlaKernel, node: cst.Call) -> None:
        if any(fact.detail.api == "tf.unique_with_counts" for fact in self.facts(node, CALL)):
            raise KeyError("kernel")
        real(self, node)

    monkeypatch.setattr(xla401.NoXlaKernel, "visit_Call", broken)
    files = {
        "a.py": """
            import tensorflow as tf

            def broken(x):
                return tf.unique_with_counts(x)

            def whole(x):
                return tf.linalg.det(x)
            """
    }
    result = check_files(tmp_path, files)
    assert said(result) == [("a.py", 8, "XLA401")]
    (error,) = result.errors
    assert (error.line, error.message) == (
        4, "internal error in a rule, please report it (KeyError: 'kernel')",
    )  # fmt: skip


def test_tabs_among_spaces_cost_one_function(tmp_path: Path) -> None:
    """Python takes a function indented by one space with a body under two tabs, libcst does not."""
    text = (
        "import tensorflow as tf\n\n\n"
        "def mixed(x):\n def inner(y):\n\t\treturn tf.unique_with_counts(y)\n return inner(x)\n\n\n"
        "def plain(x):\n    if tf.rank(x) == 1:\n        x = tf.reshape(x, [1, -1])\n    return tf.unique_with_counts(x)\n"
    )
    (tmp_path / "a.py").write_text(text)
    given = [str(tmp_path)]
    for with_fixes in (False, True):
        result = engine.check(given, settings.load(given, {}), with_fixes=with_fixes)
        assert said(result) == [("a.py", 11, "XLA106"), ("a.py", 13, "XLA401")]
        (error,) = result.errors
        assert (error.line, "libcst cannot read this" in error.message) == (4, True)


def test_a_file_with_a_syntax_error_does_not_hide_the_others(tmp_path: Path) -> None:
    fine = "import tensorflow as tf\n@tf.function\ndef f(x):\n    return tf.unique_with_counts(x)\n"
    result = check_files(tmp_path, {"a.py": "def (:\n", "b.py": fine})
    assert said(result) == [("b.py", 4, "XLA401")]
    assert [(Path(e.path).name, e.line) for e in result.errors] == [("a.py", 1)]


def _mutants(text: str, dice: random.Random) -> list[str]:
    """The text with lines dropped, doubled, swapped, or cut short."""
    found = []
    for _ in range(4):
        lines = text.splitlines(keepends=True)
        for _ in range(dice.randint(1, 6)):
            first, second = dice.randrange(len(lines)), dice.randrange(len(lines))
            change = dice.choice(("drop", "double", "swap", "cut"))
            if change == "drop" and len(lines) > 2:
                del lines[first]
                continue
            if change == "double":
                lines.insert(first, lines[first])
            elif change == "swap":
                lines[first], lines[second] = lines[second], lines[first]
            else:
                lines[first] = lines[first][: dice.randrange(len(lines[first]) + 1)] + "\n"
        found.append("".join(lines))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_no_mutilated_program_breaks_check(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    fixtures = sorted(REPOSITORY.glob("fixtures/XLA*/*.py"))
    for number, path in enumerate(dice.sample(fixtures, 12)):
        for variant, text in enumerate(_mutants(path.read_text(), dice)):
            (tmp_path / f"m{number}_{variant}.py").write_text(text)
    given = settings.load([str(tmp_path)])
    first, second = engine.check([str(tmp_path)], given), engine.check([str(tmp_path)], given)
    assert first == second
    assert not [error for error in first.errors if "internal" in error.message]
    assert first.files_checked + len(first.errors) == 48


def test_an_input_signature_says_which_parameters_are_tensors(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        {
            "m.py": """
                import tensorflow as tf

                class Model(tf.Module):
                    @tf.function(input_signature=[tf.TensorSpec([2, 3]), tf.TensorSpec([], tf.int32)])
                    def serve(self, x, num_copies):
                        return tf.tile(x, [num_copies, 1])
            """
        },
    )
    finding = only(result)
    assert (finding.span.line, finding.code, finding.severity.value) == (7, "XLA203", "error")


def test_an_api_kept_in_an_attribute_is_known_where_it_is_called(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        {
            "m.py": """
                import tensorflow as tf

                class Pool(tf.keras.layers.Layer):
                    def __init__(self):
                        super().__init__()
                        self.reduce = None

                    def call(self, inputs):
                        values, ids = inputs
                        return self.reduce(values, ids)

                class SumPool(Pool):
                    def __init__(self):
                        super().__init__()
                        self.reduce = tf.math.segment_sum
            """
        },
    )
    assert said(result) == [("m.py", 11, "XLA401")]


def test_a_base_initialised_from_a_function_outside_of_the_class_is_followed(
    tmp_path: Path,
) -> None:
    result = check_files(
        tmp_path,
        {
            "m.py": """
                import tensorflow as tf

                class Base(tf.Module):
                    def __init__(self, name):
                        super(Base, self).__init__(name)
                        self.scale = 2.0

                class Inflated(Base):
                    def __init__(self, name):
                        super(Inflated, self).__init__(name)

                def made(name):
                    def start(self, **options):
                        Inflated.__init__(self, name)

                    return type(name, (Inflated,), {"__init__": start})
            """
        },
    )
    assert not result.errors


def test_operations_of_a_loaded_library_have_no_xla_kernel(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        {
            "loader.py": """\
            import os
            import tensorflow as tf

            class Library:
                def __init__(self, name):
                    self.path = name
                    self._ops = None

                @property
                def ops(self):
                    if self._ops is None:
                        self._ops = tf.load_op_library(os.path.join("lib", self.path))
                    return self._ops
            """,
            "image.py": """\
            import tensorflow as tf
            from loader import Library

            library = Library("image.so")
            plain = tf.load_op_library("plain.so")

            @tf.function
            def label(images):
                return library.ops.connected_components(images) + plain.other_op(images)
            """,
        },
    )
    assert [(f.code, f.span.line, f.span.column) for f in result.findings] == [
        ("XLA401", 9, 12),
        ("XLA401", 9, 55),
    ]


def test_a_library_may_be_loaded_by_tensorflows_private_module(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        {
            "gen_ops.py": """            from tensorflow.python.framework import load_library
            from tensorflow.python.platform import resource_loader

            ops = load_library.load_op_library(resource_loader.get_path_to_datafile("ops.so"))
            """,
            "coding.py": """            import tensorflow as tf
            from gen_ops import ops

            @tf.function
            def encode(symbols):
                return ops.run_length_encode(symbols)
            """,
        },
    )
    assert [(f.code, f.span.line, f.span.column) for f in result.findings] == [("XLA401", 6, 12)]


def test_a_module_may_take_over_all_operations_of_a_library(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        {
            "pkg/__init__.py": "from pkg.gen_ops import *",
            "pkg/gen_ops.py": """\
            import tensorflow as tf

            ops = tf.load_op_library("ops.so")
            globals().update({n: getattr(ops, n) for n in dir(ops)})

            def padded(x):
                return tf.pad(x, [[0, 1]])
            """,
            "pkg/one_by_one.py": """\
            import tensorflow as tf

            _library = tf.load_op_library("other.so")
            for _name in dir(_library):
                globals()[_name] = getattr(_library, _name)
            """,
            "pkg/mixed.py": """\
            from keras.layers import *
            from pkg.gen_ops import *
            """,
            "coding.py": """\
            import tensorflow as tf
            import pkg
            from pkg import gen_ops, mixed, one_by_one
            from pkg.gen_ops import run_length_decode

            @tf.function
            def encode(symbols):
                codes = gen_ops.run_length_encode(symbols)
                return run_length_decode(pkg.range_encode(codes))

            @tf.function
            def others(symbols):
                return one_by_one.shuffled(gen_ops.padded(symbols)) + mixed.Dense(3)(symbols)
            """,
        },
    )
    assert [(f.code, f.span.line, f.span.column) for f in result.findings] == [
        ("XLA401", 8, 13),
        ("XLA401", 9, 12),
        ("XLA401", 9, 30),
        ("XLA401", 13, 12),
        ("XLA107", 13, 59),  # of what both modules may offer, Keras's names are known
    ]


def test_keras_is_meant_where_a_module_of_the_project_may_stand_in_for_it(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/backend.py": """
                from pkg import config

                if config.is_old():
                    import pkg.keras2 as keras
                else:
                    import keras
            """,
            "pkg/config.py": "def is_old():\n    return bool(open('config').read())\n",
            "pkg/keras2.py": "from tensorflow.keras import *\n",
            "pkg/layers.py": """
                import tensorflow as tf
                from pkg.backend import keras

                class Clip(keras.layers.Layer):
                    def call(self, inputs):
                        return self.clipped(inputs)

                    def clipped(self, inputs):
                        if tf.reduce_max(inputs) > 1.0:
                            return inputs / 2.0
                        return inputs
            """,
        },
    )
    finding = only(result)
    assert (finding.span.line, finding.code, finding.severity.value) == (10, "XLA101", "error")


AROUND_A_COMPILED_FUNCTION = """
import tensorflow as tf


@tf.function(jit_compile=True)
def forward(x):
    return tf.nn.relu(x)


@tf.function
def step(x):
    return tf.unique_with_counts(tf.cast(forward(x), tf.int32)).count


def train(dataset{given}):
    for batch in dataset:
        {call}
"""


def test_a_graph_around_a_compiled_function_is_compiled_where_a_strategy_runs_it(
    tmp_path: Path,
) -> None:
    plain = AROUND_A_COMPILED_FUNCTION.format(given="", call="step(batch)")
    on_replicas = AROUND_A_COMPILED_FUNCTION.format(
        given=", strategy: tf.distribute.Strategy", call="strategy.run(step, args=(batch,))"
    )
    missing = [
        [code for _, _, code in said(check_files(tmp_path / name, {"m.py": text}))]
        for name, text in (("plain", plain), ("replicas", on_replicas))
    ]
    assert "XLA401" not in missing[0]
    assert "XLA401" in missing[1]


@pytest.mark.parametrize(
    ("turned", "severity"), [("tf.map_fn(halved, inputs)", "warning"), ("halved(inputs)", "error")]
)
def test_map_fn_converts_what_keras_3_does_not(tmp_path: Path, turned: str, severity: str) -> None:
    result = check_files(
        tmp_path,
        {
            "m.py": f"""
                import keras
                import tensorflow as tf

                def halved(x):
                    if tf.reduce_max(x) > 1.0:
                        return x / 2.0
                    return x

                class Clip(keras.layers.Layer):
                    def call(self, inputs):
                        return {turned}
            """
        },
    )
    finding = only(result)
    assert (finding.span.line, finding.code, finding.severity.value) == (6, "XLA101", severity)


def test_random_numbers_are_not_constants_though_their_arguments_are(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        {
            "m.py": """
                import tensorflow as tf

                @tf.function(jit_compile=True)
                def mixed(x):
                    return x * tf.random.gamma([], alpha=tf.ones([3]) * 0.2)
            """
        },
    )
    assert said(result) == [("m.py", 6, "XLA401")]


def test_what_fails_only_where_a_caller_chooses_it_says_so(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        {
            "m.py": """\
            import tensorflow as tf

            def counts(x, exact=False, mode="fast", resize="bicubic"):
                if exact:
                    a = tf.unique_with_counts(x)
                else:
                    a = tf.linalg.det(x)
                if mode in ("slow", "slower"):
                    a = tf.linalg.det(x)
                if not exact:
                    return a, tf.image.resize(x, [2, 2], method=resize)
                return tf.linalg.det(x)

            class Layer(tf.keras.layers.Layer):
                def __init__(self, exact=False):
                    super().__init__()
                    self.exact = exact

                def call(self, x, training=False):
                    if training:
                        x = tf.linalg.det(x)
                    return tf.linalg.det(x) if self.exact else x
            """
        },
    )
    said = "With the default arguments this line is not run"
    assert [(f.span.line, f.severity.value, said in f.help) for f in result.findings] == [
        (5, "error", True),
        (7, "error", False),
        (9, "error", True),
        (11, "error", False),
        (12, "error", True),
        (21, "error", False),
        (22, "error", True),
    ]


def test_what_a_variable_of_the_environment_switches_on_says_so(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        {
            "m.py": """\
            import os
            import tensorflow as tf

            CHECKED = bool(os.getenv("CHECKED"))

            @tf.function(jit_compile=True)
            def step(x):
                if os.environ.get("DEBUG"):
                    tf.print(x)
                if os.environ.get("TRACE") is not None:
                    tf.print(x)
                if CHECKED or "CHECKED" in os.environ:
                    tf.print(x)
                if os.environ.get("QUIET") is None:
                    tf.print(x)
                return x
            """
        },
    )
    said = "With the default arguments this line is not run"
    assert [(f.span.line, said in f.help) for f in result.findings] == [
        (9, True),
        (11, True),
        (13, True),
        (15, False),
    ]


def test_names_that_backends_of_other_packages_hand_on_are_those_of_keras(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        {
            "m.py": """\
            from bert4keras.backend import K, keras, tf
            from pandas.backend import nothing
            from otherwise.keras import keras as something

            class Decoded(keras.layers.Layer):
                def call(self, x):
                    x = tf.image.crop_and_resize(x, x[0, 0], [0], [2, 2])
                    return K.ctc_decode(x, [3])[0]

            class Unknown(something.layers.Layer):
                def call(self, x):
                    return nothing.image.crop_and_resize(x, x[0, 0], [0], [2, 2])
            """
        },
    )
    assert said(result) == [("m.py", 7, "XLA401"), ("m.py", 8, "XLA401")]


def test_summaries_of_tensorflow_1_are_operations_wherever_they_stand(tmp_path: Path) -> None:
    result = check_files(
        tmp_path,
        {
            "losses.py": """\
            import tensorflow as tf
            import tensorflow.compat.v1 as tf1

            def loss(x):
                value = tf.reduce_sum(tf.square(x))
                tf1.summary.scalar("loss", value)
                tf.summary.scalar("loss", value, step=0)
                return value

            @tf.function(jit_compile=True)
            def step(x):
                tf1.summary.histogram("x", x)
                return tf.reduce_sum(x)
            """
        },
    )
    assert [(f.span.line, f.code, f.severity.value) for f in result.findings] == [
        (6, "XLA402", "error"),
        (12, "XLA402", "error"),
    ]


def test_what_is_done_for_callers_that_pass_arrays_is_not_held_against_tensors(
    tmp_path: Path,
) -> None:
    result = check_files(
        tmp_path,
        {
            "m.py": """\
            import numpy as np
            import tensorflow as tf

            class Drop(tf.keras.layers.Layer):
                def call(self, inputs, as_array=False):
                    index, *attributes = inputs
                    is_tensor = tf.is_tensor(index)
                    if not is_tensor:
                        index = tf.convert_to_tensor(index)
                    kept = tf.gather(index, [0])
                    for i in range(len(attributes)):
                        if tf.is_tensor(attributes[i]):
                            attributes[i] = tf.gather(attributes[i], [0])
                        else:
                            attributes[i] = np.take(attributes[i], [0])
                    if not is_tensor or as_array:
                        kept = kept.numpy()
                    return [kept, *attributes], tf.reduce_sum(index).numpy()

            def scores(x) -> np.ndarray:
                return np.argmax(tf.nn.softmax(x), -1)
            """
        },
    )
    assert said(result) == [("m.py", 18, "XLA105")]
