"""What operations do with kept elements: each for itself, each row for itself, or all of them together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType


def _named(modules: str, names: str) -> frozenset[str]:
    return frozenset(f"{module}.{name}" for module in modules.split() for name in names.split())


# y = f(x) with a constant slope: what flows back does not depend on x.
LINEAR = _named("tf tf.math", "identity negative stop_gradient cast saturate_cast") | _named(
    "tf", "convert_to_tensor add subtract grad_pass_through"
)
# Linear in one tensor as long as the other is not masked.
PRODUCTS = _named("tf tf.math", "multiply divide truediv")
# Not finite at 0, or without a finite slope there.
SINGULAR = _named("tf tf.math", "log sqrt rsqrt reciprocal pow lgamma digamma xlogy atan2") | {
    "tf.norm",
    "keras.losses.categorical_crossentropy",
}
# No gradient flows back through these.
FLAT = (
    _named(
        "tf tf.math",
        "equal not_equal less less_equal greater greater_equal sign floor ceil round rint",
    )
    | _named("tf tf.math", "logical_and logical_or logical_not logical_xor is_nan is_inf is_finite")
    | _named("tf", "zeros_like ones_like floor ceil round math.floordiv math.floormod math.mod")
    | _named("tf.math", "argmax argmin")
)
_CURVED = (
    _named("tf tf.math", "abs square sqrt exp expm1 log log1p sigmoid tanh sin cos tan pow maximum minimum reciprocal rsqrt")
    | _named("tf.math", "rsqrt erf erfc softplus softsign lgamma digamma squared_difference divide_no_nan multiply_no_nan xlogy")
    | _named("tf.math", "xlog1py xdivy log_sigmoid sinh cosh asin acos atan atan2 reciprocal_no_nan acosh asinh atanh")
    | _named("tf", "clip_by_value math.l2_loss_elements atan2 asin acos atan sinh cosh")
    | _named("tf.nn", "relu relu6 elu selu gelu silu swish leaky_relu softplus softsign sigmoid tanh")
    | _named("tf.nn", "sigmoid_cross_entropy_with_logits weighted_cross_entropy_with_logits")
    | _named("keras.activations", "relu sigmoid tanh softplus gelu elu selu swish silu")
)  # fmt: skip
ELEMENTWISE = LINEAR | PRODUCTS | FLAT | _CURVED

# Operations on the last axis, which must not be the masked one; by what they do to the number of axes.
ROW_WISE: Mapping[str, int] = MappingProxyType(
    dict.fromkeys(_named("tf.nn tf.math", "softmax log_softmax l2_normalize"), 0)
    | {"tf.nn.softmax_cross_entropy_with_logits": -1}
    | dict.fromkeys(
        _named(
            "keras.losses",
            "mean_squared_error mean_absolute_error mse mae huber log_cosh cosine_similarity kl_divergence "
            "binary_crossentropy categorical_crossentropy binary_focal_crossentropy",
        ),
        -1,
    )
)
# Losses of whole numbers (first) against rows of scores: labels that are left out are no valid labels.
SPARSE_LOSSES = frozenset(
    {
        "tf.nn.sparse_softmax_cross_entropy_with_logits",
        "keras.losses.sparse_categorical_crossentropy",
    }
)
# Classes of losses and the functions that they call, whose results they return when they do not reduce them.
LOSS_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        f"keras.losses.{name}": f"keras.losses.{function}"
        for name, function in (
            ("SparseCategoricalCrossentropy", "sparse_categorical_crossentropy"),
            ("CategoricalCrossentropy", "categorical_crossentropy"),
            ("BinaryCrossentropy", "binary_crossentropy"),
            ("MeanSquaredError", "mean_squared_error"),
            ("MeanAbsoluteError", "mean_absolute_error"),
            ("Huber", "huber"),
            ("KLDivergence", "kl_divergence"),
        )
    }
)
# Losses that take the mean over the last axis: of vectors, a mean of all, by what they compute of a difference.
ROW_MEANS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(_named("keras.losses keras.metrics", "mean_squared_error mse MSE"), "square")
    | dict.fromkeys(_named("keras.losses keras.metrics", "mean_absolute_error mae MAE"), "abs")
)
# Their classes, which take the mean of what the functions return.
MEAN_CLASSES: Mapping[str, str] = MappingProxyType(
    {"keras.losses.MeanSquaredError": "square", "keras.losses.MeanAbsoluteError": "abs"}
)
LOOKUPS = frozenset({"tf.gather", "tf.nn.embedding_lookup"})

# Reductions, by what a dropped element is replaced with so that it does not count.
SUMS = _named("tf tf.math", "reduce_sum") | {"keras.ops.sum", "keras.backend.sum"}
MEANS = _named("tf tf.math", "reduce_mean") | {"keras.ops.mean", "keras.backend.mean"}
MAXIMA = _named("tf tf.math", "reduce_max")
MINIMA = _named("tf tf.math", "reduce_min")
PRODUCTS_OVER = _named("tf tf.math", "reduce_prod")
LOG_SUMS = _named("tf tf.math", "reduce_logsumexp")
ANY = _named("tf tf.math", "reduce_any")
ALL = _named("tf tf.math", "reduce_all")
COUNTS = frozenset({"tf.math.count_nonzero"})
REDUCTIONS = SUMS | MEANS | MAXIMA | MINIMA | PRODUCTS_OVER | LOG_SUMS | ANY | ALL | COUNTS

_AT: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {
        "abs": abs,
        "square": lambda x: x * x,
        "exp": math.exp,
        "expm1": math.expm1,
        "log1p": math.log1p,
        "tanh": math.tanh,
        "sin": math.sin,
        "cos": math.cos,
        "erf": math.erf,
        "relu": lambda x: max(x, 0.0),
        "negative": lambda x: -x,
        "identity": lambda x: x,
        "stop_gradient": lambda x: x,
        "log": math.log,
        "sqrt": math.sqrt,
        "softsign": lambda x: x / (1.0 + abs(x)),
        "sigmoid": lambda x: 1.0 / (1.0 + math.exp(-x)),
        "softplus": lambda x: math.log1p(math.exp(x)),
        "log_sigmoid": lambda x: -math.log1p(math.exp(-x)),
        "floor": math.floor,
        "ceil": math.ceil,
        "round": round,
        "zeros_like": lambda x: 0.0,
        "ones_like": lambda x: 1.0,
    }
)
_AT_TWO: Mapping[str, Callable[[float, float], float]] = MappingProxyType(
    {
        "squared_difference": lambda x, y: (x - y) ** 2,
        "add": lambda x, y: x + y,
        "subtract": lambda x, y: x - y,
        "multiply": lambda x, y: x * y,
        "divide": lambda x, y: x / y,
        "truediv": lambda x, y: x / y,
        "divide_no_nan": lambda x, y: x / y if y else 0.0,
        "pow": lambda x, y: x**y,
        "maximum": max,
        "minimum": min,
    }
)


def at(api: str, *values: float) -> float | None:
    """What a function of numbers gives for these; None where that is not known here."""
    name = api.rsplit(".", 1)[1]
    function: Callable[..., float] | None = None
    if len(values) in (1, 2):
        function = _AT.get(name) if len(values) == 1 else _AT_TWO.get(name)
    try:
        return None if function is None else function(*values)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
