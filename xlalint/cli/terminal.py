"""What the terminal is good for."""

from __future__ import annotations

import os
import sys


def wants_color(choice: str, output_file: str | None = None) -> bool:
    """Whether to colour what goes to standard output: `auto` means on a terminal, NO_COLOR and FORCE_COLOR respected."""
    if choice != "auto":
        return choice == "always"
    if output_file or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()
