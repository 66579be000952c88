"""Calls of deeptrack 1.7.0: losses, graph and attention layers, embeddings."""

from __future__ import annotations

import importlib

import numpy as np
import tensorflow as tf
from deeptrack import losses
from deeptrack.models import embeddings
from deeptrack.models.gnns import layers as graphs
from program import Call, Programs

from programs.made import floats

attention = importlib.import_module("deeptrack.models.layers")
programs = Programs("deeptrack")
EDGES = np.array([[[0, 1], [1, 2], [2, 3], [3, 0], [1, 3]]] * 2, np.int32)


def _first(result):
    return result[0] if isinstance(result, (tuple, list)) else result


def add(name, make):
    programs(name)(make)


def loss(name, function, t, p):
    add(name, lambda: Call(function, [floats(*t) + 0.1, floats(*p) + 0.1], True))


loss("flatten mse", losses.flatten(tf.keras.losses.mse), (2, 3, 3), (2, 3, 3))
loss("sigmoid mse", losses.sigmoid(tf.keras.losses.mse), (2, 3), (2, 3))
loss("squared mae", losses.squared(losses.affine_consistency), (3, 6), (3, 2))
loss("abs", losses.abs(losses.affine_consistency), (3, 6), (3, 2))
loss("weighted_crossentropy", losses.weighted_crossentropy((10, 1)), (2, 4), (2, 4))
loss("affine_consistency", losses.affine_consistency, (3, 6), (3, 2))
loss("rotational_consistency", losses.rotational_consistency, (3, 6), (3, 2))
loss("size_consistency", losses.size_consistency, (3, 6), (3, 1))
loss("adjacency_consistency", losses.adjacency_consistency, (3, 6), (3, 5, 5, 3))
loss("field_affine_consistency", losses.field_affine_consistency, (5, 6), (5, 5, 5, 3))


def graph(name, make, weights=1):
    def build():
        layer = make()
        nodes, features = floats(2, 4, 8), floats(2, 5, 6)
        given = [
            nodes,
            features,
            EDGES,
            np.ones((2, 5, weights), "float32"),
            np.ones((2, 5, 2), "float32"),
        ]
        layer([tf.convert_to_tensor(i) for i in given])
        return Call(lambda *a: layer(list(a))[0], given, True)

    add(name, build)


for kind in ("MPN", "GRUMPN"):
    graph(kind, lambda kind=kind: getattr(graphs, kind)(filters=8))


def attend(name, make, *shape, **more):
    def build():
        layer = make()
        x = floats(*(shape or (2, 4, 8)))
        layer(x, **more)
        return Call(lambda v: _first(layer(v, **more)), [x], True)

    add(name, build)


attend("MultiHeadSelfAttention", lambda: attention.MultiHeadSelfAttention(number_of_heads=2))
attend(
    "MultiHeadGatedSelfAttention", lambda: attention.MultiHeadGatedSelfAttention(number_of_heads=2)
)
attend("TransformerEncoder", lambda: attention.TransformerEncoder(8, 2), training=False)


def edges():
    layer = attention.MultiHeadSelfAttention(number_of_heads=2)
    layer(floats(2, 4, 8), edges=EDGES)
    return Call(lambda v, e: layer(v, edges=e)[0], [floats(2, 4, 8), EDGES], True)


add("MultiHeadSelfAttention edges", edges)
attend("ClassToken", embeddings.ClassToken)
attend("LearnablePositionEmbs", embeddings.LearnablePositionEmbs)
attend("LearnablePositionEmbs concat", lambda: embeddings.LearnablePositionEmbs(concat=True))
attend("LearnableDistanceEmbedding", embeddings.LearnableDistanceEmbedding, 2, 4, 1)


def transformer():
    layer = graphs.GraphTransformer(fwd_mlp_dim=16, number_of_heads=2)
    layer([floats(2, 4, 8), tf.constant(EDGES)], training=False)
    return Call(lambda n, e: layer([n, e], training=False)[0], [floats(2, 4, 8), EDGES], True)


add("GraphTransformer", transformer)
