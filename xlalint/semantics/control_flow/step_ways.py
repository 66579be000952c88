"""What single ways through a step leave of a loop's variables: an arm that ends in `break`, an arm of other sizes than the other.

AutoGraph makes state of the loop of both: `boxes = tf.boolean_mask(boxes, keep)` before a `break` is refused as it would be without, and
so is a variable that one arm of a conditional gives another size (measured, TensorFlow 2.15 and 2.21: fixtures/XLA206/flagged_ways_of_a_step.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.local_names import Changes
from xlalint.semantics.results.rejoined import is_rejoined
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import Value

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame


class Way(NamedTuple):
    """What a variable is at the end of a step, and the statement that made it so.

    `joined` is what it is of all ways together, where they go on: of it nothing is known here once it is assigned anew.
    """

    value: Value
    by: ast.stmt
    joined: Value | None = None


Ways = dict[str, list[Way]]


def leaves(block: Sequence[ast.stmt], frame: Frame) -> bool:
    """Whether an arm ends in a `break` out of a loop of the graph."""
    is_left = bool(block) and isinstance(block[-1], ast.Break)
    return is_left and bool(frame.loops) and frame.loops[-1] in frame.graph_loops


def keep_left(block: Sequence[ast.stmt], changes: Changes, frame: Frame) -> None:
    """Keep what an arm has made of the names by its `break`."""
    if not leaves(block, frame):
        return
    for name, value in changes.items():
        by = _last_assignment(name, block) if value is not None and value.is_tensor else None
        if by is not None and value is not None:
            _keep(name, Way(value, by), frame)


def keep_joined(changes: Sequence[Changes], frame: Frame) -> None:
    """Keep what two arms have made of the names that they leave in different sizes."""
    if frame.loops[-1] not in frame.graph_loops:
        return
    for name in {**changes[0], **changes[1]}:
        joined = frame.names.get(name)
        values = [arm.get(name) for arm in changes]
        if joined is None:
            continue
        for value in values:
            if value is not None and _is_another_size(value, joined):
                by = _last_assignment(name, _body(frame.loops[-1]))
                if by is not None:
                    _keep(name, Way(value, by, joined), frame)


def _is_another_size(value: Value, joined: Value) -> bool:
    """Whether what one arm leaves has sizes of its own, which are lost where the arms meet."""
    if is_rejoined(value):
        return not is_rejoined(joined)
    if joined.shape is None or None not in joined.shape:
        return False
    return value.shape is not None and value.shape != joined.shape


def of(loop: ast.AST, name: str, new: Value | None, frame: Frame) -> Iterator[Way]:
    """The single ways on which a step ends with a value of its own for that name; `new` is what the others leave."""
    for way in frame.ways.get(loop, {}).get(name, ()):
        if way.joined is None or way.joined == new:
            yield way


def _keep(name: str, way: Way, frame: Frame) -> None:
    frame.ways.setdefault(frame.loops[-1], {}).setdefault(name, []).append(way)


def _body(loop: ast.AST) -> Sequence[ast.stmt]:
    return loop.body if isinstance(loop, (ast.For, ast.While)) else ()


def _last_assignment(name: str, block: Sequence[ast.stmt]) -> ast.stmt | None:
    found: ast.stmt | None = None
    for part in nodes_of(block, into_functions=False):
        if isinstance(part, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            if any(isinstance(n, ast.Name) and n.id == name for t in targets for n in ast.walk(t)):
                found = part if found is None or part.lineno > found.lineno else found
    return found
