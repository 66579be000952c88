"""Tensors of one trace that Python keeps for the next: on `self`, in a dictionary, behind functools.lru_cache.

`self.average = 0.9 * self.average + 0.1 * tf.reduce_mean(x)` holds a tensor of the graph that is being traced. The compiled program
never sees it again, and the next trace is refused: "is out of scope and cannot be used here". Keras 3 traces a layer once to learn
its shapes and once more for the training step, so it fails in the first `fit`, also where the model was called eagerly before; Keras 2
and tf.function at the second trace: another shape, evaluation, new variables (TensorFlow 2.15 and 2.21:
fixtures/XLA107/flagged_kept_tensors.py).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xlalint.semantics import eager
from xlalint.semantics.classes import LAYER, MODEL, SETTING_UP, TRACED_METHODS
from xlalint.semantics.control_flow import old_reads
from xlalint.semantics.elements import element, leaves
from xlalint.semantics.facts import COMPILED, TRACE_EFFECT
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards.trace_effects import CACHED, KEPT, REMEMBERED, TraceEffect
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.syntax import called_name, last_name, nodes_of
from xlalint.semantics.values import ARRIVING, CAPTURED, COLLECTION, SEQUENCE, TENSOR, Value

# What makes a tensor where it stands; a name alone may hold one that eager code made.
_MADE = (ast.BinOp, ast.Call, ast.Compare, ast.UnaryOp)


def note_kept(target: ast.expr, value: Value, frame: Frame) -> None:
    """`self.last = tensor`, `self.last = [tensor, tensor]` or `self.cache[key] = tensor` in a compiled method that another trace reads it in."""
    owner = target.value if isinstance(target, ast.Subscript) else target
    if isinstance(target, ast.Subscript) and _is_graph(target.slice):
        return
    if value.kind is SEQUENCE or value.kind is COLLECTION:
        value = element(value)
    cls, function = _holder(owner, value, frame), frame.function
    if cls is None or function is None or not isinstance(function.node.body, list):
        return
    assert isinstance(owner, ast.Attribute)
    kept = old_reads.kept_in(function.node.body, target, owner)
    if kept is None or not (isinstance(kept.made, _MADE) or _comes_of_data(value)):
        return
    if _is_let_go(function.node.body, owner.attr) or _is_put_back(function.node.body, owner.attr):
        return
    if not kept.is_renewed and _is_there_before(cls, owner.attr, frame):
        return
    kind = KEPT if kept.is_renewed else _once(cls, frame)
    effect = TraceEffect(kind, ast.unparse(target))
    frame.analysis.note(frame, target, TRACE_EFFECT, value, effect)


def _is_let_go(body: list[ast.stmt], attribute: str) -> bool:
    """Whether the method itself sets the attribute to None, too: what one call keeps for the next of the same trace, that one drops."""
    return any(
        isinstance(part, ast.Assign)
        and isinstance(part.value, ast.Constant)
        and part.value.value is None
        and any(isinstance(t, ast.Attribute) and t.attr == attribute for t in part.targets)
        for part in nodes_of(body)
    )


def _is_put_back(body: list[ast.stmt], attribute: str) -> bool:
    """Whether the method sets the attribute to what it was in the end: `kernel = self.kernel; self.kernel = normed; ...; self.kernel = kernel`."""
    assigned = [part for part in nodes_of(body) if isinstance(part, ast.Assign)]
    before = {
        target.id: part.lineno
        for part in assigned
        for target in part.targets
        if isinstance(target, ast.Name)
        and isinstance(part.value, ast.Attribute)
        and part.value.attr == attribute
    }
    setting = [
        part
        for part in assigned
        if any(isinstance(t, ast.Attribute) and t.attr == attribute for t in part.targets)
    ]
    last = max(setting, key=lambda part: part.lineno, default=None)
    if last is None or not isinstance(last.value, ast.Name) or last.value.id not in before:
        return False
    return before[last.value.id] < min(part.lineno for part in setting)


def _is_graph(key: ast.expr) -> bool:
    """`cache[tf.compat.v1.get_default_graph()]`, `cache[x.graph]`: each trace has a graph of its own, and finds what it has kept itself."""
    name = called_name(key) if isinstance(key, ast.Call) else last_name(key)
    return name in ("graph", "default_graph", "get_default_graph")


def _holder(owner: ast.expr, value: Value, frame: Frame) -> ClassInfo | None:
    """The class of the object on which `self.owner` outlives the trace with a tensor of it; None where it does not, or another method sets it."""
    if not _is_of_a_trace(value) or frame.silent or frame.context.region != COMPILED:
        return None
    holder = frame.self_value
    if frame.function is None or holder is None or not isinstance(holder.ref, ClassInfo):
        return None
    if not isinstance(owner, ast.Attribute) or not _is_self(owner.value, frame):
        return None
    if not _lives_on(holder.ref, frame) or _is_set_elsewhere(holder.ref, owner.attr, frame):
        return None
    return holder.ref


def note_kept_in_list(node: ast.Call, place: ast.expr, added: Value, frame: Frame) -> None:
    """`self.losses.append(loss)` in a compiled method that reads the list as a whole: it holds tensors of the traces before.

    So does a list under one key of a dictionary, and a list of tuples.
    """
    owner = place
    if isinstance(place, ast.Subscript) and isinstance(place.slice, ast.Constant):
        owner = place.value
    tensor = next((leaf for leaf in leaves(added) if _is_of_a_trace(leaf)), None)
    if tensor is None or not isinstance(owner, ast.Attribute):
        return
    cls, function = _holder(owner, tensor, frame), frame.function
    if cls is None or function is None or not isinstance(place, (ast.Attribute, ast.Subscript)):
        return
    if _is_emptied(cls, owner.attr, frame):
        return
    traced = (function, *_traced_beside(cls, function, frame))
    if any(old_reads.reads_a_list(each.body, place) for each in traced):
        effect = TraceEffect(KEPT, ast.unparse(place))
        frame.analysis.note(frame, node, TRACE_EFFECT, tensor, effect)


def note_remembered(node: ast.AST, value: Value, frame: Frame) -> None:
    """A call of a function whose results functools.lru_cache remembers, that gives a tensor of this trace."""
    if not _is_of_a_trace(value) or frame.silent:
        return
    if frame.context.region != COMPILED or frame.context.root is None:
        return
    root = frame.context.root.cls
    kind = REMEMBERED if root is None else _once(root, frame)
    frame.analysis.note(frame, node, TRACE_EFFECT, value, TraceEffect(kind, ast.unparse(node)))


def note_kept_property(
    node: ast.expr, value: Value, cls: ClassInfo, attribute: str, frame: Frame
) -> None:
    """A functools.cached_property whose first reader, as far as anybody sees, is traced: the object keeps a tensor of that trace."""
    if not _is_of_a_trace(value) or frame.silent:
        return
    if frame.context.region != COMPILED or frame.context.root is None or not _lives_on(cls, frame):
        return
    method = frame.analysis.classes.method(cls, attribute)
    if method is None or any(called_name(call) == "init_scope" for call in method.calls):
        return
    if not (_is_set_elsewhere(cls, attribute, frame) or _is_read_before(cls, attribute, frame)):
        effect = TraceEffect(_once(cls, frame), ast.unparse(node))
        frame.analysis.note(frame, node, TRACE_EFFECT, value, effect)


def _is_read_before(cls: ClassInfo, attribute: str, frame: Frame) -> bool:
    """Whether a method that sets the object up asks for the attribute."""
    methods = (frame.analysis.classes.method(cls, name) for name in SETTING_UP)
    return any(
        isinstance(part, ast.Attribute) and part.attr == attribute
        for method in methods
        if method is not None
        for part in nodes_of([method.node])
    )


def _is_self(node: ast.expr, frame: Frame) -> bool:
    return isinstance(node, ast.Name) and node.id == frame.self_name


def _is_of_a_trace(value: Value) -> bool:
    """Whether it is a tensor for certain, and not one that eager code made."""
    return value.kind is TENSOR and not (value.guess or value.optional or eager.is_made(value))


def _comes_of_data(value: Value) -> bool:
    return value.dependence >= ARRIVING and value.dependence != CAPTURED


def _lives_on(cls: ClassInfo, frame: Frame) -> bool:
    """Whether an object is there before tracing begins, and after: what Keras calls, and the object whose method is compiled."""
    role = frame.analysis.classes.role(cls)
    if role is not None and role.kind in TRACED_METHODS:
        return True
    root = frame.context.root
    return (
        root is not None and root.cls is not None and root.cls in frame.analysis.classes.line(cls)
    )


def _is_set_elsewhere(cls: ClassInfo, attribute: str, frame: Frame) -> bool:
    """Whether another method, or somebody outside, sets the attribute: it may be cleared before each trace."""
    if frame.analysis.configurations.is_set_outside(cls, attribute):
        return True
    return any(
        attribute in method.attributes.stored
        for owner in frame.analysis.classes.line(cls)
        for method in owner.methods.values()
        if method.name not in SETTING_UP and method is not frame.function
    )


def _traced_beside(cls: ClassInfo, function: FunctionInfo, frame: Frame) -> Iterator[FunctionInfo]:
    """The methods that Keras traces with one of them: `result` of a metric, beside `update_state`."""
    role = frame.analysis.classes.role(cls)
    names = TRACED_METHODS.get(role.kind, ()) if role is not None else ()
    for name in names if function.name in names else ():
        method = frame.analysis.classes.method(cls, name)
        if method is not None and method is not function:
            yield method


def _is_emptied(cls: ClassInfo, attribute: str, frame: Frame) -> bool:
    """Whether a method empties the list: `self.losses.clear()`, `self.losses = []`, `del self.losses[:]`."""
    return any(
        isinstance(part, ast.Attribute) and part.attr == attribute
        for owner in frame.analysis.classes.line(cls)
        for method in owner.methods.values()
        if method.name not in SETTING_UP
        for emptied in old_reads.emptied_in(method.body)
        for part in (emptied.value if isinstance(emptied, ast.Subscript) else emptied,)
    )


def _is_there_before(cls: ClassInfo, attribute: str, frame: Frame) -> bool:
    """Whether a method that sets the object up leaves more in the attribute than a word, None or a container to be filled."""
    methods = (frame.analysis.classes.method(cls, name) for name in SETTING_UP)
    return any(
        isinstance(part, ast.Assign)
        and not isinstance(part.value, (ast.Constant, ast.Dict, ast.List))
        and any(isinstance(t, ast.Attribute) and t.attr == attribute for t in part.targets)
        for method in methods
        if method is not None
        for part in nodes_of([method.node])
    )


def _once(cls: ClassInfo, frame: Frame) -> str:
    """What it is to keep a tensor that is made once: layers and models of Keras 3 are traced again whatever is done with them."""
    role = frame.analysis.classes.role(cls)
    if role is None or role.kind not in (LAYER, MODEL):
        return REMEMBERED
    return CACHED if role.is_of_keras_3(frame.analysis.keras) else REMEMBERED
