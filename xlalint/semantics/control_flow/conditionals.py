"""The arms of a conditional on a tensor: what each leaves behind, and whether one conditional can be made of them.

AutoGraph (and `tf.cond` below it) wants the same names, structure and dtypes from both arms while tracing; XLA wants the same
rank when it compiles. Neither asks which arm will run: both are traced and compiled, even where the test is known beforehand,
as `tf.rank(x) == 1` is (all measured on TensorFlow 2.21).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xlalint.semantics import symbolic
from xlalint.semantics.control_flow import (
    chosen,
    floating_arms,
    guarded_sizes,
    left_returns,
    named_tests,
    raised,
    relative_ranks,
    step_ways,
    unequal_arms,
)
from xlalint.semantics.control_flow.chosen import dtype_in_graph
from xlalint.semantics.control_flow.differences import Difference, difference, is_vague, missing_key
from xlalint.semantics.control_flow.liveness import binds_in, is_live_after, is_shared, path_to
from xlalint.semantics.facts import ARMS
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients import empty_arms, sliced_arms
from xlalint.semantics.joins import join
from xlalint.semantics.local_names import Changes
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import (
    MAPPING,
    NONE,
    PYTHON,
    SEQUENCE,
    SHAPE,
    TENSOR,
    TENSOR_ARRAY,
    UNKNOWN,
    VARIABLE,
    Content,
    Value,
)


@dataclass(slots=True)
class Arm:
    """One arm, after it was run: what it changed, whether its end is reached, and what it returned."""

    block: Sequence[ast.stmt]
    changes: Changes
    ends: bool
    returned: list[Value]


@dataclass(slots=True)
class Split:
    """A conditional of which an arm returns: AutoGraph makes the other arm of all that follows it."""

    node: ast.If
    test: Value
    arms: tuple[Arm, Arm]
    position: int


def becomes_one(test: Value, frame: Frame) -> bool:
    """Whether AutoGraph makes a graph conditional of a Python one with this test."""
    return (
        test.is_tensor
        and frame.context.converted
        and frame.context.is_compiled
        and not frame.silent
        and not (test.structured or test.optional or test.guess or symbolic.is_symbolic(test))
    )


def with_what_is_skipped(node: ast.If, frame: Frame) -> ast.If | None:
    """`if t: continue` in a loop: AutoGraph makes the other arm of what is left of the loop's body.

    Returns that conditional, its arms without `continue`; None where nothing is skipped, or more than this block is.
    """
    body = frame.function.node.body if frame.function is not None else None
    skips = [bool(arm) and isinstance(arm[-1], ast.Continue) for arm in (node.body, node.orelse)]
    if skips[0] == skips[1] or not frame.loops or not isinstance(body, list):
        return None
    path = path_to(body, node)
    if not path or path[-1].owner is not frame.loops[-1]:
        return None
    rest = list(path[-1].block[path[-1].place + 1 :])
    arms = [node.body[:-1], [*node.orelse, *rest]]
    if skips[1]:
        arms = [[*node.body, *rest], node.orelse[:-1]]
    whole = ast.If(test=node.test, body=arms[0] or [ast.Pass()], orelse=arms[1])
    return ast.copy_location(whole, node) if rest else None


def run_arm(block: Sequence[ast.stmt], run: Callable[[], bool], frame: Frame) -> Arm:
    """Run one arm, take back what it changed, and compare the conditionals in it that return with what follows them."""
    position = len(frame.returned)
    opened = len(frame.splits)
    frame.names.fork()
    frame.arms += 1
    ends = run()
    frame.arms -= 1
    close_splits(frame, opened, ends)
    return Arm(block, frame.names.take_back(), ends, frame.returned[position:])


def note_arms(node: ast.If, test: Value, first: Arm, second: Arm, frame: Frame) -> None:
    """Note what keeps the arms from becoming one conditional, at its test or at the `raise` in one."""
    found = _raised(node, frame)
    is_left = not frame.loops and left_returns.returns_in_one_arm(node, frame)
    if is_left:
        frame.one_armed.add(node)
    if found is None and is_left:
        found = Difference("return", "a value", "goes on without one")
    if found is None and all(
        arm.ends or step_ways.leaves(arm.block, frame) for arm in (first, second)
    ):
        found = _state(node, first, second, frame)
    asked = named_tests.written(node.test, frame.function)
    note_guarded(asked, test, node.body, node.orelse, frame)
    if first.ends and second.ends:
        changes = first.changes, second.changes
        sliced_arms.note_names(node, test, asked, node.body, node.orelse, changes, frame)
    if found is None and _asks_for_rank(asked, frame):
        found = Difference("rank-test", "", "")
    if found is None and _asks_python_in_graph(asked, frame):
        found = Difference("static-test", "", "")
    if found is not None:
        at = node.body[0] if found.variant == "raise-given" else node.test
        frame.analysis.note(frame, at, ARMS, test, found)
    if (first.returned or second.returned) and not (frame.loops or is_left):
        frame.splits.append(Split(node, test, (first, second), len(frame.returned)))


def note_guarded(
    test: ast.expr, value: Value, first: Sequence[ast.AST], second: Sequence[ast.AST], frame: Frame
) -> None:
    """Note the call of an arm that asks for a size which is negative, or more than there is, where the other arm is meant."""
    if frame.silent or not frame.context.is_compiled:
        return
    found = guarded_sizes.guarded_size(test, value, first, second, frame)
    if found is not None:
        variant = "guarded-part" if found.is_part else "guarded-size"
        detail = Difference(variant, found.size, ast.unparse(test))
        frame.analysis.note(frame, found.call, ARMS, value, detail)


def _raised(node: ast.If, frame: Frame) -> Difference | None:
    """A `raise` in an arm, not under a further condition, is raised while tracing."""
    if not any(isinstance(statement, ast.Raise) for statement in (*node.body, *node.orelse)):
        return None
    undecided = _undecided(node.test, frame)
    if not undecided:
        return Difference("raise", "", "")
    if isinstance(node.body[0], ast.Raise) and all(map(raised.asks_if_given, undecided)):
        return Difference("raise-given", " and ".join(map(ast.unparse, undecided)), "")
    return Difference("raise-some", "", "")


def _undecided(test: ast.expr, frame: Frame) -> list[ast.expr]:
    """What Python asks before the tensor in a test, and may answer with no: `size is not None` of `size is not None and size != tf.shape(x)[0]`."""
    undecided: list[ast.expr] = []
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            value = frame.analysis.evaluate(part, frame)
            if value.is_tensor:
                break
            usual = value.usual()
            if usual is None or not usual.value:
                undecided.append(part)
    return undecided


def _asks_for_rank(test: ast.expr, frame: Frame) -> bool:
    """`tf.rank(x) == 2`, `tf.equal(n_dims, 1)`: the answer is known while tracing, the question is in the graph. So it is beside other
    questions: asked first, in Python, it decides or leaves the rest to the graph."""
    if isinstance(test, ast.Compare):
        parts = [test.left, *test.comparators]
    elif isinstance(test, ast.Call):
        parts = list(test.args)
    elif isinstance(test, ast.UnaryOp):
        return _asks_for_rank(test.operand, frame)
    elif isinstance(test, ast.BoolOp):
        return any(_asks_for_rank(part, frame) for part in test.values)
    else:
        return False
    refs = [frame.analysis.evaluate(part, frame).ref for part in parts]
    return any(type(ref) is Content and ref.is_rank for ref in refs)


def _asks_python_in_graph(test: ast.expr, frame: Frame) -> bool:
    """`tf.greater(len(items), 0)`: a comparison of what Python knows, made a tensor."""
    if not isinstance(test, ast.Call) or not test.args or test.keywords:
        return False
    return all(frame.analysis.evaluate(a, frame).kind in (PYTHON, SHAPE) for a in test.args)


def _state(node: ast.If, first: Arm, second: Arm, frame: Frame) -> Difference | None:
    function = frame.function.node if frame.function is not None else None
    body = function.body if function is not None else None
    if not isinstance(body, list):
        return None
    for name in _names_that_differ(first, second):
        found = _difference_of_name(name, first, second, frame)
        if found is None:
            found = _other_than_tested(name, node.test, first, second, frame)
        if found is not None and not is_shared(body, name.split("[")[0]):
            if is_live_after(body, node, name.split("[")[0]):
                return found._replace(name=name)
    return None


def _names_that_differ(first: Arm, second: Arm) -> list[str]:
    """Names that an arm binds, in the order in which the code binds them."""
    return [
        name
        for name in {**first.changes, **second.changes}
        if "." not in name and _is_bound(name, (first, second))
    ]


def _is_bound(name: str, arms: Sequence[Arm]) -> bool:
    """Whether an arm binds the name or items of the dictionary it holds, rather than only learns of it by the test.

    What methods put into a dictionary, AutoGraph does not follow (`hazards/collected.py`).
    """
    if any(binds_in(arm.block, name) for arm in arms):
        return True
    is_mapping = any(value is not None and value.kind is MAPPING for value in _values(name, arms))
    return is_mapping and any(_sets_item(arm.block, name) for arm in arms)


def _sets_item(block: Sequence[ast.stmt], name: str) -> bool:
    """Whether a block says `name[key] = ...`."""
    return any(
        isinstance(part, ast.Subscript)
        and isinstance(part.ctx, ast.Store)
        and isinstance(part.value, ast.Name)
        and part.value.id == name
        for part in nodes_of(block)
    )


def _values(name: str, arms: Sequence[Arm]) -> list[Value | None]:
    return [arm.changes.get(name) for arm in arms]


def decided(test: Value, first: Arm, second: Arm, frame: Frame) -> dict[str, Value]:
    """What is known of the names that an arm binds, after one conditional of the graph has chosen among their values."""
    found: dict[str, Value] = {}
    for name in {**first.changes, **second.changes}:
        before = frame.names.get(name)
        values = [arm.changes.get(name, before) for arm in (first, second)]
        known = [value for value in values if value is not None]
        if len(known) == 2 and _is_bound(name, (first, second)):
            value = chosen.by(test, known[0], known[1])
            if value is not None:
                found[name] = value
    return found


def _difference_of_name(name: str, first: Arm, second: Arm, frame: Frame) -> Difference | None:
    here = frame.names.get(name)
    a, b = first.changes.get(name, here), second.changes.get(name, here)
    if a is b:
        return None
    if a is None or b is None:
        bound = b if a is None else a
        if bound is None or bound.kind not in _DATA_KINDS:
            return None
        words = ("a value", "none at all")
        return Difference("undefined", *(words if b is None else words[::-1]))
    if a.kind is MAPPING and b.kind is MAPPING:
        return missing_key(a, b)
    found = difference(a, b, frame.analysis)
    if found is None and a.is_tensor and b.is_tensor:
        ranks = [relative_ranks.after(arm.block, frame) for arm in (first, second)]
        found = _relative(*(r.get(name, relative_ranks.Rank(name, 0)) for r in ranks))
    if found is None and (a.is_tensor or b.is_tensor) and None in (a.dtype, b.dtype):
        made = [floating_arms.assigned(name, arm.block) for arm in (first, second)]
        found = _in_floating((a, b), (made[0], made[1]), frame)
    return found


def _other_than_tested(
    name: str, test: ast.expr, first: Arm, second: Arm, frame: Frame
) -> Difference | None:
    """`if tf.rank(x) == 1: x = tf.reshape(x, [-1, 1])`: for the very inputs that are asked for, the ranks differ."""
    if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq)):
        return None
    asked = test.left
    if not isinstance(asked, ast.Call) or [ast.unparse(part) for part in asked.args] != [name]:
        return None
    here = frame.names.get(name)
    if here is not None and here.rank is not None:
        return None  # which inputs there are is known, and what the arms make of them has been compared
    content = frame.analysis.evaluate(asked, frame).ref
    tested = frame.analysis.evaluate(test.comparators[0], frame).constant()
    if type(content) is not Content or not content.is_rank or tested is None:
        return None
    untouched = relative_ranks.Rank(name, 0)
    made, other = (
        relative_ranks.after(arm.block, frame).get(name, untouched) for arm in (first, second)
    )
    if made is None or made.base is not None or made.reduced is not None or other != untouched:
        return None
    if made.more == tested.value:
        return None
    return Difference("rank", f"rank {made.more}", _more(untouched))


_DATA_KINDS = (TENSOR, VARIABLE, PYTHON, SEQUENCE, TENSOR_ARRAY)


def _relative(a: relative_ranks.Rank | None, b: relative_ranks.Rank | None) -> Difference | None:
    if a is None or b is None:
        return None
    for one, other in ((a, b), (b, a)):
        if one.reduced is not None and other == (one.reduced, 0, None):
            words = ["a scalar" if rank is one else f"`{rank.base}` as it was" for rank in (a, b)]
            return Difference("rank", *words)
    if a.base != b.base or a.more == b.more:
        return None
    if a.base is None:
        return Difference("rank", f"rank {a.more}", f"rank {b.more}")
    return Difference("rank", _more(a), _more(b))


def _more(rank: relative_ranks.Rank) -> str:
    if rank.more == 0:
        return f"the rank of `{rank.base}`"
    return f"{relative_ranks.words(rank)} than `{rank.base}`"


def note_raise_after(node: ast.Raise, frame: Frame) -> None:
    """Note a `raise` that is the other arm of a conditional which returns: `if t: return x`, and then `raise`.

    Only where the two stand in one block, and nothing that Python decides returns in between.
    """
    body = frame.function.node.body if frame.function is not None else None
    path = path_to(body, node) if frame.splits and isinstance(body, list) else ()
    if not path:
        return
    before = path[-1].block[: path[-1].place]
    for split in reversed(frame.splits):
        if split.node in before:
            between = before[before.index(split.node) + 1 :]
            if not any(isinstance(part, ast.Return) for s in between for part in ast.walk(s)):
                detail = Difference("raise-after", ast.unparse(split.node.test), "")
                frame.analysis.note(frame, node, ARMS, split.test, detail)
            return


def close_splits(frame: Frame, opened: int, ends: bool) -> None:
    """Compare what arms return with what is returned after them; `ends` says that the block's end can be reached."""
    for split in frame.splits[opened:]:
        found = _returns_differ(split, frame, ends)
        if found is not None:
            frame.analysis.note(frame, split.node.test, ARMS, split.test, found)
        else:
            _keep_unequal(split, frame, ends)
            first, second = split.arms
            later = frame.returned[split.position :] if second.ends else []
            empty_arms.note_return(split.node, first.returned, [*second.returned, *later], frame)
    del frame.splits[opened:]


