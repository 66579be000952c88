"""XLA501: `jit_compile=True` in code that goes to a TPU, where everything is compiled with XLA anyway."""

from __future__ import annotations

import ast
import re

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.calls import argument, call_at, with_value, without_argument
from xlalint.fixes.site import DISPLAY, UNSAFE, Site, fix

MENDS = ("XLA501",)

_FLAGS = ("jit_compile", "experimental_compile")
# A file without these may run anywhere: there the flag is only shown without.
_NAMES_TPU = re.compile(r"TPUStrategy|TPUClusterResolver|initialize_tpu_system")
_OPTION = re.compile(r"xla|jit", re.IGNORECASE)
# Strategies that a program takes where it finds no TPU.
_OTHERS = frozenset(
    "get_strategy MirroredStrategy OneDeviceStrategy MultiWorkerMirroredStrategy".split()
)


def propose(site: Site) -> Fix | None:
    """Ask the strategy, where the program may run under another than a TPU's; else take the flag out."""
    call = call_at(site.draft, site.node)
    if call is None:
        return None
    given = next((a for name in _FLAGS if (a := argument(call, name)) is not None), None)
    if given is None or site.draft.code(given.value) != "True":
        return None
    strategy = _strategy_in_scope(site, call)
    if strategy is not None and _may_run_elsewhere(site):
        on_tpu = f"isinstance({strategy}, {site.draft.tensorflow}.distribute.TPUStrategy)"
        return fix(
            UNSAFE,
            "Turn the flag off where the strategy is a TPU's, which compiles with XLA without it; what the flag did there depends "
            "on the version of Keras",
            with_value(site.draft, given, f"not {on_tpu}"),
        )
    if _is_asked_for(site, call):
        return None
    edit = _without_brackets(site, call) if len(call.args) == 1 else None
    return fix(
        UNSAFE if _NAMES_TPU.search(site.draft.text) else DISPLAY,
        "Take the flag out: a TPU compiles with XLA without it; on CPU and GPU this code is then no longer compiled with XLA",
        edit or without_argument(site.draft, call, given),
    )


def _is_asked_for(site: Site, call: cst.Call) -> bool:
    """`if enable_xla: step = tf.function(step, jit_compile=True)`: somebody wants it, and can turn it off."""
    return any(
        isinstance(above, cst.If) and _OPTION.search(site.draft.code(above.test))
        for above in site.draft.ancestors(call)
    )


def _without_brackets(site: Site, call: cst.Call) -> Edit | None:
    """`@tf.function(jit_compile=True)` to `@tf.function`."""
    if not isinstance(site.draft.parent(call), cst.Decorator):
        return None
    name, whole = site.draft.span(call.func), site.draft.span(call)
    return Edit(Span(name.end_line, name.end_column, whole.end_line, whole.end_column), "")


def _strategy_in_scope(site: Site, call: cst.Call) -> str | None:
    """What `model.compile` can ask for the strategy in whose `with strategy.scope():` it stands."""
    tensorflow = site.draft.tensorflow
    is_compile = isinstance(call.func, cst.Attribute) and call.func.attr.value == "compile"
    if not is_compile or tensorflow is None:
        return None
    for above in site.draft.ancestors(call):
        if isinstance(above, (cst.FunctionDef, cst.Lambda)):
            return None
        for item in above.items if isinstance(above, cst.With) else ():
            opened = item.item
            if isinstance(opened, cst.Call) and isinstance(opened.func, cst.Attribute):
                if opened.func.attr.value == "scope":
                    owner = opened.func.value
                    is_name = isinstance(owner, (cst.Name, cst.Attribute))
                    asked = f"{tensorflow}.distribute.get_strategy()"
                    return site.draft.code(owner) if is_name else asked
    return None


def _may_run_elsewhere(site: Site) -> bool:
    """Whether the program makes other strategies too. (The experimental TPUStrategy is another class than today's.)"""
    mentioned = [
        (node.attr, isinstance(node.value, ast.Attribute) and node.value.attr == "experimental")
        for node in ast.walk(site.draft.tree)
        if isinstance(node, ast.Attribute)
    ]
    return any(name in _OTHERS for name, _ in mentioned) and ("TPUStrategy", True) not in mentioned
