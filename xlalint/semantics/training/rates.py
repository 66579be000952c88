"""Learning rates that stay what they were for one device, while the batch grows with the replicas."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from xlalint.semantics.facts import EAGER, LEARNING_RATE, Context, Remark
from xlalint.semantics.frames import Frame
from xlalint.semantics.names import api_name
from xlalint.semantics.training.pipelines import Site
from xlalint.semantics.values import NOTHING_KNOWN

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.arguments import Arguments

# `BATCH_SIZE = 16 * strategy.num_replicas_in_sync`, in either order.
_BATCH_GROWS = re.compile(
    r"batch\w*\s*=[^=\n]*(\*\s*[\w.]*num_replicas_in_sync|num_replicas_in_sync\s*\*)", re.IGNORECASE
)
# A project that says any of these has thought of the rate.
_SEES_TO_IT = re.compile(
    r"warm_?up|schedul|decay|plateau|(?<![a-z])(lr|rate)s?\b[^\n]*replica|replica[^\n]*\W(lr|learning_rate|rate)\b",
    re.IGNORECASE,
)
# Optimizers that divide the gradient by its size (Adam and its like) often train well with the rate of one device.
_REPORTED = "keras.optimizers.SGD"


class Rates:
    """Collects optimizers with a rate that is written down, and says at the end whether the batch grows without it."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._rates: dict[Site, None] = {}

    def saw_optimizer(self, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """`tf.keras.optimizers.SGD(0.1)`."""
        if frame.silent or api_name(name) != _REPORTED:
            return
        given = arguments.keywords.get("learning_rate", arguments.keywords.get("lr"))
        if given is None:
            given = next(iter(arguments.positional), NOTHING_KNOWN)
        known = given.constant()
        if known is not None and type(known.value) is float:
            self._rates.setdefault(Site(node, frame.module, frame.function, str(known.value)))

    def judge(self) -> None:
        """Keep the facts, where a TPU is in sight."""
        if not self._rates or not self._analysis.saw_tpu:
            return
        modules = self._analysis.modules.project.modules.values()
        texts = [m.text for m in modules if m is not None and m.is_target]
        if not any(_BATCH_GROWS.search(text) for text in texts):
            return
        if any(_SEES_TO_IT.search(text) for text in texts):
            return
        for site in self._rates:
            frame = Frame(self._analysis, site.module, site.function, Context(EAGER, False))
            remark = Remark("unscaled", (("rate", site.words),))
            self._analysis.keep(frame, site.node, LEARNING_RATE, NOTHING_KNOWN, remark)
