"""What a mask keeps, or a slice cuts, in a step of a loop of the graph, and in another step is longer or shorter.

The gradient of a loop runs it backwards, with what each step kept. XLA holds the parts that all steps kept in one buffer, and takes all of them
to be as long as one: the gradient compiles, and loses the elements of those that are longer, or counts them wrongly. The loss is right. So it is in `tf.map_fn`,
`tf.scan`, `tf.foldl`, tf.while_loop and converted loops, with `x[mask]`, tf.boolean_mask, a gather of what tf.where or a suppression of boxes
chose, and `x[:n]` (measured, TensorFlow 2.15 and 2.21: fixtures/XLA204/flagged_kept_in_steps.py). What all steps keep alike is right.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from xlalint.semantics.gradients import others
from xlalint.semantics.gradients.flows import body_of, is_too_long
from xlalint.semantics.gradients.misplaced import CUT, KEPT
from xlalint.semantics.gradients.purposes import is_label
from xlalint.semantics.syntax import nodes_of

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame
    from xlalint.semantics.values import Value

_ASSIGNS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr)
_LOOPS = (ast.For, ast.While)
_GATHERS = frozenset({"tf.gather", "tf.gather_nd", "tf.compat.v1.gather", "tf.compat.v1.gather_nd"})
_CHOOSE = frozenset({"tf.where", "a boolean mask"})
_DEEPEST = 4


def note_mask(node: ast.expr, base: ast.expr, mask: ast.expr, value: Value, frame: Frame) -> None:
    """`value`, written as `base`, of which a mask keeps a part, in a step of a loop or not."""
    if frame.rounds and not _is_label(base) and _is_of_its_own(mask, frame):
        frame.analysis.gradients.note_of(node, [base], value, KEPT, frame)


def note_gather(name: str, node: ast.AST, bound: dict[str, Value], frame: Frame) -> None:
    """`tf.gather(x, places)`, where the data say how many places there are."""
    if not frame.rounds or name not in _GATHERS or not isinstance(node, ast.Call):
        return
    whole, places = bound.get("params"), bound.get("indices")
    if whole is None or places is None or len(node.args) < 2:
        return
    if whole.is_tensor and whole.producer is None and _is_chosen(places.producer):
        note_mask(node, node.args[0], node.args[1], whole, frame)


def note_slice(node: ast.Subscript, bound: ast.expr, value: Value, frame: Frame) -> None:
    """`x[:n]`, where only the running program knows `n`; a window `x[i : i + n]` is as long in each step.

    What functions get that a step calls is often made of labels, in code that assigns targets.
    """
    if not frame.rounds or _is_label(node.value) or not isinstance(bound, ast.Slice):
        return
    is_here = any(isinstance(each, _LOOPS) for each in frame.constructs)
    is_here = is_here or frame.function in frame.analysis.graph_bodies
    has_one_end = (bound.lower is None) != (bound.upper is None)
    if is_here and has_one_end and _is_of_its_own(bound, frame):
        frame.analysis.gradients.note_of(node, [node.value], value, CUT, frame)


def _is_chosen(producer: str | None) -> bool:
    """Whether places are those that a mask or a suppression of boxes chose: others may be as many in each step."""
    if producer is None:
        return False
    return producer in _CHOOSE or "non_max_suppression" in producer


def _is_label(base: ast.expr) -> bool:
    said = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
    return is_label(said)


def _is_of_its_own(chosen: ast.expr, frame: Frame) -> bool:
    """Whether what chooses is made anew by each step, of what the step is given, and may choose another number than in other steps."""
    if is_too_long(frame) or others.are_chosen(chosen, frame):
        return False
    return _reads([chosen], _made_by_steps(frame, _DEEPEST))


def _made_by_steps(frame: Frame, depth: int) -> set[str]:
    """The names of a function that hold something else in each step of the loop around."""
    loop = next((c for c in frame.constructs if isinstance(c, _LOOPS)), None)
    if loop is not None:
        found = _stored([loop.target]) if isinstance(loop, ast.For) else set()
        return _spread(found, list(nodes_of(loop.body)), is_repeated=True)
    info = frame.function
    if info is None or not depth:
        return set()
    found = set(info.parameter_names) if info in frame.analysis.graph_bodies else set()
    if not found:
        found = _given_by_steps(frame, depth)
    if frame.outer is not None and frame.outer.rounds:
        found |= _made_by_steps(frame.outer, depth - 1) - info.parameter_names
    return _spread(found, body_of(info), is_repeated=False)


def _given_by_steps(frame: Frame, depth: int) -> set[str]:
    """The parameters for which a call in a step passes what it was given or has made."""
    caller, call, info = frame.caller, frame.called_at, frame.function
    if caller is None or info is None or not caller.rounds or not isinstance(call, ast.Call):
        return set()
    made = _made_by_steps(caller, depth - 1)
    given = info.node.args
    names = [each.arg for each in (*given.posonlyargs, *given.args)]
    if names and frame.self_name == names[0]:
        names = names[1:]
    for place, each in enumerate(call.args):
        if isinstance(each, ast.Starred) and _reads([each], made):
            return set(names[place:])
    found = {name for name, each in zip(names, call.args) if _reads([each], made)}
    return found | {k.arg for k in call.keywords if k.arg and _reads([k.value], made)}


def _spread(found: set[str], parts: Sequence[ast.AST], *, is_repeated: bool) -> set[str]:
    """Those names, and those that are computed of them, or drawn; in a repeated block also what is computed of itself."""
    assigned = [
        (_stored(part.targets if isinstance(part, ast.Assign) else [part.target]), part)
        for part in parts
        if isinstance(part, _ASSIGNS)
    ]
    before = -1
    while before != len(found):
        before = len(found)
        for names, part in assigned:
            value = [part.value] if part.value is not None else []
            is_carried = is_repeated and (isinstance(part, ast.AugAssign) or _reads(value, names))
            if is_carried or _reads(value, found):
                found = found | names
    return found


def _reads(roots: Iterable[ast.AST], names: set[str]) -> bool:
    """Whether an expression reads one of these names, or draws random numbers."""
    for part in nodes_of(roots):
        if isinstance(part, ast.Name) and part.id in names:
            return True
        if isinstance(part, ast.Attribute) and part.attr == "random":
            return True
    return False


def _stored(targets: Iterable[ast.AST]) -> set[str]:
    return {part.id for part in nodes_of(targets) if isinstance(part, ast.Name)}
