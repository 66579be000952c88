"""What runs on the host: functions that feed, configure and drive training, whatever else of the project is compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from xlalint.semantics.annotations import said_kinds
from xlalint.semantics.callbacks.callables import callees
from xlalint.semantics.facts import ASSUMED, COMPILED, DRIVING, Context, Fact
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo, ModuleInfo
from xlalint.semantics.values import CLASS, Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

# How the chain of calls begins in what a strategy compiles.
ON_REPLICAS = "strategy.run"
# What parameters are called that hold what steps are taken from.
_ITERATORS = frozenset(("iterator", "dataset", "dataset_iterator"))
_ITERATING = ("__iter__", "__next__", "__getitem__")


class HostFunctions:
    """Keeps which functions run on the host, as far as that was seen, and takes back what was said of them as compiled code."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._known: set[FunctionInfo] = set()
        self._handed: set[FunctionInfo] = set()
        self._parts: set[tuple[FunctionInfo, str]] = set()
        # Those of them that have not been run yet.
        self._not_run: list[FunctionInfo] = []
        self._left: set[FunctionInfo] = set()
        # Functions under tf.function by whether all who call them are what tf.data runs.
        self._feeds_only: dict[FunctionInfo, bool] = {}
        self._rebuilding: set[FunctionInfo] = set()
        self._drives_replicas: set[FunctionInfo] = set()
        # Steps that a model with jit_compile=True compiles.
        self._jitted_steps: set[FunctionInfo] = set()

    def __contains__(self, info: FunctionInfo) -> bool:
        return info in self._known

    def add(self, *functions: FunctionInfo) -> None:
        """Functions that are code of the host by what they do, or by the class they are of."""
        self._known.update(functions)

    def add_parts(self, function: FunctionInfo, parts: Iterable[FunctionInfo]) -> None:
        """Methods that finish an inherited one and do the host's work: what it leads to through them is of the host."""
        self._parts.update((function, part.qualname) for part in parts)

    def mark(self, target: Value) -> None:
        """A function handed to tf.data or py_function runs on the host."""
        for callee in callees(target, self._analysis):
            info = callee.function
            self._known.add(info)
            self._handed.add(info)
            self._not_run.append(info)

    def leave(self, module: ModuleInfo, lines: Iterable[int]) -> None:
        """The functions whose `def` stands on one of these lines are never compiled: their author says so."""
        wanted = set(lines)
        if wanted:
            self._left.update(f for f in module.functions if f.node.lineno in wanted)

    def holds(self, info: FunctionInfo | None) -> bool:
        """Whether a function, or one around it, turned out to run on the host."""
        return _is_within(info, self._known) or _is_within(info, self._left)

    def saw_rebuilding(self, info: FunctionInfo) -> None:
        """A function that takes a model apart runs eagerly. What it calls may be of the model."""
        self._rebuilding.add(info)

    def saw_replicas_driven(self, functions: Iterable[FunctionInfo]) -> None:
        """Functions that call `strategy.run`, or call what does: they drive the replicas."""
        self._drives_replicas.update(functions)

    def saw_jitted(self, step: FunctionInfo) -> bool:
        """A step is compiled with jit_compile=True, and judged as that alone. Whether that was not known."""
        is_new = step not in self._jitted_steps
        self._jitted_steps.add(step)
        return is_new

    def saw_feeding(self, info: FunctionInfo, frame: Frame, context: Context, text: bool) -> None:
        """A tf.function that reads files or takes text (a serving signature) has run: no TPU compiles it."""
        if context.region == COMPILED and not context.jit and (frame.reads_files or text):
            self._handed.add(info)

    def calls_compiled(self, caller: FunctionInfo | None) -> None:
        """A tf.function that calls one with jit_compile=True, and asks for none itself, is the graph around it, with what it
        calls it through.
        """
        between: list[FunctionInfo] = [] if caller is None else [caller]
        for running in (*between, *reversed(self._analysis.functions.running)):
            between.append(running)
            own = self._analysis.traits(running)
            if own.tf_function:
                if not own.jit:
                    self._known.update(between)
                    self._handed.add(running)
                return

    def calls_traced(self, info: FunctionInfo, caller: Context) -> None:
        """A tf.function is called: where only what tf.data was handed calls it, it is a graph of the input pipeline."""
        feeds = not caller.is_compiled and any(
            running in self._handed for running in self._analysis.functions.running
        )
        self._feeds_only[info] = feeds and self._feeds_only.get(info, True)

    def not_yet_run(self) -> Iterator[FunctionInfo]:
        """What tf.data was given and has not been run, until nothing new is: helpers that nobody else calls are on the host with it."""
        while self._not_run:
            info = self._not_run.pop(0)
            if info not in self._analysis.functions.visited and info.module.is_target:
                yield info

    def settle(self) -> None:
        """Take back what was noted in functions that turned out to run on the host."""
        for info, feeds in self._feeds_only.items():
            # What others may call as well is judged as compiled, whoever calls it here.
            if feeds and not self._analysis.modules.exports.hold(info):
                self._handed.add(info)
        for facts in self._analysis.facts.values():
            unwanted = [
                (node, fact)
                for node, known in facts.by_node.items()
                for fact in known
                if fact.kind not in DRIVING and self._is_of_host(fact)
            ]
            facts.remove(unwanted)

    def _is_of_host(self, fact: Fact) -> bool:
        if fact.function in self._drives_replicas or _is_within(fact.function, self._left):
            return True
        if fact.context.root in self._jitted_steps and not fact.context.jit:
            return True  # judged as what it is: compiled with jit_compile=True
        # A strategy compiles what it runs, whatever the same function is elsewhere.
        on_replicas = fact.context.why[:1] == (ON_REPLICAS,)
        is_handed = fact.context.root in self._handed
        if is_handed and not fact.context.jit and not on_replicas:
            return True
        if fact.function is not None and not fact.context.jit:
            around = () if on_replicas else fact.function.around
            if any(map(self._takes_iterator, (fact.function, *around))):
                return True
        if fact.context.region != ASSUMED:
            return False
        if fact.function in self._rebuilding:
            return True
        root = fact.context.root
        if root is not None and any((root, name) in self._parts for name in fact.context.why):
            return True
        return fact.context.root in self._known or _is_within(fact.function, self._known)

    def _takes_iterator(self, info: FunctionInfo) -> bool:
        """A function that is handed an iterator drives the steps that are compiled: XLA sees none of it."""
        if info.parameter_names.isdisjoint(_ITERATORS):
            return False
        return not all(
            self._is_a_record(info.annotation_of(name), info.module)
            for name in info.parameter_names & _ITERATORS
        )

    def _is_a_record(self, annotation: ast.expr | None, module: ModuleInfo) -> bool:
        """Whether a parameter is of the project's own class, and nothing to iterate over: a data set that is held in tensors."""
        named = [
            self._analysis.modules.global_name(module, kind)
            for kind in said_kinds(annotation) - {"None"}
        ]
        return bool(named) and all(
            each.kind is CLASS
            and not any(self._analysis.classes.method(each.ref, name) for name in _ITERATING)
            and self._analysis.classes.external_base(each.ref) is None
            for each in named
        )


def _is_within(info: FunctionInfo | None, functions: set[FunctionInfo]) -> bool:
    while info is not None:
        if info in functions:
            return True
        info = info.parent
    return False
