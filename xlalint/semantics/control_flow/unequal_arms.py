"""Results of a conditional whose arms differ in size: `tf.cond(n % k > 0, lambda: tf.pad(x, ...), lambda: x)`.

XLA gives such a result a buffer for the larger arm and a count, as it does what a mask leaves, whatever the test is: one that is
known when it compiles is not looked at. All that goes wrong with data-sized tensors goes wrong with it in the same way: a fraction
of its size is no compile-time constant, `y[-1]` is an element of the buffer (measured on TensorFlow 2.21: fixtures/XLA203/
flagged_padded_in_one_arm.py, fixtures/XLA204/flagged_arms_of_two_sizes.py).

Mostly no size is known, and so it is read from the text of the arms how each makes its result of the same tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from xlalint.semantics.control_flow.kept_axes import written_rank
from xlalint.semantics.control_flow.written_slices import axes_sliced, leaves_out
from xlalint.semantics.elements import leaves
from xlalint.semantics.frames import Frame
from xlalint.semantics.names import api_name
from xlalint.semantics.results import result_shapes
from xlalint.semantics.results.result_sizes import ARMS_OF_TWO_SIZES
from xlalint.semantics.syntax import in_order, nodes_of
from xlalint.semantics.values import (
    COMPUTED,
    EXTERNAL,
    NOTHING_KNOWN,
    SEQUENCE,
    TENSOR,
    Kept,
    Value,
)

Axes = frozenset["int | None"]


class Size(NamedTuple):
    """The size of an expression against that of a name: which axes it has made longer or shorter, None for one not known.

    `unsure` are axes that may be as long as they were: gathered, or cut and then made longer. By how much it changed the `computed`
    ones is not written down, and may be nothing at all. `longer` are those behind which something was put.
    """

    base: str
    changed: Axes = frozenset()
    unsure: Axes = frozenset()
    computed: Axes = frozenset()
    longer: Axes = frozenset()

    @property
    def certain(self) -> Axes:
        """The axes that are not as long as they were, whatever the sizes are."""
        return self.changed - self.computed


Sizes = dict[str, "Size | None"]
# What a callback returns, and the sizes of the names that it has bound by then.
Returned = tuple["ast.expr | None", Sizes]


def of_callbacks(
    joined: Value,
    values: Sequence[Value],
    callbacks: Sequence[ast.AST | None],
    test: ast.expr | None,
    frame: Frame,
) -> Value:
    """What a conditional call gives whose callbacks return `values`."""
    arms = [returned(node, test, frame) for node in callbacks]
    if joined.kind is SEQUENCE and all(value.kind is SEQUENCE for value in values):
        items = [
            _of_item(place, item, values, arms, test, frame)
            for place, item in enumerate(joined.ref)
        ]
        return joined._replace(ref=tuple(items))
    return _of_returned(joined, values, arms, test, frame)


def _of_item(
    place: int,
    joined: Value,
    values: Sequence[Value],
    returned: Sequence[Returned],
    test: ast.expr | None,
    frame: Frame,
) -> Value:
    """One of several things that each callback returns."""
    parts: list[Returned] = []
    for expression, known in returned:
        is_written = isinstance(expression, (ast.Tuple, ast.List)) and len(expression.elts) > place
        parts.append((expression.elts[place] if is_written else None, known))  # type: ignore[union-attr]
    return _of_returned(joined, [value.ref[place] for value in values], parts, test, frame)


def _of_returned(
    joined: Value,
    values: Sequence[Value],
    returned: Sequence[Returned],
    test: ast.expr | None,
    frame: Frame,
) -> Value:
    if not _may_differ(joined, values, frame):
        return joined
    sizes = [
        None if expression is None else of_expression(expression, test, frame, known)
        for expression, known in returned
    ]
    return _sized(joined, values, sizes)


def of_expressions(
    joined: Value, values: Sequence[Value], arms: Sequence[ast.expr], test: ast.expr, frame: Frame
) -> Value:
    """What `a if test else b` gives."""
    if not _may_differ(joined, values, frame):
        return joined
    return _sized(joined, values, [of_expression(arm, test, frame) for arm in arms])


def of_names(
    changes: Sequence[Mapping[str, Value | None]],
    blocks: Sequence[Sequence[ast.stmt]],
    test: ast.expr,
    frame: Frame,
) -> dict[str, Value]:
    """The names that the arms of an `if` leave in different sizes, and their values; `frame` holds the joined ones."""
    found: dict[str, Value] = {}
    sizes: list[Sizes] | None = None
    for name in {**changes[0], **changes[1]}:
        joined = frame.names.get(name)
        values = [arm.get(name) or joined for arm in changes]
        known = [value for value in values if value is not None]
        if joined is None or len(known) < 2 or not _may_differ(joined, known, frame):
            continue
        if sizes is None:
            sizes = [after(block, test, frame) for block in blocks]
        value = _sized(joined, known, [arm.get(name, Size(name)) for arm in sizes])
        if value is not joined:
            found[name] = value
    return found


def _may_differ(joined: Value, values: Sequence[Value], frame: Frame) -> bool:
    if joined.kind is not TENSOR or joined.producer is not None:
        return False
    if joined.rank == 0 or frame.silent or not frame.context.is_compiled:
        return False
    return all(value.is_tensor for value in values)


def _sized(joined: Value, values: Sequence[Value], sizes: Sequence[Size | None]) -> Value:
    """The result, data-sized where the arms differ in size."""
    axes = _static_difference(values) or _relative_difference(sizes)
    if not axes:
        return joined
    only = next(iter(axes)) if len(axes) == 1 else None
    axis = _from_the_front(only, joined)
    shape = joined.shape
    if shape is not None:
        at = {_from_the_front(each, joined) for each in axes}
        shape = tuple(None if i in at or None in at else size for i, size in enumerate(shape))
    ref = _buffer(values, axis)
    sized = joined._replace(producer=ARMS_OF_TWO_SIZES, sized_axis=axis, shape=shape, ref=ref)
    # What is padded or cut is one tensor; of one with a count, XLA reads no values when it compiles.
    dependence = max(joined.dependence, COMPUTED)
    return sized._replace(dependence=dependence, structured=False, guess=False)


def _buffer(values: Sequence[Value], axis: int | None) -> Kept | None:
    """How large the larger arm is along the axis, where that is known of both."""
    sizes = [
        None
        if axis is None or value.shape is None or axis >= len(value.shape)
        else value.shape[axis]
        for value in values
    ]
    known = [size for size in sizes if size is not None]
    return Kept(max(known)) if len(known) == len(sizes) else None


def of_returns(joined: Value, values: Sequence[Value], frame: Frame) -> Value:
    """What a function gives that returns one of two values from the arms of a conditional."""
    if not _may_differ(joined, values, frame):
        return joined
    return _sized(joined, values, [None for _ in values])


def differ(values: Sequence[Value], sizes: Sequence[Size | None]) -> bool:
    """Whether the arms are sure to leave other sizes: the static ones are known and differ, or one arm alone has made the same tensor longer or shorter."""
    if _static_difference(values):
        return True
    certain = [size for size in sizes if size is not None and size.changed == size.certain]
    return len(certain) == len(sizes) and bool(_relative_difference(certain))


def _from_the_front(axis: int | None, value: Value) -> int | None:
    if axis is None or axis >= 0:
        return axis
    return axis + len(value.shape) if value.shape is not None else None


def _static_difference(values: Sequence[Value]) -> frozenset[int | None]:
    """The axes along which the static sizes are known and differ."""
    shapes = [value.shape for value in values]
    if any(shape is None or len(shape) != len(shapes[0] or ()) for shape in shapes):
        return frozenset()
    columns = zip(*(shape for shape in shapes if shape is not None))
    return frozenset(
        axis for axis, sizes in enumerate(columns) if None not in sizes and len(set(sizes)) > 1
    )


def _relative_difference(sizes: Sequence[Size | None]) -> frozenset[int | None]:
    """The axes that one arm has changed and the other has not. Where both have, they may have done the same."""
    known = [size for size in sizes if size is not None and not size.unsure]
    if len(known) < len(sizes) or len({size.base for size in known}) != 1:
        return frozenset()
    first, *others = (size.changed for size in known)
    for other in others:
        if None in first and None in other:
            continue
        if first != other and (not first or not other or None not in first | other):
            return first ^ other
    return frozenset()


def returned(node: ast.AST | None, test: ast.expr | None, frame: Frame) -> Returned:
    """What a lambda, or a function without branches, returns, and the sizes that are known there."""
    if isinstance(node, ast.Lambda):
        return node.body, {}
    body = list(in_order(node.body)) if isinstance(node, ast.FunctionDef) else []
    last = body[-1] if body else None
    if isinstance(last, ast.Return):
        return last.value, after(body[:-1], test, frame)
    return None, {}


def after(block: Iterable[ast.stmt], test: ast.expr | None, frame: Frame) -> Sizes:
    """The sizes of the names that a block binds, against those of names before it. None: not known."""
    known: Sizes = {}
    for statement in in_order(block):
        pairs = _written_pairs(statement)
        if pairs:
            known.update({n: of_expression(e, test, frame, known) for n, e in pairs.items()})
        else:
            for node in nodes_of([statement], into_functions=False):
                if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                    known[node.id] = None
    return known


def _written_pairs(statement: ast.stmt) -> dict[str, ast.expr]:
    """`x = a`, `x, y = a, b`: which names a statement binds to which expressions; nothing where it does more."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return {}
    target, value = statement.targets[0], statement.value
    targets, values = [target], [value]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        targets, values = target.elts, value.elts
    names = [each.id for each in targets if isinstance(each, ast.Name)]
    is_plain = len(names) == len(targets) == len(values)
    is_plain = is_plain and not any(isinstance(each, ast.Starred) for each in values)
    return dict(zip(names, values)) if is_plain else {}


