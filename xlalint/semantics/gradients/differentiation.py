"""Where gradients are taken, and through which calls XLA cannot compile them.

A call of that kind is rare, so what flows into it and out of it is read from the text of its function when it is met,
rather than carried along with every value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.catalog import Api
from xlalint.semantics.classes import LAYER, LOSS, MODEL
from xlalint.semantics.facts import GRADIENT, Verdict
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients import jacobians, purposes
from xlalint.semantics.hazards import eigenvalues
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import called_name, found_in, nodes_of
from xlalint.semantics.values import (
    ARRIVING,
    COMPUTED,
    EXTERNAL,
    FROM_SHAPE,
    INSTANCE,
    NOTHING_KNOWN,
    PYTHON,
    TENSOR,
    VARIABLE,
    Value,
    leaves,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

# Why the gradient does not compile.
NO_KERNEL = "no-kernel"
LOOP = "loop"
DATA_SIZED = "data-sized"
PARTITION = "partition"
COUNT = "count"
SLICE = "slice"
PARTNER = "partner"
EIGENVECTORS = "eigenvectors"

# Loops that callers write themselves have a rule of their own: whether they are bounded is what counts there.
_LOOPS = ("while_loop", "fori_loop", "scan")
_GRADIENTS = ("tf.gradients", "tf.compat.v1.gradients")
_TRAINED_ROLES = {LAYER: ("call",), MODEL: ("call", "compute_loss"), LOSS: ("call", "__call__")}


class Differentiated(NamedTuple):
    """A call or slice whose gradient does not compile. `is_sure`: a gradient is taken through it. `missing`: ops without a kernel.

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
        reason = _reason(api, verdict, bound)
        if reason is None or not isinstance(node, ast.Call) or is_too_long(frame):
            return
        if is_cut_off(node, frame) or (reason == COUNT and _keeps_indices_alone(node, frame)):
            return
        first = next((v for v in bound.values() if v.is_tensor), NOTHING_KNOWN)
        if first.dtype is not None and first.dtype.startswith(("int", "uint", "bool", "string")):
            return
        if (first.dtype, "fails") in api.dtypes:
            return  # nor does the call itself
        asked = (bound["k"],) if reason == COUNT else bound.values()
        is_computed = any(v.dependence >= COMPUTED for v in asked if v.is_tensor)
        missing = verdict.gradient_missing
        detail = Differentiated(api.name, reason, missing, False, is_computed)
        self._consider(node, Slices(node, frame), _is_label(node), first, detail, frame)

    def note_slice(self, part: ast.Subscript, through: ast.AST, value: Value, frame: Frame) -> None:
        """A slice that one arm of a conditional takes: it goes on as the result of `through`, in the function of `frame`."""
        if frame.silent or not frame.context.is_compiled or is_too_long(frame):
            return
        if is_cut_off(through, frame) or not value.is_tensor:
            return
        if value.dtype is not None and value.dtype.startswith(("int", "uint", "bool", "string")):
            return
        is_counted = value.dtype is None and _names_numbers(part.value)
        detail = Differentiated(ast.unparse(part), SLICE, (), False, False)
        flows = Slices(through, frame, [part.value])
        self._consider(part, flows, is_counted, value, detail, frame)

    def note_partner(
        self, node: ast.AST, given: list[ast.expr], value: Value, frame: Frame
    ) -> None:
        """What a mask kept, beside as many elements of a tensor whose size is known: `targets - q_values[chosen]`."""
        if frame.silent or not frame.context.is_compiled or is_too_long(frame):
            return
        if is_cut_off(node, frame) or not value.sure:
            return
        if value.dtype is not None and value.dtype.startswith(("int", "uint", "bool", "string")):
            return
        detail = Differentiated(ast.unparse(node), PARTNER, (), False, False)
        self._consider(node, Slices(node, frame, given), False, value, detail, frame)

    def _consider(
        self,
        node: ast.AST,
        flows: Slices,
        is_label: bool,
        value: Value,
        detail: Differentiated,
        frame: Frame,
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
        detail = detail._replace(is_sure=is_sure, is_handed_on=is_handed_on)
        self._candidates.append(_Candidate(frame, node, value, detail, likely, bool(feeds)))

    def judge(self) -> None:
        """Keep a fact for each call that a gradient is, or may well be, taken through."""
        if not self._candidates:
            return
        reached = self._analysis.drivers.reached(self.taped)
        for candidate in self._candidates:
            detail, function = candidate.detail, candidate.frame.function
            if detail.is_sure or candidate.is_likely or function in reached:
                # `def loss(): ... model(x) ...`, called under the tape, returns what is differentiated.
                is_sure = detail.is_sure or (candidate.is_fed and function in self.taped)
                detail = detail._replace(is_sure=is_sure)
                self._analysis.keep(
                    candidate.frame, candidate.node, GRADIENT, candidate.value, detail
                )


def _names_numbers(node: ast.expr) -> bool:
    """`input_ids`, `features["tokens"]`, `y_mask`: of no dtype that is known."""
    said = node.slice if isinstance(node, ast.Subscript) else node
    name = said.value if isinstance(said, ast.Constant) else ast.unparse(said).split(".")[-1]
    return purposes.is_number(str(name)) or purposes.is_label(str(name))


def _is_label(node: ast.AST) -> bool:
    first = next(iter(getattr(node, "args", ())), None)
    return isinstance(first, ast.Name) and purposes.is_label(first.id)


def _reason(api: Api, verdict: Verdict, bound: dict[str, Value]) -> str | None:
    if verdict.status != "compiles" or verdict.possible:
        return None
    if verdict.gradient == "fails":
        if api.name.rpartition(".")[2] in _LOOPS:
            return None
        if verdict.gradient_missing:
            return NO_KERNEL
        if api.ops == ("DynamicPartition",):
            return None if _is_settled(bound.get("partitions", NOTHING_KNOWN)) else PARTITION
        return LOOP
    if eigenvalues.has_no_gradient(api.name, bound):
        return EIGENVECTORS
    if "TopKV2" in api.ops and api.name.rpartition(".")[2] in ("sort", "top_k"):
        first = next(iter(bound.values()), NOTHING_KNOWN)
        if first.is_data_sized:
            return DATA_SIZED
        return COUNT if _is_from_data(bound.get("k", NOTHING_KNOWN)) else None
    return None


def _is_settled(places: Value) -> bool:
    """Whether XLA knows a tensor when it compiles: literals, and what is made of sizes."""
    parts = leaves(places)
    return bool(parts) and all(
        part.kind is PYTHON or (part.kind is TENSOR and part.sure and part.dependence <= FROM_SHAPE)
        for part in parts
    )


def _is_from_data(count: Value) -> bool:
    """Whether a count is a tensor that the data decide: XLA refuses the gradient of as many values (TensorFlow 2.15, 2.21)."""
    is_vague = count.structured or count.optional or count.guess
    return count.is_tensor and count.dependence >= ARRIVING and not is_vague


def is_trained_method(frame: Frame, analysis: Analysis) -> bool:
    """Whether Keras trains through this: `call` of a layer, model or loss, or a loss function given to `compile`."""
    root = frame.context.root
    if root is None:
        return False
    if frame.context.why[:1] == ("Model.compile",):
        return True
    role = analysis.classes.role(root.cls) if root.cls is not None else None
    return role is not None and root.name in _TRAINED_ROLES.get(role.kind, ())


# Following what flows through a function looks at all of it, for each call asked about.
_MOST_LINES = 500


def is_too_long(frame: Frame) -> bool:
    """Whether a function is too long to follow what flows through it: then nothing is known of its gradients."""
    if frame.function is None:
        return False
    node = frame.function.node
    return (node.end_lineno or node.lineno) - node.lineno > _MOST_LINES


def is_cut_off(node: ast.AST, frame: Frame) -> bool:
    """Inside `tf.stop_gradient(...)`, or in a function that brings its own gradient."""
    info = frame.function
    while info is not None:
        if frame.analysis.traits(info).custom_gradient:
            return True
        info = info.parent
    return any(
        called_name(call) == "stop_gradient" and any(part is node for part in nodes_of([call]))
        for call in _calls(frame.function)
    )


def _keeps_indices_alone(node: ast.Call, frame: Frame) -> bool:
    """`_, chosen = tf.math.top_k(...)`, `tf.math.top_k(...).indices`: positions carry no gradient."""
    body = _body(frame.function)
    for part in nodes_of(body):
        if isinstance(part, ast.Assign) and part.value is node:
            names = [_first(target) for target in part.targets if isinstance(target, ast.Tuple)]
            return any(isinstance(name, ast.Name) and not _is_read(name.id, body) for name in names)
        if isinstance(part, ast.Attribute) and part.value is node:
            return part.attr == "indices"
        if isinstance(part, ast.Subscript) and part.value is node:
            return isinstance(part.slice, ast.Constant) and part.slice.value == 1
    return False


def _is_read(name: str, body: list[ast.AST]) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
        for part in nodes_of(body)
    )


