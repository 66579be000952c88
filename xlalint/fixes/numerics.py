"""What can be proven of the numbers in an expression: dtype and shape, and whether it may stand in an arm of tf.where.

tf.where computes both sides. What it does not choose cannot show in its value, but its gradient is zero times the derivative
of that side: NaN where the derivative is infinite or NaN (`tf.sqrt(x)` at 0, `x * y` where `y` is infinite). So only what is
linear with finite factors may stand there, and what has no gradient.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from xlalint.fixes.asts import (
    Source,
    assigned_before,
    is_bound_before,
    python_constant,
)
from xlalint.semantics.values import PYTHON, SHAPE, Value

# Elementwise functions of one tensor whose result has its dtype and shape.
LIKE_FIRST = frozenset(
    "abs identity stop_gradient zeros_like ones_like negative square sqrt rsqrt exp log log1p expm1 tanh sigmoid sin cos sign floor ceil"
    " round reciprocal erf clip_by_value clip_by_norm".split()
) | frozenset(
    "relu relu6 elu selu gelu softplus softsign softmax log_softmax leaky_relu l2_normalize silu swish tanh sigmoid".split()
)
LIKE_BOTH = frozenset("add subtract multiply minimum maximum divide_no_nan multiply_no_nan".split())
# Of those, what is linear with finite factors, piece by piece, or has no gradient at all: safe in the side not chosen.
LINEAR = frozenset(
    "identity stop_gradient zeros_like ones_like negative sign floor ceil round relu relu6 clip_by_value cast".split()
)
LINEAR_PAIRS = frozenset("add subtract minimum maximum".split())
# Linear ways to move or sum elements: their derivative is a number that no input makes infinite.
LINEAR_MOVES = frozenset(
    "reduce_sum reduce_mean reshape transpose expand_dims squeeze concat stack pad tile broadcast_to repeat roll reverse"
    " zeros ones constant fill range shape size rank".split()
)
_MODULES = ("tf", "tf.math", "tf.nn", "keras.ops", "keras.backend", "keras.activations")
_WHOLE = frozenset(
    {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
)
FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})


def function_name(source: Source, node: ast.expr) -> str | None:
    """`reduce_sum` of a call of `tf.reduce_sum`, `tf.math.reduce_sum`, `keras.ops...`; None of other calls."""
    name = source.api(node) if isinstance(node, ast.Call) else None
    if name is None:
        return None
    module, _, leaf = name.rpartition(".")
    return leaf if module in _MODULES else None


def literal(source: Source, node: ast.expr) -> bool | int | float | None:
    """The Python number that an expression is, written out or known by name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = literal(source, node.operand)
        return None if inner is None else -inner
    return python_constant(source.value(node))


def is_scalar(value: Value) -> bool:
    """Whether a tensor is known to be a scalar."""
    return value.is_tensor and value.rank == 0


# --- dtype and shape ------------------------------------------------------------------------------------------------


Roots = Mapping[str, str | None]
_NO_ROOTS: Roots = MappingProxyType({})


def base(source: Source, node: ast.expr, roots: Roots = _NO_ROOTS) -> str | None:
    """The name (`x`, `self.x`) whose dtype and shape an expression has, whatever these are; None where none is proven.

    `roots` says the same of names that have been assigned since; None of those for which it is not known.
    """
    if isinstance(node, (ast.Name, ast.Attribute)):
        if _is_static(source.value(node)):
            return None
        name = ast.unparse(node)
        return roots.get(name, name)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return base(source, node.operand, roots)
    if isinstance(node, ast.BinOp):
        return _base_of_operation(source, node, roots)
    if isinstance(node, ast.Call):
        return _base_of_call(source, node, roots)
    return None


def _is_static(value: Value) -> bool:
    return value.kind in (PYTHON, SHAPE)


def _base_of_operation(source: Source, node: ast.BinOp, roots: Roots) -> str | None:
    if not isinstance(
        node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.Mod, ast.FloorDiv)
    ):
        return None
    left, right = base(source, node.left, roots), base(source, node.right, roots)
    if left is not None and left == right:
        return left if not isinstance(node.op, ast.Div) or _is_float(source, node.left) else None
    for known, one, other in ((left, node.left, node.right), (right, node.right, node.left)):
        if known is None or not _keeps(source, one, other, node.op):
            continue
        return known
    return None


