"""Printing in code that Keras traces: a TPU step may move it to the host, but a model compiled with jit_compile=True may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlalint.semantics.facts import CALL, COMPILED, Fact
from xlalint.semantics.hazards import families

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis


def settle(analysis: Analysis) -> None:
    """Say of printing in Keras code that jit_compile=True holds for it, where every model is compiled so."""
    if not analysis.drivers.asks_for_xla:
        return
    for module, facts in analysis.facts.items():
        if analysis.drivers.models_use_xla(module):
            for known in facts.by_node.values():
                known[:] = [_compiled_with_xla(fact) if _prints(fact) else fact for fact in known]


def _prints(fact: Fact) -> bool:
    """Whether a fact is about printing in what Keras traces."""
    if fact.kind != CALL or fact.detail.family != families.PRINTING or not fact.context.why:
        return False
    return fact.context.region == COMPILED and fact.context.why[0].startswith(("Keras", "Model."))


def _compiled_with_xla(fact: Fact) -> Fact:
    return fact._replace(context=fact.context._replace(jit=True))
