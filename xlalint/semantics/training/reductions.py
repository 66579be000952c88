"""How losses become one number per replica, in steps that `strategy.run` runs.

The optimizer adds up the gradients of all replicas. So each replica's loss is to be its share of the global batch's mean: the
sum over its examples divided by the global batch. Tensors remember how they came about (`Value.made`) until something else is
computed of them. What each way of it does was seen with two replicas (rules/XLA603.md).
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from xlalint.semantics.facts import REDUCTION, Remark
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.names import api_name
from xlalint.semantics.training.pipelines import Site
from xlalint.semantics.values import EXTERNAL, NONE, Made, Value, class_name

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

# How a loss came about.
_PER_EXAMPLE, _MEAN, _SHARE = "per-example", "mean", "share"
_MEANS = frozenset(
    {"tf.reduce_mean", "tf.math.reduce_mean", "keras.ops.mean", "keras.backend.mean"}
)
_SHARES = frozenset({"tf.nn.compute_average_loss", "tf.nn.scale_regularization_loss"})
_REPLICAS = re.compile(r"replica", re.IGNORECASE)
# A step that says any of these sees to the replicas itself.
_SEES_TO_IT = re.compile(r"replica|all_reduce|aggregat|ReduceOp|global_batch", re.IGNORECASE)


def is_step(frame: Frame) -> bool:
    """Whether this code runs in a function that `strategy.run` was given."""
    return frame.context.why[:1] == ("strategy.run",)


def of_loss_object(loss: Value, result: Value, node: ast.AST, frame: Frame) -> Value:
    """What calling a Keras loss in a step gives. Keras 2 refuses to guess how it is to be reduced; Keras 3 divides by the replicas."""
    name = class_name(loss) or ""
    if not api_name(name).startswith("keras.losses."):
        return result
    given = dict(loss.ref.arguments).get("reduction") if isinstance(loss.ref, Made) else None
    reduction = "auto" if given is None else _word(given)
    if reduction == "none":
        return _came_about(result, _PER_EXAMPLE, node, frame)
    if reduction not in ("auto", "sum_over_batch_size"):
        return result
    if frame.analysis.keras == "2" or name.startswith("tf_keras."):
        frame.analysis.note(frame, node, REDUCTION, result, Remark("auto"))
        return result
    return _came_about(result, _SHARE, node, frame)


def _word(reduction: Value) -> str | None:
    """`none`, `sum`...: of `Reduction.NONE`, of the text, of None."""
    if reduction == NONE:
        return "none"
    if reduction.kind is EXTERNAL:
        return str(reduction.ref).rsplit(".", 1)[-1].lower()
    known = reduction.constant()
    return known.value.lower() if known is not None and isinstance(known.value, str) else None


def of_call(name: str, arguments: Arguments, result: Value, node: ast.AST, frame: Frame) -> Value:
    """What an API makes of losses in a step."""
    if name in _MEANS and len(arguments.positional) == 1 and not _chooses_axis(arguments):
        return _came_about(result, _MEAN, node, frame)
    if name in _SHARES:
        return _came_about(result, _SHARE, node, frame)
    return result


def _chooses_axis(arguments: Arguments) -> bool:
    return arguments.open_ended or not arguments.keywords.keys() <= {"name"}


def _came_about(value: Value, how: str, node: ast.AST, frame: Frame) -> Value:
    if not value.is_tensor:
        return value
    return value._replace(made=Site(node, frame.module, frame.function, how))


def combined(node: ast.AST, left: Value, right: Value, result: Value, frame: Frame) -> Value:
    """Arithmetic with a loss: a sum stays what its terms are; what is divided by the replicas twice is too small."""
    op = getattr(node, "op", None)
    made = left.made or right.made
    if not result.is_tensor or not isinstance(made, Site):
        return result
    if isinstance(op, (ast.Add, ast.Sub)) and made.words == _MEAN:
        return result._replace(made=made)
    is_by_replicas = isinstance(op, ast.Div) and _names_replicas(getattr(node, "right", None))
    if is_by_replicas and made is left.made and made.words == _SHARE:
        words = (("loss", _called(made.node)),)
        frame.analysis.note(frame, node, REDUCTION, result, Remark("twice", words))
    return result


def _names_replicas(node: ast.AST | None) -> bool:
    return node is not None and _REPLICAS.search(ast.unparse(node)) is not None


def saw_gradient(arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """`tape.gradient(loss, variables)`, of a loss that is a mean over the replica's own examples."""
    loss = next(iter(arguments.positional), None)
    if loss is None or frame.function is None or not isinstance(loss.made, Site):
        return
    if loss.made.words == _MEAN and _trains(node, frame.function):
        site = loss.made
        maker = site.function
        if maker is not None and not _SEES_TO_IT.search(ast.unparse(maker.node)):
            words = (("mean", _called(site.node)),)
            there = Frame(frame.analysis, site.module, maker, frame.context)
            frame.analysis.note(there, site.node, REDUCTION, loss, Remark("mean", words))


def _trains(node: ast.AST, function: FunctionInfo) -> bool:
    """Whether the gradient is of variables, which this function updates, and nothing in it speaks of replicas."""
    wanted = node.args[1:2] if isinstance(node, ast.Call) else []
    is_of_variables = any(re.search(r"variable|weight", ast.unparse(each)) for each in wanted)
    text = ast.unparse(function.node)
    return is_of_variables and "apply_gradients(" in text and not _SEES_TO_IT.search(text)


def _called(node: ast.AST) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else "it"
