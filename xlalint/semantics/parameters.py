"""What a parameter holds when nobody is seen to pass it: from defaults, annotations, the protocol, and how it is used."""

from __future__ import annotations

import ast
import re
from functools import cache

from xlalint.semantics.annotations import unquoted
from xlalint.semantics.classes import LOSS, REGULARIZER
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import keras_state
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.joins import join
from xlalint.semantics.results.composites import ARRIVES
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.syntax import is_ellipsis
from xlalint.semantics.values import (
    ANNOTATION,
    ARRIVING,
    CLASS,
    COLLECTION,
    DATA,
    DATASET,
    EXTERNAL,
    INPUTS,
    INSTANCE,
    LIKELY_DATA,
    MAPPING,
    NDARRAY,
    NOTHING_KNOWN,
    RAGGED,
    SEQUENCE,
    SHAPE,
    SOME_PYTHON,
    SPARSE,
    STRATEGY,
    TENSOR,
    UNKNOWN,
    VARIABLE,
    Value,
    shaped,
    usually,
)

_OF_LOSSES = {
    name: Value(TENSOR, ARRIVING, structured=True, optional=True)
    for name in ("x", "y", "y_pred", "sample_weight")
}
# Parameters of methods that Keras itself calls: method -> parameters that are always tensors, or structures of them.
_PROTOCOL: dict[str, dict[str, Value]] = {
    "call": {},
    "compute_mask": {},
    "compute_loss": _OF_LOSSES,
    "compute_metrics": _OF_LOSSES,
    "update_state": {"y_true": DATA, "y_pred": DATA, "sample_weight": DATA._replace(optional=True)},
}  # fmt: skip
# What `fit`, `evaluate` and `predict` hand to a model's steps, whatever its author calls it.
STEPS_OF_MODELS = frozenset({"predict_step", "test_step", "train_step"})
# Those of methods that optimizers override, in their order: everybody names them as they like.
_WEIGHT = Value(VARIABLE, ARRIVING)
_OF_OPTIMIZERS: dict[str, tuple[Value, ...]] = {
    "update_step": (DATA, _WEIGHT, shaped(Value(TENSOR, ARRIVING, sure=False), ())),
    "_resource_apply_dense": (DATA, _WEIGHT),
    "_resource_apply_sparse": (DATA, _WEIGHT, Value(TENSOR, ARRIVING, rank=1)),
}
# What an optimizer shares between its variables, by device and dtype, and in it by name.
_APPLY_STATE = Value(MAPPING, ref=((None, keras_state.COEFFICIENTS),), optional=True)
_SOME_MASK = Value(TENSOR, ARRIVING, dtype="bool", sure=False, optional=True, structured=True)
# What a learning rate schedule is called with: a variable's value.
_STEPS = frozenset({"step", "steps", "global_step", "iteration", "iterations", "epoch", "count"})
# Names that hold tensors by convention wherever TensorFlow code uses them.
_TENSOR_NAMES = re.compile(
    r"^(y_true|y_pred|logits|labels?|targets?|inputs?|outputs?|tensors?|images?|boxes|hidden_states?|attention_mask|"
    r"input_ids|masked_outputs?|predictions?|embeddings?|features|encoder_outputs?|query|queries|keys|values?|scores|weights?|x|y|z)$"
)
_MASK_NAMES = re.compile(r"(^|_)masks?$")
# `kernel_size`, `ksize` and `kernelsize`; of `stepsizes`, there may be one for each row.
_SIZE = r"([a-z]|batch|emb|filter|im|img|kernel|patch|pool|vocab|win|window)?sizes?"
_SETTING_NAMES = re.compile(
    r"^(num|n|max|min|total)_|(^|_)("
    + _SIZE
    + r"|([a-z]|emb|embed|hidden|in|model|out)?dims?|axis|axes|dtype|name|names|num|n|depth|seed|config|training|mode|type|path|"
    r"rate|epsilon|eps|alpha|beta|gamma|delta|reduction|scope|prefix|kwargs|args|fn|func|callback|optimizer|strategy|model|"
    r"layer|activation|channels|filters|strides?|padding|units|rank|ndims|count|batch_size|lr|temperature|threshold|method|step|steps|"
    r"n?iters?|maxiter|iterations|[arxf]?tol|tolerance)$|shapes?$"
)