def of_expression(
    node: ast.expr, test: ast.expr | None, frame: Frame, known: Sizes | None = None
) -> Size | None:
    """The size of an expression against the name that it is made of; None where it is not known."""
    sizes = known if known is not None else {}
    if isinstance(node, ast.Name):
        return sizes[node.id] if node.id in sizes else Size(node.id)
    if isinstance(node, ast.Attribute):
        return Size(ast.unparse(node)) if _is_dotted(node) else None
    if isinstance(node, ast.BinOp):
        for number, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(number, ast.Constant):
                return of_expression(other, test, frame, sizes)
        left = of_expression(node.left, test, frame, sizes)
        return _of_operands(left, of_expression(node.right, test, frame, sizes))
    if isinstance(node, ast.Subscript):
        return _of_subscript(node, test, frame, sizes)
    if isinstance(node, ast.Call) and node.args:
        return _of_call(node, test, frame, sizes)
    return None


def _of_operands(left: Size | None, right: Size | None) -> Size | None:
    """`x[1:] - x[:-1]`; and `x[1:] - y`, which is as long as the one or the other, and so not as long as `x`."""
    if left is None or right is None or left.unsure or right.unsure:
        return None
    if left == right:
        return left
    cut, other = (left, right) if left.changed else (right, left)
    is_of_another = cut.base != other.base and not other.changed
    return cut if is_of_another and cut.certain and not cut.longer else None


