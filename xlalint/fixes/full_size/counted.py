"""Tensors as long as a number says, and boxes that suppression keeps: the first so many of a tensor of full size."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple

import libcst as cst

from xlalint.fixes.bindings import origin, reads, simple_target
from xlalint.fixes.calls import argument, spreads
from xlalint.fixes.draft import Draft
from xlalint.fixes.full_size.masks import POSITIONS, VALUES, Kept, Mask
from xlalint.fixes.ranks import Rank
from xlalint.fixes.upper import upper
from xlalint.semantics.values import FROM_SHAPE

SUPPRESSION = "tf.image.non_max_suppression"
REORDERED = "Boxes with corners in the other order (y2 before y1), and scores that are NaN, may be kept where they were not."
_FILLS = frozenset({"tf.zeros", "tf.ones", "tf.fill"})
_WHOLE = ("int32", "int64")

Identity = Callable[[cst.BaseExpression], Hashable | None]


class _Limit(NamedTuple):
    """The largest size that something has: its code, what that is read from, and what is taken for granted."""

    code: str
    of: tuple[cst.BaseExpression, ...]
    rows: Hashable | None = None
    doubt: str | None = None


def first_of(draft: Draft, node: cst.Call, identity: Identity) -> Kept | None:
    """What a call makes that is as long as a number from data says, as the first elements of a tensor of the largest length."""
    api = draft.api(node)
    if spreads(node) or not node.args:
        return None
    if api == SUPPRESSION:
        return _boxes(draft, node)
    if api == "tf.range":
        return _range(draft, node, identity)
    return _filled(draft, node, identity) if api in _FILLS else None


def _range(draft: Draft, node: cst.Call, identity: Identity) -> Kept | None:
    """`tf.range(n)`."""
    number, rest = node.args[0].value, node.args[1:]
    if node.args[0].keyword is not None or any(
        given.keyword is None or given.keyword.value != "dtype" for given in rest
    ):
        return None
    limit = _limit(draft, node, number, identity)
    mask = None if limit is None else _mask(draft, number, limit, identity)
    if limit is None or mask is None:
        return None
    text = _counting(draft, limit.code, draft.value(number).dtype)
    if rest:
        text = f"{draft.tensorflow}.range({limit.code}, dtype={draft.code(rest[0].value)})"
    doubt = _doubt(draft, number, limit)
    return Kept(POSITIONS, mask, 0, is_source=True, text=text, doubt=doubt)


def _filled(draft: Draft, node: cst.Call, identity: Identity) -> Kept | None:
    """`tf.zeros([n, 3])`, `tf.fill([n], value)`."""
    shape = node.args[0].value
    if not isinstance(shape, (cst.List, cst.Tuple)) or not shape.elements:
        return None
    number, *others = (element.value for element in shape.elements)
    if any(draft.value(other).dependence > FROM_SHAPE for other in others):
        return None
    bound = upper(draft, number, node)
    limit = None if bound is None else _Limit(bound.code, bound.of)
    mask = None if limit is None else _mask(draft, number, limit, identity)
    if limit is None or mask is None:
        return None
    sizes = ", ".join((limit.code, *(draft.code(other) for other in others)))
    rest = [draft.code(given).rstrip().rstrip(",") for given in node.args[1:]]
    text = f"{draft.code(node.func)}({', '.join((f'[{sizes}]', *rest))})"
    doubt = _doubt(draft, number, limit)
    return Kept(VALUES, mask, len(others), is_source=True, text=text, doubt=doubt)


def _limit(
    draft: Draft, node: cst.Call, number: cst.BaseExpression, identity: Identity
) -> _Limit | None:
    """The rows of the one tensor that is gathered from, else a bound that the number has by itself."""
    tables = list(_tables(draft, node))
    names = {table.value for table in tables if isinstance(table, cst.Name)}
    if tables and len(names) == 1 and all(isinstance(table, cst.Name) for table in tables):
        name, origins = names.pop(), [origin(draft, t.value, t) for t in tables]  # type: ignore[attr-defined]
        here = origin(draft, name, node)
        if here is not None and all(known == here for known in origins):
            doubt = f"`{draft.code(number)}` is taken to be no more than `{name}` has rows; eager TensorFlow raises there."
            code = f"{draft.tensorflow}.shape({name})[0]"
            return _Limit(code, (tables[0],), identity(tables[0]), doubt)
    bound = upper(draft, number, node)
    return None if bound is None else _Limit(bound.code, bound.of)


def _tables(draft: Draft, node: cst.Call) -> Iterator[cst.BaseExpression]:
    """What rows are taken of by an expression, or by the name that it is given."""
    assignment = draft.parent(node)
    name = simple_target(assignment) if isinstance(assignment, cst.Assign) else None
    uses: list[cst.BaseExpression] = [node]
    if name is not None and isinstance(assignment, cst.Assign):
        uses = list(reads(draft, assignment, name) or ())
    for use in uses:
        given = draft.parent(use)
        call = None if given is None else draft.parent(given)
        if isinstance(call, cst.Call) and draft.api(call) == "tf.gather" and len(call.args) == 2:
            if call.args[1] is given:
                yield call.args[0].value


def _doubt(draft: Draft, number: cst.BaseExpression, limit: _Limit) -> str | None:
    doubts = [limit.doubt] if limit.doubt else []
    if draft.value(number).dtype is None:
        doubts.append(f"`{draft.code(number)}` is taken to be of int32.")
    return " ".join(doubts) or None


def _mask(
    draft: Draft, number: cst.BaseExpression, limit: _Limit, identity: Identity
) -> Mask | None:
    """Which elements are there: `tf.range(limit) < number`."""
    value, key = draft.value(number), identity(number)
    is_loose = isinstance(number, (cst.Comparison, cst.BooleanOperation, cst.IfExp, cst.Lambda))
    if not value.is_tensor or value.dtype not in (*_WHOLE, None) or value.dependence <= FROM_SHAPE:
        return None
    if key is None or is_loose or draft.tensorflow is None:
        return None
    template = f"{_counting(draft, limit.code, value.dtype)} < {{}}"
    return Mask(
        ("first", key, limit.code),
        number,
        Rank(None, 1),
        template,
        bound=limit.of,
        rows=limit.rows,
    )


def _counting(draft: Draft, size: str, dtype: str | None) -> str:
    tf = draft.tensorflow
    if dtype != "int64":
        return f"{tf}.range({size})"
    if size.isdigit():
        return f"{tf}.range({size}, dtype={tf}.int64)"
    if size.startswith((f"{tf}.shape(", f"{tf}.size(")) and size.count(")") == 1:
        return f"{tf}.range({size.replace(')', f', {tf}.int64)')})"
    return f"{tf}.range({tf}.cast({size}, {tf}.int64))"


def _boxes(draft: Draft, node: cst.Call) -> Kept | None:
    """`kept = tf.image.non_max_suppression(boxes, scores, n)`."""
    limit = argument(node, "max_output_size", 2)
    is_named = simple_target(draft.parent(node) or node) is not None
    is_written = isinstance(node.func, cst.Attribute) and draft.tensorflow is not None
    # A sixth argument is the name here, and something else there.
    if limit is None or not is_named or not is_written:
        return None
    if len([given for given in node.args if given.keyword is None]) > 5:
        return None
    if draft.value(limit.value).dependence > FROM_SHAPE:
        return None
    mask = Mask(("boxes", id(node)), limit.value, Rank(None, 1), made_by=node)
    return Kept(VALUES, mask, 0, is_source=True, text=draft.code(node), doubt=REORDERED)


def rank_of_rows(draft: Draft, table: cst.BaseExpression, mask: Mask) -> int | None:
    """The rank of boxes, or of their scores, that suppression was given."""
    if mask.made_by is None:
        return None
    for position, (name, rank) in enumerate((("boxes", 2), ("scores", 1))):
        given = argument(mask.made_by, name, position)
        if given is not None and draft.code(given.value) == draft.code(table):
            return rank
    return None
