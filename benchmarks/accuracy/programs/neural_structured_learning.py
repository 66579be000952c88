"""Calls of Neural Structured Learning 1.4.0 (Keras 2): adversarial and graph regularization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import neural_structured_learning as nsl
import numpy as np
import tensorflow as tf
from program import Call, Programs

from programs.made import floats, integers, plain

programs = Programs("neural_structured_learning")
X, Y = floats(4, 3), integers(2, 4)


def _model() -> Any:
    return tf.keras.Sequential([tf.keras.Input((3,), name="feature"), tf.keras.layers.Dense(2)])


def _loss(labels: Any, logits: Any) -> Any:
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))


def adversarial(name: str, **options: Any) -> None:
    """A program that takes the loss at adversarial neighbors."""

    def build() -> Call:
        model = _model()
        config = nsl.configs.AdvNeighborConfig(**options)

        def call(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = _loss(y, model(x))
            neighbors, weights = nsl.lib.gen_adv_neighbor(x, loss, config, gradient_tape=tape)
            return neighbors, weights

        return Call(call, [X, Y])

    programs(f"gen_adv_neighbor {name}")(build)


adversarial("l2", adv_step_size=0.1, adv_grad_norm="l2")
adversarial("infinity", adv_step_size=0.1, adv_grad_norm="infinity")
adversarial("l1", adv_step_size=0.1, adv_grad_norm="l1")
adversarial("pgd", adv_step_size=0.1, adv_grad_norm="l2", pgd_iterations=2, pgd_epsilon=0.3)
adversarial("clip", adv_step_size=0.1, adv_grad_norm="l2", clip_value_min=0.0, clip_value_max=1.0)


def trained(name: str, make: Callable[[Any], Any], inputs: Callable[[Any, Any], Any]) -> None:
    """A program that takes a step of training with a regularized model."""

    def build() -> Call:
        model = make(_model())
        model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        model.fit(inputs(tf.constant(X), tf.constant(Y)), verbose=0) if isinstance(
            inputs(X, Y), tf.data.Dataset
        ) else None
        model.train_on_batch(inputs(tf.constant(X), tf.constant(Y)))
        return Call(lambda x, y: model.train_step(inputs(x, y))["loss"], [X, Y])

    programs(f"keras.{name}.train_step")(build)


trained(
    "AdversarialRegularization",
    lambda m: nsl.keras.AdversarialRegularization(
        m, adv_config=nsl.configs.make_adv_reg_config(0.2, 0.1)
    ),
    lambda x, y: {"feature": x, "label": y},
)
plain(
    programs,
    "lib.jensen_shannon_divergence",
    lambda x, y: nsl.lib.jensen_shannon_divergence(x, y, axis=-1),
    floats(4, 3),
    floats(4, 3),
    gradient=True,
)
plain(
    programs,
    "lib.kl_divergence",
    lambda x, y: nsl.lib.kl_divergence(x, y, axis=-1),
    floats(4, 3),
    floats(4, 3),
    gradient=True,
)
plain(
    programs,
    "lib.maximize_within_unit_norm",
    lambda x: nsl.lib.maximize_within_unit_norm(x, "l2"),
    floats(4, 3),
)
plain(
    programs,
    "lib.maximize_within_unit_norm l1",
    lambda x: nsl.lib.maximize_within_unit_norm(x, "l1"),
    floats(4, 3),
)
plain(
    programs,
    "lib.replicate_embeddings",
    lambda x, n: nsl.lib.replicate_embeddings(x, n),
    floats(3, 2),
    np.array([1, 2, 1], "int32"),
)
plain(
    programs,
    "lib.replicate_embeddings same",
    lambda x: nsl.lib.replicate_embeddings(x, 2),
    floats(3, 2),
)
plain(programs, "lib.decay_over_time", lambda x: nsl.lib.decay_over_time(x), np.int32(3))
plain(
    programs,
    "lib.pairwise_distance",
    lambda x, y: nsl.lib.pairwise_distance_wrapper(x, y, tf.ones([4, 1])),
    floats(4, 3),
    floats(4, 3),
    gradient=True,
)
plain(programs, "lib.virtual_adversarial", lambda x: nsl.lib.normalize(x, "l2"), floats(4, 3))
