"""What calls of APIs that take functions do: by the name of the API."""

from __future__ import annotations

import ast

from xlalint.semantics import named_tuples
from xlalint.semantics.arguments import Arguments
from xlalint.semantics.callbacks import progress_bars, structures
from xlalint.semantics.callbacks.callables import as_function
from xlalint.semantics.callbacks.conditional_calls import (
    case,
    cond,
    keras_choice,
    keras_switch,
    switch_case,
)
from xlalint.semantics.callbacks.handed_functions import Callback, argument, combined, written
from xlalint.semantics.callbacks.loop_calls import (
    fold,
    fori_loop,
    keras_map,
    keras_rnn,
    keras_scan,
    map_fn,
    scan,
    vectorized_map,
    while_loop,
)
from xlalint.semantics.elements import element, leaves
from xlalint.semantics.environment import versions
from xlalint.semantics.facts import ASSUMED, NUMPY_CALL
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import misfits
from xlalint.semantics.joins import alternatives
from xlalint.semantics.names import api_name
from xlalint.semantics.results import specs
from xlalint.semantics.tracing import host_use
from xlalint.semantics.tracing.traits import DO_NOT_CONVERT
from xlalint.semantics.training import pipelines
from xlalint.semantics.training.devices import note_jit
from xlalint.semantics.values import (
    ANY_OF,
    ARRIVING,
    COMPUTED,
    EXTERNAL,
    FALSE,
    FUNCTION,
    INPUTS,
    INSTANCE,
    NDARRAY,
    NONE,
    NOTHING_KNOWN,
    PARTIAL,
    SOME_PYTHON,
    TENSOR,
    TRUE,
    VARIABLE,
    Value,
    Wrapping,
    constant,
)

_DATA = Value(TENSOR, ARRIVING)
# Keras objects that are made of a function: the parameter that takes it, and what Keras calls it with.
_LOSSES_AND_METRICS = frozenset(
    {"keras.metrics.MeanMetricWrapper", "keras.losses.LossFunctionWrapper"}
)
_WRAPPERS: dict[str, tuple[str, tuple[Value, ...] | None]] = {
    "keras.layers.Lambda": ("function", (INPUTS,)),
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
        return combined(arguments.positional[0], item, written(node, 0), frame)
    version = versions.parsed(name, next(iter(arguments.positional), NOTHING_KNOWN))
    if version is not None:
        return version
    record = named_tuples.made(name, arguments)
    if record is not None:
        return record
    if name == "tensorflow_datasets.load":
        return pipelines.of_tensorflow_datasets(arguments)
    shown = progress_bars.call(name, arguments, node, frame)
    if shown is not None:
        return shown
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


def _host(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    function = argument(arguments, bound, 0, "func", "computation")
    if function is not None:
        frame.analysis.host_functions.mark(function)
    return Value(TENSOR, COMPUTED, structured=True)


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
    function = as_function(function, frame.analysis)
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
    made = Wrapping(options.get("autograph") != FALSE, jit)
    if function.kind is ANY_OF:
        return function._replace(ref=tuple(_wrapped(one, made) for one in alternatives(function)))
    return _wrapped(function, made)


def _wrapped(function: Value, made: Wrapping) -> Value:
    return function._replace(given=(made,)) if function.kind is FUNCTION else function


def _turns_on_jit(options: dict[str, Value]) -> bool:
    return any(options.get(name) == TRUE for name in ("jit_compile", "experimental_compile"))


def _wrap(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    return arguments.positional[0] if arguments.positional else NOTHING_KNOWN


def _estimator(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """An estimator traces its `model_fn` in a graph of its own, which AutoGraph does not convert."""
    model_fn = argument(arguments, bound, 0, "model_fn")
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
            frame.analysis.host_functions.mark(leaf)
    return NOTHING_KNOWN


def _eager_here(
    arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    """While tracing there is no eager execution, whatever the program does outside."""
    if frame.function is not None:
        frame.analysis.eager_askers.add(frame.function)
    return FALSE if frame.context.is_compiled and not frame.silent else TRUE


def _to_numpy(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """Keras's own way to NumPy, which a traced tensor refuses as it refuses `.numpy()`."""
    value = arguments.positional[0] if arguments.positional else NOTHING_KNOWN
    # Of what may be several tensors each is refused, and nobody asks None for its numbers.
    is_several = value.structured and frame.context.region == ASSUMED
    if value.is_tensor and not (value.guess or is_several):
        frame.analysis.note(frame, node, NUMPY_CALL, value)
        if frame.context.region == ASSUMED:
            frame.host |= host_use.of_reading(node, frame)
    return Value(NDARRAY)


def _value_of(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`K.get_value(variable)` reads it outside of the graph, or hands it back (both Keras); of a traced tensor there is no value."""
    value = arguments.positional[0] if arguments.positional else bound.get("x", NOTHING_KNOWN)
    if value.kind is VARIABLE:
        return NOTHING_KNOWN
    return _to_numpy(arguments, bound, node, frame)


def _set_value(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`K.set_value(variable, x)` makes an array of `x` first."""
    value = arguments.positional[1] if len(arguments.positional) > 1 else bound.get("value")
    if value is not None:
        _to_numpy(Arguments((value,), {}, False), bound, node, frame)
    return NONE


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
    "keras.backend.switch": keras_switch,
    "tf.cond": cond,
    "tf.compat.v1.cond": cond,
    "tf.while_loop": while_loop,
    "tf.compat.v1.while_loop": while_loop,
    "tf.map_fn": map_fn,
    "tf.compat.v1.map_fn": map_fn,
    "keras.backend.map_fn": map_fn,
    "tf.vectorized_map": vectorized_map,
    "tf.compat.v1.vectorized_map": vectorized_map,
    "keras.ops.vectorized_map": vectorized_map,
    "keras.ops.map": keras_map,
    **dict.fromkeys(("tf.scan", "tf.compat.v1.scan"), scan),
    **dict.fromkeys(
        (f"{home}.fold{way}" for home in ("tf", "tf.compat.v1", "keras.backend") for way in "lr"),
        fold,
    ),
    "tf.py_function": _host,
    "tf.numpy_function": _host,
    "tf.compat.v1.py_func": _host,
    "tf.nest.map_structure": structures.mapped,
    "tf.compat.v1.nest.map_structure": structures.mapped,
    "keras.tree.map_structure": structures.mapped,
    "tf.function": _function,
    "tf.custom_gradient": _wrap,
    "tf.recompute_grad": _wrap,
    **dict.fromkeys(DO_NOT_CONVERT, _wrap),
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
    "tf.switch_case": switch_case,
    "tf.compat.v1.switch_case": switch_case,
    "keras.ops.switch": keras_choice,
    "tf.case": case,
    "tf.compat.v1.case": case,
    "keras.backend.rnn": keras_rnn,
    "keras.backend.backend": _backend,
    "keras.config.backend": _backend,
    "keras.ops.convert_to_numpy": _to_numpy,
    "keras.backend.get_value": _value_of,
    "keras.backend.set_value": _set_value,
    "keras.backend.eval": _to_numpy,
    "tf.executing_eagerly": _eager_here,
    "tf.inside_function": _traced_here,
    "tf.compat.v1.executing_eagerly": _eager_here,
    "tf.python.eager.context.executing_eagerly": _eager_here,
    "tf.compat.v1.executing_eagerly_outside_functions": lambda a, b, n, f: TRUE,
    "keras.ops.cond": cond,
    "keras.ops.while_loop": while_loop,
    "keras.ops.fori_loop": fori_loop,
    "keras.ops.scan": keras_scan,
}
