"""Calls that run a function again and again: while loops, maps, scans and folds."""

from __future__ import annotations

import ast

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.callbacks.handed_functions import argument, run, run_in_graph, written
from xlalint.semantics.control_flow import loops
from xlalint.semantics.elements import element, leaves
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import promised_sizes, vectorized
from xlalint.semantics.hazards.noted_calls import note_operation
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.results import specs
from xlalint.semantics.values import (
    COLLECTION,
    COMPUTED,
    FALSE,
    FUNCTION,
    MAPPING,
    NONE,
    NOTHING_KNOWN,
    RAGGED,
    SEQUENCE,
    TENSOR,
    UNKNOWN,
    Content,
    Eager,
    Value,
)


def while_loop(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`tf.while_loop(cond, body, loop_vars)`: the loop variables at its end."""
    loop_vars = argument(arguments, bound, 2, "loop_vars")
    vectorized.note_while(node, argument(arguments, bound, 0, "cond"), _items(loop_vars), frame)
    state = [loop_state(v) for v in _items(loop_vars)]
    run(argument(arguments, bound, 0, "cond"), list(state), frame, converted=False)
    body = argument(arguments, bound, 1, "body")
    result = run_in_graph(body, list(state), frame, node=node)
    if body is not None and body.kind is FUNCTION:
        info = body.ref[0] if isinstance(body.ref, tuple) else body.ref
        loops.note_body(node, info.node, _items(loop_vars), result, frame)
        loops.note_outer_sizes(node, info, _items(loop_vars), frame)
    _note_loop(node, _items(loop_vars), body, _is_bounded(arguments, bound), frame)
    if result.kind is SEQUENCE and len(result.ref) == len(state):
        return Value(
            SEQUENCE, COMPUTED, ref=tuple(loop_state(v) for v in result.ref), given=result.given
        )
    return (
        Value(SEQUENCE, COMPUTED, ref=tuple(state))
        if state
        else Value(TENSOR, COMPUTED, structured=True)
    )


def _is_bounded(arguments: Arguments, bound: dict[str, Value]) -> bool:
    """Whether a while loop has `maximum_iterations`, or asks for no gradient."""
    limit = arguments.keywords.get("maximum_iterations", bound.get("maximum_iterations", NONE))
    return limit != NONE or arguments.keywords.get("back_prop") == FALSE


def _note_loop(
    node: ast.AST,
    state: list[Value],
    body: Value | None,
    is_bounded: bool,
    frame: Frame,
    *,
    takes_elements: bool = False,
) -> None:
    info = body.ref if body is not None and body.kind is FUNCTION else None
    info = info[0] if isinstance(info, tuple) else info
    carried = [leaf for value in state for leaf in leaves(value)]
    frame.analysis.loop_gradients.note_call(
        node, carried, info, is_bounded, frame, takes_elements=takes_elements
    )


def fori_loop(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`keras.ops.fori_loop(lower, upper, body, init)`: with TensorFlow, a while loop without a bound."""
    initial = argument(arguments, bound, 3, "init_val")
    state = [loop_state(v) for v in _items(initial)]
    body = argument(arguments, bound, 2, "body_fun")
    carried = loop_state(initial) if initial is not None else NOTHING_KNOWN
    counter = Value(TENSOR, COMPUTED, dtype="int32", rank=0, shape=())
    run_in_graph(body, [counter, carried], frame, node=node)
    _note_loop(node, state, body, False, frame)
    return carried if carried.kind is SEQUENCE else Value(TENSOR, COMPUTED, structured=True)


def keras_scan(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`keras.ops.scan(f, init, xs)`: with TensorFlow, a while loop without a bound."""
    initial = argument(arguments, bound, 1, "init") or NOTHING_KNOWN
    given = argument(arguments, bound, 2, "xs")
    vectorized.note_collecting(node, given, frame)
    elems = _slice_of(given)
    step = argument(arguments, bound, 0, "f")
    result = run_in_graph(step, [loop_state(initial), elems], frame, node=node)
    _note_loop(node, _items(initial), step, False, frame)
    if result.kind is SEQUENCE and len(result.ref) == 2:
        return Value(SEQUENCE, COMPUTED, ref=(loop_state(result.ref[0]), _stacked(result.ref[1])))
    return NOTHING_KNOWN


def _items(value: Value | None) -> list[Value]:
    if value is None:
        return []
    return list(value.ref) if value.kind is SEQUENCE else [value]


def loop_state(value: Value) -> Value:
    """A value carried round a loop: a tensor that only the running program knows."""
    if value.kind is SEQUENCE:
        return value._replace(ref=tuple(loop_state(v) for v in value.ref))
    if value.is_tensor:
        # Steps count it up, or choose it anew: the number that it starts with says nothing of later ones.
        ref = None if type(value.ref) in (Content, Eager) else value.ref
        return value._replace(dependence=COMPUTED, ref=ref)
    return value if value.kind not in ("python",) else Value(TENSOR, COMPUTED)


def map_fn(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """tf.map_fn alone has its function converted, even where its caller is not, as in a Keras 3 `call` (measured: not
    tf.while_loop, tf.cond, tf.scan and tf.vectorized_map), but not where AutoGraph was turned off, as `fit` of Keras 3 does.
    """
    result = run_in_graph(
        argument(arguments, bound, 0, "fn"),
        [_slice_of(argument(arguments, bound, 1, "elems"))],
        frame,
        at=written(node, 0, "fn"),
        node=node,
        converted=frame.context.may_convert,
    )
    function = argument(arguments, bound, 0, "fn")
    elems = argument(arguments, bound, 1, "elems")
    promised = argument(arguments, bound, 6, "fn_output_signature", "dtype")
    _note_ragged_rows(promised, elems, node, frame)
    if promised is not None:
        spec = written(node, 6, "fn_output_signature", "dtype")
        promised_sizes.note_mapped(node, function, result, promised, spec, frame)
    state = [elems] if elems is not None else []
    vectorized.note_collecting(node, elems, frame)
    _note_loop(node, state, function, True, frame, takes_elements=True)
    if promised is not None and _is_open(result):
        row = specs.row(promised)
        result = result if row == NOTHING_KNOWN else row
    return _stacked(result, elems)


def _is_open(result: Value) -> bool:
    """Whether a function's result says less of itself than `fn_output_signature` may."""
    return result.kind is UNKNOWN or (result.kind is TENSOR and result.dtype is None)


def _note_ragged_rows(
    promised: Value | None, elems: Value | None, node: ast.AST, frame: Frame
) -> None:
    """Rows of different lengths go round the loop as variants: `fn_output_signature=tf.RaggedTensorSpec(...)`."""
    makes = promised is not None and any(leaf.kind is RAGGED for leaf in leaves(promised))
    takes = [leaf for leaf in leaves(elems) if leaf.kind is RAGGED] if elems is not None else []
    if makes or takes:
        note_operation("RaggedTensorToVariant", tuple(takes), node, frame)


def keras_map(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`keras.ops.map`: a loop of the graph."""
    elems = argument(arguments, bound, 1, "xs")
    vectorized.note_collecting(node, elems, frame)
    state = [] if elems is None else [elems]
    function = argument(arguments, bound, 0, "f")
    _note_loop(node, state, function, True, frame, takes_elements=True)
    return _mapped(function, elems, node, frame, unrolled=False)


def vectorized_map(
    arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    """The maps that do all elements at once."""
    elems = argument(arguments, bound, 1, "elems", "elements")
    function = argument(arguments, bound, 0, "fn", "function")
    around = frame.analysis.vectorized
    here = vectorized.VectorizedMap(len(frame.analysis.functions.running), [])
    around.append(here)
    try:
        result = _mapped(function, elems, node, frame, unrolled=True)
    finally:
        around.pop()
    vectorized.report(node, here, frame)
    return result


def _mapped(
    function: Value | None, elems: Value | None, node: ast.AST, frame: Frame, *, unrolled: bool
) -> Value:
    """The function is run as it is written: nothing converts it."""
    at = written(node, 0, "fn", "f", "function")
    row = _slice_of(elems)
    result = run_in_graph(function, [row], frame, at=at, node=node, unrolled=unrolled)
    return _stacked(result, elems)


def scan(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`tf.scan`: what a fold carries, for each step."""
    return _stacked(fold(arguments, bound, node, frame), argument(arguments, bound, 1, "elems"))


def fold(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`tf.foldl` and `tf.foldr`: what is carried from element to element."""
    given = argument(arguments, bound, 1, "elems")
    vectorized.note_collecting(node, given, frame)
    elems = _slice_of(given)
    initial = argument(arguments, bound, 2, "initializer")
    carried = loop_state(initial) if initial is not None else elems
    step = argument(arguments, bound, 0, "fn")
    _note_loop(node, [carried], step, True, frame, takes_elements=True)
    result = run_in_graph(step, [carried, elems], frame, node=node)
    if initial is not None and step is not None and isinstance(step.ref, FunctionInfo):
        loops.note_outer_sizes(node, step.ref, _items(initial), frame)
    if not (result.is_tensor or result.kind is SEQUENCE):
        return Value(TENSOR, COMPUTED, structured=True)
    return result if any(leaf.is_data_sized for leaf in leaves(carried)) else _of_full_size(result)


def _of_full_size(value: Value) -> Value:
    """A step leaves the shape as it was: written to with rows of any number, the state is no longer than it began."""
    if value.kind is SEQUENCE:
        return value._replace(ref=tuple(_of_full_size(item) for item in value.ref))
    return value._replace(producer=None, counted=None) if value.is_tensor else value


def _slice_of(value: Value | None) -> Value:
    if value is None:
        return NOTHING_KNOWN
    if value.kind is SEQUENCE:
        return value._replace(ref=tuple(_slice_of(v) for v in value.ref))
    if value.kind is MAPPING and value.ref:
        return value._replace(ref=tuple((key, _slice_of(item)) for key, item in value.ref))
    if value.kind is UNKNOWN or value.kind is MAPPING or value.structured:
        return Value(TENSOR, COMPUTED, structured=True)  # nothing but tensors is mapped over
    if not value.is_tensor:
        return NOTHING_KNOWN
    # An element of it changes from step to step. Of an argument that is only taken for a tensor, it may be a tuple.
    item = element(value._replace(kind=TENSOR, ref=None))
    return Value(
        TENSOR,
        COMPUTED,
        dtype=value.dtype,
        rank=item.rank,
        shape=item.shape,
        structured=value.guess,
    )


def _stacked(value: Value, elems: Value | None = None) -> Value:
    """What a function returns for each of `elems`, as one tensor: of as many rows as they have."""
    if value.kind is SEQUENCE:
        return value._replace(dependence=COMPUTED, ref=tuple(_stacked(v, elems) for v in value.ref))
    over = leaves(elems) if elems else []
    rows = [v for v in over if v.is_data_sized and v.sized_axis == 0]
    shape = None
    if value.is_tensor and not value.is_data_sized and value.shape is not None:
        known = [v.shape[0] for v in over if v.shape]
        shape = (None if rows or not known else known[0], *value.shape)
    return Value(
        TENSOR,
        COMPUTED,
        rows[0].producer if rows else None,
        dtype=value.dtype,
        rank=None if shape is None else len(shape),
        structured=value.structured or not value.is_tensor,
        shape=shape,
        counted=rows[0].counted if rows else None,
    )


def keras_rnn(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`K.rnn(step_function, ...)`: outputs and states, of any structure."""
    step = argument(arguments, bound, 0, "step_function")
    inside = Value(TENSOR, COMPUTED)
    run(step, [inside, Value(COLLECTION, ref=inside)], frame, converted=False)
    return Value(TENSOR, COMPUTED, structured=True)
