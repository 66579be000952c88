"""Calls of OpenNMT_tf 2.32.0: decoding, losses, reducers, attention, and what trains."""

# The file has the wheel's name.
# ruff: noqa: N999

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from opennmt.layers import position, reducer, transformer
from opennmt.optimizers.utils import GradientAccumulator
from opennmt.schedules import lr_schedules
from opennmt.utils import decoding, losses
from opennmt.utils.tensor import roll_sequence
from program import Call, Programs

from programs.made import floats, integers, layer, plain

programs = Programs("opennmt")
LENGTHS, OTHER_LENGTHS = np.asarray([3, 5], "int32"), np.asarray([4, 2], "int32")
LOGITS, LABELS = floats(2, 5, 7), integers(7, 2, 5)
SEQUENCE, OTHER = floats(2, 5, 3), floats(2, 4, 3)

for name, options in (
    ("", {}),
    (" training", {"label_smoothing": 0.1, "average_in_time": True, "training": True}),
    (" outliers", {"training": True, "mask_outliers": True}),
):
    plain(
        programs,
        f"cross_entropy_sequence_loss{name}",
        lambda logits, labels, lengths, options=options: losses.cross_entropy_sequence_loss(
            logits, labels, lengths, **options
        ),
        LOGITS,
        LABELS,
        LENGTHS,
        gradient=True,
    )
plain(
    programs,
    "cross_entropy_sequence_loss weighted",
    lambda logits, labels, weights: losses.cross_entropy_sequence_loss(
        logits, labels, sequence_weight=weights, training=True
    ),
    LOGITS,
    LABELS,
    floats(2),
    gradient=True,
)
plain(
    programs,
    "cross_entropy_loss",
    lambda logits, labels: losses.cross_entropy_loss(logits, labels, 0.1, True),
    floats(3, 7),
    integers(7, 3),
    gradient=True,
)
plain(
    programs,
    "cross_entropy_loss weighted",
    lambda logits, labels, weights: losses.cross_entropy_loss(logits, labels, weight=weights),
    floats(3, 7),
    integers(7, 3),
    floats(3),
    gradient=True,
)
plain(
    programs,
    "max_margin_loss",
    losses.max_margin_loss,
    LOGITS,
    LABELS,
    LENGTHS,
    floats(2, 6, 7),
    integers(7, 2, 6),
    LENGTHS,
    gradient=True,
)
plain(programs, "roll_sequence", roll_sequence, SEQUENCE, LENGTHS, gradient=True)

plain(
    programs,
    "align_in_time",
    lambda x, lengths: reducer.align_in_time(x, tf.reduce_max(lengths)),
    SEQUENCE,
    np.asarray([6, 7], "int32"),
)
plain(
    programs,
    "pad_with_identity",
    lambda x, lengths, longest: reducer.pad_with_identity(x, lengths, longest, identity_values=1),
    SEQUENCE,
    LENGTHS,
    np.asarray([6, 5], "int32"),
)
plain(
    programs,
    "pad_n_with_identity",
    lambda x, y, n, m: reducer.pad_n_with_identity([x, y], [n, m]),
    SEQUENCE,
    OTHER,
    LENGTHS,
    OTHER_LENGTHS,
)


def _reduced(name: str, kind: Any, **options: Any) -> None:
    @programs(f"{name} sequences")
    def _reduce() -> Call:
        made = kind(**options)
        made.reduce([tf.zeros([2, 5, 3]), tf.zeros([2, 5, 3])])
        return Call(
            lambda x, y, n, m: made([x, y], sequence_length=[n, m]),
            [SEQUENCE, OTHER, LENGTHS, OTHER_LENGTHS],
        )


_reduced("SumReducer", reducer.SumReducer)
_reduced("MultiplyReducer", reducer.MultiplyReducer)
_reduced("ConcatReducer", reducer.ConcatReducer)
_reduced("ConcatReducer in time", reducer.ConcatReducer, axis=1)
_reduced("JoinReducer", reducer.JoinReducer)
_reduced("DenseReducer", reducer.DenseReducer, output_size=4)


@programs("SumReducer")
def _sum() -> Call:
    made = reducer.SumReducer()
    return Call(lambda x, y: made([x, y]), [SEQUENCE, floats(2, 5, 3)], True)


layer(
    programs,
    "SinusoidalPositionEncoder",
    position.SinusoidalPositionEncoder,
    floats(2, 5, 6),
)


@programs("SinusoidalPositionEncoder step")
def _position() -> Call:
    made = position.SinusoidalPositionEncoder()
    return Call(lambda x, i: made(x, position=i), [floats(2, 1, 6), np.int32(3)])


plain(programs, "future_mask", transformer.future_mask, LENGTHS)
plain(
    programs,
    "future_mask longest",
    lambda lengths, x: transformer.future_mask(
        lengths, maximum_length=tf.shape(x)[1], dtype=tf.float32
    ),
    LENGTHS,
    SEQUENCE,
)
plain(
    programs,
    "split_heads",
    lambda x: transformer.combine_heads(transformer.split_heads(x, 2)),
    floats(2, 5, 6),
    gradient=True,
)
for name, with_cache in (("relative_positions", False), ("relative_positions cache", True)):
    plain(
        programs,
        name,
        lambda x, with_cache=with_cache: transformer.relative_positions(
            tf.shape(x)[1], 3, with_cache=with_cache
        ),
        SEQUENCE,
    )
