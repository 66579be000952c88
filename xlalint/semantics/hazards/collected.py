"""Lists and dictionaries that code under a tensor condition, or in a loop of the graph, fills while tracing.

AutoGraph carries round what statements bind (`results["loss"] = loss`), and no method of Python's containers: `losses.append(loss)`,
`results.update(loss=loss)` and `results.setdefault("loss", loss)` run once, while tracing. A tensor made in there is out of reach outside;
one from outside, or a number, is in the container whatever the data say, and once only (all measured, TensorFlow 2.15 and 2.21:
fixtures/XLA107/flagged_lists_of_tensors.py, flagged_lists_that_grow_once.py, flagged_dictionaries_filled_in_arms.py).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Iterator

from xlalint.semantics.control_flow.liveness import binds_in, is_live_after, is_shared
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import TRACE_EFFECT
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import read_later
from xlalint.semantics.hazards.trace_effects import COLLECTED, LEAKED, TraceEffect
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import COLLECTION, MAPPING, PYTHON, SEQUENCE, Value

_FILLING = frozenset({"append", "extend", "insert", "add", "update", "setdefault"})


def note_collected(node: ast.AST, owner: ast.expr, added: Value, frame: Frame) -> None:
    """`items.append(tensor)` inside a conditional, a loop, or the body of one: read outside, the tensor is out of reach."""
    if not isinstance(owner, ast.Name) or not frame.context.is_compiled or frame.silent:
        return
    if frame.constructs and owner.id in frame.names:
        _note_in_statement(node, owner.id, added, None, frame)
    elif frame.function in frame.analysis.graph_bodies and owner.id not in frame.names:
        _note_in_body(node, owner.id, added, frame)


def note_updated(
    node: ast.Call, owner: ast.expr, added: Iterable[tuple[Hashable, Value]], frame: Frame
) -> None:
    """`results.update(loss=loss)`, of keys that are known, inside a conditional or a loop."""
    if not isinstance(owner, ast.Name) or not frame.context.is_compiled or frame.silent:
        return
    if frame.constructs and owner.id in frame.names:
        for key, value in added:
            if key is not None and _note_in_statement(node, owner.id, value, key, frame):
                return


def note_stored(target: ast.Subscript, added: Value, frame: Frame) -> None:
    """`results[f"step_{i}"] = x` inside a conditional or a loop: AutoGraph carries items round by constants and names, and
    none under a key that is made there.
    """
    if not isinstance(target.value, ast.Name) or not frame.context.is_compiled or frame.silent:
        return
    if not isinstance(target.slice, (ast.JoinedStr, ast.BinOp, ast.Call)) or not added.is_tensor:
        return
    name = target.value.id
    construct = next((c for c in reversed(frame.constructs) if not _is_local(c, name)), None)
    body = frame.function.node.body if frame.function is not None else None
    if construct is None or not isinstance(body, list) or is_shared(body, name):
        return
    if not is_live_after(body, construct, name) or _is_only_filled(frame.function, name):
        return
    if _is_stored_in(target, construct):
        where = "a conditional" if isinstance(construct, ast.If) else "a loop"
        frame.analysis.note(frame, target, TRACE_EFFECT, added, TraceEffect(LEAKED, name, where))


def _is_stored_in(target: ast.Subscript, construct: ast.stmt) -> bool:
    """Whether what is stored is computed inside: an expression, or a name that the construct binds."""
    for statement in nodes_of([construct]):
        if isinstance(statement, ast.Assign) and target in statement.targets:
            made = statement.value
            return not isinstance(made, ast.Name) or _is_local(construct, made.id)
    return False


def _note_in_statement(
    node: ast.AST, name: str, added: Value, key: Hashable | None, frame: Frame
) -> bool:
    construct = next((c for c in reversed(frame.constructs) if not _is_local(c, name)), None)
    body = frame.function.node.body if frame.function is not None else None
    if construct is None or not isinstance(body, list) or is_shared(body, name):
        return False
    if not is_live_after(body, construct, name) or _is_only_filled(frame.function, name):
        return False
    end = construct.end_lineno or construct.lineno
    if key is not None and not read_later.is_item_read(body, name, key, end):
        return False
    is_arm = isinstance(construct, ast.If)
    holds_tensors = any(leaf.is_tensor for leaf in leaves(added))
    is_made_inside = holds_tensors and _is_made_in(node, key, construct)
    kind = LEAKED if is_made_inside else COLLECTED
    if kind == COLLECTED and not all(map(_is_settled, leaves(added))):
        return False
    if kind == COLLECTED and not is_arm and (key is not None or _is_read_for_its_last(body, name)):
        return False  # the same item in each step
    where = "a conditional" if is_arm else "a loop"
    frame.analysis.note(frame, node, TRACE_EFFECT, added, TraceEffect(kind, name, where))
    return True


def _is_settled(added: Value) -> bool:
    """Whether it is known for a number, or for a tensor from outside, which stays in reach."""
    if added.is_tensor:
        return added.sure and not (added.guess or added.structured or added.optional)
    return added.kind is PYTHON


def _is_only_filled(info: FunctionInfo | None, name: str) -> bool:
    """Whether a function fills a list or dictionary of its own, and reads it nowhere: `names.append("left")` for a message that is gone."""
    if info is None or name in info.parameter_names:
        return False
    return _is_read_only(list(nodes_of(info.body)), name, _fills)


def _is_read_for_its_last(body: list[ast.stmt], name: str) -> bool:
    """Whether nothing is read of a list but `items[-1]`, which is the same however often it was put there."""
    return _is_read_only(list(nodes_of(body)), name, lambda n, of: _fills(n, of) or _is_last(n, of))


def _is_read_only(nodes: list[ast.AST], name: str, so: Callable[[ast.AST, str], bool]) -> bool:
    """Whether each place that reads a name is one of those that are meant."""
    read = sum(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        for node in nodes
    )
    return read == sum(so(node, name) for node in nodes)


def _is_last(node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return False
    return node.value.id == name and ast.unparse(node.slice) == "-1"


def _fills(node: ast.AST, name: str) -> bool:
    """`names.append(...)` as a statement, and `names[key] = ...`."""
    owner: ast.AST | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        owner = node.value
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        method = node.value.func
        if isinstance(method, ast.Attribute) and method.attr in _FILLING:
            owner = method.value
    return isinstance(owner, ast.Name) and owner.id == name


def _is_local(construct: ast.stmt, name: str) -> bool:
    return any(
        binds_in(block, name)
        for block in (getattr(construct, "body", ()), getattr(construct, "orelse", ()))
    )


def _is_made_in(node: ast.AST, key: Hashable | None, construct: ast.stmt) -> bool:
    """Whether what a call adds, under this key if there is one, is computed inside: an expression, or a name that the construct binds."""
    if not isinstance(node, ast.Call):
        return False
    target = getattr(construct, "target", None)
    bound = {part.id for part in nodes_of([target] if target else []) if isinstance(part, ast.Name)}
    return any(
        added.id in bound or _is_local(construct, added.id)
        if isinstance(added, ast.Name)
        else isinstance(added, (ast.Call, ast.BinOp, ast.Subscript, ast.UnaryOp, ast.Compare))
        for added in _added_by(node, key)
    )


def _added_by(call: ast.Call, key: Hashable | None) -> Iterator[ast.expr]:
    """What a call puts into a container, item by item where they are written out; with `key`, what that item may be."""
    named = [k.value for k in call.keywords if key is None or k.arg in (None, key)]
    pending = [*call.args[-1:], *named]
    while pending:
        added = pending.pop()
        if isinstance(added, (ast.List, ast.Tuple)):
            pending += added.elts
        elif isinstance(added, ast.Dict):
            pairs = zip(added.keys, added.values)
            pending += [value for name, value in pairs if key is None or _may_be(name, key)]
        else:
            yield added


def _may_be(name: ast.expr | None, key: Hashable) -> bool:
    return not isinstance(name, ast.Constant) or name.value == key


def _note_in_body(node: ast.AST, name: str, added: Value, frame: Frame) -> None:
    """A callback of tf.while_loop, tf.map_fn, tf.cond...: a list of the function around it collects the callback's tensors."""
    outer = frame.outer
    if outer is None or outer.function is None or not any(v.is_tensor for v in leaves(added)):
        return
    held = outer.names.get(name)
    if held is None or held.kind not in (SEQUENCE, COLLECTION, MAPPING):
        return
    item = read_later.item_of(node) if held.kind is MAPPING else None
    if read_later.is_read(outer.function, frame.function, node, name, item):
        where = "the body of a loop or conditional"
        frame.analysis.note(frame, node, TRACE_EFFECT, added, TraceEffect(LEAKED, name, where))
