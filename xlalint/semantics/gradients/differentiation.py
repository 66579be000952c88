"""Where gradients are taken, and through which calls XLA cannot compile them.

A call of that kind is rare, so what flows into it and out of it is read from the text of its function when it is met,
rather than carried along with every value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.facts import GRADIENT, Verdict
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients import callers, jacobians, purposes, reasons, step_operands
from xlalint.semantics.gradients.arms import Kept, Site
from xlalint.semantics.gradients.carrying import first_of
from xlalint.semantics.gradients.flows import (
    Slices,
    body_of,
    is_cut_off,
    is_too_long,
    is_trained_method,
)
from xlalint.semantics.gradients.misplaced import FILLED_BY_SHAPE, KEPT, UNEQUAL_ARMS
from xlalint.semantics.gradients.reasons import (
    COUNT,
    EMPTY_ARM,
    IN_ARM,
    IN_STEP,
    KEPT_IN_ELSE,
    LOOP,
    MASKED_ARMS,
    PARTNER,
    SLICE,
)
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import (
    BOUNDED,
    COMPUTED,
    CONSTANT,
    NOTHING_KNOWN,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

# What is as often only computed as trained: masks and tables are tiled in loops as well.
_ONLY_IF_SURE = frozenset(
    {IN_STEP, IN_ARM, MASKED_ARMS, KEPT_IN_ELSE, EMPTY_ARM, KEPT, UNEQUAL_ARMS, FILLED_BY_SHAPE}
)


class Differentiated(NamedTuple):
    """A call or slice whose gradient does not compile. `is_sure`: a gradient is taken through it. `missing`: ops without a kernel,
    or what it needs of a step of the loop around it.

    `is_computed`: what the call depends on is known to no XLA target while it compiles. `is_handed_on`: a library function hands what
    comes of its parameters to callers that are not in sight.
    """

    api: str
    reason: str
    missing: tuple[str, ...]
    is_sure: bool
    is_computed: bool
    is_handed_on: bool = False


class _Candidate(NamedTuple):
    frame: Frame
    node: ast.AST
    value: Value
    detail: Differentiated
    is_likely: bool
    is_fed: bool
    site: Site | None


class Gradients:
    """Collects calls without a compilable gradient; says at the end which of them a gradient is taken through."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.taped: set[FunctionInfo] = set()
        # Those of them that are called by functions that take Jacobians.
        self.vectorised: set[FunctionInfo] = set()
        self._candidates: list[_Candidate] = []

    def saw_taped(self, info: FunctionInfo, caller: FunctionInfo | None) -> None:
        """A function is called inside a `with tf.GradientTape()` block."""
        self.taped.add(info)
        if jacobians.differentiated(caller):
            self.vectorised.add(info)

    def note(
        self, api: Api, verdict: Verdict, bound: dict[str, Value], node: ast.AST, frame: Frame
    ) -> None:
        """A call in compiled code; most of them have a gradient that compiles."""
        reason = reasons.of_call(api, verdict, bound)
        if reason is None or not isinstance(node, ast.Call) or is_too_long(frame):
            return
        if is_cut_off(node, frame) or (reason == COUNT and _keeps_indices_alone(node, frame)):
            return
        first = next((v for v in bound.values() if v.is_tensor), NOTHING_KNOWN)
        if first.has_no_gradient:
            return
        if (first.dtype, "fails") in api.dtypes:
            return  # nor does the call itself
        asked = (bound["k"],) if reason == COUNT else bound.values()
        is_computed = any(v.dependence >= COMPUTED for v in asked if v.is_tensor)
        if (
            reason == COUNT
        ):  # XLA looks at values that arrive, and not at how many a mask keeps of them
            is_computed = is_computed or bound["k"].dependence == BOUNDED
        missing = verdict.gradient_missing
        detail = Differentiated(api.name, reason, missing, False, is_computed)
        self._consider(node, Slices(node, frame), _is_label(node), first, detail, frame)

    def note_in_step(self, api: Api, bound: dict[str, Value], node: ast.AST, frame: Frame) -> None:
        """A call in a step of a loop of the graph, or in an arm of a conditional, whose gradient may need what is computed there."""
        needed = step_operands.asked_for(api, bound, node, frame)
        if needed is None or is_too_long(frame) or is_cut_off(node, frame):
            return
        first = next((v for v in bound.values() if v.is_tensor), NOTHING_KNOWN)
        if first.has_no_gradient:
            return
        reason = IN_STEP if frame.rounds else IN_ARM
        is_computed = bool(frame.rounds) or self._analysis.arms.dependence >= COMPUTED
        detail = Differentiated(api.name, reason, (needed,), False, is_computed)
        self._consider(node, Slices(node, frame), _is_label(node), first, detail, frame)

    def note_slice(
        self, part: ast.expr, base: ast.expr, through: ast.AST, value: Value, frame: Frame
    ) -> None:
        """A slice of `base` that one arm of a conditional takes: it goes on as the result of `through`, in the function of `frame`."""
        if value.is_tensor and not value.has_no_gradient:
            is_counted = value.dtype is None and _names_numbers(base)
            self.note_through(part, through, [base], value, SLICE, frame, is_label=is_counted)

    def note_partner(
        self, node: ast.AST, given: list[ast.expr], value: Value, frame: Frame
    ) -> None:
        """What a mask kept, beside as many elements of a tensor whose size is known: `targets - q_values[chosen]`, `total += x[i:i + 2]`."""
        target = node.target if isinstance(node, ast.AugAssign) else None
        results = (target.id,) if isinstance(target, ast.Name) else ()
        self.note_of(node, given, value, PARTNER, frame, results)

    def note_of(
        self,
        node: ast.AST,
        given: list[ast.expr],
        value: Value,
        reason: str,
        frame: Frame,
        results: Iterable[str] = (),
    ) -> None:
        """What is computed of `given`, and has no gradient, or a wrong one, for those (`misplaced.py`)."""
        if value.sure and not value.has_no_gradient:
            self.note_through(node, node, given, value, reason, frame, results)

    def note_through(
        self,
        node: ast.AST,
        through: ast.AST,
        given: list[ast.expr],
        value: Value,
        reason: str,
        frame: Frame,
        results: Iterable[str] = (),
        *,
        is_label: bool = False,
    ) -> None:
        """The same of what goes on as the result of `through`, and is reported at `node`."""
        if frame.silent or not frame.context.is_compiled or is_too_long(frame):
            return
        if is_cut_off(through, frame):
            return
        detail = Differentiated(ast.unparse(node), reason, (), False, False)
        flows = Slices(through, frame, given, results)
        self._consider(node, flows, is_label, value, detail, frame)

    def note_kept(self, site: Site) -> None:
        """A conditional whose arms keep tensors of a size that data say, reported where it stands: what one arm keeps for its gradient
        cannot be made up for the other that keeps such, too, nor, in a step of a loop, for the first arm, of which the lists of what
        the steps kept have their sizes. All that is differentiable is kept, trained or not (TensorFlow 2.12 to 2.21).
        """
        if site.dependence <= CONSTANT or not any(site.kept):
            return
        arms = [[each for each in kept if _is_differentiable(each)] for kept in site.kept]
        kept = [first[0] for first in arms if first]
        if len(kept) >= 2:
            self._consider_kept(kept, MASKED_ARMS, site)
        elif kept and site.in_step and not arms[0]:
            self._consider_kept(next(each for each in arms if each), KEPT_IN_ELSE, site)

    def _consider_kept(self, all_kept: list[Kept], reason: str, site: Site) -> None:
        """One of these through which a gradient is sure to be taken is enough."""
        for node, base, value, frame in reversed(all_kept):
            detail = Differentiated(ast.unparse(node), reason, (), False, False)
            self._consider(node, Slices(node, frame, [base]), False, value, detail, frame, site)
            if self._candidates and self._candidates[-1].detail == detail._replace(is_sure=True):
                return

    def _consider(
        self,
        node: ast.AST,
        flows: Slices,
        is_label: bool,
        value: Value,
        detail: Differentiated,
        frame: Frame,
        site: Site | None = None,
    ) -> None:
        in_training = is_trained_method(frame, self._analysis)
        feeds = flows.feeds_it()
        if feeds is False or (feeds is None and is_label):
            return
        is_recorded = flows.takes_gradient()
        if not is_recorded and not flows.leaves_function():
            return
        is_sure = bool(feeds) and ((is_recorded and flows.reaches_gradient()) or in_training)
        # What a mask chooses is often only measured: `tf.reduce_mean(targets - chosen)`.
        may_be_objective = detail.reason != PARTNER and not is_recorded
        is_sure = is_sure or (may_be_objective and flows.is_objective())
        is_handed_on = detail.reason == LOOP and flows.may_be_trained()
        likely = is_recorded or in_training or is_handed_on
        if not is_sure:
            names_objectives = detail.reason != PARTNER
            way = callers.way_out(flows, bool(feeds), names_objectives, frame)
            is_sure = way.is_trained
            if not is_sure:
                settle = partial(self._settle, len(self._candidates))
                self._analysis.unsettled.add(way.passages, names_objectives, settle)
        detail = detail._replace(is_sure=is_sure, is_handed_on=is_handed_on)
        self._candidates.append(_Candidate(frame, node, value, detail, likely, bool(feeds), site))

    def _settle(self, number: int) -> None:
        """A gradient is taken through this one, after all."""
        known = self._candidates[number]
        self._candidates[number] = known._replace(detail=known.detail._replace(is_sure=True))

    def judge(self) -> None:
        """Keep a fact for each call that a gradient is, or may well be, taken through."""
        if not self._candidates:
            return
        reached = self._analysis.drivers.differentiated(self.taped)
        for candidate in self._candidates:
            detail, function = candidate.detail, candidate.frame.function
            if detail.is_sure or candidate.is_likely or function in reached:
                # `def loss(): ... model(x) ...`, called under the tape, returns what is differentiated.
                is_sure = detail.is_sure or (candidate.is_fed and function in self.taped)
                if detail.reason in _ONLY_IF_SURE and not is_sure:
                    continue
                detail = detail._replace(is_sure=is_sure)
                at = candidate.site or candidate
                self._analysis.keep(at.frame, at.node, GRADIENT, candidate.value, detail)


