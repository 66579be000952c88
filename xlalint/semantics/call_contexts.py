"""In which context a function of the project runs when it is called: compiled or not, by what, and converted by AutoGraph or not."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.facts import ASSUMED, COMPILED, EAGER, Context
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.tracing import host_use
from xlalint.semantics.tracing.traits import Traits
from xlalint.semantics.values import Wrapping

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis


def context_of_call(
    info: FunctionInfo,
    frame: Frame,
    converted: bool | None,
    made: Wrapping | None,
    closure: int | None,
) -> Context:
    """The context of a call that stands in `frame`; what it says of the caller is noted.

    `converted` says whether what calls the function hands it to AutoGraph (None: as its caller is), `made` what tf.function made of
    it, `closure` which of the nested functions of its text it is.
    """
    analysis = frame.analysis
    own = analysis.traits(info)
    here = frame.context
    if made is not None:
        converted = made.converts
    if own.jit_node is not None and here.is_compiled and not here.jit:
        analysis.host_functions.calls_compiled(frame.function)
    if own.tf_function and not own.jit:
        analysis.host_functions.calls_traced(info, here)
    is_made_here = own.tf_function and info.parent is not None and here.region == ASSUMED
    is_its_own = is_made_here and info.parent is frame.function
    if own.tf_function and here.region == ASSUMED:
        frame.host |= host_use.TRACES
    if is_its_own or (own.tf_function and here.region == ASSUMED and _updates_weights(info)):
        frame.host |= host_use.WORK  # it drives a step that compiles itself
    if is_made_here or not here.is_compiled:
        return _of_eager_call(info, own, made, frame)
    is_rewritten = _is_rewritten(info, here, closure, analysis)
    if is_rewritten:
        is_converted = not info.is_generator and info.refused_syntax is None
    elif own.tf_function:
        is_converted = own.autograph and own.never_converted is None
    else:
        allowed = here.converted if converted is None else converted
        is_converted = allowed and own.never_converted is None
    return Context(
        here.region,
        is_converted,
        here.jit or own.jit,
        here.why if here.why and here.why[-1] == info.qualname else (*here.why, info.qualname),
        here.root,
        (is_rewritten and here.may_convert)
        or _may_convert(own, here)
        or (converted is True and own.never_converted != "do_not_convert"),
    )


def _of_eager_call(info: FunctionInfo, own: Traits, made: Wrapping | None, frame: Frame) -> Context:
    """That of a call from eager code: compiled where the function, or what was made of it, is a tf.function."""
    here = frame.context
    if own.tf_function and not frame.silent:
        why = (*here.why, f"@tf.function {info.qualname}")
        converts_it = own.autograph and own.never_converted is None
        return Context(COMPILED, converts_it, own.jit, why, info, own.autograph)
    if made is not None and here.region == EAGER and not frame.silent:
        converts_it = made.converts and own.never_converted is None
        why = (*here.why, "tf.function", info.qualname)
        return Context(COMPILED, converts_it, made.jit, why, info, made.converts)
    return Context(EAGER, False, False, (*here.why, info.qualname)[-6:])


def _is_rewritten(
    info: FunctionInfo, here: Context, closure: int | None, analysis: Analysis
) -> bool:
    """Whether a function was converted with the text of the one around it: then it is so wherever it is passed, to
    tf.scan, `map`, do_not_convert or `tf.function(autograph=False)` (measured, TF 2.15 and 2.21).

    What is compiled by Keras or tf.function was made before by a function that nobody was seen to compile.
    """
    around = analysis.modules.closures.around(info, closure)
    if around is None or not around.context.converted:
        return False
    return around.context.region == COMPILED or here.region == ASSUMED


def _may_convert(own: Traits, here: Context) -> bool:
    if own.tf_function:
        return own.autograph
    return here.may_convert and own.never_converted != "do_not_convert"


# How a step brings its gradients to the weights.
_UPDATES = frozenset({"apply_gradients", "minimize"})


def _updates_weights(info: FunctionInfo) -> bool:
    """Whether a function is a step of a training: its own text hands gradients to an optimizer."""
    return any(
        isinstance(call.func, ast.Attribute) and call.func.attr in _UPDATES for call in info.calls
    )
