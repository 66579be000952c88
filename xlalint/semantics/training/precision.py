"""Which precision the layers of a project that goes to a TPU compute in: set by a policy of Keras, or left at float32.

A TPU multiplies in bfloat16 either way; what float32 costs is memory, of everything that is kept for the gradient.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from xlalint.semantics.classes import LAYER
from xlalint.semantics.facts import EAGER, PRECISION, Context
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo, FunctionInfo, ModuleInfo
from xlalint.semantics.training.pipelines import Site
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

# `set_global_policy("mixed_bfloat16")`, or with a policy made of the name; read off the syntax, for layers are looked at before it is run.
_MIXED = re.compile(
    r"set_(?:global_|dtype_)?policy\(\s*(?:policy\s*=\s*)?(?:[\w.]*Policy\(\s*(?:name\s*=\s*)?)?[\"']mixed_(b?float16)[\"']"
)
_FOR_TPUS = re.compile(r"tpu", re.IGNORECASE)
# A layer that says itself what it computes in, or leaves its inputs as they are.
_OWN_DTYPE = re.compile(r"autocast|__init__\([^)]*dtype\s*=")
# What is made with a dtype: `Scores(8, dtype=tf.float32)`.
_MADE_WITH_DTYPE = re.compile(r"\b(\w+)\((?=[^)]*\bdtype\s*=)")


class Precision:
    """Collects policies and TPU strategies while driver code is run, and judges when all has been seen."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._halves: dict[Site, None] = {}
        self._strategies: dict[Site, None] = {}
        self._is_chosen = False
        self._mixed: str | None = None
        self._of_layers: dict[ClassInfo, str | None] = {}
        self._told: frozenset[str] | None = None

    def read(self, modules: Iterable[ModuleInfo]) -> None:
        """Look for a mixed policy in the texts of a project."""
        programs = (module for module in modules if not module.is_test)
        # Finding a word in a long text is quick, and finding none is the rule.
        set_one = (module for module in programs if "policy(" in module.text)
        mentions = (module for module in set_one if _MIXED.search(module.text))
        found = (dtype for module in mentions for dtype in _set_in(module.tree.body))
        self._mixed = next(found, None)

    @property
    def is_mixed(self) -> bool:
        return self._mixed is not None

    def of_inputs(self, info: FunctionInfo) -> str | None:
        """What Keras casts the inputs of a layer of the project to, before it runs its `call`; None where it casts nothing, or may not."""
        if self._mixed is None or info.cls is None:
            return None
        if info.cls not in self._of_layers:
            self._of_layers[info.cls] = self._of_layer(info.cls)
        return self._of_layers[info.cls]

    def _of_layer(self, cls: ClassInfo) -> str | None:
        role = self._analysis.classes.role(cls)
        if role is None or role.kind != LAYER:
            return None
        own = "\n".join(cls.module.text.split("\n")[cls.node.lineno - 1 : cls.node.end_lineno])
        is_told = cls.name in self._made_with_dtype()
        return None if is_told or _OWN_DTYPE.search(own) else self._mixed

    def _made_with_dtype(self) -> frozenset[str]:
        """The names of what the project makes with a dtype, read once: projects have thousands of layers and modules."""
        if self._told is None:
            modules = self._analysis.modules.project.modules.values()
            texts = (m.text for m in modules if m is not None and "dtype" in m.text)
            self._told = frozenset(
                made[1] for text in texts for made in _MADE_WITH_DTYPE.finditer(text)
            )
        return self._told

    def saw_policy(self, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
        """`set_global_policy(...)`: `mixed_float16` where that is known."""
        self._is_chosen = True
        given = [*arguments.values]
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


def _set_in(body: Iterable[ast.stmt]) -> Iterator[str]:
    """The dtypes of mixed policies that these statements set, whatever a setting says: in an arm, only of a question about TPUs."""
    for statement in body:
        is_chosen = isinstance(statement, ast.If) and not _FOR_TPUS.search(
            ast.unparse(statement.test)
        )
        blocks = [getattr(statement, name, ()) for name in ("body", "orelse", "finalbody")]
        if any(blocks):
            for block in blocks if not is_chosen else ():
                yield from _set_in(block)
        elif isinstance(statement, ast.Expr):
            match = _MIXED.search(ast.unparse(statement))
            if match is not None:
                yield match.group(1)


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
