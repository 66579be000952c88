"""What `itertools` makes of lists while tracing: tuples of their items, in an order that Python knows."""

from __future__ import annotations

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.elements import element
from xlalint.semantics.joins import join_all
from xlalint.semantics.values import COLLECTION, NOTHING_KNOWN, SEQUENCE, Value

# Longer tuples are lists of one kind.
_MOST = 8
_OF_ONE = frozenset(
    {
        "itertools.combinations",
        "itertools.combinations_with_replacement",
        "itertools.permutations",
    }
)
_AS_THEY_ARE = frozenset({"itertools.chain", "itertools.chain.from_iterable", "itertools.cycle", "itertools.islice"})  # fmt: skip


def made(name: str, arguments: Arguments) -> Value | None:
    """The value of `itertools.combinations(inputs, 2)` and its like; None of any other function, and of what is no list."""
    given = arguments.positional
    if not given or arguments.open_ended or not name.startswith("itertools."):
        return None
    items = [element(each) for each in given]
    if name == "itertools.chain.from_iterable":
        items = [element(items[0])]
    if name in _OF_ONE:
        number = given[1].constant() if len(given) > 1 else None
        length = number.value if number is not None else None
        pair = items[:1] * length if isinstance(length, int) and 0 < length < _MOST else None
        whole = (
            Value(COLLECTION, ref=items[0]) if pair is None else Value(SEQUENCE, ref=tuple(pair))
        )
        return Value(COLLECTION, ref=whole)
    if name == "itertools.pairwise":
        return Value(COLLECTION, ref=Value(SEQUENCE, ref=(items[0], items[0])))
    if name in ("itertools.product", "itertools.zip_longest"):
        number = arguments.keywords.get("repeat", NOTHING_KNOWN).constant()
        times = number.value if number is not None and isinstance(number.value, int) else 1
        if "repeat" in arguments.keywords and number is None:
            return None
        return Value(COLLECTION, ref=Value(SEQUENCE, ref=tuple(items * min(times, _MOST))))
    if name in _AS_THEY_ARE:
        chained = items[:1] if name == "itertools.islice" else items
        return Value(COLLECTION, ref=join_all(tuple(chained)))
    return None
