"""What compiles for a TPU and costs more than it looks, where the sizes are known while reading.

The prices are those of the TPU compiler (libtpu 0.0.52, v5e, ahead of time): the bytes that it counts as moved. The pages of
XLA801 to XLA803 have the figures.
"""

from __future__ import annotations

import ast
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import COST
from xlalint.semantics.frames import Frame
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import NOTHING_KNOWN, PYTHON, Kept, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

# How code costs: the words are on the pages of the rules.
TABLE = "table"
MASKED = "masked-reduction"
SCALARS = "scalar-gather"
UNROLLED = "unrolled"

_LANES = 128
_SUBLANES = 8
# Of narrower rows a few are looked up without a copy of the table.
_NARROWEST = 64
# Less than this is not worth a line: reading and writing it takes a v5e's memory a third of a millisecond.
_MOST_MOVED = 128 << 20
_MOST_TURNS = 100
# Bytes moved per element that a mask keeps or drops, and per index of a gather of single numbers: a whole tile each.
_PER_KEPT = 4_230
_PER_INDEX = 4_100
# Of so few numbers, a lookup is a choice between them, which costs nothing.
_FEWEST_NUMBERS = 64

_MASKED_REDUCTIONS = frozenset(
    f"{root}.{name}"
    for root in ("tf", "tf.math")
    for name in (
        "reduce_mean",
        "reduce_sum",
        "reduce_max",
        "reduce_min",
        "reduce_any",
        "reduce_all",
        "reduce_prod",
        "reduce_std",
        "reduce_variance",
        "reduce_logsumexp",
    )
) | frozenset(
    f"keras.{root}.{name}"
    for root in ("ops", "backend")
    for name in ("mean", "sum", "max", "min", "any", "all", "prod", "std", "var")
)
_LOOKUPS = frozenset({"tf.gather", "tf.nn.embedding_lookup", "keras.backend.gather"})


class Cost(NamedTuple):
    """How a node costs (`how`), and the figures of its message in words."""

    how: str
    words: tuple[tuple[str, str], ...]


def note_making(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """`keras.layers.Embedding(1_000_000, 64)`: a table whose rows are no whole number of lanes."""
    if name != "keras.layers.Embedding":
        return
    given = {**dict(zip(("input_dim", "output_dim"), arguments.positional)), **arguments.keywords}
    sizes = [_known_number(given.get(each)) for each in ("input_dim", "output_dim")]
    cost = _of_table((sizes[0], sizes[1]))
    if cost is not None:
        frame.analysis.note_anywhere(frame, node, COST, NOTHING_KNOWN, cost)


def note_call(api: Api, bound: dict[str, Value], node: ast.AST, frame: Frame) -> None:
    """Reductions of what a mask keeps, and lookups, in compiled code."""
    cost = of_call(api, bound)
    if cost is not None:
        frame.analysis.note(frame, node, COST, NOTHING_KNOWN, cost)


def of_call(api: Api, bound: dict[str, Value]) -> Cost | None:
    """What a call costs a TPU, where that is out of the ordinary."""
    if api.name in _MASKED_REDUCTIONS:
        return _of_masked(bound)
    return _of_lookup(bound) if api.name in _LOOKUPS else None


def note_loop(node: ast.For, frame: Frame) -> None:
    """A Python loop of many turns in compiled code: the program holds each of them."""
    if not frame.context.is_compiled or frame.silent or not _is_range(node.iter):
        return
    turns = _turns(node.iter, frame)
    if turns is None or turns < _MOST_TURNS or not _computes(node, frame):
        return
    cost = Cost(UNROLLED, (("turns", f"{turns:,}"),))
    frame.analysis.note(frame, node.iter, COST, NOTHING_KNOWN, cost)


def kept(mask: Value) -> Kept | None:
    """How much a mask of a known shape may keep."""
    size = _size(mask.shape)
    return None if size is None else Kept(size)


def _of_table(shape: Shape) -> Cost | None:
    """A lookup reads whole tiles of rows: a table laid out otherwise, to save memory, is copied first."""
    rows, width = shape
    if rows is None or width is None or width < _NARROWEST:
        return None
    padded = _whole(width, _LANES)
    if _whole(width, _SUBLANES) == padded:
        return None  # it is laid out by rows already
    moved = rows * padded * 4
    if moved < _MOST_MOVED:
        return None
    words = (("rows", f"{rows:,}"), ("width", str(width)), ("padded", str(padded)))
    return Cost(TABLE, (*words, ("moved", _in_words(moved))))


def _of_masked(bound: dict[str, Value]) -> Cost | None:
    values = [leaf for value in bound.values() for leaf in leaves(value)]
    held = next((leaf.ref for leaf in values if type(leaf.ref) is Kept), None)
    return None if held is None else _of_each(MASKED, held.at_most, _PER_KEPT)


def _of_lookup(bound: dict[str, Value]) -> Cost | None:
    table = bound.get("params", bound.get("reference", NOTHING_KNOWN))
    indices = bound.get("indices", bound.get("ids", NOTHING_KNOWN))
    axis, batched = bound.get("axis"), bound.get("batch_dims")
    if (axis is not None and _known_number(axis) != 0) or batched is not None:
        return None
    if not table.is_tensor or table.shape is None or not indices.is_tensor:
        return None
    if len(table.shape) == 2:
        return _of_table((table.shape[0], table.shape[1]))
    count = _size(indices.shape)
    held = table.shape[0] if len(table.shape) == 1 else None
    if held is None or held < _FEWEST_NUMBERS or count is None:
        return None
    return _of_each(SCALARS, count, _PER_INDEX)


def _of_each(how: str, count: int, each: int) -> Cost | None:
    """The cost of something done `count` times, of `each` bytes moved."""
    if count * each < _MOST_MOVED:
        return None
    return Cost(how, (("count", f"{count:,}"), ("moved", _in_words(count * each))))


def _is_range(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "range"
        and not node.keywords
    )


def _turns(node: ast.expr, frame: Frame) -> int | None:
    """How often a loop over `range(...)` of known numbers turns."""
    assert isinstance(node, ast.Call)
    numbers = [_known_number(frame.analysis.evaluate(each, frame)) for each in node.args]
    if not 1 <= len(numbers) <= 3 or None in numbers or numbers[2:] == [0]:
        return None
    return len(range(*(each for each in numbers if each is not None)))


def _computes(node: ast.For, frame: Frame) -> bool:
    """Whether a turn of a loop computes with tensors: some name in it is one."""
    names = {n.id for n in nodes_of(node.body) if isinstance(n, ast.Name)}
    known = (frame.names.get(name) for name in names)
    return any(value is not None and value.is_tensor and value.sure for value in known)


def _known_number(value: Value | None) -> int | None:
    if value is None or value.kind is not PYTHON:
        return None
    known = value.usual()
    if known is None or isinstance(known.value, bool) or not isinstance(known.value, int):
        return None
    return known.value


def _size(shape: Shape | None) -> int | None:
    if shape is None or None in shape:
        return None
    return prod(each for each in shape if each is not None)


def _whole(size: int, tile: int) -> int:
    return -(-size // tile) * tile


def _in_words(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
