"""Calls of methods on tensors, variables, shapes, containers, datasets and strategies."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING

from xlalint.semantics import evidence, known_texts, named_tuples
from xlalint.semantics.facts import ASSUMED, COMPILED, FORMATTING, NUMPY_METHOD
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients import jacobians
from xlalint.semantics.hazards import (
    collected,
    formatting,
    host_objects,
    iteration,
    keras_loops,
    longer_variables,
    outliving,
    python_arguments,
    resources,
    slice_writes,
    trace_effects,
    unknown_sizes,
)
from xlalint.semantics.hazards.noted_calls import note_operation
from xlalint.semantics.names import api_name
from xlalint.semantics.results import (
    arrays,
    composites,
    drawn_samples,
    result_shapes,
    specs,
    tensor_arrays,
)
from xlalint.semantics.syntax import receiver_name
from xlalint.semantics.tracing import host_use
from xlalint.semantics.training import (
    meetings,
    model_files,
    model_layers,
    node_inputs,
    pipelines,
    reductions,
)
from xlalint.semantics.values import (
    ARRIVING,
    CALLED,
    COLLECTION,
    COMPUTED,
    CONVERTED,
    DATASET,
    FUNCTION,
    INSTANCE,
    MAPPING,
    NDARRAY,
    NONE,
    NOTHING_KNOWN,
    PYTHON,
    RAGGED,
    SEQUENCE,
    SHAPE,
    SOME_PYTHON,
    SPARSE,
    STATIC_SHAPE,
    STRATEGY,
    TENSOR,
    TENSOR_ARRAY,
    UNKNOWN,
    VARIABLE,
    Value,
    alternatives,
    class_name,
    element,
    join,
    shaped,
    usually,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

Method = Callable[[Value, str, "Arguments", ast.AST, Frame], Value]


def find(base: Value, attr: str) -> Method | None:
    """What handles `base.attr(...)`; None when it is an ordinary attribute that happens to be called."""
    if base.kind is INSTANCE:
        if class_name(base) is not None:
            return _external_instance_method
        return _KERAS_METHODS.get(attr)
    if base.kind is UNKNOWN:
        return _OF_UNKNOWN.get(attr)
    if base.kind is FUNCTION:
        return _trace if attr == "get_concrete_function" else None
    return _BY_KIND.get(base.kind)


def _trace(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`step.get_concrete_function(tf.TensorSpec([], tf.int32))`: the step is traced with these."""
    given = specs.handed(arguments.positional)
    if given is None or arguments.keywords or arguments.open_ended:
        return NOTHING_KNOWN
    info = base.ref[0] if isinstance(base.ref, tuple) else base.ref
    traits = frame.analysis.traits(info)
    if traits.tf_function or base.given == CONVERTED:
        converted = traits.autograph or base.given == CONVERTED
        frame.analysis.regions.trace_later(
            base,
            ("tf.function",),
            converted=converted,
            frame=frame,
            jit=traits.jit,
            arguments=given,
        )
    return NOTHING_KNOWN


