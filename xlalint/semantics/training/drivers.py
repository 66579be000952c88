"""Code that drives compiled steps: what it feeds them, how it calls them, and what it makes anew each time.

XLA compiles a program for every combination of shapes and of Python arguments that it meets. Whether that happens is
decided by the code around the step, which runs eagerly: it is collected here while that code is run abstractly, and judged
when everything is known: which functions are compiled, which models, and whether a TPU is in sight.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.callbacks.callables import only_callee
from xlalint.semantics.control_flow import varying
from xlalint.semantics.control_flow.narrowing import dotted_name
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import (
    ASSUMED,
    COMPILED,
    DEBUG_HOOK,
    EAGER,
    ENDLESS,
    JIT_ON,
    NONE_DIMENSION,
    PARTIAL_BATCH,
    PYTHON_ARGUMENT,
    REMADE_FUNCTION,
    SPARSE_INPUT,
    UNCAUGHT_CHECK,
    VANISHING_CHECK,
    VARIABLE_LENGTH,
    Context,
    Remark,
)
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo, ModuleInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.training.pipelines import COLLATED, GROWN, TOKENIZED, Feed, Site, feed_of
from xlalint.semantics.training.tokenized import (
    calls_in_loops,
    handed_on,
    tokenized_in,
    wrapped_names,
)
from xlalint.semantics.values import (
    CLASS,
    DATASET,
    FUNCTION,
    NONE,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    TRUE,
    Value,
    class_name,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.arguments import Arguments


# What changes is no number but an object: a word of a PYTHON_ARGUMENT.
OBJECT = "object"


class Driven(NamedTuple):
    """What a fact about driver code says: who takes the batches or the argument, and what compiles it.

    `jit`: jit_compile=True is on it. `replicas`: it runs on replicas, so that a TPU would compile it. `words`: what else the
    message needs.
    """

    consumer: str
    jit: bool
    replicas: bool
    words: str = ""


class _Use(NamedTuple):
    """Something that happens once the consumer is known to be compiled."""

    kind: str
    site: Site
    consumer: str
    callee: FunctionInfo | None
    jit: bool | None
    replicas: bool
    user: ModuleInfo


class _Remade(NamedTuple):
    """A tf.function made at `node`: in a loop (`scope`), or in a function (`maker`) that may be called for every step."""

    use: _Use
    maker: FunctionInfo | None
    scope: ast.AST
    node: ast.AST


class Drivers:
    """Collects what driver code does to compiled steps, and says at the end what of it makes XLA compile again."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._calls: dict[FunctionInfo | None, set[FunctionInfo]] = defaultdict(set)
        self._stepped: set[FunctionInfo] = set()
        self._wrapped_with_jit: set[FunctionInfo] = set()
        self._runs_replicas: set[FunctionInfo] = set()
        self._uses: dict[_Use, None] = {}
        self._compiled_models: list[tuple[ModuleInfo, bool]] = []
        self._remade: list[_Remade] = []
        self._handlers: list[tuple[Site, FunctionInfo | None, frozenset[FunctionInfo]]] = []
        self._hooks: list[Site] = []
        self._wrappers: dict[ModuleInfo, list[ast.Call]] = {}

    # What is seen while driver code is run.

    def saw_edge(self, caller: FunctionInfo | None, callee: FunctionInfo) -> None:
        """One function runs another, as a call or through Keras."""
        self._calls[caller].add(callee)

    def saw_call(
        self, info: FunctionInfo, arguments: Arguments, node: ast.AST, frame: Frame
    ) -> None:
        """A project function is called."""
        if frame.silent or frame.context.region == COMPILED:
            return
        if frame.loops:
            self._stepped.add(info)
        traits = self._analysis.traits(info)
        if traits.tf_function or info in self._wrapped_with_jit:
            jit = traits.jit or info in self._wrapped_with_jit
            values = arguments.values
            if isinstance(node, ast.Call):
                spread = (k.value for k in node.keywords if k.arg is None)  # step(**batch)
                values += tuple(self._analysis.evaluate(each, frame) for each in spread)
            self._passes(values, _called(info), info, jit, False, frame)
            if frame.loops and isinstance(node, ast.Call):
                first = len(traits.signature)
                self._grown_arguments(
                    [*node.args, *(k.value for k in node.keywords)], info, jit, frame
                )
                self._tokenized_arguments(node, info, jit, frame)
                self._python_arguments(node.args[first:], node.keywords, info, jit, frame)

    def saw_run(self, target: Value, values: list[Value], node: ast.AST, frame: Frame) -> None:
        """`strategy.run(step, args=...)`: the step is compiled where the strategy is a TPU's."""
        for function in (*self._analysis.functions.running, frame.function):
            if function is not None:
                self._runs_replicas.add(function)
        callee = only_callee(target, self._analysis)
        if callee is not None and frame.context.region != COMPILED:
            info = callee.function
            self._passes(values, _called(info), info, False, True, frame)

    def saw_wrapped(self, target: Value, node: ast.AST, jit: bool, frame: Frame) -> None:
        """`tf.function(f)`, or `@tf.function` above a nested function: made here, each time that this code runs."""
        if target.kind is not FUNCTION:
            return
        info = target.ref[0] if isinstance(target.ref, tuple) else target.ref
        if jit:
            self._wrapped_with_jit.add(info)
        if frame.silent or frame.context.region == COMPILED:
            return
        loops = [loop for loop in frame.loops if not varying.chooses_function(loop, node)]
        if frame.function is None and not loops:
            return  # at module level: made once
        maker = None if loops else frame.function
        words = "in a loop" if maker is None else f"in every call of `{maker.name}`"
        site = Site(_shown(node), frame.module, frame.function, words)
        use = _Use(REMADE_FUNCTION, site, _called(info), info, jit, False, frame.module)
        scope = loops[-1] if maker is None else maker.node
        self._remade.append(_Remade(use, maker, scope, node))

    def saw_fit(self, base: Value, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """`model.fit(dataset)`: Keras compiles the step for each shape of a batch."""
        data = arguments.keywords.get("x", next(iter(arguments.positional), NOTHING_KNOWN))
        self._note_endless(base, data, arguments, node, frame)
        feed = feed_of(data) if data.kind is DATASET else None
        self._analysis.batches.saw_fit(feed, arguments, node, frame)
        if feed is None:
            return
        if "steps_per_epoch" in arguments.keywords and feed.partial is not None:
            feed = feed._replace(partial=None)  # the last batch may never be asked for
        jit = True if self._is_jitted(node, frame) else None
        self._keep_feed(feed, "fit", None, jit, True, frame)

    def _note_endless(
        self, base: Value, data: Value, arguments: Arguments, node: ast.AST, frame: Frame
    ) -> None:
        """A dataset that never ends, and nobody says how many of its batches are an epoch."""
        if frame.silent or arguments.open_ended:
            return
        name = class_name(base) or ""
        is_keras_2 = self._analysis.keras == "2" or name.startswith("tf_keras.")
        validation = arguments.keywords.get("validation_data", NOTHING_KNOWN)
        for what, given, steps in (
            ("train", data, "steps_per_epoch"),
            ("validation", validation, "validation_steps"),
        ):
            feed = feed_of(given) if given.kind is DATASET else None
            is_counted = arguments.keywords.get(steps, NONE) != NONE
            if feed is not None and feed.endless is not None and not is_counted:
                words = (("steps", steps), ("what", "epoch" if what == "train" else "validation"))
                remark = Remark("refused" if is_keras_2 else "endless", words)
                self._analysis.keep(frame, node, ENDLESS, given, remark)

    def saw_compile(self, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """`model.compile(...)`: whether with XLA."""
        jit = arguments.keywords.get("jit_compile") == TRUE
        self._compiled_models.append((frame.module, jit))
        name = _owner(node)
        if name is not None:
            frame.names[f"{name}.jit_compile"] = TRUE if jit else NOTHING_KNOWN

    def saw_distributed(self, dataset: Value, node: ast.AST, frame: Frame) -> None:
        """`strategy.experimental_distribute_dataset(dataset)`: its batches go to replicas."""
        feed = feed_of(dataset)
        if feed is not None and not _evaluates(node, frame):
            self._analysis.batches.saw_distributed(feed, frame)
            self._keep_feed(feed, "strategy.run", None, False, True, frame)

    def saw_handler(self, node: ast.AST, body: list[ast.stmt], frame: Frame) -> None:
        """`except tf.errors.InvalidArgumentError` around calls."""
        if not frame.silent:
            site = Site(node, frame.module, frame.function)
            called = frozenset(self._functions_called(body, frame))
            self._handlers.append((site, frame.function, called))

    def saw_debug_hook(self, node: ast.AST, name: str, frame: Frame) -> None:
        """`tf.debugging.enable_check_numerics()` and its like put operations of their own into every function."""
        if not frame.silent:
            self._hooks.append(Site(node, frame.module, frame.function, name))

    def saw_options(self, call: ast.Call, jit: bool, consumer: str, frame: Frame) -> None:
        """The options of a tf.function: dimensions that they leave open are compiled size by size all the same."""
        if not jit or frame.silent:
            return
        self._wrappers.setdefault(frame.module, []).append(call)
        for option in call.keywords:
            if option.arg == "input_signature":
                spec = varying.open_signature(option.value)
                if spec is not None:
                    self._open(spec, "signature", consumer, frame)
            elif option.arg in ("reduce_retracing", "experimental_relax_shapes"):
                if isinstance(option.value, ast.Constant) and option.value.value is True:
                    self._open(option.value, "relaxed", consumer, frame)

    def _open(self, node: ast.AST, words: str, consumer: str, frame: Frame) -> None:
        site = Site(node, frame.module, frame.function, words)
        use = _Use(NONE_DIMENSION, site, consumer, None, True, False, frame.module)
        self._uses.setdefault(use)

    def saw_input(self, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """`keras.Input(shape=(None, ...))`: a dimension that may be another one in each batch; `sparse=True`."""
        if arguments.keywords.get("sparse") == TRUE and not frame.silent:
            self._analysis.note_anywhere(frame, node, SPARSE_INPUT, NOTHING_KNOWN)
        shape = arguments.keywords.get("shape", next(iter(arguments.positional), NOTHING_KNOWN))
        if shape.kind is SEQUENCE and NONE in shape.ref and not frame.silent and _is_open(node):
            site = Site(node, frame.module, frame.function, "input")
            on_tpu = _NAMES_TPU.search(frame.module.text) is not None
            use = _Use(NONE_DIMENSION, site, "fit", None, None, on_tpu, frame.module)
            self._uses.setdefault(use)

    def _functions_called(self, body: list[ast.stmt], frame: Frame) -> Iterable[FunctionInfo]:
        for call in varying.calls_in(body):
            target = self._analysis.evaluate(call.func, frame)
            callee = only_callee(target, self._analysis)
            if callee is not None:
                yield callee.function

    def _passes(
        self,
        values: Iterable[Value],
        consumer: str,
        callee: FunctionInfo,
        jit: bool,
        replicas: bool,
        frame: Frame,
    ) -> None:
        for value in values:
            for leaf in leaves(value):
                feed = feed_of(leaf)
                if feed is not None and leaf.kind is not DATASET:
                    self._keep_feed(feed, consumer, callee, jit, replicas, frame)

    def _keep_feed(
        self,
        feed: Feed,
        consumer: str,
        callee: FunctionInfo | None,
        jit: bool | None,
        replicas: bool,
        frame: Frame,
    ) -> None:
        for kind, site in ((PARTIAL_BATCH, feed.partial), (VARIABLE_LENGTH, feed.varying)):
            if site is not None:
                use = _Use(kind, site, consumer, callee, jit, replicas, frame.module)
                self._uses.setdefault(use)

    def _python_arguments(
        self,
        positional: list[ast.expr],
        keywords: list[ast.keyword],
        info: FunctionInfo,
        jit: bool,
        frame: Frame,
    ) -> None:
        """Python numbers that change from one turn of a loop to the next: each value is another program."""
        changing: set[str] | None = None
        for argument in (*positional, *(k.value for k in keywords)):
            if isinstance(argument, ast.Lambda) or self._makes_object(argument, frame):
                site = Site(argument, frame.module, frame.function, OBJECT)
                use = _Use(PYTHON_ARGUMENT, site, _called(info), info, jit, False, frame.module)
                self._uses.setdefault(use)
                continue
            names = varying.names_in(argument)
            if not names:
                continue
            if changing is None:
                changing = {n for loop in frame.loops for n in varying.numbers_of(loop)}
            if names.isdisjoint(changing):
                continue
            if self._analysis.evaluate(argument, frame).kind is PYTHON:
                site = Site(argument, frame.module, frame.function)
                use = _Use(PYTHON_ARGUMENT, site, _called(info), info, jit, False, frame.module)
                self._uses.setdefault(use)

    def _makes_object(self, argument: ast.expr, frame: Frame) -> bool:
        """`Config(0.1)` among the arguments: an object of its own in each turn, which tf.function knows by its identity.

        Structures that it takes apart (named tuples, attrs, extension types) have decorators or bases of other packages.
        """
        if not isinstance(argument, ast.Call):
            return False
        made = self._analysis.evaluate(argument.func, frame)
        if made.kind is not CLASS:
            return False
        classes = self._analysis.classes
        return all(
            not owner.node.decorator_list
            and not owner.node.keywords
            and all(not isinstance(base, str) for base in classes.bases(owner))
            for owner in classes.line(made.ref)
        )

    def _grown_arguments(
        self, given: list[ast.expr], info: FunctionInfo, jit: bool, frame: Frame
    ) -> None:
        """Tensors that the loop makes longer: each length is another program."""
        names = {argument.id for argument in given if isinstance(argument, ast.Name)}
        grown = names & {name for loop in frame.loops for name in varying.grown_in(loop)}
        for argument in given:
            if isinstance(argument, ast.Name) and argument.id in grown:
                site = Site(argument, frame.module, frame.function, GROWN)
                use = _Use(VARIABLE_LENGTH, site, _called(info), info, jit, False, frame.module)
                self._uses.setdefault(use)

    def _tokenized_arguments(
        self, call: ast.Call, info: FunctionInfo, jit: bool, frame: Frame
    ) -> None:
        """What a tokenizer made in the loop, as long as the longest text: each length is another program."""
        for loop in frame.loops if frame.module.mentions("okenizer") else ():
            for made in handed_on(call, tokenized_in(list(getattr(loop, "body", ())))):
                site = Site(made, frame.module, frame.function, TOKENIZED)
                use = _Use(VARIABLE_LENGTH, site, _called(info), info, jit, False, frame.module)
                self._uses.setdefault(use)

    def _judge_tokenizers(self) -> None:
        """The same for what `tf.function(model.generate, jit_compile=True)` returned."""
        for module, wrappers in self._wrappers.items():
            if "okenizer" not in module.text:
                continue
            names = wrapped_names(module.tree, wrappers)
            for consumer, made in calls_in_loops(module.tree, names):
                site = Site(made, module, None, TOKENIZED)
                use = _Use(VARIABLE_LENGTH, site, consumer, None, True, False, module)
                self._uses.setdefault(use)

    def _is_jitted(self, node: ast.AST, frame: Frame) -> bool:
        name = _owner(node)
        return name is not None and frame.look_up(f"{name}.jit_compile") == TRUE

    # What follows from it, at the end.

    @property
    def compiles_models(self) -> bool:
        """Whether a model of Keras is compiled anywhere: `model.compile(...)`."""
        return bool(self._compiled_models)

    @property
    def makes_steps(self) -> bool:
        """Whether the project compiles a model of Keras, or runs steps on replicas: it is more than a library."""
        return self.compiles_models or bool(self._runs_replicas)

    @property
    def asks_for_xla(self) -> bool:
        """Whether a model is compiled anywhere with jit_compile=True."""
        return any(jit for _, jit in self._compiled_models)

    def judge(self) -> None:
        """Keep a fact for each use whose consumer is compiled."""
        self._judge_tokenizers()
        for use in self._uses:
            if use.site.words != COLLATED or not _pads_to_length(use):
                self._keep(use)
        per_step = self.reached(self._stepped)
        for made in self._remade:
            if made.maker is None or made.maker in per_step:
                if varying.is_called_in(made.scope, made.node):
                    self._keep(made.use)
        self._judge_handlers()
        self._judge_hooks()

    def _keep(self, use: _Use) -> None:
        jit = use.jit if use.jit is not None else self.models_use_xla(use.user)
        replicas = use.replicas or (
            use.callee is not None
            and not self._runs_replicas.isdisjoint(self.reached({use.callee}))
        )
        if jit or replicas:
            detail = Driven(use.consumer, jit, replicas, use.site.words)
            self._note(use.site, use.kind, detail, (use.consumer,))

    def _note(self, site: Site, kind: str, detail: object, why: tuple[str, ...]) -> None:
        frame = Frame(self._analysis, site.module, site.function, Context(EAGER, False, False, why))
        self._analysis.keep(frame, site.node, kind, NOTHING_KNOWN, detail)

    def models_use_xla(self, module: ModuleInfo) -> bool:
        """Whether every `compile` of this module, or where it has none of the project, says jit_compile=True."""
        here = [jit for where, jit in self._compiled_models if where is module]
        said = here or [jit for _, jit in self._compiled_models]
        return bool(said) and all(said)

    def reached(self, functions: Iterable[FunctionInfo]) -> set[FunctionInfo]:
        """These functions and all that they call."""
        return self._reached(functions, lambda _: False)

    def differentiated(self, functions: Iterable[FunctionInfo]) -> set[FunctionInfo]:
        """These functions and all that they call, but for what is called where a function brings a gradient of its own."""
        return self._reached(functions, self._brings_gradient)

    def _brings_gradient(self, info: FunctionInfo) -> bool:
        traits = self._analysis.traits
        return any(traits(one).brings_gradient for one in (info, *info.around))

    def _reached(
        self, functions: Iterable[FunctionInfo], is_end: Callable[[FunctionInfo], bool]
    ) -> set[FunctionInfo]:
        found = set(functions)
        pending = list(found)
        while pending:
            caller = pending.pop()
            for callee in () if is_end(caller) else self._calls.get(caller, ()):
                if callee not in found:
                    found.add(callee)
                    pending.append(callee)
        return found

    def calls(self) -> Iterator[tuple[FunctionInfo, set[FunctionInfo]]]:
        """The functions that were seen to call others of the project, and those that each calls."""
        return ((caller, called) for caller, called in self._calls.items() if caller is not None)

    def _judge_handlers(self) -> None:
        if not self._handlers:
            return
        checking = {
            fact.function
            for facts in self._analysis.facts.values()
            for known in facts.by_node.values()
            for fact in known
            if fact.kind == VANISHING_CHECK and fact.context.region != ASSUMED
        }
        for site, _, called in self._handlers:
            hit = self.reached(called) & checking
            if hit:
                name = min(f.qualname for f in hit if f is not None)
                self._note(site, UNCAUGHT_CHECK, name, (name,))

    def _judge_hooks(self) -> None:
        if not self._hooks:
            return
        jit = any(
            fact.kind == JIT_ON
            for facts in self._analysis.facts.values()
            for known in facts.by_node.values()
            for fact in known
        )
        for site in self._hooks:
            self._note(site, DEBUG_HOOK, Driven(site.words, jit, True), ())


def _called(info: FunctionInfo) -> str:
    """What to call a compiled function in a message: of objects that are called as functions, the class says more than `__call__`."""
    return info.qualname if info.name == "__call__" else info.name


def _owner(node: ast.AST) -> str | None:
    """`model` in `model.fit(...)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return dotted_name(node.func.value)
    return None


_EVALUATION = re.compile(
    r"(^|_)(eval\w*|valid\w*|val|test\w*|dev|predict\w*|infer\w*|score\w*)(_|$)"
)


def _evaluates(node: ast.AST, frame: Frame) -> bool:
    """Whether what is distributed is for evaluation, by the names of the dataset and of the function."""
    names = [n.id for n in nodes_of([node]) if isinstance(n, ast.Name)]
    if frame.function is not None:
        names.append(frame.function.name)
    return any(_EVALUATION.search(name) for name in names)


_NAMES_TPU = re.compile(r"TPUStrategy|TPUClusterResolver")


def _is_open(node: ast.AST) -> bool:
    """Whether None is written in the call itself, rather than the default of a setting that callers give."""
    return any(isinstance(part, ast.Constant) and part.value is None for part in nodes_of([node]))


_FIXED_LENGTH = re.compile(r"""padding\s*=\s*["']max_length["']""")


def _pads_to_length(use: _Use) -> bool:
    """A tokenizer that pads every text to one length leaves the collator nothing to pad."""
    return any(_FIXED_LENGTH.search(module.text) for module in (use.user, use.site.module))


def _shown(node: ast.AST) -> ast.AST:
    """The node to report: of a decorated function, the decorator that makes it a tf.function."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    calls = [d for d in decorators if isinstance(d, ast.Call)]
    return (calls or decorators or [node])[0]
