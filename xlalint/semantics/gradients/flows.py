"""What flows into a call and out of it, by the assignments of its function: whether a gradient passes, and what it is taken of."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeGuard

from xlalint.semantics.classes import LAYER, LOSS, MODEL
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients import jacobians, purposes, weights
from xlalint.semantics.gradients.carrying import Assigned, assignments, bound, carrying, names_in
from xlalint.semantics.gradients.passed_arguments import arguments_for, parameters_by_item
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.training_uses import TRAINED_VARIABLES
from xlalint.semantics.values import EXTERNAL, FUNCTION, INSTANCE, TENSOR, VARIABLE

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

_GRADIENTS = ("tf.gradients", "tf.compat.v1.gradients")
_TRAINED_ROLES = {LAYER: ("call",), MODEL: ("call", "compute_loss"), LOSS: ("call", "__call__")}


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
    """Inside `tf.stop_gradient(...)` or `tf.nest.map_structure(tf.stop_gradient, ...)`, or in a function that brings its own gradient."""
    info = frame.function
    while info is not None:
        if frame.analysis.traits(info).brings_gradient:
            return True
        info = info.parent
    return any(
        _stops(call) and any(part is node for part in nodes_of([call]))
        for call in _calls(frame.function)
    )


def _stops(call: ast.Call) -> bool:
    name = called_name(call)
    if name != "map_structure" or not call.args:
        return name == "stop_gradient"
    return ast.unparse(call.args[0]).endswith("stop_gradient")


def body_of(info: FunctionInfo | None) -> Sequence[ast.AST]:
    return () if info is None else info.body


def _calls(info: FunctionInfo | None) -> tuple[ast.Call, ...]:
    return () if info is None else info.calls


def _watched_by(info: FunctionInfo | None) -> list[ast.expr]:
    """What a function tells a tape to watch."""
    return [
        argument for part in _calls(info) if called_name(part) == "watch" for argument in part.args
    ]


def _trained_by(info: FunctionInfo | None) -> frozenset[str]:
    """What a step takes gradients by the variables of: `tape.gradient(loss, model.trainable_variables)`, whatever `model` is."""
    return frozenset(
        ast.unparse(part.value)
        for call in _calls(info)
        if called_name(call) in ("gradient", "apply_gradients", "compute_gradients")
        for part in nodes_of(call.args)
        if isinstance(part, ast.Attribute) and part.attr in TRAINED_VARIABLES
    )


def _is_kept(part: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether an attribute is set: `self.potentials = ...`."""
    return isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)


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
        self._assignments = list(self._assigned(frame.function))
        self._own = bound(frame.function, self._assignments)
        self._trained = _trained_by(frame.function) if frame.tapes else frozenset()
        # A function inside of another reads its names: `def loss(): ... kept ...`, called under the tape.
        self._around = list(frame.function.around) if frame.function is not None else []
        for info in self._around:
            self._assignments += (
                (targets, value)
                for targets, value in self._assigned(info)
                if not targets & self._own
            )

    def _assigned(self, info: FunctionInfo | None) -> Iterator[Assigned]:
        """Names, and what flows into them: of what a function of the project returns, item by item where that is known."""
        for part in () if info is None else info.carrying:
            items = self._items_assigned(part)
            yield from assignments(part) if items is None else items

    def _items_assigned(self, part: ast.AST) -> list[Assigned] | None:
        """`kept, actual = both(predictions, labels)`: each comes from the arguments that it is made of."""
        if not isinstance(part, ast.Assign) or part.value is self._node or len(part.targets) != 1:
            return None
        target, call = part.targets[0], part.value
        if not isinstance(target, ast.Tuple) or not isinstance(call, ast.Call):
            return None
        names = [each.id for each in target.elts if isinstance(each, ast.Name)]
        called = self._frame.analysis.evaluate(call.func, self._frame)
        if called.kind is not FUNCTION or len(names) != len(target.elts):
            return None
        info = called.ref[0] if isinstance(called.ref, tuple) else called.ref
        items = parameters_by_item(info)
        if len(items) != len(names):
            return None
        return [
            (frozenset((name,)), argument)
            for name, parameters in zip(names, items)
            for argument in arguments_for(parameters, call, info, self._frame)
        ]

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
            for name in names_in(expression) - seen:
                seen.add(name)
                pending.extend(value for targets, value in self._assignments if name in targets)

    def names(self) -> frozenset[str]:
        """The names that flow in, and items of them: `row`, `row[0]`."""
        seen: set[str] = set()
        items: set[str] = set()
        for expression in self._sources(seen):
            for part in nodes_of([expression]):
                if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant):
                    items.add(ast.unparse(part))
        return frozenset(seen | items)

    def parameters(self, names: frozenset[str] | None = None) -> frozenset[str]:
        """The parameters of the function that flow in, of these `names` where they are known."""
        seen = self.names() if names is None else names
        info = self._frame.function
        if info is None:
            return frozenset()
        given = info.node.args
        return frozenset(
            a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs) if a.arg in seen
        )

    def reaches(self, expression: ast.expr) -> bool:
        """Whether the result flows into what an expression comes to."""
        return bool(names_in(expression) & self._reached()) or self._is_in(expression)

    def is_objective(self) -> bool:
        """Whether a loss or a likelihood is computed of one of the function's parameters through the node."""
        if not purposes.is_objective(self._frame.function):
            return False
        return (
            self._passes_on_a_parameter()
            or self._passes_on_an_item()
            or self._passes_on_an_output()
        )

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

    def _passes_on_an_item(self) -> bool:
        """`y_pred, labels = args` of a loss that a Lambda layer computes: what is unpacked are tensors."""
        info = self._frame.function
        if info is None:
            return False
        seen = self.names()
        unpacked = {
            name
            for part in nodes_of(body_of(info))
            if isinstance(part, ast.Assign)
            and isinstance(part.value, ast.Name)
            and part.value.id in info.parameter_names
            and isinstance(part.targets[0], (ast.Tuple, ast.List))
            for name in names_in(part.targets[0])
        }
        return purposes.may_train_items(unpacked & seen, self._frame) and self.leaves_function()

    def _passes_on_an_output(self) -> bool:
        """`crf_log_likelihood(self.potentials, ...)` in the loss of a layer whose `call` computed the potentials."""
        frame = self._frame
        owner = frame.function.cls if frame.function is not None else None
        call = owner.methods.get("call") if owner is not None else None
        if call is None or call is frame.function or frame.self_name is None:
            return False
        kept = {part.attr for part in nodes_of(body_of(call)) if _is_kept(part)}
        for expression in self._sources(set()) if kept else ():
            for part in nodes_of([expression]):
                if isinstance(part, ast.Attribute) and part.attr in kept:
                    held = frame.analysis.evaluate(part, frame)
                    if held.kind is TENSOR and not held.guess and not held.has_no_gradient:
                        return self.leaves_function()
        return False

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
        if self._trained and ast.unparse(func) in self._trained:
            return True
        target = self._frame.analysis.evaluate(func, self._frame)
        if target.kind is not INSTANCE:
            return False
        if isinstance(target.ref, ClassInfo):
            role = self._frame.analysis.classes.role(target.ref)
            return role is not None and role.kind in (LAYER, MODEL)
        return weights.is_layer_with_weights(target)

    def _watched(self) -> set[str]:
        """What a tape is told to watch, and what `tf.gradients(ys, xs)` differentiates by."""
        given = _watched_by(self._frame.function)
        given += [call.args[1] for call in self._symbolic() if len(call.args) > 1]
        given += [k.value for call in self._symbolic() for k in call.keywords if k.arg == "xs"]
        around = {
            name
            for info in self._around
            for argument in _watched_by(info)
            for name in names_in(argument)
        }
        return {name for argument in given for name in names_in(argument)} | (around - self._own)

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
        if role is not None and role.kind == MODEL and info.name == "compute_loss":
            return {"y_pred"}.intersection(names)
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
        if any(names_in(given) & reached for call in self._symbolic() for given in _ys(call)):
            return True
        return any(
            called_name(call) in ("gradient", "jacobian", "batch_jacobian")
            and bool(call.args)
            and bool(names_in(call.args[0]) & reached)
            for call in _calls(self._frame.function)
        )

    def reaches_jacobian(self) -> bool:
        """Whether the result flows into what a Jacobian is taken of, by a tape that records it."""
        if not self._frame.tapes:
            return False
        targets = jacobians.differentiated(self._frame.function)
        reached = self._reached() if targets else set()
        return any(names_in(target) & reached or self._is_in(target) for target in targets)

    def comes_from_parameters(self) -> bool:
        """Whether something of what flows in was passed to the function."""
        return bool(self.parameters())

    def leaves_function(self) -> bool:
        """Whether the result flows into what the function returns, or into a call made for what it does (`add_loss`)."""
        if self._frame.function is None:
            return True
        if isinstance(self._frame.function.node, ast.Lambda):
            return self._is_in(self._frame.function.node.body)
        reached = self._reached()
        for part in self._frame.function.carrying:
            if isinstance(part, (ast.Return, ast.Expr)) and part.value is not None:
                if names_in(part.value) & reached or self._is_in(part.value):
                    return True
        return False

    def _is_in(self, expression: ast.expr) -> bool:
        line: int = getattr(self._node, "lineno", 0)
        if not expression.lineno <= line <= (expression.end_lineno or line):
            return False
        return any(part is self._node for part in carrying(expression))

    def _reached(self) -> set[str]:
        """Names that carry the result, or what is computed from it, with its gradient."""
        reached = set(self._results)
        growing = True
        while growing:
            growing = False
            for targets, value in self._assignments:
                if not targets <= reached and (self._is_in(value) or names_in(value) & reached):
                    reached |= targets
                    growing = True
        return reached


def _ys(call: ast.Call) -> list[ast.expr]:
    return [*call.args[:1], *(k.value for k in call.keywords if k.arg == "ys")]


def _worked_on(node: ast.AST) -> list[ast.expr]:
    """What a call works on: sizes, indices and settings have no gradient."""
    keywords = [keyword.value for keyword in getattr(node, "keywords", ())]
    return [*getattr(node, "args", ()), *keywords][:1]
