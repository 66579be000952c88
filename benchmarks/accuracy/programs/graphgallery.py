"""Calls of graphgallery 0.7.2: layers of graph networks and the normalization of graphs.

Labelled with a stand-in for PyTorch.
"""

from __future__ import annotations

import graphgallery.functional.tensor.tensorflow as functional
import numpy as np
import tensorflow as tf
from graphgallery.nn.layers import tensorflow as layers
from graphgallery.nn.layers.tensorflow.conv import median
from program import Call, Programs

from programs.made import floats, layer, plain

programs = Programs("graphgallery")
X = floats(4, 3)
ADJACENCY = np.round(floats(4, 4)) + np.eye(4, dtype="float32")
SPARSE = tf.sparse.from_dense(ADJACENCY)
EDGES = np.asarray([[0, 1], [1, 2], [2, 3], [3, 0], [1, 3]], "int64")
WEIGHTS = floats(5)
NEIGHBOURS = floats(4, 5, 3)

for _name, _arguments, _inputs in (
    ("GraphConvolution", (2,), [X, SPARSE]),
    ("GraphConvAttribute", (2,), [X, SPARSE]),
    ("DenseConvolution", (2,), [X, ADJACENCY]),
    ("GraphAttention", (2,), [X, SPARSE]),
    ("SGConvolution", (2,), [X, SPARSE]),
    ("ChebyConvolution", (2, 1), [X, [SPARSE, SPARSE]]),
    ("PropConvolution", (2,), [X, SPARSE]),
    ("WaveletConvolution", (2,), [X, SPARSE, SPARSE]),
    ("GraphEdgeConvolution", (2,), [X, EDGES, WEIGHTS]),
    ("MeanAggregator", (2,), [X, NEIGHBOURS]),
    ("GCNAggregator", (2,), [X, NEIGHBOURS]),
    ("MedianAggregator", (2,), [X, NEIGHBOURS]),
    ("MedianGCNAggregator", (2,), [X, NEIGHBOURS]),
    ("GaussionConvolution_F", (2,), [X, SPARSE, SPARSE]),
    ("GaussionConvolution_D", (2,), [X, X, SPARSE, SPARSE]),
    ("Top_k_features", (2,), [X, ADJACENCY]),
    ("Gather", (), [X, np.asarray([0, 2], "int32")]),
    ("Mask", (), [X, np.asarray([True, False, True, True])]),
    ("Sample", (), [X, floats(4, 3)]),
    ("SparseConversion", (), [EDGES, WEIGHTS]),
):
    layer(programs, _name, lambda n=_name, a=_arguments: getattr(layers, n)(*a), _inputs)
layer(programs, "Laplacian", layers.Laplacian, ADJACENCY)
layer(programs, "Scale", layers.Scale, X)
plain(programs, "normalize_adj_tensor", functional.normalize_adj_tensor, ADJACENCY, gradient=True)
plain(programs, "normalize_edge_tensor", functional.normalize_edge_tensor, EDGES, WEIGHTS)
plain(
    programs,
    "normalize_edge_tensor b",
    lambda e, w: functional.normalize_edge_tensor(e, w, num_nodes=4),
    EDGES,
    WEIGHTS,
)
plain(programs, "add_selfloops_edge", functional.add_selfloops_edge, EDGES, WEIGHTS)
plain(programs, "gather", functional.gather, X, np.asarray([True, False, True, True]))
plain(programs, "gather b", functional.gather, X, np.asarray([0, 2], "int32"))


@programs("MedianConvolution")
def _median() -> Call:
    kind = next(v for k, v in vars(median).items() if k.startswith("Median"))
    made = kind(2)
    inputs = [X, np.asarray([[0, 1, 2], [1, 2, 3], [0, 2, 3], [0, 1, 3]], "int32")]
    made(inputs)
    return Call(lambda x, n: made([x, n]), inputs)
