"""Runs roots: what something compiles, what the host runs, and what nobody was seen to call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlalint.semantics import evidence, free_parameters, records
from xlalint.semantics.control_flow import bound_again
from xlalint.semantics.facts import ASSUMED, COMPILED
from xlalint.semantics.failures import Failure
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.tracing import host_use, traced_records
from xlalint.semantics.tracing.factories import Factories
from xlalint.semantics.tracing.roots import Root
from xlalint.semantics.tracing.wrappers import arguments_of
from xlalint.semantics.values import NOTHING_KNOWN, SEQUENCE, SOME_PYTHON, Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis


class RootRuns:
    """Runs one root after another, each once for what its parameters hold."""

    def __init__(self, analysis: Analysis, factories: Factories) -> None:
        self._analysis = analysis
        self._factories = factories

    def run(self, root: Root) -> bool:
        """Run a root and what it calls; whether it does what only the host can do, for itself or for its callers."""
        info = root.function
        try:
            if root.context.region == COMPILED:
                self._factories.run_around(info)
            return self._trace(root)
        except Exception as error:
            # One function that the analysis stumbles over costs no other its findings, and is not tried again.
            self._analysis.functions.visited.setdefault(info)
            self._analysis.failures.append(
                Failure(info.module, info.node.lineno, info.qualname, error)
            )
            return False

    def _trace(self, root: Root) -> bool:
        info = root.function
        self._analysis.arms.begin()
        frame = self._analysis.functions.frame_of(
            info, root.context, root.self_value, 0, root.closure
        )
        if frame.self_name is not None and root.self_value is not None:
            frame.names[frame.self_name] = root.self_value
        assumed = root.arguments is None
        free = free_parameters.held(info, frame, assumed=assumed, role_method=root.role_method)
        given = dict(root.given)
        if root.arguments is not None:
            free.update(_by_parameter(info, [n for n in free if n not in given], root.arguments))
        free.update(given)
        if root.context.region == ASSUMED:
            frame.names.update(bound_again.around(info))
        frame.names.update(free)
        takes_text = any(v.is_tensor and v.dtype == "string" for v in free.values())
        if root.context.region == COMPILED and root.role_method is None:
            if assumed:
                self._believe_callers(info, frame)
            self._promote(info, frame)
            if assumed:
                frame.names.update(traced_records.held(info, frame.names, frame))
        self._analysis.functions.visited.setdefault(info)
        self._analysis.functions.running.append(info)
        value = NOTHING_KNOWN
        try:
            parameters = arguments_of(info, frame) if info.decorators else None
            value = self._analysis.functions.run_body(info, frame)
            if parameters is not None and root.context.region == COMPILED:
                is_traced = self._analysis.traits(info).tf_function
                self._analysis.wrappers.run(
                    info, value, parameters, root.self_value, frame, traced=is_traced
                )
        finally:
            self._analysis.functions.running.pop()
            if root.role_method is None:
                self._analysis.host_functions.saw_feeding(info, frame, root.context, takes_text)
        return bool(host_use.for_callers(frame.host, value, info) & host_use.WORK)

    def _believe_callers(self, info: FunctionInfo, frame: Frame) -> None:
        """What a parameter is called, or used for, says less than that everybody in the project passes a number of Python.

        `given_sizes` says it of a module's own functions, by their text: these may be run before their callers are.
        """
        inferred = {n for n, value in frame.names.items() if value.is_tensor and not value.sure}
        if inferred:
            for name in inferred & self._analysis.functions.passed_in_python(info):
                frame.names[name] = SOME_PYTHON

    def _promote(self, info: FunctionInfo, frame: Frame) -> None:
        """In a compiled function, a parameter used as a tensor is one: tf.function makes it so."""
        inferred = [name for name, v in frame.names.items() if v.is_tensor and not v.sure]
        if not inferred and not records.may_hold(info, frame.names.values()):
            return
        used = evidence.computed_with(info, frame)
        parts = records.held(info, frame.names, used, frame)
        frame.names.update(parts)
        for name in used.intersection((*inferred, *parts)):
            value = frame.names[name]
            if value.is_tensor:
                frame.names[name] = value._replace(sure=True, guess=False)
        records.promote(info, used, frame)


def _by_parameter(
    info: FunctionInfo, names: list[str], values: tuple[Value, ...]
) -> dict[str, Value]:
    """Positional arguments by parameter; what the named ones do not take is in `*args`."""
    signature = info.node.args
    extra = signature.kwonlyargs + [a for a in (signature.vararg, signature.kwarg) if a is not None]
    rest = {parameter.arg for parameter in extra}
    named = [name for name in names if name not in rest]
    found = dict(zip(named, values))
    if signature.vararg is not None and len(values) > len(named):
        found[signature.vararg.arg] = Value(SEQUENCE, ref=values[len(named) :])
    return found
