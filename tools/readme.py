"""`python -m tools.readme`: write the table of rules into README.md, from the pages. `--check` only compares."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

_README = Path(__file__).parent.parent / "README.md"
_START = "<!-- rules: made by `python -m tools.readme` -->\n"
_END = "<!-- end of rules -->\n"


def with_table(readme: str, table: str) -> str:
    """`readme` with `table` between the two marks."""
    before, rest = readme.split(_START)
    _, after = rest.split(_END)
    return f"{before}{_START}{table}{_END}{after}"


def table() -> str:
    """The rules as `xlalint rules` writes them in Markdown."""
    command = [sys.executable, "-m", "xlalint", "rules", "--format", "markdown"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> int:
    """Write the README, or with --check say whether it is as it should be (status 1 if not)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if outdated")
    arguments = parser.parse_args()
    now = _README.read_text(encoding="utf-8")
    wanted = with_table(now, table())
    if now == wanted:
        return 0
    if arguments.check:
        print("README.md: the table of rules is outdated; run `python -m tools.readme`")
        return 1
    _README.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
