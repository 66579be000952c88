"""Loops of the graph whose gradient XLA cannot compile: those without a bound, those in an arm of a conditional, those that a
Jacobian goes through (`jacobians.py`), and those of a tf.function that was traced before XLA compiles it.

The gradient of a loop runs it backwards over what each step kept. XLA needs to know how many steps there may be: `maximum_iterations`,
or the length of what AutoGraph loops over. The arms of a conditional must keep alike, and a loop's lists cannot be made up for
the arm that has no loop (`FakeParam`). A loop that only adds keeps nothing, and compiles; a map or fold that only adds keeps the
array of its elements (all measured, TensorFlow 2.21). A loop knows of its bound only where it is traced for XLA: a tf.function that a
layer calls is traced, once, when the layer becomes part of a functional model, and that trace is compiled (TensorFlow 2.15 and 2.21).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import LOOP_GRADIENT
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients import callers, kept_results, purposes, traced_before
from xlalint.semantics.gradients.arms import Site
from xlalint.semantics.gradients.flows import (
    Slices,
    is_cut_off,
    is_too_long,
    is_trained_method,
)
from xlalint.semantics.gradients.reasons import TRACED_BEFORE
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.local_names import Changes
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.values import FUNCTION, MAPPING, NDARRAY, SEQUENCE, TENSOR_ARRAY, Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

UNBOUNDED = "unbounded"
IN_CONDITIONAL = "in-conditional"
IN_JACOBIAN = "in-jacobian"

_PRODUCTS = (ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv, ast.Mod)
# Calls whose gradient needs nothing that the step computed.
_KEEP_NOTHING = frozenset(
    "add add_n subtract concat identity negative cast stack stop_gradient print set_loop_options append range shape "
    "constant zeros ones zeros_like ones_like".split()
)
# Calls that move or sum elements: their gradient needs where to, and none of what the step computed (measured, TensorFlow 2.21; not so
# `repeat`, and of open shapes the shapes as well).
_MOVE = frozenset(
    "reverse transpose matrix_transpose roll cumsum band_part reshape expand_dims squeeze pad tile broadcast_to reduce_sum reduce_mean "
    "unstack accumulate_n bias_add diag_part trace".split()
)
# How many functions are looked into, one called by the other.
_DEEPEST = 3


class LoopGradient(NamedTuple):
    """A loop whose gradient does not compile: why, and whether a gradient is surely taken through it.

    `loop` is the source of a loop that is reported at the conditional around it.
    """

    reason: str
    is_sure: bool
    loop: str = ""


class _Candidate(NamedTuple):
    frame: Frame
    node: ast.expr
    value: Value
    is_bounded: bool
    site: Site | None
    is_sure: bool
    is_likely: bool
    is_fed: bool
    has_jacobian: bool
    hands_on: bool
    is_apart: bool
    layer: ClassInfo | None


class LoopGradients:
    """Collects the loops of the graph; says at the end through which a gradient is taken that does not compile."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._candidates: list[_Candidate] = []

    def note_statement(
        self,
        loop: ast.For | ast.AsyncFor | ast.While,
        head: ast.expr,
        changes: Changes,
        frame: Frame,
    ) -> None:
        """A `for` or `while` that AutoGraph makes a loop of the graph; `changes` is what a step changes."""
        if is_too_long(frame):
            return
        carried = {
            name
            for name, value in changes.items()
            if value is not None and not _is_read_beside(name, loop, value, frame)
        }
        possible = {n for n in carried if _holds_gradient(changes[n], _may_have_gradient)}
        own = changes.keys()
        if not _keeps_values(loop.body, carried, possible, frame) and not (
            possible and kept_results.keeps(loop.body, own, frame, _may_have_gradient)
        ):
            return
        # What is only taken for a tensor is one where it is differentiated.
        differentiable = {n for n in possible if _holds_gradient(changes[n], _has_gradient)}
        is_known = _keeps_values(loop.body, carried, differentiable, frame) or (
            bool(differentiable) and kept_results.keeps(loop.body, own, frame, _has_gradient)
        )
        is_bounded = not isinstance(loop, ast.While) or _sets_a_bound(loop.body)
        given = [*_values(loop.body), head, *_read_by_inner(loop.body, frame)]
        self._add(Slices(loop, frame, given, possible), head, head, is_bounded, frame, is_known)

    def note_call(
        self,
        node: ast.AST,
        state: Sequence[Value],
        body: FunctionInfo | None,
        is_bounded: bool,
        frame: Frame,
        *,
        takes_elements: bool = False,
    ) -> None:
        """A call that makes a loop; `state` is what its body carries, `body` the function where it is known.

        `takes_elements`: each step takes an element of an array, and that array is kept whatever the step does.
        """
        if not isinstance(node, ast.Call) or not any(_is_differentiable(value) for value in state):
            return
        if is_too_long(frame):
            return
        given: list[ast.expr] = [a for a in node.args if not isinstance(a, ast.Starred)]
        given += [keyword.value for keyword in node.keywords]
        if body is not None:
            inside = _body(body)
            names = _parameters(body)
            if (
                not takes_elements
                and not _keeps_values(inside, names, names, frame)
                # What stands outside of a function of the module's is given to it; one that is defined here reads it.
                and not (
                    body.parent is frame.function
                    and kept_results.keeps(inside, names, frame, _has_gradient)
                )
            ):
                return
            given += _values(inside)
        self._add(Slices(node, frame, given), node, node, is_bounded, frame, is_known=True)

    def _add(
        self,
        slices: Slices,
        cut: ast.AST,
        node: ast.expr,
        is_bounded: bool,
        frame: Frame,
        is_known: bool,
    ) -> None:
        if frame.silent or not frame.context.is_compiled or is_cut_off(cut, frame):
            return
        site = self._analysis.arms.innermost
        in_arm = site is not None
        layer = traced_before.layer_of(frame)
        in_training = is_trained_method(frame, self._analysis)
        in_training = in_training or (in_arm and purposes.serves_objective(frame))
        around = frame
        if site is not None and not slices.feeds_it():
            slices, around = _of_conditional(site, slices, frame)
        # Whether a bounded loop is in an arm, its callers say, and they may come later: that is never sure.
        feeds = slices.feeds_it() if in_arm or not is_bounded or layer else None
        is_recorded = slices.takes_gradient()
        is_sure = bool(feeds) and ((is_recorded and slices.reaches_gradient()) or in_training)
        if feeds is None and (in_arm or not is_bounded) and not is_recorded:
            is_sure = slices.is_objective()
        passages: tuple[callers.Passage, ...] = ()
        # Through what picks boxes, or decodes, nothing is trained, whoever calls it.
        may_be_passed_on = feeds is not False and not purposes.only_chooses(frame)
        if (in_arm or not is_bounded or layer) and not is_sure and may_be_passed_on:
            way = callers.way_out(slices, bool(feeds), in_arm, around)
            is_sure, passages = way.is_trained, way.passages
        has_jacobian = slices.reaches_jacobian()
        if feeds is False or not (is_known or is_sure or has_jacobian):
            return
        settle = partial(self._settle, len(self._candidates))
        self._analysis.unsettled.add(() if is_sure else passages, in_arm, settle)
        value = frame.analysis.evaluate(node, frame) if not isinstance(node, ast.Call) else Value()
        self._candidates.append(
            _Candidate(
                frame,
                node,
                value,
                is_bounded,
                site,
                is_sure,
                is_recorded or in_training,
                bool(feeds) and slices.leaves_function(),
                has_jacobian,
                is_known and slices.comes_from_parameters() and slices.leaves_function(),
                self._analysis.arms.is_apart,
                layer,
            )
        )

    def _settle(self, number: int) -> None:
        """A gradient is taken through this one, after all."""
        self._candidates[number] = self._candidates[number]._replace(is_sure=True)

    def judge(self) -> None:
        """Keep a fact for each loop that a gradient is, or may well be, taken through."""
        if not self._candidates:
            return
        called = self._analysis.gradients.taped
        vectorised = self._analysis.gradients.vectorised
        taped = self._analysis.drivers.differentiated(called)
        in_arms = self._analysis.drivers.reached(self._analysis.arms.called)
        objectives: set[FunctionInfo] | None = None
        at_sites = {candidate.node for candidate in self._candidates if candidate.site is not None}
        for candidate in self._candidates:
            function = candidate.frame.function
            if not candidate.is_bounded:
                reason = UNBOUNDED
            elif candidate.has_jacobian or (candidate.hands_on and function in vectorised):
                self._keep(candidate, IN_JACOBIAN, is_sure=True)
                continue
            elif candidate.site is not None or (
                function in in_arms and not candidate.is_apart and candidate.node not in at_sites
            ):
                reason = IN_CONDITIONAL
            elif candidate.is_sure and self._analysis.traced_before.is_in_functional(
                candidate.layer
            ):
                self._keep(candidate, TRACED_BEFORE, is_sure=True)
                continue
            else:
                continue
            is_likely = candidate.is_likely or function in taped
            if not is_likely and candidate.site is not None:
                objectives = self._of_objectives() if objectives is None else objectives
                is_likely = candidate.site.frame.function in objectives
            # `def loss(): ... while ...: ...`, called under the tape, returns what is differentiated.
            is_sure = candidate.is_sure or (candidate.is_fed and function in called)
            if is_sure or (is_likely and not purposes.only_chooses(candidate.frame)):
                self._keep(candidate, reason, is_sure)

    def _of_objectives(self) -> set[FunctionInfo]:
        """What losses and likelihoods call in their own modules: those of others may choose among results as well."""
        found: set[FunctionInfo] = set()
        for caller, callees in self._analysis.drivers.calls():
            if purposes.is_objective(caller):
                found.update(callee for callee in callees if callee.module is caller.module)
        return found

    def _keep(self, candidate: _Candidate, reason: str, is_sure: bool) -> None:
        """A loop in a conditional is reported where the conditional stands: that is the line that a compiler names."""
        frame, node = candidate.frame, candidate.node
        loop = ""
        if reason == IN_CONDITIONAL and candidate.site is not None:
            loop = ast.unparse(node.func if isinstance(node, ast.Call) else node)
            node, frame = candidate.site.node, candidate.site.frame
        detail = LoopGradient(reason, is_sure, loop)
        self._analysis.keep(frame, node, LOOP_GRADIENT, candidate.value, detail)


