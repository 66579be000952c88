"""The analysis of a project: runs module bodies, compiled functions and library functions abstractly, and keeps facts.

The order matters. Module bodies come first, eagerly: they show who compiles what. Then everything that something compiles
(tf.function, Keras, strategies), and last the functions that nobody in the project calls, taken as compiled.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlalint.semantics import builtin_calls, expressions, flow, parameters
from xlalint.semantics.catalog import Catalog
from xlalint.semantics.classes import (
    CALLBACK,
    HOST_DATA,
    TEST,
    TRACED_METHODS,
    ClassTable,
    Role,
    converts,
)
from xlalint.semantics.facts import ASSUMED, COMPILED, EAGER, JIT_ON, Context, Fact, ModuleFacts
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo, FunctionInfo, ModuleInfo, Project
from xlalint.semantics.installed import InstalledClasses
from xlalint.semantics.names import canonical
from xlalint.semantics.traits import Traits, read_traits
from xlalint.semantics.values import (
    ARRIVING,
    CLASS,
    COLLECTION,
    DEFERRED,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    LIKELY_DATA,
    MAPPING,
    NONE,
    NOTHING_KNOWN,
    PROJECT_MODULE,
    PYTHON,
    SEQUENCE,
    SOME_PYTHON,
    TENSOR,
    TRUE,
    Value,
    join,
    join_all,
    leaves,
)

if TYPE_CHECKING:
    from xlalint.semantics.calls import Arguments

# Bounds that keep the cost linear: a function is run for so many different arguments, and calls nest so deep, before
# results are reused or put off.
_MOST_CONTEXTS = 6
_MOST_DEPTH = 40
# A function that calls itself is run twice within itself; one that is run for objects under construction, which are not
# remembered, this often in all.
_MOST_RECURSION = 2
_MOST_RUNS = 60

# Library functions whose names say that they feed, load or show data: host code unless something compiles them.
_HOST_NAMES = re.compile(
    r"(^|_)(parse|decode|preprocess\w*|load|loads|read|reader|download|plot|draw|visuali[sz]e|serialize|deserialize|export|write|"
    r"save|restore|dataset|datasets|input_fn|tokeni[sz]e\w*|main|fetch|print|show|to_list|to_numpy|as_numpy|numpy|report|summary|summarize|log|debug|register|"
    r"generator|collate\w*|convert_\w+_checkpoint\w*|augment_dataset|run_experiment|setup|configure)(_|$)"
)
# Modules that hold nothing but host code, by the names that packages give them.
_HOST_MODULES = re.compile(
    r"^(tokenization|image_processing|feature_extraction|data_collator|convert|run)(_|$)|"
    r"(^|_)(dataset|datasets|dataloader|data_loader|data_utils|input_pipeline|data_pipeline|io_utils|visuali[sz]ation"
    r"(_utils)?|plotting|plot)$"
)
_NEVER_TRACED = frozenset(
    {
        "build",
        "get_config",
        "from_config",
        "compute_output_shape",
        "compute_output_spec",
        "setUp",
        "tearDown",
    }
)


@dataclass(frozen=True, slots=True)
class Root:
    """A function that something compiles (or that is taken as compiled), and what it is called with."""

    function: FunctionInfo
    context: Context
    self_value: Value | None = None
    arguments: tuple[Value, ...] | None = None
    role_method: str | None = None


@dataclass(slots=True)
class _Runs:
    """How often a function has been run, and how often it is being run right now."""

    active: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """A function that the analysis itself broke on: a bug of ours, which must not cost the user the other findings."""

    module: ModuleInfo
    line: int
    function: str
    error: Exception


class Analysis:
    """Everything known of one project. Build it with all target modules, call `run`, then read `facts`."""

    def __init__(
        self, project: Project, catalog: Catalog, keras: str, installed: Iterable[Path] = ()
    ) -> None:
        self.project = project
        self.catalog = catalog
        self.keras = keras
        self.saw_tpu = False
        self.facts: dict[ModuleInfo, ModuleFacts] = {}
        self.failures: list[Failure] = []
        self.classes = ClassTable(self._evaluate_base)
        self._installed = InstalledClasses(list(installed))
        self._module_frames: dict[ModuleInfo, Frame] = {}
        self._traits: dict[FunctionInfo, Traits] = {}
        self._closures: dict[FunctionInfo | ClassInfo, Frame] = {}
        self._attributes: dict[ClassInfo, dict[str, Value]] = {}
        self._memo: dict[FunctionInfo, dict[Any, tuple[Value, bool]]] = {}
        self._running: list[FunctionInfo] = []
        self._runs: dict[FunctionInfo, _Runs] = defaultdict(_Runs)
        self._visited: set[FunctionInfo] = set()
        self._host: set[FunctionInfo] = set()
        self._handed_to_host: set[FunctionInfo] = set()
        self._jitted_steps: set[FunctionInfo] = set()
        self._forced_host: set[FunctionInfo] = set()
        self._drives_replicas: set[FunctionInfo] = set()
        self._pending: list[Root] = []
        self._known_roots: set[Any] = set()
        self._put_off: list[Root] = []

    # --- what the evaluator asks for -------------------------------------------------------------------------------

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        return expressions.evaluate(node, frame)

    def bind(self, target: ast.expr, value: Value, frame: Frame) -> None:
        flow.bind(target, value, frame)

    def note(
        self, frame: Frame, node: ast.AST, kind: str, value: Value, detail: Any = None
    ) -> None:
        """Keep a fact, when the code it is about is compiled."""
        if not frame.silent and frame.context.is_compiled:
            self._keep(frame, node, kind, value, detail)

    def note_anywhere(
        self, frame: Frame, node: ast.AST, kind: str, value: Value, detail: Any = None
    ) -> None:
        """Keep a fact about a call that configures compilation, wherever it runs."""
        self._keep(frame, node, kind, value, detail)

    def _keep(self, frame: Frame, node: ast.AST, kind: str, value: Value, detail: Any) -> None:
        module = frame.module
        if module.is_target and not module.is_test:
            facts = self.facts.get(module)
            if facts is None:
                facts = self.facts[module] = ModuleFacts(module)
            facts.add(node, Fact(kind, value, frame.context, frame.function, detail))

    # --- names -----------------------------------------------------------------------------------------------------

    def global_name(self, module: ModuleInfo, name: str) -> Value:
        """The value of a module-level name, or of a builtin."""
        frame = self.module_frame(module)
        value = frame.names.get(name)
        if value is None:
            value = self._defined_later(module, name)
        if value is None:
            return (
                Value(EXTERNAL, ref=f"builtins.{name}")
                if name in builtin_calls.NAMES
                else NOTHING_KNOWN
            )
        if value.kind is DEFERRED:
            value = frame.names[name] = self.resolved(value)
        return value

    def _defined_later(self, module: ModuleInfo, name: str) -> Value | None:
        """A function or class of a module whose body is still being run (modules that import each other)."""
        for statement in module.tree.body:
            if getattr(statement, "name", None) == name:
                info = module.by_node.get(statement)
                if isinstance(info, FunctionInfo):
                    return Value(FUNCTION, ref=info)
                if isinstance(info, ClassInfo):
                    return Value(CLASS, ref=info)
        return None

    def resolved(self, value: Value) -> Value:
        """What a name imported with `from source import name` stands for."""
        return self.imported_from(*value.ref) if value.kind is DEFERRED else value

    def imported(self, dotted: str) -> Value:
        module = self.project.module(dotted)
        return (
            Value(PROJECT_MODULE, ref=module)
            if module is not None
            else Value(EXTERNAL, ref=canonical(dotted))
        )

    def imported_from(self, source: str, name: str) -> Value:
        module = self.project.module(source)
        if module is None:
            inner = self.project.module(f"{source}.{name}")
            if inner is not None:
                return Value(PROJECT_MODULE, ref=inner)
            return Value(EXTERNAL, ref=canonical(f"{source}.{name}"))
        return self.module_member(module, name)

    def module_member(self, module: ModuleInfo, name: str) -> Value:
        frame = self.module_frame(module)
        if name in frame.names:
            value = frame.names[name]
            if value.kind is DEFERRED:
                if value.ref == (module.name, name):
                    return NOTHING_KNOWN
                frame.names[name] = (
                    NOTHING_KNOWN  # names that import each other in a circle end here
                )
                value = frame.names[name] = self.resolved(value)
            return value
        inner = self.project.module(f"{module.name}.{name}") if module.is_package else None
        if inner is not None:
            return Value(PROJECT_MODULE, ref=inner)
        later = self._defined_later(module, name)
        return later if later is not None else NOTHING_KNOWN

    def exported(self, source: str) -> dict[str, Value]:
        """What `from source import *` binds."""
        module = self.project.module(source)
        if module is None:
            return {}
        return {
            name: Value(DEFERRED, ref=(source, name))
            for name in self.module_frame(module).names
            if not name.startswith("_") and "." not in name
        }

    def module_frame(self, module: ModuleInfo) -> Frame:
        """The frame of a module's body, run on first use."""
        frame = self._module_frames.get(module)
        if frame is None:
            frame = Frame(self, module, None, Context(EAGER, False))
            self._module_frames[module] = frame
            frame.names["__name__"] = SOME_PYTHON
            try:
                flow.run_block(module.tree.body, frame)
            except RecursionError:
                pass
            except Exception as error:
                self.failures.append(Failure(module, 1, "<module>", error))
        return frame

    def close_over(self, info: FunctionInfo, frame: Frame) -> None:
        """Remember the frame in which a nested function or lambda was defined."""
        if frame.function is not None:
            self._closures[info] = frame

    def close_over_class(self, info: ClassInfo, frame: Frame) -> None:
        if frame.function is not None:
            self._closures[info] = frame

    def _evaluate_base(self, expression: ast.expr, cls: ClassInfo) -> Value:
        frame = self._closures.get(cls) or self.module_frame(cls.module)
        if isinstance(expression, ast.Subscript):
            expression = expression.value  # Generic[T]
        value = self.evaluate(expression, frame)
        if value.kind is EXTERNAL:
            base = self._installed.keras_base(str(value.ref))
            return Value(EXTERNAL, ref=base) if base is not None else value
        return value

    # --- classes and instances -------------------------------------------------------------------------------------

    def traits(self, info: FunctionInfo) -> Traits:
        found = self._traits.get(info)
        if found is None:
            self._traits[info] = Traits()  # a decorator that leads back here sees a plain function
            frame = self._closures.get(info) or self.module_frame(info.module)
            found = self._traits[info] = read_traits(info, frame)
            if found.jit_node is not None:
                context = Context(
                    COMPILED, found.autograph, True, (f"@tf.function {info.qualname}",)
                )
                note = Frame(self, info.module, info, context)
                self._keep(note, found.jit_node, JIT_ON, NOTHING_KNOWN, "tf.function")
        return found

    def instance_attribute(self, cls: ClassInfo, name: str) -> Value | None:
        """What `__init__` and `build` leave in an attribute; None when they do not set it."""
        if cls not in self._attributes:
            self._attributes[cls] = {}
            self._attributes[cls] = self._construct(cls)
        return self._attributes[cls].get(name)

    def _construct(self, cls: ClassInfo) -> dict[str, Value]:
        collected: dict[str, Value] = {}
        self_value = Value(INSTANCE, ref=cls)
        for name in ("__init__", "__post_init__", "build", "setup"):
            method = self.classes.method(cls, name)
            if method is None:
                continue
            frame = self._frame_of(method, Context(EAGER, False), self_value, 1)
            frame.silent = True
            frame.attributes = collected
            frame.names.update(self._free_parameters(method, frame, assumed=False))
            if self_value is not None and frame.self_name is not None:
                frame.names[frame.self_name] = self_value
            flow.run_block(_body(method), frame)
        return {name: _as_attribute(value) for name, value in collected.items()}

    def construct(self, cls: ClassInfo, arguments: Arguments, frame: Frame) -> None:
        """An object made while tracing keeps the tensors that it is given."""
        values = (*arguments.positional, *arguments.keywords.values())
        if not frame.context.is_compiled or not any(
            leaf.is_tensor for v in values for leaf in leaves(v)
        ):
            return
        method = self.classes.method(cls, "__init__")
        if method is None or method in self._running:
            return
        self_value = Value(INSTANCE, ref=cls)
        inner = self._frame_of(method, Context(EAGER, False), self_value, frame.depth + 1)
        inner.silent = True
        inner.attributes = {}
        self._bind_parameters(
            method,
            list(arguments.positional),
            arguments.keywords,
            self_value,
            inner,
            arguments.open_ended,
        )
        self._running.append(method)
        flow.run_block(_body(method), inner)
        self._running.pop()
        for name, value in inner.attributes.items():
            self.keep_attribute(cls, name, value)

    def keep_attribute(self, cls: ClassInfo, name: str, value: Value) -> None:
        """A tensor that a method puts into an attribute while tracing."""
        if not value.is_tensor:
            return
        known = self.instance_attribute(cls, name)
        usable = known is not None and known.is_tensor
        self._attributes[cls][name] = join(known, value) if known is not None and usable else value

    def class_attribute(self, cls: ClassInfo, name: str) -> Value | None:
        found = self.classes.assignment(cls, name)
        if found is None:
            return None
        expression, owner = found
        return _as_attribute(self.evaluate(expression, self.module_frame(owner.module)))

    def call_instance(
        self, target: Value, arguments: Arguments, node: ast.AST, frame: Frame
    ) -> Value:
        """Call an object of a project class: Keras objects go through Keras, which decides whether AutoGraph converts."""
        cls: ClassInfo = target.ref
        role = self.classes.role(cls)
        if role is not None and role.kind in TRACED_METHODS:
            method = self.classes.method(cls, "call")
            if method is None:
                return Value(TENSOR, ARRIVING, structured=True)
            if not frame.context.is_compiled:
                return Value(TENSOR, ARRIVING, structured=True)
            converted = frame.context.may_convert and converts(role, "call", self.keras)
            result = self.invoke(
                method, list(arguments.positional), arguments.keywords, target, frame,
                open_ended=arguments.open_ended, converted=converted,
            )  # fmt: skip
            return result if result != NONE else NOTHING_KNOWN
        method = self.classes.method(cls, "__call__")
        if method is None:
            return NOTHING_KNOWN
        return self.invoke(
            method,
            list(arguments.positional),
            arguments.keywords,
            target,
            frame,
            open_ended=arguments.open_ended,
        )

    # --- running functions -----------------------------------------------------------------------------------------

    def invoke_value(
        self,
        target: Value,
        values: list[Value],
        frame: Frame,
        *,
        converted: bool | None = None,
        keywords: dict[str, Value] | None = None,
    ) -> Value:
        """Call a FUNCTION value."""
        info, bound = target.ref if isinstance(target.ref, tuple) else (target.ref, None)
        return self.invoke(info, values, keywords or {}, bound, frame, converted=converted)

    def invoke(
        self,
        info: FunctionInfo,
        positional: list[Value],
        keywords: dict[str, Value],
        self_value: Value | None,
        frame: Frame,
        *,
        open_ended: bool = False,
        converted: bool | None = None,
    ) -> Value:
        """The value that a call of a project function returns; what is seen on the way is noted for its context."""
        context = self._context_of_call(info, frame, converted)
        key = (
            context.key(),
            self_value,
            tuple(positional),
            tuple(sorted(keywords.items())),
            frame.silent,
        )
        collects = frame.attributes is not None and self_value == Value(
            INSTANCE, ref=_class_of(frame)
        )
        known = self._memo.setdefault(info, {})
        if not collects:
            if key in known:
                value, touches_host = known[key]
                frame.touches_host = frame.touches_host or touches_host
                return value
            if len(known) >= _MOST_CONTEXTS:
                return _reused(known)
        runs = self._runs[info]
        if runs.active >= _MOST_RECURSION or runs.total >= _MOST_RUNS:
            return _reused(known)
        if frame.depth >= _MOST_DEPTH or len(self._running) >= _MOST_DEPTH:
            self._put_off.append(Root(info, context, self_value, tuple(positional)))
            return NOTHING_KNOWN
        inner = self._frame_of(info, context, self_value, frame.depth + 1)
        inner.silent = frame.silent
        if (collects and info.name in ("__init__", "build")) or (collects and info.cls is not None):
            inner.attributes = frame.attributes
        self._bind_parameters(info, positional, keywords, self_value, inner, open_ended)
        self._running.append(info)
        runs.active, runs.total = runs.active + 1, runs.total + 1
        try:
            value = self._run(info, inner)
        finally:
            self._running.pop()
            runs.active -= 1
        if context.is_compiled or context.region == EAGER:
            self._visited.add(info)
        frame.touches_host = frame.touches_host or inner.touches_host
        frame.reads_files = frame.reads_files or inner.reads_files
        known[key] = (value, inner.touches_host)
        return value

    def _context_of_call(self, info: FunctionInfo, frame: Frame, converted: bool | None) -> Context:
        own = self.traits(info)
        here = frame.context
        if not here.is_compiled:
            if own.tf_function and not frame.silent:
                why = (*here.why, f"@tf.function {info.qualname}")
                converts_it = own.autograph and own.never_converted is None
                return Context(COMPILED, converts_it, own.jit, why, info, own.autograph)
            return Context(EAGER, False, False, (*here.why, info.qualname)[-6:])
        allowed = (
            own.autograph
            if own.tf_function
            else (here.converted if converted is None else converted)
        )
        return Context(
            here.region,
            allowed and own.never_converted is None,
            here.jit or own.jit,
            here.why if here.why and here.why[-1] == info.qualname else (*here.why, info.qualname),
            here.root,
            self._may_convert(own, here),
        )

    @staticmethod
    def _may_convert(own: Traits, here: Context) -> bool:
        if own.tf_function:
            return own.autograph
        return here.may_convert and own.never_converted != "do_not_convert"

    def _frame_of(
        self, info: FunctionInfo, context: Context, self_value: Value | None, depth: int
    ) -> Frame:
        frame = Frame(self, info.module, info, context, outer=self._closures.get(info), depth=depth)
        if self_value is not None and info.cls is not None and not self.traits(info).is_static:
            arguments = info.node.args
            first = (*arguments.posonlyargs, *arguments.args)
            frame.self_value = self_value
            frame.self_name = first[0].arg if first else None
        return frame

    def _run(self, info: FunctionInfo, frame: Frame) -> Value:
        if isinstance(info.node, ast.Lambda):
            return self.evaluate(info.node.body, frame)
        ends = flow.run_block(info.node.body, frame)
        if info.is_generator:
            return NOTHING_KNOWN
        if ends:
            frame.returned.append(NONE)
        return join_all(tuple(frame.returned)) if frame.returned else NOTHING_KNOWN

    def _bind_parameters(
        self,
        info: FunctionInfo,
        positional: list[Value],
        keywords: dict[str, Value],
        self_value: Value | None,
        frame: Frame,
        open_ended: bool,
    ) -> None:
        arguments = info.node.args
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        if (
            frame.self_name is not None
            and frame.self_value is not None
            and names
            and names[0] == frame.self_name
        ):
            frame.names[names[0]] = frame.self_value
            names = names[1:]
        elif self.traits(info).is_classmethod and names:
            frame.names[names[0]] = (
                Value(CLASS, ref=info.cls) if info.cls is not None else NOTHING_KNOWN
            )
            names = names[1:]
        defaults = self._defaults(info)
        for position, name in enumerate(names):
            if position < len(positional):
                frame.names[name] = positional[position]
            elif name in keywords:
                frame.names[name] = keywords[name]
            else:
                frame.names[name] = (
                    NOTHING_KNOWN if open_ended else defaults.get(name, NOTHING_KNOWN)
                )
        for extra in arguments.kwonlyargs:
            given = keywords.get(extra.arg)
            frame.names[extra.arg] = (
                given
                if given is not None
                else NOTHING_KNOWN
                if open_ended
                else defaults.get(extra.arg, NOTHING_KNOWN)
            )
        if arguments.vararg is not None:
            rest = tuple(positional[len(names) :])
            frame.names[arguments.vararg.arg] = (
                Value(SEQUENCE, ref=rest) if rest else Value(COLLECTION)
            )
        if arguments.kwarg is not None:
            known = set(names) | {a.arg for a in arguments.kwonlyargs}
            pairs = tuple((k, v) for k, v in keywords.items() if k not in known)
            frame.names[arguments.kwarg.arg] = Value(MAPPING, ref=pairs)

    def _defaults(self, info: FunctionInfo) -> dict[str, Value]:
        """Default values; constants only, as anything else is evaluated where the function was defined."""
        arguments = info.node.args
        named = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        frame = self._closures.get(info) or self.module_frame(info.module)
        found = {
            name: self.evaluate(default, frame)
            for name, default in zip(
                named[len(named) - len(arguments.defaults) :], arguments.defaults
            )
        }
        for extra, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
            if default is not None:
                found[extra.arg] = self.evaluate(default, frame)
        return found

    def _free_parameters(
        self, info: FunctionInfo, frame: Frame, *, assumed: bool, role_method: str | None = None
    ) -> dict[str, Value]:
        """What parameters hold in a call that is not seen: by protocol, annotation, default, name and use."""
        arguments = info.node.args
        named = [*arguments.posonlyargs, *arguments.args]
        if frame.self_name is not None and named and named[0].arg == frame.self_name:
            named = named[1:]
        defaults: dict[str, ast.expr | None] = {}
        for parameter, default in zip(reversed(named), reversed(arguments.defaults)):
            defaults[parameter.arg] = default
        for extra, given in zip(arguments.kwonlyargs, arguments.kw_defaults):
            defaults[extra.arg] = given
        used = parameters.used_as_tensor(info, frame) if assumed else set()
        found: dict[str, Value] = {}
        for position, parameter in enumerate([*named, *arguments.kwonlyargs]):
            found[parameter.arg] = self._free_parameter(
                info, parameter, defaults, used, frame, assumed, role_method, position == 0
            )
        if arguments.vararg is not None:
            found[arguments.vararg.arg] = Value(COLLECTION)
        if arguments.kwarg is not None:
            found[arguments.kwarg.arg] = Value(MAPPING)
        return found

    def _free_parameter(
        self,
        info: FunctionInfo,
        parameter: ast.arg,
        defaults: dict[str, ast.expr | None],
        used: set[str],
        frame: Frame,
        assumed: bool,
        role_method: str | None,
        first: bool,
    ) -> Value:
        name = parameter.arg
        default = defaults.get(name)
        annotated = parameters.from_annotation(parameter.annotation, frame)
        if annotated is None or annotated.is_tensor or annotated == NOTHING_KNOWN:
            promised = parameters.of_call(info, name, role_method, first)
            if promised is not None:
                return promised
        by_default = parameters.from_default(default)
        if by_default is not None and by_default.kind is PYTHON:
            return by_default
        is_none = isinstance(default, ast.Constant) and default.value is None
        if annotated is not None and annotated != NOTHING_KNOWN:
            return annotated._replace(optional=True) if is_none else annotated
        if by_default is not None:
            return by_default
        inferred = LIKELY_DATA if name in used else None
        if inferred is None and assumed and (used or role_method is not None):
            inferred = parameters.by_name(name)
        is_traced = frame.context.region == COMPILED and role_method is None
        if inferred is None and assumed and default is None and is_traced:
            inferred = parameters.of_traced_function(name)
        if inferred is None:
            return NOTHING_KNOWN
        return inferred._replace(optional=is_none, structured=inferred.structured or is_none)

    # --- who compiles what -----------------------------------------------------------------------------------------

    def mark_host(self, target: Value) -> None:
        """A function handed to tf.data or py_function runs on the host."""
        if target.kind is FUNCTION:
            info = target.ref[0] if isinstance(target.ref, tuple) else target.ref
            self._host.add(info)
            self._handed_to_host.add(info)

    def trace_later(
        self,
        target: Value,
        why: tuple[str, ...],
        *,
        converted: bool,
        frame: Frame,
        jit: bool = False,
    ) -> None:
        """A function that something will compile, with arguments that are not seen."""
        if target.kind is not FUNCTION or frame.silent:
            return
        info, bound = target.ref if isinstance(target.ref, tuple) else (target.ref, None)
        context = Context(COMPILED, converted, jit, (*why, info.qualname), info, converted)
        self._add_root(info, context, bound)

    def run_on_replicas(self, target: Value, values: list[Value], frame: Frame) -> None:
        """`strategy.run(f, args)`: f is compiled; whoever calls it drives the replicas from the host."""
        for running in self._running:
            self._drives_replicas.add(running)
        if frame.function is not None:
            self._drives_replicas.add(frame.function)
        if target.kind is FUNCTION:
            info, bound = target.ref if isinstance(target.ref, tuple) else (target.ref, None)
            data = tuple(_arriving(value) for value in values)
            context = Context(COMPILED, True, False, ("strategy.run", info.qualname))
            self._add_root(info, context, bound, data or None)

    def handed_to_keras(
        self, base: Value, arguments: Arguments, attr: str, node: ast.AST, frame: Frame
    ) -> None:
        """Losses and metrics passed to `compile`, `add_loss` and `add_metric` are traced by Keras."""
        options = arguments.keywords
        if attr == "compile":
            if options.get("jit_compile") == TRUE:
                self._compile_steps(base)
                self.note_anywhere(frame, node, JIT_ON, NOTHING_KNOWN, "Model.compile")
            wanted = [options.get("loss"), options.get("metrics"), options.get("weighted_metrics")]
        elif attr in ("add_loss", "add_metric"):
            wanted = list(arguments.positional[:1])
        else:
            return
        for value in wanted:
            for leaf in leaves(value) if value is not None else ():
                if leaf.kind is FUNCTION:
                    info, bound = leaf.ref if isinstance(leaf.ref, tuple) else (leaf.ref, None)
                    context = Context(
                        COMPILED, self.keras == "2", False, (f"Model.{attr}", info.qualname)
                    )
                    self._add_root(
                        info, context, bound, (Value(TENSOR, ARRIVING), Value(TENSOR, ARRIVING))
                    )

    def _compile_steps(self, model: Value) -> None:
        """Keras 2 lets AutoGraph convert `train_step` of a model compiled with jit_compile=True (facts: contexts)."""
        cls = model.ref
        if model.kind is not INSTANCE or not isinstance(cls, ClassInfo):
            return
        role = self.classes.role(cls)
        if role is None or not (role.legacy or self.keras == "2"):
            return
        for name in ("train_step", "test_step", "predict_step"):
            method = self.classes.method(cls, name)
            if method is not None and method not in self._jitted_steps:
                self._jitted_steps.add(method)
                context = Context(
                    COMPILED, True, True, ("Model.compile(jit_compile=True)", method.qualname)
                )
                context = context._replace(root=method)
                self._pending.append(Root(method, context, model, None, role_method=name))

    def _add_root(
        self,
        info: FunctionInfo,
        context: Context,
        bound: Value | None,
        arguments: tuple[Value, ...] | None = None,
    ) -> None:
        key = (info, context.key(), arguments)
        if key not in self._known_roots:
            self._known_roots.add(key)
            self._pending.append(Root(info, context._replace(root=info), bound, arguments))

    def leave_to_host(self, module: ModuleInfo, lines: Iterable[int]) -> None:
        """The functions whose `def` stands on one of these lines are never compiled: their author says so."""
        wanted = set(lines)
        self._forced_host.update(f for f in module.functions if f.node.lineno in wanted)

    # --- the run ---------------------------------------------------------------------------------------------------

    def run(self, modules: list[ModuleInfo]) -> None:
        """Analyse the target modules; `facts` holds what was seen."""
        relevant = [m for m in modules if m.is_target and not m.is_test and m.mentions_tensorflow]
        for module in relevant:
            self.module_frame(module)
        for module in relevant:
            self._find_roots(module)
        self._drain()
        self._run_host_functions(relevant)
        for function in self._assumed_order(relevant):
            if function not in self._visited and function not in self._host:
                self._run_assumed(function)
                self._drain()
        self._drop_host_facts()

    def _run_host_functions(self, modules: list[ModuleInfo]) -> None:
        """Run what feeds, configures and drives training, eagerly: it says who compiles what."""
        for module in modules:
            for info in module.functions:
                if (
                    info not in self._visited
                    and info not in self._host
                    and _HOST_NAMES.search(info.name)
                ):
                    context = Context(EAGER, False, False, (info.qualname,))
                    self._run_root(Root(info, context, _self_of(info)))
        self._drain()

    def _find_roots(self, module: ModuleInfo) -> None:
        for info in module.functions:
            own = self.traits(info)
            if own.tf_function:
                converted = own.autograph and own.never_converted is None
                why = (f"@tf.function {info.qualname}",)
                context = Context(COMPILED, converted, own.jit, why, info, own.autograph)
                self._add_root(info, context, _self_of(info))
            if own.is_host:
                self._host.add(info)
        for cls in module.classes:
            self._find_class_roots(cls)

    def _find_class_roots(self, cls: ClassInfo) -> None:
        role = self.classes.role(cls)
        if role is None:
            return
        if role.kind in (CALLBACK, HOST_DATA, TEST):
            self._host.update(cls.methods.values())
            return
        overrides = cls.methods.keys() - _NEVER_TRACED - {"__init__"}
        for name in TRACED_METHODS.get(role.kind, ()):
            # An inherited method calls what this class overrides: it is traced again for this class.
            method = self.classes.method(cls, name) if overrides else cls.methods.get(name)
            if method is not None and not self.traits(method).tf_function:
                self._add_keras_root(cls, method, role, name)

    def _add_keras_root(self, cls: ClassInfo, method: FunctionInfo, role: Role, name: str) -> None:
        own = self.traits(method)
        converted = converts(role, name, self.keras) and own.never_converted is None
        who = "Keras" if role.legacy or self.keras == "2" else "Keras 3"
        context = Context(
            COMPILED, converted, False, (f"{who} traces {role.kind} {cls.name}", method.qualname)
        )
        key = (method, context.key(), cls)
        if key not in self._known_roots:
            self._known_roots.add(key)
            self._pending.append(
                Root(
                    method,
                    context._replace(root=method),
                    Value(INSTANCE, ref=cls),
                    None,
                    role_method=name,
                )
            )

    def _drain(self) -> None:
        """Run roots, those they add, and calls that nested too deep, until none is left."""
        while self._pending or self._put_off:
            root = self._pending.pop(0) if self._pending else self._put_off.pop(0)
            self._run_root(root)

    def _run_root(self, root: Root) -> None:
        info = root.function
        frame = self._frame_of(info, root.context, root.self_value, 0)
        assumed = root.arguments is None
        free = self._free_parameters(info, frame, assumed=assumed, role_method=root.role_method)
        if frame.self_name is not None and root.self_value is not None:
            frame.names[frame.self_name] = root.self_value
        if root.arguments is not None:
            free.update(dict(zip(free, root.arguments)))
        frame.names.update(free)
        if root.context.region == COMPILED and root.role_method is None:
            self._promote(info, frame)
        self._visited.add(info)
        self._running.append(info)
        try:
            self._run(info, frame)
        except RecursionError:
            pass  # nested too deep to follow: silence, as for everything the analysis does not know
        except Exception as error:
            self.failures.append(Failure(info.module, info.node.lineno, info.qualname, error))
        finally:
            self._running.pop()
        if frame.touches_host and root.context.region == ASSUMED:
            self._host.add(info)
        if _feeds_steps(info, frame, root.context):
            self._handed_to_host.add(info)

    def _promote(self, info: FunctionInfo, frame: Frame) -> None:
        """In a compiled function, a parameter used as a tensor is one: tf.function makes it so."""
        used = parameters.used_as_tensor(info, frame, numpy=True)
        for name, value in frame.names.items():
            if value.is_tensor and not value.sure:
                if name in used:
                    frame.names[name] = value._replace(sure=True, guess=False)

    def _run_assumed(self, info: FunctionInfo) -> None:
        context = Context(
            ASSUMED, self.traits(info).never_converted is None, False, (info.qualname,), info
        )
        self._run_root(Root(info, context, _self_of(info)))

    def _assumed_order(self, modules: list[ModuleInfo]) -> list[FunctionInfo]:
        """Library functions to take as compiled: those that no text calls first, so that others are met through them."""
        called = _called_names(modules)
        candidates = [
            info for module in modules for info in module.functions if self._may_be_assumed(info)
        ]
        return sorted(candidates, key=lambda info: info.name in called)

    def _may_be_assumed(self, info: FunctionInfo) -> bool:
        name = info.name
        if name.startswith("__") and name != "__call__":
            return False
        if name in _NEVER_TRACED or name.startswith("test") or _HOST_NAMES.search(name):
            return False
        own = self.traits(info)
        if own.is_property or own.is_host or info.is_generator:
            return False
        parent = info.parent
        while parent is not None:
            if parent in self._host or _HOST_NAMES.search(parent.name):
                return False
            parent = parent.parent
        if _HOST_MODULES.search(info.module.name.rsplit(".", 1)[-1]):
            return False
        if info.cls is not None:
            role = self.classes.role(info.cls)
            if role is not None and role.kind in (CALLBACK, HOST_DATA, TEST):
                return False
        return True

    def _drop_host_facts(self) -> None:
        """Take back what was noted in functions that turned out to run on the host."""
        for facts in self.facts.values():
            unwanted = [
                (node, fact)
                for node, known in facts.by_node.items()
                for fact in known
                if fact.kind != JIT_ON and self._runs_on_host(fact)
            ]
            facts.remove(unwanted)

    def _runs_on_host(self, fact: Fact) -> bool:
        if fact.function in self._drives_replicas or _is_within(fact.function, self._forced_host):
            return True
        if fact.context.root in self._jitted_steps and not fact.context.jit:
            return True  # judged as what it is: compiled with jit_compile=True
        if fact.context.root in self._handed_to_host and not fact.context.jit:
            return True
        if fact.context.region != ASSUMED:
            return False
        return fact.context.root in self._host or _is_within(fact.function, self._host)


