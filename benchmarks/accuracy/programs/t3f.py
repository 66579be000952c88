"""Calls of t3f 1.1.0: tensors in the tensor-train format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import t3f
from program import Call, Programs
from t3f import nn

from programs.made import floats, layer

programs = Programs("t3f")
SHAPES = [(1, 3, 2), (2, 4, 2), (2, 3, 1)]
CORES = [floats(*shape) for shape in SHAPES]
MATRIX = [floats(1, 2, 2, 2), floats(2, 3, 3, 1)]
BATCH = [floats(2, *shape) for shape in SHAPES]


def train(name: str, function: Callable[[Any], Any], cores: list[Any], kind: Any) -> None:
    """A program that works on a tensor train made of its cores."""

    def call(*given: Any) -> Any:
        result = function(kind(list(given)))
        return list(result.tt_cores) if hasattr(result, "tt_cores") else result

    programs(name)(lambda: Call(call, cores, True))


for _name, _function in {
    "full": t3f.full,
    "round": lambda a: t3f.round(a, max_tt_rank=2),
    "round epsilon": lambda a: t3f.round(a, epsilon=0.1),
    "add": lambda a: t3f.add(a, a),
    "multiply": lambda a: t3f.multiply(a, a),
    "flat_inner": lambda a: t3f.flat_inner(a, a),
    "frobenius_norm": t3f.frobenius_norm,
    "orthogonalize": t3f.orthogonalize_tt_cores,
    "orthogonalize right": lambda a: t3f.orthogonalize_tt_cores(a, left_to_right=False),
    "gather_nd": lambda a: t3f.gather_nd(a, [[0, 1, 2], [1, 0, 0]]),
    "renormalize": t3f.renormalize_tt_cores,
    "project": lambda a: t3f.project(a, t3f.orthogonalize_tt_cores(a)),
    "slice": lambda a: a[1, :, :],
    "transposed shape": lambda a: t3f.shape(a),
    "expand_batch_dim": t3f.expand_batch_dim,
    "tt_ranks": t3f.tt_ranks,
    "ones_like": t3f.ones_like,
    "to_tt_tensor": lambda a: t3f.to_tt_tensor(t3f.full(a), max_tt_rank=2),
    "l2_regularizer": lambda a: t3f.l2_regularizer(0.1)(a),
}.items():
    train(_name, _function, CORES, t3f.TensorTrain)
for _name, _function in {
    "matrix full": t3f.full,
    "matrix matmul": lambda a: t3f.matmul(a, a),
    "matrix transpose": t3f.transpose,
    "matrix determinant": lambda a: t3f.kronecker.determinant(a),
    "matrix quadratic_form": lambda a: t3f.quadratic_form(
        a, t3f.matrix_ones([[2, 3], [1, 1]]), t3f.matrix_ones([[2, 3], [1, 1]])
    ),
    "kronecker inv": lambda a: t3f.kronecker.inv(a),
    "kronecker slog_determinant": lambda a: t3f.kronecker.slog_determinant(a),
    "kronecker cholesky": lambda a: t3f.kronecker.cholesky(a),
}.items():
    cores = [
        c[:1, ..., :1] + [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]][0][0] for c in MATRIX
    ]
    train(
        _name,
        _function,
        cores if "kronecker" in _name or "determinant" in _name else MATRIX,
        t3f.TensorTrain,
    )
for _name, _function in {
    "batch full": t3f.full,
    "batch gram_matrix": t3f.gram_matrix,
    "batch multiply_along": lambda a: t3f.multiply_along_batch_dim(a, [0.5, 2.0]),
    "batch pairwise": lambda a: t3f.pairwise_flat_inner(a, a),
    "batch concat": lambda a: t3f.concat_along_batch_dim([a, a]),
    "batch project_sum": lambda a: t3f.project_sum(a, a[0]),
    "batch add_n_projected": lambda a: t3f.approximate.reduce_sum_batch(a, 2),
}.items():
    train(_name, _function, BATCH, t3f.TensorTrainBatch)
layer(programs, "nn.KerasDense", lambda: nn.KerasDense([2, 3], [2, 2], tt_rank=2), floats(4, 6))
