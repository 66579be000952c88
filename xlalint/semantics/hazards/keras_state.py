"""Variables that Keras's own classes keep, read by code that inherits from them or is handed one.

`optimizer.iterations` is a scalar variable of int64 in Keras 2 and in Keras 3 on TensorFlow; what metrics count is float32
(measured on Keras 3.15 and tf_keras 2.21). `optimizer.learning_rate` is a variable, or what its schedule computes of `iterations`:
a tensor to code that is compiled, and to other code a number that is logged and set.
"""

from __future__ import annotations

import re

from xlalint.semantics.classes import LAYER, METRIC, MODEL, OPTIMIZER
from xlalint.semantics.facts import COMPILED
from xlalint.semantics.values import (
    ARRIVING,
    COLLECTION,
    COMPUTED,
    INSTANCE,
    MAPPING,
    TENSOR,
    VARIABLE,
    Value,
    shaped,
)

_ITERATIONS = shaped(Value(VARIABLE, ARRIVING, dtype="int64"), ())
_RATE = shaped(Value(VARIABLE, ARRIVING), ())
_RATES = frozenset({"learning_rate", "lr"})
_WEIGHT = Value(VARIABLE, ARRIVING)
_WEIGHTS = frozenset(
    "depthwise_kernel embeddings kernel moving_mean moving_variance pointwise_kernel recurrent_kernel".split()
)
# Those that a setting leaves out: `use_bias=False`, `center=False`.
_WEIGHTS_IF_ANY = frozenset({"beta", "bias", "gamma"})
_COLLECTIONS = frozenset({"trainable_variables", "trainable_weights", "variables", "weights"})
# Any layer: it gives a tensor, or several.
_WRAPPED = Value(INSTANCE, ref="keras.layers.Wrapper")
_COUNTED = Value(VARIABLE, ARRIVING, dtype="float32")
_SCALARS = frozenset({"total", "count"})
_COUNTS = frozenset(
    {"true_positives", "true_negatives", "false_positives", "false_negatives", "total_cm"}
)
# What a legacy optimizer's step shares between variables, by name, for one device and dtype: `coefficients["lr_t"]`.
COEFFICIENTS = Value(MAPPING, ref=((None, Value(TENSOR, COMPUTED)),))
_OPTIMIZER_NAME = re.compile(r"(^|_)(optimizer|optim|opt)$")


def of_role(role: str | None, attr: str) -> Value | None:
    """What `self.attr` is in a class of this role that does not make it itself; None where Keras has no such variable."""
    if role == OPTIMIZER:
        return _ITERATIONS if attr == "iterations" else None
    if role in (LAYER, MODEL) and attr in _COLLECTIONS:
        return Value(COLLECTION, ref=_WEIGHT)
    if role == MODEL and attr == "layers":
        return Value(COLLECTION, ref=_WRAPPED)
    if role in (LAYER, MODEL) and attr == "losses":
        return Value(COLLECTION, ref=shaped(Value(TENSOR, COMPUTED, sure=False), ()))
    if role == MODEL and attr == "metrics":
        return Value(COLLECTION, ref=Value(INSTANCE, ref="keras.metrics.Metric"))
    if role == METRIC and attr in _SCALARS:
        return shaped(_COUNTED, ())
    return _COUNTED if role == METRIC and attr in _COUNTS else None


def of_external(role: str, attr: str, region: str) -> Value | None:
    """What `attr` is of an object of one of Keras's own classes."""
    if role == OPTIMIZER and attr in _RATES:
        return _RATE if region == COMPILED else None
    if role == LAYER and attr in _WEIGHTS:
        return _WEIGHT
    if role == LAYER and attr in _WEIGHTS_IF_ANY:
        return _WEIGHT._replace(optional=True)
    if attr == "losses" and region != COMPILED:
        return None  # symbolic ones, where a model is put together
    return of_role(role, attr)


# Keras's classes that have no weights of their own.
_WITHOUT_WEIGHTS = frozenset({"AbstractRNNCell", "Lambda", "Layer", "StackedRNNCells"})
_WRAPPERS = frozenset({"Bidirectional", "TimeDistributed", "Wrapper"})


def makes_weights(base: str) -> bool:
    """Whether a class of Keras's layers, by its canonical name, makes weights and computes with them."""
    leaf = base.rpartition(".")[2]
    return "keras.layers." in base and leaf not in _WITHOUT_WEIGHTS | _WRAPPERS


def of_base(base: str, attr: str) -> Value | None:
    """What `self.attr` is in a class that inherits from one of Keras's layers: `self.kernel` below `keras.layers.Conv2D`."""
    if attr == "layer" and base.rpartition(".")[2] in _WRAPPERS:
        return _WRAPPED
    return of_external(LAYER, attr, COMPILED) if makes_weights(base) else None


def of_unknown(owner: str, attr: str, region: str) -> Value | None:
    """`self.optimizer.iterations` where nothing is known of the optimizer but its name."""
    if attr != "iterations" and (attr not in _RATES or region != COMPILED):
        return None
    if _OPTIMIZER_NAME.search(owner.lower()) is None:
        return None
    return _ITERATIONS if attr == "iterations" else _RATE
