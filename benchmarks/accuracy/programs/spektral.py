"""Calls of spektral 1.3.1 (tf_keras): graph layers, pooling and operations on sparse adjacency."""

from __future__ import annotations

import numpy as np
import spektral
import tensorflow as tf
from program import Call, Programs
from spektral.layers import ops

from programs.made import floats, integers, layer, plain

programs = Programs("spektral")

NODES = floats(6, 4)
DENSE = (floats(6, 6) > 0.5).astype("float32")
EDGES = tf.sparse.from_dense(tf.constant(DENSE))
SEGMENTS = np.array([0, 0, 0, 1, 1, 1], "int32")

_ON_BOTH = ("GCNConv", "ChebConv", "GATConv", "APPNPConv", "ARMAConv", "GCSConv", "GTVConv")
_ON_SPARSE = ("GraphSageConv", "GINConv", "TAGConv", "GeneralConv", "AGNNConv", "EdgeConv")
for _name in (*_ON_BOTH, *_ON_SPARSE):
    for _kind, _edges in (("dense", DENSE), ("sparse", EDGES)):
        if _kind == "sparse" or _name in _ON_BOTH:
            layer(
                programs,
                f"layers.{_name} {_kind}",
                lambda n=_name: getattr(spektral.layers, n)(4),
                [NODES, _edges],
            )
layer(
    programs, "layers.DiffusionConv dense", lambda: spektral.layers.DiffusionConv(4), [NODES, DENSE]
)

for _name in ("GlobalSumPool", "GlobalAvgPool", "GlobalMaxPool"):
    layer(
        programs,
        f"layers.{_name}",
        lambda n=_name: getattr(spektral.layers, n)(),
        [NODES, SEGMENTS],
    )
layer(
    programs,
    "layers.GlobalAttentionPool",
    lambda: spektral.layers.GlobalAttentionPool(4),
    [NODES, SEGMENTS],
)
layer(
    programs,
    "layers.GlobalAttnSumPool",
    lambda: spektral.layers.GlobalAttnSumPool(),
    [NODES, SEGMENTS],
)
layer(programs, "layers.DiffPool", lambda: spektral.layers.DiffPool(3), [NODES, DENSE])
layer(
    programs,
    "layers.DiffPool sparse",
    lambda: spektral.layers.DiffPool(3),
    [NODES, EDGES, SEGMENTS],
)
layer(programs, "layers.MinCutPool", lambda: spektral.layers.MinCutPool(3), [NODES, DENSE])
layer(
    programs,
    "layers.MinCutPool segments",
    lambda: spektral.layers.MinCutPool(3),
    [NODES, DENSE, SEGMENTS],
)
layer(programs, "layers.DMoNPool", lambda: spektral.layers.DMoNPool(3), [NODES, DENSE])
layer(programs, "layers.DMoNPool sparse", lambda: spektral.layers.DMoNPool(3), [NODES, EDGES])
layer(
    programs, "layers.JustBalancePool", lambda: spektral.layers.JustBalancePool(3), [NODES, DENSE]
)
layer(
    programs,
    "layers.AsymCheegerCutPool",
    lambda: spektral.layers.AsymCheegerCutPool(3),
    [NODES, DENSE],
)
layer(programs, "layers.TopKPool", lambda: spektral.layers.TopKPool(0.5), [NODES, EDGES, SEGMENTS])
layer(programs, "layers.SAGPool", lambda: spektral.layers.SAGPool(0.5), [NODES, EDGES, SEGMENTS])
layer(programs, "layers.LaPool", lambda: spektral.layers.LaPool(), [NODES, EDGES, SEGMENTS])
layer(programs, "layers.MinkowskiProduct", lambda: spektral.layers.MinkowskiProduct(), NODES)
layer(programs, "layers.InnerProduct", lambda: spektral.layers.InnerProduct(), NODES)
programs("layers.SparseDropout")(
    lambda: Call(lambda a: spektral.layers.SparseDropout(0.5)(a, training=True).values, [EDGES])
)
plain(programs, "ops.degrees sparse", lambda a: ops.degrees(a), EDGES)
plain(programs, "ops.degrees dense", lambda a: ops.degrees(a), DENSE)
plain(programs, "ops.dot sparse dense", lambda a, b: ops.dot(a, b), EDGES, NODES)
plain(programs, "ops.repeat", lambda x, r: ops.repeat(x, r), floats(4), integers(3, 4) + 1)
plain(programs, "ops.segment_top_k", lambda x, i: ops.segment_top_k(x, i, 0.5), floats(6), SEGMENTS)
plain(
    programs,
    "ops.disjoint_signal_to_batch",
    lambda x, i: ops.disjoint_signal_to_batch(x, i),
    NODES,
    SEGMENTS,
)
plain(
    programs,
    "ops.disjoint_adjacency_to_batch",
    lambda a, i: ops.disjoint_adjacency_to_batch(a, i),
    EDGES,
    SEGMENTS,
)
plain(programs, "ops.add_self_loops", lambda a: ops.add_self_loops(a).values, EDGES)
plain(
    programs, "ops.add_self_loops_indices", lambda i: ops.add_self_loops_indices(i), EDGES.indices
)
plain(
    programs,
    "ops.boolean_mask_sparse_square",
    lambda a, k: ops.boolean_mask_sparse_square(a, k)[0].values,
    EDGES,
    floats(6) > 0.3,
)
plain(
    programs,
    "ops.unsorted_segment_softmax",
    lambda x, i: ops.unsorted_segment_softmax(x, i, 2),
    NODES,
    SEGMENTS,
)
plain(programs, "ops.scatter_mean", lambda x, i: ops.scatter_mean(x, i, 2), NODES, SEGMENTS)
