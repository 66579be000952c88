"""A sign of life on standard error for anything that takes longer than a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_PATIENCE = 1.0
_TICK = 0.25
_CLEAR = "\r\x1b[K"


@contextmanager
def progress(what: str) -> Iterator[None]:
    """Show `what` and the seconds passed while the block runs, on a terminal only, and leave no trace of it."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(what, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _show(what: str, done: threading.Event) -> None:
    start = time.monotonic()
    if done.wait(_PATIENCE):
        return
    while True:
        sys.stderr.write(f"{_CLEAR}xlalint: {what}, {time.monotonic() - start:.0f} s")
        sys.stderr.flush()
        if done.wait(_TICK):
            break
    sys.stderr.write(_CLEAR)
    sys.stderr.flush()
