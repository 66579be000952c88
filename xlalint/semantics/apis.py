"""Calls of other packages' APIs: what they return, and whether the catalogue holds a hazard against them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics import evidence, symbolic
from xlalint.semantics.arguments import bind
from xlalint.semantics.callbacks import callbacks
from xlalint.semantics.catalog import Api, custom_operation, without_gradient
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import (
    ARRAY_LIBRARY,
    ASSUMED,
    CALL,
    CONVERSION,
    NUMPY_CALL,
    CallDetail,
)
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import (
    addons,
    costs,
    counts,
    eigenvalues,
    floating_by_use,
    hazards,
    host_objects,
    python_arguments,
    resources,
    text,
    trace_effects,
    training_flags,
    verdicts,
)
from xlalint.semantics.hazards.noted_calls import detail_of
from xlalint.semantics.imports import libraries
from xlalint.semantics.names import api_name
from xlalint.semantics.results import (
    arrays,
    composites,
    drawn_samples,
    result_shapes,
    results,
    special_results,
    tallies,
    tensor_arrays,
    variables,
)
from xlalint.semantics.settled_calls import Settled
from xlalint.semantics.tracing import host_use
from xlalint.semantics.training import (
    eager_steps,
    model_files,
    pipelines,
    precision,
    recurrent,
    setups,
)
from xlalint.semantics.values import (
    ARRIVING,
    COLLECTION,
    COMPUTED,
    CONSTANT,
    EXTERNAL,
    INSTANCE,
    NDARRAY,
    NONE,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    SHAPE,
    SOME_PYTHON,
    STRATEGY,
    TENSOR,
    TRUE,
    VARIABLE,
    Made,
    Value,
    class_name,
    constant,
    shaped,
    static_shape,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

# Layers that hold a product of matrices or a convolution, through which XLA follows no size back to the arguments.
_LAYERS_WITH_PRODUCTS = (
    "Dense", "EinsumDense", "Conv", "SeparableConv", "DepthwiseConv", "LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional",
    "MultiHeadAttention", "Attention", "MaxPool", "AveragePool", "Bilinear",
)  # fmt: skip
# Modules whose presence in a function marks it as host code: it reads files, draws, or handles text.
_HOST_PREFIXES = (
    "tf.io.", "tf.data.", "tf.train.", "tf.saved_model.", "tf.summary.create", "tf.strings.", "tf.image.decode", "tf.compat.v1.gfile",
    "tf.compat.v1.data.", "tf.compat.v1.Session", "tf.compat.v1.train.",
    "tf.Session", "tf.gfile.", "tf.read_file", "tf.write_file", "tf.decode_", "tf.parse_", "tf.python_io.",
    "cv2.", "PIL.", "matplotlib.", "os.", "shutil.", "json.", "pandas.", "sklearn.", "requests.", "argparse.", "subprocess.", "h5py.", "pickle.",
)  # fmt: skip
_HOST_EXCEPTIONS = frozenset({"tf.train.Checkpoint", "tf.data.Dataset", "os.getenv"})
# They compute on text or read the environment, which libraries do anywhere.
_NOT_HOST_PREFIXES = ("os.path.", "os.environ")


# What TF1 code builds into the graph that trains: optimizers, their learning rate, the step.
_TRAINS_IN_THE_GRAPH = re.compile(
    r"tf\.(compat\.v1\.)?train\.(\w+Optimizer|ExponentialMovingAverage|\w+_decay(_restarts)?|piecewise_constant|(\w+_)?global_step)$"
)


@cache
def _is_host(name: str) -> bool:
    """Whether a function that calls this API does a host's work."""
    if name in _HOST_EXCEPTIONS or name.startswith(_NOT_HOST_PREFIXES):
        return False
    if _TRAINS_IN_THE_GRAPH.match(name):
        return False
    return name.startswith(_HOST_PREFIXES)


