"""benchmarks/rewritings: programs rewritten in ways that keep their meaning keep their findings."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import libcst as cst
import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
FIXTURES = CHECKOUT / "fixtures"

# One way of each kind, and fixtures in which each of them has something to do.
REWRITINGS = [
    "keyword-arguments",
    "whole-package-imported",
    "named-results",
    "through-a-helper",
    "through-a-named-tuple",
    "compiled-by-a-call",
    "as-methods",
    "arguments-in-a-dictionary",
    "imported-relatively",
    "imported-as-a-short-name",
]
SAMPLE = [
    "XLA101/flagged_random_augmentation.py",
    "XLA105/flagged_attributes_and_methods.py",
    "XLA202/flagged_returned_from_helpers.py",
    "XLA203/flagged_class_counts.py",
    "XLA204/flagged_through_calls_and_attributes.py",
    "XLA204/near_reductions.py",
    "XLA401/near_supported_operations.py",
]


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The benchmark's modules."""
    monkeypatch.syspath_prepend(str(CHECKOUT))
    before = set(sys.modules)
    from benchmarks.rewritings import compare, kinds, programs, run

    class Room:
        compare_, kinds_, programs_, run_ = compare, kinds, programs, run

    yield Room
    for name in set(sys.modules) - before:
        if name.startswith("benchmarks."):
            del sys.modules[name]


@pytest.mark.parametrize("name", REWRITINGS)
def test_a_rewriting_changes_no_findings(name: str, room: Any) -> None:
    (rewriting,) = [r for r in room.kinds_.ALL if room.kinds_.name_of(r) == name]
    outcome = room.run_.run([FIXTURES / path for path in SAMPLE], [rewriting])[name]
    assert outcome.programs > 0
    assert outcome.differences == []


def test_findings_that_a_rewriting_takes_away_or_adds_are_told(room: Any) -> None:
    def other_meaning(program: cst.Module) -> cst.Module:
        return cst.parse_module(
            program.code.replace("tf.boolean_mask(", "tf.multiply(").replace("[-1]", "[0]")
        )

    path = FIXTURES / "XLA204/flagged_through_calls_and_attributes.py"
    outcome = room.run_.run([path], [other_meaning])["other-meaning"]
    ((name, changed),) = outcome.differences
    assert name == "XLA204/flagged_through_calls_and_attributes.py"
    assert {(f.code, f.severity) for f in changed.lost} >= {
        ("XLA204", "error"),
        ("XLA201", "warning"),
    }


def test_a_difference_is_told_by_the_lines_of_the_fixture(room: Any) -> None:
    def pushed_down(program: cst.Module) -> cst.Module:
        return cst.parse_module('"""One more line."""\n\n' + program.code)

    path = FIXTURES / "XLA204/flagged_through_calls_and_attributes.py"
    outcome = room.run_.run([path], [pushed_down])["pushed-down"]
    assert outcome.programs == 1
    assert outcome.differences == []


def test_every_rewriting_has_a_name_and_says_what_it_does(room: Any) -> None:
    names = [room.kinds_.name_of(rewriting) for rewriting in room.kinds_.ALL]
    assert len(set(names)) == len(names)
    assert all(rewriting.__doc__ for rewriting in room.kinds_.ALL)


def test_numbers_stand_on_every_line_of_code_and_comments_that_check_reads_stay(room: Any) -> None:
    text = 'x = 1  # expect: XLA101\n\ny = (\n    2,\n)  # noqa: XLA101\nz = """\n  3"""\n'
    made = room.programs_.numbered(text)
    assert made == (
        'x = 1  #@1\n\ny = (  #@3\n    2,  #@4\n)  # noqa: XLA101  #@5\nz = """\n  3"""  #@7\n'
    )
    assert room.programs_.numbers(made) == {1: 1, 3: 3, 4: 4, 5: 5, 7: 7}
