"""One function being run abstractly: its names, its context, and what it has returned so far."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xlalint.semantics.facts import Context
from xlalint.semantics.index import FunctionInfo, ModuleInfo
from xlalint.semantics.local_names import Names
from xlalint.semantics.values import TENSOR, Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.control_flow.after_break import Skipping
    from xlalint.semantics.control_flow.conditionals import Split
    from xlalint.semantics.control_flow.left_steps import LeftSteps
    from xlalint.semantics.control_flow.step_ways import Ways
    from xlalint.semantics.control_flow.unmade_names import Unmade


@dataclass(eq=False, slots=True)
class Frame:
    """A function (or a module's body, when `function` is None) in the middle of being run.

    `names` maps local names to values; `self.x` is kept under the key `"self.x"`, so that it is flow-sensitive too.
    `unusual` counts the conditions around that fail unless a caller passes something other than a default, `undecided` those of
    Python that may hold or not. `unusual_returns` are the positions in `returned` of what is returned under the former.
    `silent` drops facts: code in `tf.init_scope`, constructors run for their attributes. `attributes`, when there,
    collects what is assigned to `self`, `inherited` are those that the constructor of a base has just set. `loops` are the Python loops around the statement being run, `tapes` counts the
    gradient tapes that record it, `arms` the arms of graph conditionals that it is in,
    `host` says what it was seen to do on the host (`tracing/host_use.py`), `scope` whether code runs inside a strategy's scope (`scopes.py`), `constructs` are the conditionals and loops of the graph around it in this function,
    `bodies` counts those that callers stand in, or that were handed it, `rounds` the loops of the graph that a tape records, in callers too. `covered` holds conditions already reported as part of a larger one, `splits`
    conditionals of which an arm returns, `one_armed` those of which the other never does (`left_returns.py`), `graph_loops` the loops that became a tf.while_loop, `open_loops`
    those over a tensor or a list of them, nobody knows which, `caught` the exceptions that a `try`
    around catches (`handlers.py`), `raised` whether tracing was seen to raise one of them. `left_out` are the parameters that default
    to None and that nobody is seen to pass (`left_out.py`), `rebinds` the names of the function around that a `nonlocal` statement makes this
    one bind. `ways` are what the arms of conditionals leave of the variables of a loop (`step_ways.py`), `skipping` the
    conditionals that leave one (`after_break.py`), `left` the steps that do not come to their end (`left_steps.py`). `caller` and `called_at` are the
    function that called this one, and the call, where its arguments are those that were passed.
    """

    analysis: Analysis
    module: ModuleInfo
    function: FunctionInfo | None
    context: Context
    names: Names = field(default_factory=Names)
    outer: Frame | None = None
    self_value: Value | None = None
    self_name: str | None = None
    attributes: dict[str, Value] | None = None
    inherited: set[str] = field(default_factory=set)
    returned: list[Value] = field(default_factory=list)
    unusual_returns: set[int] = field(default_factory=set)
    silent: bool = False
    unusual: int = 0
    undecided: int = 0
    depth: int = 0
    loops: list[ast.AST] = field(default_factory=list)
    tapes: int = 0
    arms: int = 0
    constructs: list[ast.stmt] = field(default_factory=list)
    bodies: int = 0
    rounds: int = 0
    host: int = 0
    reads_files: bool = False
    covered: set[ast.AST] = field(default_factory=set)
    nested: list[FunctionInfo] = field(default_factory=list)
    splits: list[Split] = field(default_factory=list)
    unequal_return: Value | None = None
    scope: str = ""
    one_armed: set[ast.AST] = field(default_factory=set)
    graph_loops: set[ast.AST] = field(default_factory=set)
    open_loops: set[ast.AST] = field(default_factory=set)
    caught: frozenset[str] = frozenset()
    raised: bool = False
    left_out: dict[str, Value] = field(default_factory=dict)
    rebinds: tuple[str, ...] = ()
    unmade: Unmade | None = None
    unmade_by_loop: dict[ast.AST, dict[str, str]] = field(default_factory=dict)
    ways: dict[ast.AST, Ways] = field(default_factory=dict)
    skipping: dict[ast.AST, list[Skipping]] = field(default_factory=dict)
    left: dict[ast.AST, LeftSteps] = field(default_factory=dict)
    caller: Frame | None = None
    called_at: ast.AST | None = None

    def look_up(self, name: str) -> Value | None:
        """The value of a name in this function or those around it; None when it is not a local name at all."""
        frame: Frame | None = self
        while frame is not None:
            known = frame.names.get(name)
            if known is not None:
                return known
            frame = frame.outer
        return None

    def look_up_attribute(self, name: str, attr: str) -> Value | None:
        """The value of `name.attr` as it was assigned or tested in this function or those around it; None otherwise."""
        frame: Frame | None = self
        while frame is not None:
            if frame.names.may_keep_attributes(name):
                known = frame.names.get(f"{name}.{attr}")
                if known is not None:
                    return known
            frame = frame.outer
        return None

    def cover(self, test: ast.expr) -> None:
        """`if a and not b` is one finding, on the `if`: its parts are covered."""
        if not isinstance(test, (ast.BoolOp, ast.UnaryOp)):
            return
        pending: list[ast.expr] = [test]
        while pending:
            part = pending.pop()
            if isinstance(part, ast.BoolOp):
                self.covered.add(part)
                pending.extend(part.values)
            elif isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
                self.covered.add(part)
                pending.append(part.operand)

    def has_dimensions(self, node: ast.expr, masked: bool = True) -> None:
        """What is reduced along an axis, or a mask is taken of, is no scalar: from here on that is known of the name.

        Of what a mask is taken of, the elements have been counted (`result_shapes.must_agree`): all of them are there.
        """
        if isinstance(node, ast.Name):
            known = self.names.get(node.id)
            if known is None or not known.is_tensor:
                return
            if masked and known.producer is None and known.counted is None:
                self.names[node.id] = known = known._replace(counted=0)
            if known.shape is None and known.rank is None:
                self.names[node.id] = known._replace(rank=1)

    def is_one_tensor(self, name: str, value: Value) -> Value:
        """What was asked for its shape is a tensor and no structure of them; returns its value."""
        known = value._replace(structured=False)
        if name in self.names:
            self.names[name] = known
        return known

    def is_tensor_after_all(self, name: str, value: Value) -> Value:
        """What was taken for a tensor by its name or use was asked for what only tensors have; returns its value."""
        known = value._replace(guess=False) if value.kind is TENSOR else value
        if name in self.names:
            self.names[name] = known
        return known