def _keeps(source: Source, tensor: ast.expr, other: ast.expr, operation: ast.operator) -> bool:
    """Whether an operation with `other` leaves a tensor its dtype and shape: a number that fits, or a scalar tensor."""
    number = literal(source, other)
    if number is None:
        # Two tensors must be of one dtype, or eager code stops, too.
        if not is_scalar(source.value(other)):
            return False
        return not isinstance(operation, ast.Div) or _is_float(source, tensor)
    if isinstance(number, float):
        return True  # a whole tensor does not take a float: eager code stops, too
    # Whole numbers fit any dtype; a division makes float64 of whole tensors.
    return not isinstance(operation, ast.Div) or _is_float(source, tensor)


def _is_float(source: Source, node: ast.expr) -> bool:
    return source.value(node).dtype in FLOATS


def _base_of_call(source: Source, call: ast.Call, roots: Roots) -> str | None:
    name = function_name(source, call)
    if name is None or not call.args or isinstance(call.args[0], ast.Starred):
        return None
    if any(keyword.arg not in ("axis", "name", "alpha") for keyword in call.keywords):
        return None
    first = base(source, call.args[0], roots)
    if name in LIKE_FIRST:
        if name == "clip_by_value" and any(literal(source, a) is None for a in call.args[1:]):
            return None
        return first
    if name in LIKE_BOTH and len(call.args) == 2:
        second = base(source, call.args[1], roots)
        if first is not None and first == second:
            return first
        if first is not None and literal(source, call.args[1]) is not None:
            return first
    if name == "where" and len(call.args) == 3 and is_scalar(source.value(call.args[0])):
        second, third = base(source, call.args[1], roots), base(source, call.args[2], roots)
        return second if second == third else None
    return None


_KEEP_DTYPE = frozenset(
    "reduce_sum reduce_mean reduce_max reduce_min reduce_prod norm reshape transpose expand_dims squeeze gather".split()
)


def dtype_source(source: Source, node: ast.expr) -> str | None:
    """The name whose dtype an expression has, whatever its shape; None where none is proven."""
    root = base(source, node)
    if root is not None:
        return root
    if isinstance(node, ast.Call) and function_name(source, node) in _KEEP_DTYPE and node.args:
        return dtype_source(source, node.args[0])
    if isinstance(node, ast.Subscript) and source.value(node.value).is_tensor:
        return dtype_source(source, node.value)
    return None


# What takes the dtype that it is told, and where it is told so.
_TOLD = MappingProxyType({"cast": 1, "constant": 1, "zeros": 1, "ones": 1, "convert_to_tensor": 1})
# What an attribute of that name holds is a dtype, and never None.
_DTYPES = frozenset({"dtype", "compute_dtype", "variable_dtype"})


