"""What TensorFlow calls the functions of NumPy and `math` that do the same, argument by argument."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Equivalent(NamedTuple):
    """A function of TensorFlow (below `tf.`) for one of NumPy.

    `keywords` are TensorFlow's names of the parameters, in the order of NumPy's (which `of_numpy` names where they differ). A call
    with fewer than `needs` arguments, or with others than these, means something else in TensorFlow.
    """

    name: str
    keywords: tuple[str, ...]
    needs: int = 1
    of_numpy: tuple[str, ...] = ()
    only_floats: bool = False


_FLOATING = (
    "exp log sqrt sin cos tan tanh sinh cosh math.log1p math.expm1 floor math.ceil math.is_nan math.is_finite math.is_inf "
    "math.reciprocal"
)
_SPELLED = MappingProxyType(
    {
        "math.ceil": "ceil",
        "math.is_nan": "isnan",
        "math.is_finite": "isfinite",
        "math.is_inf": "isinf",
        "math.log1p": "log1p",
        "math.expm1": "expm1",
        "math.reciprocal": "reciprocal",
    }
)
_UNARY = "abs square sign negative zeros_like ones_like"
_BINARY = (
    "maximum minimum add subtract multiply divide greater less greater_equal less_equal equal not_equal "
    "logical_and logical_or"
)
_REDUCTIONS = MappingProxyType(
    {
        "sum": "reduce_sum",
        "max": "reduce_max",
        "amax": "reduce_max",
        "min": "reduce_min",
        "amin": "reduce_min",
        "prod": "reduce_prod",
        "any": "reduce_any",
        "all": "reduce_all",
    }
)
_MEANS = MappingProxyType(
    {"mean": "reduce_mean", "std": "math.reduce_std", "var": "math.reduce_variance"}
)


def _table() -> dict[str, Equivalent]:
    table: dict[str, Equivalent] = {}
    for name in _FLOATING.split():
        table[_SPELLED.get(name, name)] = Equivalent(name, ("x",), only_floats=True)
    for name in _UNARY.split():
        table[name] = Equivalent(name, ("x",))
    table["absolute"] = Equivalent("abs", ("x",))
    for name in _BINARY.split():
        table[name] = Equivalent(name, ("x", "y"), 2)
    table["power"] = Equivalent("pow", ("x", "y"), 2)
    axes = ("input_tensor", "axis", "keepdims")
    for name, ours in _REDUCTIONS.items():
        table[name] = Equivalent(ours, axes, of_numpy=("a", "axis", "keepdims"))
    for name, ours in _MEANS.items():
        table[name] = Equivalent(ours, axes, of_numpy=("a", "axis", "keepdims"), only_floats=True)
    table |= {
        # Without an axis NumPy flattens, and TensorFlow takes the first one.
        "argmax": Equivalent("argmax", ("input", "axis"), 2, ("a", "axis")),
        "argmin": Equivalent("argmin", ("input", "axis"), 2, ("a", "axis")),
        "cumsum": Equivalent("cumsum", ("x", "axis"), 2, ("a", "axis")),
        "clip": Equivalent(
            "clip_by_value", ("t", "clip_value_min", "clip_value_max"), 3, ("a", "a_min", "a_max")
        ),
        "where": Equivalent("where", ("condition", "x", "y"), 3),
        "stack": Equivalent("stack", ("values", "axis"), 1, ("arrays", "axis")),
        "concatenate": Equivalent("concat", ("values", "axis"), 2, ("arrays", "axis")),
        "expand_dims": Equivalent("expand_dims", ("input", "axis"), 2, ("a", "axis")),
        "squeeze": Equivalent("squeeze", ("input", "axis"), 1, ("a", "axis")),
        "reshape": Equivalent("reshape", ("tensor", "shape"), 2, ("a", "newshape")),
        "transpose": Equivalent("transpose", ("a", "perm"), 1, ("a", "axes")),
        "tile": Equivalent("tile", ("input", "multiples"), 2, ("A", "reps")),
        "roll": Equivalent("roll", ("input", "shift", "axis"), 3, ("a", "shift", "axis")),
        "sort": Equivalent("sort", ("values", "axis"), 1, ("a", "axis")),
        "linalg.norm": Equivalent("norm", ("tensor",), 1, ("x",)),
    }
    return table


# Functions of one number; TensorFlow gives a NaN where `math` raises.
_MATH = MappingProxyType(
    {
        "sqrt": "sqrt",
        "exp": "exp",
        "log": "math.log",
        "log1p": "math.log1p",
        "sin": "sin",
        "cos": "cos",
        "tan": "tan",
        "tanh": "tanh",
        "fabs": "abs",
        "isnan": "math.is_nan",
        "isfinite": "math.is_finite",
    }
)


def equivalents() -> Mapping[str, Equivalent]:
    """By the canonical names of NumPy and Python: `np.exp`, `math.sqrt`."""
    table = {f"np.{name}": ours for name, ours in _table().items()}
    table |= {f"math.{n}": Equivalent(ours, ("x",), only_floats=True) for n, ours in _MATH.items()}
    table["np.log"] = Equivalent("math.log", ("x",), only_floats=True)
    return table


# NumPy's element types as functions, and Python's: what they cast to.
CASTS: Mapping[str, str] = MappingProxyType(
    {
        "np.float32": "float32",
        "np.float64": "float64",
        "np.int32": "int32",
        "np.int64": "int64",
        "np.bool_": "bool",
        "float": "float32",
        "int": "int32",
        "bool": "bool",
    }
)
