"""The arms of conditionals of the graph: those that are being run, and the functions that were called in one.

The gradient of a conditional runs the arm that was taken backwards, with what it kept: both arms must keep alike, and what one computed
is no constant to its gradient. A tape inside of an arm records the arm alone, and takes no gradient of the conditional.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.results.result_sizes import is_left_by_mask
from xlalint.semantics.values import ARRIVING, CONSTANT, Value


class Kept(NamedTuple):
    """Where an arm makes a tensor of a size that data say: with a mask, or of one that a mask has made. `base` is what it is made of."""

    node: ast.expr
    base: ast.expr
    value: Value
    frame: Frame


class Site(NamedTuple):
    """A conditional of the graph: its test, or the call that makes it, and the function it stands in.

    `dependence` is that of the test; nothing where it is only taken for a tensor. `kept` is what each arm keeps for its gradient of
    such a size that only data say, `in_step` whether a loop of the graph is around the conditional.
    """

    node: ast.expr
    frame: Frame
    dependence: int
    kept: list[list[Kept]]
    in_step: bool


class Arms:
    """Arms are entered and left as the analysis runs them."""

    def __init__(self) -> None:
        self.called: set[FunctionInfo] = set()
        self._sites: list[Site] = []
        self._is_apart = False

    @property
    def innermost(self) -> Site | None:
        """The conditional in an arm of which this is, and whose gradient is taken if one is taken of this."""
        return self._sites[-1] if self._sites else None

    @property
    def dependence(self) -> int:
        """What the tests of all these conditionals depend on: XLA takes the arm itself where it knows a test."""
        return max((site.dependence for site in self._sites), default=CONSTANT)

    @property
    def is_asked(self) -> bool:
        """Whether the data decide if one of these arms is taken."""
        return any(site.dependence >= ARRIVING for site in self._sites)

    @property
    def is_apart(self) -> bool:
        """Whether a tape in an arm records this: gradients do not go through the conditional."""
        return self._is_apart

    def enter(self, node: ast.AST, test: Value, frame: Frame) -> None:
        """The arms of a conditional of the graph are run from here on, until `leave`."""
        if isinstance(node, ast.expr):
            is_vague = test.guess or test.structured or test.optional
            dependence = CONSTANT if is_vague else test.dependence
            self._sites.append(Site(node, frame, dependence, [[]], frame.rounds > 0))

    def next_arm(self, node: ast.AST) -> None:
        """One arm has been run, and the next one is."""
        if isinstance(node, ast.expr):
            self._sites[-1].kept.append([])

    def saw_kept(self, node: ast.expr, base: ast.expr, value: Value, frame: Frame) -> None:
        """A mask keeps a part of a tensor, or something is computed of such a part: `value` is what it is computed of."""
        if self._sites:
            self._sites[-1].kept[-1].append(Kept(node, base, value, frame))

    def saw_result(
        self,
        node: ast.AST,
        given: Iterable[tuple[ast.expr, Value]],
        producer: str | None,
        frame: Frame,
    ) -> None:
        """Something is computed of these, as long as a mask left it: of the first that has a gradient, `x` of `tf.gather(x, places)`."""
        if not self._sites or producer is None or not isinstance(node, ast.expr):
            return
        if is_left_by_mask(producer):
            pairs = (pair for pair in given if pair[1].is_tensor and not pair[1].has_no_gradient)
            base = next(pairs, None)
            if base is not None:
                self.saw_kept(node, *base, frame)

    def leave(self, node: ast.AST) -> None:
        if not isinstance(node, ast.expr):
            return
        site = self._sites.pop()
        site.frame.analysis.gradients.note_kept(site)
        if self._sites:  # they are in an arm of the conditional around it as well
            self._sites[-1].kept[-1] += [each for kept in site.kept for each in kept]

    def begin(self) -> None:
        """A root is run: whatever an interrupted one left is void."""
        self._sites, self._is_apart = [], False

    def set_aside(self) -> tuple[list[Site], bool]:
        """A tape is opened. What this returns is for `put_back`."""
        aside = self._sites, self._is_apart
        self._sites, self._is_apart = [], self._is_apart or bool(self._sites)
        return aside

    def put_back(self, aside: tuple[list[Site], bool]) -> None:
        """The tape is closed."""
        self._sites, self._is_apart = aside

    def saw_call(self, info: FunctionInfo) -> None:
        """A function is called in an arm of a conditional of the graph."""
        self.called.add(info)