def dtype_word(source: Source, node: ast.expr, roots: Roots = _NO_ROOTS) -> str | None:
    """The dtype of an expression in the words of the source, `x.dtype` or `self.dtype`; None where none is proven."""
    if isinstance(node, ast.Call):
        place = _TOLD.get(function_name(source, node) or "")
        given = {k.arg: k.value for k in node.keywords}
        said = given.get("dtype")
        if said is None and place is not None and len(node.args) > place:
            said = node.args[place]
        if place is not None and None not in given and isinstance(said, ast.Attribute):
            holder = base(source, said.value, roots) if said.attr in _DTYPES else None
            return f"{holder}.{said.attr}" if holder is not None else None
        if function_name(source, node) in _KEEP_DTYPE and node.args and "dtype" not in given:
            return dtype_word(source, node.args[0], roots)
    if isinstance(node, ast.Subscript) and source.value(node.value).is_tensor:
        return dtype_word(source, node.value, roots)
    root = base(source, node, roots)
    return f"{root}.dtype" if root is not None else None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether two values have one dtype and one shape: True, False (known to differ), or None (not known)."""

    dtype: bool | None
    shape: bool | None

    @property
    def is_proven(self) -> bool:
        return self.dtype is True and self.shape is True


def agreement(
    source: Source,
    one: ast.expr,
    other: ast.expr,
    was: Value | None = None,
    roots: tuple[Roots, Roots] = (_NO_ROOTS, _NO_ROOTS),
) -> Agreement:
    """Whether two expressions are alike, as arms of a conditional have to be.

    A Python number is of the dtype of the tensor beside it, as tf.where makes it, unless that cannot be. `was` is the value of
    `other` where it is a name as it was before, `roots` what each arm has assigned (see `base`).
    """
    if isinstance(one, (ast.Tuple, ast.List)) and isinstance(other, type(one)):
        if len(one.elts) != len(other.elts):
            return Agreement(None, False)
        pairs = [agreement(source, a, b, None, roots) for a, b in zip(one.elts, other.elts)]
        return Agreement(_all(p.dtype for p in pairs), _all(p.shape for p in pairs))
    root = base(source, one, roots[0])
    if root is not None and root == base(source, other, roots[1]):
        return Agreement(True, True)
    a, b = source.value(one), was if was is not None else source.value(other)
    dtype = _same_dtype(source, one, a, other, b)
    if dtype is None:
        word = dtype_word(source, one, roots[0])
        dtype = True if word is not None and word == dtype_word(source, other, roots[1]) else None
    return Agreement(dtype, _same_shape(a, b))


def _all(known: Iterable[bool | None]) -> bool | None:
    found = list(known)
    return False if False in found else None if None in found else True


def _same_dtype(source: Source, one: ast.expr, a: Value, other: ast.expr, b: Value) -> bool | None:
    numbers = [_number(source, one, a), _number(source, other, b)]
    if None not in numbers:
        return type(numbers[0]) is type(numbers[1])
    for number, tensor in ((numbers[0], b), (numbers[1], a)):
        if number is None:
            continue
        if not tensor.is_tensor:
            return None
        if isinstance(number, bool):
            return None if tensor.dtype is None else tensor.dtype == "bool"
        # Of a dtype that is not known, the number is taken for one of it: otherwise nothing compiles both arms.
        if isinstance(number, int):
            return tensor.dtype != "bool"
        return tensor.dtype is None or tensor.dtype in FLOATS
    if a.dtype is None or b.dtype is None:
        return None
    return a.dtype == b.dtype


def _number(source: Source, node: ast.expr, value: Value) -> bool | int | float | None:
    found = literal(source, node) if hasattr(node, "lineno") else None
    return found if found is not None else python_constant(value)


def _same_shape(a: Value, b: Value) -> bool | None:
    shapes = [() if python_constant(v) is not None else v.shape for v in (a, b)]
    ranks = [
        0 if python_constant(v) is not None else v.rank if v.is_tensor else None for v in (a, b)
    ]
    one, other = shapes
    if one is not None and other is not None:
        if len(one) != len(other):
            return False
        if all(x is not None and x == y for x, y in zip(one, other)):
            return True
        return (
            False
            if any(x is not None and y is not None and x != y for x, y in zip(one, other))
            else None
        )
    if None not in ranks and (ranks[0] == 0) is not (ranks[1] == 0):
        return False
    return True if ranks == [0, 0] else None


# --- what is not chosen ---------------------------------------------------------------------------------------------


def is_quiet(source: Source, node: ast.expr) -> bool:
    """Whether an expression is cheap, never fails, and neither its value nor its gradient shows where it is not chosen."""
    if isinstance(node, (ast.Name, ast.Constant)):
        return True
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and source.value(node).kind != "unknown"
    if isinstance(node, ast.UnaryOp):
        return is_quiet(source, node.operand)
    if isinstance(node, ast.BinOp):
        return _is_quiet_operation(source, node)
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(is_quiet(source, item) for item in node.elts)
    if not isinstance(node, ast.Call):
        return False
    name = function_name(source, node)
    arguments = [*node.args, *(k.value for k in node.keywords)]
    if name in ("zeros", "ones", "constant") or name in LINEAR or name in LINEAR_PAIRS:
        return all(is_quiet(source, a) for a in arguments)
    return False


def _is_quiet_operation(source: Source, node: ast.BinOp) -> bool:
    if not (is_quiet(source, node.left) and is_quiet(source, node.right)):
        return False
    if isinstance(node.op, (ast.Add, ast.Sub)):
        return True
    left, right = literal(source, node.left), literal(source, node.right)
    if isinstance(node.op, ast.Mult):
        return any(number is not None and math.isfinite(number) for number in (left, right))
    if isinstance(node.op, ast.Div):
        return (
            right is not None and right != 0 and math.isfinite(right) and math.isfinite(1 / right)
        )
    return False


def has_no_gradient(source: Source, node: ast.expr) -> bool:
    """Whether nothing flows back through an expression: whole numbers, truth, Python values."""
    value = source.value(node)
    return value.dtype in _WHOLE or _is_static(value) or literal(source, node) is not None


def previous(source: Source, statement: ast.stmt, name: str) -> Value | None:
    """What is known of a name when a statement begins, by what it was assigned; None where that is not that simple."""
    made = assigned_before(source, statement, name)
    if made is not None:
        return source.value(made)
    return Value() if is_bound_before(source, statement, name) else None
