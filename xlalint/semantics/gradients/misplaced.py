"""Gradients that XLA compiles, and hands to the wrong places or in the wrong size: of parts joined, and of parts cut.

`tf.concat([kept, x], 0)` is right going forward. Its gradient is cut at the sizes of the parts, for which XLA takes the bound of a part whose
size depends on data: what stands behind such a part gets numbers that are not its own, whatever the loss is; of two dimensions and more, so does
what stands before it, or the process dies. A single part that a gradient is taken of, beside constants, is right, and so is the plain sum or
mean of parts that are all data-sized, as each of their elements gets the same. `tf.slice(x, [0, 0], [n, 3])` puts its gradient back among as
many zeros as the size leaves, of which XLA knows no more than a bound either (both measured on TensorFlow 2.12, 2.15, 2.18 and 2.21:
fixtures/XLA204/flagged_gradients_of_joined_parts.py, fixtures/XLA206/flagged_gradients_of_cut_parts.py). That of `tf.reduce_sum(x[:n])` is refused
from TensorFlow 2.16 on, while the mean's and that of what is computed of the slice is right.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xlalint.semantics.control_flow import named_tests
from xlalint.semantics.elements import leaves
from xlalint.semantics.gradients.flows import body_of, is_too_long
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.values import SEQUENCE, Value

if TYPE_CHECKING:
    from xlalint.semantics.catalog.entries import Api
    from xlalint.semantics.frames import Frame

JOINED = "joined"
CUT = "cut"
SUMMED = "summed"
# In steps of a loop: kept_in_steps.py.
KEPT = "kept-in-step"
# In the arms of a conditional: unequal_results.py.
UNEQUAL_ARMS = "unequal-arms"
FILLED_BY_SHAPE = "filled-by-shape"

_SUMS = frozenset({"tf.reduce_sum", "tf.math.reduce_sum", "keras.ops.sum", "keras.backend.sum"})
# Every element gets the same back of these, or nothing.
_EVEN = frozenset({"reduce_sum", "reduce_mean", "sum", "mean", "shape", "size", "print"})


def note_joined(node: ast.AST, items: Sequence[Value], sized: Value, frame: Frame) -> None:
    """A call that joins parts along the axis along which the data size one of them, of a dtype that may have a gradient."""
    listed = _first_argument(node)
    if listed is None or is_too_long(frame):
        return
    if all(item.producer is not None for item in items) and not _is_worked_on(node, frame):
        return
    wrong = _listed(listed, frame) or _that_get_others(listed, items)
    if wrong:
        frame.analysis.gradients.note_of(node, wrong, sized, JOINED, frame)


def note_cut(api: Api, bound: dict[str, Value], node: ast.AST, frame: Frame) -> None:
    """`tf.slice(x, [0, 0], [n, 3])`, where `n` counts what a mask kept, or is computed as the program runs."""
    sizes = bound.get("size")
    whole = _first_argument(node)
    if api.name != "tf.slice" or sizes is None or whole is None:
        return
    if sizes.kind is SEQUENCE and any(_is_late(size) for size in leaves(sizes)):
        first = bound.get("input_")
        if first is not None and first.is_tensor:
            frame.analysis.gradients.note_of(node, [whole], first, CUT, frame)


def note_summed(api: Api, summed: Value, node: ast.AST, frame: Frame) -> None:
    """`tf.reduce_sum(losses[:n])`, written as one or with a name for the slice."""
    if api.name not in _SUMS or frame.analysis.tells_counts_apart:
        return
    if summed.producer is None or is_too_long(frame):
        return
    given = _first_argument(node)
    part = named_tests.written(given, frame.function) if given is not None else None
    if not isinstance(part, ast.Subscript):
        return
    places = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
    ends = [
        end
        for place in places
        if isinstance(place, ast.Slice)
        for end in (place.lower, place.upper)
    ]
    late = [end for end in ends if end is not None and not isinstance(end, ast.Constant)]
    if any(_is_late(frame.analysis.evaluate(end, frame)) for end in late):
        whole = frame.analysis.evaluate(part.value, frame)
        if whole.is_tensor and whole.producer is None:
            frame.analysis.gradients.note_of(part, [part.value], whole, SUMMED, frame)


def _is_worked_on(node: ast.AST, frame: Frame) -> bool:
    """Whether something is computed of what the call joins, element by element: then each gets a gradient of its own."""
    parts = list(nodes_of(body_of(frame.function)))
    names = {
        target.id
        for part in parts
        if isinstance(part, ast.Assign) and part.value is node
        for target in part.targets
        if isinstance(target, ast.Name)
    }

    def is_joined(part: ast.AST) -> bool:
        return part is node or (isinstance(part, ast.Name) and part.id in names)

    for part in parts:
        if isinstance(part, ast.Call) and called_name(part) not in _EVEN:
            if any(is_joined(given) for given in (*part.args, *(k.value for k in part.keywords))):
                return True
        elif isinstance(part, ast.BinOp) and (is_joined(part.left) or is_joined(part.right)):
            return True
    return False


def _is_late(size: Value) -> bool:
    """Of what arrives with the call, XLA on CPU and GPU looks at the value, and has the gradient right."""
    return size.is_tensor and size.is_of_the_run and size.sure and not (size.guess or size.optional)


def _first_argument(node: ast.AST) -> ast.expr | None:
    return node.args[0] if isinstance(node, ast.Call) and node.args else None


def _listed(listed: ast.expr, frame: Frame) -> list[ast.expr]:
    """What a comprehension puts into a list, or the function into one that it hands over by its name."""
    if isinstance(listed, ast.ListComp):
        return [listed.elt]
    if not isinstance(listed, ast.Name):
        return []
    put: list[ast.expr] = []
    for part in nodes_of(body_of(frame.function)):
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.ListComp):
            names = [target.id for target in part.targets if isinstance(target, ast.Name)]
            put += [part.value.elt] if listed.id in names else []
        elif isinstance(part, ast.Call) and called_name(part) == "append":
            holder = part.func.value if isinstance(part.func, ast.Attribute) else None
            put += part.args if isinstance(holder, ast.Name) and holder.id == listed.id else []
    return put


def _that_get_others(listed: ast.expr, items: Sequence[Value]) -> list[ast.expr]:
    """The parts whose gradients come out wrong, if one is taken of them."""
    if not isinstance(listed, (ast.List, ast.Tuple)) or len(listed.elts) != len(items):
        return []
    sized = [place for place, item in enumerate(items) if item.producer is not None]
    is_vector = all(item.shape is None or len(item.shape) < 2 for item in items) and not any(
        (item.rank or 0) > 1 for item in items
    )
    return [
        part
        for place, part in enumerate(listed.elts)
        if any(other < place or (other > place and not is_vector) for other in sized)
    ]
