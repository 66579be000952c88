"""How a program sets up its TPU: finds it, connects to its host, initialises it, makes a strategy of it.

The steps are collected in the order in which they run, and judged when the whole project has been seen: another module, or the
caller, may do what is missing here.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.facts import EAGER, TPU_SETUP, Context, Remark
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo, ModuleInfo
from xlalint.semantics.values import INSTANCE, NONE, NOTHING_KNOWN, Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.arguments import Arguments

RESOLVER = "tf.distribute.cluster_resolver.TPUClusterResolver"
# Finds the TPU, connects and initialises in one.
CONNECTED = RESOLVER + ".connect"
_FOUND, _CONNECTED, _INITIALIZED, _STRATEGY = "found", "connected", "initialized", "strategy"
STEPS = {
    RESOLVER: _FOUND,
    CONNECTED: _FOUND,
    "tf.config.experimental_connect_to_cluster": _CONNECTED,
    "tf.config.experimental_connect_to_host": _CONNECTED,
    "tf.tpu.experimental.initialize_tpu_system": _INITIALIZED,
    "tf.distribute.TPUStrategy": _STRATEGY,
    "tf.distribute.experimental.TPUStrategy": _STRATEGY,
}
# Of more modules than are run: a wrapper of another package, too, may do it.
_INITIALIZES = re.compile(r"initialize_tpu_system|TPUClusterResolver\s*\.\s*connect|\.connect\(")
_CONNECTS = re.compile(r"experimental_connect_to|connect_to_cluster|\.connect\(")


class _Step(NamedTuple):
    """One step, where it stands, and what it was given: `resolver` is one that the project makes itself."""

    kind: str
    node: ast.AST
    module: ModuleInfo
    function: FunctionInfo | None
    has_own_resolver: bool


class Setups:
    """Collects the steps, and says at the end which are missing or come too late."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._steps: dict[ast.AST, _Step] = {}

    def saw(self, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """A call of one of `STEPS`."""
        kind = STEPS[name]
        if kind is not _CONNECTED:
            self._analysis.saw_tpu = True
        given = [*arguments.positional[:1], *arguments.keywords.values()]
        resolver = given[0] if given else NONE
        own = not arguments.open_ended and _is_own(resolver)
        step = _Step(kind, node, frame.module, frame.function, own)
        self._steps.setdefault(node, step)
        if name == CONNECTED:
            for done in (_CONNECTED, _INITIALIZED):
                # Keys that no other step has: one call, three steps.
                self._steps.setdefault(ast.Pass(), step._replace(kind=done))

    def judge(self) -> None:
        """Keep a fact for each step that comes before another it needs, or without it."""
        steps = list(self._steps.values())
        if not any(step.has_own_resolver for step in steps):
            return
        initializes, connects = self._texts_say(_INITIALIZES), self._texts_say(_CONNECTS)
        for position, step in enumerate(steps):
            if step.kind is _STRATEGY and step.has_own_resolver:
                if not initializes:
                    self._note(step, "missing")
                elif _comes_later(_INITIALIZED, step, steps[:position], steps[position:]):
                    self._note(step, "early")
            elif step.kind is _INITIALIZED and step.has_own_resolver:
                if not connects:
                    self._note(step, "unconnected")
                elif _comes_later(_CONNECTED, step, steps[:position], steps[position:]):
                    self._note(step, "connected-late")

    def _texts_say(self, words: re.Pattern[str]) -> bool:
        modules = self._analysis.modules.project.modules.values()
        return any(module is not None and words.search(module.text) for module in modules)

    def _note(self, step: _Step, variant: str) -> None:
        frame = Frame(self._analysis, step.module, step.function, Context(EAGER, False))
        self._analysis.keep(frame, step.node, TPU_SETUP, NOTHING_KNOWN, Remark(variant))


def _is_own(resolver: Value) -> bool:
    """Whether the project makes the resolver, or leaves it to TensorFlow: nobody else has prepared it then."""
    made_here = resolver.kind is INSTANCE and resolver.ref == RESOLVER
    return resolver == NONE or (made_here and not resolver.optional)


def _comes_later(kind: str, step: _Step, before: list[_Step], after: list[_Step]) -> bool:
    """Whether a step of this kind comes after `step` in its own function, and none has come before it anywhere."""
    if any(other.kind is kind for other in before):
        return False
    return any(other.kind is kind and other.function is step.function for other in after)
