"""Calls of other packages' APIs: what they return, and whether the catalogue holds a hazard against them."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

from xlalint.semantics import (
    addons,
    arrays,
    callbacks,
    composites,
    costs,
    counts,
    differences,
    eager_steps,
    evidence,
    families,
    graph_summaries,
    host_objects,
    libraries,
    misfits,
    misuses,
    model_files,
    pipelines,
    precision,
    python_arguments,
    result_shapes,
    results,
    scalar_shapes,
    setups,
    symbolic,
    tensor_arrays,
    text,
    trace_effects,
    unknown_sizes,
)
from xlalint.semantics.catalog import Api, Condition, custom_operation
from xlalint.semantics.facts import (
    ASSUMED,
    CALL,
    CONVERSION,
    DATA_SIZED_USE,
    DENSE_SHAPE,
    DTYPE,
    NUMPY_CALL,
    ROW_LENGTHS,
    SLICE,
    CallDetail,
    Verdict,
)
from xlalint.semantics.frames import Frame
from xlalint.semantics.names import api_name
from xlalint.semantics.noted_calls import detail_of, is_data, needs_exact, note_call
from xlalint.semantics.settled_calls import Settled
from xlalint.semantics.values import (
    ANY_OF,
    ARRIVING,
    BOUNDED,
    COMPUTED,
    CONSTANT,
    EXTERNAL,
    INSTANCE,
    NDARRAY,
    NONE,
    NOTHING_KNOWN,
    PYTHON,
    RAGGED,
    SEQUENCE,
    SHAPE,
    SOME_PYTHON,
    SPARSE,
    STRATEGY,
    TENSOR,
    TRUE,
    VARIABLE,
    Made,
    Usual,
    Value,
    alternatives,
    class_name,
    constant,
    flattened,
    leaves,
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
# Constants that the catalogue's way of measuring cannot tell from settings: sizes passed as one tensor (fixtures/XLA203).
_MORE_CONSTANTS = {
    "tf.split": ("num_or_size_splits",),
    "tf.raw_ops.ParallelDynamicStitch": ("indices",),
}
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


@cache
def _is_host(name: str) -> bool:
    """Whether a function that calls this API does a host's work."""
    if name in _HOST_EXCEPTIONS or name.startswith(_NOT_HOST_PREFIXES):
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


