"""Calls of emgraph 1.0.0rc1: losses over scores, corrupted triples, and how models score triples.

Labelled with beside pydantic 1.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from emgraph import losses, models
from emgraph.evaluation import protocol
from emgraph.regularizers import LPRegularizer
from program import Programs

from programs.made import floats, integers, plain

programs = Programs("emgraph")
TRIPLES = np.asarray([[0, 0, 1], [2, 1, 3], [1, 0, 4], [4, 1, 0]], "int32")
for _kind in (
    losses.PairwiseLoss,
    losses.AbsoluteMarginLoss,
    losses.NLLLoss,
    losses.SelfAdversarialLoss,
    losses.NLLMulticlass,
):
    plain(
        programs,
        f"{_kind.__name__}.apply",
        lambda good, bad, _kind=_kind: _kind(2).apply(good, bad),
        floats(4),
        floats(8 if _kind in (losses.SelfAdversarialLoss, losses.NLLMulticlass) else 4),
        gradient=True,
    )
for _side in ("s,o", "s+o", "s", "o"):
    plain(
        programs,
        f"generate_corruptions_for_eval {_side}",
        lambda x, entities, _side=_side: protocol.generate_corruptions_for_eval(x, entities, _side),
        TRIPLES,
        np.arange(5, dtype="int32"),
    )
for _side in ("s+o", "s", "o"):
    for _size in (0, 5):
        plain(
            programs,
            f"generate_corruptions_for_fit {_side} {_size}",
            lambda x, _side=_side, _size=_size: protocol.generate_corruptions_for_fit(
                x, eta=2, corrupt_side=_side, entities_size=_size, rnd=1
            ),
            TRIPLES,
        )
plain(
    programs,
    "generate_corruptions_for_fit listed",
    lambda x, entities: protocol.generate_corruptions_for_fit(
        x, entities_list=entities, eta=2, corrupt_side="s+o", rnd=1
    ),
    TRIPLES,
    integers(5, 6),
)
for _kind in (models.TransE, models.DistMult, models.ComplEx, models.HolE):
    plain(
        programs,
        f"{_kind.__name__}._fn",
        lambda s, p, o, _kind=_kind: _kind(k=4)._fn(s, p, o),
        floats(4, 8),
        floats(4, 8),
        floats(4, 8),
        gradient=True,
    )
plain(
    programs,
    "LPRegularizer.apply",
    lambda x, y: LPRegularizer({"lambda": 0.1, "p": 2}).apply([x, y]),
    floats(4, 8),
    floats(3, 8),
    gradient=True,
)
plain(
    programs,
    "clip_before_exp",
    lambda x: losses.utils.clip_before_exp(tf.convert_to_tensor(x)),
    floats(4),
)