def _of_conditional(site: Site, slices: Slices, frame: Frame) -> tuple[Slices, Frame]:
    """What flows through the conditional itself, and where that stands, if an arm is a function that takes its names from around it."""
    info = frame.function
    if info is None or info.parent is None or info.parent is not site.frame.function:
        return slices, frame
    return Slices(site.node, site.frame, slices.given), site.frame


def _holds_gradient(value: Value | None, of_one: Callable[[Value | None], bool]) -> bool:
    """Whether a loop variable, or an item of the list, tuple or dictionary that it is, may have a gradient."""
    if value is None or value.kind not in (SEQUENCE, MAPPING):
        return of_one(value)
    return any(map(of_one, leaves(value)))


def _is_read_beside(name: str, loop: ast.stmt, value: Value, frame: Frame) -> bool:
    """Whether a loop changes items of a structure, and the function reads others of it alone."""
    if value.kind not in (SEQUENCE, MAPPING) or frame.function is None:
        return False
    nodes = [*nodes_of([frame.function.node])]
    inside = {*nodes_of([loop])}
    names = [one for one in nodes if isinstance(one, ast.Name) and one.id == name]
    items = [one for one in nodes if isinstance(one, ast.Subscript) and one.value in names]
    bases = [item.value for item in items]
    wholes = [one for one in names if one not in bases]
    if not all(isinstance(one.ctx, ast.Store) and one not in inside for one in wholes):
        return False
    keys = [item.slice.value if isinstance(item.slice, ast.Constant) else None for item in items]
    changed = {k for k, i in zip(keys, items) if i in inside and isinstance(i.ctx, ast.Store)}
    read = {k for k, i in zip(keys, items) if i not in inside and isinstance(i.ctx, ast.Load)}
    return bool(changed) and None not in keys and not changed & read


