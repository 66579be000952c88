"""Which classes are Keras layers, models, losses and so on, through project bases and installed packages' bases."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.joins import alternatives
from xlalint.semantics.values import CLASS, EXTERNAL, Value

LAYER = "layer"
MODEL = "model"
LOSS = "loss"
METRIC = "metric"
OPTIMIZER = "optimizer"
SCHEDULE = "schedule"
REGULARIZER = "regularizer"
INITIALIZER = "initializer"
CALLBACK = "callback"
HOST_DATA = "host-data"
MODULE = "module"
TEST = "test"

_BY_PREFIX = (
    ("keras.layers.", LAYER),
    ("keras.losses.", LOSS),
    ("keras.metrics.", METRIC),
    ("keras.callbacks.", CALLBACK),
    ("keras.optimizers.schedules.", SCHEDULE),
    ("keras.optimizers.", OPTIMIZER),
    ("keras.regularizers.", REGULARIZER),
    ("keras.constraints.", REGULARIZER),
    ("keras.initializers.", INITIALIZER),
    ("keras.models.", MODEL),
    ("keras.applications.", MODEL),
    ("tf.compat.v1.layers.", LAYER),
)
_BY_NAME = {
    "keras.Model": MODEL,
    "keras.Sequential": MODEL,
    "keras.Layer": LAYER,
    "keras.Operation": LAYER,
    "keras.Loss": LOSS,
    "keras.Metric": METRIC,
    "keras.Optimizer": OPTIMIZER,
    "keras.utils.Sequence": HOST_DATA,
    "keras.utils.PyDataset": HOST_DATA,
    "keras.preprocessing.image.ImageDataGenerator": HOST_DATA,
    "tf.Module": MODULE,
    "tf.test.TestCase": TEST,
    "unittest.TestCase": TEST,
    "absl.testing.parameterized.TestCase": TEST,
}
# A base class in a package that is not installed: its name is all there is to go by.
_BY_SUFFIX = re.compile(r"(Layer|Model|Loss|Metric|Callback|TestCase|Optimizer)$")
_SUFFIX_ROLES = {
    "Layer": LAYER,
    "Model": MODEL,
    "Loss": LOSS,
    "Metric": METRIC,
    "Callback": CALLBACK,
    "TestCase": TEST,
    "Optimizer": OPTIMIZER,
}

# Tokenizers and preprocessors are layers by descent, but they work on text and files: tf.data's side, not the step's.
_FEEDS_DATA = re.compile(
    r"(Tokenizer|Preprocessor|PreprocessingLayer|ImageConverter|AudioConverter|FeatureExtractor|Collator|Pipeline|"
    r"ImageProcessor|Parser|Dataset|DataLoader|Downloader|Visualizer)\w*$"
)

# The methods that Keras traces, by role; the rest of a class runs in Python.
TRACED_METHODS = {
    LAYER: ("call", "compute_mask"),
    MODEL: (
        "call",
        "compute_mask",
        "train_step",
        "test_step",
        "predict_step",
        "compute_loss",
        "compute_metrics",
    ),
    LOSS: ("call", "__call__"),
    METRIC: ("update_state", "result"),
    OPTIMIZER: ("update_step", "_resource_apply_dense", "_resource_apply_sparse"),
    SCHEDULE: ("__call__",),
    REGULARIZER: ("__call__",),
}
# Methods that run before an object's tensors are computed with, outside of what is compiled: Keras's layers are adapted to data.
SETTING_UP = ("__init__", "__post_init__", "build", "setup", "adapt")
# What Keras 2 hands to AutoGraph (facts: AutoGraph contexts). Keras 3 hands over nothing.
_KERAS_2_CONVERTS = {LAYER: True, LOSS: True, METRIC: True}


@dataclass(frozen=True, slots=True)
class Role:
    """What a class is to Keras. `legacy` says that it descends from tf_keras, which is Keras 2."""

    kind: str
    legacy: bool = False

    def is_of_keras_3(self, keras: str) -> bool:
        """Whether Keras 3 runs it, where `keras` is the one that the project runs with: `"2"` or `"3"`."""
        return keras == "3" and not self.legacy


def converts(role: Role, method: str, keras: str) -> bool:
    """Whether Keras lets AutoGraph convert `method` of a class of this role. `keras` is `"2"` or `"3"`."""
    if method == "__call__" and role.kind in (LAYER, MODEL):
        # Nothing of Keras stands between it and who calls it: it is converted as they are.
        return True
    if role.is_of_keras_3(keras) or method == "compute_mask":
        return False
    if role.kind == MODEL:
        return method == "call"
    return _KERAS_2_CONVERTS.get(role.kind, False)


# What `train_step` hands to `compute_loss`, in this order; Keras 3 by name.
_OF_COMPUTE_LOSS = ("x", "y", "y_pred", "sample_weight")


def is_called_by_keras(name: str, method: FunctionInfo) -> bool:
    """Whether Keras's own steps can call a traced method: a `compute_loss(self, logits, target)` is called by the project alone, and so is an
    `update_state(self, y_true, y_pred, users)`.
    """
    given = method.node.args
    if given.vararg is not None or given.kwarg is not None:
        return True
    if name == "update_state":
        return not _asks_for_more(given)
    return name not in ("compute_loss", "compute_metrics") or not method.parameter_names.isdisjoint(
        _OF_COMPUTE_LOSS
    )


def _asks_for_more(given: ast.arguments) -> bool:
    """Whether a metric wants more than the labels, the predictions and weights that Keras has for it."""
    named = [each.arg for each in (*given.posonlyargs, *given.args)]
    wanted = named[1 : len(named) - len(given.defaults)]
    return len(wanted) > len(_OF_UPDATE_STATE) or bool(set(wanted[2:]) - _OF_UPDATE_STATE)


_OF_UPDATE_STATE = frozenset({"y_true", "y_pred", "sample_weight"})


# What the modules of other frameworks inherit from.
_OTHER_MODULES = ("torch.nn.", "torch.autograd.", "pytorch_lightning.", "lightning.", "flax.")


def external_role(name: str) -> Role | None:
    """The role of a class of another package, by its canonical name."""
    legacy = name.startswith("tf_keras.")
    plain = name[3:] if legacy else name
    if _FEEDS_DATA.search(plain.rsplit(".", 1)[-1]):
        return Role(HOST_DATA, legacy)
    if plain in _BY_NAME:
        return Role(_BY_NAME[plain], legacy)
    for prefix, kind in _BY_PREFIX:
        if plain.startswith(prefix) and plain[len(prefix) :].split(".")[-1][:1].isupper():
            return Role(kind, legacy)
    if plain.startswith(
        ("tf.", "keras.", "np.", "torch", "flax", "jax", "typing", "collections", "abc.")
    ):
        return None
    suffix = _BY_SUFFIX.search(plain)
    return Role(_SUFFIX_ROLES[suffix[1]]) if suffix else None


class ClassTable:
    """Bases, roles and methods of project classes. `evaluate` runs a base-class expression in its module."""

    def __init__(self, evaluate: Callable[[ast.expr, ClassInfo], Value]) -> None:
        self._evaluate = evaluate
        self._bases: dict[ClassInfo, tuple[ClassInfo | str, ...]] = {}
        self._lines: dict[ClassInfo, tuple[ClassInfo, ...]] = {}
        self._roles: dict[ClassInfo, Role | None] = {}

    def bases(self, cls: ClassInfo) -> tuple[ClassInfo | str, ...]:
        """Direct bases: project classes, and the canonical names of those of other packages."""
        if cls not in self._bases:
            self._bases[cls] = ()  # a class that inherits from itself ends here
            found: list[ClassInfo | str] = []
            for expression in cls.node.bases:
                # A base that a setting chooses (`Base = A if new else B`): the first stands for both.
                value = alternatives(self._evaluate(expression, cls))[0]
                if value.kind is CLASS or value.kind is EXTERNAL:
                    found.append(value.ref)
            self._bases[cls] = tuple(found)
        return self._bases[cls]

    def line(self, cls: ClassInfo) -> tuple[ClassInfo, ...]:
        """The class and its project bases, nearest first (depth first: near enough to Python's order)."""
        if cls not in self._lines:
            seen: dict[ClassInfo, None] = {}
            pending = [cls]
            while pending:
                current = pending.pop(0)
                if current not in seen:
                    seen[current] = None
                    pending[:0] = [b for b in self.bases(current) if isinstance(b, ClassInfo)]
            self._lines[cls] = tuple(seen)
        return self._lines[cls]

    def role(self, cls: ClassInfo) -> Role | None:
        if cls not in self._roles:
            self._roles[cls] = self._find_role(cls)
        return self._roles[cls]

    def _find_role(self, cls: ClassInfo) -> Role | None:
        line = self.line(cls)
        if any(_FEEDS_DATA.search(ancestor.name) for ancestor in line):
            return Role(HOST_DATA)
        for ancestor in line:
            for base in self.bases(ancestor):
                found = external_role(base) if isinstance(base, str) else None
                if found is not None:
                    return found
        return None

    def is_of_another_framework(self, cls: ClassInfo) -> bool:
        """Whether a class is a module of PyTorch or Flax, which TensorFlow never traces, and nothing of Keras besides."""
        if self.role(cls) is not None:
            return False
        bases = (base for ancestor in self.line(cls) for base in self.bases(ancestor))
        return any(isinstance(base, str) and base.startswith(_OTHER_MODULES) for base in bases)

    def method(self, cls: ClassInfo, name: str) -> FunctionInfo | None:
        for ancestor in self.line(cls):
            if name in ancestor.methods:
                return ancestor.methods[name]
        return None

    def called_as(self, cls: ClassInfo, kind: str) -> str:
        """The method that runs when a layer or model is called: `call`, or the `__call__` that a class has in its place. A metric that is
        called updates its state.

        One that hands on to `super().__call__` comes back to `call`.
        """
        if kind == METRIC:
            return "update_state"
        if kind not in (LAYER, MODEL) or self.method(cls, "call") is not None:
            return "call"
        own = self.method(cls, "__call__")
        is_whole = own is not None and not any(map(_calls_dunder, own.calls))
        return "__call__" if is_whole else "call"

    def method_after(self, cls: ClassInfo, owner: ClassInfo, name: str) -> FunctionInfo | None:
        """The method that `super()` in a method of `owner` reaches for an instance of `cls`."""
        line = self.line(cls)
        start = line.index(owner) + 1 if owner in line else 0
        for ancestor in line[start:]:
            if name in ancestor.methods:
                return ancestor.methods[name]
        return None

    def external_base(self, cls: ClassInfo) -> str | None:
        """The first class of another package that a class inherits from, by its canonical name."""
        bases = (base for each in self.line(cls) for base in self.bases(each))
        return next((base for base in bases if isinstance(base, str)), None)

    def assignment(self, cls: ClassInfo, name: str) -> tuple[ast.expr, ClassInfo] | None:
        for ancestor in self.line(cls):
            if name in ancestor.assignments:
                return ancestor.assignments[name], ancestor
        return None


def _calls_dunder(call: ast.Call) -> bool:
    """`super().__call__(...)`, `keras.layers.Layer.__call__(self, ...)`."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "__call__"
