"""Ctrl-C: once, what is known is reported; twice, this process ends at once. SIGTERM and SIGHUP likewise."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def setting(stop: threading.Event) -> Iterator[None]:
    """While the block runs, the first signal sets `stop` and the second ends this process.

    The children then die with it (`warden`). Elsewhere than in the main thread, where Python takes no handlers, nothing changes.
    """

    def interrupted(number: int, frame: Any) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, interrupted) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
