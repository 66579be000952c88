"""Fixes are applied in passes, and only what does good stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType

import pytest

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes import fixpoint, proposing, writing
from xlalint.fixes.fixpoint import Outcome
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix, replace
from xlalint.project.settings import load

SOURCE = """\
import tensorflow as tf


@tf.function(jit_compile=True)
def widen(x: tf.Tensor):
    y = tf.reshape(x, [4, 2])
    if tf.rank(y) == 1 or tf.rank(x) == 3:
        y = tf.reshape(y, [1, -1])
    return y * 2.0
"""

Run = Callable[..., Outcome]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Rewrite SOURCE by a rewrite of the test's own."""

    def run_(
        rewrite: Callable[[Site], Fix | None], source: str = SOURCE, **more: object
    ) -> Outcome:
        (tmp_path / "m.py").write_text(source)
        rewrites = MappingProxyType({"XLA106": (rewrite,), "XLA101": (rewrite,)})
        monkeypatch.setattr(proposing, "by_code", lambda: rewrites)
        paths = [str(tmp_path / "m.py")]
        return fixpoint.run(paths, load(paths), (SAFE, UNSAFE), **more)  # type: ignore[arg-type]

    return run_


def reasons(outcome: Outcome) -> list[str]:
    return [item.why for item in outcome.withheld]


def test_a_fix_that_leaves_its_finding_is_withheld(run: Run) -> None:
    outcome = run(lambda site: fix(SAFE, "No.", replace(site.draft, site.node, "tf.rank(x) == 2")))
    assert (outcome.files, outcome.applied) == ((), ())
    assert reasons(outcome) == ["the finding would still be there"]


def test_a_fix_that_brings_another_finding_is_withheld(run: Run) -> None:
    def worse(site: Site) -> Fix:
        return fix(SAFE, "Worse.", replace(site.draft, site.node, "int(tf.reduce_sum(x))"))

    outcome = run(worse)
    assert outcome.files == ()
    assert reasons(outcome)[0].startswith("it would bring another finding: XLA101 ")


def test_a_fix_that_does_not_parse_is_withheld(run: Run) -> None:
    outcome = run(lambda site: fix(SAFE, "Broken.", replace(site.draft, site.node, "1 +")))
    assert outcome.files == ()
    assert reasons(outcome)[0].startswith("the result would not parse (")


def test_an_edit_of_a_place_that_is_not_there_is_withheld(run: Run) -> None:
    outcome = run(lambda site: fix(SAFE, "Lost.", Edit(Span(99, 1, 99, 2), "x")))
    assert outcome.files == ()
    assert reasons(outcome) == ["an edit of a place that is not there (no line 99, column 1)"]


TWO = SOURCE.replace(
    "if tf.rank(y) == 1 or tf.rank(x) == 3",
    "if tf.rank(y) == 1:\n        pass\n    if tf.rank(y) == 2",
)


def noted(site: Site) -> Fix:
    """Mends, and leaves a note at the end of the file: two of these cannot be made together."""
    rank = site.draft.code(site.node)[-1]
    end = Edit(Span(12, 1, 12, 1), f"# {rank}\n")
    return fix(SAFE, "Noted.", replace(site.draft, site.node, f"y.shape.rank == {rank}"), end)


def test_overlapping_fixes_take_turns(run: Run) -> None:
    outcome = run(noted, TWO)
    (file,) = outcome.files
    assert file.after == TWO.replace("tf.rank(y)", "y.shape.rank") + "# 2\n# 1\n"
    assert [item.number for item in outcome.applied] == [1, 2]
    assert not outcome.is_cut_off


def test_passes_have_an_end(run: Run) -> None:
    outcome = run(noted, TWO, most_passes=1)
    assert (len(outcome.applied), outcome.is_cut_off) == (1, True)
    assert [finding.code for finding in outcome.result.findings] == ["XLA106"]


def test_a_file_that_changes_meanwhile_is_left_alone(run: Run, tmp_path: Path) -> None:
    def mend(site: Site) -> Fix:
        return fix(SAFE, "Good.", replace(site.draft, site.node, "y.shape.rank == 1"))

    outcome = run(mend)
    path = tmp_path / "m.py"
    path.write_text(SOURCE + "\n# edited\n")
    (problem,) = writing.write(outcome.files)
    assert problem.message == "not rewritten: it has been changed meanwhile; run again"
    assert path.read_text() == SOURCE + "\n# edited\n"


def test_what_a_judge_refuses_is_not_applied(run: Run) -> None:
    def mend(site: Site) -> Fix:
        return fix(SAFE, "Good.", replace(site.draft, site.node, "y.shape.rank == 1"))

    outcome = run(mend, judge=lambda proposals: dict.fromkeys(range(len(proposals)), "refuted"))
    assert (outcome.files, reasons(outcome)) == ((), ["refuted"])
