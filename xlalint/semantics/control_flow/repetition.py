"""Loops of one function: their steps are run until what they change has been seen, and what holds afterwards."""

from __future__ import annotations

import ast
from collections.abc import Callable

from xlalint.semantics import enumerations, inlining
from xlalint.semantics.binding import bind
from xlalint.semantics.callbacks.loop_calls import loop_state
from xlalint.semantics.control_flow import (
    after_break,
    conditionals,
    left_steps,
    loops,
    python_starts,
    unmade_names,
)
from xlalint.semantics.control_flow.narrowing import narrow
from xlalint.semantics.elements import element, iterated
from xlalint.semantics.expressions import evaluate, evaluate_condition
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import costs, iteration
from xlalint.semantics.local_names import Changes
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.truths import truth
from xlalint.semantics.values import COLLECTION, EXTERNAL, MAPPING, NONE, SEQUENCE, TENSOR, Value

# Runs statements in order, and returns whether their end can be reached (`flow.run_block`).
Block = Callable[[list[ast.stmt], Frame], bool]
# A loop inside a loop inside a loop is run once per visit of the outer one; twice each would double at every level.
_MOST_NESTED_PASSES = 2
_JUMPS = (ast.Break, ast.Continue)


def run_while(node: ast.While, run: Block, frame: Frame) -> bool:
    """Run a `while` and what stands in its `else`. Returns whether what follows it can be reached."""
    frame.names.fork()
    tests: list[Value] = []

    def head() -> ast.expr | None:
        is_graph_loop = tests[0].is_tensor and not tests[0].guess and frame.context.converted
        return node.test if is_graph_loop else None

    _repeat(node, lambda: tests.append(_while_pass(node, run, frame)), head, frame)
    test = evaluate(node.test, frame)
    runs = truth(tests[0]) is True
    _join_loop(node, frame, is_graph_loop=test.is_tensor, runs=runs)
    if node.orelse:
        return _after_loop(node, run, frame)
    return not (truth(test) is True and not _has_break(node) and not _is_counted(node, frame))


def _is_counted(node: ast.While, frame: Frame) -> bool:
    """Whether the steps of a loop change what its test asks for, of which only the first few values have been seen."""
    bound = frame.analysis.carried.names(node).bound
    return any(isinstance(n, ast.Name) and n.id in bound for n in nodes_of([node.test]))


def _while_pass(node: ast.While, run: Block, frame: Frame) -> Value:
    """Run a step; returns the test."""
    test = evaluate_condition(node.test, frame, "while")
    is_python = python_starts.is_of_python(node, test, frame)
    narrow(node.test, True, frame)
    is_graph_loop = conditionals.becomes_one(test, frame)
    if is_graph_loop:
        frame.graph_loops.add(node)
        frame.constructs.append(node)
        frame.rounds += 1
    _run_body(node, run, frame, is_graph_loop=is_graph_loop)
    if is_graph_loop:
        frame.rounds -= 1
        frame.constructs.pop()
    elif is_python and not isinstance(node.test, ast.Constant):
        python_starts.note_change(node, frame)
    return test


def _run_body(node: ast.For | ast.While, run: Block, frame: Frame, *, is_graph_loop: bool) -> None:
    """Run the statements of a step, which in the graph may read no name that nothing binds before the loop."""
    unmade = frame.unmade
    if is_graph_loop:
        frame.unmade = unmade_names.before(node, frame)
    run(node.body, frame)
    frame.unmade = unmade
    if is_graph_loop:
        after_break.note(node, frame)


def _has_break(loop: ast.AST) -> bool:
    return any(isinstance(part, ast.Break) for part in nodes_of([loop]))


def _repeat(
    node: loops.Loop,
    once: Callable[[], None],
    head: Callable[[], ast.expr | None],
    frame: Frame,
) -> None:
    """Run a loop's body until what it changes has been seen, which two passes do for values this coarse; one does where the
    next pass reads nothing that changed.

    `head` says, after one pass, what is looped over when the loop becomes a tf.while_loop.
    """
    names = frame.names
    attributes = dict(frame.attributes or {})
    frame.left.pop(node, None)
    frame.loops.append(node)
    names.fork()
    left_steps.begin(node, frame)
    once()
    changes = names.take_back()
    looped_over = head()
    if looped_over is not None:
        loops.carry_round(node, looped_over, changes, frame)
        frame.analysis.loop_gradients.note_statement(node, looped_over, changes, frame)
    changes = left_steps.merged(changes, node, frame, in_the_loop=True)
    if len(frame.loops) < _MOST_NESTED_PASSES:
        before = {name: names.get(name) for name in changes}
        names.join({}, changes)
        is_seen = False
        if looped_over is None:
            _keep_filled(before, changes, frame)
            changed = (name for name, value in before.items() if names.get(name) != value)
            is_seen = attributes == (frame.attributes or {})
            is_seen = is_seen and not frame.analysis.carried.hands_on(node, changed)
        if is_seen:
            names.apply(changes)
        else:
            left_steps.begin(node, frame)
            once()
    else:
        names.apply(changes)
    frame.loops.pop()


def _after_loop(node: ast.For | ast.While, run: Block, frame: Frame) -> bool:
    """Run the `else` of a loop, which what leaves the loop by `break` passes over."""
    if not _has_break(node):
        return run(node.orelse, frame)
    frame.names.fork()
    frame.undecided += 1
    ends = run(node.orelse, frame)
    frame.undecided -= 1
    changes = frame.names.take_back()
    if ends:
        frame.names.join({}, changes)
    return True