def _tensor_method(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if attr in ("numpy", "item", "tolist"):
        # No list or dictionary has `numpy`: what reads it is a tensor, or is made one by tf.function.
        is_one = attr == "numpy" and frame.context.region == COMPILED
        if is_one or not (base.guess or base.structured):
            asked = base._replace(guess=False, structured=False) if is_one else base
            frame.analysis.note(frame, node, NUMPY_METHOD, asked, attr)
        if frame.context.region == ASSUMED:
            frame.host |= host_use.of_reading(node, frame)
        return Value(NDARRAY)
    if attr in ("get_shape", "shape"):
        return unknown_sizes.shape_of(base, frame)
    if base.kind is VARIABLE:
        resources.note_method(base, attr, node, frame)
    if attr == "assign":
        slice_writes.note(node, frame)
        longer_variables.note(base, node, frame)
    if attr.startswith("assign") or attr in ("scatter_update", "scatter_nd_update", "scatter_add"):
        return base
    if attr in ("value", "read_value", "cpu", "gpu"):
        return base._replace(kind=TENSOR, ref=None)
    if attr in ("items", "keys", "values") and base.structured:
        inner = element(base)
        pair = Value(SEQUENCE, ref=(SOME_PYTHON, inner))
        return Value(COLLECTION, ref={"items": pair, "keys": SOME_PYTHON, "values": inner}[attr])
    if attr in ("get", "pop") and base.structured:
        return base._replace(optional=True)
    tells_of_rows = attr in composites.TELL_OF_ROWS or (
        attr == "to_tensor" and _is_asked_always(node, frame)
    )
    if tells_of_rows and (base.structured or _is_given_rows(node, base, frame)):
        guess = base.guess and base.structured
        rows = Value(RAGGED, base.dependence, sure=base.sure, guess=guess)
        return composites.method(rows, attr, arguments, node, frame)
    if attr == "set_shape":
        if arguments.positional:
            python_arguments.note_shape(arguments.positional[0], node, frame)
        _promise_shape(base, arguments, node, frame)
        return NONE
    return NOTHING_KNOWN


def _is_given_rows(node: ast.AST, base: Value, frame: Frame) -> bool:
    """Whether what only seemed a tensor is ragged: no other tensor has this method, and no class of the project names one so.

    Said of names in functions that are seen to be compiled. Others, and those that take a whole row of features, may be
    the part of a pipeline that gets its rows ready.
    """
    if (base.sure and not base.guess) or frame.context.region != COMPILED:
        return False
    asked = node.func if isinstance(node, ast.Call) else None
    if not isinstance(asked, ast.Attribute) or not isinstance(asked.value, ast.Name):
        return False
    return not frame.analysis.modules.project.mentions(f"def {asked.attr}(")


_CHOICES = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.While, ast.Match, ast.Lambda)
_ENDS = (ast.Return, ast.Raise)


def _is_asked_always(node: ast.AST, frame: Frame) -> bool:
    """Whether a function calls this method whatever it is given: `rows.to_tensor()` of ragged ones often stands behind a question."""
    if frame.function is None or evidence.asks_for_types(frame.function):
        return False
    body = frame.function.node.body
    for statement in body if isinstance(body, list) else ():
        inside = list(ast.walk(statement))
        if node in inside:
            return not any(isinstance(each, _CHOICES) for each in inside)
        if any(isinstance(each, _ENDS) for each in inside):
            return False
    return False


