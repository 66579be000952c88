"""What holds of fixes whatever the program: the result parses, keeps its comments, changes nothing else, and is final."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.fixes.programs import made
from xlalint.fixes import fixpoint
from xlalint.fixes.applying import Lines, applied, changes_of
from xlalint.fixes.fitting import fitted
from xlalint.fixes.fixpoint import Outcome
from xlalint.fixes.site import SAFE, UNSAFE
from xlalint.project import settings
from xlalint.project.line_length import line_length

CHECKOUT = Path(__file__).resolve().parents[2]
BOTH = (SAFE, UNSAFE)
DETERMINISTIC = {"derandomize": True, "database": None, "deadline": None}
PROGRAMS = sorted((CHECKOUT / "fixtures").rglob("*.py"))


def rewrite(path: Path, most_passes: int = fixpoint.MOST_PASSES) -> Outcome:
    """Everything that `--fix --unsafe-fixes` does to a file, in memory."""
    options = settings.load([str(path)], {})
    return fixpoint.run([str(path)], options, BOTH, most_passes=most_passes)


def comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(one.string for one in tokens if one.type == tokenize.COMMENT)


def check_properties(text: str, folder: Path) -> int:
    """Assert what must hold of a program's rewriting; how many fixes were applied."""
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8", newline="")
    outcome = rewrite(path)
    if not outcome.files:
        assert not outcome.applied
        return 0
    (file,) = outcome.files
    assert file.before == text
    ast.parse(file.after)
    assert not outcome.is_cut_off
    assert not comments(text) - comments(file.after), "a comment is lost"
    assert ends_of_lines(file.after) == ends_of_lines(text)
    only_the_spans_change(path)
    path.write_text(file.after, encoding="utf-8", newline="")
    again = rewrite(path)
    assert not again.applied and not again.files, "a second run changes something"
    return len(outcome.applied)


def ends_of_lines(text: str) -> set[str]:
    return {line[len(line.rstrip("\r\n")) :] for line in text.splitlines(keepends=True)[:-1]}


def only_the_spans_change(path: Path) -> None:
    """The first pass makes the edits that it reports, and no others; lines that they make too long are broken."""
    outcome = rewrite(path, most_passes=1)
    (file,) = outcome.files
    edits = [edit for item in outcome.applied for edit in item.fix.edits]
    edited = applied(file.before, changes_of(Lines.of(file.before), edits))
    assert file.after == fitted(file.before, edited, line_length(path))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(CHECKOUT)))
@pytest.mark.slow
def test_fixtures(path: Path, tmp_path: Path) -> None:
    text = path.read_bytes().decode("utf-8-sig")
    try:
        ast.parse(text)
    except SyntaxError:
        pytest.skip("is no program")
    check_properties(text, tmp_path)


@given(st.randoms(use_true_random=False))
@examples(max_examples=25, suppress_health_check=list(HealthCheck), **DETERMINISTIC)
def test_generated_programs(tmp_path_factory: pytest.TempPathFactory, dice: Random) -> None:
    check_properties(made(dice).text, tmp_path_factory.mktemp("program"))


# Sources of other people, a little changed: what a formatter, a merge or a tired person leaves.


@cache
def sources() -> tuple[str, ...]:
    """Functions with tensors in the packages that are installed with the tests."""
    found = []
    for name in ("tf_keras", "keras"):
        spec = find_spec(name)
        for root in (spec.submodule_search_locations or ()) if spec is not None else ():
            for path in sorted(Path(root).rglob("*.py")):
                text = path.read_text(encoding="utf-8")
                if "tf." in text and 2_000 < len(text) < 20_000 and "_test" not in path.name:
                    found.append(text)
    return tuple(found)


def mutations(dice: Random, text: str) -> Iterator[str]:
    """The text, changed a few times; what does not parse is not asked for."""
    lines = text.split("\n")
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(lines))
        kind = dice.choice(("comment", "blank", "drop", "swap", "trailing", "decorate", "join"))
        changed = list(lines)
        if kind == "comment" and changed[at].strip():
            changed[at] += f"  # note {at}"
        elif kind == "blank":
            changed.insert(at, "" if dice.random() < 0.5 else "    ")
        elif kind == "drop":
            del changed[at]
        elif kind == "swap" and at + 1 < len(changed):
            changed[at], changed[at + 1] = changed[at + 1], changed[at]
        elif kind == "trailing":
            changed[at] += "   "
        elif kind == "decorate" and changed[at].startswith("def "):
            changed.insert(at, "@tf.function(jit_compile=True, autograph=False)")
        elif kind == "join" and changed[at].strip() and not changed[at].rstrip().endswith(":"):
            changed[at] += "; pass"
        if _parses("\n".join(changed)):
            lines = changed
    whole = "\n".join(lines)
    yield whole.replace("\n", "\r\n") if dice.random() < 0.2 else whole


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
@examples(max_examples=300, suppress_health_check=list(HealthCheck), **DETERMINISTIC)
def test_changed_sources_of_others(tmp_path_factory: pytest.TempPathFactory, dice: Random) -> None:
    if not sources():
        pytest.skip("no package with TensorFlow code is installed")
    for text in mutations(dice, dice.choice(sources())):
        check_properties(text, tmp_path_factory.mktemp("program"))


@pytest.mark.compiler
@given(st.randoms(use_true_random=False))
@examples(max_examples=30, suppress_health_check=list(HealthCheck), **DETERMINISTIC)
def test_safe_fixes_of_generated_programs_are_proven(
    tmp_path_factory: pytest.TempPathFactory, dice: Random
) -> None:
    """A sample; `benchmarks/fixes/generated.py` runs thousands."""
    from benchmarks.fixes.generated import BAD, prove, rewritten

    for one in rewritten({0: made(dice)}, unsafe=False):
        status, words = prove(one, tmp_path_factory.mktemp("pair"), 12)
        assert status not in BAD, "\n".join((one.before, one.after, *words))
