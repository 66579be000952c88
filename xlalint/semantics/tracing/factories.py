"""Functions that make what is compiled: `def make_step(model): @tf.function def step(x): ...`, where nobody in sight calls them.

What the compiled function closes over is what the factory's body makes of parameters of which nothing is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlalint.semantics import free_parameters
from xlalint.semantics.facts import EAGER, Context
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.values import INSTANCE, Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis


class Factories:
    """Runs factories for the names that the functions within them read."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    def was_run(self, info: FunctionInfo) -> bool:
        """Whether the function around this one was run, if there is one."""
        return info.parent is None or self._analysis.modules.closures.around(info) is not None

    def run_around(self, info: FunctionInfo) -> None:
        """Run the function around this one where nothing did: silently, and without having met what it calls."""
        factory = info.parent
        if factory is None or self.was_run(info):
            return
        self.run_around(factory)
        functions = self._analysis.functions
        met = len(functions.visited)
        made = Value(INSTANCE, ref=factory.cls) if factory.cls is not None else None
        context = Context(EAGER, False, False, (factory.qualname,))
        frame = functions.frame_of(factory, context, made, 0)
        frame.silent = True
        frame.names.update(free_parameters.held(factory, frame, assumed=False))
        if frame.self_name is not None and made is not None:
            frame.names[frame.self_name] = made
        functions.running.append(factory)
        try:
            functions.run_body(factory, frame)
        finally:
            functions.running.pop()
            functions.leave_unmet(met)