def _feeds_steps(info: FunctionInfo, frame: Frame, context: Context) -> bool:
    """A tf.function that reads files, or that is handed an iterator, feeds compiled steps from the host."""
    if context.region != COMPILED or context.jit:
        return False
    names = {a.arg for a in (*info.node.args.posonlyargs, *info.node.args.args)}
    return frame.reads_files or not names.isdisjoint(("iterator", "dataset", "dataset_iterator"))


def _is_within(info: FunctionInfo | None, functions: set[FunctionInfo]) -> bool:
    while info is not None:
        if info in functions:
            return True
        info = info.parent
    return False


def _body(info: FunctionInfo) -> list[ast.stmt]:
    return info.node.body if isinstance(info.node.body, list) else []


def _class_of(frame: Frame) -> object:
    return frame.self_value.ref if frame.self_value is not None else None


def _self_of(info: FunctionInfo) -> Value | None:
    return Value(INSTANCE, ref=info.cls) if info.cls is not None else None


def _reused(known: dict[Any, tuple[Value, bool]]) -> Value:
    values = tuple(value for value, _ in known.values())
    return join_all(values) if values else NOTHING_KNOWN


def _as_attribute(value: Value) -> Value:
    """An attribute may be set again elsewhere: its value while constructing is its kind, no more."""
    if value.kind is PYTHON:
        return NOTHING_KNOWN if value == NONE else SOME_PYTHON
    if value.kind is SEQUENCE:
        return Value(COLLECTION, ref=join_all(value.ref)) if value.ref else Value(COLLECTION)
    if value.kind is COLLECTION and value.ref is not None and value.ref.kind is PYTHON:
        return Value(COLLECTION, ref=SOME_PYTHON)
    if value.is_tensor:
        return value._replace(optional=False)
    return value if not value.optional else NOTHING_KNOWN


def _arriving(value: Value) -> Value:
    """What strategy.run passes on is data, whatever it was outside."""
    if value.kind is SEQUENCE:
        return value._replace(ref=tuple(_arriving(v) for v in value.ref))
    if value.kind in (PYTHON, INSTANCE, FUNCTION):
        return value
    return Value(TENSOR, ARRIVING, structured=True)


_BEFORE_PARENTHESIS = re.compile(r"\w+(?=\()")


def _called_names(modules: list[ModuleInfo]) -> frozenset[str]:
    """Names that stand before a parenthesis more often than they are defined: near enough to what is called."""
    seen: Counter[str] = Counter()
    defined: Counter[str] = Counter()
    for module in modules:
        seen.update(_BEFORE_PARENTHESIS.findall(module.text))
        defined.update(info.name for info in module.functions)
    return frozenset(name for name, count in seen.items() if count > defined[name])


__all__ = ["Analysis", "Root", "canonical", "join"]