def _call_api(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if name in setups.STEPS:
        frame.analysis.setups.saw(name, arguments, node, frame)
    elif name in eager_steps.SWITCHES:
        frame.analysis.eager_steps.saw_switch(name, arguments, node, frame)
    if name in precision.STRATEGIES:
        frame.analysis.precision.saw_strategy(node, frame)
    trace_effects.note_call(name, node, frame)
    if name.startswith("np."):
        return _numpy_call(name, arguments, node, frame)
    if name.startswith("math."):
        return _math_call(name, arguments, node, frame)
    if not name.startswith(("tf.", "keras.", "tf_keras.")):
        return _foreign_call(name, arguments, node, frame)
    if _is_host(name):
        frame.touches_host = True
        frame.analysis.node_inputs.saw_write(name, node, frame)
        if name.startswith(("tf.io.", "tf.image.decode", "tf.data.")):
            frame.reads_files = True
    if name == libraries.LIBRARY:
        return Value(EXTERNAL, ref=libraries.LIBRARY)
    if name in ("tf.TensorArray", "tf.compat.v1.TensorArray"):
        return tensor_arrays.construct(arguments, node, frame)
    plain = api_name(name)
    if plain in model_files.FUNCTIONS and name == plain and frame.analysis.keras == "3":
        model_files.note_function(name, arguments, node, frame)
    if plain in ("keras.Input", "keras.layers.Input"):
        frame.analysis.drivers.saw_input(arguments, node, frame)
        if name == plain and frame.analysis.keras == "3":
            frame.analysis.makes_symbolic = True
            return symbolic.marked(results.of_unknown_api(plain, arguments, frame))
    if plain == python_arguments.SHAPE_CLASS and arguments.positional:
        dimensions = arguments.positional[0]
        if dimensions.kind is SEQUENCE:
            python_arguments.note_shape(dimensions, node, frame)
    made = _make_object(name, arguments, node, frame) if _may_make_object(plain) else None
    if made is not None:
        costs.note_making(plain, arguments, node, frame)
        host_objects.note_making(made, node, frame)
        if plain.startswith("keras.optimizers."):
            frame.analysis.rates.saw_optimizer(name, arguments, node, frame)
        callbacks.construct(name, arguments, frame)
        return made
    if name.startswith(libraries.LOADED):
        return _custom_operation(name, arguments, node, frame)
    api = _facts_of(name, plain, frame)
    if api is None:
        handled = callbacks.call(plain, arguments, bind((), arguments), node, frame)
        if handled is None:
            handled = composites.of_call(plain, None, False, arguments, frame)
        return handled if handled is not None else results.of_unknown_api(plain, arguments, frame)
    settled = _settled(api, arguments, frame)
    bound, verdict = settled.bound, settled.verdict
    if _is_of_old_order(api, bound):
        return NOTHING_KNOWN
    handled = callbacks.call(plain, arguments, bound, node, frame)
    if api.python_args or api.name in python_arguments.UNMEASURED:
        python_arguments.note(api, bound, node, frame)
    value = handled
    if value is None:
        value = _value_of(api, settled, arguments, frame)
        if value.producer is not None:
            value = counts.of_call(api, arguments, value, node, frame)
    if handled is not None:
        note_hazards(api, verdict, bound, arguments, NOTHING_KNOWN, node, frame)
    elif frame.context.is_compiled and not frame.silent:
        if settled.is_ordinary is None:
            settled.is_ordinary = _is_ordinary(api, settled, arguments)
        if not settled.is_ordinary:
            note_hazards(api, verdict, bound, arguments, value, node, frame)
    if isinstance(node, ast.Call) and node.args and _takes_dimensions(plain, node, bound):
        frame.has_dimensions(node.args[0])
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
        bound = bind(_parameters(api, arguments), arguments)
        known = Settled(bound, judge(api, bound))
        frame.analysis.settled_calls.keep(key, known)
    return known


def _value_of(api: Api, settled: Settled, arguments: Arguments, frame: Frame) -> Value:
    """What a call returns of an API that takes no functions."""
    if settled.value is None:
        sizes = _sizes(settled.verdict)
        value = composites.of_call(api.name, api.returns, bool(sizes), arguments, frame)
        if value is None:
            value = results.of_call(api, sizes, arguments, settled.bound, frame)
        settled.value = value
    return settled.value


def _custom_operation(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`library.my_op(x)`, where `library = tf.load_op_library(...)`."""
    api = custom_operation(name)
    note_hazards(api, judge(api, {}), {}, arguments, NOTHING_KNOWN, node, frame)
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
    analysis = frame.analysis
    is_keras_2 = analysis.keras == "2" or name.startswith("tf_keras.")
    if is_keras_2 and plain.startswith("keras."):
        return analysis.catalog.api_of_keras_2(plain)
    return analysis.catalog.api(plain)


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
        dependence = _dependence(arguments.positional)
        failing = None
        if api is not None and plain.startswith("keras.layers."):
            verdict = judge(api, {**made, **arguments.keywords})
            if verdict.status in ("fails", "crashes") and not verdict.possible:
                failing = detail_of(api, verdict, {}, False)
                frame.analysis.note(frame, node, CALL, NOTHING_KNOWN, failing)
            elif verdict.gradient == "fails" and not made and frame.context.is_compiled:
                worked_on = dict(zip(("inputs",), arguments.positional))
                frame.analysis.gradients.note(api, verdict, worked_on, node, frame)
        if _is_recurrent(plain) and made.get("unroll") != TRUE:
            state = list(arguments.positional[:1])
            frame.analysis.loop_gradients.note_call(node, state, None, True, frame)
        if plain.startswith(("keras.losses.", "keras.metrics.")):
            counts.note_arguments(arguments, node, frame)
        structured = _may_return_more(plain)
        is_model = plain.startswith(("keras.Sequential", "keras.Model", "keras.applications."))
        if is_model or plain.rsplit(".", 1)[-1].startswith(_LAYERS_WITH_PRODUCTS):
            dependence = COMPUTED
        result = Value(TENSOR, max(dependence, ARRIVING), structured=structured)
        if frame.analysis.makes_symbolic:
            result = symbolic.made_by_keras(result, arguments)
        if failing is not None and not frame.context.is_compiled:
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
    verdict = judge(api, {**made, **given})
    fails = verdict.status in ("fails", "crashes") and not verdict.possible
    return detail_of(api, verdict, {}, False) if fails else None


def _parameters(api: Api | None, arguments: Arguments) -> tuple[str, ...]:
    if api is None:
        return ()
    # tf.range(limit) and tf.range(start, limit): like Python's range, it reads a single argument as the limit.
    if (
        api.name == "tf.range"
        and len(arguments.positional) == 1
        and "limit" not in arguments.keywords
    ):
        return ("limit",)
    return api.params


def bind(params: tuple[str, ...], arguments: Arguments) -> dict[str, Value]:
    """Arguments by parameter name; positional ones beyond the known parameters are left out."""
    bound = dict(zip(params, arguments.positional))
    bound.update(arguments.keywords)
    return bound


def judge(api: Api, bound: dict[str, Value]) -> Verdict:
    """Pick the condition of the catalogue that fits the arguments, or the API's own verdict.

    What fails with the defaults of the caller's own parameters fails; what compiles with them may fail with others.
    """
    in_place_of_a_shape = scalar_shapes.verdict(api, bound)
    if in_place_of_a_shape is not None:
        return in_place_of_a_shape
    usual = api.conditions and {n: v for n, v in bound.items() if type(v.ref) is Usual}
    if usual:
        settled = {name: constant(value.ref.value) for name, value in usual.items()}
        verdict = judge(api, {**bound, **settled})
        if verdict.status != "compiles" and not verdict.possible:
            return verdict
    best: Condition | None = None
    possible: Condition | None = None
    for condition in api.conditions:
        fit = _fits(condition, bound)
        if fit is True and (best is None or len(condition.when) > len(best.when)):
            best = condition
        elif fit is None and condition.status in ("fails", "crashes"):
            possible = condition
    if best is not None:
        # An argument whose being given makes the difference may need to be a constant itself (`maxlen`).
        given = tuple(
            p for p, _ in best.when if p in api.constant_args and p not in best.constant_args
        )
        return Verdict(
            best.status,
            best.missing,
            best.reason,
            best.data_sized or (),
            best.constant_args + given,
            gradient=best.gradient or api.gradient,
            gradient_missing=best.gradient_missing if best.gradient else api.gradient_missing,
        )
    constants = _constants(api, bound)
    if possible is not None and api.status == "compiles":
        return Verdict(
            possible.status,
            possible.missing,
            possible.reason,
            api.data_sized or (),
            constants,
            possible=True,
        )
    return Verdict(
        api.status,
        api.missing,
        api.reason,
        api.data_sized or (),
        constants,
        gradient=api.gradient,
        gradient_missing=api.gradient_missing,
    )


def _constants(api: Api, bound: dict[str, Value]) -> tuple[str, ...]:
    """Parameters that must be constants. A sparse tensor is three tensors, of which one must be: that is XLA405's."""
    plain = tuple(p for p in api.constant_args if not p.startswith("sp_"))
    if api.name == "tf.slice" and _leaves_sizes_open(bound):
        return (*plain, "size")
    return plain + _MORE_CONSTANTS.get(api.name, ())


def _leaves_sizes_open(bound: dict[str, Value]) -> bool:
    """`tf.slice(x, [0, 0], [n, -1])`: XLA cannot tell what -1 stands for unless it knows all sizes (fixtures/XLA203)."""
    sizes = leaves(bound["size"]) if "size" in bound else ()
    return len(sizes) > 1 and any(result_shapes.number(size) == -1 for size in sizes)


def _fits(condition: Condition, bound: dict[str, Value]) -> bool | None:
    """Whether a condition holds; None when an argument's value is not known."""
    unsure = False
    for parameter, wanted in condition.when:
        value = bound.get(parameter)
        if value is None:
            return False
        fit = _argument_fits(value, wanted)
        if fit is False:
            return False
        unsure = unsure or fit is None
    return None if unsure else True


_COMPOSITES = {"SparseTensor": SPARSE, "RaggedTensor": RAGGED}


def _argument_fits(value: Value, wanted: object) -> bool | None:
    if wanted in _COMPOSITES:
        return any(leaf.kind is _COMPOSITES[str(wanted)] for leaf in leaves(value))
    if value.kind is ANY_OF:
        fits = {_argument_fits(each, wanted) for each in alternatives(value)}
        return fits.pop() if len(fits) == 1 else None
    known = value.constant()
    if wanted == "given":
        if known is not None:
            return known.value is not None
        return None if value.optional else True
    if value.choices() and isinstance(wanted, str) and known is None:
        fits = {str(choice).lower() == wanted.lower() for choice in value.choices()}
        return fits.pop() if len(fits) == 1 else None
    if known is not None:
        if isinstance(known.value, str) and isinstance(wanted, str):
            return known.value.lower() == wanted.lower()
        return bool(known.value == wanted) and isinstance(known.value, bool) == isinstance(
            wanted, bool
        )
    if value.kind is EXTERNAL and isinstance(wanted, int):
        return False
    if value.kind is EXTERNAL and isinstance(wanted, str):
        # tf.image.ResizeMethod.NEAREST_NEIGHBOR is "nearest".
        return str(value.ref).rsplit(".", 1)[-1].lower().startswith(wanted.lower())
    if value.is_tensor and value.dtype is not None and isinstance(wanted, str):
        return value.dtype == wanted
    return None


def _sizes(verdict: Verdict) -> tuple[int, ...]:
    """The data-sized outputs of a call that compiles: of one that does not, nothing follows."""
    return () if verdict.missing and not verdict.possible else verdict.data_sized


def _is_ordinary(api: Api, settled: Settled, arguments: Arguments) -> bool:
    """Whether `note_hazards` has nothing to ask of a call, in whatever code it stands: no operation that XLA lacks or that has a
    rule of its own, no data-sized, sparse or ragged tensor, no text, no misfit among the dtypes, no number that must be known.
    """
    verdict, bound = settled.verdict, settled.bound
    result = settled.value if settled.value is not None else NOTHING_KNOWN
    fails = verdict.status in ("fails", "crashes") or verdict.missing or api.host
    if fails or verdict.gradient == "fails" or "TopKV2" in api.ops:
        return False
    if differences.concerns(api) or text.picks_text(api, bound):
        return False
    if costs.of_call(api, bound) is not None:
        return False
    flat = flattened(bound.values())
    for leaf in (
        *flattened((*arguments.positional, *arguments.keywords.values())),
        *leaves(result),
    ):
        if leaf.producer is not None or leaf.is_composite or leaf.dtype == "string":
            return False
    if any(_must_be_known(api, bound.get(name), name) for name in verdict.constant_args):
        return False
    if api.sizing_args and results.is_sized_by(api, bound):
        return False
    argument = bound.get(api.dtype_arg or "dtype")
    given = results.dtype_name(argument) if argument is not None else None
    return misfits.of_call(api, bound, flat, result, given) is None


def _must_be_known(api: Api, value: Value | None, parameter: str) -> bool:
    """Whether XLA has to know the value of an argument and cannot."""
    return is_data(value) or (_is_bounded(value) and needs_exact(api, parameter))


def note_hazards(
    api: Api,
    verdict: Verdict,
    bound: dict[str, Value],
    arguments: Arguments,
    result: Value,
    node: ast.AST,
    frame: Frame,
) -> None:
    """Note the call when the catalogue holds anything against it with these arguments."""
    if not frame.context.is_compiled or frame.silent:
        return
    differences.note(api, bound, node, frame)
    costs.note_call(api, bound, node, frame)
    if verdict.gradient == "fails" or "TopKV2" in api.ops:
        frame.analysis.gradients.note(api, verdict, bound, node, frame)
    if verdict.missing:
        family = families.of_call(api.name, verdict.missing, api.ops)
        if _is_folded(api.name, verdict.missing, family, arguments):
            return
        if family == families.PRINTING and graph_summaries.are_left_out(api.ops, frame):
            return
    verdict = _of_guarded(verdict, arguments)
    makes_data_sized = _makes_data_sized(result, arguments)
    needs_constant = any(
        _must_be_known(api, bound.get(parameter), parameter) for parameter in verdict.constant_args
    )
    # What makes variables or arrays while tracing is judged as that.
    makes_objects = verdict.reason == "eager-only" and api.returns not in ("tensor", "structure")
    if (
        verdict.missing
        or api.host
        or (verdict.status in ("fails", "crashes") and not makes_objects)
        or makes_data_sized
        or needs_constant
    ):
        note_call(api, verdict, bound, makes_data_sized, node, frame)
    if not verdict.missing:
        _note_dtypes(api, bound, arguments, result, node, frame)
        text.note_call(api, bound, result, node, frame)
    arriving = composites.densified_from_outside(api.constant_args, bound)
    if arriving is not None and not verdict.missing:
        frame.analysis.note(frame, node, DENSE_SHAPE, arriving)
    cut = composites.numbers_rows(api.name, arguments)
    if cut is not None:
        frame.analysis.note(frame, node, ROW_LENGTHS, cut)
    if api.sizing_args and "TopKV2" not in api.ops and results.is_sized_by(api, bound):
        frame.analysis.note(frame, node, SLICE, NOTHING_KNOWN)
    counts.note_call(api, arguments, node, frame)
    unknown_sizes.note_call(api.name, bound, node, frame)
    misuse = misuses.misuse_of_data_sized(api.name, bound, arguments)
    if misuse is None and api.bounded:
        misuse = misuses.measured_misuse(api, bound)
    if misuse is not None:
        frame.analysis.note(frame, node, DATA_SIZED_USE, misuse[1], misuse[0])


def _note_dtypes(
    api: Api,
    bound: dict[str, Value],
    arguments: Arguments,
    result: Value,
    node: ast.AST,
    frame: Frame,
) -> None:
    flat = flattened(bound.values())
    argument = bound.get(api.dtype_arg or "dtype")
    given = results.dtype_name(argument) if argument is not None else None
    misfit = misfits.of_call(api, bound, flat, result, given)
    if misfit is not None and not _is_constant(arguments):
        frame.analysis.note(frame, node, DTYPE, result, misfit)


# Operations without state: of constants alone, they are computed before XLA sees the program.
_STATELESS = (
    "tf.strings.",
    "tf.io.",
    "tf.random.stateless",
    "tf.math.",
    "tf.linalg.",
    "tf.unravel_index",
)
_FOLDED_FAMILIES = frozenset({families.KERNEL, families.TEXT, families.COMPOSITE})
# Of constants too, these stay: they have state, or give what has no static shape (compiled by themselves, 2.21).
_UNFOLDED = re.compile(
    r"^(ParseTensor|DecodeRaw|StringSplit|UnicodeDecode|StringNGrams|Sparse|Ragged(?!TensorToSparse)|StatelessRandomGamma|"
    r"Random|Segment|UniqueWithCounts|Set|DenseToDenseSet|EditDistance|CTC|LookupTable|MutexLock|Timestamp)"
)


def _is_folded(name: str, missing: tuple[str, ...], family: str, arguments: Arguments) -> bool:
    """Whether a call is computed before XLA sees it: a function of constants leaves no operation behind."""
    if family not in _FOLDED_FAMILIES or any(_UNFOLDED.match(each) for each in missing):
        return False
    if family == families.COMPOSITE:
        return _is_constant(arguments)
    if "random" in name.lower() and "stateless" not in name.lower():
        return False
    values = (*arguments.positional, *arguments.keywords.values())
    if name.startswith("tf.io.parse_"):
        values = values[:1]  # the others say which features there are
    flat = [leaf for value in values for leaf in leaves(value)]
    tensors = [leaf for leaf in flat if leaf.is_tensor]
    known = all(leaf.kind in (PYTHON, SHAPE, EXTERNAL, TENSOR) for leaf in flat)
    may_be = bool(tensors) or (bool(flat) and name.startswith(_STATELESS))
    return may_be and known and all(t.dependence == CONSTANT and t.sure for t in tensors)


def _is_constant(arguments: Arguments) -> bool:
    values = (*arguments.positional, *arguments.keywords.values())
    flat = [leaf for value in values for leaf in leaves(value) if leaf.holds_data]
    return bool(flat) and all(leaf.dependence == CONSTANT and leaf.sure for leaf in flat)


def _of_guarded(verdict: Verdict, arguments: Arguments) -> Verdict:
    """`if K.is_sparse(a): tf.sparse.sparse_dense_matmul(a, b)` fails for callers that pass a sparse tensor, if any does."""
    if not verdict.missing:
        return verdict
    values = (*arguments.positional, *arguments.keywords.values())
    composite = [leaf for value in values for leaf in leaves(value) if leaf.is_composite]
    if composite and all(leaf.guess for leaf in composite):
        return verdict._replace(possible=True)
    return verdict


def note_chosen(
    choices: tuple[Value, ...], arguments: Arguments, node: ast.AST, frame: Frame
) -> None:
    """Note a call of one of several APIs of which some have no kernel: an error where none has one."""
    if not frame.context.is_compiled or frame.silent:
        return
    judged = []
    for choice in choices:
        name = api_name(str(choice.ref)) if choice.kind is EXTERNAL else ""
        api = frame.analysis.catalog.api(name) if name else None
        bound = bind(_parameters(api, arguments), arguments)
        judged.append((api, judge(api, bound), bound) if api is not None else None)
    lacking = [each for each in judged if each is not None and each[1].missing]
    certain = [each for each in lacking if not each[1].possible]
    if not lacking:
        return
    api, verdict, bound = lacking[0]
    if not _is_folded(api.name, verdict.missing, families.KERNEL, arguments):
        possible = len(certain) < len(judged)
        note_call(api, verdict._replace(possible=possible), bound, False, node, frame)


def _makes_data_sized(result: Value, arguments: Arguments) -> bool:
    """Whether the result is data-sized by this call's own doing, not because an argument was."""
    if result.producer is None and not result.ref:
        return False  # one tensor of a size of its own
    made = {leaf.producer for leaf in leaves(result) if leaf.producer is not None}
    if not made:
        return False
    passed = {
        leaf.producer
        for value in (*arguments.positional, *arguments.keywords.values())
        for leaf in leaves(value)
    }
    return not made <= passed | {results.A_SIZE_FROM_DATA, results.ALL_ONES}


def _is_bounded(value: Value | None) -> bool:
    if value is None or value.kind is PYTHON:
        return False
    return any(leaf.is_tensor and leaf.dependence == BOUNDED for leaf in leaves(value))


def _dependence(values: tuple[Value, ...]) -> int:
    return max(
        (leaf.dependence for value in values for leaf in leaves(value) if leaf.is_tensor),
        default=CONSTANT,
    )


# NumPy asks what it is given for its own `ndim` and `shape`, which traced tensors have.
_ASK_THE_TENSOR = frozenset({"np.ndim", "np.shape"})
# What asks for an array, or compares the numbers in two of them.
_ASK_FOR_NUMBERS = frozenset(
    {"np.array", "np.asarray", "np.ascontiguousarray", "np.array_equal", "np.allclose"}
)


def _numpy_call(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    values = (*arguments.positional, *arguments.keywords.values())
    flat = [leaf for value in values for leaf in leaves(value)]
    if name in _ASK_THE_TENSOR and len(values) == 1 and values[0].is_tensor:
        asked = static_shape(None if values[0].structured else values[0].shape)
        return asked if name == "np.shape" else SOME_PYTHON
    for leaf in flat:
        if leaf.is_tensor and not (leaf.guess or leaf.optional):
            if not leaf.sure and evidence.writes_arrays(frame):
                break
            frame.analysis.note(frame, node, NUMPY_CALL, leaf)
            if name in _ASK_FOR_NUMBERS and frame.context.region == ASSUMED:
                # Nobody compiles it, and it asks for numbers as `.numpy()` does: its author runs it eagerly.
                frame.touches_host = True
            return Value(NDARRAY)
    made = arrays.made(name, arguments)
    if made is not None:
        return made
    if flat and all(leaf.kind in (PYTHON, SHAPE) for leaf in flat):
        return SOME_PYTHON
    return Value(NDARRAY)


def _math_call(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    for value in arguments.positional:
        if value.is_tensor and not (value.guess or value.structured or value.optional):
            frame.analysis.note(frame, node, CONVERSION, value, name)
    return SOME_PYTHON


def _foreign_call(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    if _is_host(name):
        frame.touches_host = True
    missing = addons.operation(name)
    if missing is not None:
        api = custom_operation(name, missing)
        note_hazards(api, judge(api, {}), {}, arguments, NOTHING_KNOWN, node, frame)
    if name.startswith("tensorflow_addons."):
        made = addons.result(name, arguments.positional)
        if made is not None:
            return made
    return callbacks.foreign(name, arguments, node, frame)


_MAKE_DATASETS = (
    "tf.data.",
    "tf.compat.v1.data.",
    "keras.utils.image_dataset",
    "keras.utils.text_dataset",
)
_OBJECT_FACTORIES = {
    "tf.Variable": Value(VARIABLE, ARRIVING),
    "tf.compat.v1.get_variable": Value(VARIABLE, ARRIVING),
    "tf.compat.v1.Variable": Value(VARIABLE, ARRIVING),
    "keras.Variable": Value(VARIABLE, ARRIVING),
    "keras.backend.variable": Value(VARIABLE, ARRIVING),
    "tf.TensorShape": Value(SHAPE),
    "tf.GradientTape": Value(INSTANCE, ref="tf.GradientTape"),
    "tf.random.Generator.from_seed": Value(INSTANCE, ref="tf.random.Generator"),
    "tf.random.get_global_generator": Value(INSTANCE, ref="tf.random.Generator"),
    "tf.distribute.get_strategy": Value(STRATEGY, ref="tf.distribute.get_strategy"),
    setups.RESOLVER: Value(INSTANCE, ref=setups.RESOLVER),
    setups.CONNECTED: Value(INSTANCE, ref=setups.RESOLVER),
    "keras.backend.epsilon": SOME_PYTHON,
    "tf.debugging.set_log_device_placement": NONE,
}


@cache
def _may_make_object(plain: str) -> bool:
    """Whether calling an API of this name may make one of the objects of `_make_object`."""
    leaf = plain.rpartition(".")[2]
    return (
        plain in _OBJECT_FACTORIES
        or plain.startswith(_MAKE_DATASETS)
        or (plain.startswith("tf.distribute.") and plain.endswith("Strategy"))
        or (plain.startswith("keras.") and leaf[:1].isupper())
        or precision.is_policy(plain)
        or host_objects.may_make(plain)
    )


def _make_object(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value | None:
    """Objects whose class decides what becomes of them: layers, datasets, strategies, variables."""
    plain = api_name(name)
    if plain in _OBJECT_FACTORIES:
        return _OBJECT_FACTORIES[plain]
    if plain.startswith("tf.distribute.") and plain.endswith("Strategy"):
        return Value(STRATEGY, ref=plain)
    if plain.startswith(_MAKE_DATASETS):
        return pipelines.made(plain, arguments, node, frame)
    policy = precision.make_policy(plain, arguments)
    if policy is not None:
        return policy
    on_host = host_objects.make(plain, arguments.keywords)
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
    return Made(name, tuple(sorted(given.items()))) if given else name
