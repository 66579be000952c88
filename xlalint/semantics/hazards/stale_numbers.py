"""Numbers of Python that a compiled function changes and computes with: `self.step += 1`, and `lr / self.step` beside it.

Python counts while tracing, once for each trace, and the program keeps the number of that trace: every later call computes with
it, without an error (TensorFlow 2.21: fixtures/XLA107/flagged_stale_numbers.py). Names, seeds and places in lists may be counted so.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from xlalint.semantics.facts import COMPILED, TRACE_EFFECT
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards.trace_effects import STALE, TraceEffect
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.syntax import called_name, children_of, nodes_of
from xlalint.semantics.values import PYTHON

# Where what is counted is no number of the program.
_LABELS = frozenset({"name", "seed", "op_seed"})
_SAID = frozenset({"print", "format", "str", "repr", "debug", "info", "warning", "log"})
_SHARED = (ast.Global, ast.Nonlocal)


def note(frame: Frame) -> None:
    """Note the numbers that a function has changed and computes with, after it was run."""
    info = frame.function
    if info is None or frame.silent or frame.context.region != COMPILED:
        return
    for target in _changed(info):
        if not _is_owned(target, frame):
            continue
        value = frame.analysis.evaluate(_as_read(target), frame)
        if value.kind is PYTHON and _is_computed_with(target, info, frame):
            effect = TraceEffect(STALE, ast.unparse(target))
            frame.analysis.note(frame, target, TRACE_EFFECT, value, effect)


@lru_cache(maxsize=4096)
def _changed(info: FunctionInfo) -> tuple[ast.expr, ...]:
    """What a function changes by what it was, and sets nowhere to anything else: `self.n += 1`, `self.n = self.n + 1`.

    Of what may be there before the call and after: an attribute, an entry of one, a name of a scope around.
    """
    found: dict[str, ast.expr] = {}
    reset: set[str] = set()
    for node in info.telling:
        if isinstance(node, ast.AugAssign):
            text = _lasting(node.target)
            if text is not None:
                found.setdefault(text, node.target)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                text = _lasting(target)
                if text is None:
                    continue
                if any(_lasting(part) == text for part in _reads_in(node.value)):
                    found.setdefault(text, target)
                else:
                    reset.add(text)
    left = [target for text, target in found.items() if text not in reset]
    if any(isinstance(target, ast.Name) for target in left):
        shared = _shared_names(info)
        left = [t for t in left if not isinstance(t, ast.Name) or t.id in shared]
    return tuple(left)


def _lasting(target: ast.expr) -> str | None:
    """How a name, an attribute of one, or a written entry of such an attribute is spelt; None of anything else."""
    if isinstance(target, ast.Name):
        return target.id
    owner, entry = target, ""
    if isinstance(target, ast.Subscript):
        if not isinstance(target.slice, ast.Constant):
            return None
        owner, entry = target.value, f"[{target.slice.value!r}]"
    if not isinstance(owner, ast.Attribute) or not isinstance(owner.value, ast.Name):
        return None
    return f"{owner.value.id}.{owner.attr}{entry}"


def _shared_names(info: FunctionInfo) -> set[str]:
    declared = nodes_of(info.body, into_functions=False)
    return {name for node in declared if isinstance(node, _SHARED) for name in node.names}


def _is_owned(target: ast.expr, frame: Frame) -> bool:
    """Whether it is of `self`, or of a scope around."""
    owner = target.value if isinstance(target, ast.Subscript) else target
    if not isinstance(owner, ast.Attribute):
        return True
    return isinstance(owner.value, ast.Name) and owner.value.id == frame.self_name


def _as_read(target: ast.expr) -> ast.expr:
    read = ast.parse(ast.unparse(target), mode="eval").body
    return ast.copy_location(read, target)


def _reads_in(node: ast.AST) -> Iterator[ast.expr]:
    for part in nodes_of([node]):
        if isinstance(part, (ast.Attribute, ast.Name, ast.Subscript)):
            if isinstance(part.ctx, ast.Load):
                yield part


def _is_computed_with(target: ast.expr, info: FunctionInfo, frame: Frame) -> bool:
    """Whether a tensor is computed with the number, or with what Python makes of it, or the number chooses what is returned."""
    was_silent, frame.silent = frame.silent, True
    stale = {ast.unparse(target)}
    found = any(_uses(statement, stale, frame) for statement in info.body)
    frame.silent = was_silent
    return found


def _uses(node: ast.AST, stale: set[str], frame: Frame) -> bool:
    """Go through a statement or expression in order; names that are given what is stale are stale, too."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.JoinedStr)):
        return False
    if isinstance(node, ast.Call) and called_name(node) in _SAID:
        return False
    if isinstance(node, ast.keyword) and node.arg in _LABELS:
        return False
    if isinstance(node, ast.If) and _chooses(node, stale):
        return True
    if isinstance(node, ast.BinOp) and _meets_tensor(node, stale, frame):
        return True
    if isinstance(node, ast.Call) and _is_given(node, stale, frame):
        return True
    if any(_uses(child, stale, frame) for child in children_of(node)):
        return True
    if isinstance(node, ast.Assign) and _is_stale(node.value, stale):
        stale.update(t.id for t in node.targets if isinstance(t, ast.Name))
    return False


def _is_stale(node: ast.expr, stale: set[str]) -> bool:
    return any(ast.unparse(part) in stale for part in _reads_in(node))


def _meets_tensor(node: ast.BinOp, stale: set[str], frame: Frame) -> bool:
    """`lr / self.step * gradient`: a number of Python beside a tensor."""
    for number, other in ((node.left, node.right), (node.right, node.left)):
        if _is_stale(number, stale) and not _is_stale(other, stale):
            value = frame.analysis.evaluate(other, frame)
            if value.is_tensor:
                return frame.analysis.evaluate(number, frame).kind is PYTHON
    return False


def _is_given(node: ast.Call, stale: set[str], frame: Frame) -> bool:
    """`tf.one_hot(self.place, 4)`: an operation that is given the number itself."""
    if not isinstance(node.func, (ast.Attribute, ast.Name)):
        return False
    given = [*node.args, *(k.value for k in node.keywords if k.arg not in _LABELS)]
    if not any(_is_stale(each, stale) for each in given):
        return False
    target = frame.analysis.evaluate(node.func, frame)
    api = frame.analysis.catalog.api(str(target.ref)) if isinstance(target.ref, str) else None
    return api is not None and bool(api.ops) and frame.analysis.evaluate(node, frame).is_tensor


def _chooses(node: ast.If, stale: set[str]) -> bool:
    """`if self.turn % 2: return self.critic_step(x)`: for each call of the program it is as it was while tracing.

    Who asks whether this is the first time may set something up.
    """
    parts = nodes_of([node.test])
    if not any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in parts):
        return False
    returns = any(isinstance(s, ast.Return) and s.value is not None for s in node.body)
    return returns and _is_stale(node.test, stale)
