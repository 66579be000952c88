"""Calls of tensorcro 1.2.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorcro as cro
import tensorflow as tf
from program import Call, Programs

from programs.made import floats

programs = Programs("tensorcro")
LIMITS = tf.constant([[0.0] * 5, [1.0] * 5])
CORALS = floats(8, 5)
SUBSTRATES: dict[str, Callable[[], Any]] = {
    "uni": cro.UniformCrossover,
    "gau": cro.GaussianCrossover,
    "mask": lambda: cro.MaskedCrossover([1, 0, 1, 0, 1]),
    "mp": lambda: cro.MultipointCrossover([2, 4]),
    "blx": lambda: cro.BLXAlphaCrossover(LIMITS),
    "hs": lambda: cro.HarmonySearch(LIMITS),
    "rs": lambda: cro.RandomSearch(LIMITS),
    "ds": lambda: cro.DifferentialSearch(LIMITS),
    "mu": lambda: cro.Mutation("gaussian", stddev=0.1),
    "po": lambda: cro.Mutation("poisson", lam=0.1),
    "ga": lambda: cro.Mutation("gamma", alpha=0.1),
    "tn": lambda: cro.Mutation("truncated_normal"),
    "comp": lambda: cro.ComposedSubstrate(cro.UniformCrossover(), cro.GaussianCrossover()),
}


def add(name: str, make: Callable[[], Any]) -> None:
    programs(name)(lambda: Call(make()._call, [CORALS]))
    programs(f"{name}call")(lambda: Call(make(), [CORALS]))


for name, make in SUBSTRATES.items():
    add(name, make)


@programs("fit")
def fit() -> Call:
    reef = cro.TensorCro((4, 4), subs=[cro.UniformCrossover(), cro.GaussianCrossover()])
    return Call(lambda limits: reef._fit(_squares, limits, 2), [LIMITS.numpy()])


def _squares(corals: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(corals**2, 1)
