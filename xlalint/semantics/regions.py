"""Regions: what is compiled, and by whom; what feeds it from the host; what nobody in the project calls.

The order matters. Module bodies come first, eagerly: they show who compiles what. Then everything that something compiles
(tf.function, Keras, strategies), and last the functions that nobody in the project calls, taken as compiled.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.callbacks.callables import Callee, callees
from xlalint.semantics.classes import (
    HOST_DATA,
    TRACED_METHODS,
    Role,
    converts,
    is_called_by_keras,
)
from xlalint.semantics.configured import is_flags, without_functions
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import ASSUMED, COMPILED, EAGER, Context
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo, FunctionInfo, ModuleInfo
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.tracing import host_signs, templates, uncalled
from xlalint.semantics.tracing.factories import Factories
from xlalint.semantics.tracing.heirs import Heirs
from xlalint.semantics.tracing.host_functions import ON_REPLICAS
from xlalint.semantics.tracing.root_runs import RootRuns
from xlalint.semantics.tracing.roots import Root
from xlalint.semantics.training import printing
from xlalint.semantics.training.devices import note_jit
from xlalint.semantics.values import (
    ARRIVING,
    FUNCTION,
    INSTANCE,
    PYTHON,
    SEQUENCE,
    TENSOR,
    TRUE,
    Value,
    class_name,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.configured import Given


# Of how many different settings the objects of a class are told apart.
_MOST_SETTINGS = 3
# For how many objects that are made with functions of their own a class is run, beside those of which nothing is known.
_MOST_FUNCTIONS = 8
# What only `fit` and its like run: Keras 3 turns AutoGraph off around it, and tf.map_fn converts nothing there either (2.21).
_RUN_BY_FIT = frozenset({"train_step", "test_step", "predict_step", "compute_loss"})
# What Keras calls losses and metrics with: batches, of at least one dimension.
_TRUE_AND_PREDICTED = (Value(TENSOR, ARRIVING, rank=1), Value(TENSOR, ARRIVING, rank=1))


class Regions:
    """Who compiles what: finds the roots, and runs them."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._host = analysis.host_functions
        # Methods under tf.function, by the class that defines them.
        self._traced_methods: dict[ClassInfo, list[FunctionInfo]] = {}
        # Functions that eager code runs under a gradient tape.
        self._trained: set[FunctionInfo] = set()
        # The settings that objects of a class were seen to be made with, and those that its methods were run for.
        self._made_with: dict[ClassInfo, dict[Given, None]] = {}
        self._run_with: dict[ClassInfo, dict[Given, None]] = {}
        self._heirs = Heirs(analysis.classes)
        self._factories = Factories(analysis)
        self._runs = RootRuns(analysis, self._factories)
        self._pending: list[Root] = []
        # What stands in functions that nobody was seen to call; None once these have been run.
        self._in_factories: list[Root] | None = []
        self._known_roots: set[Any] = set()

    def saw_trained(self, info: FunctionInfo) -> None:
        """What an eager step runs under its gradient tape is what a TPU has to compile, whoever wraps the step in the end."""
        self._trained.add(info)

    def trace_later(
        self,
        target: Value,
        why: tuple[str, ...],
        *,
        converted: bool,
        frame: Frame,
        jit: bool = False,
        arguments: tuple[Value, ...] | None = None,
    ) -> None:
        """A function that something will compile, with these arguments or with some that are not seen."""
        # Objects are made silently, and keep what they trace.
        constructs = frame.attributes is not None
        if frame.silent and not constructs:
            return
        for callee in callees(target, self._analysis):
            info = callee.function
            is_converted = converted and self._analysis.traits(info).never_converted is None
            context = Context(COMPILED, is_converted, jit, (*why, info.qualname), info, converted)
            self._add_root(callee, context, arguments)

    def run_on_replicas(self, target: Value, values: list[Value], frame: Frame) -> None:
        """`strategy.run(f, args)`: f is compiled; whoever calls it drives the replicas from the host."""
        self._host.saw_replicas_driven(self._analysis.functions.running)
        if frame.function is not None:
            self._host.saw_replicas_driven([frame.function])
        traced = frame.context.is_compiled
        data = tuple(_arriving(value, traced) for value in values)
        for callee in callees(target, self._analysis):
            info = callee.function
            is_converted = self._analysis.traits(info).never_converted is None
            context = Context(COMPILED, is_converted, False, (ON_REPLICAS, info.qualname))
            self._add_root(callee, context, data or None)

    def handed_to_keras(
        self, base: Value, arguments: Arguments, attr: str, node: ast.AST, frame: Frame
    ) -> None:
        """Losses and metrics passed to `compile`, `add_loss` and `add_metric` are traced by Keras."""
        options = arguments.keywords
        if attr == "fit":
            self._analysis.drivers.saw_fit(base, arguments, node, frame)
            self._analysis.scopes.saw_fit(base, frame)
            self._analysis.model_layers.saw_training(base, self.is_keras_2(base), frame)
            return
        if attr == "compile":
            self._analysis.drivers.saw_compile(arguments, node, frame)
            self._analysis.scopes.saw_compile(base, arguments, node, frame)
            self._analysis.eager_steps.saw_compile(arguments, node, frame)
            if options.get("jit_compile") == TRUE:
                self._compile_steps(base)
                self._analysis.model_layers.saw_jitted(base, frame)
                note_jit(frame, node, "Model.compile")
            # After the optimizer: the loss, and in Keras 2 the metrics, which in Keras 3 come one later.
            given = dict(enumerate(arguments.positional))
            metrics = given.get(2 if self._analysis.keras == "2" else 3)
            wanted = [
                options.get("loss", given.get(1)),
                options.get("metrics", metrics),
                options.get("weighted_metrics"),
            ]
        elif attr in ("add_loss", "add_metric"):
            wanted = list(arguments.positional[:1])
        else:
            return
        converted = self.is_keras_2(base)
        for value in wanted:
            parts = leaves(value) if value is not None else ()
            for leaf in parts:
                for callee in callees(leaf, self._analysis):
                    context = self._given_to_keras(callee.function, f"Model.{attr}", converted)
                    self._add_root(callee, context, _TRUE_AND_PREDICTED)

    def is_keras_2(self, model: Value) -> bool:
        """Whether a model is of Keras 2, or of tf_keras, which converts the losses and metrics it is given."""
        if self._analysis.keras == "2":
            return True
        if isinstance(model.ref, ClassInfo):
            role = self._analysis.classes.role(model.ref)
            return role is not None and role.legacy
        return (class_name(model) or "").startswith("tf_keras.")

    def _given_to_keras(self, info: FunctionInfo, why: str, converts: bool) -> Context:
        """How Keras runs a function: AutoGraph converts it where Keras `converts`, or where it is a tf.function itself."""
        own = self._analysis.traits(info)
        converted = own.autograph if own.tf_function else converts
        converted = converted and own.never_converted is None
        context = Context(COMPILED, converted, own.jit, (why, info.qualname))
        return context._replace(may_convert=converts or own.tf_function)

    def _compile_steps(self, model: Value) -> None:
        """Keras 2 lets AutoGraph convert `train_step` of a model compiled with jit_compile=True (facts: contexts)."""
        cls = model.ref
        if model.kind is not INSTANCE or not isinstance(cls, ClassInfo):
            return
        role = self._analysis.classes.role(cls)
        if role is None or not (role.legacy or self._analysis.keras == "2"):
            return
        for name in ("train_step", "test_step", "predict_step"):
            method = self._analysis.classes.method(cls, name)
            if method is not None and self._host.saw_jitted(method):
                context = Context(
                    COMPILED, True, True, ("Model.compile(jit_compile=True)", method.qualname)
                )
                context = context._replace(root=method)
                self._pending.append(Root(method, context, model, None, role_method=name))

    def _add_root(
        self,
        callee: Callee,
        context: Context,
        arguments: tuple[Value, ...] | None = None,
    ) -> None:
        key = (callee, context.key(), arguments)
        if key not in self._known_roots:
            self._known_roots.add(key)
            info = callee.function
            self._pending.append(
                Root(
                    info,
                    context._replace(root=info),
                    callee.bound,
                    arguments,
                    given=callee.by_parameter(),
                    closure=callee.closure,
                )
            )

    def run(self, modules: list[ModuleInfo]) -> None:
        """Analyse the target modules; `facts` holds what was seen."""
        serves = self._analysis.modules.frameworks.serves
        relevant = [m for m in modules if m.may_hold_findings or serves(m)]
        for module in relevant:
            self._analysis.modules.module_frame(module)
        for module in relevant:
            self._find_roots(module)
        for module in relevant:
            self._find_inherited(module)
        self._pending.sort(key=lambda root: _is_called_by_its_class(root.function))
        self._drain()
        self._run_host_functions(relevant)
        self._run_uncalled(relevant)
        self._run_training_loops(relevant)
        self._run_handed_to_host()
        self._analysis.gradients.judge()
        self._analysis.loop_gradients.judge()
        self._analysis.traced_before.judge()
        self._analysis.recurrent_layers.judge()
        self._host.settle()
        printing.settle(self._analysis)
        self._analysis.drivers.judge()
        self._analysis.setups.judge()
        self._analysis.eager_steps.judge()
        self._analysis.batches.judge()
        self._analysis.node_inputs.judge()
        self._analysis.rates.judge()
        self._analysis.scopes.judge()
        self._analysis.precision.judge(modules, has_models=self._analysis.drivers.compiles_models)

    def _run_host_functions(self, modules: list[ModuleInfo]) -> None:
        """Run what feeds, configures and drives training, eagerly: it says who compiles what."""
        for module in modules:
            makes_data = ".map(" in module.text
            for info in module.functions:
                if info in self._analysis.functions.visited:
                    continue
                names_it = info not in self._host and host_signs.names_host_work(info.name)
                if names_it or (makes_data and self._makes_data(info)):
                    context = Context(EAGER, False, False, (info.qualname,))
                    self._runs.run(Root(info, context, _self_of(info)))
        self._drain()
        if self._in_factories is not None:
            self._pending, self._in_factories = self._in_factories, None
            self._drain()

    def _run_uncalled(self, modules: list[ModuleInfo]) -> None:
        """Run library functions as compiled; those that their class leaves unfinished, for the classes that finish them, too."""
        heirs = templates.heirs(modules, self._analysis.classes)
        for function in uncalled.in_order(modules, self._analysis):
            self._run_handed_to_host()
            if function not in self._host and self._may_be_called_otherwise(function):
                met = len(self._analysis.functions.visited)
                if self._run_assumed(function, _self_of(function)):
                    self._host.add(function)
                if function not in self._host:
                    self._run_for_heirs(function, heirs.get(function, ()))
                if function in self._host:
                    self._analysis.functions.forget_visits(met + 1)
                self._drain()

    def _run_for_heirs(self, function: FunctionInfo, heirs: Sequence[ClassInfo]) -> None:
        """Run what a class leaves unfinished for those that finish it. Where one of them does the host's work, that is said of its own part."""
        for cls in heirs:
            if not self._heirs.adds(cls, function):
                continue
            met = len(self._analysis.functions.visited)
            if self._run_assumed(function, Value(INSTANCE, ref=cls)):
                self._host.add_parts(function, self._parts_of(cls, function))
                self._analysis.functions.forget_visits(met)

    def _parts_of(self, cls: ClassInfo, function: FunctionInfo) -> list[FunctionInfo]:
        """The methods of an heir that an inherited method calls on itself, and that are not of the class that it stands in."""
        called = (self._analysis.classes.method(cls, name) for name in _called_on_self(function))
        return [m for m in called if m is not None and m.cls is not function.cls]

    def _run_training_loops(self, modules: list[ModuleInfo]) -> None:
        """Run what counts epochs, eagerly, and last: its steps may be compiled in ways that are not seen, and were judged so."""
        for module in modules:
            for info in module.functions:
                if info not in self._analysis.functions.visited and (
                    host_signs.drives_training(info)
                ):
                    context = Context(EAGER, False, False, (info.qualname,))
                    self._runs.run(Root(info, context, _self_of(info)))
        self._drain()

    def _makes_data(self, info: FunctionInfo) -> bool:
        """Whether a function is a method of a class that makes batches: what it maps over them is on the host with it."""
        role = self._analysis.classes.role(info.cls) if info.cls is not None else None
        return role is not None and role.kind == HOST_DATA

    def _run_handed_to_host(self) -> None:
        """Run what tf.data was given, eagerly: helpers that nobody else calls are on the host with it."""
        for info in self._host.not_yet_run():
            context = Context(EAGER, False, False, (info.qualname,))
            self._runs.run(Root(info, context, _self_of(info)))

    def _find_roots(self, module: ModuleInfo) -> None:
        for info in module.functions:
            own = self._analysis.traits(info)
            if (
                own.tf_function
                and not own.jit
                and info.cls
                and uncalled.is_host_class(info.cls, self._analysis)
            ):
                self._host.add(info)  # a graph that tf.data runs: nothing asks XLA to compile it
            elif own.tf_function:
                self._add_tf_function(info, _self_of(info))
                if info.cls is not None:
                    self._traced_methods.setdefault(info.cls, []).append(info)
            if own.is_host:
                self._host.add(info)
        # `self.step = tf.function(self._step)`, `self._data = data.map(self._parse)`.
        hands_on = ".function(" in module.text or ".map(" in module.text
        for cls in module.classes:
            self._find_class_roots(cls)
            if (
                hands_on
                and "__init__" in cls.methods
                and not uncalled.is_host_class(cls, self._analysis)
            ):
                self._analysis.objects.instance_attribute(cls, "")

    def _find_inherited(self, module: ModuleInfo) -> None:
        """A method under tf.function that a class inherits calls what the class overrides: it is traced again for it."""
        for cls in module.classes if self._traced_methods else ():
            if (
                uncalled.is_host_class(cls, self._analysis)
                or not cls.methods.keys() - host_signs.NEVER_TRACED
            ):
                continue
            seen = set(cls.methods)
            for ancestor in self._analysis.classes.line(cls)[1:]:
                for method in self._traced_methods.get(ancestor, ()):
                    calls_it = method.name not in seen and _calls_one_of(method, cls.methods)
                    if calls_it and self._heirs.adds(cls, method):
                        self._add_tf_function(method, Value(INSTANCE, ref=cls))
                seen.update(ancestor.methods)

    def _add_tf_function(self, info: FunctionInfo, bound: Value | None) -> None:
        own = self._analysis.traits(info)
        reached = own.autograph or self._is_rewritten(info)
        converted = reached and own.never_converted is None
        why = (f"@tf.function {info.qualname}",)
        context = Context(COMPILED, converted, own.jit, why, info, reached)
        for closure in self._analysis.modules.closures.first_of(info):
            self._add_root(Callee(info, bound, closure=closure), context)

    def _is_rewritten(self, info: FunctionInfo) -> bool:
        """Whether it is defined in a function that AutoGraph converts, and the text of it with that (`call_contexts.py`)."""
        around = info.parent
        while around is not None:
            own = self._analysis.traits(around)
            if own.tf_function:
                return own.autograph and own.never_converted is None
            around = around.parent
        return False

    def _find_class_roots(self, cls: ClassInfo) -> None:
        role = self._analysis.classes.role(cls)
        if role is None:
            return
        if uncalled.is_host_class(cls, self._analysis):
            self._host.add(*uncalled.host_methods(cls, self._analysis))
            return
        seen = self._made_with.get(cls, {})
        if len(seen) > _MOST_SETTINGS:
            seen = dict.fromkeys(without_functions(given) for given in seen)
        if () in seen or len(seen) > _MOST_SETTINGS:
            lacking = [given for given in seen if self._lacks_kernel(cls, given)]
            seen = dict.fromkeys(((), *lacking[:_MOST_FUNCTIONS]))
        self._run_with[cls] = seen or {(): None}
        for given in self._run_with[cls]:
            self._add_class_roots(cls, role, given)

    def saw_object(self, cls: ClassInfo, given: Given, frame: Frame) -> None:
        """An object is made with these settings: where every one has some that are known, Keras meets no others."""
        if given and uncalled.is_host_class(cls, self._analysis):
            for _, value in given:
                self._host.mark(value)
            return
        maker = frame.self_value
        if maker is not None and frame.attributes is not None and not maker.given:
            if () not in self._made_with.get(maker.ref, {(): None}):
                return  # made by an object without settings, of which there are none
        self._made_with.setdefault(cls, {})[given] = None
        run_with = self._run_with.get(cls)
        if run_with is None or given in run_with:
            return
        if () in run_with and (is_flags(given) or len(run_with) > _MOST_FUNCTIONS):
            if len(run_with) > _MOST_FUNCTIONS or not self._lacks_kernel(cls, given):
                return
        run_with[given] = None
        role = self._analysis.classes.role(cls)
        if role is not None:
            self._add_class_roots(cls, role, given)

    def _lacks_kernel(self, cls: ClassInfo, given: Given) -> bool:
        return bool(given) and self._analysis.configurations.lacks_kernel(cls, given)

    def _add_class_roots(self, cls: ClassInfo, role: Role, given: Given) -> None:
        overrides = cls.methods.keys() - host_signs.NEVER_TRACED
        for name in TRACED_METHODS.get(role.kind, ()):
            if name == "call":
                name = self._analysis.classes.called_as(cls, role.kind)
            # An inherited method calls what this class overrides: it is traced again for this class.
            method = (
                self._analysis.classes.method(cls, name) if overrides else cls.methods.get(name)
            )
            if method is None or self._analysis.traits(method).tf_function:
                continue
            if not is_called_by_keras(name, method):
                continue
            made = Value(INSTANCE, ref=cls, given=given)
            if method.cls is cls or given or self._heirs.adds(cls, method):
                self._add_keras_root(made, method, role, name)
            elif name == "train_step":
                # Training hands its labels to `call`, which is traced with them for each class.
                context = self._keras_context(cls, method, role, name)
                context = context._replace(root=method)
                self._analysis.inherited_steps.add(method, made, context)

    def _keras_context(
        self, cls: ClassInfo, method: FunctionInfo, role: Role, name: str
    ) -> Context:
        own = self._analysis.traits(method)
        converted = converts(role, name, self._analysis.keras) and own.never_converted is None
        is_keras_3 = role.is_of_keras_3(self._analysis.keras)
        who = "Keras 3" if is_keras_3 else "Keras"
        context = Context(
            COMPILED, converted, False, (f"{who} traces {role.kind} {cls.name}", method.qualname)
        )
        return context._replace(may_convert=not (is_keras_3 and name in _RUN_BY_FIT))

    def _add_keras_root(self, made: Value, method: FunctionInfo, role: Role, name: str) -> None:
        context = self._keras_context(made.ref, method, role, name)
        key = (method, context.key(), made)
        if key not in self._known_roots:
            self._known_roots.add(key)
            self._pending.append(
                Root(
                    method,
                    context._replace(root=method),
                    made,
                    None,
                    role_method=name,
                )
            )

    def _drain(self) -> None:
        """Run roots, those they add, and calls that nested too deep, until none is left."""
        while self._pending or self._analysis.functions.put_off:
            root = (
                self._pending.pop(0) if self._pending else self._analysis.functions.put_off.pop(0)
            )
            if self._in_factories is None or self._factories.was_run(root.function):
                self._runs.run(root)
            else:
                self._in_factories.append(root)
            if not self._pending:
                self._analysis.inherited_steps.run()

    def _may_be_called_otherwise(self, info: FunctionInfo) -> bool:
        """Whether nobody in the project was seen to call a function, or a package makes it for others to call as well."""
        if info in self._trained:
            return True
        is_met = info in self._analysis.functions.visited
        if is_met and info in self._analysis.graph_bodies and len(info.parameter_names) == 1:
            return False  # a step of a loop, in which some things are right that are wrong outside of it
        is_own = info.name.startswith("_") and info.name != "__call__"
        if info.cls is not None and not is_met and is_own:
            # Its own class calls it, and did not with any setting that objects are made with.
            seen = self._made_with.get(info.cls, {(): None})
            is_met = () not in seen and not self._analysis.modules.exports.name(info.cls)
        return not is_met or self._analysis.modules.exports.hold(info)

    def _run_assumed(self, info: FunctionInfo, bound: Value | None) -> bool:
        """Run a function as compiled; whether it does the host's work."""
        why: tuple[str, ...] = (info.qualname,)
        if not info.module.may_hold_findings:  # nothing in its text says that it is TensorFlow's
            why = (f"{info.module.name.partition('.')[0]} on TensorFlow", *why)
        context = Context(
            ASSUMED, self._analysis.traits(info).never_converted is None, False, why, info
        )
        return self._runs.run(Root(info, context, bound))


