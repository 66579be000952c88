"""What TensorFlow and Keras have renamed or dropped: the lines of `rules/renamed.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from xlalint import data, toml

GRAPHS = "graphs"
_WORDS = ("use", "instead", "gone", "value", "through", "when", "holds", "made_by", "of")


class Entry(NamedTuple):
    """A line of the table: the old name, the one of today, what to do in words, and where the old one stops working.

    `gone` is a TensorFlow minor, `keras-3`, `long`, `graphs` for what works in the graphs and sessions of TensorFlow 1 alone, or empty for what
    is deprecated and works. `value` is the text that a parameter must be given for that, where another one still works. `through` is the
    package below which the name is gone, `tf.keras` or `keras`, where the other one has it; `members` are those of a family that are gone, where
    others are not. `when` is `called` for what can be named, and raises where it is called. `holds` is what the text of a parameter must hold for that,
    `made_by` what makes a value that it does not take, `of` is `optimizers` for a method that has it in others than those of Keras, and `others` are the
    classes of a module that take it.
    """

    old: str
    use: str
    instead: str
    gone: str
    value: str
    through: str
    when: str
    parameters: tuple[tuple[str, str], ...]
    members: frozenset[str]
    holds: str = ""
    made_by: str = ""
    of: str = ""
    others: frozenset[str] = frozenset()

    def is_meant_by(self, raw: str) -> bool:
        """Whether a name below `tensorflow` or `keras`, as the module imports it, is gone there."""
        if not self.through:
            return True
        return raw.startswith("keras.") is (self.through == "keras")


class Rename(NamedTuple):
    """A use of an old name. `kind` is `name`, `family`, `method`, `parameter` or `environment`; `found` how it is spelled,
    below the one name of its package. `is_gone`: it does not work where this code is to run; `is_of_graphs`: it does in graphs alone.
    """

    entry: Entry
    kind: str
    found: str
    is_gone: bool

    @property
    def is_of_graphs(self) -> bool:
        return self.entry.gone == GRAPHS

    @property
    def is_of_value(self) -> bool:
        """Whether the parameter is there, and what it is given is not taken."""
        return bool(self.entry.holds or self.entry.made_by)

    def spelled(self, name: str) -> str:
        """A name as this code has it: of names that Keras has itself, tf.keras may have lost some."""
        return f"tf.{name}" if self.entry.through == "tf.keras" else name


def of_value(entry: Entry) -> Rename:
    """A method or attribute that only some values lose with Keras 3: found by what the analysis knows of them, not by its name."""
    return Rename(entry, "method", entry.old, is_gone=True)


class Table(NamedTuple):
    """The table by kind: names and families by dotted name, methods (of strategies, models, models made of calls, metrics and optimizers, and
    those that layers call on themselves), attributes of layers and variables by name, those of symbolic tensors, of shapes and of weights, parameters by function
    (or its module) and name, methods that took a text first by name, attributes that classes of one's own may not set by base and name.
    """

    names: Mapping[str, Entry]
    families: Mapping[str, Entry]
    methods: Mapping[str, Entry]
    models: Mapping[str, Entry]
    functional: Mapping[str, Entry]
    metrics: Mapping[str, Entry]
    optimizers: Mapping[str, Entry]
    layers: Mapping[str, Entry]
    own: Mapping[str, Entry]
    symbolic: Mapping[str, Entry]
    shapes: Mapping[str, Entry]
    weights: Mapping[str, Entry]
    parameters: Mapping[str, Mapping[str, Entry]]
    texts: Mapping[str, Entry]
    kept: Mapping[str, Mapping[str, Entry]]
    environment: Mapping[str, Entry]

    def without_models(self) -> Table:
        """The same, but for the methods of models, metrics and optimizers and what they take."""
        functions = {name: given for name, given in self.parameters.items() if "." in name}
        without = self._replace(
            models={}, functional={}, metrics={}, optimizers={}, texts={}, parameters=functions
        )
        return without._replace(layers={}, own={})


@cache
def table() -> Table:
    """What `rules/renamed.toml` says."""
    raw = toml.loads((data.root() / "renamed.toml").read_text(encoding="utf-8"))
    return Table(
        _entries(raw["names"]),
        _entries(raw["families"]),
        _entries(raw["methods"]),
        _entries(raw["models"]),
        _entries(raw["functional"]),
        _entries(raw["metrics"]),
        _entries(raw["optimizers"]),
        _entries(raw["layers"]),
        _entries(raw["own"]),
        _entries(raw["symbolic"]),
        _entries(raw["shapes"]),
        _entries(raw["weights"]),
        {function: _entries(given) for function, given in raw["parameters"].items()},
        _entries(raw["texts"]),
        {base: _entries(given) for base, given in raw["kept"].items()},
        _entries(raw["environment"]),
    )


def _entries(raw: Mapping[str, Mapping[str, object]]) -> dict[str, Entry]:
    found = {}
    for old, said in raw.items():
        parameters = said.get("parameters", {})
        assert isinstance(parameters, dict)
        words = {key: str(said.get(key, "")) for key in _WORDS}
        found[old] = Entry(
            old,
            **words,
            parameters=tuple(parameters.items()),
            members=_names(said, "members"),
            others=_names(said, "others"),
        )
    return found


def _names(said: Mapping[str, object], key: str) -> frozenset[str]:
    listed = said.get(key, ())
    assert isinstance(listed, (list, tuple))
    return frozenset(listed)
