"""How far XLA follows what a value is made of, where it has to find a bound for the size of a slice (`x[:n]`).

It goes back through the operands of `n`, and stops at loops of the graph. On the way it meets operations of which its evaluator has nothing to say: the
factorisations of matrices, and the reshape of a tensor whose size depends on data, which is part of every boolean mask. There it does not
compile, whatever the target, unless it can read the data as arguments, as XLA on CPU and GPU does. As sizes of `tf.slice`, factorisations were seen
to pass. (Measured: TensorFlow 2.21, some seventy sources of a number; fixtures/XLA203/flagged_bounds_of_slices.py.)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.elements import leaves
from xlalint.semantics.syntax import is_ellipsis
from xlalint.semantics.values import ARRIVING, COMPUTED, FACTORED, REGROUPED, ReadInCalls, Value

# Of singular values XLA makes a loop of its own, which it does not look into.
_FACTORISATIONS = frozenset(
    {"SelfAdjointEigV2", "Qr", "Cholesky", "MatrixInverse", "MatrixSolve", "MatrixTriangularSolve"}
)
_RESHAPES = frozenset({"reshape", "expand_dims", "squeeze"})


def of_call(api: Api, dependence: int, producer: str | None) -> int:
    """The dependence of what a call makes of data of this dependence, and, with a producer, of a tensor that is still data-sized."""
    if dependence < ARRIVING:
        return dependence
    if not _FACTORISATIONS.isdisjoint(api.ops) and not _has_loop(api):
        dependence = max(dependence, FACTORED)
    if producer is not None and type(producer) is not ReadInCalls and _is_reshape(api.name):
        dependence = REGROUPED
    return dependence


def of_item(base: Value, parts: Sequence[ast.expr], producer: str | None, dependence: int) -> int:
    """The dependence of `kept[:, 0]` and `kept[:, None]`, which are reshapes as well."""
    if producer is None or base.producer is None or type(producer) is ReadInCalls:
        return dependence
    is_reshape = any(not isinstance(part, ast.Slice) and not is_ellipsis(part) for part in parts)
    return REGROUPED if is_reshape and dependence >= ARRIVING else dependence


def is_refused(bound: Value, *, is_tpu: bool) -> bool:
    """Whether a slice up to such a number does not compile for the target: CPUs and GPUs may read what masks are taken of, and then find it."""
    return is_tpu or bound.dependence == FACTORED


def unfollowed_size(api: Api, bound: dict[str, Value]) -> Value | None:
    """The size of `tf.slice(x, begin, size)` that was computed from what a mask left, where there is one."""
    sizes = (leaf for name in api.sizing_args if name in bound for leaf in leaves(bound[name]))
    return next((s for s in sizes if s.is_tensor and s.sure and s.dependence == REGROUPED), None)


def without(dependence: int) -> int:
    """What is written among other values (`tf.tensor_scatter_nd_update`) is not looked at."""
    return min(dependence, COMPUTED)


def _has_loop(api: Api) -> bool:
    return any("While" in op or op.endswith("If") for op in api.ops)


def _is_reshape(name: str) -> bool:
    return name.rsplit(".", 1)[-1] in _RESHAPES