def _join_loop(node: loops.Loop, frame: Frame, *, is_graph_loop: bool, runs: bool) -> None:
    """After a loop that began with a fork: its body may have run, or not; `runs` says that Python runs it at least once.

    What a tf.while_loop changes is loop state from there on: no target knows it while compiling.
    """
    names = frame.names
    changes = left_steps.merged(names.take_back(), node, frame, in_the_loop=False)
    before = {name: names.get(name) for name in changes}
    names.join({}, changes)
    if not is_graph_loop:
        _keep_filled(before, changes, frame)
        if runs and not any(isinstance(part, _JUMPS) for part in nodes_of([node])):
            bound, read_first = frame.analysis.carried.names(node)
            # What a step binds before it reads it is what the last step leaves, however many there are.
            names.apply({name: changes[name] for name in changes if name in bound - read_first})
    else:
        for name, old in before.items():
            value = loops.carried(old, changes[name]) or names.get(name)
            if old == NONE and changes[name] is not None:
                # None before the loop: AutoGraph puts in its place a tensor like what the steps make.
                value = changes[name]
            if value is not None and value.is_tensor and value != old:
                names[name] = loop_state(value)


def _keep_filled(before: Changes, changes: Changes, frame: Frame) -> None:
    """`total = 0.0`, `outs = []` before a loop of Python that adds tensors: they are there afterwards, unless there was nothing
    to go through.
    """
    for name, old in before.items():
        value = changes[name]
        if old is None or value is None:
            continue
        known = old.constant()
        if known is not None and type(known.value) in (int, float) and value.is_tensor:
            frame.names[name] = value._replace(sure=False)
            continue
        if value.kind is SEQUENCE and old.kind is SEQUENCE and len(value.ref) > len(old.ref):
            value = Value(COLLECTION, value.dependence, ref=element(value))  # so many steps
        if _is_filled(old, value):
            frame.names[name] = value


def _is_filled(old: Value, value: Value) -> bool:
    """Whether a loop put the first items into a list or dictionary, or the first that are sure to be there."""
    if old.kind is MAPPING:
        return value.kind is MAPPING and old.ref == ()
    if value.kind is not COLLECTION or value.ref is None or value.ref.guess:
        return False
    if old.kind is COLLECTION:
        return old.ref is not None and old.ref.guess
    return old.kind is SEQUENCE and not old.ref


def _looped_over(node: ast.expr, frame: Frame) -> Value:
    """The value of what a `for` iterates over.

    AutoGraph makes a counting loop of `for i in tf.range(n)` and leaves the range unused. XLA still wants it to be a constant,
    except inside another tf.function, where what is unused goes before XLA sees it; but not from the body of a loop that
    counts further with every step (fixtures/XLA203).
    """
    info = frame.function
    if info is None or not isinstance(node, ast.Call) or not frame.context.converted:
        return evaluate(node, frame)
    if not isinstance(node.func, (ast.Attribute, ast.Name)) or not inlining.is_inside_another(
        frame
    ):
        return evaluate(node, frame)
    target = evaluate(node.func, frame)
    if target.kind is not EXTERNAL or str(target.ref) not in ("tf.range", "builtins.range"):
        return evaluate(node, frame)
    if any(_is_of_a_step(argument, frame) for argument in node.args):
        return evaluate(node, frame)
    for argument in node.args:
        evaluate(argument, frame)
    was_silent, frame.silent = frame.silent, True
    items = evaluate(node, frame)
    frame.silent = was_silent
    return items


def _is_of_a_step(node: ast.expr, frame: Frame) -> bool:
    """Whether an expression reads what the steps of a loop of the graph around it bind, or are given."""
    loops_around = [loop for loop in frame.constructs if isinstance(loop, (ast.For, ast.While))]
    bound = [frame.analysis.carried.names(loop).bound for loop in loops_around]
    if frame.bodies and frame.function is not None:
        bound.append(frame.function.parameter_names)
    names = [part.id for part in nodes_of([node]) if isinstance(part, ast.Name)]
    return any(name in around for around in bound for name in names)


def run_for(node: ast.For, run: Block, frame: Frame) -> bool:
    """Run a `for` and what stands in its `else`. Returns whether what follows it can be reached."""
    items = _looped_over(node.iter, frame)
    inside = enumerations.each(items, frame) or iterated(items)
    is_graph_loop = items.kind is TENSOR and frame.context.converted and not items.structured
    if is_graph_loop:
        inside = loop_state(inside)._replace(dtype=items.dtype)
    iteration.note_loop(frame, node, items, inside)
    if not is_graph_loop:
        costs.note_loop(node, frame)
    # What is only guessed to be a tensor may be a list of them, whose loop Python unrolls: its numbers stay numbers.
    if iteration.may_be_of_the_graph(node, items, frame):
        frame.open_loops.add(node)
    is_graph_loop = is_graph_loop and not items.guess
    if is_graph_loop:
        frame.graph_loops.add(node)
        frame.constructs.append(node)
        frame.rounds += 1
    frame.names.fork()

    def once() -> None:
        bind(node.target, inside, frame)
        _run_body(node, run, frame, is_graph_loop=is_graph_loop)

    head = node.iter if is_graph_loop else None
    _repeat(node, once, lambda: head, frame)
    if is_graph_loop:
        frame.rounds -= 1
        frame.constructs.pop()
    _join_loop(node, frame, is_graph_loop=is_graph_loop, runs=_has_items(node.iter, items, frame))
    return _after_loop(node, run, frame) if node.orelse else True


def _has_items(node: ast.expr, items: Value, frame: Frame) -> bool:
    """Whether what a loop of Python goes over is known not to be empty: `(1.0, 2.0)`, `range(3)`."""
    if items.kind is SEQUENCE:
        return bool(items.ref)
    if not isinstance(node, ast.Call) or len(node.args) != 1 or called_name(node) != "range":
        return False
    known = evaluate(node.args[0], frame).constant()
    return known is not None and isinstance(known.value, int) and known.value > 0
