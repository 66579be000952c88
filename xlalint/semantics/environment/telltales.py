"""Which lines of a module may use an old name: those that hold a word of the table of renames. Most modules have none, and need not be read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain

from xlalint.semantics.environment.rename_table import table
from xlalint.semantics.text_lines import lines_at, plain

# Keras 3 itself has the long names alone, and of the backend's functions few.
_OF_PLAIN_KERAS = ("keras.backend", "keras.losses", "keras.metrics")
# What else has the names of these modules is in most programs: the module tells.
_TOLD_BY_MODULE = {
    "keras.layers.experimental": ("experimental", "experimental"),
    "keras.saving": ("saving", "keras.saving"),
    "keras.optimizers.legacy": ("legacy", "optimizers.legacy"),
}
# Parameters with shorter names tell nothing: the function does that takes them.
_DISTINCT = 6
# Nor do these, which most programs with layers have.
_OF_MANY = frozenset(
    "inputs layout collections kernel_initializer kernel_regularizer kernel_constraint".split()
)
# What the table says of a parameter for all classes of a module.
_MODULES = ("keras.layers", "keras.losses", "keras.optimizers")
_PLAIN_KERAS = re.compile(r"^(?:import keras\b|from keras\.)", re.MULTILINE)
_FROM_KERAS = re.compile(
    r"^from keras import (?:\([^)]*|[^\n]*)\b(?:backend|losses|metrics)\b", re.MULTILINE
)
# A method that is given a text first.
_TEXT_FIRST = re.compile(r"add_weight\(\s*[\"']")

# A name with a sign in it that names of Keras 3 may not have. (Beginning with `\b`, it takes five times as long.)
_PARTED_NAME = re.compile(r"name ?=[^\n/]*/")

# What parts identifiers from each other, as a space.
_PARTED = bytes(
    byte if byte > 127 or chr(byte).isalnum() or byte == 95 else 32 for byte in range(256)
)


@cache
def _telltales() -> Mapping[bytes, frozenset[str]]:
    """The identifiers one of which a module holds that uses an old name, and what a line that uses it holds."""
    known = table()
    found: dict[bytes, set[str]] = {}

    def tells(identifier: str, word: str) -> None:
        found.setdefault(identifier.encode(), set()).add(word)

    for old, entry in (*known.names.items(), *known.families.items()):
        module, _, leaf = old.rpartition(".")
        if entry.through != "keras":  # `_uses_plain_keras` asks for these
            tells(*_TOLD_BY_MODULE.get(module, (leaf, leaf)))
    attributes = (known.methods, known.models, known.metrics, known.optimizers, known.layers)
    for name in chain.from_iterable((*attributes, known.functional, known.own)):
        tells(name, f".{name}")
    for function, given in known.parameters.items():
        for name, entry in given.items():
            if entry.holds:
                continue  # every second call has a name: `_PARTED_NAME` asks
            if (len(name) < _DISTINCT or name in _OF_MANY) and function not in _MODULES:
                leaf = function.rpartition(".")[2]
                tells(leaf, f"{leaf}(")
                continue
            for written in (f"{name}=", f"{name} ="):
                tells(name, written)
    for name in known.environment:
        tells(name, name)
    return {identifier: frozenset(words) for identifier, words in found.items()}


@cache
def _identifiers() -> frozenset[bytes]:
    return frozenset(_telltales())


class Telltales:
    """What a module holds of the table's words."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = _words_in(text)
        if _uses_plain_keras(text):
            self._words += _OF_PLAIN_KERAS

    def __bool__(self) -> bool:
        """Whether the module is to be read at all."""
        return bool(self._words) or any(map(self._matches, (_TEXT_FIRST, _PARTED_NAME)))

    def _matches(self, pattern: re.Pattern[str]) -> bool:
        return "keras" in self._text and pattern.search(self._text) is not None

    def lines(self, imported: Mapping[str, str]) -> list[int]:
        """The lines (1-based, in order) that may use an old name: they hold one of the words, or a name imported from below one."""
        names = [
            name
            for name, dotted in imported.items()
            if dotted.startswith(_OF_PLAIN_KERAS) or _words_in(dotted)
        ]
        text = plain(self._text)
        places = {place for word in (*self._words, *names) for place in _places(word, text)}
        for pattern in (_TEXT_FIRST, _PARTED_NAME):
            places.update(found.start() for found in pattern.finditer(text))
        return lines_at(places, text)


def _words_in(text: str) -> tuple[str, ...]:
    """What the lines of a module hold that may use an old name. (To part all identifiers takes less time than to look for each word.)"""
    telltales = _telltales()
    spoken = text.encode("utf-8", "surrogatepass").translate(_PARTED).split()
    words = {word for each in _identifiers().intersection(spoken) for word in telltales[each]}
    return tuple(word for word in words if word in text)


def _places(word: str, text: str) -> Iterator[int]:
    """Where a word begins in a text. (A regular expression takes ten times as long.)"""
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def _uses_plain_keras(text: str) -> bool:
    """Whether a module imports Keras itself, and may use what it has in another form than tf.keras."""
    if any(name in text for name in _OF_PLAIN_KERAS) and _PLAIN_KERAS.search(text) is not None:
        return True
    return "from keras import" in text and _FROM_KERAS.search(text) is not None
