"""APIs that take functions: which are traced with what arguments, which run on the host, and which only wrap."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from xlalint.semantics import conditionals, loops, misfits, named_tuples, pipelines, specs, versions
from xlalint.semantics.arguments import Arguments
from xlalint.semantics.devices import note_jit
from xlalint.semantics.facts import ASSUMED, NUMPY_CALL
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.names import api_name
from xlalint.semantics.noted_calls import note_operation
from xlalint.semantics.values import (
    ANY_OF,
    ARRIVING,
    COLLECTION,
    COMPUTED,
    EXTERNAL,
    FALSE,
    FROM_SHAPE,
    FUNCTION,
    INSTANCE,
    MAPPING,
    NDARRAY,
    NONE,
    NOTHING_KNOWN,
    PARTIAL,
    RAGGED,
    SEQUENCE,
    SOME_PYTHON,
    TENSOR,
    TRUE,
    UNKNOWN,
    VARIABLE,
    Value,
    alternatives,
    constant,
    element,
    join_all,
    leaves,
)

_DATA = Value(TENSOR, ARRIVING)
# Keras objects that are made of a function: the parameter that takes it, and what Keras calls it with.
_LOSSES_AND_METRICS = frozenset(
    {"keras.metrics.MeanMetricWrapper", "keras.losses.LossFunctionWrapper"}
)
_WRAPPERS: dict[str, tuple[str, tuple[Value, ...] | None]] = {
    "keras.layers.Lambda": ("function", None),
    "keras.layers.Activation": ("activation", (_DATA,)),
    **dict.fromkeys(_LOSSES_AND_METRICS, ("fn", (_DATA, _DATA))),
}
_KEEP_FUNCTIONS = ("keras.layers.", "keras.metrics.", "keras.losses.")
# Options of layers: Keras traces these functions, and neither Keras 2 nor Keras 3 lets AutoGraph convert them (measured).
_TRACED_OPTIONS = (
    ("activation", (_DATA,)),
    ("_regularizer", (Value(VARIABLE, ARRIVING),)),
    ("_constraint", (Value(VARIABLE, ARRIVING),)),
)
_CALLED = frozenset({FUNCTION, PARTIAL, INSTANCE, ANY_OF})

Callback = Callable[["Arguments", "dict[str, Value]", ast.AST, Frame], Value]


def call(
    name: str, arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame
) -> Value | None:
    """The value of a call of an API that takes functions; None when it is no such API."""
    handler = _HANDLERS.get(name)
    return handler(arguments, bound, node, frame) if handler is not None else None


def foreign(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """Calls of packages other than TensorFlow and Keras that pass functions through."""
    if name == "functools.reduce" and len(arguments.positional) > 1:
        item = element(arguments.positional[1])
        at = _written(node, 0)
        return _run(arguments.positional[0], [item, item], frame, converted=False, at=at)
    version = versions.parsed(name, next(iter(arguments.positional), NOTHING_KNOWN))
    if version is not None:
        return version
    record = named_tuples.made(name, arguments)
    if record is not None:
        return record
    if name == "tensorflow_datasets.load":
        return pipelines.of_tensorflow_datasets(arguments)
    if name.startswith("tqdm.") and arguments.positional:
        return arguments.positional[0]  # a progress bar gives what it is given
    if name.startswith("transformers."):
        return pipelines.collator(name, arguments, node, frame) or NOTHING_KNOWN
    if name == "functools.partial" and arguments.positional:
        target = arguments.positional[0]
        if target.ref == "tf.function" and _turns_on_jit(arguments.keywords):
            note_jit(frame, node, "tf.function")
        if target.kind in (FUNCTION, EXTERNAL, INSTANCE, PARTIAL):
            return Value(
                PARTIAL, ref=(target, arguments.positional[1:], tuple(arguments.keywords.items()))
            )
    return NOTHING_KNOWN


def construct(name: str, arguments: Arguments, frame: Frame) -> None:
    """Objects that keep functions to trace them later: layers with activations and penalties, wrapped losses."""
    plain = api_name(name)
    if not plain.startswith(_KEEP_FUNCTIONS):
        return
    wanted: list[tuple[Value, tuple[Value, ...] | None]] = []
    if plain in _WRAPPERS:
        parameter, passed = _WRAPPERS[plain]
        own = arguments.keywords.get(parameter, next(iter(arguments.positional), NOTHING_KNOWN))
        wanted.append((own, passed))
    elif plain.startswith("keras.layers."):
        for option, value in arguments.keywords.items():
            wanted += [(value, passed) for end, passed in _TRACED_OPTIONS if option.endswith(end)]
    is_keras_2 = frame.analysis.keras == "2" or plain != name
    converted = is_keras_2 and plain in _LOSSES_AND_METRICS
    for value, passed in wanted:
        if value.kind in _CALLED:
            frame.analysis.regions.trace_later(
                value, (name,), converted=converted, frame=frame, arguments=passed
            )


def _argument(
    arguments: Arguments, bound: dict[str, Value], position: int, *names: str
) -> Value | None:
    for name in names:
        if name in arguments.keywords:
            return arguments.keywords[name]
        if name in bound:
            return bound[name]
    return arguments.positional[position] if len(arguments.positional) > position else None


def _run(
    function: Value | None,
    values: list[Value],
    frame: Frame,
    *,
    converted: bool | None = None,
    at: ast.AST | None = None,
) -> Value:
    """Call a function that was passed on; `at` is where it was written, should it be an API itself."""
    if function is not None and function.kind is ANY_OF:
        every = [
            _run(one, values, frame, converted=converted, at=at) for one in alternatives(function)
        ]
        return join_all(tuple(every))
    if function is not None and at is not None and _leads_to_api(function):
        return frame.analysis.call_value(function, Arguments(tuple(values), {}, False), at, frame)
    if function is not None and function.kind is PARTIAL:
        target, first, keywords = function.ref
        return (
            frame.analysis.functions.invoke_value(
                target, [*first, *values], frame, converted=converted, keywords=dict(keywords)
            )
            if target.kind is FUNCTION
            else NOTHING_KNOWN
        )
    if function is None or function.kind is not FUNCTION:
        return NOTHING_KNOWN
    return frame.analysis.functions.invoke_value(function, values, frame, converted=converted)


def _leads_to_api(function: Value) -> bool:
    while function.kind is PARTIAL:
        function = function.ref[0]
    return function.kind is EXTERNAL


def _written(node: ast.AST, position: int, *names: str) -> ast.AST:
    """The expression that a call passes for a parameter; the call itself where it cannot be told."""
    if not isinstance(node, ast.Call):
        return node
    for keyword in node.keywords:
        if keyword.arg in names:
            return keyword.value
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return node
    return node.args[position] if position < len(node.args) else node


def answer(function: Value, item: Value, node: ast.AST, frame: Frame) -> Value:
    """What a function that Python itself calls answers for an item; AutoGraph does not convert what Python calls."""
    return _run(function, [item], frame, converted=False, at=node)


def mapped(arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`map(f, items)`: Python calls it, and AutoGraph does not convert what Python calls."""
    items = [element(value) for value in arguments.positional[1:]]
    if not items:
        return Value(COLLECTION)
    function = arguments.positional[0]
    result = _run(function, items, frame, converted=False, at=_written(node, 0))
    return Value(COLLECTION, ref=result)


