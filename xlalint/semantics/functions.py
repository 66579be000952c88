"""Calls of project functions: their context, their parameters, their result."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING

from xlalint.semantics import (
    documented,
    eager,
    flow,
    free_parameters,
    inlining,
    returned,
    traced_arguments,
)
from xlalint.semantics.arguments import Arguments
from xlalint.semantics.call_contexts import context_of_call
from xlalint.semantics.configured import is_flags
from xlalint.semantics.control_flow import conditionals
from xlalint.semantics.facts import ASSUMED, COMPILED, EAGER, Context
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import rebound, stale_numbers
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.nesting import bounded
from xlalint.semantics.past_calls import PastCalls
from xlalint.semantics.tracing import host_signs, host_use, templates
from xlalint.semantics.tracing.roots import Root
from xlalint.semantics.values import (
    ARRIVING,
    CLASS,
    COLLECTION,
    FUNCTION,
    INSTANCE,
    MAPPING,
    NONE,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    SHAPE,
    TENSOR,
    Value,
    Wrapping,
    unshaped,
    wrapping,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis


# How deep calls nest before they are put off.
_MOST_DEPTH = 40


class Functions:
    """Runs project functions for the arguments they are called with, and remembers what they return."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._past = PastCalls(self._is_of_many_objects)
        self.running: list[FunctionInfo] = []
        # How many of the methods that are being run call functions that their object was made with.
        self._calling_given = 0
        # In the order of the first visit: a dictionary for its keys.
        self.visited: dict[FunctionInfo, None] = {}
        self.put_off: list[Root] = []

    def _is_of_many_objects(self, info: FunctionInfo) -> bool:
        """Whether a function is a method that objects of several kinds may have: not of a package's one backend."""
        if info.cls is None or self._analysis.traits(info).is_static:
            return False
        return not self._analysis.modules.frameworks.offers(info)

    def forget_visits(self, since: int) -> None:
        """Take what a package exports, or documents for tensors, as not met, where it was first met after so many others: by
        a function that turned out to run on the host, from where others may call it in compiled code all the same. What was
        said of the functions met there went with it, so whoever else calls one has it run once more.
        """
        latest = list(islice(reversed(self.visited), max(0, len(self.visited) - since)))
        for info in latest:
            self._past.forget(info)
            if self._analysis.modules.exports.hold(info) or documented.is_for_tensors(info):
                del self.visited[info]

    def leave_unmet(self, since: int) -> None:
        """Take what was first met after so many others as not met: who ran it says nothing of where else it runs."""
        for info in list(islice(reversed(self.visited), max(0, len(self.visited) - since))):
            del self.visited[info]
            self._past.forget(info)

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
        context = context_of_call(info, frame, converted, made, closure)
        if context.is_compiled and not frame.context.is_compiled:
            positional = [traced_arguments.traced(value) for value in positional]
            keywords = {name: traced_arguments.traced(value) for name, value in keywords.items()}
        elif context.jit and inlining.starts_a_program(info, frame):
            positional = [traced_arguments.arriving(value) for value in positional]
            keywords = {name: traced_arguments.arriving(value) for name, value in keywords.items()}
        known = self._past.results(info)
        if self._past.tells_no_more_shapes(info, known):
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
            if self._past.is_one_too_many(info, key, known):
                return self._past.reused(info, key, known)
        runs = self._past.runs(info)
        if self._past.has_run_enough(info, runs):
            return self._past.reused(info, key, known)
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
        if context.region == ASSUMED and host_signs.drives_training(info):
            inner.host |= host_use.WORK
        host = host_use.for_callers(inner.host, value, info)
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
        self._past.forget(info)

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
        for (region, *_), self_value, positional, keywords, *_ in self._past.keys(info):
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
        stale_numbers.note(frame)
        if info.is_generator or (info.cls is not None and templates.is_open(info)):
            return NOTHING_KNOWN  # of what is left open, the classes know that fill it in
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


def _class_of(frame: Frame) -> object:
    return frame.self_value.ref if frame.self_value is not None else None
