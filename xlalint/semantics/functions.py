"""Calls of project functions: their context, their parameters, their result."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from xlalint.semantics import (
    documented,
    eager,
    flow,
    free_parameters,
    inlining,
    returned,
)
from xlalint.semantics.arguments import Arguments
from xlalint.semantics.call_kinds import traits_of_call, traits_of_calls
from xlalint.semantics.configured import is_flags
from xlalint.semantics.control_flow import conditionals
from xlalint.semantics.facts import ASSUMED, COMPILED, EAGER, Context
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import rebound
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.joins import join_all
from xlalint.semantics.nesting import bounded
from xlalint.semantics.syntax import has_more_than
from xlalint.semantics.tracing import host_use
from xlalint.semantics.tracing.roots import Root
from xlalint.semantics.tracing.traits import Traits
from xlalint.semantics.values import (
    ARRIVING,
    CLASS,
    COLLECTION,
    COMPUTED,
    FUNCTION,
    INSTANCE,
    MAPPING,
    NDARRAY,
    NONE,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    SHAPE,
    TENSOR,
    VARIABLE,
    Value,
    Wrapping,
    unshaped,
    wrapping,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis


# Bounds that keep the cost linear: a function is run for so many different arguments, and calls nest so deep, before
# results are reused or put off.
_MOST_CONTEXTS = 6
_MOST_SHAPES = 2
# Helpers of a line or two, such as `def cast(x, dtype)`, are run for as many times more: they are called from everywhere,
# and what they return for one caller says nothing of what another gets.
_SMALL = 40
_MORE_OF_SMALL = 8
_MORE_OF_METHODS = 3
_MOST_DEPTH = 40
# A function that calls itself is run twice within itself; one that is run for objects under construction, which are not
# remembered, this often in all.
_MOST_RECURSION = 2
_MOST_RUNS = 60


@dataclass(slots=True)
class _Runs:
    """How often a function has been run, and how often it is being run right now."""

    active: int = 0
    total: int = 0


# What a call returns, whether it touches the host, and which gradients were noted in it (`differentiation.py`).
_Result = tuple[Value, int, range | None]


class Functions:
    """Runs project functions for the arguments they are called with, and remembers what they return."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._memo: dict[FunctionInfo, dict[Any, _Result]] = {}
        self._runs: dict[FunctionInfo, _Runs] = defaultdict(_Runs)
        # Of functions that were run often enough.
        self._traits_had: dict[FunctionInfo, set[Hashable]] = {}
        self._frequencies: dict[FunctionInfo, int] = {}
        self.running: list[FunctionInfo] = []
        # How many of the methods that are being run call functions that their object was made with.
        self._calling_given = 0
        # In the order of the first visit: a dictionary for its keys.
        self.visited: dict[FunctionInfo, None] = {}
        self.put_off: list[Root] = []

    def forget_visits(self, since: int) -> None:
        """Take what a package exports, or documents for tensors, as not met, where it was first met after so many others: by
        a function that turned out to run on the host, from where others may call it in compiled code all the same. What was
        said of the functions met there went with it, so whoever else calls one has it run once more.
        """
        latest = list(islice(reversed(self.visited), max(0, len(self.visited) - since)))
        for info in latest:
            self._memo.pop(info, None)
            if self._analysis.modules.exports.hold(info) or documented.is_for_tensors(info):
                del self.visited[info]

    def leave_unmet(self, since: int) -> None:
        """Take what was first met after so many others as not met: who ran it says nothing of where else it runs."""
        for info in list(islice(reversed(self.visited), max(0, len(self.visited) - since))):
            del self.visited[info]
            self._memo.pop(info, None)

    def invoke_value(
        self,
        target: Value,
        values: list[Value],
        frame: Frame,
        *,
        converted: bool | None = None,
        keywords: dict[str, Value] | None = None,
        node: ast.AST | None = None,
    ) -> Value:
        """Call a FUNCTION value. `node` is the call that does, or that is handed the function to call it."""
        info, bound = target.ref if isinstance(target.ref, tuple) else (target.ref, None)
        made = wrapping(target)
        return self.invoke(
            info, values, keywords or {}, bound, frame,
            converted=converted, made=made, closure=target.closure, node=node,
        )  # fmt: skip

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
        made: Wrapping | None = None,
        closure: int | None = None,
        node: ast.AST | None = None,
    ) -> Value:
        """The value that a call of a project function returns; what is seen on the way is noted for its context.

        `made` is what tf.function made of it where it is called under another name, `closure` which of the nested functions of its text is called. `node` is the call, where what it passes is what the function gets: as it is, or one element after the other.
        """
        if frame.undecided and _falls_back(info, frame):
            return self._fall_back(info, positional, keywords, self_value, frame, open_ended)
        wrappers = self._analysis.wrappers
        if wrappers.results and info in wrappers.results:
            return wrappers.results[info]
        self._analysis.drivers.saw_edge(frame.function, info)
        if frame.tapes:
            self._analysis.gradients.saw_taped(info, frame.function)
            if frame.context.jit:
                self._analysis.recurrent_layers.saw_taped(info)
            if frame.context.region == EAGER and not frame.silent:
                self._analysis.regions.saw_trained(info)
        if frame.arms:
            self._analysis.arms.saw_call(info)
        context = self._context_of_call(info, frame, converted, made, closure)
        if context.is_compiled and not frame.context.is_compiled:
            positional = [_traced(value) for value in positional]
            keywords = {name: _traced(value) for name, value in keywords.items()}
        elif context.jit and inlining.starts_a_program(info, frame):
            positional = [_arriving(value) for value in positional]
            keywords = {name: _arriving(value) for name, value in keywords.items()}
        known = self._memo.setdefault(info, {})
        if self._has_had(_MOST_SHAPES, len(known), info):
            # A few shapes are told apart; further ones would use up the contexts that matter more.
            positional = [unshaped(value) for value in positional]
            keywords = {name: unshaped(value) for name, value in keywords.items()}
        key = (
            context.key(),
            self_value,
            tuple(positional),
            tuple(sorted(keywords.items())),
            frame.silent,
            frame.unusual > 0,
            frame.scope,
            closure,
        )
        collects = (
            frame.attributes is not None
            and self_value is not None
            and self_value.kind is INSTANCE
            and self_value.ref is _class_of(frame)
        )
        if not collects:
            had = known.get(key)
            if had is not None:
                frame.host |= had[1]
                if had[2]:
                    self._analysis.unsettled.saw_again(had[2], info, node, frame)
                return had[0]
            if self._has_had(_MOST_CONTEXTS, len(known), info):
                if not self._is_of_new_kind(info, key, known):
                    return _reused(known, closure)
        runs = self._runs[info]
        if runs.active >= _MOST_RECURSION or self._has_had(_MOST_RUNS, runs.total, info):
            return _reused(known, closure)
        if frame.depth >= _MOST_DEPTH or len(self.running) >= _MOST_DEPTH:
            self.put_off.append(Root(info, context, self_value, tuple(positional), closure=closure))
            return NOTHING_KNOWN
        inner = self.frame_of(info, context, self_value, frame.depth + 1, closure)
        inner.caller, inner.called_at = frame, node
        inner.silent = frame.silent
        inner.scope = frame.scope or inner.scope
        inner.bodies = frame.bodies + len(frame.constructs)
        inner.rounds = frame.rounds
        inner.unusual = 1 if frame.unusual else 0
        if (collects and info.name in ("__init__", "build")) or (collects and info.cls is not None):
            inner.attributes = frame.attributes
        self.bind_parameters(info, positional, keywords, self_value, inner, open_ended)
        if context.is_compiled:
            free_parameters.infer_unknown(info, inner)
        self.running.append(info)
        noted = self._analysis.unsettled.count
        runs.active, runs.total = runs.active + 1, runs.total + 1
        calls_given = self_value is not None and not is_flags(self_value.given)
        self._calling_given += calls_given
        try:
            value = bounded(self.run_body(info, inner))
        finally:
            self.running.pop()
            runs.active -= 1
            self._calling_given -= calls_given
        if inner.rebinds:
            rebound.note(inner, frame)
        if value == NOTHING_KNOWN and context.is_compiled:
            value = returned.annotated(info, positional, inner)
        elif context.is_compiled and info in self._analysis.eager_askers:
            value = returned.for_tensors(value, info, inner)
        # That one object, made eagerly, calls a function says nothing of where others do.
        is_met = context.is_compiled or (context.region == EAGER and not self._calling_given)
        if (
            is_met
            and self._meets_all(self_value)
            and not self._is_shared(info, context, node, frame)
        ):
            self.visited.setdefault(info)
        if self._analysis.traits(info).custom_gradient:
            value = self._without_gradient(value, inner)
        if context.is_compiled and info.decorators:
            traced = not frame.context.is_compiled
            arguments = Arguments(tuple(positional), keywords, open_ended)
            caller = inner if traced else frame
            value = wrappers.run(info, value, arguments, self_value, caller, traced=traced)
        if inner.attributes is not None and info.name == "__init__":
            frame.inherited = set(inner.attributes)
        host = host_use.for_callers(inner.host, value)
        frame.host |= host
        frame.reads_files = frame.reads_files or inner.reads_files
        known[key] = (value, host, self._analysis.unsettled.since(noted))
        return value

    def _is_shared(
        self, info: FunctionInfo, context: Context, node: ast.AST | None, frame: Frame
    ) -> bool:
        """Whether a constructor calls a method that other methods call as well: `tf.Variable(self.inverse(value))`, and `self.inverse(x)`
        in `assign`; or one whose result it drops: `self.forward(tf.ones([3, 10]))` makes the weights. That it is called eagerly there says
        nothing of other callers.
        """
        caller = frame.function
        if context.region != EAGER or caller is None or caller.name != "__init__":
            return False
        if info.cls is None or info.name.startswith("_") or len(info.parameter_names) < 2:
            return False
        if any(isinstance(each, ast.Expr) and each.value is node for each in caller.body):
            return frame.analysis.classes.role(info.cls) is not None  # of a layer or a model
        return any(
            isinstance(call.func, ast.Attribute) and call.func.attr == info.name
            for cls in self._analysis.classes.line(info.cls)
            for name, method in cls.methods.items()
            if name != "__init__"
            for call in method.calls
        )

    def _fall_back(
        self,
        info: FunctionInfo,
        positional: list[Value],
        keywords: dict[str, Value],
        self_value: Value | None,
        frame: Frame,
        open_ended: bool,
    ) -> Value:
        """What an override gets of what it overrides: where that is computed on the host, it says nothing of the override."""
        given = (info, positional, keywords, self_value, frame)
        silent, host, undecided = frame.silent, frame.host, frame.undecided
        frame.silent, frame.host, frame.undecided = True, 0, 0
        value = self.invoke(*given, open_ended=open_ended)
        on_host, frame.silent = frame.host, silent
        if not (on_host or silent):
            value = self.invoke(*given, open_ended=open_ended)
        frame.host, frame.undecided = host, undecided
        return value

    def forget_results(self, info: FunctionInfo) -> None:
        """Have a function run again whatever it is called with, as what it closes over has changed."""
        self._memo.pop(info, None)

    def _has_had(self, most: int, count: int, info: FunctionInfo) -> bool:
        """Whether a function has been run as often as it may; most never come near it, and are not measured."""
        return count >= most and count >= most * self._often(info)

    def _is_of_new_kind(self, info: FunctionInfo, key: Any, known: dict[Any, Any]) -> bool:
        """Whether a call of a function that was run often enough passes what no earlier one did, where it is said what is seen."""
        if _is_silent(key):
            return False
        had = self._traits_had.get(info)
        if had is None:
            had = self._traits_had[info] = traits_of_calls(
                key for key in known if not _is_silent(key)
            )
        new = [trait for trait in traits_of_call(key) if trait not in had]
        had.update(new)
        return bool(new)

    def _often(self, info: FunctionInfo) -> int:
        """How many times more than others a function is run. Methods are run for each class that inherits them as it is;
        short ones that hand on (`__call__` of a base class), for more objects all the same.
        """
        known = self._frequencies.get(info)
        if known is None:
            known = 1 if has_more_than(_SMALL, info.node) else _MORE_OF_SMALL
            if info.cls is not None and not self._analysis.traits(info).is_static:
                known = min(known, _MORE_OF_METHODS)
            self._frequencies[info] = known
        return known

    def _meets_all(self, self_value: Value | None) -> bool:
        """Whether a method run for this object is run as it ever is: others may make an exported class with other settings."""
        if self_value is None or not self_value.given:
            return True
        return not self._analysis.modules.exports.name(self_value.ref)

    def _without_gradient(self, value: Value, frame: Frame) -> Value:
        """What callers get of `return y, grad` under tf.custom_gradient; `grad` is traced with what arrives from above."""
        if value.kind is not SEQUENCE or len(value.ref) != 2:
            return value
        result, gradient = value.ref
        if gradient.kind is FUNCTION:
            shape = result.shape if result.is_tensor else None
            upstream = Value(TENSOR, ARRIVING, dtype=result.dtype, rank=result.rank, shape=shape)
            self.invoke_value(gradient, [upstream], frame, converted=False)
        return result  # type: ignore[no-any-return]

    def _context_of_call(
        self,
        info: FunctionInfo,
        frame: Frame,
        converted: bool | None,
        made: Wrapping | None,
        closure: int | None,
    ) -> Context:
        own = self._analysis.traits(info)
        here = frame.context
        if made is not None:
            converted = made.converts
        if own.jit_node is not None and here.is_compiled and not here.jit:
            self._analysis.host_functions.calls_compiled(frame.function)
        if own.tf_function and not own.jit:
            self._analysis.host_functions.calls_traced(info, here)
        is_made_here = own.tf_function and info.parent is not None and here.region == ASSUMED
        is_its_own = is_made_here and info.parent is frame.function
        if own.tf_function and here.region == ASSUMED:
            frame.host |= host_use.TRACES
        if is_its_own or (own.tf_function and here.region == ASSUMED and _updates_weights(info)):
            frame.host |= host_use.WORK  # it drives a step that compiles itself
        if is_made_here or not here.is_compiled:
            if own.tf_function and not frame.silent:
                why = (*here.why, f"@tf.function {info.qualname}")
                converts_it = own.autograph and own.never_converted is None
                return Context(COMPILED, converts_it, own.jit, why, info, own.autograph)
            if made is not None and here.region == EAGER and not frame.silent:
                converts_it = made.converts and own.never_converted is None
                why = (*here.why, "tf.function", info.qualname)
                return Context(COMPILED, converts_it, made.jit, why, info, made.converts)
            return Context(EAGER, False, False, (*here.why, info.qualname)[-6:])
        if own.tf_function:
            is_converted = own.autograph and own.never_converted is None
        elif self._is_rewritten(info, here, closure):
            is_converted = not info.is_generator and info.refused_syntax is None
        else:
            allowed = here.converted if converted is None else converted
            is_converted = allowed and own.never_converted is None
        return Context(
            here.region,
            is_converted,
            here.jit or own.jit,
            here.why if here.why and here.why[-1] == info.qualname else (*here.why, info.qualname),
            here.root,
            self._may_convert(own, here)
            or (converted is True and own.never_converted != "do_not_convert"),
        )

    def _is_rewritten(self, info: FunctionInfo, here: Context, closure: int | None) -> bool:
        """Whether a function was converted with the text of the one around it: then it is so wherever it is passed, to
        tf.scan, `map` or do_not_convert (measured, TF 2.15 and 2.21).

        What is compiled by Keras or tf.function was made before by a function that nobody was seen to compile.
        """
        around = self._analysis.modules.closures.around(info, closure)
        if around is None or not around.context.converted:
            return False
        return around.context.region == COMPILED or here.region == ASSUMED

    @staticmethod
    def _may_convert(own: Traits, here: Context) -> bool:
        if own.tf_function:
            return own.autograph
        return here.may_convert and own.never_converted != "do_not_convert"

    def frame_of(
        self,
        info: FunctionInfo,
        context: Context,
        self_value: Value | None,
        depth: int,
        closure: int | None = None,
    ) -> Frame:
        frame = Frame(
            self._analysis,
            info.module,
            info,
            context,
            outer=self._analysis.modules.closures.around(info, closure),
            depth=depth,
            scope=self._analysis.scopes.start(info),
        )
        if (
            self_value is not None
            and info.cls is not None
            and not self._analysis.traits(info).is_static
        ):
            arguments = info.node.args
            first = (*arguments.posonlyargs, *arguments.args)
            frame.self_value = self_value
            frame.self_name = first[0].arg if first else None
        return frame

    def passed_in_python(self, info: FunctionInfo) -> set[str]:
        """The parameters for which every compiled call that was seen passes numbers, text or sizes of Python."""
        found: set[str] | None = None
        arguments = info.node.args
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        for (region, *_), self_value, positional, keywords, *_ in self._memo.get(info, ()):
            if region not in (COMPILED, ASSUMED):
                continue
            given = dict(zip(names[self_value is not None :], positional)) | dict(keywords)
            python = {
                name
                for name, value in given.items()
                if value.kind in (PYTHON, SHAPE) and value != NONE
            }
            found = python if found is None else found & python
        return found or set()

    def run_body(self, info: FunctionInfo, frame: Frame) -> Value:
        if isinstance(info.node, ast.Lambda):
            return self._analysis.evaluate(info.node.body, frame)
        ends = flow.run_block(info.node.body, frame)
        if info.is_generator:
            return NOTHING_KNOWN
        if frame.splits:
            conditionals.close_splits(frame, 0, ends)
        if ends:
            frame.returned.append(NONE)
        return returned.joined(frame)

    def bind_parameters(
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
        elif self._analysis.traits(info).is_classmethod and names:
            frame.names[names[0]] = (
                Value(CLASS, ref=info.cls) if info.cls is not None else NOTHING_KNOWN
            )
            names = names[1:]
        defaults = self._defaults(info, frame)
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
            # What else there may be comes first: a later item of the same name holds.
            others = ((None, NOTHING_KNOWN),) if open_ended and pairs else ()
            is_open = open_ended and not pairs
            frame.names[arguments.kwarg.arg] = Value(
                MAPPING, ref=None if is_open else (*others, *pairs)
            )

    def _defaults(self, info: FunctionInfo, own: Frame) -> dict[str, Value]:
        """Default values; constants only, as anything else is evaluated where the function was defined."""
        arguments = info.node.args
        named = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        frame = own.outer or self._analysis.modules.module_frame(info.module)
        first = len(named) - len(arguments.defaults)
        written = (
            *zip(named[first:], arguments.defaults),
            *zip((extra.arg for extra in arguments.kwonlyargs), arguments.kw_defaults),
        )
        found = {
            name: self._analysis.evaluate(default, frame) for name, default in written if default
        }
        if own.outer is not None:
            return found
        return {name: eager.captured(eager.made(value)) for name, value in found.items()}


def _falls_back(info: FunctionInfo, frame: Frame) -> bool:
    """Whether an override nobody was seen to compile calls what it overrides under a condition: it was written to do without."""
    caller = frame.function
    if info.cls is None or caller is None or caller.name != info.name:
        return False
    if frame.context.region != ASSUMED:
        return False
    return caller.cls is not None and caller.cls is not info.cls


def _is_silent(key: tuple[Any, ...]) -> bool:
    """Whether nothing is noted in the call that has this key in the memory of its function."""
    return bool(key[4])


def _traced(value: Value) -> Value:
    """What a tf.function sees of an argument from outside: of tensors and arrays a placeholder, with their dtype and shape."""
    if (value.is_tensor and value.kind is not VARIABLE) or value.kind is NDARRAY:
        is_sized = value.producer is None and value.kind is not NDARRAY
        return Value(
            TENSOR,
            ARRIVING,
            dtype=value.dtype,
            rank=value.rank if is_sized else None,
            shape=value.shape if is_sized else None,
            sure=value.sure,
            optional=value.optional,
            structured=value.structured,
            guess=value.guess,
        )
    if value.kind is SEQUENCE:
        return value._replace(ref=tuple(_traced(item) for item in value.ref))
    if value.kind is MAPPING and value.ref:
        return value._replace(ref=tuple((key, _traced(item)) for key, item in value.ref))
    if value.kind is COLLECTION and value.ref is not None:
        return value._replace(ref=_traced(value.ref))
    return value


def _arriving(value: Value) -> Value:
    """What a compiled program sees of an argument that a graph around it computes: it has been computed by then."""
    if value.is_tensor and value.dependence >= COMPUTED:
        return value._replace(dependence=ARRIVING)
    if value.kind is SEQUENCE:
        return value._replace(ref=tuple(_arriving(item) for item in value.ref))
    if value.kind is MAPPING and value.ref:
        return value._replace(ref=tuple((key, _arriving(item)) for key, item in value.ref))
    return value


def _class_of(frame: Frame) -> object:
    return frame.self_value.ref if frame.self_value is not None else None


def _reused(known: dict[Any, _Result], closure: int | None) -> Value:
    values = tuple(result[0] for key, result in known.items() if key[-1] == closure)
    return _sized_for_all(join_all(values), values) if values else NOTHING_KNOWN


def _sized_for_all(joined: Value, values: tuple[Value, ...]) -> Value:
    """That some callers get a data-sized tensor says nothing of what the others do."""
    if joined.kind is SEQUENCE:
        if any(v.kind is not SEQUENCE or len(v.ref) != len(joined.ref) for v in values):
            return joined
        items = zip(joined.ref, zip(*(value.ref for value in values)))
        return joined._replace(ref=tuple(_sized_for_all(item, parts) for item, parts in items))
    if joined.producer is not None and not all(value.producer for value in values):
        return joined._replace(producer=None, counted=None)
    return joined


# How a step brings its gradients to the weights.
_UPDATES = frozenset({"apply_gradients", "minimize"})


def _updates_weights(info: FunctionInfo) -> bool:
    """Whether a function is a step of a training: its own text hands gradients to an optimizer."""
    return any(
        isinstance(call.func, ast.Attribute) and call.func.attr in _UPDATES for call in info.calls
    )
