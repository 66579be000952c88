"""What training under a strategy is fed: how many examples each replica gets of a batch, and whether the input is made in parallel.

A strategy shares each batch out among its replicas: 8 on the hosts of most TPUs, 4 on those with one replica for two cores. What it does with
batches that cannot be shared evenly was seen with eight virtual CPUs (rules/XLA601.md).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from xlalint.semantics.facts import BATCH_SIZE, EAGER, SERIAL_INPUT, Context, Remark
from xlalint.semantics.frames import Frame
from xlalint.semantics.training.pipelines import Feed, Site
from xlalint.semantics.values import NONE, NOTHING_KNOWN

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.arguments import Arguments

# Replicas of the TPUs that one program has to itself.
_REPLICAS, _FEWER = 8, 4
# Examples per replica below which a batch is called small: a TPU works on eight rows at once.
_SMALL = 8
# What `fit` takes where nobody says.
_OF_KERAS = 32
# A project that says any of these has counted its replicas; the `per_replica_losses` of a custom loop count nothing.
_COUNTS = re.compile(
    r"num_replicas|num_cores|(replica|core|local)_batch|batch\w*_per_(replica|core)|per_(replica|core)_(batch|size)",
    re.IGNORECASE,
)
# Whatever is found holds one of these.
_OF_COUNTS = ("replica", "core", "local_batch")


class Batches:
    """Collects what training is fed, and says at the end what of it suits many replicas badly."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._sizes: dict[Site, None] = {}
        self._serial: dict[Site, None] = {}

    def saw_fit(self, feed: Feed | None, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """`model.fit(dataset)`, or `model.fit(x, y, batch_size=32)`, whose batch is the global one."""
        if feed is not None:
            self.saw_distributed(feed, frame)
            return
        given = arguments.keywords.get("batch_size", NOTHING_KNOWN)
        number = known.value if (known := given.constant()) is not None else None
        if not arguments.open_ended and _has_targets(arguments) and not frame.silent:
            if "batch_size" not in arguments.keywords or given == NONE:
                number = _OF_KERAS
        if type(number) is int and number > 0 and not frame.silent:
            self._sizes.setdefault(Site(node, frame.module, frame.function, str(number)))

    def saw_distributed(self, feed: Feed, frame: Frame) -> None:
        """A dataset whose batches go to replicas."""
        if frame.silent:
            return
        if feed.batched is not None:
            self._sizes.setdefault(feed.batched)
        if feed.serial is not None:
            self._serial.setdefault(feed.serial)

    def judge(self) -> None:
        """Keep the facts, where a TPU is in sight and nothing in the project counts its replicas."""
        if not self._analysis.saw_tpu:
            return
        for site in self._serial:
            self._keep(site, SERIAL_INPUT, Remark(site.words))
        judged = [(site, _judged(int(site.words))) for site in self._sizes]
        remarks = [(site, remark) for site, remark in judged if remark is not None]
        if not remarks:
            return
        modules = self._analysis.modules.project.modules.values()
        if any(m is not None and m.is_target and _counts_replicas(m.text) for m in modules):
            return
        for site, remark in remarks:
            self._keep(site, BATCH_SIZE, remark)

    def _keep(self, site: Site, kind: str, remark: Remark) -> None:
        frame = Frame(self._analysis, site.module, site.function, Context(EAGER, False))
        self._analysis.keep(frame, site.node, kind, NOTHING_KNOWN, remark)


def _counts_replicas(text: str) -> bool:
    # Most files hold none of these words, and finding that out is a hundred times as fast.
    lowered = text.lower()
    return any(word in lowered for word in _OF_COUNTS) and _COUNTS.search(text) is not None


def _judged(size: int) -> Remark | None:
    shares = size // _REPLICAS
    words = (("size", str(size)), ("share", str(shares)))
    if size % _FEWER:
        return Remark("uneven", (*words, ("shares", _shares(size))))
    if size % _REPLICAS:
        return Remark("uneven-on-eight", (*words, ("shares", _shares(size))))
    return Remark("small", words) if shares < _SMALL else None


def _shares(size: int) -> str:
    """How TensorFlow shares out a batch: as many as it takes, rounded up, until there are none left."""
    most = -(-size // _REPLICAS)
    full, rest = divmod(size, most)
    parts = [f"{full} get {most}"]
    if rest:
        parts.append(f"one gets {rest}")
    empty = _REPLICAS - full - bool(rest)
    if empty:
        parts.append(f"{empty} get{'s' if empty == 1 else ''} none")
    return ", ".join(parts)


def _has_targets(arguments: Arguments) -> bool:
    """`fit(x, y)`: arrays, for datasets bring their targets along."""
    return len(arguments.positional) > 1 or arguments.keywords.get("y", NONE) != NONE