def _has_gradient(value: Value | None) -> bool:
    return value is not None and not value.guess and _may_have_gradient(value)


def _is_differentiable(value: Value) -> bool:
    """Whether the gradient of a loop may go through what it starts with: numbers of Python and arrays become tensors."""
    known = value.constant()
    if known is not None:
        return isinstance(known.value, float)
    if value.kind is NDARRAY:
        return value.dtype is not None and not value.has_no_gradient
    return _may_have_gradient(value)


def _may_have_gradient(value: Value | None) -> bool:
    if value is None or not (value.is_tensor or value.kind is TENSOR_ARRAY):
        return False
    return not value.has_no_gradient


def _keeps_values(
    body: Sequence[ast.AST],
    carried: set[str],
    differentiable: set[str],
    frame: Frame,
    within: tuple[FunctionInfo, ...] = (),
) -> bool:
    """Whether a step's gradient needs what the step computed: a product, a function of the state, an item picked by it.

    `within` are the project's functions that lead from the step to this body.
    """
    if not differentiable:
        return False
    for part in nodes_of(body, into_functions=False):
        if _is_product(part):
            if _names(part) & differentiable:
                return True
        elif isinstance(part, ast.Call) and not _keeps_nothing(part, carried):
            if _names(part) & differentiable and _call_keeps_values(part, frame, within):
                return True
        elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Load):
            if _names(part.slice) & carried:
                return True
    return False


