"""Calls of m3gnet 0.2.4 (Keras 3): functions and layers of graph networks, on two crystals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from m3gnet import layers, utils
from m3gnet.graph import Index, get_pair_vector_from_graph, tf_compute_distance_angle
from program import Call, Programs

from programs.made import floats, integers, layer, plain

programs = Programs("m3gnet")
# Two and three things, as counts and as the number of the crystal of each.
COUNTS = np.array([2, 3], "int32")
SEGMENTS = np.array([0, 0, 1, 1, 1], "int32")
DISTANCES = floats(5) + 0.5
CENTERS = np.linspace(0, 5, 6).astype("float32")


def _of_lengths(
    name: str, function: Callable[..., Any], *inputs: Any, gradient: bool = True
) -> None:
    """A program with inputs whose lengths belong together."""
    programs(name)(lambda: Call(function, inputs, gradient, check_shape=False))


for _name in ("get_segment_indices_from_n", "get_range_indices_from_n"):
    _of_lengths(_name, getattr(utils, _name), COUNTS, gradient=False)
_of_lengths("repeat_with_n", utils.repeat_with_n, floats(2, 4), COUNTS)
plain(programs, "get_length", utils.get_length, floats(5, 3), gradient=True)
for _name in ("unsorted_segment_softmax", "unsorted_segment_fraction"):
    _of_lengths(
        _name,
        lambda data, segments, _name=_name: getattr(utils, _name)(data, segments, 2),
        floats(5),
        SEGMENTS,
    )
_of_lengths(
    "unsorted_segment_softmax weighted",
    lambda data, segments, weights: utils.unsorted_segment_softmax(data, segments, 2, weights),
    floats(5),
    SEGMENTS,
    floats(5),
)
plain(
    programs,
    "spherical_bessel_smooth",
    lambda r: utils.spherical_bessel_smooth(r, 5.0, 4),
    DISTANCES,
    gradient=True,
)
plain(
    programs,
    "SphericalBesselFunction.rbf_j0",
    lambda r: utils.SphericalBesselFunction.rbf_j0(r, 5.0, 3),
    DISTANCES,
    gradient=True,
)
plain(programs, "Gaussian", utils.Gaussian(CENTERS, 0.5), DISTANCES, gradient=True)
for _phi, _columns in ((True, 4), (False, 2)):
    plain(
        programs,
        f"combine_sbf_shf {_phi}",
        lambda radial, angular, _phi=_phi: utils.combine_sbf_shf(
            radial, angular, max_n=2, max_l=2, use_phi=_phi
        ),
        floats(5, 4),
        floats(5, _columns),
        gradient=True,
    )
for _name in ("polynomial", "cosine"):
    plain(
        programs,
        _name,
        lambda r, _name=_name: getattr(layers, _name)(r, 0.8),
        floats(5),
        gradient=True,
    )
layer(programs, "MLP", lambda: layers.MLP([8, 4]), floats(5, 3))
layer(programs, "GatedMLP", lambda: layers.GatedMLP([8, 4]), floats(5, 3))
layer(programs, "Embedding", lambda: layers.Embedding(10, 4), integers(9, 5, 1))

# Features of atoms, bonds and crystals, positions, the atoms of each bond, the bonds of each
# angle, and how many atoms and bonds each crystal has.
CRYSTALS = [
    floats(5, 4),
    floats(6, 4),
    floats(2, 4),
    floats(5, 3),
    np.array([[0, 1], [1, 0], [2, 3], [3, 2], [3, 4], [4, 3]], "int32"),
    np.array([[3, 4], [4, 3]], "int32"),
    COUNTS,
    np.array([2, 4], "int32"),
]


def _as_list(features: list[Any], pairs: Any, triples: Any, *counts: Any) -> list[Any]:
    """The crystals as MaterialGraph.as_list gives them."""
    offsets, lattices = tf.zeros([6, 3]), tf.eye(3, batch_shape=[2])
    bond_weights, lengths, theta, phi = tf.ones([6, 1]), tf.ones([2]), tf.ones([2]), tf.zeros([2])
    triple_counts = [tf.constant(x) for x in ([0, 0, 0, 1, 1, 0], [0, 0, 0, 2, 0], [0, 2])]
    return [
        *features,
        pairs,
        offsets,
        *counts,
        bond_weights,
        lattices,
        triples,
        lengths,
        theta,
        phi,
        *triple_counts,
    ]


def _of_graph(name: str, make: Callable[[], Any], *places: int) -> None:
    """A program of what takes a graph; with `places`, of these parts of the graph that it gives."""

    @programs(name)
    def _made() -> Call:
        made = make()

        def call(*parts: Any) -> Any:
            given = made(_as_list(list(parts[:4]), *parts[4:]))
            return [given[i] for i in places] if places else given

        call(*[tf.convert_to_tensor(x) for x in CRYSTALS])
        return Call(call, CRYSTALS, True, check_shape=False)


ATOMS, BONDS, STATES = Index.ATOMS, Index.BONDS, Index.STATES
_of_graph(
    "tf_compute_distance_angle",
    lambda: tf_compute_distance_angle,
    BONDS,
    Index.BOND_WEIGHTS,
    Index.TRIPLE_BOND_LENGTHS,
    Index.THETA,
)
_of_graph("get_pair_vector_from_graph", lambda: get_pair_vector_from_graph)
for _name in ("PairDistance", "PairVector", "AtomReduceState"):
    _of_graph(_name, lambda _name=_name: getattr(layers, _name)())
_of_graph("ConcatAtoms", lambda: layers.ConcatAtoms([8, 4]), BONDS)
_of_graph("GatedAtomUpdate", lambda: layers.GatedAtomUpdate([8, 4]), ATOMS)
_of_graph(
    "ConcatBondAtomState",
    lambda: layers.ConcatBondAtomState(layers.MLP([8, 4]), None, layers.AtomReduceState()),
    STATES,
)


def _interaction() -> Callable[..., Any]:
    made = layers.ThreeDInteraction(layers.MLP([4]), layers.GatedMLP([4]))
    return lambda crystals: made(crystals, tf.ones([2, 4]), tf.ones([6]))


_of_graph("ThreeDInteraction", _interaction, BONDS)
_of_graph(
    "GraphNetworkLayer",
    lambda: layers.GraphNetworkLayer(
        layers.ConcatAtoms([8, 4]), layers.GatedAtomUpdate([8, 4]), layers.StateNetwork()
    ),
    ATOMS,
    BONDS,
    STATES,
)
_of_graph(
    "PairRadialBasisExpansion",
    lambda: layers.PairRadialBasisExpansion("Gaussian", centers=CENTERS, width=0.5),
    BONDS,
    Index.BOND_WEIGHTS,
)
for _method, _field in (("mean", "atoms"), ("sum", "atoms"), ("max", "atoms"), ("mean", "bonds")):
    _of_graph(
        f"ReduceReadOut {_method} {_field}",
        lambda _method=_method, _field=_field: layers.ReduceReadOut(_method, _field),
    )
_of_graph("Set2Set", lambda: layers.Set2Set(4, 2, "atoms"))
_of_graph("WeightedReadout", lambda: layers.WeightedReadout([8, 4]))
_of_graph(
    "MultiFieldReadout",
    lambda: layers.MultiFieldReadout(
        layers.ReduceReadOut("mean", "bonds"), layers.ReduceReadOut("mean", "atoms")
    ),
)
