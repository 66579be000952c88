"""XLA505: what is made outside a strategy's scope, and used with the strategy."""

from __future__ import annotations

from xlalint.rules.remarks import RemarkRule
from xlalint.semantics.facts import SCOPE


class OutOfScope(RemarkRule):
    """A model, an optimizer or a metric that was made before `with strategy.scope():`."""

    code = "XLA505"
    kind = SCOPE
    of_tpus = frozenset({"on-host"})