_SIZE_NAMES = re.compile(
    r"^(num|n|max|min)_|(^|_)("
    + _SIZE
    + r"|depth|num|count|len|length|axis|channels|filters|units|ndims|rank)$|shapes?$"
)


def is_size(name: str) -> bool:
    """Whether a parameter's name says that it holds a size, a number of things or an axis."""
    return _SIZE_NAMES.search(name) is not None


_NUMBER_NAMES = re.compile(r"^(num|n)_|_(size|dim|channels|units)$")


@cache
def is_number_of_things(name: str) -> bool:
    """Whether a name says that it holds one size: `batch_size`, `num_nodes`."""
    return _NUMBER_NAMES.search(name) is not None


# Modules that functions are handed so that their own need not import them: `def step(self, tf, x)`. A final time has the name, too: what is called of it tells.
_MODULES = {"tf": "tf", "keras": "keras", "tfp": "tensorflow_probability", "np": "np"}


def module(name: str) -> Value | None:
    """What a parameter holds that bears the name that everybody gives to a module."""
    known = _MODULES.get(name)
    return None if known is None else Value(EXTERNAL, ref=known)


def of_call(
    info: FunctionInfo, name: str, role_method: str | None, first: bool, role: str | None = None
) -> Value | None:
    """The value of a parameter of a method that Keras calls, or None when the protocol does not say.

    `role` is what the method's class is to Keras.
    """
    if role_method is None:
        return None
    if role_method == "__call__" and first and role == REGULARIZER:
        return DATA  # a variable, or the outputs of a layer
    if role_method == "__call__" and first and name in _STEPS:
        return Value(TENSOR, ARRIVING, rank=0, shape=())
    if role_method in _OF_OPTIMIZERS:
        return _of_optimizer(info, name, _OF_OPTIMIZERS[role_method])
    if role_method in STEPS_OF_MODELS:
        return INPUTS if first else None
    protocol = _PROTOCOL.get(role_method)
    if protocol is None:
        return None
    if name in protocol:
        return protocol[name]
    if role_method == "compute_mask":
        return INPUTS if first else _SOME_MASK
    if role_method == "call" and first and not (is_setting(name) or is_size(name)):
        return DATA if name in ("y_true",) else INPUTS
    if role_method == "call" and name in ("y_pred", "states", "state"):
        return INPUTS
    if (
        role_method == "call"
        and role == LOSS
        and [p.arg for p in info.node.args.args][2:] == [name]
    ):
        return INPUTS  # what is predicted, whatever it is called
    if role_method == "call" and name == "training":
        return SOME_PYTHON
    if role_method == "call" and _is_mask(name):
        return _SOME_MASK if name == "mask" else _SOME_MASK._replace(dtype=None)
    return None


def _of_optimizer(info: FunctionInfo, name: str, given: tuple[Value, ...]) -> Value | None:
    if name == "apply_state":
        return _APPLY_STATE
    named = [each.arg for each in info.node.args.args[1:]]
    return dict(zip(named, given)).get(name)


# Names of the class whose labels a loss or a metric leaves out.
_LEFT_OUT_NAMES = re.compile(r"^(ignored?|void)(_|$)|(^|_)ignore$")