def _body(info: FunctionInfo | None) -> list[ast.AST]:
    if info is None:
        return []
    return list(info.node.body) if isinstance(info.node.body, list) else [info.node.body]


def _calls(info: FunctionInfo | None) -> tuple[ast.Call, ...]:
    return () if info is None else info.calls


def _watched_by(info: FunctionInfo | None) -> list[ast.expr]:
    """What a function tells a tape to watch."""
    return [
        argument for part in _calls(info) if called_name(part) == "watch" for argument in part.args
    ]


def _bound(
    info: FunctionInfo | None, assignments: list[tuple[frozenset[str], ast.expr]]
) -> frozenset[str]:
    """Names that are a function's own, whatever the functions around it call so."""
    if info is None:
        return frozenset()
    given = info.node.args
    arguments = (*given.posonlyargs, *given.args, *given.kwonlyargs)
    return frozenset(a.arg for a in arguments).union(*(targets for targets, _ in assignments))


def _functions_around(info: FunctionInfo | None) -> Iterator[FunctionInfo]:
    while info is not None and info.parent is not None:
        info = info.parent
        yield info


class Slices:
    """What flows into a call and out of it, by the assignments of its function."""

    def __init__(
        self,
        node: ast.AST,
        frame: Frame,
        given: list[ast.expr] | None = None,
        results: Iterable[str] = (),
    ) -> None:
        """`given`: the expressions that flow into the node, its first argument if not said. `results`: names it sets."""
        self._node = node
        self._frame = frame
        self.given = given if given is not None else _worked_on(node)
        self._results = frozenset(results)
        self._assignments = list(_assignments(_body(frame.function)))
        self._own = _bound(frame.function, self._assignments)
        # A function inside of another reads its names: `def loss(): ... kept ...`, called under the tape.
        self._around = list(_functions_around(frame.function))
        for info in self._around:
            self._assignments += (
                (targets, value)
                for targets, value in _assignments(_body(info))
                if not targets & self._own
            )

    def feeds_it(self) -> bool | None:
        """Whether an argument comes from a variable, a layer's output, a watched tensor, or a loss's prediction.

        False where everything that it comes from is seen, and none of it is trained: the batch of a step that holds its
        own tape, the labels of a loss. None where that is not known.
        """
        seen: set[str] = set()
        is_all_seen = self.takes_gradient() or bool(self._predictions())
        for expression in self._sources(seen):
            if self._is_trained(expression):
                return True
            is_all_seen = is_all_seen and self._is_plain(expression)
        if seen & (self._watched() | self._predictions()):
            return True
        return False if is_all_seen else None

    def _sources(self, seen: set[str]) -> Iterator[ast.expr]:
        """What flows into the node, from its arguments backwards; `seen` gets the names that carry it."""
        pending: list[ast.expr] = list(self.given)
        while pending:
            expression = pending.pop()
            yield expression
            for name in _names(expression) - seen:
                seen.add(name)
                pending.extend(value for targets, value in self._assignments if name in targets)

    def is_objective(self) -> bool:
        """Whether a loss or a likelihood is computed of one of the function's parameters through the node."""
        return purposes.is_objective(self._frame.function) and self._passes_on_a_parameter()

    def may_be_trained(self) -> bool:
        """Whether callers who are not in sight may train what flows through the node from a parameter to the result."""
        info = self._frame.function
        if (
            info is not None
            and info.cls is not None
            and self._frame.analysis.classes.role(info.cls)
        ):
            return False  # Keras says what becomes of it
        return (
            purposes.is_open(self._frame)
            and not purposes.only_chooses(self._frame)
            # In `expm(t * u)` one of the two is a tensor, nobody knows which.
            and self._passes_on_a_parameter(or_unknown=True)
        )

    def _passes_on_a_parameter(self, or_unknown: bool = False) -> bool:
        seen: set[str] = set()
        for _ in self._sources(seen):
            pass
        return purposes.may_train(seen, self._frame, or_unknown) and self.leaves_function()

    def _is_plain(self, expression: ast.expr) -> bool:
        """Whether an expression holds only names and calls of TensorFlow: nothing that could bring in a variable unseen."""
        for part in nodes_of([expression]):
            if isinstance(part, ast.Call):
                if self._frame.analysis.evaluate(part.func, self._frame).kind is not EXTERNAL:
                    return False
            elif isinstance(part, ast.Attribute):
                owner = self._frame.analysis.evaluate(part.value, self._frame)
                if owner.kind is not EXTERNAL:
                    return False
        return True

    def _is_trained(self, expression: ast.expr) -> bool:
        for part in nodes_of([expression]):
            if isinstance(part, ast.Call) and called_name(part) == "stop_gradient":
                return False
            if isinstance(part, (ast.Name, ast.Attribute)):
                if self._frame.analysis.evaluate(part, self._frame).kind is VARIABLE:
                    return True
            if isinstance(part, ast.Call) and self._is_model(part.func):
                return True
        return False

    def _is_model(self, func: ast.expr) -> bool:
        """`self.dense(x)`, `model(x, training=True)`, `self(x)`: something with weights is called."""
        target = self._frame.analysis.evaluate(func, self._frame)
        if target.kind is not INSTANCE:
            return False
        if isinstance(target.ref, str):
            return _has_weights(target.ref)
        role = self._frame.analysis.classes.role(target.ref)
        return role is not None and role.kind in (LAYER, MODEL)

    def _watched(self) -> set[str]:
        """What a tape is told to watch, and what `tf.gradients(ys, xs)` differentiates by."""
        given = _watched_by(self._frame.function)
        given += [call.args[1] for call in self._symbolic() if len(call.args) > 1]
        given += [k.value for call in self._symbolic() for k in call.keywords if k.arg == "xs"]
        around = {
            name
            for info in self._around
            for argument in _watched_by(info)
            for name in _names(argument)
        }
        return {name for argument in given for name in _names(argument)} | (around - self._own)

    def _predictions(self) -> set[str]:
        """`y_pred` of a loss."""
        info = self._frame.function
        root = self._frame.context.root
        if info is None or info is not root:
            return set()
        names = [a.arg for a in info.node.args.args if a.arg != "self"]
        role = self._frame.analysis.classes.role(info.cls) if info.cls is not None else None
        is_loss = (
            role.kind == LOSS
            if role is not None
            else self._frame.context.why[:1] == ("Model.compile",)
        )
        return set(names[1:2]) if is_loss else set()

    def takes_gradient(self) -> bool:
        """Whether the function takes a gradient of what it computes here: under a tape, or by `tf.gradients`."""
        return bool(self._frame.tapes) or bool(self._symbolic())

    def _symbolic(self) -> list[ast.Call]:
        """Calls of `tf.gradients`."""
        return [
            part
            for part in _calls(self._frame.function)
            if called_name(part) == "gradients"
            and self._frame.analysis.evaluate(part.func, self._frame).ref in _GRADIENTS
        ]

    def reaches_gradient(self) -> bool:
        """Whether the result flows into what `tape.gradient(...)` or `tf.gradients(...)` differentiates."""
        reached = self._reached()
        if any(_names(given) & reached for call in self._symbolic() for given in _ys(call)):
            return True
        return any(
            called_name(call) in ("gradient", "jacobian", "batch_jacobian")
            and bool(call.args)
            and bool(_names(call.args[0]) & reached)
            for call in _calls(self._frame.function)
        )

    def reaches_jacobian(self) -> bool:
        """Whether the result flows into what a Jacobian is taken of, by a tape that records it."""
        if not self._frame.tapes:
            return False
        targets = jacobians.differentiated(self._frame.function)
        reached = self._reached() if targets else set()
        return any(_names(target) & reached or self._is_in(target) for target in targets)

    def comes_from_parameters(self) -> bool:
        """Whether something of what flows in was passed to the function."""
        if self._frame.function is None:
            return False
        given = self._frame.function.node.args
        seen: set[str] = set()
        for _ in self._sources(seen):
            pass
        return any(a.arg in seen for a in (*given.posonlyargs, *given.args, *given.kwonlyargs))

    def leaves_function(self) -> bool:
        """Whether the result flows into what the function returns, or into a call made for what it does (`add_loss`)."""
        if self._frame.function is None or isinstance(self._frame.function.node, ast.Lambda):
            return True
        reached = self._reached()
        for part in nodes_of(_body(self._frame.function)):
            if isinstance(part, (ast.Return, ast.Expr)) and part.value is not None:
                if _names(part.value) & reached or self._is_in(part.value):
                    return True
        return False

    def _is_in(self, expression: ast.expr) -> bool:
        line: int = getattr(self._node, "lineno", 0)
        if not expression.lineno <= line <= (expression.end_lineno or line):
            return False
        return any(part is self._node for part in _carrying(expression))

    def _reached(self) -> set[str]:
        """Names that carry the result, or what is computed from it, with its gradient."""
        reached = set(self._results)
        growing = True
        while growing:
            growing = False
            for targets, value in self._assignments:
                if not targets <= reached and (self._is_in(value) or _names(value) & reached):
                    reached |= targets
                    growing = True
        return reached