def _promise_shape(base: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """`x.set_shape([None, 3])`: from here on that is the static shape of x."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    owner = node.func.value
    shape = result_shapes.numbers(arguments.positional[0]) if arguments.positional else None
    if isinstance(owner, ast.Name) and owner.id in frame.names and shape is not None:
        frame.names[owner.id] = shaped(base, shape)


def _shape_method(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if attr == "as_list":
        sizes = unknown_sizes.sizes_of(base, None)
        if sizes is None:
            # Taken apart later: what is known of one size of an unknown number is kept.
            return Value(COLLECTION, ref=SOME_PYTHON) if base.producer is None else base
        return Value(SEQUENCE, ref=sizes)
    if attr == "num_elements" and base.producer is not None:
        return unknown_sizes.size_at(base, base.sized_axis)
    if attr in ("merge_with", "with_rank"):
        return base
    return STATIC_SHAPE if attr == "concatenate" else SOME_PYTHON


def _python_method(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    known = base.constant()
    if attr == "format" and known is not None and isinstance(known.value, str):
        formatted = formatting.fields_with_format(known.value)
        given = {str(i): v for i, v in enumerate(arguments.positional)} | arguments.keywords
        for name in sorted(formatted & given.keys()):
            if given[name].is_tensor and not (given[name].guess or given[name].structured):
                frame.analysis.note(frame, node, FORMATTING, given[name])
        return known_texts.formatted(known.value, given)
    return SOME_PYTHON


def _sequence_method(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if base.given:
        return named_tuples.method(base, attr, arguments) or SOME_PYTHON
    if attr in ("append", "extend", "insert", "add") and arguments.positional:
        added = arguments.positional[-1]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            collected.note_collected(node, node.func.value, added, frame)
            if added.is_tensor and frame.context.is_compiled:
                outliving.note_kept_in_list(node, node.func.value, added, frame)
            if attr == "extend":
                iteration.note(frame, node, added, "`extend`")
        _grow(node, base, element(added) if attr == "extend" else added, frame)
        return NONE
    if attr in ("pop", "popleft"):
        return element(base)
    if attr in ("copy",):
        return base
    return SOME_PYTHON


def _grow(node: ast.AST, base: Value, added: Value, frame: Frame) -> None:
    """`items.append(x)`: from here on the name holds a collection of what it held and `x`."""
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    owner = node.func.value
    if isinstance(owner, ast.Name) and owner.id in frame.names:
        if base.kind is SEQUENCE and not base.ref:
            frame.names[owner.id] = Value(COLLECTION, ref=added)
        else:
            item = join(element(base), added)
            if item.guess and added.is_tensor and not added.guess:
                # Whatever else is in it, this is.
                item = item._replace(guess=False, sure=added.sure)
            frame.names[owner.id] = Value(COLLECTION, ref=item)


def _mapping_method(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if attr == "setdefault" and len(arguments.positional) == 2:
        _set_default(node, base, arguments.positional, frame)
    if attr in ("get", "pop", "setdefault") and arguments.positional:
        return _usually_left_out(base, arguments, node, frame) or _looked_up(base, arguments)
    if attr == "update":
        _update(node, base, arguments, frame)
        return NONE
    if attr == "items":
        return Value(COLLECTION, ref=Value(SEQUENCE, ref=(SOME_PYTHON, element(base))))
    if attr == "values":
        return Value(COLLECTION, ref=element(base))
    if attr == "keys":
        return Value(COLLECTION, ref=SOME_PYTHON)
    return base if attr == "copy" else NOTHING_KNOWN


def _usually_left_out(
    base: Value, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value | None:
    """`kwargs.pop("method", "bicubic")` of a function's `**kwargs` that nobody is seen to fill: as a parameter with a default."""
    default = arguments.positional[1].constant() if len(arguments.positional) > 1 else None
    if base.ref is not None or default is None or default.value is None or frame.function is None:
        return None
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None  # fmt: skip
    own = frame.function.node.args.kwarg
    if own is None or not isinstance(owner, ast.Name) or owner.id != own.arg:
        return None
    return usually(default.value)


def _update(node: ast.AST, base: Value, arguments: Arguments, frame: Frame) -> None:
    """`results.update(loss=x)`: from here on the name holds these items as well."""
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    owner = node.func.value
    if not isinstance(owner, ast.Name) or owner.id not in frame.names or base.ref is None:
        return
    pairs: list[tuple[Hashable, Value]] = []
    for given in arguments.positional:
        if given.kind is not MAPPING or given.ref is None:
            frame.names[owner.id] = base._replace(ref=None)
            return
        pairs += given.ref
    pairs += arguments.keywords.items()
    collected.note_updated(node, owner, pairs, frame)
    pairs = [*base.ref, *pairs][-64:]
    frame.names[owner.id] = base._replace(ref=None if arguments.open_ended else tuple(pairs))


def _set_default(node: ast.AST, base: Value, given: Sequence[Value], frame: Frame) -> None:
    """`results.setdefault("loss", loss)` of a dictionary that has no such key: one more item."""
    key = given[0].constant()
    if key is None or base.ref is None or any(name == key.value for name, _ in base.ref):
        return
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    owner = node.func.value
    if isinstance(owner, ast.Name) and owner.id in frame.names:
        pair = (key.value, given[1])
        collected.note_updated(node, owner, [pair], frame)
        frame.names[owner.id] = base._replace(ref=(*base.ref, pair)[-64:])


def _looked_up(base: Value, arguments: Arguments) -> Value:
    """`table.get(key, default)`: of a table of functions, one of them for a key that a setting chooses."""
    key = arguments.positional[0].constant()
    for name, item in reversed(base.ref or ()):
        if key is not None and name == key.value:
            return item  # type: ignore[no-any-return]
    found = element(base)
    if key is not None or not all(one.kind in CALLED for one in alternatives(found)):
        return NOTHING_KNOWN
    return join(found, arguments.positional[1] if len(arguments.positional) > 1 else NONE)


_RUNS_ON_HOST = frozenset(
    "map filter flat_map interleave reduce scan map_with_options take_while group_by_window apply".split()
)


def _dataset_method(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    for value in (*arguments.positional, *arguments.keywords.values()):
        if attr in _RUNS_ON_HOST:
            frame.analysis.host_functions.mark(value)
    frame.host |= host_use.WORK
    if attr == "reduce" and frame.context.jit:
        note_operation("ReduceDataset", (), node, frame)
    if attr in ("cardinality", "reduce", "element_spec"):
        return NOTHING_KNOWN
    return base._replace(ref=pipelines.after(base.ref, attr, arguments, node, frame))


def _strategy_method(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    if attr in ("run", "experimental_run_v2") and arguments.positional:
        passed = arguments.keywords.get(
            "args", arguments.positional[1] if len(arguments.positional) > 1 else None
        )
        values = list(passed.ref) if passed is not None and passed.kind is SEQUENCE else []
        if frame.context.jit:
            # The function around it is compiled as a whole, this with it.
            is_open = "kwargs" in arguments.keywords or (passed is not None and not values)
            given = arguments._replace(
                positional=tuple(values), keywords={}, open_ended=arguments.open_ended or is_open
            )
            return frame.analysis.call_value(arguments.positional[0], given, node, frame)
        frame.analysis.drivers.saw_run(arguments.positional[0], values, node, frame)
        frame.analysis.eager_steps.saw_run(base, arguments.positional[0], node, frame)
        frame.analysis.regions.run_on_replicas(arguments.positional[0], values, frame)
        return Value(TENSOR, COMPUTED, structured=True)
    if attr in ("reduce", "gather"):
        return Value(TENSOR, COMPUTED)
    if attr.startswith(("experimental_distribute", "distribute_datasets")):
        return _distributed(arguments, node, frame)
    return NOTHING_KNOWN


def _distributed(arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A dataset, or the one that a function makes, shared out among replicas."""
    given = next(iter(arguments.positional), NOTHING_KNOWN)
    if given.kind is FUNCTION:
        frame.analysis.host_functions.mark(given)
        given = frame.analysis.functions.invoke_value(given, [NOTHING_KNOWN], frame)
    if given.kind is not DATASET:
        return Value(DATASET)
    frame.analysis.drivers.saw_distributed(given, node, frame)
    frame.analysis.node_inputs.saw(given, node, frame)
    return given._replace(ref=None)  # judged here: what becomes of its batches adds nothing


def _array_method(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    return arrays.method(base, attr, arguments)


_RESETS = frozenset({"reset_state", "reset_states"})


def _external_instance_method(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    name = class_name(base) or ""
    if name == "tf.GradientTape":
        if attr == "gradient" and reductions.is_step(frame):
            reductions.saw_gradient(arguments, node, frame)
        if attr in ("gradient", "jacobian", "batch_jacobian"):
            jacobians.note(attr, arguments, node, frame)
            return Value(TENSOR, COMPUTED, structured=True, optional=True)
        return NONE
    if attr in meetings.METHODS:
        frame.analysis.meetings.saw(attr, node, frame)
    if attr in model_files.METHODS and name.startswith(_MODELS) and frame.analysis.keras == "3":
        model_files.note_method(attr, node, frame)
    if attr in ("save", "write", "export"):
        frame.analysis.node_inputs.saw_write(f"{api_name(name)}.{attr}", node, frame)
    if base.made is not None:
        frame.analysis.scopes.saw_use(base, attr, frame)
    on_host = host_objects.call(name, attr, node, frame, arguments)
    if on_host is not None:
        return on_host
    drawn = drawn_samples.call(base, name, attr, arguments, node, frame)
    if drawn is not None:
        return drawn
    if attr == "add" and api_name(name) in model_layers.SEQUENTIAL:
        frame.analysis.model_layers.added(base, arguments, node, frame)
        return NONE
    keras_loops.note(base, attr, node, frame)
    if attr in ("fit", "evaluate", "predict", "compile", "add_loss", "add_metric"):
        return keras_method(base, attr, arguments, node, frame)
    flow = node_inputs.flows(name, attr)
    if flow is not None:
        return flow
    if attr == "result" and name.startswith("keras.metrics"):
        return Value(TENSOR, COMPUTED)
    if attr in _RESETS and frame.context.region == ASSUMED:
        # Between epochs, which nobody compiles; a step that resets its metrics is compiled by something in sight.
        frame.host |= host_use.WORK
    if attr == "call" and name.startswith("keras."):
        return frame.analysis.call_external_instance(base, arguments, node, frame)
    return NOTHING_KNOWN


def keras_method(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """`compile`, `fit` and the like: functions handed to Keras are traced by Keras."""
    if attr in node_inputs.READERS:
        frame.analysis.node_inputs.saw_read(arguments, node, frame)
        if _is_of_keras(base, attr, arguments, node, frame):
            frame.host |= host_use.WORK  # refused in a tf.function: whoever calls it runs eagerly
    frame.analysis.regions.handed_to_keras(base, arguments, attr, node, frame)
    return NOTHING_KNOWN


_LOOP_SETTINGS = frozenset({"verbose", "batch_size", "steps", "callbacks"})


def _is_of_keras(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> bool:
    """Whether `fit`, `evaluate` or `predict` is Keras's: models of other libraries predict in compiled code as well."""
    if attr == "fit" or base.kind is not UNKNOWN:
        return True
    if not _LOOP_SETTINGS.isdisjoint(arguments.keywords):
        return True
    return receiver_name(node) == "model" and "keras" in frame.module.text


def _add_weight(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    trace_effects.note_weight(attr, node, frame)
    given = arguments.keywords.get("shape")
    if given is None:  # Keras 2 takes a name first, Keras 3 the shape
        given = next((v for v in arguments.positional[:2] if v.kind in (SEQUENCE, SHAPE)), None)
    shape = result_shapes.numbers(given) if given is not None else None
    if _says_no_shape(given, arguments):
        shape = ()  # both Kerases make a number of it
    # Under a mixed policy, a layer sees its weights in the policy's dtype.
    is_cast = "dtype" in arguments.keywords or frame.analysis.precision.is_mixed
    dtype = None if is_cast else "float32"
    return shaped(Value(VARIABLE, ARRIVING, dtype=dtype), shape)


def _says_no_shape(given: Value | None, arguments: Arguments) -> bool:
    if given is None:
        names = [value.constant() for value in arguments.positional]
        is_plain = all(known is not None and isinstance(known.value, str) for known in names)
        return is_plain and not arguments.open_ended
    known = given.constant()
    return known is not None and known.value is None


def _keras_loss_method(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    return Value(TENSOR, COMPUTED)


def _of_files(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`save`, `save_weights` and `load_weights` of a project's own models."""
    if not frame.analysis.regions.is_keras_2(base):
        model_files.note_method(attr, node, frame)
    return NOTHING_KNOWN


_MODELS = ("keras.Model", "keras.Sequential", "keras.applications.")


def _host_arrays(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    return NOTHING_KNOWN


# Methods that a project's own Keras classes inherit from Keras itself; a project method of that name comes first.
_KERAS_INHERITED: dict[str, Method] = {
    "add_weight": _add_weight,
    "add_variable": _add_weight,
    "compile": keras_method,
    **dict.fromkeys(node_inputs.READERS, keras_method),
    "add_loss": keras_method,
    "add_metric": keras_method,
    **dict.fromkeys(model_files.METHODS, _of_files),
    "predict_on_batch": _host_arrays,
    "get_weights": _host_arrays,
    "compute_loss": _keras_loss_method,
    "compiled_loss": _keras_loss_method,
}


def _inherited(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    own = frame.analysis.classes.method(base.ref, attr)
    if own is not None:
        return frame.analysis.functions.invoke(
            own,
            list(arguments.positional),
            arguments.keywords,
            base,
            frame,
            open_ended=arguments.open_ended,
        )
    keras_loops.note(base, attr, node, frame)
    return _KERAS_INHERITED[attr](base, attr, arguments, node, frame)


_KERAS_METHODS: dict[str, Method] = dict.fromkeys(_KERAS_INHERITED, _inherited)


def _of_transformers(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    return pipelines.from_datasets(attr, arguments, node, frame)


def _compile_unknown(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """`compile` of something: a model's, when it is told whether to use XLA."""
    if not arguments.keywords.keys().isdisjoint(("jit_compile", "optimizer", "run_eagerly")):
        frame.analysis.regions.handed_to_keras(base, arguments, attr, node, frame)
    return NOTHING_KNOWN


def _run_unknown(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """`self.strategy.run(step, args=...)`: a strategy that was handed in, by its name."""
    if receiver_name(node).endswith("strategy"):
        return _strategy_method(base, attr, arguments, node, frame)
    return NOTHING_KNOWN


def _meeting(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`self.optimizer.apply_gradients(...)`: replicas meet here, whatever optimizer it is."""
    frame.analysis.meetings.saw(attr, node, frame)
    return NOTHING_KNOWN


def _mapped(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`self.data.map(f)`: datasets, pools and tables have it, and none of them compiles `f`."""
    if arguments.positional:
        frame.analysis.host_functions.mark(arguments.positional[0])
    return NOTHING_KNOWN


def _numpy_of_unknown(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """`model(x).numpy()`, of a model that is not read: nobody compiles it, and its author runs it eagerly. Only arrays have `tolist`.

    A function that asks `hasattr(x, "numpy")` takes arrays as well, and may be traced.
    """
    calls = frame.function.calls if frame.function is not None else ()
    asks = any(isinstance(one.func, ast.Name) and one.func.id == "hasattr" for one in calls)
    if frame.context.region == ASSUMED and not frame.caught and not asks:
        frame.host |= host_use.WORK
    return NOTHING_KNOWN


def _driven(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`model.predict(x)` of a model that was handed in."""
    keras_loops.note(base, attr, node, frame)
    if attr in node_inputs.READERS:
        return keras_method(base, attr, arguments, node, frame)
    return NOTHING_KNOWN


def _read_weights(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """`layer.get_weights()`: arrays, which compiled code cannot have; a model that is taken apart otherwise."""
    keras_loops.note(base, attr, node, frame)
    return _rebuilds_model(base, attr, arguments, node, frame)


def _rebuilds_model(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """`layer.set_weights(folded)`, `model.get_config()`: a model is taken apart or put together, which is done eagerly."""
    if frame.function is not None:
        frame.analysis.host_functions.saw_rebuilding(frame.function)
    return NOTHING_KNOWN


def _shape_of_unknown(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """Only tensors have `get_shape`, and what is compiled has tensors of known rank: `x.get_shape().ndims is None` does not hold."""
    return STATIC_SHAPE


# Methods whose names say enough where the object is not known: models of packages that are not read.
_OF_UNKNOWN: dict[str, Method] = {
    **dict.fromkeys(("numpy", "tolist"), _numpy_of_unknown),
    "get_shape": _shape_of_unknown,
    "to_tf_dataset": _of_transformers,
    "prepare_tf_dataset": _of_transformers,
    "compile": _compile_unknown,
    **dict.fromkeys(("map", "flat_map", "interleave"), _mapped),
    "run": _run_unknown,
    "experimental_distribute_dataset": _strategy_method,
    "experimental_distribute_datasets_from_function": _strategy_method,
    "distribute_datasets_from_function": _strategy_method,
    **dict.fromkeys(("set_weights", "get_config"), _rebuilds_model),
    "get_weights": _read_weights,
    **dict.fromkeys(keras_loops.LOOPS, _driven),
    **dict.fromkeys(meetings.METHODS, _meeting),
}

_BY_KIND: dict[str, Method] = {
    TENSOR: _tensor_method,
    VARIABLE: _tensor_method,
    SHAPE: _shape_method,
    PYTHON: _python_method,
    SEQUENCE: _sequence_method,
    COLLECTION: _sequence_method,
    MAPPING: _mapping_method,
    DATASET: _dataset_method,
    STRATEGY: _strategy_method,
    NDARRAY: _array_method,
    TENSOR_ARRAY: tensor_arrays.method,
    SPARSE: composites.method,
    RAGGED: composites.method,
}
