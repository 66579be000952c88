"""Loops and conditionals in the function of `tf.vectorized_map`, which is rewritten for all elements at once.

A conditional that each element decides becomes two parts of the elements, one for each arm, and XLA must know how many there are of each when it
compiles ("Reading input as constant from a dynamic tensor"): on CPU and GPU for each value of an argument, on a TPU never. What a loop
collects for each element becomes a list of lists (TensorListReserve, TensorListScatterIntoExistingList of variants), which XLA has no kernel
for; a loop that carries tensors, and whose end no element decides, compiles. So do `tf.where`, and conditionals and loops over what is no
element. Measured with TensorFlow 2.15 and 2.21: fixtures/XLA401/flagged_vectorized_maps.py.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from xlalint.semantics.catalog.entries import custom_operation
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import CALL, Verdict
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards.noted_calls import detail_of
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import COMPUTED, FUNCTION, NOTHING_KNOWN, TENSOR_ARRAY, Value

LOOP = "vectorized-loop"
CONDITIONAL = "vectorized-conditional"


class Loop(NamedTuple):
    """A loop in the function of a map, as it is written."""

    name: str
    path: str
    line: int

    def named(self, path: str) -> str:
        """The loop and its place, as a reader of the file `path` is told."""
        place = f"line {self.line}" if path == self.path else f"{self.path}:{self.line}"
        return f"`{self.name}` ({place})"


class VectorizedMap(NamedTuple):
    """A map whose function is being run: how many functions were running around it, and the loops in it that cannot be vectorized."""

    since: int
    loops: list[Loop]


# Names that lead further than this are left alone.
_DEEPEST = 6


def note_conditional(node: ast.AST, test: Value | None, frame: Frame) -> None:
    """`tf.cond(row[0] > 1, ...)`, `tf.case`, `tf.switch_case`: each element decides, or may."""
    if not frame.analysis.vectorized or test is None or not _is_element(test):
        return
    given = node.args[0] if isinstance(node, ast.Call) and node.args else node
    if _comes_of_elements(given, frame):
        _note(CONDITIONAL, "tf.vectorized_map", node, frame)


def note_collecting(node: ast.AST, elems: Value | None, frame: Frame) -> None:
    """`tf.map_fn`, `tf.scan`, folds: what they go through and what they collect are lists."""
    if not frame.analysis.vectorized or elems is None:
        return
    if any(map(_is_element, leaves(elems))) and _comes_of_elements(node, frame):
        _remember(node, frame)


def note_while(node: ast.AST, condition: Value | None, state: list[Value], frame: Frame) -> None:
    """`tf.while_loop` that collects in a TensorArray, or that goes on as long as an element says."""
    if not frame.analysis.vectorized:
        return
    carried = [leaf for value in state for leaf in leaves(value)]
    collects = any(leaf.kind is TENSOR_ARRAY for leaf in carried)
    if _comes_of_elements(node, frame) and (collects or _ends_by_element(condition, state, frame)):
        _remember(node, frame)


def _ends_by_element(condition: Value | None, state: list[Value], frame: Frame) -> bool:
    """Whether a loop's condition asks variables that begin as parts of an element, or an element itself."""
    info = condition.ref if condition is not None and condition.kind is FUNCTION else None
    info = info[0] if isinstance(info, tuple) else info
    if not isinstance(info, FunctionInfo):
        return False
    names = [each.arg for each in info.node.args.args]
    used = {part.id for part in nodes_of(info.body) if isinstance(part, ast.Name)}
    begins = any(_is_element(value) for name, value in zip(names, state) if name in used)
    return begins or any(_comes_of_elements(part, frame) for part in info.body)


def _is_element(value: Value) -> bool:
    """Whether it may be of one element: of those, analysis knows that they change from step to step."""
    return value.is_tensor and value.dependence >= COMPUTED and not value.guess


def _comes_of_elements(node: ast.AST, frame: Frame) -> bool:
    """Whether an expression names what the mapped function, or one that it calls, is handed."""
    running = frame.analysis.functions.running[frame.analysis.vectorized[-1].since :]
    handed = {name for each in running for name in each.parameter_names} - {"self"}
    bound = {
        part.targets[0].id: part.value
        for each in running
        for part in nodes_of(each.body)
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name)
    }
    return _leads_to(node, handed, bound, _DEEPEST)


def _leads_to(node: ast.AST, handed: set[str], bound: dict[str, ast.expr], depth: int) -> bool:
    names = {part.id for part in nodes_of([node]) if isinstance(part, ast.Name)}
    if names & handed:
        return True
    return depth > 0 and any(
        _leads_to(bound[name], handed, bound, depth - 1) for name in names & bound.keys()
    )


def _remember(node: ast.AST, frame: Frame) -> None:
    if frame.silent or not frame.context.is_compiled:
        return
    name = ast.unparse(node.func) if isinstance(node, ast.Call) else ast.unparse(node)
    loop = Loop(name, frame.module.path, getattr(node, "lineno", 0))
    loops = frame.analysis.vectorized[-1].loops
    if loop not in loops:
        loops.append(loop)


def report(node: ast.AST, mapped: VectorizedMap, frame: Frame) -> None:
    """Say of a map which loops stand in its function: the map makes the operations that have no kernel."""
    for loop in mapped.loops:
        _note(LOOP, loop.named(frame.module.path), node, frame)


def _note(reason: str, cause: str, node: ast.AST, frame: Frame) -> None:
    verdict = Verdict("fails", (), reason, (), ())
    detail = detail_of(custom_operation(cause), verdict, {}, False)
    frame.analysis.note(frame, node, CALL, NOTHING_KNOWN, detail)
