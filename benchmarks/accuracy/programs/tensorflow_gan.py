"""Calls of TensorFlow GAN 2.1.0 (Keras 2): distances computed in several blocks, as for more samples than one block takes."""

from __future__ import annotations

from program import Programs
from tensorflow_gan.python.eval import classifier_metrics

from programs.made import floats, plain

programs = Programs("tensorflow_gan")

plain(
    programs,
    "eval.kernel_classifier_distance in blocks",
    lambda real, generated: classifier_metrics.kernel_classifier_distance_from_activations(
        real, generated, max_block_size=4
    ),
    floats(7, 3),
    floats(9, 3),
)
