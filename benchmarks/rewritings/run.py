"""Rewrite the fixtures in ways that keep their meaning, and show the findings that are lost or new after it.

    python benchmarks/rewritings/run.py                               # every rewriting, over every fixture
    python benchmarks/rewritings/run.py partial-calls as-methods       # some of them
    python benchmarks/rewritings/run.py --fixtures 'XLA20[34]/*' --keep DIR   # and leave the programs there
    python benchmarks/rewritings/run.py --list                        # what there is

What is lost or new where people would write the rewritten program is a fault of the analysis. Exit status 1 where anything is.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import libcst as cst

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.rewritings import compare, programs
from benchmarks.rewritings.kinds import ALL, Rewriting, name_of
from tests.fixtures.fixture_text import FIXTURES, fixture_paths
from xlalint.semantics.catalog import shipped

# The rules about what is compiled: the others look at drivers, settings and files, each in a place of its own.
_ABOUT_COMPILED_CODE = "XLA[1-4]*/*"


@dataclass(slots=True)
class Outcome:
    """What one rewriting comes to: how many programs it has something to do in, and those whose findings it changes."""

    programs: int = 0
    differences: list[tuple[str, compare.Difference]] = field(default_factory=list)


def main() -> int:
    """Run the rewritings asked for, and print what they change."""
    arguments = _arguments()
    if arguments.list:
        for rewriting in ALL:
            print(f"{name_of(rewriting)}: {(rewriting.__doc__ or '').splitlines()[0]}")
        return 0
    known = {name_of(rewriting): rewriting for rewriting in ALL}
    unknown = sorted(set(arguments.rewritings) - set(known))
    if unknown:
        print(f"no such rewriting: {', '.join(unknown)}", file=sys.stderr)
        return 2
    shipped.load = cache(shipped.load)  # read once, not for each program
    gc.freeze()
    paths = [p for p in fixture_paths() if _is_wanted(p, arguments.fixtures)]
    wanted = [known[name] for name in arguments.rewritings] or list(ALL)
    outcomes = run(paths, wanted, arguments.keep)
    for name, outcome in outcomes.items():
        print_outcome(name, outcome)
    return int(any(outcome.differences for outcome in outcomes.values()))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rewritings", nargs="*", help="names of rewritings [default: all]")
    parser.add_argument("--list", action="store_true", help="show the rewritings")
    parser.add_argument(
        "--fixtures", default=_ABOUT_COMPILED_CODE, metavar="PATTERN", help="which fixtures"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="leave the programs whose findings change there"
    )
    return parser.parse_args()


def _is_wanted(path: Path, pattern: str) -> bool:
    return fnmatch(path.relative_to(FIXTURES).as_posix(), pattern)


def run(
    paths: Sequence[Path], rewritings: Sequence[Rewriting], keep: Path | None = None
) -> dict[str, Outcome]:
    """What each rewriting comes to over all of these fixtures."""
    outcomes = {name_of(rewriting): Outcome() for rewriting in rewritings}
    for path in paths:
        program = programs.read(path)
        before = compare.found_in(program.files, program)
        for name, files in _rewritten(program, rewritings):
            outcomes[name].programs += 1
            after = compare.found_in(files, program)
            changed = compare.difference(before, after, program)
            if changed:
                outcomes[name].differences.append((program.script.name, changed))
                if keep is not None:
                    folder = program.script.name.removesuffix(".py").replace("/", "_").lower()
                    compare.write(files, keep / name.replace("-", "_") / folder)
    return outcomes


def _rewritten(
    program: programs.Program, rewritings: Sequence[Rewriting]
) -> Iterator[tuple[str, programs.Files]]:
    """The files that each rewriting makes of the program, where it finds something to do."""
    for rewriting in rewritings:
        made = rewriting(program.body)
        if made is program.body:
            continue
        files = {programs.MAIN: made} if isinstance(made, cst.Module) else made
        text = {name: module.code for name, module in files.items()}
        (main,) = (name for name in text if name.endswith(programs.MAIN))
        if text[main] != program.body.code:
            text[main] += program.footer
            yield name_of(rewriting), text


def print_outcome(name: str, outcome: Outcome) -> None:
    """Counts, and then each program whose findings changed."""
    lost = sum(len(d.lost) for _, d in outcome.differences)
    new = sum(len(d.new) for _, d in outcome.differences)
    print(f"{name}: {outcome.programs} programs, {lost} lost, {new} new")
    for fixture, changed in outcome.differences:
        for sign, found in (("-", changed.lost), ("+", changed.new)):
            for f in found:
                line = f.line if f.line != compare.ADDED else "added line"
                print(f"  {sign} {fixture}:{line} {f.code} {f.severity}")


if __name__ == "__main__":
    sys.exit(main())
