"""Where functions were written that AutoGraph wrote again: generated files back to the user's lines."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from types import CodeType
from typing import Any

from xlalint.verify.patching import Patches
from xlalint.verify.sites import real_path

_GENERATED = "__autograph_generated_file"


class Origins:
    """Knows the source of what AutoGraph has converted since `watch`."""

    def __init__(self) -> None:
        self._maps: dict[str, Mapping[Any, Any]] = {}

    def watch(self, patches: Patches) -> None:
        """Keep the source map of each conversion from now on; call it once TensorFlow is imported."""
        api = importlib.import_module("tensorflow.python.autograph.impl.api")
        patches.wrap(api, "_convert_actual", self._wrap_convert)

    def of(self, code: CodeType) -> tuple[str, int]:
        """The real path and first line of the function as it was written.

        A function nested in a converted one exists in generated code only; of one whose source map
        was not seen, the generated file is all there is.
        """
        if _GENERATED not in code.co_filename:
            return real_path(code.co_filename), code.co_firstlineno
        known = self._maps.get(code.co_filename, {})
        by_line = {location.lineno: origin.loc for location, origin in known.items()}
        # The generated function starts with a decorator of AutoGraph's, which has no origin.
        for line in (code.co_firstlineno, code.co_firstlineno + 1):
            if line in by_line:
                return real_path(by_line[line].filename), int(by_line[line].lineno)
        return code.co_filename, code.co_firstlineno

    def _wrap_convert(self, convert: Any) -> Any:
        @functools.wraps(convert)
        def remembered(entity: Any, program_ctx: Any) -> Any:
            converted = convert(entity, program_ctx)
            source_map = getattr(converted, "ag_source_map", None) or {}
            for location in source_map:
                self._maps.setdefault(location.filename, source_map)
            return converted

        return remembered
