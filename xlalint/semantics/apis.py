"""Calls of other packages' APIs: what they return, and whether the catalogue holds a hazard against them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics import api_objects, array_libraries, symbolic
from xlalint.semantics.arguments import bind
from xlalint.semantics.callbacks import callbacks
from xlalint.semantics.catalog.entries import Api, custom_operation, without_gradient
from xlalint.semantics.elements import latest, leaves
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
    verdicts,
)
from xlalint.semantics.imports import libraries
from xlalint.semantics.names import api_name
from xlalint.semantics.results import (
    bijectors,
    composites,
    drawn_samples,
    foreign_results,
    padded_back,
    results,
    sorted_places,
    special_results,
    tallies,
    tensor_arrays,
)
from xlalint.semantics.settled_calls import Settled
from xlalint.semantics.tracing import host_use
from xlalint.semantics.training import eager_steps, model_files, precision, setups
from xlalint.semantics.values import (
    ARRIVING,
    BOUNDED,
    EXTERNAL,
    NONE,
    NOTHING_KNOWN,
    SEQUENCE,
    SOME_PYTHON,
    TENSOR,
    Value,
    constant,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments
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
        answer = symbolic.answer(name, arguments)
        if answer is not None:
            return answer
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
        api_objects.may_make(plain),
        name.startswith(libraries.LOADED),
        plain in resources.ASK_VARIABLES,
    )


_INPUTS = ("keras.Input", "keras.layers.Input")


def _home(name: str) -> Callable[[str, Arguments, ast.AST, Frame], Value] | None:
    if name.startswith("np."):
        return array_libraries.numpy_call
    if name.startswith("math."):
        return array_libraries.math_call
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
    made = api_objects.make(name, arguments, node, frame) if named.may_make else None
    if made is not None:
        costs.note_making(plain, arguments, node, frame)
        host_objects.note_making(made, node, frame)
        if plain.startswith("keras.optimizers."):
            frame.analysis.rates.saw_optimizer(name, arguments, node, frame)
        callbacks.construct(name, arguments, frame)
        return made
    if named.is_custom:
        return _custom_operation(name, arguments, node, frame)
    api = api_objects.facts_of(name, plain, frame)
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
    if api.python_args or python_arguments.unmeasured(api):
        python_arguments.note(api, bound, node, frame)
    value = handled
    if value is None:
        value = _value_of(api, settled, arguments, frame)
        value = sorted_places.by_sort(api.name, value, arguments, node, frame)
        if value.producer is not None:
            value = counts.of_call(api, arguments, value, node, frame)
            if plain in padded_back.PADS:
                value = padded_back.of_pad(bound, value, node)
            elif plain == "tf.slice" and padded_back.is_slice_to_size(bound):
                value = value._replace(producer=None, sized_axis=0, counted=None)
        elif value.dependence == BOUNDED and plain in ("tf.shape", "tf.size"):
            value = counts.of_size(plain, value, node, frame)
            value = padded_back.sizes_of(value, node) if plain == "tf.shape" else value
        elif value.kind is SEQUENCE:
            value = counts.of_parts(plain, value, node, frame)
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
    return Value(TENSOR, max(ARRIVING, latest(arguments.positional)), structured=True)


# They make an array of what they are given, or refuse what is none: each function was given a traced tensor.
_WORK_ON_ARRAYS = ("scipy.", "sklearn.", "cv2.", "skimage.", "PIL.Image.fromarray")


def _foreign_call(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if _is_host(name):
        frame.host |= host_use.WORK
    if name.startswith(_WORK_ON_ARRAYS):
        array_libraries.note(name, arguments, node, frame)
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
    made = drawn_samples.make(name, arguments) or bijectors.make(name)
    if made is not None:
        return made
    tally = tallies.call(name, arguments, node, frame)
    if tally is not None:
        return tally
    known = foreign_results.of_call(name, arguments)
    if known is not None:
        return known
    if name.startswith("tensorflow_addons."):
        added = addons.result(name, arguments.positional)
        if added is not None:
            return added
    return callbacks.foreign(name, arguments, node, frame)


# What says whose array or tensor it is given: "builtins" for Python's own lists and numbers.
_ASK_FOR_THE_LIBRARY = frozenset({"autoray.infer_backend", "autoray.autoray.infer_backend"})
