"""Calls of kgcnn 2.2.1 (Keras 3): partitions, segments, polynomials, layers of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from kgcnn.layers import gather, pooling
from kgcnn.layers.pool import topk
from kgcnn.metrics import loss, metrics
from kgcnn.ops import activ, partition, polynom, scatter, segment
from kgcnn.ops import ragged as ragged_ops
from program import Call, Programs

from programs.made import floats, integers, layer, plain

programs = Programs("kgcnn")
# Two graphs of two and three nodes, of two and four edges.
SEGMENTS = np.array([0, 0, 1, 1, 1], "int32")
NODE_SPLITS, EDGE_SPLITS = np.array([0, 2, 5], "int32"), np.array([0, 2, 6], "int32")
NODES, EDGES = floats(5, 4), floats(6, 3)
INDICES = np.array([[0, 1], [1, 0], [0, 1], [1, 2], [2, 1], [0, 2]], "int32")
PARTITIONS = {
    "row_lengths": np.array([2, 3], "int32"),
    "row_splits": NODE_SPLITS,
    "value_rowids": SEGMENTS,
    "row_limits": np.array([2, 5], "int32"),
}


def _of_lengths(
    name: str, function: Callable[..., Any], *inputs: Any, gradient: bool = False
) -> None:
    """A program with inputs whose lengths belong together."""
    programs(name)(lambda: Call(function, inputs, gradient, check_shape=False))


def _ragged(values: Any, splits: Any) -> Any:
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)


for _from, _to in (
    ("row_lengths", "row_splits"),
    ("row_lengths", "value_rowids"),
    ("row_splits", "row_lengths"),
    ("row_splits", "value_rowids"),
    ("value_rowids", "row_lengths"),
    ("value_rowids", "row_splits"),
    ("row_limits", "value_rowids"),
):
    _of_lengths(
        f"change_partition_by_name {_from} {_to}",
        lambda given, _from=_from, _to=_to: partition.change_partition_by_name(given, _from, _to),
        PARTITIONS[_from],
    )
for _from, _to in (("sample", "batch"), ("batch", "sample"), ("batch", "batch")):
    _of_lengths(
        f"partition_row_indexing {_from} {_to}",
        lambda indices, splits, lengths, _from=_from, _to=_to: partition.partition_row_indexing(
            indices,
            splits,
            lengths,
            "row_splits",
            "row_length",
            from_indexing=_from,
            to_indexing=_to,
        ),
        INDICES[:5],
        NODE_SPLITS,
        PARTITIONS["row_lengths"],
    )
_of_lengths("segment_softmax", segment.segment_softmax, floats(5, 3), SEGMENTS, gradient=True)
for _name in ("mean", "sum", "max", "min"):
    _of_lengths(
        f"segment_ops_by_name {_name}",
        lambda data, segments, _name=_name: segment.segment_ops_by_name(_name, data, segments),
        floats(5, 3),
        SEGMENTS,
        gradient=True,
    )
for _name in ("sum", "max", "min"):
    _of_lengths(
        f"tensor_scatter_nd_ops_by_name {_name}",
        lambda tensor, indices, updates, _name=_name: scatter.tensor_scatter_nd_ops_by_name(
            _name, tensor, indices, updates
        ),
        floats(4, 3),
        np.array([[0], [0], [2]], "int32"),
        floats(3, 3),
        gradient=True,
    )


def _parts(values: Any, given: Any, name: str) -> Any:
    made = ragged_ops.ragged_tensor_from_partition_by_name(values, given, name)
    return [made.values, made.row_splits]


for _name, _partition in PARTITIONS.items():
    _of_lengths(
        f"ragged_tensor_from_partition_by_name {_name}",
        lambda values, given, _name=_name: _parts(values, given, _name),
        floats(5, 3),
        _partition,
    )
for _name in (*PARTITIONS, "row_starts"):
    _of_lengths(
        f"partition_from_ragged_tensor_by_name {_name}",
        lambda values, splits, _name=_name: ragged_ops.partition_from_ragged_tensor_by_name(
            _ragged(values, splits), _name
        ),
        floats(5, 3),
        NODE_SPLITS,
    )
for _name in ("shifted_softplus", "softplus2"):
    plain(programs, _name, getattr(activ, _name), floats(4, 3), gradient=True)
for _name in ("leaky_softplus", "leaky_relu", "swish"):
    layer(programs, _name, getattr(activ, _name), floats(4, 3))
for _name, _options in (
    ("tf_spherical_bessel_jn_explicit", {"n": 2}),
    ("tf_spherical_bessel_jn", {"n": 3}),
    ("tf_legendre_polynomial_pn", {"n": 3}),
    ("tf_spherical_harmonics_yl", {"l": 2}),
    ("tf_associated_legendre_polynomial", {"l": 2, "m": 1}),
):
    plain(
        programs,
        _name,
        lambda x, _name=_name, _options=_options: getattr(polynom, _name)(x, **_options),
        floats(4) * 0.8 + 0.1,
        gradient=True,
    )


def _values(given: Any) -> Any:
    if isinstance(given, (list, tuple)):
        return [_values(x) for x in given]
    return given.values if isinstance(given, tf.RaggedTensor) else given


def _of_graphs(
    name: str, make: Callable[[], Any], kinds: str, *values: Any, gradient: bool = True
) -> None:
    """A program of a layer's `call`, because Keras 3 refuses ragged inputs of the layer itself.

    `kinds` says which values are of nodes, of edges and of graphs.
    """

    @programs(name)
    def _made() -> Call:
        made = make()

        def function(*inputs: Any) -> Any:
            splits = {"n": inputs[-2], "e": inputs[-1]}
            tensors = [
                _ragged(x, splits[kind]) if kind in splits else x
                for kind, x in zip(kinds, inputs[:-2], strict=True)
            ]
            return _values(made.call(tensors if len(tensors) > 1 else tensors[0]))

        return Call(function, [*values, NODE_SPLITS, EDGE_SPLITS], gradient, check_shape=False)


for _method in ("mean", "sum", "max"):
    _of_graphs(
        f"PoolingLocalEdges {_method}",
        lambda _method=_method: pooling.PoolingLocalEdges(pooling_method=_method),
        "nee",
        NODES,
        EDGES,
        INDICES,
    )
for _normalize in (False, True):
    _of_graphs(
        f"PoolingWeightedLocalEdges {_normalize}",
        lambda _normalize=_normalize: pooling.PoolingWeightedLocalEdges(
            normalize_by_weights=_normalize
        ),
        "neee",
        NODES,
        EDGES,
        INDICES,
        floats(6, 1),
    )
_of_graphs("PoolingEmbedding", pooling.PoolingEmbedding, "n", NODES)
for _name in ("PoolingWeightedEmbedding", "PoolingEmbeddingAttention"):
    _of_graphs(_name, getattr(pooling, _name), "nn", NODES, floats(5, 1))
_of_graphs(
    "PoolingLocalEdgesAttention",
    pooling.PoolingLocalEdgesAttention,
    "neee",
    NODES,
    EDGES,
    floats(6, 1),
    INDICES,
)
_of_graphs(
    "RelationalPoolingLocalEdges",
    lambda: pooling.RelationalPoolingLocalEdges(num_relations=2),
    "neee",
    NODES,
    EDGES,
    INDICES,
    integers(2, 6),
)
for _name in ("GatherEmbedding", "GatherNodesIngoing", "GatherNodesOutgoing"):
    _of_graphs(_name, getattr(gather, _name), "ne", NODES, INDICES)
_of_graphs(
    "GatherEmbedding split",
    lambda: gather.GatherEmbedding(concat_axis=None, split_axis=2),
    "ne",
    NODES,
    INDICES,
)
_of_graphs(
    "GatherEmbeddingSelection",
    lambda: gather.GatherEmbeddingSelection(selection_index=[0, 1]),
    "ne",
    NODES,
    INDICES,
)
_of_graphs("GatherState", gather.GatherState, "gn", floats(2, 3), NODES)
_of_graphs("AdjacencyPower", topk.AdjacencyPower, "nee", NODES, floats(6, 1), INDICES)


def _best_nodes() -> Any:
    made = topk.PoolingTopK(k=0.4)
    # Its build gives add_weight a name in the place where Keras 3 takes the shape.
    made.kernel_p = tf.Variable(floats(1, 4))
    return made


_of_graphs("PoolingTopK", _best_nodes, "nee", NODES, EDGES, INDICES, gradient=False)
_of_graphs(
    "UnPoolingTopK",
    topk.UnPoolingTopK,
    "neenenee",
    NODES,
    EDGES,
    INDICES,
    np.array([0, 1, 0, 1, 2], "int32"),
    np.array([0, 1, 0, 1, 2, 3], "int32"),
    NODES,
    EDGES,
    INDICES,
)
plain(
    programs,
    "BinaryCrossentropyNoNaN",
    loss.BinaryCrossentropyNoNaN(),
    np.array([[1, np.nan], [0, 1]], "float32"),
    floats(2, 2),
    gradient=True,
)
RAGGED_ERROR = loss.RaggedMeanAbsoluteError()
_of_lengths(
    "RaggedMeanAbsoluteError",
    lambda true, predicted, splits: RAGGED_ERROR.call(
        _ragged(true, splits), _ragged(predicted, splits)
    ),
    floats(5, 2),
    floats(5, 2),
    NODE_SPLITS,
    gradient=True,
)


def _metric(name: str, *inputs: Any) -> None:
    @programs(f"{name} of {len(inputs)}")
    def _made() -> Call:
        made = getattr(metrics, name)()

        def function(*given: Any) -> Any:
            made.update_state(*given)
            return made.result()

        return Call(function, inputs)


TRUE = np.array([[1], [0], [0], [1]], "float32")
WITH_UNKNOWN = np.array([[1], [np.nan], [0], [1]], "float32")
_metric("BinaryAccuracyNoNaN", WITH_UNKNOWN, floats(4, 1))
_metric("BinaryAccuracyNoNaN", WITH_UNKNOWN, floats(4, 1), floats(4, 1))
_metric("AUCNoNaN", TRUE, floats(4, 1))
_metric("BalancedBinaryAccuracyNoNaN", TRUE, floats(4, 1))
