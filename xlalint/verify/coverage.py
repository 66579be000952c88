"""Which lines ran while a function was traced, AutoGraph's generated code told in the user's lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_GENERATED = "__autograph_generated_file"


class Lines:
    """path -> lines that ran."""

    def __init__(self) -> None:
        self._seen: dict[str, set[int]] = {}

    def add(self, path: str, line: int) -> None:
        self._seen.setdefault(path, set()).add(line)

    def as_dict(self) -> dict[str, list[int]]:
        return {path: sorted(lines) for path, lines in sorted(self._seen.items())}


@contextmanager
def watching(files: frozenset[str], lines: Lines) -> Iterator[None]:
    """Record in `lines` the lines of `files` that this thread runs. Costs a call per Python call, so: for traces only."""

    def on_line(frame: FrameType, event: str, _: Any) -> Any:
        path, line = original_line(frame)
        if path in files:
            lines.add(path, line)
        return on_line

    def on_call(frame: FrameType, event: str, _: Any) -> Any:
        path = frame.f_code.co_filename
        return on_line if path in files or _GENERATED in path else None

    previous = sys.gettrace()
    if not files:
        yield
        return
    sys.settrace(on_call)
    try:
        yield
    finally:
        sys.settrace(previous)


def original_line(frame: FrameType) -> tuple[str, int]:
    """(path, line) of a frame, in the user's own file where the frame runs code that AutoGraph generated."""
    place = (frame.f_code.co_filename, frame.f_lineno)
    if _GENERATED not in place[0]:
        return place
    from tensorflow.python.util import tf_stack

    mappers = getattr(tf_stack, "_source_mapper_stacks", None)
    if mappers is None:
        return place
    effective = mappers[tf_stack._get_thread_key()][-1].get_effective_source_map()
    origin = effective.get(place)
    return place if origin is None else (str(origin[0]), int(origin[1]))
