"""A small process that outlives its parent by a moment: `python .../warden.py FOLDER MARK`, with a pipe as its stdin.

When the pipe ends without a word, the parent was killed: the warden kills the children, which carry MARK in their
environment, and removes the temporary FOLDER. The parent's last word on the pipe says that all this is done.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DONE = b"done"


@contextmanager
def guarding(folder: Path, mark: str) -> Iterator[None]:
    """While the block runs: should this process be killed, so will be its children, and `folder` removed."""
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(folder), mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C on the terminal is not for it
        )
    except OSError:
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            process.communicate(_DONE)


def _main(folder: str, mark: str) -> None:
    if sys.stdin.buffer.read() == _DONE:
        return
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from xlalint.isolation import processes, scratch

    processes.kill_all((), mark)
    scratch.remove(Path(folder))


if __name__ == "__main__":
    _main(*sys.argv[1:])
