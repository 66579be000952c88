"""`tf.TensorArray`: how many rows it was made with, whether it grows, and what XLA makes of writing to it.

XLA keeps an array as one buffer of the size that it was made with. TensorFlow 2.17 and later drop what is written beyond
the end without a word (earlier ones refuse to compile), and the gradient of an array made with `dynamic_size=True` does
not compile even where every row fits: `TensorListResize` has no kernel, and in a loop it kills the process
(fixtures/XLA205, on TensorFlow 2.21).

`concat` takes all parts for as long as one of them: what masks keep of each image, put together, is cut or filled up
(fixtures/XLA204/flagged_arrays_of_kept_parts.py). Its `producer` says of an array that such parts were written to it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.facts import (
    CALL,
    DATA_SIZED_USE,
    GROWING_ARRAY,
    CallDetail,
    Verdict,
)
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import promised_sizes, text
from xlalint.semantics.hazards.sizes import note_sizes
from xlalint.semantics.index import ModuleInfo
from xlalint.semantics.results import dtypes, shapes
from xlalint.semantics.results.result_shapes import number, numbers
from xlalint.semantics.results.result_sizes import is_left_by_mask
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.syntax import passed_for
from xlalint.semantics.values import (
    COMPUTED,
    FALSE,
    FROM_SHAPE,
    NOTHING_KNOWN,
    SEQUENCE,
    TENSOR,
    TENSOR_ARRAY,
    TRUE,
    Const,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

_PARAMETERS = ("dtype", "size", "dynamic_size")
# Where `element_shape` stands among the parameters.
_ELEMENT_SHAPE = 8
PARTS = "parts"
_TAKE_OUT = frozenset({"stack", "concat", "gather", "read"})
_SCATTER_OP = "TensorListScatterIntoExistingList"


class Rows(NamedTuple):
    """What is known of an array: where it was made, and with how many rows (None: not known while reading).

    `grows` says that it was made with `dynamic_size=True`, `has_shape` that the shape of its elements is known: given, or something
    was written; `promised` is the one that was given. `dtype` is that of the elements, `element` their shape once it is known.
    """

    made_at: ast.AST
    module: ModuleInfo
    size: int | None
    grows: bool
    has_shape: bool
    promised: promised_sizes.Promise | None = None
    dtype: str | None = None
    element: Shape | None = None

    def joined(self, other: Rows) -> Rows | None:
        """What is known of an array that is one of the two: one made to grow loses its rows, whatever the other would do."""
        if self.made_at is not other.made_at or self.size != other.size:
            return next((rows for rows in (self, other) if rows.grows), None)
        if self.has_shape is not other.has_shape:
            return self if self.has_shape else other
        return self._replace(element=shapes.join(self.element, other.element))

    def written(self, part: Value) -> Rows:
        """The array with this part in it."""
        is_number = type(part.ref) is Const and isinstance(part.ref.value, (int, float))
        known = part.is_tensor and not (part.structured or part.optional or part.guess)
        shape = () if is_number else part.shape if known else None
        element = shapes.join(self.element, shape) if self.has_shape else shape
        return self._replace(has_shape=True, element=element)


def construct(arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """The value of `tf.TensorArray(...)`; notes a size that is taken from data."""
    bound = dict(zip(_PARAMETERS, arguments.positional)) | arguments.keywords
    size = bound.get("size", NOTHING_KNOWN)
    note_sizes("tf.TensorArray", bound, ("size",), node, frame)
    text.note_array(bound.get("dtype", NOTHING_KNOWN), node, frame)
    grows = bound.get("dynamic_size", FALSE) == TRUE
    shape = arguments.keywords.get("element_shape")
    promised = element = None
    if shape is not None:
        element = numbers(shape)
        promised = promised_sizes.promise(
            element, passed_for(node, _ELEMENT_SHAPE, "element_shape")
        )
    dtype = dtypes.named(bound.get("dtype", NOTHING_KNOWN))
    rows = Rows(
        node, frame.module, number(size), grows, shape is not None, promised, dtype, element
    )
    return Value(TENSOR_ARRAY, COMPUTED, ref=rows)


def is_unwritten(value: Value) -> bool:
    """Whether the shape of an array's elements is still open."""
    return type(value.ref) is Rows and not value.ref.has_shape