def _is_dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _of_subscript(
    node: ast.Subscript, test: ast.expr | None, frame: Frame, sizes: Sizes
) -> Size | None:
    """`x[1:]` is shorter than `x`; `x[:4]` may be all of it."""
    sliced = axes_sliced(node)
    if sliced is None:
        return None
    size = of_expression(node.value, test, frame, sizes)
    cut = [axis for axis, each in sliced if leaves_out(each, test)]
    unsure = [axis for axis, each in sliced if not leaves_out(each, test)]
    return _perhaps(_changed(size, cut, frame), unsure, frame)


def _changed(
    size: Size | None, axes: Iterable[int | None], frame: Frame, least_rank: int = 0
) -> Size | None:
    """An axis that is changed twice may be as long as it was."""
    more = frozenset(axes)
    if size is None or not more:
        return size
    every = size.changed | size.unsure
    if every and _may_meet(every, more, max(least_rank, _least_rank(size.base, frame))):
        return None
    unsure = size.unsure | (every & more)
    return size._replace(changed=(size.changed | more) - unsure, unsure=unsure)


def _perhaps(size: Size | None, axes: Iterable[int | None], frame: Frame) -> Size | None:
    """The size where these axes may have been made longer or shorter, too."""
    more = frozenset(axes)
    size = _changed(size, more, frame)
    if size is None or not more:
        return size
    return size._replace(changed=size.changed - more, unsure=size.unsure | more)


def _may_meet(some: Axes, others: Axes, least_rank: int) -> bool:
    """Whether an axis may be called by two names: 0 and -1 are the same one of a vector, and None may be any."""
    known = [axis for axis in some | others if axis is not None]
    if None in some or None in others:
        return True
    return any(one >= 0 > other and one - other >= least_rank for one in known for other in known)


