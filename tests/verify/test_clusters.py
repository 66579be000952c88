"""Which process of a cluster is to blame, by what each said before it ended."""

from __future__ import annotations

from typing import Any

import pytest

from xlalint.isolation.outcome import Outcome
from xlalint.verify import clusters
from xlalint.verify.clusters import Member
from xlalint.verify.jobs import Job

LOST = "UnavailableError: Collective ops is aborted by: Socket closed"
BROKEN = "IndexError: list index out of range"


def member(index: int, ended: int, said: str = "", *, died: bool = False) -> Member:
    failure = {"message": said} if said else None
    status = "failed" if said else "ended"
    told: dict[str, Any] = {"kind": "training", "status": status, "failure": failure}
    outcome = Outcome(
        "exit" if died else "ok", 7 if died else 0, None, () if died else (told,), 1.0, 100, "", ""
    )
    return Member(Job("script", "", "", (), task=f"worker:{index}"), outcome, ended, False)


@pytest.mark.parametrize(
    ("found", "guilty"),
    [
        # Both had ended when somebody looked: the order says nothing.
        ([member(0, 0, LOST), member(1, 1, died=True)], 1),
        ([member(0, 0, LOST), member(1, 1, BROKEN)], 1),
        ([member(0, 1, LOST), member(1, 0, died=True)], 1),
        ([member(0, 0, BROKEN), member(1, 1, LOST)], 0),
        ([member(0, 1, BROKEN), member(1, 0, BROKEN)], 0),
        ([member(0, 1, LOST), member(1, 0, LOST)], 0),
        ([member(0, 0, LOST), member(1, 1)], 0),
        ([member(0, 0), member(1, 1)], None),
    ],
)
def test_who_lost_another_is_not_to_blame(found: list[Member], guilty: int | None) -> None:
    cause = clusters.cause(found)
    assert (None if cause is None else found.index(cause)) == guilty