plain(
    programs,
    "matmul_with_relative_representations",
    lambda a, b: transformer.matmul_with_relative_representations(a, b, transpose_b=True),
    floats(2, 2, 5, 3),
    floats(5, 5, 3),
    gradient=True,
)
plain(
    programs,
    "MultiHeadAttentionReduction",
    lambda a, b: transformer.MultiHeadAttentionReduction.reduce(
        [a, b], transformer.MultiHeadAttentionReduction.AVERAGE_ALL_LAYERS
    ),
    floats(2, 2, 4, 5),
    floats(2, 2, 4, 5),
)

for name, make in (
    ("NoamDecay", lambda: lr_schedules.NoamDecay(2.0, 512, 8)),
    ("RsqrtDecay", lambda: lr_schedules.RsqrtDecay(2.0, 8)),
    ("InvSqrtDecay", lambda: lr_schedules.InvSqrtDecay(0.1, 8)),
    ("CosineAnnealing", lambda: lr_schedules.CosineAnnealing(0.1, max_step=100)),
    (
        "CosineAnnealing warm",
        lambda: lr_schedules.CosineAnnealing(0.1, max_step=100, warmup_steps=10),
    ),
    ("RNMTPlusDecay", lambda: lr_schedules.RNMTPlusDecay(0.1, 2)),
    (
        "ScheduleWrapper",
        lambda: lr_schedules.ScheduleWrapper(
            lr_schedules.NoamDecay(2.0, 512, 8),
            step_start=2,
            step_duration=2,
            minimum_learning_rate=1e-4,
        ),
    ),
):
    plain(programs, name, lambda step, make=make: make()(step), np.int64(5))


@programs("GradientAccumulator")
def _accumulation() -> Call:
    accumulate = GradientAccumulator()
    accumulate([tf.zeros([3, 2]), tf.zeros([2])])

    def function(first: Any, second: Any) -> Any:
        accumulate.reset()
        accumulate([first, second])
        accumulate([first, second])
        return accumulate.gradients, accumulate.step

    return Call(function, [floats(3, 2), floats(2)])


START = np.asarray([1, 1], "int32")
EMBEDDING, PROJECTION = floats(9, 4), floats(4, 9)


def _decoded(name: str, memory: Any, with_attention: bool = False, **options: Any) -> None:
    """A search over a model of one matrix, which remembers its last state."""

    def logits(symbols: Any, step: Any, state: Any) -> Any:
        hidden = tf.gather(EMBEDDING, symbols) + state["memory"]
        outputs = tf.matmul(hidden, PROJECTION), {"memory": hidden}
        return (*outputs, tf.nn.softmax(hidden)) if with_attention else outputs

    def function(start: Any, memory: Any) -> Any:
        result = decoding.dynamic_decode(
            logits,
            start,
            end_id=2,
            initial_state={"memory": memory},
            maximum_iterations=5,
            attention_history=with_attention,
            attention_size=4 if with_attention else None,
            **options,
        )
        return result.ids, result.lengths, result.log_probs

    plain(programs, f"dynamic_decode {name}", function, START, memory)


_decoded("greedy", floats(2, 4))
_decoded("greedy attention", floats(2, 4), True, minimum_iterations=2)
_decoded(
    "beam",
    floats(6, 4),
    decoding_strategy=decoding.BeamSearch(3, length_penalty=0.6),
)
_decoded(
    "beam coverage",
    floats(6, 4),
    True,
    decoding_strategy=decoding.BeamSearch(3, coverage_penalty=0.2),
)
_decoded(
    "beam tflite",
    floats(6, 4),
    decoding_strategy=decoding.BeamSearch(3, tflite_output_size=5),
    tflite_output_size=5,
)
plain(
    programs,
    "RandomSampler best",
    lambda scores: decoding.RandomSampler(from_top_k=1, temperature=0.8)(scores),
    floats(2, 9),
)
plain(
    programs,
    "RandomSampler",
    lambda scores: tf.shape(decoding.RandomSampler()(scores, 2)[0]),
    floats(2, 9),
)
plain(programs, "BestSampler", lambda scores: decoding.BestSampler()(scores, 3), floats(2, 9))
plain(
    programs,
    "_gather_tree",
    lambda steps, parents, lengths: decoding._gather_tree(steps, parents, lengths, 2),
    integers(9, 5, 2, 3),
    integers(3, 5, 2, 3),
    LENGTHS,
)
plain(
    programs,
    "_gather_tree_from_array",
    decoding._gather_tree_from_array,
    floats(5, 6, 4),
    integers(3, 5, 2, 3),
    integers(5, 2, 3),
)
plain(
    programs,
    "_lengths_from_ids",
    lambda ids: decoding._lengths_from_ids(ids, 2),
    integers(4, 2, 3, 5),
)
