"""Names that could be imported from an older Keras and no longer can: `python -m tools.keras_names` reads them off its versions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from xlalint import data

_PLAIN, _THROUGH_TENSORFLOW = "keras.", "tensorflow.keras."
_LAST_KERAS_2 = (2, 15)
# What Keras 2 kept for itself moved to `keras.src` after this.
_LAST_OPEN = (2, 12)


class Gone(NamedTuple):
    """A module or name, below `keras` or `tf.keras`, that cannot be imported. `use` is the name that has its place, below the same,
    empty where there is none; then `instead` says in words what is left.
    """

    package: str
    name: str
    use: str
    instead: str


class _Names(NamedTuple):
    gone: Mapping[str, tuple[int, int]]  # the last Keras that has it
    today: frozenset[str]  # of Keras 3
    in_both: frozenset[str]  # of that and of the last Keras 2
    by_leaf: Mapping[str, tuple[str, ...]]


class KerasNames:
    """What is gone in one environment: TensorFlow of a version, and Keras `"2"` or `"3"`."""

    def __init__(self, tensorflow: str, keras: str) -> None:
        self._tensorflow = _numbers(tensorflow)
        self._keras = keras

    def gone(self, raw: str) -> Gone | None:
        """What an import, or a chain of attributes below one, names that is not there (`keras.engine.topology`): as much of it as has a
        place today, or else as is gone.
        """
        for package, prefix in (("keras", _PLAIN), ("tf.keras", _THROUGH_TENSORFLOW)):
            if raw.startswith(prefix):
                return self._gone(package, raw[len(prefix) :])
        return None

    def _gone(self, package: str, name: str) -> Gone | None:
        known = _table()[package]
        parts = [name, *_above(name)]
        for depth, part in enumerate(parts):
            last = known.gone.get(part)
            if last is not None:
                if not self._is_past(package, last):
                    return None
                there = known.today if self._keras == "3" else known.in_both
                for longer in reversed(parts[: depth + 1]):
                    use = _place_of(longer, part, known, there)
                    if use:
                        return Gone(package, longer, use, "")
                return Gone(package, part, "", self._left(package, name, part, there))
        return None

    def _is_past(self, package: str, last: tuple[int, int]) -> bool:
        if self._keras == "3":
            return True
        if self._tensorflow <= _LAST_KERAS_2:
            return last < self._tensorflow
        # TF_USE_LEGACY_KERAS: tf.keras is tf_keras, which has what the last Keras 2 has, and `keras` is Keras 3 all the same.
        return last < _LAST_KERAS_2 if package == "tf.keras" else last <= _LAST_OPEN

    def _left(self, package: str, name: str, part: str, there: Collection[str]) -> str:
        if package == "keras" and self._keras == "3" and name in _table()["tf.keras"].today:
            return f"`tf.keras.{name}`, which is still there"
        above = next((f".{each}" for each in _above(part) if each in there), "")
        said = f"what `{package}{above}` offers today, which is nothing of this name"
        if package == "tf.keras" and _table()[package].gone[part] == _LAST_KERAS_2:
            said += "; or Keras 2, which has it: install tf_keras and set TF_USE_LEGACY_KERAS=1"
        return said


@cache
def public_in(module: str) -> frozenset[str]:
    """The names that some Keras offers right below a module, as `layers` or `utils.legacy` has them; below the package for ``""``."""
    start = f"{module}." if module else ""
    found: set[str] = set()
    for known in _table().values():
        for name in known.today.union(known.gone):
            leaf = name.removeprefix(start)
            if name.startswith(start) and "." not in leaf:
                found.add(leaf)
    return frozenset(found)


def _place_of(name: str, part: str, known: _Names, there: Collection[str]) -> str:
    """Where what was at `name`, in `part` which is gone, is today: the same name elsewhere."""
    home, leaf = part.partition(".")[0], name.rpartition(".")[2]
    if name == part and not leaf[:1].isupper():
        return ""  # a module, or a function that is gone itself: what has its name elsewhere is something else
    places = [place for place in known.by_leaf.get(leaf, ()) if place in there and place != name]
    # A function of another part of Keras does another thing; a class is the same wherever it is found.
    places = [p for p in places if p.partition(".")[0] == home or leaf[:1].isupper()]
    ranked = sorted(places, key=lambda p: (p.partition(".")[0] != home, p.count("."), p))
    return ranked[0] if ranked else ""


@cache
def _table() -> dict[str, _Names]:
    raw = json.loads((data.root() / "keras_names.json").read_bytes())
    return {package: _names(lists) for package, lists in raw.items()}


def _names(lists: Mapping[str, Mapping[str, str]]) -> _Names:
    in_both = frozenset(lists["in both"])
    today = in_both.union(lists["in Keras 3"])
    by_leaf: dict[str, tuple[str, ...]] = {}
    for name in today:
        leaf = name.rpartition(".")[2]
        by_leaf[leaf] = (*by_leaf.get(leaf, ()), name)
    gone = {name: _numbers(last) for name, last in lists["gone"].items()}
    return _Names(gone, today, in_both, by_leaf)


def _numbers(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _above(name: str) -> Iterator[str]:
    """`a.b`, `a` for `a.b.c`."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name