def method(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """The value of `array.attr(...)`; notes writes that XLA loses."""
    if attr == "write":
        _note_growth(base, arguments, node, frame)
        part = _part(arguments)
        if type(base.ref) is Rows:
            place = passed_for(node, 1, "value")
            promised_sizes.note_write(base.ref.promised, part, place, node, frame)
        return _with_part(_written(base, part), part, node)
    if attr == "scatter":
        _note_scatter(arguments, node, frame)
        return _written(base, NOTHING_KNOWN)
    if attr == "unstack":
        return _unstacked(base, arguments)
    if attr == "split":
        _note_unequal_parts(base, arguments, node, frame)
        return base._replace(ref=None)  # as many rows as there are lengths
    if attr == "identity":
        return base
    if attr == "concat" and base.producer is not None:
        frame.analysis.note(frame, node, DATA_SIZED_USE, base, PARTS)
    if attr == "size":
        # The length of the one buffer, which XLA knows when it compiles.
        return Value(TENSOR, FROM_SHAPE, dtype="int32", rank=0, shape=())
    return _taken_out(base, attr) if attr in _TAKE_OUT else NOTHING_KNOWN


def _taken_out(base: Value, attr: str) -> Value:
    """What reading an array gives: TensorFlow knows the shape of all of it from what was written."""
    rows = base.ref
    if type(rows) is not Rows:
        return Value(TENSOR, COMPUTED)
    if rows.element is None:
        return Value(TENSOR, COMPUTED, dtype=rows.dtype)
    shape: Shape | None = rows.element
    if attr == "concat":
        shape = (None, *rows.element[1:]) if rows.element else None
    elif attr != "read":
        shape = (rows.size if attr == "stack" and not rows.grows else None, *rows.element)
    rank = None if shape is None else len(shape)
    return Value(TENSOR, COMPUTED, dtype=rows.dtype, rank=rank, shape=shape)


def _written(base: Value, part: Value) -> Value:
    return base._replace(ref=base.ref.written(part)) if type(base.ref) is Rows else base


def _unstacked(base: Value, arguments: Arguments) -> Value:
    """An array of as many rows as a tensor has."""
    given = (*arguments.positional[:1], arguments.keywords.get("value", NOTHING_KNOWN))[0]
    rows = base.ref
    if type(rows) is not Rows or not given.is_tensor or not given.shape or given.structured:
        return base._replace(ref=None)
    size, *element = given.shape
    ref = rows._replace(size=size, grows=False, has_shape=True, element=tuple(element))
    return base._replace(ref=ref)


def _part(arguments: Arguments) -> Value:
    given = (*arguments.positional[1:2], arguments.keywords.get("value", NOTHING_KNOWN))
    return given[0]


def _with_part(base: Value, part: Value, node: ast.AST) -> Value:
    """An array that is written a part of a size that depends on data: the parts that `concat` puts together are of one length for XLA."""
    is_one = type(base.ref) is Rows and base.ref.size == 1
    if is_one or not part.is_tensor or part.sized_axis != 0 or not _differs(part, node):
        return base
    return base._replace(producer=part.producer)


def _differs(part: Value, node: ast.AST) -> bool:
    """Whether each part has a length of its own: what masks keep, and `x[i, :lengths[i]]`. Windows may all be alike."""
    if part.producer is None:
        return False
    if is_left_by_mask(part.producer):
        return True
    try:
        cut = ast.parse(part.producer, mode="eval").body
    except SyntaxError:
        return False
    parts = (
        cut.slice.elts
        if isinstance(cut, ast.Subscript) and isinstance(cut.slice, ast.Tuple)
        else []
    )
    ends = [
        each.upper
        for each in parts
        if isinstance(each, ast.Slice) and each.lower is None and each.upper
    ]
    return len(ends) == 1 and isinstance(ends[0], ast.Subscript)


def _note_growth(base: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    rows = base.ref
    if type(rows) is not Rows or not rows.grows:
        return
    index = number(arguments.positional[0]) if arguments.positional else None
    # One row is where a loop starts that writes more; how many rows a loop writes is not known otherwise.
    least = 1 if index is None else index
    loses = rows.size is not None and rows.size <= least
    at = rows.made_at if rows.module is frame.module else node
    frame.analysis.note(frame, at, GROWING_ARRAY, base, "loses-rows" if loses else "gradient")


def _note_scatter(arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """`array.scatter(indices, x)` writes into a list that exists, for which XLA has no kernel."""
    op = frame.analysis.catalog.op(_SCATTER_OP)
    if op is not None and not op.kernel:
        verdict = Verdict("fails", (_SCATTER_OP,), "no-kernel", (), ())
        detail = CallDetail(
            "tf.TensorArray.scatter", (), verdict, False, "certain", None, (_SCATTER_OP,)
        )
        frame.analysis.note(frame, node, CALL, NOTHING_KNOWN, detail)


def _note_unequal_parts(base: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """`array.split(x, [1, 3])`: the rows of XLA's one buffer have one length."""
    lengths = arguments.keywords.get(
        "lengths", (*arguments.positional, NOTHING_KNOWN, NOTHING_KNOWN)[1]
    )
    known = {number(item) for item in lengths.ref} if lengths.kind is SEQUENCE else set()
    if len(known) > 1 and None not in known:
        frame.analysis.note(frame, node, GROWING_ARRAY, base, "unequal-parts")
