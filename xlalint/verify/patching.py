"""Replace attributes of other people's modules and classes, and put every one of them back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

_ABSENT: Any = object()


class Patches:
    """A list of replaced attributes. `undo` restores them, last first; a second `undo` does nothing."""

    def __init__(self) -> None:
        self._restores: list[Callable[[], None]] = []

    def put(self, owner: object, name: str, value: object) -> None:
        """Set `owner.name`, remembering whether `owner` itself held it (a class may inherit it)."""
        own = vars(owner).get(name, _ABSENT) if hasattr(owner, "__dict__") else getattr(owner, name)
        setattr(owner, name, value)

        def restore() -> None:
            if own is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, own)

        self._restores.append(restore)

    def put_if_present(self, owner: object, name: str, value: object) -> None:
        """`put`, where `owner` has such an attribute: namespaces differ between TensorFlow versions."""
        if owner is not None and hasattr(owner, name):
            self.put(owner, name, value)

    def wrap(self, owner: object, name: str, wrapper: Callable[[Any], object]) -> None:
        """Replace `owner.name` by `wrapper(the current one)`; nothing happens where there is none."""
        if owner is not None and hasattr(owner, name):
            self.put(owner, name, wrapper(getattr(owner, name)))

    def put_wherever_named(
        self, original: object, name: str, value: object, packages: Iterable[str]
    ) -> None:
        """Replace `original` under `name` in every loaded module of `packages`.

        A public function lives in several namespaces (`keras.models.save_model`,
        `keras.saving.save_model`, the module that defines it), and each holds its own reference.
        """
        roots = frozenset(packages)
        for path, module in list(sys.modules.items()):
            if path.partition(".")[0] in roots and vars(module).get(name) is original:
                self.put(module, name, value)

    def undo(self) -> None:
        while self._restores:
            self._restores.pop()()