def _keeps_nothing(call: ast.Call, carried: set[str]) -> bool:
    """Whether the gradient of a call needs neither what it is given nor what comes of it: sums, and moves to places that no step changes."""
    name = called_name(call)
    if name not in _MOVE:
        return name in _KEEP_NOTHING
    places = [*call.args[1:], *(keyword.value for keyword in call.keywords)]
    return not any(_names(place) & carried for place in places)


def _is_product(node: ast.AST) -> bool:
    return isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, _PRODUCTS)


def _call_keeps_values(call: ast.Call, frame: Frame, within: tuple[FunctionInfo, ...]) -> bool:
    """Whether a function that is called keeps what it is given; only of the project's own it can be said that it does not."""
    if not isinstance(call.func, (ast.Name, ast.Attribute)) or len(within) >= _DEEPEST:
        return True
    called = frame.analysis.evaluate(call.func, frame)
    if called.kind is not FUNCTION:
        return True
    info = called.ref[0] if isinstance(called.ref, tuple) else called.ref
    if info in within:
        return False
    names = _parameters(info)
    return _keeps_values(_body(info), names, names, frame, (*within, info))


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in nodes_of([node]) if isinstance(part, ast.Name)}


def _values(body: Sequence[ast.AST]) -> list[ast.expr]:
    """What a body assigns and returns."""
    if len(body) == 1 and isinstance(body[0], ast.expr):
        return [body[0]]
    found: list[ast.expr] = []
    for part in nodes_of(body, into_functions=False):
        if isinstance(part, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)):
            if part.value is not None:
                found.append(part.value)
            if isinstance(part, ast.AugAssign):
                found.append(part.target)  # it is read as well
    return found


def _read_by_inner(
    body: Sequence[ast.AST], frame: Frame, within: tuple[FunctionInfo, ...] = ()
) -> list[ast.expr]:
    """The names around that a step reads by way of functions which stand beside the loop: `cost` of `def kernel(u): ... cost ...`."""
    found: list[ast.expr] = []
    for call in nodes_of(body, into_functions=False):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        called = frame.analysis.evaluate(call.func, frame)
        info = called.ref if called.kind is FUNCTION else None
        if not isinstance(info, FunctionInfo) or info.parent is not frame.function:
            continue
        if info in within or len(within) >= _DEEPEST:
            continue
        inside = _body(info)
        own = _parameters(info) | {
            part.id
            for part in nodes_of(inside)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        }
        cut = {
            part
            for inner in info.calls
            if called_name(inner) == "stop_gradient"
            for part in nodes_of(inner.args)
        }
        found += [
            part
            for part in nodes_of(inside)
            if isinstance(part, ast.Name) and part.id not in own and part not in cut
        ]
        found += _read_by_inner(inside, frame, (*within, info))
    return found


def _body(info: FunctionInfo) -> list[ast.AST]:
    return list(info.node.body) if isinstance(info.node.body, list) else [info.node.body]


def _parameters(info: FunctionInfo) -> set[str]:
    arguments = info.node.args
    named = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    return named | ({arguments.vararg.arg} if arguments.vararg is not None else set())


def _sets_a_bound(body: Sequence[ast.stmt]) -> bool:
    """`tf.autograph.experimental.set_loop_options(maximum_iterations=n)` as one of the first statements of the loop."""
    return any(
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and called_name(statement.value) == "set_loop_options"
        and any(keyword.arg == "maximum_iterations" for keyword in statement.value.keywords)
        for statement in body[:2]
    )