def _keep_unequal(split: Split, frame: Frame, ends: bool) -> None:
    """Keep what the function gives where one arm returns it in one size, and the other, or what follows, in another."""
    first, second = split.arms
    later = frame.returned[split.position :] if first.ends or second.ends else []
    returned = [*first.returned, *second.returned, *later]
    if len(returned) == 2 and returned == frame.returned and not ends:
        sized = unequal_arms.of_returns(join(*returned), returned, frame)
        frame.unequal_return = sized if sized.producer is not None else None


def _returns_differ(split: Split, frame: Frame, ends: bool) -> Difference | None:
    """All of what one arm returns must differ from all that the other does: joined ways prove nothing."""
    first, second = split.arms
    later = frame.returned[split.position :]
    ways = [arm.returned + (later if arm.ends else []) for arm in (first, second)]
    falls = [arm.ends and ends for arm in (first, second)]
    for returns, other, falls_off in ((ways[0], ways[1], falls[1]), (ways[1], ways[0], falls[0])):
        if returns and falls_off and not other:
            return Difference("return", "a value", "reaches the end without one")
    if any(falls) or not (ways[0] and ways[1]):
        return None
    found = [difference(a, b, frame.analysis) for a in ways[0] for b in ways[1]]
    if all(d is not None for d in found):
        return found[0]
    if ways[0] == [NONE] and ways[1] == [NONE]:
        return Difference("none", "None", "None")
    return _relative_returns(split, ways[0], ways[1], frame)


