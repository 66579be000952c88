"""Tensors that Python takes apart: loops, comprehensions, unpacking, and the builtins that iterate.

AutoGraph makes a graph loop of `for x in tensor` and of `range(tensor)` and of nothing else: a comprehension, `zip`, `list`,
unpacking and `f(*tensor)` ask the tensor for an iterator, which a symbolic one refuses, converted or not (measured, TF 2.21).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.control_flow.differences import Difference
from xlalint.semantics.facts import ARMS, COMPILED, CONVERSION, ITERATION, LOOP_EXIT
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.values import COLLECTION, DATASET, EXTERNAL, SEQUENCE, TENSOR, UNKNOWN, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

# Kinds of loops around a statement: of the graph, or of Python.
GRAPH = "graph"
FOR = "for"
WHILE = "while"

# Builtins that iterate over their arguments and that AutoGraph leaves alone.
ITERATING = frozenset(
    "enumerate zip list tuple set frozenset map filter iter next reversed sum dict range".split()
)


class LoopExit(NamedTuple):
    """A tensor decides whether a loop is left: `loop` is GRAPH, FOR or WHILE, `how` is "break" or "return"."""

    loop: str
    how: str


class Recursion(NamedTuple):
    """A conditional of which an arm calls the function that it stands in."""

    call: str


def is_taken_apart(value: Value, node: ast.expr | None, frame: Frame) -> bool:
    """Whether iterating over the value, which `node` stands for, asks a symbolic tensor for its elements, for all that is known.

    What an operation makes of a parameter is a tensor in a program, whatever the parameter is; outside, eager code may go through it.
    """
    if not value.is_tensor or value.structured or value.optional or value.guess:
        return False
    if value.sure:
        return True
    return frame.context.region == COMPILED and node is not None and _is_result(node, frame)


def _is_result(node: ast.expr, frame: Frame) -> bool:
    """Whether it is what an operation returns, or an item of that: `tf.unique(x)[0]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if not isinstance(node, ast.Call):
        return False
    target = frame.analysis.evaluate(node.func, frame)
    api = frame.analysis.catalog.api(str(target.ref)) if target.kind is EXTERNAL else None
    return api is not None and bool(api.ops)


def note(
    frame: Frame, node: ast.expr, value: Value, how: str, given: ast.expr | None = None
) -> None:
    """Note that Python takes a tensor apart at `node`, when it is one; `given` is what stands for it, if not the node itself."""
    if is_taken_apart(value, given or node, frame):
        frame.analysis.note(frame, node, ITERATION, value, how)


def note_key(node: ast.expr, key: Value, frame: Frame) -> None:
    """`steps[int(i)] = x`, `table.get(label)`: a dictionary asks its key for a hash, a list its place for a number."""
    if is_taken_apart(key, None, frame):
        frame.analysis.note(frame, node, CONVERSION, key, "index")


def note_taken_apart(frame: Frame, node: ast.expr, value: Value, how: str) -> None:
    """`a, b = x` and `f(*x)`. A parameter that is taken apart under some settings only has another form under these."""
    if isinstance(node, ast.Name) and _is_parameter(node.id, frame):
        if frame.undecided or _is_called_with_parts(node.id, frame):
            return
    note(frame, node, value, how)


def _is_called_with_parts(name: str, frame: Frame) -> bool:
    """`def call(self, y_true, y_pred): weights, labels = y_true`: such a loss is called by hand, with a list; Keras would give a batch."""
    function = frame.function
    return name == "y_true" and function is not None and function.name == "call"


def _is_parameter(name: str, frame: Frame) -> bool:
    """Whether the innermost function around that knows the name has it as a parameter."""
    around: Frame | None = frame
    while around is not None:
        if name in around.names:
            return around.function is not None and name in around.function.parameter_names
        around = around.outer
    return False


def note_loop(frame: Frame, node: ast.For | ast.AsyncFor, items: Value, inside: Value) -> None:
    """`for` over a tensor where AutoGraph does not reach, over a dataset in a program, or unpacking rows."""
    if items.kind is DATASET:
        if frame.context.jit:
            frame.analysis.note(frame, node.iter, ITERATION, items, "dataset")
        return
    if items.is_tensor and not frame.context.converted:
        # What the rows are taken apart into is told once this is mended.
        note(frame, node.iter, items, "for")
    elif isinstance(node.target, (ast.Tuple, ast.List)) and (
        items.is_tensor or items.kind in (SEQUENCE, COLLECTION)
    ):
        note(frame, node.iter, inside, "unpacking")


def may_be_of_the_graph(node: ast.For, items: Value, frame: Frame) -> bool:
    """Whether a loop goes over a tensor or a list of them, nobody knows which."""
    if items.kind is UNKNOWN:
        return isinstance(node.iter, ast.Name) and _is_parameter(node.iter.id, frame)
    return items.kind is TENSOR and (items.guess or items.structured)


def note_exits(node: ast.If, test: Value, frame: Frame) -> None:
    """What a `break` or `return` under a tensor condition does to the loop around it."""
    if not frame.loops:
        return
    kinds = [_kind(loop, frame) for loop in frame.loops]
    innermost = kinds[-1]
    if innermost != GRAPH and _leaves(node, (ast.Break,), into_loops=False):
        if frame.loops[-1] not in frame.open_loops:  # a loop of the graph may be left
            frame.analysis.note(frame, node.test, LOOP_EXIT, test, LoopExit(innermost, "break"))
    elif _leaves(node, (ast.Return,), into_loops=True):
        if GRAPH in kinds:
            frame.analysis.note(frame, node.test, LOOP_EXIT, test, LoopExit(GRAPH, "return"))
        elif innermost == WHILE:
            frame.analysis.note(frame, node.test, LOOP_EXIT, test, LoopExit(WHILE, "return"))
        else:
            _note_return(node, test, frame)


def note_recursion(info: FunctionInfo, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """A function that calls itself under a tensor condition: tracing takes that arm each time, and never ends."""
    if info is not frame.function or not frame.constructs:
        return
    construct = frame.constructs[-1]
    if not isinstance(construct, ast.If):
        return
    values = arguments.values
    # A Python number among the arguments may count down to the end of it.
    if values and all(value.is_tensor for value in values):
        recursion = Recursion(ast.unparse(node))
        frame.analysis.note(frame, construct.test, ITERATION, values[0], recursion)


def _kind(loop: ast.AST, frame: Frame) -> str:
    if loop in frame.graph_loops:
        return GRAPH
    return WHILE if isinstance(loop, ast.While) else FOR


def _note_return(node: ast.If, test: Value, frame: Frame) -> None:
    """A `return` under a tensor condition in a Python `for`: the other arm goes on with the loop, and returns nothing."""
    found = Difference("return", "a value", "goes on with the loop")
    frame.analysis.note(frame, node.test, ARMS, test, found)


def _leaves(node: ast.If, kinds: tuple[type[ast.stmt], ...], *, into_loops: bool) -> bool:
    return any(isinstance(s, kinds) for s in _statements((*node.body, *node.orelse), into_loops))


def _statements(block: Sequence[ast.stmt], into_loops: bool) -> Iterator[ast.stmt]:
    """Statements of a block, those of the loops in it only where wanted; never those of functions."""
    for statement in block:
        yield statement
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(statement, (ast.For, ast.AsyncFor, ast.While)) and not into_loops:
            continue
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, None)
            if isinstance(inner, list):
                yield from _statements(inner, into_loops)
        for handler in getattr(statement, "handlers", ()):
            yield from _statements(handler.body, into_loops)
