"""Tensors that `build` of a Keras 3 layer makes, where the layer is built while another one is traced.

Keras 2 lifts `build` out of the graph. Keras 3 does not: what `self.mask = tf.linalg.band_part(...)` holds belongs to the trace in which
the layer was first called, and the next trace is refused. A layer that a Sequential or functional model holds itself is built
outside of any trace, and so is one whose owner's `build` builds it; one that a subclassed model or another layer calls is
not, whatever is called first (TensorFlow 2.21: fixtures/XLA107/flagged_tensors_of_build.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xlalint.semantics.classes import LAYER, MODEL
from xlalint.semantics.facts import COMPILED, TRACE_EFFECT
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards.trace_effects import BUILT, TraceEffect
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.values import TENSOR, Value

# Methods that say nothing of what a trace reads.
_SET_UP = frozenset({"__init__", "build", "get_config", "from_config", "compute_output_shape"})


class BuiltTensors:
    """What `build` left on layers that were seen to be built inside of others."""

    def __init__(self) -> None:
        self._seen: set[ClassInfo] = set()

    def saw_call(self, cls: ClassInfo, frame: Frame) -> None:
        """A layer is called in compiled code: note what its `build` makes, where that runs in the trace."""
        if cls in self._seen or frame.silent or frame.context.region != COMPILED:
            return
        analysis = frame.analysis
        role = analysis.classes.role(cls)
        if role is None or role.kind != LAYER or not role.is_of_keras_3(analysis.keras):
            return
        if not _is_built_in_trace(frame):
            return
        self._seen.add(cls)
        build = analysis.classes.method(cls, "build")
        if build is None:
            return
        context = frame.context._replace(why=(*frame.context.why, build.qualname))
        inner = Frame(analysis, build.module, build, context)
        for target in _kept_by(build):
            value = analysis.objects.instance_attribute(cls, target.attr)
            if value is not None and value.kind is TENSOR and not (value.guess or value.optional):
                if _is_read(cls, target.attr, frame):
                    effect = TraceEffect(BUILT, ast.unparse(target))
                    analysis.keep(inner, target, TRACE_EFFECT, Value(TENSOR), effect)


def _is_built_in_trace(frame: Frame) -> bool:
    """Whether a subclassed model or a layer is calling, which builds nothing of its own before it is traced."""
    holder = frame.self_value
    if holder is None or not isinstance(holder.ref, ClassInfo) or frame.function is None:
        return False
    role = frame.analysis.classes.role(holder.ref)
    if role is None or role.kind not in (LAYER, MODEL) or frame.function.name in _SET_UP:
        return False
    # One that its owner's `__init__` or `build` builds is built by then.
    own = [frame.analysis.classes.method(holder.ref, name) for name in ("__init__", "build")]
    return not any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "build"
        and not (isinstance(part.func.value, ast.Call) and called_name(part.func.value) == "super")
        for part in nodes_of([method.node for method in own if method is not None])
    )


def _kept_by(build: FunctionInfo) -> Iterator[ast.Attribute]:
    """`self.x` of the assignments that `build` runs whatever its settings, outside of tf.init_scope."""
    body = build.node.body if isinstance(build.node.body, list) else []
    own_name = next((argument.arg for argument in build.node.args.args), None)
    pending: list[ast.stmt] = list(body)
    while pending:
        part = pending.pop(0)
        if isinstance(part, ast.With) and not any(
            "init_scope" in ast.unparse(item.context_expr) for item in part.items
        ):
            pending += part.body
        if not isinstance(part, ast.Assign) or not isinstance(part.value, (ast.Call, ast.BinOp)):
            continue
        for target in part.targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                if target.value.id == own_name:
                    yield target


def _is_read(cls: ClassInfo, attribute: str, frame: Frame) -> bool:
    """Whether a method reads the attribute that does not set the layer up."""
    return any(
        isinstance(part, ast.Attribute)
        and part.attr == attribute
        and isinstance(part.ctx, ast.Load)
        for owner in frame.analysis.classes.line(cls)
        for method in owner.methods.values()
        if method.name not in _SET_UP
        for part in nodes_of([method.node])
    )
