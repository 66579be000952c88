"""What running a fix against the code that it replaces showed. Plain data: `verify` does the running."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PROVEN = "proven"
REFUTED = "refuted"
NOT_RUNNABLE = "not-runnable"


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Inputs for which the rewritten code does something else. All as text for a reader.

    `where` says what differs: `outputs`, `gradients` or `variables`; `how` under what: `eagerly` or `under XLA`.
    """

    inputs: str
    original: str
    rewritten: str
    where: str
    how: str

    @property
    def lines(self) -> tuple[str, ...]:
        return (
            f"with {self.inputs}",
            f"the original gives {self.original}",
            f"the rewrite gives {self.rewritten} {self.how}",
        )

    def as_dict(self) -> dict[str, str]:
        return {
            "inputs": self.inputs,
            "original": self.original,
            "rewritten": self.rewritten,
            "where": self.where,
            "how": self.how,
        }


@dataclass(frozen=True, slots=True)
class Proof:
    """`evidence` is one sentence: what was compared, or why nothing could be. A refuted fix may have a counterexample."""

    status: str
    evidence: str
    counterexample: Counterexample | None = None

    @property
    def is_proven(self) -> bool:
        return self.status == PROVEN

    @property
    def lines(self) -> tuple[str, ...]:
        """The evidence, and the counterexample, for a report."""
        return (self.evidence, *(self.counterexample.lines if self.counterexample else ()))

    def as_dict(self) -> dict[str, Any]:
        found = self.counterexample
        return {
            "status": self.status,
            "evidence": self.evidence,
            "counterexample": found.as_dict() if found is not None else None,
        }


def proof_from(record: dict[str, Any]) -> Proof:
    """The proof of what `as_dict` gave."""
    found = record["counterexample"]
    return Proof(
        record["status"],
        record["evidence"],
        Counterexample(**found) if found is not None else None,
    )
