"""Canonical names of what other packages provide: one spelling for each way to write it.

`tensorflow.compat.v2.math.reduce_sum`, `tf.math.reduce_sum` and `from tensorflow import math` all become
`tf.math.reduce_sum`; `tensorflow.keras.*` and `tensorflow.python.keras.*` become `keras.*`. `tf_keras.*` keeps its
own name, because it is a different Keras: `api_name` folds it where only the API matters.
"""

from __future__ import annotations

import json
import re
from functools import cache

from xlalint import data

_PREFIXES = (
    # The longest first: the first that fits is taken.
    ("tensorflow.compat.v2.keras", "keras"),
    ("tensorflow.compat.v1.keras", "keras"),
    ("tensorflow.python.keras", "keras"),
    ("tensorflow.keras", "keras"),
    ("tensorflow.compat.v2", "tf"),
    ("tensorflow.compat.v1", "tf.compat.v1"),
    ("tensorflow._api.v2.v2", "tf"),
    # What editors write that import by themselves.
    ("tensorflow._api.v2.compat.v1", "tf.compat.v1"),
    ("tensorflow._api.v2.keras", "keras"),
    ("tensorflow._api.v2", "tf"),
    ("tensorflow", "tf"),
    ("tf.keras", "keras"),
    ("tf.compat.v2.keras", "keras"),
    ("tf.compat.v1.keras", "keras"),
    ("tf.compat.v2", "tf"),
    ("keras.api", "keras"),
    ("keras.src", "keras"),
    ("tf_keras.src", "tf_keras"),
    ("numpy", "np"),
)

# Private modules that have held functions of public names, other than the table says of the versions it is made from.
_PRIVATE_OPS = (
    "tf.python.ops.math_ops",
    "tf.python.ops.array_ops",
    "tf.python.ops.nn_ops",
    "tf.python.ops.nn",
    "tf.python.ops.control_flow_ops",
    "tf.python.ops.variables",
    "tf.python.framework.load_library",
    "tf.python.framework.ops",
)

# Those that hand on all of a generated module.
_HAND_ON_RAW_OPS = ("tf.python.ops.linalg.sparse.sparse_csr_matrix_ops",)


@cache
def canonical(dotted: str) -> str:
    """The one spelling of `dotted`; names of other packages come back as they are."""
    return canonical_tail(rooted(dotted))


def rooted(dotted: str) -> str:
    """`dotted` below the one name of its package, otherwise as it is written: what is gone from a package has no other name."""
    for prefix, replacement in _PREFIXES:
        if dotted == prefix:
            return replacement
        if dotted.startswith(prefix) and dotted[len(prefix)] == ".":
            return replacement + dotted[len(prefix) :]
    return dotted


def canonical_tail(name: str) -> str:
    if name.startswith("tf.python."):
        return _public_name(name)
    if name.startswith("tf.compat.v1."):
        return _name_of_both(name)
    if name.startswith("keras.layers.experimental.preprocessing."):
        return "keras.layers." + name.rsplit(".", 1)[1]
    if name.startswith(_ENGINES):
        return _out_of_engine(name)
    if name.startswith(_KERAS_ON_TENSORFLOW):
        return _of_keras_on_tensorflow(name)
    if _KERAS_IN_TF.match(name):
        return "keras." + name.removeprefix("tf.")
    if name.startswith(_MODELS):
        return _IN_MODELS.sub(r"\1.\2", name)
    return _SHAPE_OPS.get(name, name)


# `keras.models.Sequential` is `keras.Sequential`.
_MODELS = ("keras.models.", "tf_keras.models.")
_IN_MODELS = re.compile(r"^(\w+)\.models\.(Sequential|Model)(?=\.|$)")
# Keras's classes that `tf` hands on. (TensorFlow 1 had functions of its own there, and names functions so.)
_KERAS_IN_TF = re.compile(
    r"tf\.(losses|metrics|optimizers|initializers)\.(schedules\.|experimental\.)?[A-Z]"
)

# Where Keras 2 keeps what models and layers are made from.
_ENGINES = ("keras.engine.", "tf_keras.engine.")
_PUBLIC_OF_ENGINES = {
    "training.Model": "Model",
    "training_v1.Model": "Model",
    "sequential.Sequential": "Sequential",
    "functional.Functional": "Functional",
    "base_layer.Layer": "layers.Layer",
}


