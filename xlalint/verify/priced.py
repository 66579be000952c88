"""Judge what check says a TPU pays (XLA801, XLA802, XLA803) by what its compiler made of the programs that were run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from xlalint.finding import Finding
from xlalint.tpu.outcome import Outcome
from xlalint.tpu.statuses import COMPILES
from xlalint.verify.reached import executed, ops_at
from xlalint.verify.records import TargetReport
from xlalint.verify.spans import Span

CODES = frozenset({"XLA801", "XLA802", "XLA803"})
_ASK = "only a TPU's compiler can say: name a TPU, as in --target tpu-v5e"
# What the messages of the rules promise: the table, the bytes, the turns.
_TABLE = re.compile(r" in ([\d,]+) x (\d+): ")
_MOVED = re.compile(r"([\d.]+) (GB|MB)\b")
_TURNS = re.compile(r"body ([\d,]+) times")
_BYTES = {"MB": 1e6, "GB": 1e9}
# No more of the wasteful arrays are told.
_MOST_TOLD = 8
_PRECISIONS = {"single-precision": "f32", "half-precision": "f16"}

_Asked = tuple[TargetReport, Outcome]


class Priced(NamedTuple):
    """`is_paid` is None where nothing was compiled that could tell; `function` is whose program told it."""

    is_paid: bool | None
    evidence: str
    function: str = ""


def judged(finding: Finding, span: Span, targets: Sequence[TargetReport]) -> Priced:
    """What a TPU's compiler says of a finding about cost; the evidence is empty where nothing came to its line."""
    asked = [(target, one) for target in targets for one in target.tpu if one.status == COMPILES]
    if finding.code == "XLA802":
        return _by_products(_PRECISIONS[finding.variant], asked) if asked else Priced(None, _ASK)
    if finding.code == "XLA801" and (found := _by_copies(finding, asked)):
        return found
    here = [(target, one) for target, one in asked if executed(span, target)]
    if not here:
        is_reached = any(executed(span, target) for target in targets)
        return Priced(None, _ASK if is_reached else "")
    needed = here  # the head of a loop makes no operations of its own
    if _TURNS.search(finding.message) is None:
        needed = [each for each in here if ops_at(span, each[0]) and not span.may_be_skipped]
    if not needed:
        told = f"{here[0][0].function} compiles, but nothing that it returns needs this"
        return Priced(None, told, here[0][0].function)
    target, one = min(needed, key=lambda each: each[1].bytes_accessed)
    if finding.code == "XLA801":
        return _without_copy(target, one)
    return _by_size(finding, target, one)


def _by_products(dtype: str, asked: Sequence[_Asked]) -> Priced:
    """Of the program with most products: how many of them are of this dtype."""
    target, one = max(asked, key=lambda each: sum(count for _, count in each[1].products))
    total = sum(count for _, count in one.products)
    if not total:
        return Priced(None, f"{one.target}: there are no products in what was compiled")
    found = dict(one.products).get(dtype, 0)
    told = f"{one.target}: {found} of the {total} products of {target.function} are of {dtype}"
    return Priced(found * 2 > total, told, target.function)


def _by_copies(finding: Finding, asked: Sequence[_Asked]) -> Priced | None:
    """A copy of the table that is larger than the table, in any program."""
    named = _TABLE.search(finding.message)
    if named is None:
        return None
    shape = f"[{named[1].replace(',', '')},{named[2]}]"
    for target, one in asked:
        for waste in one.wasted:
            if shape in waste.what:
                padded = f"{waste.padded_bytes / 1e6:.0f} MB"
                told = f"{one.target}: {target.function} makes a copy of {padded} of the table ({waste.bytes / 1e6:.0f} MB)"
                return Priced(True, told, target.function)
    return None


def _without_copy(target: TargetReport, one: Outcome) -> Priced:
    if len(one.wasted) >= _MOST_TOLD:
        told = f"{one.target}: other arrays of {target.function} waste more"
        return Priced(None, told, target.function)
    told = f"{one.target} compiles {target.function} without a padded copy of the table"
    return Priced(False, told, target.function)


def _by_size(finding: Finding, target: TargetReport, one: Outcome) -> Priced:
    turns, moved = _TURNS.search(finding.message), _MOVED.search(finding.message)
    if turns is not None:
        opcode, count = one.repeated
        told = f"{one.target}: the program of {target.function} holds {opcode or 'nothing'} {count} times"
        return Priced(count >= int(turns[1].replace(",", "")), told, target.function)
    if moved is None:
        return Priced(None, "")
    told = f"{one.target}: {target.function} moves {one.bytes_accessed / 1e6:,.1f} MB"
    promised = float(moved[1]) * _BYTES[moved[2]]
    return Priced(one.bytes_accessed >= promised / 2, told, target.function)
