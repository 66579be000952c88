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


_STEPS = """
    def solved(x):
        {start}
        for _ in range(9):
            x = x / {B}.det(x)
            if {B}.sum(x) < 1:
                break
        return x
"""
# What AutoGraph cannot convert of it, where `det` and `sum` are TensorFlow's; those are in the package's module for TensorFlow.
_LOOP = ("use.py", "XLA104", 4)


def _steps(imports: str, name: str, start: str = "pass") -> str:
    return imports + "\n" + dedent(_STEPS).lstrip().format(B=name, start=start)


_BY_HOOK = {
    "geo/__init__.py": "",
    # `geo.backend` is made by an import hook: no file holds it.
    "geo/_backend/__init__.py": "import sys\n\nsys.meta_path.append(Importer())\n",
    "geo/_backend/numpy/__init__.py": "from numpy import sum\nfrom numpy.linalg import det\n",
    "geo/_backend/tensorflow/__init__.py": (
        "from tensorflow import reduce_sum as sum\nfrom tensorflow.linalg import logdet as det\n"
    ),
    "geo/use.py": _steps("import geo.backend as gs", "gs"),
}
_BY_SETTING_NAMES = {
    "graphs/__init__.py": "",
    "graphs/backend/__init__.py": """
        import importlib
        import os
        import sys

        chosen = importlib.import_module("." + os.environ["GRAPHS"], __name__)
        for api in dir(chosen):
            setattr(sys.modules[__name__], api, getattr(chosen, api))
    """,
    "graphs/backend/pytorch.py": "import torch\n\ndet = torch.linalg.det\nsum = torch.sum\n",
    "graphs/backend/tensorflow.py": (
        "import tensorflow as tf\n\ndet = tf.linalg.logdet\nsum = tf.reduce_sum\n"
    ),
    "graphs/use.py": _steps("from graphs import backend as F", "F"),
}
_CLASSES = """
    import numpy as np
    import tensorflow as tf

    class Backend:
        def det(self, a):
            raise NotImplementedError

        def sum(self, a):
            raise NotImplementedError

    class NumpyBackend(Backend):
        def det(self, a):
            return np.linalg.det(a)

        def sum(self, a):
            return np.sum(a)

    class TensorflowBackend(Backend):
        def det(self, a):
            return tf.linalg.logdet(a)

        def sum(self, a):
            return tf.reduce_sum(a)
"""
_BY_CLASS = {
    "ot/__init__.py": "",
    "ot/backend.py": dedent(_CLASSES)
    + dedent(
        """
        def get_backend(*args):
            for made, ours in KNOWN.items():
                if isinstance(args[0], made):
                    return ours
            raise ValueError
        """
    ),
    "ot/use.py": _steps("from ot.backend import get_backend", "nx", start="nx = get_backend(x)"),
}
_BY_REGISTERED_NAMES = {
    "tl/__init__.py": "from .backend import det, sum\n",
    "tl/core.py": "class Backend:\n    def sum(self, a):\n        raise NotImplementedError\n",
    "tl/backend/__init__.py": "import sys\n\nsys.modules[__name__].__class__ = Manager\n",
    "tl/backend/numpy_backend.py": """
        import numpy as np
        from tl.core import Backend

        class NumpyBackend(Backend):
            pass

        for name in ["sum"]:
            NumpyBackend.register_method(name, getattr(np, name))
    """,
    "tl/backend/tensorflow_backend.py": """
        import tensorflow as tf
        import tensorflow.experimental.numpy as tnp
        from tl.core import Backend

        REDUCTIONS = ["max", "sum"]

        class TensorflowBackend(Backend):
            pass

        TensorflowBackend.register_method("det", tf.linalg.logdet)
        for name in REDUCTIONS + ["sort"]:
            TensorflowBackend.register_method(name, getattr(tnp, name))
    """,
    "tl/use.py": _steps("import tl", "tl"),
}
_BY_OBJECT_INSTEAD = {
    "mm/__init__.py": "",
    "mm/math/__init__.py": """
        import sys
        from mm.math.manager import BackendManager

        sys.modules[__name__] = BackendManager()
    """,
    "mm/math/backends.py": _CLASSES,
    "mm/math/manager.py": """
        from mm.math.backends import NumpyBackend

        class BackendManager:
            _backend = NumpyBackend()

            def _apply(self, fn, args):
                return getattr(self._backend, fn)(*args)

            def det(self, a):
                return self._apply("det", (a,))

            def sum(self, a):
                return self._apply("sum", (a,))
    """,
    "mm/use.py": _steps("from mm import math", "math"),
}


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(_BY_HOOK, id="import hook"),
        pytest.param(_BY_SETTING_NAMES, id="names set on the package"),
        pytest.param(_BY_CLASS, id="a function that hands out an object"),
        pytest.param(_BY_REGISTERED_NAMES, id="names registered with a class"),
        pytest.param(_BY_OBJECT_INSTEAD, id="an object in the place of a module"),
    ],
)
def test_what_a_package_chooses_as_it_runs_is_tensorflows(
    files: dict[str, str], tmp_path: Path, write: WriteFiles
) -> None:
    write({name: dedent(text) for name, text in files.items()})
    assert _found(tmp_path) == [_LOOP]
    (loop,) = check([str(tmp_path)], Settings(root=tmp_path)).findings
    package = next(iter(files)).partition("/")[0]
    assert loop.region.why == (f"{package} on TensorFlow", "solved")


def test_a_package_for_other_frameworks_alone_says_nothing(
    tmp_path: Path, write: WriteFiles
) -> None:
    files = {
        name.replace("tensorflow", "jax"): text.replace("tensorflow.linalg", "jax.numpy").replace(
            "tensorflow", "jax.numpy"
        )
        for name, text in _BY_HOOK.items()
    }
    write(files)
    assert _found(tmp_path) == []


def test_a_backend_that_is_made_of_itself_ends(tmp_path: Path, write: WriteFiles) -> None:
    files = {
        "tl/__init__.py": "from .backend import det, sum\n",
        "tl/backend/__init__.py": "import sys\n\nsys.modules[__name__].__class__ = Manager\n",
        "tl/backend/numpy_backend.py": "class NumpyBackend:\n    pass\n",
        "tl/backend/tensorflow_backend.py": (
            "import tensorflow as tf\nfrom tl import backend\n\n\nclass TensorflowBackend:\n    pass\n\n\n"
            "TensorflowBackend.register_method('det', backend.det)\n"
            "TensorflowBackend.register_method('sum', tf.reduce_sum)\n"
        ),
        "tl/use.py": "import tl\n\n\ndef solved(x):\n    for _ in range(9):\n        x = tl.det(x)\n"
        "        if tl.sum(x) < 1:\n            break\n    return x\n",
    }
    write(files)
    assert _found(tmp_path) == [("use.py", "XLA104", 5)]


def test_an_object_that_asks_the_module_it_stands_for_ends(
    tmp_path: Path, write: WriteFiles
) -> None:
    own = """
        class BackendManager:
            def __init__(self):
                self.zero = math.det(0.0)
                self.bound = getattr(math, "sum")
"""
    files = dict(_BY_OBJECT_INSTEAD)
    manager = dedent(files["mm/math/manager.py"]).replace(
        "class BackendManager:\n", dedent(own).lstrip().replace("\n\n", "\n") + "\n"
    )
    files["mm/math/manager.py"] = "from mm import math\n" + manager
    write({name: dedent(text) for name, text in files.items()})
    assert _found(tmp_path) == [_LOOP]