def _out_of_engine(name: str) -> str:
    package, _, tail = name.split(".", 2)
    return f"{package}.{_PUBLIC_OF_ENGINES.get(tail, tail)}"


# Where Keras 3 keeps what its own operations and layers call: public functions take the same arguments.
_KERAS_ON_TENSORFLOW = "keras.backend.tensorflow."


def _of_keras_on_tensorflow(name: str) -> str:
    tail = name.removeprefix(_KERAS_ON_TENSORFLOW)
    if tail.partition(".")[0] == "random":
        return f"keras.{tail}"
    return "keras.ops." + tail.removeprefix("core.").removeprefix("math.")


# What packages that run on several Kerases hand on from a module of their own: `from bert4keras.backend import keras, K`.
_OF_BACKENDS = {"K": "keras.backend", "keras": "keras", "tf": "tf"}
_OWNERS = frozenset({"keras", "np", "tf", "tf_keras"})


def of_backend(source: str, name: str) -> str | None:
    """What a name is that a module called `backend` of another package hands on, by the names that everybody gives them."""
    package, _, leaf = canonical(source).rpartition(".")
    if leaf != "backend" or not package or package.partition(".")[0] in _OWNERS:
        return None
    return _OF_BACKENDS.get(name)


# They take what the public functions do, by the same names.
_SHAPE_OPS = {
    "tf.raw_ops.Shape": "tf.shape",
    "tf.raw_ops.ShapeN": "tf.shape_n",
    "tf.raw_ops.Size": "tf.size",
    "tf.raw_ops.Rank": "tf.rank",
}


@cache
def _public_names() -> dict[str, dict[str, str]]:
    """The public names of what TensorFlow's own modules hold: `python -m tools.private` asks TensorFlow for them."""
    table: dict[str, dict[str, str]] = json.loads((data.root() / "private.json").read_bytes())
    return table


@cache
def _shared_with_v1() -> frozenset[str]:
    """Classes, types and constants that `tf.compat.v1` shares with `tf`: `python -m tools.names_in_v1` asks TensorFlow for them."""
    return frozenset(json.loads((data.root() / "names_in_v1.json").read_bytes()))


def _name_of_both(name: str) -> str:
    """`tf.TensorShape` of `tf.compat.v1.TensorShape`; of functions, the catalogue knows which are the same."""
    tail = part = name.removeprefix("tf.compat.v1.")
    while part:
        if part in _shared_with_v1():
            return "tf." + tail
        part = part.rpartition(".")[0]
    return name


def _public_name(name: str) -> str:
    module, _, leaf = name.rpartition(".")
    public = _public_names().get(module.removeprefix("tf.python."), {}).get(leaf)
    if public is not None:
        return public
    if module in _PRIVATE_OPS:
        return "tf." + leaf
    if (".gen_" in module or module in _HAND_ON_RAW_OPS) and leaf:
        op = "tf.raw_ops." + "".join(part.capitalize() for part in leaf.split("_"))
        return _SHAPE_OPS.get(op, op)
    return name


@cache
def api_name(name: str) -> str:
    """The name under which the catalogue knows an API: `tf_keras` is read as `keras`."""
    if name.startswith("tf_keras."):
        return name[3:]
    return name


# `from .compat import tf`, `tf = backend()`, `backend.tf.add`, `import *`: not the words "a torch.Tensor or tf.Tensor".
_NAME_MADE = re.compile(r"import \*|\.tf\.|(?<![\w.`'\"])tf\b(?![.`'\"])")


def mentions_tensorflow(text: str) -> bool:
    """Whether a module's text can lead to TensorFlow or Keras at all."""
    # Finding a bare word in a long text is quick, which a pattern that may begin in two ways is not.
    if _names_package("tensorflow", text) or _names_package("keras", text):
        return True
    return "tf." in text and _NAME_MADE.search(text) is not None


def _names_package(word: str, text: str) -> bool:
    """Whether a text holds a word other than in the address of a page: "adapted from https://github.com/tensorflow/..."."""
    place = text.find(word)
    while place > 0 and text[place - 1] == "/":
        place = text.find(word, place + 1)
    return place >= 0