def _least_rank(name: str, frame: Frame) -> int:
    value = frame.names.get(name)
    return value.rank or 0 if value is not None else 0


def _of_call(node: ast.Call, test: ast.expr | None, frame: Frame, sizes: Sizes) -> Size | None:
    if not isinstance(node.func, (ast.Name, ast.Attribute)):
        return None
    target = frame.analysis.evaluate(node.func, frame)
    name = api_name(str(target.ref)) if target.kind is EXTERNAL else ""
    if name in ("tf.concat", "keras.ops.concatenate", "keras.layers.concatenate"):
        return _joined(node, test, frame, sizes)
    if name == "tf.gather":
        return _gathered(node, test, frame, sizes)
    if name == "tf.shape" and _is_dotted(node.args[0]):
        return Size(ast.unparse(node))  # a vector as any, of which `tf.shape(x)[:-1]` is a part
    change = _CHANGES.get(name)
    if change is None:
        api = frame.analysis.catalog.api(name) if name.startswith(("tf.", "keras.")) else None
        is_same = name in _SAME or (api is not None and api.shape == "same")
        return of_expression(node.args[0], test, frame, sizes) if is_same else None
    position, parameter, neutral = change
    given = _argument(node, position, parameter)
    value = frame.analysis.evaluate(given, frame) if given is not None else NOTHING_KNOWN
    axes = _unless(value, neutral) if value.kind is SEQUENCE and value.ref else [None]
    if parameter == "repeats":
        axes = [_number(_argument(node, 2, "axis"), frame)]
    size = _changed(of_expression(node.args[0], test, frame, sizes), axes, frame)
    if size is None or all(result_shapes.number(each) is not None for each in leaves(value)):
        return size
    return size._replace(computed=size.computed | frozenset(axes))


def _joined(node: ast.Call, test: ast.expr | None, frame: Frame, sizes: Sizes) -> Size | None:
    """`tf.concat([x, rest], 0)` is longer than `x`."""
    items = node.args[0]
    if not isinstance(items, (ast.List, ast.Tuple)) or len(items.elts) < 2:
        return None
    parts = [of_expression(item, test, frame, sizes) for item in items.elts]
    known = [part for part in parts if part is not None]
    whole = [part for part in known if not part.changed and not part.unsure]
    axis = frozenset({_number(_argument(node, 1, "axis"), frame)})
    least = max(written_rank(item, frame) for item in items.elts)
    size = _changed(next(iter(whole or known), None), axis, frame, least)
    return None if size is None else size._replace(longer=size.longer | axis)


def _gathered(node: ast.Call, test: ast.expr | None, frame: Frame, sizes: Sizes) -> Size | None:
    """As many of the rows, or columns, as there are positions. Positions in other numbers than a vector change the rank."""
    axis = _argument(node, 3, "axis") or _argument(node, 4, "batch_dims")
    along = 0 if axis is None else _number(axis, frame)
    return _perhaps(of_expression(node.args[0], test, frame, sizes), [along], frame)


def _unless(value: Value, neutral: int) -> list[int | None]:
    """The places of a list at which there is something else than a number that changes nothing."""
    return [
        place
        for place, item in enumerate(value.ref)
        if any(
            result_shapes.number(part) != neutral
            for part in (item.ref if item.kind is SEQUENCE else (item,))
        )
    ]


# Which argument says how much, and what in it changes nothing.
_CHANGES = {
    "tf.pad": (1, "paddings", 0),
    "keras.ops.pad": (1, "pad_width", 0),
    "tf.tile": (1, "multiples", 1),
    "tf.repeat": (1, "repeats", 1),
    "keras.ops.repeat": (1, "repeats", 1),
}
_SAME = frozenset({"tf.identity", "tf.cast", "tf.stop_gradient", "tf.convert_to_tensor"})


def _argument(node: ast.Call, position: int, name: str) -> ast.expr | None:
    for keyword in node.keywords:
        if keyword.arg == name:
            return keyword.value
    return node.args[position] if len(node.args) > position else None


def _number(node: ast.expr | None, frame: Frame) -> int | None:
    return None if node is None else result_shapes.number(frame.analysis.evaluate(node, frame))
