"""Which lines ran while a function was traced, AutoGraph's generated code told in the user's lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
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
        path = frame.f_code.co_filename
        if path in files:
            lines.add(path, frame.f_lineno)
        else:
            for original_path, line in _originals(frame):
                if original_path in files:
                    lines.add(original_path, line)
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


def _originals(frame: FrameType) -> Iterator[tuple[str, int]]:
    from tensorflow.python.util import tf_stack

    mappers = getattr(tf_stack, "_source_mapper_stacks", None)
    if mappers is None:
        return
    effective: Mapping[Any, Any] = mappers[tf_stack._get_thread_key()][
        -1
    ].get_effective_source_map()
    origin = effective.get((frame.f_code.co_filename, frame.f_lineno))
    if origin is not None:
        yield origin[0], origin[1]