def _run_in_graph(
    function: Value | None,
    values: list[Value],
    frame: Frame,
    *,
    converted: bool = False,
    at: ast.AST | None = None,
) -> Value:
    """Run a function that becomes the body of a loop or an arm of a conditional: a graph of its own.

    TensorFlow calls it, and so AutoGraph leaves it alone, unless it stands inside a function that is converted (measured).
    """
    if function is not None and function.kind is FUNCTION:
        info = function.ref[0] if isinstance(function.ref, tuple) else function.ref
        frame.analysis.graph_bodies.add(info)
    return _run(function, values, frame, converted=converted, at=at)


def _cond(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    functions = [
        _argument(arguments, bound, position, name, old)
        for position, name, old in ((1, "true_fn", "fn1"), (2, "false_fn", "fn2"))
    ]
    test = _argument(arguments, bound, 0, "pred")
    arms = _run_arms(node, test, functions, frame)
    _compare(node, test, arms, functions, frame)
    return _either(test, arms, frame)


def _either(test: Value | None, results: list[Value], frame: Frame) -> Value:
    """What a conditional gives whose callbacks return these."""
    if not results:
        return NOTHING_KNOWN
    if test is not None and test.is_tensor and frame.context.is_compiled:
        # Where XLA knows the test, as shapes or as arguments, it knows which of the numbers it is (fixtures/XLA203).
        dependence = max(test.dependence, FROM_SHAPE)
        results = [_from_graph(result, dependence) for result in results]
    return join_all(tuple(results))


def _from_graph(result: Value, dependence: int) -> Value:
    """What an arm returns, as it comes out of a conditional of the graph: a Python number is a tensor then."""
    if result.kind is SEQUENCE and result.ref:
        return result._replace(ref=tuple(_from_graph(item, dependence) for item in result.ref))
    return loops.as_tensor(result, dependence)


def _run_arms(
    node: ast.AST, test: Value | None, functions: Sequence[Value | None], frame: Frame
) -> list[Value]:
    """Run the callbacks of a conditional, which is one of the graph when its test is a tensor."""
    depth = frame.arms
    is_graph = test is not None and test.is_tensor
    if is_graph:
        frame.arms += 1
        frame.analysis.loop_gradients.enter(node, frame)
    results = [_run_in_graph(function, [], frame) for function in functions]
    if is_graph:
        frame.analysis.loop_gradients.leave(node)
    frame.arms = depth
    return results


def _compare(
    node: ast.AST,
    test: Value | None,
    results: list[Value],
    functions: list[Value | None],
    frame: Frame,
) -> None:
    """What the callbacks of one conditional return must be alike; a test known while tracing needs one of them only."""
    if test is not None and test.is_tensor:
        returned = [_returned(function) for function in functions]
        conditionals.note_results(node, test, results, returned, frame)
        bodies = [_body(function) for function in functions]
        asked = next(iter(getattr(node, "args", ())), None)
        if asked is not None and len(bodies) == 2:
            conditionals.note_guarded(asked, test, bodies[0], bodies[1], frame)


def _returned(function: Value | None) -> ast.expr | None:
    """The expression that a lambda, or a function of one statement, returns."""
    info = function.ref if function is not None and function.kind is FUNCTION else None
    if not isinstance(info, FunctionInfo):
        return None
    if isinstance(info.node, ast.Lambda):
        return info.node.body
    only = info.node.body[-1] if len(info.node.body) == 1 else None
    return only.value if isinstance(only, ast.Return) else None


def _body(function: Value | None) -> list[ast.AST]:
    info = function.ref if function is not None and function.kind is FUNCTION else None
    body = info.node.body if isinstance(info, FunctionInfo) else []
    return list(body) if isinstance(body, list) else [body]


def _keras_switch(
    arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    """`K.switch`: a conditional where the test is a scalar, `tf.where` (which broadcasts) where it is not."""
    test = _argument(arguments, bound, 0, "condition")
    arms = [
        _argument(arguments, bound, 1, "then_expression"),
        _argument(arguments, bound, 2, "else_expression"),
    ]
    results = [
        _run(arm, [], frame, converted=False)
        if arm is not None and arm.kind is FUNCTION
        else arm or NOTHING_KNOWN
        for arm in arms
    ]
    if test is not None and test.rank == 0:
        _compare(node, test, results, arms, frame)
    return join_all(tuple(results))


def _while_loop(
    arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    loop_vars = _argument(arguments, bound, 2, "loop_vars")
    state = [loop_state(v) for v in _items(loop_vars)]
    _run(_argument(arguments, bound, 0, "cond"), list(state), frame, converted=False)
    body = _argument(arguments, bound, 1, "body")
    result = _run_in_graph(body, list(state), frame)
    if body is not None and body.kind is FUNCTION:
        info = body.ref[0] if isinstance(body.ref, tuple) else body.ref
        loops.note_body(node, info.node, _items(loop_vars), result, frame)
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
    node: ast.AST, state: list[Value], body: Value | None, is_bounded: bool, frame: Frame
) -> None:
    info = body.ref if body is not None and body.kind is FUNCTION else None
    info = info[0] if isinstance(info, tuple) else info
    carried = [leaf for value in state for leaf in leaves(value)]
    frame.analysis.loop_gradients.note_call(node, carried, info, is_bounded, frame)


def _fori_loop(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`keras.ops.fori_loop(lower, upper, body, init)`: with TensorFlow, a while loop without a bound."""
    initial = _argument(arguments, bound, 3, "init_val")
    state = [loop_state(v) for v in _items(initial)]
    body = _argument(arguments, bound, 2, "body_fun")
    carried = loop_state(initial) if initial is not None else NOTHING_KNOWN
    _run_in_graph(body, [Value(TENSOR, COMPUTED, dtype="int32", rank=0, shape=()), carried], frame)
    _note_loop(node, state, body, False, frame)
    return carried if carried.kind is SEQUENCE else Value(TENSOR, COMPUTED, structured=True)


def _keras_scan(
    arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    """`keras.ops.scan(f, init, xs)`: with TensorFlow, a while loop without a bound."""
    initial = _argument(arguments, bound, 1, "init") or NOTHING_KNOWN
    elems = _slice_of(_argument(arguments, bound, 2, "xs"))
    step = _argument(arguments, bound, 0, "f")
    result = _run_in_graph(step, [loop_state(initial), elems], frame)
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
        return value._replace(dependence=COMPUTED)
    return value if value.kind not in ("python",) else Value(TENSOR, COMPUTED)


def _map_fn(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """tf.map_fn alone has its function converted, even where its caller is not, as in a Keras 3 `call` (measured: not
    tf.while_loop, tf.cond, tf.scan and tf.vectorized_map), but not where AutoGraph was turned off.
    """
    result = _run_in_graph(
        _argument(arguments, bound, 0, "fn"),
        [_slice_of(_argument(arguments, bound, 1, "elems"))],
        frame,
        at=_written(node, 0, "fn"),
        converted=frame.context.may_convert,
    )
    function = _argument(arguments, bound, 0, "fn")
    elems = _argument(arguments, bound, 1, "elems")
    _note_ragged_rows(arguments, bound, elems, node, frame)
    _note_loop(node, [elems] if elems is not None else [], function, True, frame)
    return _stacked(result, elems)


def _note_ragged_rows(
    arguments: Arguments, bound: dict[str, Value], elems: Value | None, node: ast.AST, frame: Frame
) -> None:
    """Rows of different lengths go round the loop as variants: `fn_output_signature=tf.RaggedTensorSpec(...)`."""
    promised = _argument(arguments, bound, 6, "fn_output_signature", "dtype")
    makes = promised is not None and any(leaf.kind is RAGGED for leaf in leaves(promised))
    takes = [leaf for leaf in leaves(elems) if leaf.kind is RAGGED] if elems is not None else []
    if makes or takes:
        note_operation("RaggedTensorToVariant", tuple(takes), node, frame)


def _unconverted_map(
    arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    elems = _argument(arguments, bound, 1, "elems")
    function = _argument(arguments, bound, 0, "fn")
    at = _written(node, 0, "fn")
    return _stacked(_run_in_graph(function, [_slice_of(elems)], frame, at=at), elems)


def _scan(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return _stacked(_fold(arguments, bound, node, frame), _argument(arguments, bound, 1, "elems"))


def _fold(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    elems = _slice_of(_argument(arguments, bound, 1, "elems"))
    initial = _argument(arguments, bound, 2, "initializer")
    carried = loop_state(initial) if initial is not None else elems
    step = _argument(arguments, bound, 0, "fn")
    _note_loop(node, [carried], step, True, frame)
    result = _run_in_graph(step, [carried, elems], frame)
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
    rows = [v for v in leaves(elems) if v.is_data_sized and v.sized_axis == 0] if elems else []
    return Value(
        TENSOR,
        COMPUTED,
        rows[0].producer if rows else None,
        dtype=value.dtype,
        structured=value.structured or not value.is_tensor,
        counted=rows[0].counted if rows else None,
    )


def _host(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    function = _argument(arguments, bound, 0, "func", "computation")
    if function is not None:
        frame.analysis.regions.mark_host(function)
    return Value(TENSOR, COMPUTED, structured=True)


def _map_structure(
    arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    mapped = arguments.positional[1] if len(arguments.positional) > 1 else NOTHING_KNOWN
    inside = leaves(mapped)
    if not inside:
        return NOTHING_KNOWN
    leaf = inside[0]._replace(structured=False) if inside[0].is_tensor else inside[0]
    at = _written(node, 0, "func")
    result = _run(arguments.positional[0], [leaf], frame, converted=False, at=at)
    if mapped.kind is TENSOR:
        return result._replace(structured=mapped.structured) if result.is_tensor else NOTHING_KNOWN
    return Value(COLLECTION, ref=result) if mapped.kind in (SEQUENCE, COLLECTION) else NOTHING_KNOWN


def _function(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`tf.function(f, ...)`, or `tf.function(...)` that is called with the function next."""
    options = arguments.keywords
    jit = _turns_on_jit(options)
    if jit:
        note_jit(frame, node, "tf.function")
        if isinstance(node, ast.Call):
            frame.analysis.drivers.saw_options(node, True, "tf.function", frame)
    function = arguments.positional[0] if arguments.positional else options.get("func")
    if function is None:
        return Value(EXTERNAL, ref="tf.function")
    if function.kind is FUNCTION:
        frame.analysis.drivers.saw_wrapped(function, node, jit, frame)
    frame.analysis.regions.trace_later(
        function,
        ("tf.function",),
        converted=options.get("autograph") != FALSE,
        frame=frame,
        jit=jit,
        arguments=specs.promised(options.get("input_signature", NOTHING_KNOWN)) or None,
    )
    return function


def _turns_on_jit(options: dict[str, Value]) -> bool:
    return any(options.get(name) == TRUE for name in ("jit_compile", "experimental_compile"))


def _wrap(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return arguments.positional[0] if arguments.positional else NOTHING_KNOWN


def _switch(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    branches = _argument(arguments, bound, 1, "branch_fns", "pred_fn_pairs")
    found = list(leaves(branches)) if branches is not None else []
    found = [leaf for leaf in found if leaf.kind is FUNCTION]
    index = _argument(arguments, bound, 0, "branch_index")
    results = _run_arms(node, index, found, frame)
    _compare(node, index, results, list(found), frame)
    return _either(index, results, frame)


def _case(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    pairs = _argument(arguments, bound, 0, "pred_fn_pairs")
    found = list(leaves(pairs)) if pairs is not None else []
    tests = [leaf for leaf in found if leaf.is_tensor]
    default = _argument(arguments, bound, 1, "default")
    found = [v for v in (*found, default) if v is not None and v.kind is FUNCTION]
    test = tests[0] if tests else None
    results = _run_arms(node, test, found, frame)
    _compare(node, test, results, list(found), frame)
    return _either(test, results, frame)


def _estimator(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """An estimator traces its `model_fn` in a graph of its own, which AutoGraph does not convert."""
    model_fn = _argument(arguments, bound, 0, "model_fn")
    if model_fn is not None:
        # What else it takes is settings: the mode, the parameters of the run, its configuration.
        settings = tuple((name, SOME_PYTHON) for name in ("mode", "params", "config"))
        given = Value(PARTIAL, ref=(model_fn, (), settings))
        frame.analysis.regions.trace_later(given, ("Estimator",), converted=False, frame=frame)
    return NOTHING_KNOWN


def _estimator_spec(
    arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    """What a TPUEstimator's `model_fn` returns names the functions that run on the host: summaries and metrics."""
    for name in ("host_call", "eval_metrics", "scaffold_fn"):
        for leaf in leaves(arguments.keywords.get(name, NOTHING_KNOWN)):
            frame.analysis.regions.mark_host(leaf)
    return NOTHING_KNOWN


def _keras_rnn(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    step = _argument(arguments, bound, 0, "step_function")
    inside = Value(TENSOR, COMPUTED)
    _run(step, [inside, Value(COLLECTION, ref=inside)], frame, converted=False)
    return Value(TENSOR, COMPUTED, structured=True)


def _eager_here(
    arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    """While tracing there is no eager execution, whatever the program does outside."""
    return FALSE if frame.context.is_compiled and not frame.silent else TRUE


def _to_numpy(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """Keras's own way to NumPy, which a traced tensor refuses as it refuses `.numpy()`."""
    value = arguments.positional[0] if arguments.positional else NOTHING_KNOWN
    if value.is_tensor and not (value.guess or value.structured or value.optional):
        frame.analysis.note(frame, node, NUMPY_CALL, value)
        if frame.context.region == ASSUMED:
            frame.touches_host = True  # as with `.numpy()`: its author runs it eagerly
    return Value(NDARRAY)


def _backend(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """What compiles Keras code here, whatever backends a package has code for."""
    return constant("tensorflow")


def _traced_here(
    arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    return FALSE if _eager_here(arguments, bound, node, frame) == TRUE else TRUE


def _debug_hook(name: str) -> Callback:
    def hook(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
        frame.analysis.drivers.saw_debug_hook(node, name, frame)
        return NOTHING_KNOWN

    return hook


_DEBUG_HOOKS = (
    "tf.debugging.enable_check_numerics",
    "tf.debugging.experimental.enable_dump_debug_info",
)
_HANDLERS: dict[str, Callback] = {
    **dict.fromkeys(misfits.POLICIES, misfits.policy),
    **{name: _debug_hook(name) for name in _DEBUG_HOOKS},
    "keras.backend.switch": _keras_switch,
    "tf.cond": _cond,
    "tf.compat.v1.cond": _cond,
    "tf.while_loop": _while_loop,
    "tf.compat.v1.while_loop": _while_loop,
    "tf.map_fn": _map_fn,
    "tf.compat.v1.map_fn": _map_fn,
    "keras.backend.map_fn": _map_fn,
    "tf.vectorized_map": _unconverted_map,
    "keras.ops.vectorized_map": _unconverted_map,
    "keras.ops.map": _unconverted_map,
    "tf.scan": _scan,
    "tf.foldl": _fold,
    "tf.foldr": _fold,
    "tf.py_function": _host,
    "tf.numpy_function": _host,
    "tf.compat.v1.py_func": _host,
    "tf.nest.map_structure": _map_structure,
    "keras.tree.map_structure": _map_structure,
    "tf.function": _function,
    "tf.custom_gradient": _wrap,
    "tf.recompute_grad": _wrap,
    "tf.autograph.experimental.do_not_convert": _wrap,
    "tf.autograph.to_graph": _wrap,
    **dict.fromkeys(
        (
            f"{root}estimator.{name}"
            for root in ("tf.", "tf.compat.v1.")
            for name in ("Estimator", "tpu.TPUEstimator")
        ),
        _estimator,
    ),
    "tf.contrib.tpu.TPUEstimator": _estimator,
    **dict.fromkeys(
        (
            f"{root}.TPUEstimatorSpec"
            for root in ("tf.estimator.tpu", "tf.compat.v1.estimator.tpu", "tf.contrib.tpu")
        ),
        _estimator_spec,
    ),
    "tf.compat.v1.tpu.outside_compilation": _host,
    "tf.tpu.outside_compilation": _host,
    "tf.switch_case": _switch,
    "tf.case": _case,
    "tf.compat.v1.case": _case,
    "keras.backend.rnn": _keras_rnn,
    "keras.backend.backend": _backend,
    "keras.config.backend": _backend,
    "keras.ops.convert_to_numpy": _to_numpy,
    "keras.backend.get_value": _to_numpy,
    "keras.backend.eval": _to_numpy,
    "tf.executing_eagerly": _eager_here,
    "tf.inside_function": _traced_here,
    "tf.compat.v1.executing_eagerly": _eager_here,
    "tf.python.eager.context.executing_eagerly": _eager_here,
    "tf.compat.v1.executing_eagerly_outside_functions": lambda a, b, n, f: TRUE,
    "keras.ops.cond": _cond,
    "keras.ops.while_loop": _while_loop,
    "keras.ops.fori_loop": _fori_loop,
    "keras.ops.scan": _keras_scan,
}
