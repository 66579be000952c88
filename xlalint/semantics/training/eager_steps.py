"""Steps that run eagerly, which TPUStrategy refuses: `run_eagerly`, and `strategy.run` outside of any tf.function."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from xlalint.semantics.facts import EAGER, EAGER_STEP, Context, Remark
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.training.pipelines import Site
from xlalint.semantics.values import FUNCTION, NOTHING_KNOWN, STRATEGY, TRUE, Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.arguments import Arguments

SWITCHES = {
    "tf.config.run_functions_eagerly": "functions",
    "tf.config.experimental_run_functions_eagerly": "functions",
    "tf.data.experimental.enable_debug_mode": "pipelines",
}
_IS_OFF_AGAIN = re.compile(r"run_functions_eagerly\(\s*(run_eagerly\s*=\s*)?False")
_NOT_OF_TPUS = re.compile(r"Mirrored|OneDevice|ParameterServer|CentralStorage")


class EagerSteps:
    """Collects what makes steps run eagerly, and says at the end which of it stays so."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._runs: dict[ast.AST, tuple[Site, FunctionInfo]] = {}
        self._traced_runs: set[ast.AST] = set()

    def saw_switch(self, name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """`tf.config.run_functions_eagerly(True)` and its like, where nothing decides whether it is called."""
        given = [*arguments.values]
        variant = SWITCHES[name]
        if variant == "functions":
            if given[:1] != [TRUE] or _IS_OFF_AGAIN.search(frame.module.text):
                return
        if not _is_conditional(node, frame):
            self._keep(Site(node, frame.module, frame.function), variant)

    def saw_compile(self, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """`model.compile(run_eagerly=True)` in a module that knows of a strategy."""
        text = frame.module.text
        is_for_tpus = "TPU" in text or ("strategy" in text and not _NOT_OF_TPUS.search(text))
        if arguments.keywords.get("run_eagerly") == TRUE and is_for_tpus:
            if not _is_conditional(node, frame):
                self._keep(Site(node, frame.module, frame.function), "compile")

    def saw_run(self, strategy: Value, step: Value, node: ast.AST, frame: Frame) -> None:
        """`strategy.run(step)`, of a strategy that may be a TPU's."""
        if frame.silent or frame.context.region != EAGER:
            self._traced_runs.add(node)
        elif step.kind is FUNCTION and not _is_another(strategy):
            info = step.ref[0] if isinstance(step.ref, tuple) else step.ref
            if not info.decorators and not self._analysis.traits(info).tf_function:
                self._runs.setdefault(node, (Site(node, frame.module, frame.function), info))

    def judge(self) -> None:
        """Keep a fact for each `strategy.run` that was only met eagerly, of a function that nothing makes a tf.function."""
        for node, (site, step) in self._runs.items():
            if node in self._traced_runs or _is_wrapped(step):
                continue
            if site.function is None or not self._is_handed_on(site.function):
                self._keep(site, "run", (("step", step.name),))

    def _is_handed_on(self, info: FunctionInfo) -> bool:
        """Whether any module names the function without calling it there: tf.function may get it, by whatever way."""
        if info.decorators:
            return True
        named = re.compile(rf"\b{re.escape(info.name)}\b(?!\s*\()")
        modules = self._analysis.modules.project.modules.values()
        return any(
            m is not None and m.is_target and info.name in m.text and named.search(m.text)
            for m in modules
        )

    def _keep(self, site: Site, variant: str, words: tuple[tuple[str, str], ...] = ()) -> None:
        frame = Frame(self._analysis, site.module, site.function, Context(EAGER, False))
        self._analysis.keep(frame, site.node, EAGER_STEP, NOTHING_KNOWN, Remark(variant, words))


def _is_another(strategy: Value) -> bool:
    """Whether a strategy is known to be none of a TPU."""
    return strategy.kind is STRATEGY and _NOT_OF_TPUS.search(str(strategy.ref)) is not None


def _is_wrapped(step: FunctionInfo) -> bool:
    """Whether its module hands a function of this name to tf.function, or to anything that is called so."""
    pattern = rf"function\(\s*(\w+\.)*{re.escape(step.name)}\b"
    return re.search(pattern, step.module.text) is not None


def _is_conditional(node: ast.AST, frame: Frame) -> bool:
    """Whether an `if` (other than for the main module) decides about this call."""
    body: Sequence[ast.AST] = frame.function.body if frame.function else frame.module.tree.body
    for part in nodes_of(body, into_functions=False):
        if isinstance(part, ast.If) and "__name__" not in ast.unparse(part.test):
            if any(inner is node for inner in nodes_of([*part.body, *part.orelse])):
                return True
    return False
