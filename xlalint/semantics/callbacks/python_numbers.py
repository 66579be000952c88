"""Functions of Python that ask what they are given for a number, or for a copy: a traced tensor has neither.

Eager tensors answer (`chr(t)`, `statistics.median(tf.unstack(x))`, `random.randint(0, t)`, `itertools.islice(rows, t)`, `copy.deepcopy(t)`); tracing stops (TensorFlow 2.15 and
2.21: fixtures/XLA105/flagged_numbers_asked_for.py).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.elements import element, leaves
from xlalint.semantics.facts import CONVERSION, FORMATTING
from xlalint.semantics.frames import Frame
from xlalint.semantics.values import COLLECTION, SEQUENCE, TENSOR, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

# Which arguments they ask: by position, and by name.
_ASK = {
    **dict.fromkeys(("builtins.chr", "builtins.hex", "builtins.bin", "builtins.oct"), (0,)),
    "operator.index": (0,),
    "itertools.islice": (1, 2, 3),
    "itertools.repeat": (1, "times"),
    "itertools.combinations": (1, "r"),
    "random.randint": (0, 1, "a", "b"),
    "random.randrange": (0, 1, 2, "start", "stop", "step"),
}
# They compare or add the items of a list as Python's numbers; the first two those of a tensor, too.
_OF_ITEMS = frozenset(
    f"statistics.{name}"
    for name in "fmean geometric_mean median median_grouped median_high median_low quantiles".split()
)
_OF_TENSORS = frozenset({"statistics.fmean", "statistics.geometric_mean"})
_COPY = "copy.deepcopy"
_FORMAT = "builtins.format"


def note(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """Note a call of one of these functions, by its full name, with a tensor where it asks."""
    given = arguments.positional
    if name == _FORMAT:
        if len(given) > 1 and _is_one(given[0]):
            frame.analysis.note(frame, node, FORMATTING, given[0])
        return
    for value in _asked(name, arguments):
        if _is_one(value):
            frame.analysis.note(frame, node, CONVERSION, value, name.rpartition(".")[2])
            return


def _asked(name: str, arguments: Arguments) -> list[Value]:
    given = arguments.positional
    if name == _COPY:
        copied = [leaf for value in given[:1] for leaf in leaves(value)]
        return [leaf for leaf in copied if leaf.kind is TENSOR]  # variables are copied otherwise
    if name in _OF_ITEMS:
        is_list = bool(given) and given[0].kind in (SEQUENCE, COLLECTION)
        return [element(given[0])] if is_list else list(given[: name in _OF_TENSORS])
    asked = _ASK.get(name, ())
    by_position = [given[place] for place in asked if isinstance(place, int) and place < len(given)]
    return by_position + [v for key, v in arguments.keywords.items() if key in asked]


def _is_one(value: Value) -> bool:
    return value.is_tensor and not (value.guess or value.structured or value.optional)