def from_default(name: str, default: ast.expr | None) -> Value | None:
    """A default that is a setting says that the parameter is one, and what it usually is. Training is as usual as not.

    None says as much of a class of labels to leave out: `ignore=None`. Of a mask or a size it does not.
    """
    if default is None:
        return None
    if isinstance(default, ast.Constant):
        if default.value is None and _LEFT_OUT_NAMES.search(name):
            return usually(None)
        if default.value is None or default.value is Ellipsis:
            return None
        return SOME_PYTHON if "train" in name else usually(default.value)
    if isinstance(default, (ast.Tuple, ast.List)):
        # Of what is empty unless somebody fills it, nobody knows the items: `blocks=()`.
        return Value(COLLECTION, ref=SOME_PYTHON if default.elts else None)
    if isinstance(default, ast.UnaryOp) and isinstance(default.operand, ast.Constant):
        return SOME_PYTHON
    return NOTHING_KNOWN


def from_annotation(annotation: ast.expr | None, frame: Frame) -> Value | None:
    """What an annotation promises, or None when it says nothing about tensors."""
    annotation = unquoted(annotation)
    if annotation is None:
        return None
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        return _either(
            from_annotation(annotation.left, frame), from_annotation(annotation.right, frame)
        )
    if isinstance(annotation, ast.Constant) and annotation.value is None:
        return Value("python", optional=True)
    if isinstance(annotation, ast.Subscript):
        return _from_generic(annotation, frame)
    value = frame.analysis.evaluate(annotation, frame)
    if value.kind is EXTERNAL:
        return _ANNOTATIONS.get(str(value.ref))
    if value.kind is ANNOTATION:
        return value.ref  # type: ignore[no-any-return]
    if value.kind is CLASS:
        return frame.analysis.objects.declared_record(value.ref) or NOTHING_KNOWN
    return _from_leaf(annotation)


def alias(annotation: ast.Subscript, base: Value, frame: Frame) -> Value | None:
    """`Maybe = Optional[tf.Tensor]`: what annotations with that name promise. None of all other subscripts, and where it says nothing."""
    if frame.function is not None or base.kind is not EXTERNAL or base.ref not in _ALIASED:
        return None
    promised = _from_generic(annotation, frame)
    if promised is None or promised.kind is UNKNOWN:
        return None
    return Value(ANNOTATION, ref=promised)


_ALIASED = frozenset(
    f"typing.{name}" for name in ("Union", "Optional", "Tuple", "List", "Sequence")
)


def _from_generic(annotation: ast.Subscript, frame: Frame) -> Value | None:
    outer = (
        annotation.value.attr
        if isinstance(annotation.value, ast.Attribute)
        else getattr(annotation.value, "id", "")
    )
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    if not parts:
        return Value(COLLECTION)  # `tuple[()]`, which holds nothing
    if outer == "Optional":
        inner = from_annotation(parts[0], frame)
        return inner._replace(optional=True) if inner is not None else None
    if outer == "Union":
        found = [from_annotation(part, frame) for part in parts]
        result = found[0]
        for other in found[1:]:
            result = _either(result, other)
        return result
    if outer in ("Tuple", "tuple") and not is_ellipsis(parts[-1]):
        items = [from_annotation(part, frame) for part in parts]
        return Value(SEQUENCE, ref=tuple(NOTHING_KNOWN if each is None else each for each in items))
    if outer in ("List", "Sequence", "Tuple", "Iterable", "list", "tuple"):
        inner = from_annotation(parts[0], frame)
        return Value(COLLECTION, ref=inner if inner is not None else NOTHING_KNOWN)
    if outer in ("Dict", "Mapping", "dict", "MutableMapping"):
        inner = from_annotation(parts[-1], frame)
        return Value(MAPPING, ref=((None, inner if inner is not None else NOTHING_KNOWN),))
    if outer in ("Float", "Int", "Bool", "Shaped", "Num", "Integer"):  # jaxtyping
        inner = from_annotation(parts[0], frame)
        if inner is None or not inner.is_tensor or len(parts) < 2:
            return inner
        return shaped(
            inner._replace(dtype="bool" if outer == "Bool" else inner.dtype), _jaxtyped(parts[1])
        )
    if outer in ("Literal", "Type", "type"):
        return SOME_PYTHON
    return NOTHING_KNOWN


