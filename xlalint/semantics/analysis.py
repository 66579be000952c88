"""The analysis of a project: its parts, and what they all ask for: values of expressions, traits, and keeping facts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from xlalint.semantics import api_objects, apis, binding, calls, eager, expressions
from xlalint.semantics.catalog.catalog import Catalog
from xlalint.semantics.classes import ClassTable
from xlalint.semantics.configured import Configurations
from xlalint.semantics.control_flow import handlers
from xlalint.semantics.control_flow.carried import Carried
from xlalint.semantics.environment import keras_imports, keras_layers, packages, renames
from xlalint.semantics.facts import COMPILED, JIT_ON, Context, Fact, ModuleFacts
from xlalint.semantics.failures import Failure
from xlalint.semantics.frames import Frame
from xlalint.semantics.functions import Functions
from xlalint.semantics.gradients.arms import Arms
from xlalint.semantics.gradients.differentiation import Gradients
from xlalint.semantics.gradients.loop_gradients import LoopGradients
from xlalint.semantics.gradients.traced_before import TracedBefore
from xlalint.semantics.gradients.unsettled import Unsettled
from xlalint.semantics.hazards.vectorized import VectorizedMap
from xlalint.semantics.imports.installed import InstalledClasses
from xlalint.semantics.index import ClassInfo, FunctionInfo, ModuleInfo
from xlalint.semantics.modules import Modules
from xlalint.semantics.objects import Objects
from xlalint.semantics.project_modules import Project
from xlalint.semantics.regions import Regions
from xlalint.semantics.settled_calls import SettledCalls
from xlalint.semantics.tracing import host_use
from xlalint.semantics.tracing.host_functions import HostFunctions
from xlalint.semantics.tracing.inherited_steps import InheritedSteps
from xlalint.semantics.tracing.registries import Registries
from xlalint.semantics.tracing.traits import PLAIN, Traits, compiling_call, read_traits
from xlalint.semantics.tracing.wrappers import Wrappers
from xlalint.semantics.training.batches import Batches
from xlalint.semantics.training.drivers import Drivers
from xlalint.semantics.training.eager_steps import EagerSteps
from xlalint.semantics.training.meetings import Meetings
from xlalint.semantics.training.model_layers import ModelLayers
from xlalint.semantics.training.node_inputs import NodeInputs
from xlalint.semantics.training.precision import Precision
from xlalint.semantics.training.rates import Rates
from xlalint.semantics.training.recurrent import RecurrentLayers
from xlalint.semantics.training.scopes import Scopes
from xlalint.semantics.training.setups import Setups
from xlalint.semantics.values import EXTERNAL, NOTHING_KNOWN, Value


class Analysis:
    """Everything known of one project. Build it with all target modules, call `run`, then read `facts`."""

    def __init__(
        self,
        project: Project,
        catalog: Catalog,
        keras: str,
        installed: Iterable[Path] = (),
        tells_counts_apart: bool = False,
        is_for_tpu: bool = False,
        declared_in: Callable[[ModuleInfo], packages.Declared] = packages.nothing_declared,
    ) -> None:
        self.catalog = catalog
        # Whether XLA refuses to combine data-sized tensors that were counted apart (counts.py).
        self.tells_counts_apart = tells_counts_apart
        # Whether the code is judged for a TPU: what a program keeps from TPUs is left out then (tpu_tests.py).
        self.is_for_tpu = is_for_tpu
        self.handlers: Mapping[type[ast.AST], Callable[[Any, Frame], Value]] = expressions.HANDLERS
        self.keras = keras
        # Which packages a module is to run with.
        self.declared_in = declared_in
        self.saw_tpu = False
        # Whether symbolic tensors of Keras 3 were met (symbolic.py).
        self.makes_symbolic = False
        # Functions that APIs run as the body of a loop or an arm of a conditional.
        self.graph_bodies: set[FunctionInfo] = set()
        # The maps whose functions are being run, which are rewritten for all elements at once: the innermost last.
        self.vectorized: list[VectorizedMap] = []
        # Functions that ask whether they run eagerly.
        self.eager_askers: set[FunctionInfo] = set()
        # The parameters that a function treats as tensors, by how many calls they were followed through.
        self.tensor_parameters: dict[tuple[FunctionInfo, int, bool], frozenset[str]] = {}
        self.facts: dict[ModuleInfo, ModuleFacts] = {}
        self.failures: list[Failure] = []
        self.classes = ClassTable(self._evaluate_base)
        self.modules = Modules(self, project)
        self.objects = Objects(self)
        self.configurations = Configurations(self)
        self.settled_calls = SettledCalls()
        self.carried = Carried()
        self.functions = Functions(self)
        self.wrappers = Wrappers(self)
        self.registries = Registries(self)
        self.inherited_steps = InheritedSteps(self)
        self.host_functions = HostFunctions(self)
        self.regions = Regions(self)
        self.drivers = Drivers(self)
        self.setups = Setups(self)
        self.scopes = Scopes(self)
        self.precision = Precision(self)
        self.model_layers = ModelLayers(self)
        self.recurrent_layers = RecurrentLayers(self)
        self.meetings = Meetings(self)
        self.eager_steps = EagerSteps(self)
        self.node_inputs = NodeInputs(self)
        self.batches = Batches(self)
        self.rates = Rates(self)
        self.gradients = Gradients(self)
        self.arms = Arms()
        self.traced_before = TracedBefore(self)
        self.unsettled = Unsettled()
        self.loop_gradients = LoopGradients(self)
        self._installed = InstalledClasses(list(installed))
        self._traits: dict[FunctionInfo, Traits] = {}
        self._compiling_calls: dict[FunctionInfo, ast.Call | None] = {}

    def run(self, modules: list[ModuleInfo]) -> None:
        """Analyse the target modules; `facts` holds what was seen."""
        self.precision.read(modules)
        self.regions.run(modules)
        renames.note(self, modules)
        keras_imports.note(self, modules)
        keras_layers.note(self, modules)
        packages.note(self, modules)

    # For the modules that these import themselves.
    evaluate = staticmethod(expressions.evaluate)
    bind = staticmethod(binding.bind)
    call_value = staticmethod(calls.call_value)
    call_api = staticmethod(apis.call_api)
    call_external_instance = staticmethod(api_objects.call)
    failing_layer = staticmethod(api_objects.failing_layer)

    def note(
        self, frame: Frame, node: ast.AST, kind: str, value: Value, detail: Any = None
    ) -> None:
        """Keep a fact, when the code it is about is compiled."""
        if not frame.silent and frame.context.is_compiled:
            if eager.can_be_read(kind, value, detail):
                return
            if frame.caught and handlers.is_caught(kind, frame):
                frame.raised = True
                return
            frame.host |= host_use.of_fact(kind, frame)
            self.keep(frame, node, kind, value, detail)

    def note_anywhere(
        self, frame: Frame, node: ast.AST, kind: str, value: Value, detail: Any = None
    ) -> None:
        """Keep a fact about a call that configures compilation, wherever it runs."""
        self.keep(frame, node, kind, value, detail)

    def keep(self, frame: Frame, node: ast.AST, kind: str, value: Value, detail: Any) -> None:
        module = frame.module
        if module.is_target and not module.is_test:
            facts = self.facts.get(module)
            if facts is None:
                facts = self.facts[module] = ModuleFacts(module)
            facts.add(
                node, Fact(kind, value, frame.context, frame.function, detail, not frame.unusual)
            )

    def _evaluate_base(self, expression: ast.expr, cls: ClassInfo) -> Value:
        frame = self.modules.closures.home(cls)
        if isinstance(expression, ast.Subscript):
            expression = expression.value  # Generic[T]
        value = self.evaluate(expression, frame)
        if value.kind is EXTERNAL:
            base = self._installed.keras_base(str(value.ref))
            return Value(EXTERNAL, ref=base) if base is not None else value
        return value

    def compiling_call(self, info: FunctionInfo) -> ast.Call | None:
        """The call of tf.function in a function that may be used as a decorator."""
        if info not in self._compiling_calls:
            home = self.modules.module_frame(info.module)
            self._compiling_calls[info] = compiling_call(info, home)
        return self._compiling_calls[info]

    def traits(self, info: FunctionInfo) -> Traits:
        found = self._traits.get(info)
        if found is None:
            self._traits[info] = PLAIN  # a decorator that leads back here sees a plain function
            frame = self.modules.closures.home(info)
            found = self._traits[info] = read_traits(info, frame)
            if found.jit_node is not None:
                context = Context(
                    COMPILED, found.autograph, True, (f"@tf.function {info.qualname}",)
                )
                note = Frame(self, info.module, info, context)
                self.keep(note, found.jit_node, JIT_ON, NOTHING_KNOWN, "tf.function")
                if isinstance(found.jit_node, ast.Call):
                    self.drivers.saw_options(found.jit_node, True, info.name, note)
        return found
