"""Where the user constructed each Keras layer, for operations that only library layers make.

`functional/up_sampling2d_1/resize/ResizeBicubic` has no line of the user's on its stack, since Keras calls the layer; its
scope names the layer, and the layer remembers the line of `UpSampling2D(` that made it.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import weakref
from collections.abc import Callable
from typing import Any

from xlalint.verify.records import Place

_ATTRIBUTE = "_xlalint_site"


class LayerSites:
    """The layers made since `watch`, each with the line that constructed it."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self._layers: weakref.WeakSet[Any] = weakref.WeakSet()

    def watch(self, layer_class: Any) -> None:
        """Remember the constructing line of every instance of `layer_class` made from now on."""
        original = layer_class.__init__
        sites = self

        @functools.wraps(original)
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            place = sites._constructing(self)
            original(self, *args, **kwargs)
            if place is not None and not hasattr(self, _ATTRIBUTE):
                # Past Keras's own __setattr__, which tracks what it is given.
                object.__setattr__(self, _ATTRIBUTE, place)
                sites._layers.add(self)

        # Keras reads the names of the parameters to remember a layer's configuration.
        init.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        layer_class.__init__ = init

    def resolve(self, scope: str) -> Place | None:
        """The line that made the innermost layer that an operation's name scope mentions.

        None where that layer is of the user's own class: its operations have lines of their own.
        """
        made = {layer.name: layer for layer in list(self._layers)}
        for part in reversed(scope.split("/")[:-1]):
            for name in (part, re.sub(r"_\d+$", "", part)):
                if name in made:
                    return _site(made[name])
        return None

    def _constructing(self, layer: Any) -> Place | None:
        frame = sys._getframe(2)
        while True:
            code = frame.f_code
            # A subclass's own `super().__init__()` is not where the layer was constructed.
            is_own = code.co_name == "__init__" and frame.f_locals.get("self") is layer
            if self._is_user(code.co_filename) and not is_own:
                return Place(code.co_filename, frame.f_lineno, 0, code.co_name)
            if frame.f_back is None:
                return None
            frame = frame.f_back


def _site(layer: Any) -> Place | None:
    package = type(layer).__module__.partition(".")[0]
    place: Place = getattr(layer, _ATTRIBUTE)
    return place if package in ("keras", "tf_keras") else None