def _jaxtyped(dimensions: ast.expr) -> Shape | None:
    """`"batch 3"` is a shape of two dimensions; `"... 3"` leaves the rank open."""
    if not isinstance(dimensions, ast.Constant) or not isinstance(dimensions.value, str):
        return None
    words = dimensions.value.split()
    if any(word.startswith(("...", "*")) for word in words):
        return None
    return tuple(int(word) if word.isdigit() else None for word in words)


def _either(first: Value | None, second: Value | None) -> Value | None:
    if first is None or second is None:
        return NOTHING_KNOWN if first is not None or second is not None else None
    if first.kind == "python" and first.optional:
        return second._replace(optional=True)
    if second.kind == "python" and second.optional:
        return first._replace(optional=True)
    tensor = first if first.is_tensor else second if second.is_tensor else None
    other = second if tensor is first else first
    if tensor is not None and other.kind in (NDARRAY, VARIABLE, TENSOR):
        return LIKELY_DATA if other.kind is NDARRAY else tensor
    return join(first, second)


def _from_leaf(annotation: ast.expr) -> Value | None:
    """`TensorLike`, `types.FloatTensor`...: a project's own alias, told by its name."""
    leaf = (
        annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", "")
    )
    if leaf in (
        "TensorLike",
        "TensorType",
        "FloatTensor",
        "IntTensor",
        "BoolTensor",
        "TFTensor",
        "TensorSpecLike",
    ):
        return LIKELY_DATA
    return NOTHING_KNOWN if leaf else None


_ANNOTATIONS: dict[str, Value] = {
    "tf.Tensor": DATA,
    "tf.Variable": Value(VARIABLE, ARRIVING),
    "tf.RaggedTensor": Value(RAGGED, ARRIVING, ref=ARRIVES),
    "tf.SparseTensor": Value(SPARSE, ARRIVING, ref=ARRIVES),
    "tf.sparse.SparseTensor": Value(SPARSE, ARRIVING, ref=ARRIVES),
    "keras.KerasTensor": DATA,
    "tf.types.experimental.TensorLike": LIKELY_DATA,
    "np.ndarray": Value(NDARRAY),
    "tf.TensorShape": Value(SHAPE),
    "tf.data.Dataset": Value(DATASET),
    "tf.distribute.Strategy": Value(STRATEGY),
    "keras.Model": Value(INSTANCE, ref="keras.Model"),
    "builtins.list": Value(COLLECTION),
    "builtins.tuple": Value(COLLECTION),
    "builtins.dict": Value(MAPPING),
    "builtins.bool": SOME_PYTHON,
    "builtins.int": SOME_PYTHON,
    "builtins.float": SOME_PYTHON,
    "builtins.str": SOME_PYTHON,
    "builtins.bytes": SOME_PYTHON,
    "tf.DType": SOME_PYTHON,
}


@cache
def is_setting(name: str) -> bool:
    """Whether a parameter's name says that it holds a setting."""
    return _SETTING_NAMES.search(name) is not None


# What callers of a tf.function pass as a Python value, by the names they give it.
_FLAG_NAMES = re.compile(
    r"^(is|use|do|with|has|return|should|first|last|enable|apply|include|add)_|(^|_)(flag|mode|training|only|batch)$"
)


def of_traced_function(name: str) -> Value | None:
    """A parameter of a tf.function without a default: a tensor in all likelihood, unless its name says setting."""
    if is_setting(name) or _FLAG_NAMES.search(name):
        return None
    return LIKELY_DATA


def _is_mask(name: str) -> bool:
    """`attention_mask`, but not `use_causal_mask`, which is a flag."""
    return _MASK_NAMES.search(name) is not None and _FLAG_NAMES.search(name) is None


def by_name(name: str) -> Value | None:
    """What a parameter's name promises in code that uses TensorFlow."""
    if _is_mask(name):
        return Value(TENSOR, ARRIVING, sure=False, guess=True)
    return LIKELY_DATA if _TENSOR_NAMES.match(name) else None
