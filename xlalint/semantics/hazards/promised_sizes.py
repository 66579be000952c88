"""A size that is promised for what the steps of a loop collect, where the data say how big each is.

`tf.map_fn(lambda i: x[i : i + 2], tf.range(n), fn_output_signature=tf.TensorSpec([2, 3]))` collects rows of two by three, and for XLA the slice is as
long as x: "Invalid TensorList shape". So it is with what a mask keeps, and with `TensorArray(..., element_shape=[2, 3])` that a loop of
the graph writes to; and so it is with what an arm of a conditional fills up to that size (`if missing > 0: kept = tf.pad(kept, ...)`), for which XLA
has room for what was kept and for all that may be missing. Filled up without asking, it fits. With an open size (`[None, 3]`), or none at all, it compiles (measured, TensorFlow 2.15 and 2.21:
fixtures/XLA204/flagged_promised_sizes.py). Outside of loops XLA on CPU and GPU compiles it for the arguments that decide the size: nothing is said there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xlalint.semantics.control_flow import named_tests
from xlalint.semantics.facts import DATA_SIZED_USE
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.results.result_sizes import is_left_by_mask
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.values import FUNCTION, SEQUENCE, Cut, Kept, Value

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame
    from xlalint.semantics.results.shapes import Shape

PROMISED = "promised-size"
# The dimensions that are promised: a number, the text of an expression that is one, None for an open or unknown one.
Promise = tuple[int | str | None, ...]
_LOOPS = (ast.For, ast.While)
_KEEP = frozenset({"boolean_mask", "where", "gather", "gather_nd"})


def promise(shape: Shape | None, written: ast.AST | None) -> Promise | None:
    """What a static shape promises, and of dimensions that are not known how they are written (`[size, 3]`)."""
    if shape is None:
        return None
    known = tuple(each if isinstance(each, int) else None for each in shape)
    listed = written.elts if isinstance(written, (ast.List, ast.Tuple)) else ()
    if len(listed) != len(known):
        return known
    return tuple(each or _text(node) for each, node in zip(known, listed))


def _text(node: ast.expr) -> str | None:
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else None


def note_mapped(
    node: ast.AST,
    function: Value | None,
    result: Value,
    promised: Value,
    spec: ast.AST,
    frame: Frame,
) -> None:
    """What `tf.map_fn` collects of a function's results, and `fn_output_signature` promises of them."""
    function = _handed_to(function, frame)
    parts: list[tuple[Value, Value, ast.AST | None, list[ast.AST | None]]]
    if promised.kind is not SEQUENCE:
        parts = [(result, promised, spec, _returned(function))]
    elif result.kind is SEQUENCE and len(result.ref) == len(promised.ref):
        columns = zip(*(_items(each, len(result.ref)) for each in _returned(function)))
        specs = _items(spec, len(result.ref))
        parts = list(zip(result.ref, promised.ref, specs, map(list, columns)))
    else:
        return
    for value, each, written, ways in parts:
        shape = _shape_of(written)
        is_filled = bool(ways) and all(_is_filled_in_an_arm(way, function) for way in ways)
        if _breaks(value, promise(each.shape, shape), ways, is_filled=is_filled):
            frame.analysis.note(frame, node, DATA_SIZED_USE, value, PROMISED)


def _handed_to(function: Value | None, frame: Frame) -> Value | None:
    """The function that a lambda hands its arguments to: `lambda args: of_image(args[0], args[1])`."""
    info = function.ref if function is not None and function.kind is FUNCTION else None
    called = info.node.body if isinstance(info, FunctionInfo) else None
    if not isinstance(called, ast.Call) or not isinstance(called.func, ast.Name):
        return function
    target = frame.analysis.evaluate(called.func, frame)
    return target if target.kind is FUNCTION else function


def _shape_of(spec: ast.AST | None) -> ast.expr | None:
    """What `tf.TensorSpec([2, 3])` or `tf.TensorSpec(shape=[2, 3], dtype=...)` says of the shape."""
    if not isinstance(spec, ast.Call):
        return None
    named = (each.value for each in spec.keywords if each.arg == "shape")
    return spec.args[0] if spec.args else next(named, None)


def _is_filled_in_an_arm(way: ast.AST | None, function: Value | None) -> bool:
    """Whether the name that a function returns is filled up by its own `if`: `if missing > 0: kept = tf.pad(kept, ...)`."""
    info = function.ref if function is not None and function.kind is FUNCTION else None
    if not isinstance(way, ast.Name) or not isinstance(info, FunctionInfo):
        return False
    conditionals = [part for part in nodes_of(info.body) if isinstance(part, ast.If)]
    return any(
        isinstance(each, ast.Assign)
        and isinstance(each.value, ast.Call)
        and called_name(each.value) == "pad"
        and [ast.unparse(target) for target in each.targets] == [way.id]
        for conditional in conditionals
        if not conditional.orelse
        for each in conditional.body
    )


def note_write(
    promised: Promise | None, part: Value, place: ast.expr | None, node: ast.AST, frame: Frame
) -> None:
    """`rows.write(i, x[i : i + 2])` in a loop of the graph, to an array whose elements have a shape."""
    if (
        promised is None
        or place is None
        or not any(isinstance(c, _LOOPS) for c in frame.constructs)
    ):
        return
    if _breaks(part, promised, [named_tests.written(place, frame.function)]):
        frame.analysis.note(frame, node, DATA_SIZED_USE, part, PROMISED)


def _breaks(
    part: Value,
    promised: Promise | None,
    ways: Sequence[ast.AST | None],
    *,
    is_filled: bool = False,
) -> bool:
    """Whether the axis along which the data say the size of a part, itself what was cut or kept, is promised to have one."""
    axis = part.sized_axis
    if promised is None or part.producer is None or axis is None or axis >= len(promised):
        return False
    size = promised[axis]
    if size is None or (part.shape is not None and len(part.shape) != len(promised)):
        return False
    if type(part.ref) is Cut:
        return axis in part.ref.axes and (isinstance(size, int) or _names(part.producer, size))
    if is_filled:
        return True
    is_whole = type(part.ref) is Kept and part.ref.at_most == size
    is_kept = is_left_by_mask(part.producer) and bool(ways) and all(map(_keeps, ways))
    return isinstance(size, int) and is_kept and not is_whole


def _names(written: str, size: str) -> bool:
    """Whether what cut a part (`x[i : i + length]`) reads an expression: then it is a number."""
    return re.search(rf"(?<![\w.]){re.escape(size)}(?!\w)", written) is not None


def _keeps(way: ast.AST | None) -> bool:
    """Whether an expression is what a mask keeps, and nothing computed of it: the first two of it are two for XLA as well."""
    if isinstance(way, ast.Call):
        return called_name(way) in _KEEP
    return isinstance(way, ast.Subscript) and not isinstance(way.slice, (ast.Slice, ast.Tuple))


def _returned(function: Value | None) -> list[ast.AST | None]:
    """How what a function returns is written, in each way out of it."""
    info = function.ref if function is not None and function.kind is FUNCTION else None
    if not isinstance(info, FunctionInfo):
        return []
    body = info.node.body
    if not isinstance(body, list):
        return [body]
    found = [
        part.value for part in nodes_of(body, into_functions=False) if isinstance(part, ast.Return)
    ]
    return [named_tests.written(each, info) if each is not None else None for each in found]


def _items(written: ast.AST | None, count: int) -> list[ast.AST | None]:
    """The parts of what is written as a tuple or list of so many."""
    if isinstance(written, (ast.List, ast.Tuple)) and len(written.elts) == count:
        return list(written.elts)
    return [None] * count
