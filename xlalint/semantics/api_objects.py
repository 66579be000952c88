"""Objects of TensorFlow and Keras: which of them a call makes, and what calling a layer, loss, metric or model of theirs gives."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

from xlalint.semantics import symbolic
from xlalint.semantics.arguments import bind
from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.elements import flattened, latest
from xlalint.semantics.facts import ASSUMED, CALL, CallDetail, Verdict
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import (
    counts,
    hazards,
    host_objects,
    legacy_optimizers,
    python_arguments,
    training_flags,
    verdicts,
)
from xlalint.semantics.hazards.noted_calls import detail_of
from xlalint.semantics.names import api_name
from xlalint.semantics.results import (
    bijectors,
    feature_columns,
    keras_callables,
    result_shapes,
    result_sizes,
    variables,
)
from xlalint.semantics.training import pipelines, precision, recurrent, setups
from xlalint.semantics.values import (
    ARRIVING,
    COMPUTED,
    INSTANCE,
    NONE,
    NOTHING_KNOWN,
    SHAPE,
    SOME_PYTHON,
    STRATEGY,
    TENSOR,
    TRUE,
    VARIABLE,
    Made,
    Value,
    class_name,
    shaped,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments


# Layers that hold a product of matrices or a convolution, through which XLA follows no size back to the arguments.
_LAYERS_WITH_PRODUCTS = (
    "Dense", "EinsumDense", "Conv", "SeparableConv", "DepthwiseConv", "LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional",
    "MultiHeadAttention", "Attention", "MaxPool", "AveragePool", "Bilinear",
)  # fmt: skip


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


def facts_of(name: str, plain: str, frame: Frame) -> Api | None:
    """What the catalogue knows, of the Keras that the code uses."""
    catalog = frame.analysis.catalog
    if plain.startswith("keras.") and is_of_keras_2(name, frame):
        return catalog.api_of_keras_2(plain)
    return catalog.api(plain)


def is_of_keras_2(name: str, frame: Frame) -> bool:
    return frame.analysis.keras == "2" or name.startswith("tf_keras.")


def call(target: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
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
        api = facts_of(name, plain, frame)
        training_flags.note_call(name, arguments, node, frame)
        dependence = latest(arguments.positional)
        failing: CallDetail | recurrent.Recurrent | None = None
        if api is not None and plain.startswith("keras.layers."):
            verdict = _verdict(api, {**made, **arguments.keywords})
            is_sure = not verdict.possible or verdict.reason == feature_columns.REASON
            if verdict.status in ("fails", "crashes") and is_sure:
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
            by_rows = plain.rsplit(".", 1)[-1].startswith("Sparse")
            counts.note_arguments(arguments, node, frame, by_rows=by_rows)
        structured = _may_return_more(plain)
        is_model = plain.startswith(("keras.Sequential", "keras.Model", "keras.applications."))
        if (
            is_model
            and frame.context.region == ASSUMED
            and not any(leaf.is_tensor for leaf in flattened(arguments.values))
        ):
            return NOTHING_KNOWN  # a model that is put together of others: `copied(model.inputs)`
        if is_model or plain.rsplit(".", 1)[-1].startswith(_LAYERS_WITH_PRODUCTS):
            dependence = COMPUTED
        result = Value(TENSOR, max(dependence, ARRIVING), structured=structured)
        result = result_sizes.of_layer(result, arguments.positional)
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
    known = keras_callables.called(plain, arguments) or bijectors.called(name, arguments)
    return known or NOTHING_KNOWN


def failing_layer(layer: Value, given: dict[str, Value], frame: Frame) -> CallDetail | None:
    """What the catalogue holds against calling a layer of Keras; None where it compiles, or may."""
    name = class_name(layer) or ""
    api = facts_of(name, api_name(name), frame)
    if api is None:
        return None
    made = dict(layer.ref.arguments) if isinstance(layer.ref, Made) else {}
    verdict = _verdict(api, {**made, **given})
    fails = verdict.status in ("fails", "crashes") and not verdict.possible
    return detail_of(api, verdict, {}, False) if fails else None


def _verdict(api: Api, given: dict[str, Value]) -> Verdict:
    """What becomes of calling a layer that was made with these arguments."""
    if api.name == feature_columns.LAYER:
        return feature_columns.verdict(given)
    return verdicts.judge(api, given)


_MAKE_DATASETS = (
    "tf.data.",
    "tf.compat.v1.data.",
    "keras.utils.image_dataset",
    "keras.utils.text_dataset",
)
_OBJECT_FACTORIES = {
    **{
        f"tf.data.experimental.{name}_from_dataset": Value(
            INSTANCE, ref=f"tf.lookup.Static{kind}Table"
        )
        for name, kind in (("table", "Hash"), ("index_table", "Vocabulary"))
    },
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


def may_make(plain: str) -> bool:
    """Whether calling an API of this name may make one of the objects of `make`."""
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
        or feature_columns.may_make(plain)
        or keras_callables.may_make(plain)
    )


def make(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value | None:
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
    if feature_columns.may_make(plain):
        return feature_columns.made(plain, arguments)
    leaf = plain.rsplit(".", 1)[-1]
    if plain.startswith("keras.") and leaf[:1].isupper() and leaf != "Input":
        model = frame.analysis.model_layers.made(name, plain, arguments, node, frame)
        if model is not None:
            return model
        return Value(INSTANCE, ref=_made(name, plain, arguments, frame))
    return keras_callables.made(plain)


def _made(name: str, plain: str, arguments: Arguments, frame: Frame) -> str | Made:
    """The class, with what the instance is made with where the catalogue's verdict depends on it."""
    if plain.startswith("keras.losses.") and "reduction" in arguments.keywords:
        return Made(name, (("reduction", arguments.keywords["reduction"]),))
    if plain.startswith("keras.optimizers."):
        return legacy_optimizers.made(name, plain, arguments)
    if not plain.startswith("keras.layers."):
        return name
    api = facts_of(name, plain, frame)
    if api is None:
        return name
    decisive = {parameter for condition in api.conditions for parameter, _ in condition.when}
    if plain == feature_columns.LAYER:
        decisive.add(feature_columns.PARAMETER)
    given = {key: value for key, value in bind(api.params, arguments).items() if key in decisive}
    if _is_recurrent(plain):
        given.update(recurrent.marked(plain, is_of_keras_2(name, frame), arguments))
    return Made(name, tuple(sorted(given.items()))) if given else name
