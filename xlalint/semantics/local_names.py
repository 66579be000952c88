"""The names of a function while it is being run: a dictionary in which a way through the code can be taken back.

Branches and loops try ways one after the other. Copying all names for each would cost the product of a function's names
and branches, so a way keeps what it changes, and taking it back or joining two ways costs only that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xlalint.semantics.joins import join
from xlalint.semantics.values import DEFERRED, EXTERNAL, PROJECT_MODULE, PYTHON, UNKNOWN, Value

# What a way through the code changed: the value at its end, None for a name that was deleted.
Changes = dict[str, "Value | None"]
# `super().__setitem__` and its like, without asking each time whose that is.
_set, _pop = dict.__setitem__, dict.pop


class Names(dict[str, Value]):
    """Local names and their values; `self.x` is kept under the key `"self.x"`.

    Each `fork` is followed by one `take_back` or `keep`, and pairs nest.
    """

    __slots__ = ("_before", "_forks", "_with_attributes")

    def __init__(self) -> None:
        super().__init__()
        # What the names changed since the last fork held then, None for those that there were not.
        self._before: Changes | None = None
        self._forks: list[Changes | None] = []
        # Names of which an attribute has been kept here at some time.
        self._with_attributes: set[str] = set()

    def fork(self) -> None:
        """From here on, keep what is needed to come back."""
        self._forks.append(self._before)
        self._before = {}

    def take_back(self) -> Changes:
        """Return to how things were at the fork; what the way since then changed."""
        before = self._before
        self._before = self._forks.pop()
        changes: Changes = {}
        if not before:
            return changes
        for name, value in before.items():
            changes[name] = self.get(name)
            if value is not None:
                _set(self, name, value)
            else:
                _pop(self, name, None)
        return changes

    def keep(self) -> None:
        """Leave things as they are since the fork: they are changes of what lies around it."""
        before = self._before or {}
        self._before = self._forks.pop()
        if self._before is not None:
            for name, value in before.items():
                self._before.setdefault(name, value)

    def apply(self, changes: Changes) -> None:
        """Make the changes that a way made which was taken back."""
        for name, value in changes.items():
            if value is not None:
                self[name] = value
            else:
                self.pop(name, None)

    def join(self, first: Changes, second: Changes, *, prefer_first: bool = False) -> None:
        """Go on after two ways that were taken back, of which either may have been gone."""
        self.apply(self.joined(first, second, prefer_first=prefer_first))

    def joined(
        self,
        first: Changes,
        second: Changes,
        names: Iterable[str] | None = None,
        *,
        prefer_first: bool = False,
    ) -> Changes:
        """What is known after either of two ways that were taken back, of all that they changed or of these `names`.

        A name that only one way binds keeps that value.
        A module body prefers the first of two imports of one name (`try: import tf_keras as keras`, `except: import
        keras`), because either would do and knowing neither would not; but another package's rather than the project's module
        that stands in for it (`import pkg.keras2 as keras`, or else `import keras`), or than what a call made (`tf1, tf, version
        = try_import_tf()`, or else `import tensorflow as tf`).
        """
        changes: Changes = {}
        for name in {**first, **second} if names is None else names:
            here = self.get(name)
            one, other = first.get(name, here), second.get(name, here)
            if one is None or other is None:
                changes[name] = other if one is None else one
            elif one is other:
                changes[name] = one
            elif prefer_first and one.kind is not PYTHON:
                changes[name] = other if _stands_in(one, other) else one
            else:
                changes[name] = join(one, other)
        return changes

    def may_keep_attributes(self, name: str) -> bool:
        """Whether an attribute of the name has ever been kept here; of most names, none is."""
        return name in self._with_attributes

    def forget_attributes(self, name: str) -> None:
        """Drop what is known of the attributes of a name that is bound to something else."""
        if name in self._with_attributes:
            prefix = name + "."
            for key in [key for key in self if key.startswith(prefix)]:
                del self[key]

    # Whatever changes a name tells `_before` of it.

    def __setitem__(self, name: str, value: Value) -> None:
        before = self._before
        if before is not None and name not in before:
            before[name] = self.get(name)
        if "." in name:
            self._with_attributes.add(name.partition(".")[0])
        _set(self, name, value)

    def __delitem__(self, name: str) -> None:
        if self._before is not None and name not in self._before:
            self._before[name] = self.get(name)
        super().__delitem__(name)

    def pop(self, name: str, *default: Any) -> Any:
        if self._before is not None and name not in self._before:
            self._before[name] = self.get(name)
        return super().pop(name, *default)

    def update(self, other: Mapping[str, Value] | Iterable[tuple[str, Value]] = (), /) -> None:  # type: ignore[override]
        for name, value in dict(other).items():
            self[name] = value

    def clear(self) -> None:
        for name in list(self):
            del self[name]


def _stands_in(one: Value, other: Value) -> bool:
    """Whether one is the project's own, or unknown, where another package would do: `import pkg.ops as ops`, or else `from keras
    import ops`.
    """
    if one.kind is UNKNOWN:
        return other.kind is EXTERNAL
    if one.kind is not PROJECT_MODULE:
        return False
    if other.kind is DEFERRED:
        package = str(other.ref[0]).partition(".")[0]
        return package != str(one.ref.name).partition(".")[0]
    return other.kind is EXTERNAL
