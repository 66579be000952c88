"""What a tf.while_loop carries from step to step, and which of it does not stay what it was.

AutoGraph turns `for` and `while` over tensors into one tf.while_loop, whose variables keep shape and dtype. TensorFlow refuses,
while tracing, a variable that changes; shape invariants with open dimensions satisfy TensorFlow, and XLA refuses it then
(fixtures/XLA205, fixtures/XLA206).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from xlalint.semantics.control_flow import (
    carried_structures,
    growth,
    outer_sizes,
    relative_ranks,
    step_growth,
    step_ways,
    unequal_arms,
)
from xlalint.semantics.control_flow.liveness import is_carried
from xlalint.semantics.control_flow.narrowing import dotted_name
from xlalint.semantics.facts import ARRAY_SIZE, LOOP_STATE, OUTER_SIZE, LoopChange
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.local_names import Changes
from xlalint.semantics.results import dtypes, rejoined
from xlalint.semantics.results.shapes import Shape
from xlalint.semantics.values import (
    COMPUTED,
    CONSTANT,
    EXTERNAL,
    PYTHON,
    TENSOR,
    UNKNOWN,
    Const,
    Kept,
    ReadInCalls,
    Value,
)

Loop = ast.For | ast.AsyncFor | ast.While

_PYTHON_DTYPES: dict[type, str] = {int: "int32", float: "float32", bool: "bool"}
_LONGEST_QUOTE = 60
# What a step cuts, pads or repeats.
RESIZED = "resized"
# What a step puts together of parts that the running program cuts.
REJOINED = "rejoined"
# What a step gives one dimension more, or takes one from.
RANK = "rank"
# These changes are changes of any size, one that XLA on CPU and GPU reads as it compiles among them.
_WHATEVER_THE_SIZE = frozenset({"grows", RESIZED, RANK})
_ONE_LESS = relative_ranks.words(relative_ranks.Rank(None, -1))


def carry_round(loop: Loop, head: ast.expr, changes: Changes, frame: Frame) -> None:
    """Note what one step of a converted loop changes, and make state of the numbers that it carries: Python's become tensors, and
    of tensors that were constants before (`i = tf.constant(0)`, and `i += 1` in each step) nobody knows the value any more.

    The frame's names are those before the loop, `changes` what one step made of them.
    """
    every = _writers(loop)
    for name in _targets(loop):
        every.setdefault(name, []).append(loop)
    noted: set[str] = set()
    for name, writers in every.items():
        old, new = frame.names.get(name), changes.get(name)
        if old is None:
            continue
        if _note_ways(loop, head, name, old, new, frame):
            noted.add(name)
            continue
        if new is None:
            continue
        if _goes_over_itself(loop, name) and not (old.shape or old.structured or frame.silent):
            _note(head, name, RANK, "", _ONE_LESS, loop, old, frame)
            noted.add(name)
            continue
        if old.is_tensor:
            # `x = 0` in a step: AutoGraph compares it as the tensor that it becomes
            new = as_tensor(new)
        made = carried(old, new)
        start = old
        if made is not None:
            start = frame.names[name] = as_tensor(old)
            new = changes[name] = made
        elif _is_number(old) and new.is_tensor:
            frame.names[name] = start = old._replace(dependence=COMPUTED)
            new = changes[name] = new._replace(dependence=COMPUTED)
        if _note_change(loop, head, name, writers, start, new, frame):
            noted.add(name)
        else:
            step = outer_sizes.Step(every, frozenset(every), frame)
            _note_outer_size(loop, head, name, writers[-1], start, step)
    _note_growth(loop, head, every, noted, changes, frame)


def _goes_over_itself(loop: Loop, name: str) -> bool:
    """`for x in x`, whose rows have a dimension less than the whole, whatever that has."""
    if isinstance(loop, ast.While):
        return False
    return all(isinstance(n, ast.Name) and n.id == name for n in (loop.target, loop.iter))


def _is_number(value: Value) -> bool:
    return value.kind is TENSOR and value.shape == () and value.dependence == CONSTANT


def _note_growth(
    loop: Loop,
    head: ast.expr,
    every: dict[str, list[ast.stmt]],
    noted: set[str],
    changes: Changes,
    frame: Frame,
) -> None:
    """Note what grows by more than one statement of the step."""
    if frame.silent or not frame.context.is_compiled:
        return
    ranks = {
        name: _least_rank(frame.names.get(name), changes.get(name))
        for name in every
        if name not in noted
    }
    for name, place in step_growth.grown(loop.body, ranks, frame):
        value = frame.names.get(name)
        if value is not None and name not in noted and is_carried(_body(frame), loop, name):
            _note(head, place, "grows", "", "", every[name][-1], value, frame)
            noted.add(name)
    for name, what, count in _relative_changes(loop.body, frame):
        value = frame.names.get(name)
        if value is None or name in noted or value.kind is not TENSOR:
            continue
        if not (value.structured or value.optional):
            _note(head, name, what, "", count, every[name][-1], value, frame)
            noted.add(name)


def _least_rank(*values: Value | None) -> int:
    """How many axes a variable of the loop has at least, by what it was before and what a step makes of it."""
    ranks = [value.rank for value in values if value is not None and value.is_tensor]
    return max((rank for rank in ranks if rank is not None), default=0)


def _relative_changes(
    step: Sequence[ast.stmt], frame: Frame, before: Mapping[str, str] | None = None
) -> Iterator[tuple[str, str, str]]:
    """The names that a step leaves longer, shorter or with other dimensions than it found them, whatever those were.

    `before` says by which names the step found them, where by others.
    """
    found = before or {}
    for name, size in unequal_arms.after(step, None, frame).items():
        if size is not None and size.base == found.get(name, name) and size.certain:
            yield name, "grows" if size.certain & size.longer else RESIZED, ""
    for name, rank in relative_ranks.after(step, frame).items():
        if rank is not None and rank.base == found.get(name, name) and rank.more:
            yield name, RANK, relative_ranks.words(rank)


def _relative_items(
    body: ast.AST, returned: Sequence[ast.expr], names: Sequence[str], frame: Frame
) -> dict[int, tuple[str, str, str]]:
    """The same of what the body of a tf.while_loop returns for its parameters, by position."""
    step = list(body.body[:-1]) if isinstance(body, ast.FunctionDef) else []
    results = [f"result {position}" for position in range(len(returned))]
    for result, item in zip(results, returned):
        step.append(ast.Assign([ast.Name(result, ast.Store())], item))
    changes = _relative_changes(step, frame, dict(zip(results, names)))
    return {
        results.index(name): (what, "", count) for name, what, count in changes if name in results
    }


def carried(old: Value | None, new: Value | None) -> Value | None:
    """What a Python number is after a step that changed it: a tensor; None for what is no number or stays one.

    `steps += 1` keeps the dtype of the tensor that `steps` became, unless a float was added to a whole number.
    """
    if old is None or new is None or new == old or not (new.is_tensor or new.kind is PYTHON):
        return None
    start = as_tensor(old)
    if start is old:
        return None
    if new.is_tensor:
        return new
    made = as_tensor(new)
    return start if made is new else made


def _writers(loop: Loop) -> dict[str, list[ast.stmt]]:
    """The statements of a loop that assign each name, in the order of the source."""
    found: dict[str, list[ast.stmt]] = {}
    for part in _parts(loop):
        for name in _targets(part):
            found.setdefault(name, []).append(part)
    return found


def as_tensor(value: Value, dependence: int = COMPUTED) -> Value:
    """A Python number is a scalar tensor once a tf.while_loop carries it, or a conditional of the graph gives it."""
    if (
        value.kind is PYTHON
        and type(value.ref) is Const
        and type(value.ref.value) in _PYTHON_DTYPES
    ):
        dtype = _PYTHON_DTYPES[type(value.ref.value)]
        return Value(TENSOR, dependence, dtype=dtype, rank=0, shape=())
    return value


def _note_change(
    loop: Loop,
    head: ast.expr,
    name: str,
    writers: list[ast.stmt],
    old: Value,
    new: Value,
    frame: Frame,
) -> bool:
    """Note that a step changes the shape or dtype of a variable; whether it was seen to."""
    if frame.silent or not frame.context.is_compiled:
        return True
    last = writers[-1]
    made = growth.assigned(last, name) if len(writers) == 1 else None
    if made is not None and old.kind in (TENSOR, UNKNOWN) and growth.grows(made, name, frame):
        _note(head, name, "grows", "", "", last, old, frame)
        return True
    change = None if new == old else difference(old, new, _value_of(last), frame)
    change = change or carried_structures.difference(old, new)
    if change is not None and is_carried(_body(frame), loop, name):
        what, was, becomes = change
        at = _dtype_clash(last) if what == "dtype" else None
        if what == "dtype" and at is None and _divides(last):
            becomes = "float64"
        _note(at or head, name, what, was, becomes, last, new, frame)
    return change is not None


def _note_ways(
    loop: Loop, head: ast.expr, name: str, old: Value, new: Value | None, frame: Frame
) -> bool:
    """Note what one way through a step leaves of a variable, by `break` or in an arm, where it is no more what it was."""
    if frame.silent or not frame.context.is_compiled:
        return False
    for way in step_ways.of(loop, name, new, frame):
        made = growth.assigned(way.by, name)
        change = difference(old, way.value, made.source if made is not None else None, frame)
        if made is not None and change is None and growth.grows(made, name, frame):
            change = ("grows", "", "")
        # That the arms differ in dtype is said of the conditional.
        if change is not None and change[0] != "dtype" and is_carried(_body(frame), loop, name):
            _note(head, name, *change, way.by, way.value, frame)
            return True
    return False


def _note_outer_size(
    loop: Loop, head: ast.expr, name: str, last: ast.stmt, old: Value, step: outer_sizes.Step
) -> None:
    """Note a variable that the last statement of a step to assign it makes as big as a tensor from outside the loop."""
    frame = step.frame
    if not outer_sizes.keeps_static_shapes(old, loop, frame):
        return
    size = outer_sizes.size_from_outside(_value_of(last), step)
    if size is not None and is_carried(_body(frame), loop, name):
        _note(head, name, _says_size(size), "", size, last, old, frame)


def _says_size(size: str) -> str:
    """What a step is blamed for: a name from outside, or what an array is told of a shape."""
    return OUTER_SIZE if size.isidentifier() else ARRAY_SIZE


def _note(
    at: ast.AST,
    name: str,
    what: str,
    was: str,
    becomes: str,
    by: ast.stmt,
    value: Value,
    frame: Frame,
) -> None:
    if what in _WHATEVER_THE_SIZE and type(value.producer) is ReadInCalls:
        value = value._replace(producer=None)
    change = LoopChange(name, what, was, becomes, _quote(by), by.lineno)
    frame.analysis.note(frame, at, LOOP_STATE, value, change)


def difference(
    old: Value, new: Value, source: ast.expr | None, frame: Frame
) -> tuple[str, str, str] | None:
    """How a tensor differs from itself one step before, as `what`, before and after in words; None when it may be the same.

    That it is data-sized counts where `source`, which is assigned, itself makes it so: static slices may be put together again. Of parts
    that the running program cuts, the sizes add up (fixtures/XLA206/flagged_parts_put_together.py).
    """
    if not (old.is_tensor and new.is_tensor) or new.guess:
        return None
    if any(value.structured or value.optional for value in (old, new)):
        return None
    if old.shape is not None and new.shape is not None and _differ(old.shape, new.shape):
        return "shape", _words(old.shape), _words(new.shape)
    if _is_of_another_size(old, new):
        return "shape", _with_bound(old), _words(new.shape or ())
    if old.shape == () and new.shape is None and new.rank:
        return "shape", "()", "a vector or more"
    if new.producer is not None and rejoined.is_rejoined(new) and not rejoined.is_rejoined(old):
        return REJOINED, "", new.producer
    if old.producer is None and new.producer is not None:
        return ("data-sized", "", new.producer) if _makes_data_sized(source, frame) else None
    if old.dtype is not None and new.dtype is not None and dtypes.differ(old.dtype, new.dtype):
        return "dtype", old.dtype, new.dtype
    return None


def _is_of_another_size(old: Value, new: Value) -> bool:
    """Whether a step puts a tensor of a static size in the place of what a mask kept, for which XLA has as much room as the mask is long.

    Of that size it may be (fixtures/XLA206/flagged_in_the_place_of_masked.py).
    """
    if old.producer is None or new.producer is not None or type(old.ref) is not Kept:
        return False
    axis, shape = old.sized_axis, new.shape
    size = shape[axis] if shape is not None and axis is not None and axis < len(shape) else None
    return size is not None and size != old.ref.at_most


def _value_of(part: ast.stmt) -> ast.expr | None:
    return part.value if isinstance(part, ast.Assign) else None


def _makes_data_sized(source: ast.expr | None, frame: Frame) -> bool:
    """Whether an expression is a slice or a mask, or a call of an API other than those that put tensors together."""
    if not isinstance(source, ast.Call):
        return isinstance(source, ast.Subscript)
    if dotted_name(source.func) is None:
        return False
    target = frame.analysis.evaluate(source.func, frame)
    leaf = str(target.ref).rsplit(".", 1)[-1]
    return target.kind is EXTERNAL and leaf not in ("concat", "concatenate", "stack", "where")


def _differ(one: Shape, other: Shape) -> bool:
    if len(one) != len(other):
        return True
    return any(a is not None and b is not None and a != b for a, b in zip(one, other))


def _words(shape: Shape) -> str:
    inside = ", ".join("?" if size is None else str(size) for size in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"


def _with_bound(kept: Value) -> str:
    """The shape of what a mask kept, of which the data decide one size: `(up to 4, 3)`."""
    most = f"up to {kept.ref.at_most}"
    if kept.shape is None or kept.sized_axis is None:
        return f"({most}, ...)"
    sizes = ["?" if size is None else str(size) for size in kept.shape]
    sizes[kept.sized_axis] = most
    return f"({', '.join(sizes)})" if len(sizes) > 1 else f"({most},)"


def _quote(part: ast.stmt) -> str:
    text = ast.unparse(part).splitlines()[0]
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3].rstrip() + "..."


def _parts(loop: ast.AST) -> Iterator[ast.stmt]:
    """The statements inside a loop, in the order of the source, without those of nested functions."""
    for field in ("body", "orelse", "finalbody", "handlers"):
        inside = getattr(loop, field, ())
        for part in inside if isinstance(inside, list) else ():
            if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            if isinstance(part, ast.stmt):
                yield part
            yield from _parts(part)


def _targets(part: ast.stmt) -> set[str]:
    """The names that a statement assigns."""
    if isinstance(part, ast.Assign):
        targets: Sequence[ast.expr] = part.targets
    elif isinstance(part, (ast.AugAssign, ast.AnnAssign, ast.For)):
        targets = [part.target]
    else:
        return set()
    return {
        node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
    }


def _body(frame: Frame) -> Sequence[ast.stmt]:
    function = frame.function.node if frame.function is not None else frame.module.tree
    return function.body if isinstance(function.body, list) else ()


def _dtype_clash(part: ast.stmt) -> ast.AST | None:
    """Where TensorFlow refuses `total = total + 0.5` on a whole number: at the operation; a division makes a float64 first."""
    if _divides(part):
        return None
    if isinstance(part, ast.AugAssign):
        return part
    if isinstance(part, ast.Assign) and isinstance(part.value, ast.BinOp):
        return part.value
    return None


def _divides(part: ast.stmt) -> bool:
    operation = part.value if isinstance(part, ast.Assign) else part
    return isinstance(getattr(operation, "op", None), ast.Div)


def note_body(
    node: ast.AST, body: ast.AST, before: list[Value], after: Value, frame: Frame
) -> None:
    """Note what the body of a tf.while_loop call changes: `before` is its state, `after` what it returns."""
    whole = _returned(body)
    if whole is None or frame.silent:
        return
    returned = whole.elts if isinstance(whole, (ast.Tuple, ast.List)) else [whole]
    if len(returned) != len(before):
        return
    args = body.args if isinstance(body, (ast.Lambda, ast.FunctionDef)) else None
    names = [arg.arg for arg in args.args] if args is not None else []
    names = names[-len(before) :] if before else []  # without `self`
    values = after.ref if isinstance(after.ref, tuple) and len(after.ref) == len(before) else ()
    writers = {n: part for part in _parts(body) for n in _targets(part)}
    longer: dict[int, str] = {}
    relative: dict[int, tuple[str, str, str]] = {}
    if len(names) == len(before):
        relative = _relative_items(body, returned, names, frame)
        if isinstance(body, ast.FunctionDef):
            results = values or [None] * len(before)
            ranks = {n: _least_rank(*both) for n, *both in zip(names, before, results)}
            longer = step_growth.grown_items(whole, body.body, ranks, frame)
    for position, (item, old) in enumerate(zip(returned, before)):
        name = names[position] if len(names) == len(before) else f"state {position}"
        made = writers.get(item.id) if isinstance(item, ast.Name) else None
        source = made.value if isinstance(made, ast.Assign) else item
        grown = growth.assigned(made, item.id) if isinstance(item, ast.Name) else None
        is_grown = growth.grows(grown or growth.Made(source), name, frame)
        change = ("grows", "", "") if is_grown else None
        if change is None and position in longer:
            if longer[position] != name:
                made, source = None, item  # it is written in one of several places
            name, change = longer[position], ("grows", "", "")
        if change is None and values:
            change = difference(as_tensor(old), values[position], source, frame)
        if change is None and (old.is_tensor or old.kind is UNKNOWN):
            # Whatever is handed to tf.while_loop becomes a tensor, or tensors, which slices with `...` tell apart.
            change = relative.get(position)
        if change is not None:
            by = made if made is not None else ast.copy_location(ast.Expr(source), source)
            _note(node, name, *change, by, old, frame)


def note_outer_sizes(node: ast.AST, body: FunctionInfo, before: list[Value], frame: Frame) -> None:
    """Note what the function of a tf.while_loop, tf.scan or tf.foldl makes as big as a tensor of the function around it."""
    if frame.silent or body.parent is None or body.parent is not frame.function:
        return
    writers: dict[str, list[ast.stmt]] = {}
    for part in _parts(body.node):
        for name in _targets(part):
            writers.setdefault(name, []).append(part)
    step = outer_sizes.Step(writers, body.parameter_names | writers.keys(), frame)
    whole = _returned(body.node)
    given = whole.elts if isinstance(whole, (ast.Tuple, ast.List)) else [whole]
    if len(given) != len(before):
        return
    for position, (item, old) in enumerate(zip(given, before)):
        if item is None or not outer_sizes.keeps_static_shapes(old, None, frame):
            continue
        size = outer_sizes.size_from_outside(item, step)
        if size is not None:
            name = item.id if isinstance(item, ast.Name) else f"state {position}"
            by = writers[name][-1] if name in writers else ast.copy_location(ast.Expr(item), item)
            _note(node, name, _says_size(size), "", size, by, old, frame)


def _returned(body: ast.AST) -> ast.expr | None:
    """What a body hands on, when one expression says it."""
    if isinstance(body, ast.Lambda):
        found: list[ast.expr | None] = [body.body]
    elif isinstance(body, ast.FunctionDef):
        found = [part.value for part in _parts(body) if isinstance(part, ast.Return)]
    else:
        return None
    returned = found[0] if len(found) == 1 else None
    return _named_state(returned, body) if isinstance(returned, ast.Name) else returned


def _named_state(name: ast.Name, body: ast.AST) -> ast.expr:
    """`state = (i + 1, longer)`, which is returned by its name; any other name as it is."""
    made = [part for part in _parts(body) if name.id in _targets(part)]
    only = made[0] if len(made) == 1 else None
    if isinstance(only, ast.Assign) and isinstance(only.targets[0], ast.Name):
        return only.value if isinstance(only.value, (ast.Tuple, ast.List)) else name
    return name