def _ys(call: ast.Call) -> list[ast.expr]:
    return [*call.args[:1], *(k.value for k in call.keywords if k.arg == "ys")]


def _worked_on(node: ast.AST) -> list[ast.expr]:
    """What a call works on: sizes, indices and settings have no gradient."""
    keywords = [keyword.value for keyword in getattr(node, "keywords", ())]
    return [*getattr(node, "args", ()), *keywords][:1]


def _has_weights(name: str) -> bool:
    """Keras layers that hold weights, by their names; a pooling or a dropout layer trains nothing."""
    leaf = name.rpartition(".")[2]
    return any(
        word in leaf
        for word in (
            "Dense",
            "Conv",
            "LSTM",
            "GRU",
            "RNN",
            "Embedding",
            "Attention",
            "Norm",
            "Model",
            "Sequential",
        )
    )


# Calls whose results carry no gradient.
_CUTTING = frozenset(
    {
        "stop_gradient",
        "argmax",
        "argmin",
        "argsort",
        "shape",
        "size",
        "rank",
        "zeros_like",
        "ones_like",
    }
)


def _carrying(expression: ast.expr) -> Iterator[ast.AST]:
    """The parts of an expression through which a gradient may pass: not what is cut off, counted, or compared."""
    pending: list[ast.AST] = [expression]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.Compare) or (isinstance(part, ast.Call) and _cuts(part)):
            continue
        yield part
        pending.extend(ast.iter_child_nodes(part))


