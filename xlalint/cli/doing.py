"""What `verify` is doing and for how long, on standard error: one line that changes on a terminal, lines elsewhere."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from dataclasses import dataclass

_TICK = 0.5
_CLEAR = "\r\x1b[K"


@dataclass(frozen=True, slots=True)
class _Doing:
    text: str
    since: float


class Progress:
    """Use it as a context, and `say` to it, from any thread, what each child is doing; `""` says that it has ended."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._started = time.monotonic()
        self._doing: dict[str, _Doing] = {}
        self._last = ""
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._ticking: threading.Thread | None = None

    def __enter__(self) -> Progress:
        if self._is_terminal:
            self._ticking = threading.Thread(target=self._tick, daemon=True)
            self._ticking.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        if self._ticking is not None:
            self._ticking.join()
            self._write(_CLEAR)

    def say(self, text: str, child: str = "", /) -> None:
        with self._lock:
            if text and (child not in self._doing or self._doing[child].text != text):
                self._doing.pop("", None)
                self._doing[child] = _Doing(text, time.monotonic())
            elif not text:
                self._doing.pop(child, None)
            if self._is_terminal:
                return
            line = f"{child}: {text}" if child else text
            if text and line != self._last:
                self._last = line
                self._write(f"xlalint: {self._seconds(self._started):3.0f} s  {line}\n")

    def _tick(self) -> None:
        while not self._done.wait(_TICK):
            with self._lock:
                line = self._line()
            self._write(_CLEAR + line[: shutil.get_terminal_size().columns - 1])

    def _line(self) -> str:
        """`xlalint: 42 s  masked_loss: lower 3 s | step 2 of 5`: what takes long counts its own seconds."""
        parts = []
        for doing in self._doing.values():
            took = self._seconds(doing.since)
            parts.append(doing.text + (f" {took:.0f} s" if took >= 1 else ""))
        return f"xlalint: {self._seconds(self._started):3.0f} s  {' | '.join(parts)}"

    def _seconds(self, since: float) -> float:
        return time.monotonic() - since

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
