"""Which precision the layers of a project that goes to a TPU compute in: set by a policy of Keras, or left at float32.

A TPU multiplies in bfloat16 either way; what float32 costs is memory, of everything that is kept for the gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from xlalint.semantics.facts import EAGER, PRECISION, Context
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ModuleInfo
from xlalint.semantics.pipelines import Site
from xlalint.semantics.values import INSTANCE, NOTHING_KNOWN, Made, Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.arguments import Arguments

# How it is chosen: the words are on the page of XLA802.
SINGLE = "single-precision"
HALF = "half-precision"

STRATEGIES = frozenset({"tf.distribute.TPUStrategy", "tf.distribute.experimental.TPUStrategy"})
_POLICIES = frozenset(
    {"keras.mixed_precision.Policy", "keras.mixed_precision.DTypePolicy", "keras.DTypePolicy"}
    | {f"keras.dtype_policies.{name}" for name in ("DTypePolicy", "FloatDTypePolicy")}
    | {"keras.mixed_precision.experimental.Policy", "keras.FloatDTypePolicy"}
)


class Precision:
    """Collects policies and TPU strategies while driver code is run, and judges when all has been seen."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._halves: dict[Site, None] = {}
        self._strategies: dict[Site, None] = {}
        self._is_chosen = False

    def saw_policy(self, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """`set_global_policy(...)`: `mixed_float16` where that is known."""
        self._is_chosen = True
        given = [*arguments.positional, *arguments.keywords.values()]
        if given and policy_name(given[0]) == "mixed_float16":
            self._halves.setdefault(Site(node, frame.module, frame.function))

    def saw_strategy(self, node: ast.AST, frame: Frame) -> None:
        """A TPUStrategy is made."""
        if not frame.silent:
            self._strategies.setdefault(Site(node, frame.module, frame.function))

    def judge(self, modules: Iterable[ModuleInfo], *, has_models: bool) -> None:
        """Keep the facts. A project that names bfloat16 anywhere has thought of it: nothing is said."""
        if not self._strategies or any("bfloat16" in module.text for module in modules):
            return
        for site in self._halves:
            self._keep(site, HALF)
        if has_models and not self._is_chosen:
            for site in self._strategies:
                self._keep(site, SINGLE)

    def _keep(self, site: Site, how: str) -> None:
        context = Context(EAGER, False, False, ())
        frame = Frame(self._analysis, site.module, site.function, context)
        self._analysis.keep(frame, site.node, PRECISION, NOTHING_KNOWN, how)


def is_policy(name: str) -> bool:
    """Whether this is the name of a class of policies."""
    return name in _POLICIES


def make_policy(name: str, arguments: Arguments) -> Value | None:
    """`keras.mixed_precision.Policy("mixed_float16")`; None for a call of anything else."""
    if name not in _POLICIES:
        return None
    given = {**dict(zip(("name",), arguments.positional)), **arguments.keywords}
    return Value(INSTANCE, ref=Made(name, tuple(sorted(given.items()))))


def policy_name(value: Value) -> str | None:
    """`"mixed_float16"`, or what a policy object was made with, where that is known."""
    if value.kind is INSTANCE and type(value.ref) is Made and value.ref.name in _POLICIES:
        return policy_name(dict(value.ref.arguments).get("name", NOTHING_KNOWN))
    known = value.constant()
    return known.value if known is not None and isinstance(known.value, str) else None
