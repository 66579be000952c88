"""Calls of wtte 1.1.1: its losses of times to events."""

from __future__ import annotations

import numpy as np
from program import Call, Programs
from wtte import wtte

from programs.made import floats, plain

programs = Programs("wtte")
TRUE = np.stack([floats(3, 4) + 0.5, np.round(floats(3, 4))], axis=-1)
PREDICTED = floats(3, 4, 2) + 0.5
for _kind in ("discrete", "continuous"):
    for _clip in (True, False):

        @programs(f"Loss {_kind} {_clip}")
        def _loss(kind: str = _kind, clip: bool = _clip) -> Call:
            made = wtte.Loss(kind, reduce_loss=clip, clip_prob=1e-5 if clip else None)
            return Call(
                lambda true, predicted: made.loss_function(true, predicted), [TRUE, PREDICTED], True
            )


plain(programs, "output_lambda", wtte.output_lambda, PREDICTED, gradient=True)
plain(
    programs,
    "output_lambda b",
    lambda x: wtte.output_lambda(x, scalefactor=0.5, alpha_kernel_scalefactor=2.0),
    PREDICTED,
)
plain(
    programs,
    "loglik_continuous_conditional_correction",
    wtte.loglik_continuous_conditional_correction,
    *(floats(3, 4) + 0.5 for _ in range(4)),
)
plain(programs, "activation", lambda x: wtte.OuputActivation().activation(x), PREDICTED)