def _relative_returns(
    split: Split, one: Sequence[Value], rest: Sequence[Value], frame: Frame
) -> Difference | None:
    """`if c: return tf.expand_dims(x, 0)`, `return x`: ranks and dtypes against one another, of what stands side by side."""
    node = split.node
    other = node.orelse or _following(node, frame)
    returned = [next((s for s in arm if not _assigns(s)), None) for arm in (node.body, other)]
    expressions = [s.value for s in returned if isinstance(s, ast.Return) and s.value is not None]
    if len(expressions) < 2:
        return None
    found = None
    if node.body[0] is returned[0] and other[0] is returned[1]:  # what is read is as it was
        found = _relative(*(relative_ranks.rank_of(e, frame) for e in expressions))
    if found is None and len(one) == len(rest) == 1:
        found = _in_floating((one[0], rest[0]), (expressions[0], expressions[1]), frame)
    return found


def _assigns(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Assign, ast.AnnAssign))


def _following(node: ast.stmt, frame: Frame) -> Sequence[ast.stmt]:
    """The statements behind this one, in the same block."""
    body = frame.function.node.body if frame.function is not None else None
    path = path_to(body, node) if isinstance(body, list) else ()
    return path[-1].block[path[-1].place + 1 :] if path else ()


def note_results(
    node: ast.AST,
    test: Value,
    results: Sequence[Value],
    expressions: Sequence[ast.expr | None],
    frame: Frame,
) -> None:
    """Compare what the callbacks of `tf.cond` and its like return, or the two values of a ternary."""
    for other, expression in zip(results[1:], expressions[1:]):
        found = difference(results[0], other, frame.analysis)
        if found is None and expressions[0] is not None and expression is not None:
            if _are_tensors((results[0], other), node):
                found = _relative(
                    relative_ranks.rank_of(expressions[0], frame),
                    relative_ranks.rank_of(expression, frame),
                )
        if found is None:
            found = _in_floating((results[0], other), (expressions[0], expression), frame)
        if found is not None:
            frame.analysis.note(*_who_chose(node, frame), ARMS, test, found)
            return
    if results and all(dtype_in_graph(value) == "string" for value in results):
        found = Difference("text", "text", "text")
        frame.analysis.note(*_who_chose(node, frame), ARMS, test, found)