def _is_differentiable(kept: Kept) -> bool:
    """Whether what an arm keeps flows on as numbers that have a gradient: not where it is counted, or cut off."""
    node, base, value, frame = kept
    if frame.silent or not frame.context.is_compiled or is_too_long(frame):
        return False
    if is_cut_off(node, frame) or not value.is_tensor or value.has_no_gradient:
        return False
    return Slices(node, frame, [base]).leaves_function()


def _names_numbers(node: ast.expr) -> bool:
    """`input_ids`, `features["tokens"]`, `y_mask`: of no dtype that is known."""
    said = node.slice if isinstance(node, ast.Subscript) else node
    name = said.value if isinstance(said, ast.Constant) else ast.unparse(said).split(".")[-1]
    return purposes.is_number(str(name)) or purposes.is_label(str(name))


def _is_label(node: ast.AST) -> bool:
    first = next(iter(getattr(node, "args", ())), None)
    return isinstance(first, ast.Name) and purposes.is_label(first.id)


def _keeps_indices_alone(node: ast.Call, frame: Frame) -> bool:
    """`_, chosen = tf.math.top_k(...)`, `tf.math.top_k(...).indices`: positions carry no gradient."""
    body = body_of(frame.function)
    for part in nodes_of(body):
        if isinstance(part, ast.Assign) and part.value is node:
            names = [first_of(target) for target in part.targets if isinstance(target, ast.Tuple)]
            return any(isinstance(name, ast.Name) and not _is_read(name.id, body) for name in names)
        if isinstance(part, ast.Attribute) and part.value is node:
            return part.attr == "indices"
        if isinstance(part, ast.Subscript) and part.value is node:
            return isinstance(part.slice, ast.Constant) and part.slice.value == 1
    return False


def _is_read(name: str, body: Sequence[ast.AST]) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
        for part in nodes_of(body)
    )