def call_api(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """The value of a call of an API by its canonical name; notes its hazards."""
    value = _call_api(name, arguments, node, frame)
    if frame.analysis.makes_symbolic and symbolic.takes(arguments):
        api = frame.analysis.catalog.api(name)
        computes = api is not None and api.ops and name.startswith(("tf.", "keras.backend."))
        if computes or name in symbolic.ASK_FOR_SHAPES:
            symbolic.note(name, arguments, node, frame)
        elif name.startswith("keras."):
            return symbolic.marked(value)
    return value


class _Named(NamedTuple):
    """What the name of an API says of its calls. `plain` is the catalogue's name; `home` handles what is not TensorFlow's."""

    plain: str
    home: Callable[[str, Arguments, ast.AST, Frame], Value] | None
    is_told: bool
    is_host: bool
    reads_files: bool
    is_special: bool
    may_make: bool
    is_custom: bool
    asks_variables: bool


@cache
def _named(name: str) -> _Named:
    plain = api_name(name)
    is_special = (
        name in (libraries.LIBRARY, "tf.TensorArray")
        or plain in (*_INPUTS, python_arguments.SHAPE_CLASS)
        or plain in model_files.FUNCTIONS
    )
    return _Named(
        plain,
        _home(name),
        name in setups.STEPS or name in eager_steps.SWITCHES or name in precision.STRATEGIES,
        _is_host(name),
        # Python reads with `tf.io.gfile` while it traces.
        name.startswith(("tf.io.", "tf.image.decode", "tf.data."))
        and not name.startswith("tf.io.gfile."),
        is_special,
        _may_make_object(plain),
        name.startswith(libraries.LOADED),
        plain in resources.ASK_VARIABLES,
    )


_INPUTS = ("keras.Input", "keras.layers.Input")


def _home(name: str) -> Callable[[str, Arguments, ast.AST, Frame], Value] | None:
    if name.startswith("np."):
        return _numpy_call
    if name.startswith("math."):
        return _math_call
    return None if name.startswith(("tf.", "keras.", "tf_keras.")) else _foreign_call


def _tell(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """Tell those who judge a program's set-up of a step of it."""
    if name in setups.STEPS:
        frame.analysis.setups.saw(name, arguments, node, frame)
    elif name in eager_steps.SWITCHES:
        frame.analysis.eager_steps.saw_switch(name, arguments, node, frame)
    if name in precision.STRATEGIES:
        frame.analysis.precision.saw_strategy(node, frame)


def _special(
    name: str, plain: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """The value of a call that the catalogue has no part in; None where it goes on as any other, having been noted."""
    if name == libraries.LIBRARY:
        return Value(EXTERNAL, ref=libraries.LIBRARY)
    if name == "tf.TensorArray":
        return tensor_arrays.construct(arguments, node, frame)
    if plain in model_files.FUNCTIONS and name == plain and frame.analysis.keras == "3":
        model_files.note_function(name, arguments, node, frame)
    if plain in _INPUTS:
        frame.analysis.drivers.saw_input(arguments, node, frame)
        if name == plain and frame.analysis.keras == "3":
            frame.analysis.makes_symbolic = True
            return symbolic.marked(results.of_unknown_api(plain, arguments, frame))
    if plain == python_arguments.SHAPE_CLASS:
        dimensions = bind(("dims",), arguments).get("dims")
        if dimensions is not None and dimensions.kind is SEQUENCE:
            python_arguments.note_shape(dimensions, node, frame)
    return None


def _call_api(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    named = _named(name)
    plain = named.plain
    if named.is_told:
        _tell(name, arguments, node, frame)
    trace_effects.note_call(name, node, frame)
    if named.home is not None:
        return named.home(name, arguments, node, frame)
    if named.is_host and not host_use.is_of_coding(name, frame):
        frame.host |= host_use.WORK
        frame.analysis.node_inputs.saw_write(name, node, frame)
        frame.reads_files = frame.reads_files or named.reads_files
    if named.is_special:
        special = _special(name, plain, arguments, node, frame)
        if special is not None:
            return special
    made = _make_object(name, arguments, node, frame) if named.may_make else None
    if made is not None:
        costs.note_making(plain, arguments, node, frame)
        host_objects.note_making(made, node, frame)
        if plain.startswith("keras.optimizers."):
            frame.analysis.rates.saw_optimizer(name, arguments, node, frame)
        callbacks.construct(name, arguments, frame)
        return made
    if named.is_custom:
        return _custom_operation(name, arguments, node, frame)
    api = _facts_of(name, plain, frame)
    if api is None:
        handled = callbacks.call(plain, arguments, bind((), arguments), node, frame)
        if handled is None:
            handled = composites.of_call(plain, None, False, arguments, frame)
        return handled if handled is not None else results.of_unknown_api(plain, arguments, frame)
    settled = _settled(api, arguments, frame)
    bound = settled.bound
    mixed = floating_by_use.number_first(api, bound, node, frame)
    verdict = mixed or settled.verdict
    if _is_of_old_order(api, bound):
        return NOTHING_KNOWN
    if named.asks_variables:
        resources.note_function(plain, bound, node, frame)
    handled = callbacks.call(plain, arguments, bound, node, frame)
    if api.python_args or api.name in python_arguments.UNMEASURED:
        python_arguments.note(api, bound, node, frame)
    value = handled
    if value is None:
        value = _value_of(api, settled, arguments, frame)
        if value.producer is not None:
            value = counts.of_call(api, arguments, value, node, frame)
        elif api.name in special_results.FINDERS and frame.context.is_compiled:
            value = special_results.found_in_constants(value, arguments, bound, frame)
    if handled is not None:
        if api.name in text.LISTS:
            text.note_rows(handled, node, frame)
        hazards.note_hazards(api, verdict, bound, arguments, NOTHING_KNOWN, node, frame)
    elif frame.context.is_compiled and not frame.silent:
        if settled.is_ordinary is None:
            settled.is_ordinary = hazards.is_ordinary(api, settled, arguments)
        if mixed is not None or not settled.is_ordinary:
            hazards.note_hazards(api, verdict, bound, arguments, value, node, frame)
    if isinstance(node, ast.Call) and node.args and _takes_dimensions(plain, node, bound):
        frame.has_dimensions(node.args[0], plain.endswith("boolean_mask"))
    return value


_ALONG_AXES = re.compile(
    r"^(tf\.(math\.)?|keras\.ops\.|keras\.backend\.)(reduce_)?(sum|mean|max|min|prod|any|all|logsumexp|argmax|argmin)$"
)
_IS_MASK = re.compile(r"(^|_)masks?$")


@cache
def _reduces(name: str) -> bool:
    return _ALONG_AXES.search(name) is not None


def _takes_dimensions(name: str, node: ast.Call, bound: dict[str, Value]) -> bool:
    """Whether a call shows that its first argument is no scalar: an axis of it is reduced, or a mask is."""
    if name.endswith("boolean_mask"):
        return True
    first = node.args[0]
    if not isinstance(first, ast.Name) or not _reduces(name):
        return False
    axis = bound.get("axis")
    if axis is not None and axis != NONE:
        return type(getattr(axis.constant(), "value", None)) is int
    return _IS_MASK.search(first.id) is not None


def _is_of_old_order(api: Api, bound: dict[str, Value]) -> bool:
    """`tf.concat(1, [a, b])`, `tf.split(1, 3, x)`: the order of arguments before TensorFlow 1, which raises; code that is ready for both tries it."""
    first, axis = bound.get(next(iter(api.params), "")), bound.get("axis")
    if axis is None or first is None or first.constant() is None:
        return False
    return any(leaf.is_tensor for leaf in leaves(axis))


def _settled(api: Api, arguments: Arguments, frame: Frame) -> Settled:
    """What the arguments of a call come to, whatever code it stands in."""
    key, known = frame.analysis.settled_calls.find(api, arguments)
    if known is None:
        bound = bind(hazards.parameters_of(api, arguments), arguments)
        if arguments.open_ended and api.conditions:
            verdicts.fill_open(api, bound)
        known = Settled(bound, verdicts.judge(api, bound))
        frame.analysis.settled_calls.keep(key, known)
    return known


def _value_of(api: Api, settled: Settled, arguments: Arguments, frame: Frame) -> Value:
    """What a call returns of an API that takes no functions."""
    if settled.value is None:
        sizes = verdicts.data_sized_outputs(settled.verdict)
        value = composites.of_call(api.name, api.returns, bool(sizes), arguments, frame)
        if value is None:
            value = results.of_call(api, sizes, arguments, settled.bound, frame)
        settled.value = eigenvalues.of_call(api.name, value, tuple(settled.bound.values()))
    return settled.value


def _custom_operation(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`library.my_op(x)`, where `library = tf.load_op_library(...)`."""
    api = custom_operation(name)
    hazards.note_hazards(api, verdicts.judge(api, {}), {}, arguments, NOTHING_KNOWN, node, frame)
    return Value(TENSOR, max(ARRIVING, _dependence(arguments.positional)), structured=True)


# Layers that run a loop of the graph, unless it is unrolled.
_RECURRENT = re.compile(r"^keras\.layers\.(SimpleRNN|RNN|LSTM|GRU|ConvLSTM\dD|Bidirectional)$")
# Layers that may return several tensors (states, scores), and models, which may return any structure.
_MAY_RETURN_MORE = re.compile(
    r"^keras\.(Sequential|Model|applications\.)|(RNN|LSTM|GRU|LSTM\dD|Cells?|Bidirectional|Attention|Lambda|TimeDistributed|Wrapper)$"
)


@cache
def _is_recurrent(layer: str) -> bool:
    return _RECURRENT.search(layer) is not None


@cache
def _may_return_more(layer: str) -> bool:
    return _MAY_RETURN_MORE.search(layer) is not None


def _facts_of(name: str, plain: str, frame: Frame) -> Api | None:
    """What the catalogue knows, of the Keras that the code uses."""
    catalog = frame.analysis.catalog
    if plain.startswith("keras.") and _is_of_keras_2(name, frame):
        return catalog.api_of_keras_2(plain)
    return catalog.api(plain)


def _is_of_keras_2(name: str, frame: Frame) -> bool:
    return frame.analysis.keras == "2" or name.startswith("tf_keras.")


def call_external_instance(
    target: Value, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """`self.dense(x)`: a layer, loss or metric of Keras called; other objects are not known."""
    made = dict(target.ref.arguments) if isinstance(target.ref, Made) else {}
    name = class_name(target) or ""
    plain = api_name(name)
    if plain.startswith(
        (
            "keras.layers.",
            "keras.losses.",
            "keras.metrics.",
            "keras.Sequential",
            "keras.Model",
            "keras.applications.",
        )
    ):
        api = _facts_of(name, plain, frame)
        training_flags.note_call(name, arguments, node, frame)
        dependence = _dependence(arguments.positional)
        failing: CallDetail | recurrent.Recurrent | None = None
        if api is not None and plain.startswith("keras.layers."):
            verdict = verdicts.judge(api, {**made, **arguments.keywords})
            if verdict.status in ("fails", "crashes") and not verdict.possible:
                failing = detail_of(api, verdict, {}, False)
                frame.analysis.note(frame, node, CALL, NOTHING_KNOWN, failing)
            elif verdict.gradient == "fails" and not made and frame.context.is_compiled:
                worked_on = dict(zip(("inputs",), arguments.positional))
                frame.analysis.gradients.note(api, verdict, worked_on, node, frame)
            else:
                hazards.note_in_step(api, {**made, **arguments.keywords}, node, frame)
        if _is_recurrent(plain) and made.get("unroll") != TRUE:
            state = list(arguments.positional[:1])
            frame.analysis.loop_gradients.note_call(node, state, None, True, frame)
            repeated = recurrent.recurrent_in(target)
            failing = failing or repeated
            if repeated is not None and frame.context.is_compiled:
                frame.analysis.recurrent_layers.saw_call(repeated, node, frame)
        if plain.startswith(("keras.losses.", "keras.metrics.")):
            counts.note_arguments(arguments, node, frame)
        structured = _may_return_more(plain)
        is_model = plain.startswith(("keras.Sequential", "keras.Model", "keras.applications."))
        if is_model or plain.rsplit(".", 1)[-1].startswith(_LAYERS_WITH_PRODUCTS):
            dependence = COMPUTED
        result = Value(TENSOR, max(dependence, ARRIVING), structured=structured)
        if frame.analysis.makes_symbolic:
            result = symbolic.made_by_keras(result, arguments)
        # What nobody is seen to call may put a model together, too: `compile` says so.
        is_open = frame.context.region == ASSUMED and type(failing) is recurrent.Recurrent
        if failing is not None and (is_open or not frame.context.is_compiled):
            return frame.analysis.model_layers.called(failing, result, node, frame)
        if is_model:
            return frame.analysis.model_layers.model_called(target, result, frame)
        if api is None or structured or not plain.startswith("keras.layers."):
            return result
        return shaped(result, result_shapes.of_layer(api, arguments.positional))
    return NOTHING_KNOWN


def failing_layer(layer: Value, given: dict[str, Value], frame: Frame) -> CallDetail | None:
    """What the catalogue holds against calling a layer of Keras; None where it compiles, or may."""
    name = class_name(layer) or ""
    api = _facts_of(name, api_name(name), frame)
    if api is None:
        return None
    made = dict(layer.ref.arguments) if isinstance(layer.ref, Made) else {}
    verdict = verdicts.judge(api, {**made, **given})
    fails = verdict.status in ("fails", "crashes") and not verdict.possible
    return detail_of(api, verdict, {}, False) if fails else None


def _dependence(values: tuple[Value, ...]) -> int:
    return max(
        (leaf.dependence for value in values for leaf in leaves(value) if leaf.is_tensor),
        default=CONSTANT,
    )


# NumPy asks what it is given for its own `ndim` and `shape`, or whether it is a number, which traced tensors answer.
_ASK_THE_TENSOR = frozenset({"np.ndim", "np.shape", "np.isscalar", "np.iterable"})
# What asks for an array, or compares the numbers in two of them.
_ASK_FOR_NUMBERS = frozenset(
    {"np.array", "np.asarray", "np.ascontiguousarray", "np.array_equal", "np.allclose"}
)


def _asks_for_numbers(name: str, frame: Frame) -> bool:
    """Whether a call of NumPy's in a library function shows that it works on numbers."""
    if name in _ASK_FOR_NUMBERS:
        return True
    if frame.function is not None and evidence.is_loss(frame.function, frame):
        return False  # Keras traces it, whatever its author had in mind
    return evidence.takes_arrays(frame) or evidence.follows_arrays(frame)


def _may_hold_numbers(value: Value) -> bool:
    """`if isinstance(x, list): x = np.array(x)`: where no list is seen to be passed, it is one of numbers or of tensors."""
    return value.kind is COLLECTION and value.dependence == ARRIVING


def _numpy_call(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    values = (*arguments.positional, *arguments.keywords.values())
    flat = [leaf for value in values for leaf in leaves(value)]
    if name in _ASK_THE_TENSOR and len(values) == 1 and values[0].is_tensor:
        asked = static_shape(None if values[0].structured else values[0].shape)
        return asked if name == "np.shape" else SOME_PYTHON
    if name == "np.flip" and values and values[0].is_tensor:
        return values[0]._replace(kind=TENSOR, ref=None)  # it slices what it is given
    if name in _ASK_FOR_NUMBERS and any(map(_may_hold_numbers, values)):
        return Value(NDARRAY)
    for leaf in flat:
        if leaf.is_tensor and not (leaf.guess or leaf.optional):
            if not leaf.sure and evidence.writes_arrays(frame):
                break
            frame.analysis.note(frame, node, NUMPY_CALL, leaf)
            if frame.context.region == ASSUMED and _asks_for_numbers(name, frame):
                # Nobody compiles it, and it asks for numbers as `.numpy()` does: its author runs it eagerly.
                frame.host |= host_use.WORK
            return Value(NDARRAY)
    made = arrays.made(name, arguments)
    if made is not None:
        return made
    is_listed = name in arrays.OF_LISTS and bool(values) and values[0].kind is SEQUENCE
    if flat and not is_listed and all(leaf.kind in (PYTHON, SHAPE) for leaf in flat):
        return SOME_PYTHON
    return Value(NDARRAY)


def _math_call(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    for value in arguments.positional:
        if value.is_tensor and not (value.guess or value.structured or value.optional):
            frame.analysis.note(frame, node, CONVERSION, value, name)
    return SOME_PYTHON


# They make an array of what they are given, or refuse what is none: each function was given a traced tensor.
_WORK_ON_ARRAYS = ("scipy.", "sklearn.", "cv2.", "skimage.", "PIL.Image.fromarray")


def _note_array_library(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """`gaussian_filter(x, 2)`, `f1_score(y_true, y_pred)`: functions of libraries that work on NumPy's arrays."""
    if name.rpartition(".")[2][:1].isupper():
        return  # an object, which may keep what it is given
    for value in (*arguments.positional, *arguments.keywords.values()):
        for leaf in leaves(value):
            if leaf.is_tensor and not (leaf.guess or leaf.optional or leaf.structured):
                if leaf.sure or not evidence.writes_arrays(frame):
                    frame.analysis.note(frame, node, NUMPY_CALL, leaf, ARRAY_LIBRARY)
                if frame.context.region == ASSUMED:
                    frame.host |= host_use.WORK  # its author runs it eagerly
                return


def _foreign_call(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if _is_host(name):
        frame.host |= host_use.WORK
    if name.startswith(_WORK_ON_ARRAYS):
        _note_array_library(name, arguments, node, frame)
    missing = addons.operation(name)
    if missing is not None:
        api = custom_operation(name, missing)
        hazards.note_hazards(
            api, verdicts.judge(api, {}), {}, arguments, NOTHING_KNOWN, node, frame
        )
    lacking = addons.gradient(name)
    if lacking is not None and not frame.silent and frame.context.is_compiled:
        api = without_gradient(name, lacking)
        worked_on = dict(zip(("inputs",), arguments.positional))
        frame.analysis.gradients.note(api, verdicts.judge(api, {}), worked_on, node, frame)
    if name in _ASK_FOR_THE_LIBRARY and arguments.positional:
        asked = arguments.positional[0]
        return constant("tensorflow") if asked.is_tensor and not asked.structured else SOME_PYTHON
    distribution = drawn_samples.make(name, arguments)
    if distribution is not None:
        return distribution
    tally = tallies.call(name, arguments, node, frame)
    if tally is not None:
        return tally
    if name.startswith("tensorflow_addons."):
        made = addons.result(name, arguments.positional)
        if made is not None:
            return made
    return callbacks.foreign(name, arguments, node, frame)


# What says whose array or tensor it is given: "builtins" for Python's own lists and numbers.
_ASK_FOR_THE_LIBRARY = frozenset({"autoray.infer_backend", "autoray.autoray.infer_backend"})
_MAKE_DATASETS = (
    "tf.data.",
    "tf.compat.v1.data.",
    "keras.utils.image_dataset",
    "keras.utils.text_dataset",
)
_OBJECT_FACTORIES = {
    "tf.compat.v1.get_variable": Value(VARIABLE, ARRIVING),
    "keras.Variable": Value(VARIABLE, ARRIVING),
    "keras.backend.variable": Value(VARIABLE, ARRIVING),
    "tf.GradientTape": Value(INSTANCE, ref="tf.GradientTape"),
    "tf.random.Generator.from_seed": Value(INSTANCE, ref="tf.random.Generator"),
    "tf.random.get_global_generator": Value(INSTANCE, ref="tf.random.Generator"),
    "tf.distribute.get_strategy": Value(STRATEGY, ref="tf.distribute.get_strategy"),
    setups.RESOLVER: Value(INSTANCE, ref=setups.RESOLVER),
    setups.CONNECTED: Value(INSTANCE, ref=setups.RESOLVER),
    "keras.backend.epsilon": SOME_PYTHON,
    "tf.debugging.set_log_device_placement": NONE,
}


def _may_make_object(plain: str) -> bool:
    """Whether calling an API of this name may make one of the objects of `_make_object`."""
    leaf = plain.rpartition(".")[2]
    return (
        plain in _OBJECT_FACTORIES
        or plain == python_arguments.SHAPE_CLASS
        or plain in variables.MAKERS
        or plain.startswith(_MAKE_DATASETS)
        or (plain.startswith("tf.distribute.") and plain.endswith("Strategy"))
        or (plain.startswith("keras.") and leaf[:1].isupper())
        or precision.is_policy(plain)
        or host_objects.may_make(plain)
    )


def _make_object(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value | None:
    """Objects whose class decides what becomes of them: layers, datasets, strategies, variables."""
    plain = api_name(name)
    if plain in variables.MAKERS:
        return variables.made(arguments)
    if plain in _OBJECT_FACTORIES:
        return _OBJECT_FACTORIES[plain]
    if plain == python_arguments.SHAPE_CLASS:
        given = arguments.positional[0] if arguments.positional else NONE
        return Value(SHAPE, shape=None if given == NONE else result_shapes.numbers(given))
    if plain.startswith("tf.distribute.") and plain.endswith("Strategy"):
        return Value(STRATEGY, ref=plain)
    if plain.startswith(_MAKE_DATASETS):
        return pipelines.made(plain, arguments, node, frame)
    policy = precision.make_policy(plain, arguments)
    if policy is not None:
        return policy
    on_host = host_objects.make(plain, arguments.positional, arguments.keywords)
    if on_host is not None:
        return on_host
    leaf = plain.rsplit(".", 1)[-1]
    if plain.startswith("keras.") and leaf[:1].isupper() and leaf != "Input":
        model = frame.analysis.model_layers.made(name, plain, arguments, node, frame)
        if model is not None:
            return model
        return Value(INSTANCE, ref=_made(name, plain, arguments, frame))
    return None


def _made(name: str, plain: str, arguments: Arguments, frame: Frame) -> str | Made:
    """The class, with what the instance is made with where the catalogue's verdict depends on it."""
    if plain.startswith("keras.losses.") and "reduction" in arguments.keywords:
        return Made(name, (("reduction", arguments.keywords["reduction"]),))
    if not plain.startswith("keras.layers."):
        return name
    api = _facts_of(name, plain, frame)
    if api is None:
        return name
    decisive = {parameter for condition in api.conditions for parameter, _ in condition.when}
    given = {key: value for key, value in bind(api.params, arguments).items() if key in decisive}
    if _is_recurrent(plain):
        given.update(recurrent.marked(plain, _is_of_keras_2(name, frame), arguments))
    return Made(name, tuple(sorted(given.items()))) if given else name
