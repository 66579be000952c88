"""Which lines of a package run while TensorFlow traces: Python's own lines, and those that AutoGraph rewrote."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from tensorflow.python.autograph.impl import api

_GENERATED = "__autograph_generated_file"


class Lines:
    """Collects (file, line) pairs inside `with lines.traced():`; `prefix` is the folder of the package.

    AutoGraph runs rewritten code out of temporary files, and says for each of its lines where it came from.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._seen: set[tuple[str, int]] = set()
        self._maps: dict[tuple[str, int], tuple[str, int]] = {}
        self._corrected: list[Any] = []
        self._watch_conversions()

    @contextmanager
    def traced(self) -> Iterator[set[tuple[str, int]]]:
        """The set that fills with the package's lines while the block runs; complete at its end."""
        self._seen = set()
        found: set[tuple[str, int]] = set()
        sys.settrace(self._called)
        try:
            yield found
        finally:
            sys.settrace(None)
            origins = (self._maps.get(line, line) for line in self._seen)
            found.update(origin for origin in origins if origin[0].startswith(self._prefix))

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        if file.startswith(self._prefix) or _GENERATED in file:
            return self._line
        return None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._seen.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    def _watch_conversions(self) -> None:
        convert = api._convert_actual

        def watched(entity: Any, context: Any) -> Any:
            # Conversion runs much Python, none of it the package's.
            watching = sys.gettrace()
            sys.settrace(None)
            try:
                converted = convert(entity, context)
            finally:
                sys.settrace(watching)
            self._correct(entity, converted.ag_source_map)
            for generated, origin in converted.ag_source_map.items():
                self._maps[generated.filename, generated.lineno] = (
                    origin.loc.filename,
                    origin.loc.lineno,
                )
            return converted

        api._convert_actual = watched

    def _correct(self, entity: Any, source_map: dict[Any, Any]) -> None:
        """Put right the origins, also those of errors: AutoGraph joins lines that end in a backslash, then counts."""
        if any(source_map is done for done in self._corrected):
            return
        self._corrected.append(source_map)
        try:
            lines, first = inspect.getsourcelines(inspect.unwrap(entity))
        except (OSError, TypeError):
            return
        starts = [first]
        starts += [first + i + 1 for i, line in enumerate(lines) if not line.endswith("\\\n")]
        for generated, origin in list(source_map.items()):
            index = origin.loc.lineno - first
            if 0 <= index < len(starts):
                loc = origin.loc._replace(lineno=starts[index])
                source_map[generated] = origin._replace(loc=loc)
