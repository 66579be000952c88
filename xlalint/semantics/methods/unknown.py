"""Calls of methods of objects that nobody knows, where the name of the method says enough."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from xlalint.semantics import unknown_calls
from xlalint.semantics.control_flow import growth
from xlalint.semantics.facts import ASSUMED, COMPILED, NUMPY_METHOD
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import keras_loops
from xlalint.semantics.methods.handler import Method
from xlalint.semantics.methods.keras_objects import keras_method
from xlalint.semantics.methods.loss_scaling import OF_SCALED
from xlalint.semantics.methods.strategies import of_strategy
from xlalint.semantics.results import composites, drawn_samples
from xlalint.semantics.syntax import called_name, receiver_name
from xlalint.semantics.tracing import host_use
from xlalint.semantics.training import meetings, node_inputs, pipelines
from xlalint.semantics.values import COMPUTED, NOTHING_KNOWN, RAGGED, STATIC_SHAPE, TENSOR, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments


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
        return of_strategy(base, attr, arguments, node, frame)
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

    A function that asks `hasattr(x, "numpy")` takes arrays as well, and may be traced. In compiled code, what a function made of a
    tensor that has `numpy` is one of the trace: `helper(x).numpy()`, whoever wrote the helper.
    """
    if attr == "numpy" and frame.context.region == COMPILED and isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and _is_made_of_tensors(node.func.value, frame):
            made = Value(TENSOR, COMPUTED, sure=False)
            frame.analysis.note(frame, node, NUMPY_METHOD, made, attr)
    calls = frame.function.calls if frame.function is not None else ()
    asks = any(isinstance(one.func, ast.Name) and one.func.id == "hasattr" for one in calls)
    if frame.context.region == ASSUMED and not frame.caught and not asks:
        frame.host |= host_use.WORK
    return NOTHING_KNOWN


# Assignments that are followed.
_MOST_STEPS = 4


def _is_made_of_tensors(node: ast.expr, frame: Frame, depth: int = 0) -> bool:
    """Whether an expression is what an unknown function made of a tensor, part of it, or a name that is given it in one place."""
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return _is_made_of_tensors(node.value, frame, depth)
    if isinstance(node, ast.Call):
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        evaluate = frame.analysis.evaluate
        return called_name(node)[:1].islower() and any(evaluate(e, frame).is_tensor for e in given)
    if not isinstance(node, ast.Name) or frame.function is None or depth == _MOST_STEPS:
        return False
    if isinstance(frame.function.node, ast.Lambda) or node.id in frame.function.parameter_names:
        return False
    statements = [part for part in frame.function.telling if isinstance(part, ast.Assign)]
    made = growth.assigned_once(node, list(statements), frame.function)
    return made is not None and made is not node and _is_made_of_tensors(made, frame, depth + 1)


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


_DISTRIBUTION = re.compile(r"(^|_)(dists?|distr|distributions?|prior|posterior|pi|density)\d*$")


def _of_distribution(
    base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Value:
    """`dist.sample()`, `self.prior.mean()`: numbers of a distribution that was handed in, by its name."""
    if frame.context.is_compiled and _DISTRIBUTION.search(receiver_name(node)):
        return Value(TENSOR, COMPUTED, sure=False, structured=True)
    return NOTHING_KNOWN


# Methods whose names say enough where the object is not known: models of packages that are not read.
def _of_rows(base: Value, attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`rows[0].to_tensor()`: of what stands in a row of a ragged tensor, rows alone have it."""
    owner = node.func.value if isinstance(node, ast.Call) else None  # type: ignore[attr-defined]
    if isinstance(owner, ast.Subscript):
        outer = frame.analysis.evaluate(owner.value, frame)
        if outer.kind is RAGGED and not (outer.guess or outer.optional):
            rows = Value(RAGGED, outer.dependence, sure=outer.sure)
            return composites.method(rows, attr, arguments, node, frame)
    return NOTHING_KNOWN


OF_UNKNOWN: dict[str, Method] = {
    **dict.fromkeys(("to_tensor", *composites.TELL_OF_ROWS), _of_rows),
    **dict.fromkeys(("numpy", "tolist"), _numpy_of_unknown),
    "get_shape": _shape_of_unknown,
    **OF_SCALED,
    "to_tf_dataset": _of_transformers,
    "prepare_tf_dataset": _of_transformers,
    "compile": _compile_unknown,
    **dict.fromkeys(("map", "flat_map", "interleave"), _mapped),
    "run": _run_unknown,
    "experimental_distribute_dataset": of_strategy,
    "experimental_distribute_datasets_from_function": of_strategy,
    "distribute_datasets_from_function": of_strategy,
    **dict.fromkeys(("set_weights", "get_config"), _rebuilds_model),
    "get_weights": _read_weights,
    **dict.fromkeys(keras_loops.LOOPS, _driven),
    **dict.fromkeys(meetings.METHODS, _meeting),
    **dict.fromkeys(drawn_samples.METHODS - unknown_calls.DENSITIES, _of_distribution),
}