def _are_tensors(values: Sequence[Value], node: ast.AST) -> bool:
    """Whether the arms give tensors: of a call in the graph, one of which nothing is known is one beside another."""
    if isinstance(node, ast.Call) and any(value.is_tensor for value in values):
        return all(value.is_tensor or value.kind is UNKNOWN for value in values)
    return all(value.is_tensor for value in values)


def _who_chose(node: ast.AST, frame: Frame) -> tuple[Frame, ast.AST]:
    """Where the arms of a conditional were chosen: `def cond(pred, true_fn, false_fn): return tf.cond(pred, true_fn, false_fn)` hands
    on what its caller passed, and is right for others.
    """
    caller, call = frame.caller, frame.called_at
    if caller is None or frame.function is None or not isinstance(node, ast.Call):
        return frame, node
    arms = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
    given = frame.function.parameter_names
    if len(arms) < 2 or not all(isinstance(arm, ast.Name) and arm.id in given for arm in arms):
        return frame, node
    return (caller, call) if isinstance(call, ast.Call) and call.args else (frame, node)


def _in_floating(
    values: tuple[Value, Value],
    expressions: tuple[ast.expr | None, ast.expr | None],
    frame: Frame,
) -> Difference | None:
    if None not in (values[0].dtype, values[1].dtype) or any(map(is_vague, values)):
        return None
    words = floating_arms.dtypes_of(values, expressions, frame)
    return Difference("dtype", *words) if words is not None else None
