"""The command line. One module per command, imported when that command runs.

This module stays light: `xlalint --version` and an editor's start-up should cost no more than Python itself.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 clean, 1 findings, 2 could not do the job, 130 interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given in (["--version"], ["-V"]):
        from xlalint import __version__

        sys.stdout.write(f"xlalint {__version__}\n")
        sys.exit(0)
    ends_here = arguments is None and given[:1] == ["check"]
    if ends_here:
        # Nothing of what one check builds is garbage before the process ends: looking for some would take seconds.
        gc.disable()
    from xlalint.cli.app import run

    if not ends_here:
        sys.exit(run(given))
    remains: list[object] = []
    _leave(run(given, remains))


def _leave(status: int) -> NoReturn:
    """End the process at once, with all that check has built still there (see `engine.check`)."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(status)
    os._exit(status)
