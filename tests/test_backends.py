"""Code that runs on one of several frameworks: what TensorFlow runs of it is judged."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from cli_support import WriteFiles

from xlalint.engine import check
from xlalint.project.settings import Settings


def _found(root: Path) -> list[tuple[str, str, int]]:
    result = check([str(root)], Settings(root=root))
    assert not result.errors
    return [(Path(f.path).name, f.code, f.span.line) for f in result.findings]


def test_a_module_that_a_function_imports_by_name_is_tensorflows(
    tmp_path: Path, write: WriteFiles
) -> None:
    source = """
        import tensorflow as tf

        def get_backend(name):
            if name == "tensorflow":
                import tensorflow as module
            elif name == "torch":
                import torch as module
            else:
                import numpy as module
            return module

        class Counter:
            def __init__(self, name):
                self.lib = get_backend(name)

            def counted(self, x: tf.Tensor):
                return self.lib.zeros([self.lib.reduce_max(x)])

            def kept(self, x: tf.Tensor):
                return self.lib.zeros(self.lib.shape(x))
    """
    write({"counting.py": dedent(source)})
    assert _found(tmp_path) == [("counting.py", "XLA203", 18)]


@pytest.mark.parametrize(
    "choice",
    [
        pytest.param(("from pkg import tf_ops as B", "from pkg import np_ops as B", "B"), id="modules"),
        pytest.param(
            ("from pkg.tf_ops import Backend as B", "from pkg.np_ops import Backend as B", "B()"), id="classes"
        ),
    ],
)  # fmt: skip
def test_of_modules_and_classes_that_stand_for_each_other_tensorflows_is_followed(
    choice: tuple[str, str, str], tmp_path: Path, write: WriteFiles
) -> None:
    body = (
        "def counts(x):\n    return {0}.counts(x)\n\n\n"
        "class Backend:\n    def counts(self, x):\n        return {0}.counts(x)\n"
    )
    files = {
        "pkg/__init__.py": "",
        "pkg/np_ops.py": "import numpy as np\n\n\n"
        + body.replace("{0}.counts(x)", "np.unique(x, return_counts=True)"),
        "pkg/tf_ops.py": "import tensorflow as tf\n\n\n"
        + body.replace("{0}.counts(x)", "sized(tf.unique_with_counts(x)[1])")
        + "\n\ndef sized(rows):\n    return tf.zeros([tf.reduce_max(rows)])\n",
        "pkg/use.py": "import os\n\nimport tensorflow as tf\n\n"
        "def library():\n    if os.environ.get('LIB') == 'tf':\n"
        f"        {choice[0]}\n    else:\n        {choice[1]}\n    return {choice[2]}\n\n\n"
        "@tf.function(jit_compile=True)\ndef step(x):\n    return library().counts(x) + 1.0\n",
    }
    write(files)
    found = check([str(tmp_path)], Settings(root=tmp_path)).findings
    (size,) = [f for f in found if f.code == "XLA203"]
    assert size.region.why[0] == "@tf.function step"


def test_keras_operations_behind_its_backend_modules_are_known_by_their_public_names(
    tmp_path: Path, write: WriteFiles
) -> None:
    source = """
        import keras
        import keras.src.backend.tensorflow as B

        class Mixed(keras.layers.Layer):
            def call(self, x):
                weight = B.random.beta([4], 0.2, 0.2)
                size = B.core.shape(x)[0]
                return B.numpy.reshape(x * weight, [size, -1])
    """
    write({"mixed.py": dedent(source)})
    assert _found(tmp_path) == [("mixed.py", "XLA401", 7)]


def test_a_choice_between_other_frameworks_says_nothing(tmp_path: Path, write: WriteFiles) -> None:
    source = """
        import tensorflow as tf

        def get_backend(name):
            if name == "torch":
                import torch as module
            else:
                import numpy as module
            return module

        def counted(x, name):
            return get_backend(name).unique(tf.abs(x))
    """
    write({"counting.py": dedent(source)})
    assert _found(tmp_path) == []