def _cuts(call: ast.Call) -> bool:
    name = called_name(call)
    if name == "cast" and len(call.args) > 1:
        return getattr(call.args[1], "attr", "").startswith(("int", "uint", "bool"))
    return name in _CUTTING


# Every result of a function asks the same of its assignments.
@lru_cache(maxsize=4096)
def _names(expression: ast.expr) -> frozenset[str]:
    """Names through which a gradient may pass."""
    return frozenset(part.id for part in _carrying(expression) if isinstance(part, ast.Name))


_ASSIGNMENTS = frozenset({ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr})


def _assignments(body: list[ast.AST]) -> Iterator[tuple[frozenset[str], ast.expr]]:
    for part in found_in(body, _ASSIGNMENTS):
        if isinstance(part, ast.Assign):
            targets = part.targets
            if isinstance(part.value, ast.Call) and called_name(part.value) == "top_k":
                targets = [_first(target) for target in targets]  # the indices carry no gradient
            names = [n.id for t in targets for n in nodes_of([t]) if isinstance(n, ast.Name)]
            yield frozenset(names) - {"_"}, part.value
        elif isinstance(part, (ast.AugAssign, ast.AnnAssign, ast.NamedExpr)):
            if isinstance(part.target, ast.Name) and part.value is not None:
                yield frozenset((part.target.id,)), part.value


def _first(target: ast.expr) -> ast.expr:
    return target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
