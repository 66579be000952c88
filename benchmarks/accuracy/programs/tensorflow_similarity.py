"""Calls of TensorFlow Similarity 0.17.1: losses that mine pairs, matchers, metrics of retrieval and classification, layers."""

from __future__ import annotations

import tensorflow as tf
from program import Call, Programs
from tensorflow_similarity import (
    classification_metrics,
    distances,
    layers,
    losses,
    matchers,
    retrieval_metrics,
)

from programs.made import floats, integers, layer, plain

programs = Programs("tensorflow_similarity")
LABELS = integers(3, 12, 1)
EMBEDDINGS = floats(12, 8) - 0.5
OTHER = floats(12, 8) - 0.5

for positive in ("hard", "easy"):
    for negative in ("hard", "semi-hard", "easy"):
        mining = {"positive_mining_strategy": positive, "negative_mining_strategy": negative}
        triplet = losses.TripletLoss(distance="cosine", **mining)
        plain(
            programs,
            f"TripletLoss {positive} {negative}",
            triplet,
            LABELS,
            EMBEDDINGS,
            gradient=True,
        )
PAIRS = {
    "TripletLoss margin": losses.TripletLoss(margin=0.2),
    "PNLoss": losses.PNLoss(),
    "PNLoss margin": losses.PNLoss(margin=1.0, distance="sql2"),
    "MultiSimilarityLoss": losses.MultiSimilarityLoss(),
    "CircleLoss": losses.CircleLoss(),
    "SoftNearestNeighborLoss": losses.SoftNearestNeighborLoss(),
}
for name, loss in PAIRS.items():
    plain(programs, name, loss, LABELS, EMBEDDINGS, gradient=True)
VIEWS = {
    "Barlow": losses.Barlow(),
    "SimCLRLoss": losses.SimCLRLoss(),
    "SimSiamLoss": losses.SimSiamLoss(),
    "SimSiamLoss distance": losses.SimSiamLoss(projection_type="cosine_distance"),
    "VicReg": losses.VicReg(),
}
for name, loss in VIEWS.items():
    plain(programs, name, loss, EMBEDDINGS, OTHER, gradient=True)


@programs("XBM")
def _remembering() -> Call:
    loss = losses.XBM(losses.MultiSimilarityLoss(), memory_size=24, warmup_steps=1)
    loss(tf.constant(LABELS), tf.constant(EMBEDDINGS))
    return Call(loss, [LABELS, EMBEDDINGS], True)


for distance in distances.DISTANCES:
    plain(programs, f"distance {distance.name}", distance, EMBEDDINGS, OTHER, gradient=True)

NEIGHBOURS = integers(3, 6, 5)
APART = floats(6, 5)
for name, matcher in {
    "MatchMajorityVote": matchers.MatchMajorityVote(),
    "MatchNearest": matchers.MatchNearest(),
}.items():
    plain(programs, f"{name}.derive_match", matcher.derive_match, NEIGHBOURS, APART)


def counted(matcher: matchers.ClassificationMatch):
    """What a matcher counts at thresholds."""

    def count(labels, neighbours, apart):
        matcher.compile(distance_thresholds=tf.constant([0.3, 0.7]))
        return matcher.compute_count(labels, neighbours, apart)

    return count


plain(
    programs,
    "MatchNearest.compute_count",
    counted(matchers.MatchNearest()),
    integers(3, 6),
    NEIGHBOURS,
    APART,
)

COUNTS = [floats(4) * 10 for _ in range(4)]
for kind in ("BinaryAccuracy", "F1Score", "FalsePositiveRate", "NegativePredictiveValue"):
    metric = getattr(classification_metrics, kind)()
    plain(programs, kind, lambda *counts, metric=metric: metric.compute(*counts, 10), *COUNTS)


def retrieved(metric: retrieval_metrics.RetrievalMetric):
    """A metric of queries, of whose neighbours each matches or not."""
    return lambda labels, apart, matches: metric.compute(
        query_labels=labels, lookup_distances=apart, match_mask=matches > 0
    )


SEEN = {0: 4, 1: 4, 2: 4}
for name, metric in {
    "RecallAtK": retrieval_metrics.RecallAtK(k=3),
    "RecallAtK macro": retrieval_metrics.RecallAtK(k=3, average="macro"),
    "BNDCG": retrieval_metrics.BNDCG(k=3),
    "PrecisionAtK": retrieval_metrics.PrecisionAtK(k=3, r=SEEN),
    "MapAtK": retrieval_metrics.MapAtK(k=3, r=SEEN),
}.items():
    plain(programs, name, retrieved(metric), integers(3, 6), APART, integers(2, 6, 5))

layer(programs, "MetricEmbedding", lambda: layers.MetricEmbedding(4), EMBEDDINGS)
for p in (3.0, 0.0, float("inf"), float("-inf")):
    layer(
        programs,
        f"GeneralizedMeanPooling1D {p}",
        lambda p=p: layers.GeneralizedMeanPooling1D(p=p),
        floats(2, 6, 3) + 0.1,
    )
    layer(
        programs,
        f"GeneralizedMeanPooling2D {p}",
        lambda p=p: layers.GeneralizedMeanPooling2D(p=p),
        floats(2, 4, 4, 3) + 0.1,
    )
