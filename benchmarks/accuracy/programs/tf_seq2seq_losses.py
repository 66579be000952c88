"""Calls of tf_seq2seq_losses 0.3.0: CTC losses, second derivatives, and the tools below them."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from program import Programs
from tf_seq2seq_losses import classic_ctc_loss, simplified_ctc_loss, tools

from programs.made import floats, integers, plain

programs = Programs("tf_seq2seq_losses")
LABELS, LOGITS = np.asarray([[1, 2, 2], [3, 1, 0]], "int32"), floats(2, 6, 5)
LENGTHS = np.asarray([3, 2], "int32"), np.asarray([6, 5], "int32")

for name, loss in (("classic", classic_ctc_loss), ("simplified", simplified_ctc_loss)):
    plain(programs, f"{name}_ctc_loss", loss, LABELS, LOGITS, *LENGTHS, gradient=True)
plain(
    programs,
    "classic_ctc_loss last",
    lambda *inputs: classic_ctc_loss(*inputs, blank_index=4),
    LABELS,
    LOGITS,
    *LENGTHS,
    gradient=True,
)


def _second_derivative(labels: Any, logits: Any, label_length: Any, logit_length: Any) -> Any:
    with tf.GradientTape() as outer:
        outer.watch(logits)
        with tf.GradientTape() as inner:
            inner.watch(logits)
            loss = tf.reduce_sum(classic_ctc_loss(labels, logits, label_length, logit_length))
        gradient = inner.gradient(loss, logits)
    return outer.gradient(gradient, logits)


plain(programs, "classic_ctc_loss twice", _second_derivative, LABELS, LOGITS, *LENGTHS)
plain(programs, "logsumexp", tools.logsumexp, floats(3, 4), floats(3, 4), gradient=True)
plain(programs, "subexp", tools.subexp, floats(3, 4), floats(3, 4), gradient=True)
plain(
    programs,
    "unsorted_segment_logsumexp",
    lambda data, ids: tools.unsorted_segment_logsumexp(data, ids, 4),
    floats(6, 3),
    integers(4, 6),
    gradient=True,
)
plain(programs, "pad_until", lambda x: tools.pad_until(x, 7, 1), floats(3, 4))
plain(
    programs,
    "pad_until longest",
    lambda x, lengths: tools.pad_until(x, tf.reduce_max(lengths), 1, 1.0),
    floats(3, 4),
    np.asarray([5, 6], "int32"),
)
plain(programs, "insert_zeros", tools.insert_zeros, integers(9, 2, 5), integers(2, 2, 5) > 0)
plain(
    programs,
    "unfold",
    lambda x, steps: tools.unfold(x, lambda y, i: y * steps[i], 4, 1, x.shape),
    floats(3),
    floats(4),
)
plain(
    programs,
    "unfold back",
    lambda x, steps: tools.unfold(x, lambda y, i: y * steps[i], tf.shape(steps)[0], -1, x.shape),
    floats(3),
    floats(4),
)
plain(
    programs,
    "reduce_max_with_default",
    tools.reduce_max_with_default,
    floats(3),
    np.float32(0),
)
plain(programs, "smart_transpose", lambda x: tools.smart_transpose(x, [1, 0]), floats(2, 3, 4))
plain(programs, "smart_reshape", lambda x: tools.smart_reshape(x, [6, None]), floats(6, 3, 4))
plain(programs, "expand_many_dims", lambda x: tools.expand_many_dims(x, [0, 2]), floats(2, 3))
