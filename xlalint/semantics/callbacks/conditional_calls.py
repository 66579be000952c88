"""Calls that run one of several functions: `tf.cond`, `K.switch`, `tf.case`, `tf.switch_case`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.callbacks.handed_functions import argument, run, run_in_graph
from xlalint.semantics.control_flow import (
    chosen,
    conditionals,
    loops,
    named_tests,
    unequal_arms,
)
from xlalint.semantics.elements import leaves
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients import sliced_arms
from xlalint.semantics.hazards import vectorized
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.joins import join_all
from xlalint.semantics.values import (
    COMPUTED,
    FROM_SHAPE,
    FUNCTION,
    NOTHING_KNOWN,
    SEQUENCE,
    TENSOR,
    UNKNOWN,
    Value,
)


def cond(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`tf.cond(pred, true_fn, false_fn)`: what either function returns."""
    functions = [
        argument(arguments, bound, position, name, old)
        for position, name, old in ((1, "true_fn", "fn1"), (2, "false_fn", "fn2"))
    ]
    test = argument(arguments, bound, 0, "pred")
    arms = _run_arms(node, test, functions, frame)
    _compare(node, test, arms, functions, frame)
    return _either(test, arms, functions, node, frame)


def _either(
    test: Value | None,
    results: list[Value],
    functions: Sequence[Value | None],
    node: ast.AST,
    frame: Frame,
) -> Value:
    """What a conditional gives whose callbacks return these."""
    if not results:
        return NOTHING_KNOWN
    if test is None or not test.is_tensor or not frame.context.is_compiled:
        return join_all(tuple(results))
    # Where XLA knows the test, as shapes or as arguments, it knows which of the numbers it is (fixtures/XLA203).
    dependence = max(test.dependence, FROM_SHAPE)
    results = [_from_graph(result, dependence) for result in results]
    asked = next(iter(getattr(node, "args", ())), None)
    bodies = [_definition(function) for function in functions]
    joined = chosen.by(test, *results) if len(results) == 2 else None
    joined = joined or join_all(tuple(results))
    if joined.kind is UNKNOWN:
        # Nothing but tensors, in some structure, comes out of the graph.
        return Value(TENSOR, COMPUTED, sure=test.sure and not test.guess, structured=True)
    return unequal_arms.of_callbacks(joined, results, bodies, asked, frame)


def _definition(function: Value | None) -> ast.AST | None:
    info = function.ref if function is not None and function.kind is FUNCTION else None
    return info.node if isinstance(info, FunctionInfo) else None


def _from_graph(result: Value, dependence: int) -> Value:
    """What an arm returns, as it comes out of a conditional of the graph: a Python number is a tensor then."""
    if result.kind is SEQUENCE and result.ref:
        return result._replace(ref=tuple(_from_graph(item, dependence) for item in result.ref))
    return loops.as_tensor(result, dependence)


def _run_arms(
    node: ast.AST,
    test: Value | None,
    functions: Sequence[Value | None],
    frame: Frame,
    runs: Callable[[Value | None, list[Value], Frame], Value] | None = None,
    given: Sequence[Value] = (),
) -> list[Value]:
    """Run the callbacks of a conditional, which is one of the graph when its test is a tensor."""
    runs = runs or partial(run_in_graph, node=node, is_arm=True)
    depth = frame.arms
    is_graph = test is not None and test.is_tensor
    vectorized.note_conditional(node, test, frame)
    if test is not None and is_graph:
        frame.arms += 1
        frame.analysis.arms.enter(node, test, frame)
    results = []
    for function in functions:
        results.append(runs(function, list(given), frame))
        if is_graph:
            frame.analysis.arms.next_arm(node)
    if is_graph:
        frame.analysis.arms.leave(node)
        arms = [part for function in functions for part in _body(function)]
        frame.analysis.traced_before.saw_conditional(node, arms, frame)
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
        arms = [unequal_arms.returned(_definition(each), asked, frame) for each in functions]
        sliced_arms.note_results(node, test, asked, arms, results, bodies, frame)
        if asked is not None and len(bodies) == 2:
            asked = named_tests.written(asked, frame.function)
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


def keras_switch(
    arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    """`K.switch`: a conditional where the test is a scalar, `tf.where` (which broadcasts) where it is not."""
    test = argument(arguments, bound, 0, "condition")
    arms = [
        argument(arguments, bound, 1, "then_expression"),
        argument(arguments, bound, 2, "else_expression"),
    ]
    is_scalar = test is not None and test.rank == 0
    results = _run_arms(node, test if is_scalar else None, arms, frame, _switched)
    if is_scalar:
        _compare(node, test, results, arms, frame)
    return join_all(tuple(results))


def _switched(arm: Value | None, given: list[Value], frame: Frame) -> Value:
    """An arm of `K.switch`, which is a value as often as a function; AutoGraph converts none."""
    if arm is not None and arm.kind is FUNCTION:
        return run(arm, given, frame, converted=False)
    return arm or NOTHING_KNOWN


def switch_case(
    arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    """`tf.switch_case(index, branches)`: what any branch returns."""
    branches = argument(arguments, bound, 1, "branch_fns", "pred_fn_pairs")
    found = list(leaves(branches)) if branches is not None else []
    found = [leaf for leaf in found if leaf.kind is FUNCTION]
    index = argument(arguments, bound, 0, "branch_index")
    results = _run_arms(node, index, found, frame)
    _compare(node, index, results, list(found), frame)
    return _either(index, results, found, node, frame)


def keras_choice(
    arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame
) -> Value:
    """`keras.ops.switch(index, branches, *operands)`: what any branch returns; Keras calls them, and AutoGraph converts none."""
    branches = argument(arguments, bound, 1, "branches")
    found = [leaf for leaf in leaves(branches or NOTHING_KNOWN) if leaf.kind is FUNCTION]
    index = argument(arguments, bound, 0, "index")
    results = _run_arms(node, index, found, frame, _switched, arguments.positional[2:])
    _compare(node, index, results, list(found), frame)
    return _either(index, results, found, node, frame)


def case(arguments: Arguments, bound: dict[str, Value], node: ast.AST, frame: Frame) -> Value:
    """`tf.case(pred_fn_pairs, default)`: what any function returns."""
    pairs = argument(arguments, bound, 0, "pred_fn_pairs")
    found = list(leaves(pairs)) if pairs is not None else []
    tests = [leaf for leaf in found if leaf.is_tensor]
    default = argument(arguments, bound, 1, "default")
    found = [v for v in (*found, default) if v is not None and v.kind is FUNCTION]
    test = tests[0] if tests else None
    results = _run_arms(node, test, found, frame)
    _compare(node, test, results, list(found), frame)
    return _either(test, results, found, node, frame)