def _calls_one_of(method: FunctionInfo, names: Container[str]) -> bool:
    """Whether a method calls `self.name(...)` for one of these names."""
    return any(name in names for name in _called_on_self(method))


def _called_on_self(method: FunctionInfo) -> Iterator[str]:
    """The names of methods that a method calls: `self.name(...)`."""
    for node in nodes_of(method.body):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if isinstance(node.func.value, ast.Name):
                yield node.func.attr


def _self_of(info: FunctionInfo) -> Value | None:
    return Value(INSTANCE, ref=info.cls) if info.cls is not None else None


def _arriving(value: Value, traced: bool) -> Value:
    """What strategy.run passes on is data, whatever it was outside; in a function that is `traced`, what it is there."""
    if value.kind is SEQUENCE:
        return value._replace(ref=tuple(_arriving(v, traced) for v in value.ref))
    if value.kind in (PYTHON, INSTANCE, FUNCTION) or (traced and value.is_tensor and value.sure):
        return value
    if value.is_composite:
        return value._replace(dependence=max(value.dependence, ARRIVING))
    return Value(TENSOR, ARRIVING, structured=True)


def _is_called_by_its_class(info: FunctionInfo) -> bool:
    """Whether other methods call this one: they are run first, and tell what it is given."""
    callers = _callers_in(info.cls).get(info.name) if info.cls is not None else None
    return callers is not None and bool(callers - {info})


@lru_cache(maxsize=64)
def _callers_in(cls: ClassInfo) -> dict[str, set[FunctionInfo]]:
    """Which methods of a class call something of a name."""
    callers: dict[str, set[FunctionInfo]] = {}
    for method in cls.methods.values():
        for call in method.calls:
            callers.setdefault(called_name(call), set()).add(method)
    return callers
