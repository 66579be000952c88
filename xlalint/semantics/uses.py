"""What a function does with its names, read off its syntax: which it passes on, and which it takes apart as only tensors are."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Passed(NamedTuple):
    """A name that a call passes, at a position or by keyword."""

    name: str
    where: int | str
    callee: ast.expr


class Part(NamedTuple):
    """What a name holds under a key, `batch["mask"]`, or as an attribute, `batch.mask`. Uses know it by its text."""

    owner: str
    key: str
    is_item: bool

    @property
    def text(self) -> str:
        return f"{self.owner}[{self.key!r}]" if self.is_item else f"{self.owner}.{self.key}"


class Uses(NamedTuple):
    """Names passed to calls, in no particular order, and names that are treated as arrays.

    `sliced` are those subscripted as no list is (`x[:, 0]`, `x[..., 1]`, `x[:, None]`) or asked for `dtype` or a static shape
    as TensorFlow has it, `shaped` those asked for a size as arrays are, too (`x.shape[0]`), `written` those of which such a part
    is assigned to; `calls_numpy` says that NumPy computes on something here, so that these may be arrays. `roots` are the names
    that calls begin with: `tf` of `tf.nn.relu(x)`. `taken_apart` are those that one of their own parts, or a list of them, replaces (`x, mask = x`,
    `x = [f(each) for each in x]`): what is done with them then says nothing of what they were. `cast` are names that a call passes the cast of (`f(tf.cast(x, t))`), or a
    comparison of, with an axis (`f(x > 0, axis=1)`); `cut` are those that a call passes a run of items of (`f(x[i : i + 2])`).
    `parts` are those of the parameters, by their texts, which stand among the names.
    """

    passed: tuple[Passed, ...]
    sliced: frozenset[str]
    shaped: frozenset[str]
    written: frozenset[str]
    calls_numpy: bool
    roots: frozenset[str]
    taken_apart: frozenset[str]
    cast: tuple[Passed, ...]
    cut: tuple[Passed, ...]
    parts: dict[str, Part]


class Attributes(NamedTuple):
    """The attributes that a function names: `of_self` those of `self`, `stored` those that it sets or deletes, of whatever it is."""

    of_self: frozenset[str]
    stored: frozenset[str]


_ASKED_OF_TENSORS = frozenset({"get_shape", "set_shape"})
# What NumPy is asked for beside computations: numbers, types, settings.
_NO_COMPUTATIONS = frozenset(
    "float16 float32 float64 int8 int16 int32 int64 uint8 bool_ log sqrt exp prod ceil floor round inf".split()
)


def uses_in(nodes: Iterable[ast.AST], parameters: frozenset[str]) -> Uses:
    """The uses of names in the calls, subscripts and assignments of a function, and of those inside of it."""
    passed: list[Passed] = []
    sliced: set[str] = set()
    shaped: set[str] = set()
    written: set[str] = set()
    roots: set[str] = set()
    taken_apart: set[str] = set()
    cast: list[Passed] = []
    cut: list[Passed] = []
    parts = _Parts(parameters)
    named: dict[str, str] = {}
    calls_numpy = False
    for node in nodes:
        if isinstance(node, ast.Call):
            passed += _passed(node, parts)
            if node.args and isinstance(node.args[0], (ast.Call, ast.Compare)):
                cast += _cast(node)
            cut += _cut(node)
            shaped.update(filter(None, map(_whose_shape, node.args)))
            func = node.func
            if not isinstance(func, ast.Attribute):
                continue
            root = _root(func)
            roots.add(root)
            if root in ("np", "numpy") and _computes(func.value):
                calls_numpy = calls_numpy or func.attr not in _NO_COMPUTATIONS
            elif isinstance(func.value, ast.Name) and func.attr in _ASKED_OF_TENSORS:
                sliced.add(func.value.id)
        elif isinstance(node, ast.Assign):
            if isinstance(node.value, ast.Name) and _is_part_of_itself(node):
                taken_apart.add(node.value.id)
            elif (
                isinstance(node.targets[0], ast.Name)
                and _goes_over(node.value) == node.targets[0].id
            ):
                taken_apart.add(node.targets[0].id)
            for target in node.targets:
                _note_names(target, node.value, named, parts)
        elif isinstance(node, ast.Subscript) and _whose_shape(node.value):
            shaped.add(_whose_shape(node.value))
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            if _is_of_array(node.slice):
                sliced.add(node.value.id)
                if isinstance(node.ctx, ast.Store):
                    written.add(node.value.id)
            else:
                parts.text(node)
        elif isinstance(node, ast.Subscript) and _is_of_array(node.slice):
            sliced.add(parts.text(node.value))
    if named:
        passed += [one._replace(name=named[one.name]) for one in passed if one.name in named]
        sliced.update(named[name] for name in sliced & named.keys())
    kinds = (frozenset(sliced), frozenset(shaped), frozenset(written))
    apart = frozenset(taken_apart)
    return Uses(
        tuple(passed),
        *kinds,
        calls_numpy,
        frozenset(roots),
        apart,
        tuple(cast),
        tuple(cut),
        parts.found,
    )


def attributes_in(nodes: Iterable[ast.AST]) -> Attributes:
    """What the attributes among some nodes are."""
    of_self: set[str] = set()
    stored: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                of_self.add(node.attr)
            if not isinstance(node.ctx, ast.Load):
                stored.add(node.attr)
    return Attributes(frozenset(of_self), frozenset(stored))


class _Parts:
    """The parts of a function's parameters that its expressions name."""

    def __init__(self, parameters: frozenset[str]) -> None:
        self.found: dict[str, Part] = {}
        self._owners = parameters - {"self", "cls"}

    def text(self, node: ast.expr) -> str:
        """A name, or a part of a parameter, which is kept; nothing for anything else."""
        if isinstance(node, ast.Name):
            return node.id
        if not isinstance(node, (ast.Attribute, ast.Subscript)):
            return ""
        owner = node.value
        if not isinstance(owner, ast.Name) or owner.id not in self._owners:
            return ""
        if isinstance(node, ast.Attribute):
            part = Part(owner.id, node.attr, False)
        elif isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            part = Part(owner.id, node.slice.value, True)
        else:
            return ""
        text = part.text
        self.found.setdefault(text, part)
        return text


def _note_names(target: ast.expr, value: ast.expr, named: dict[str, str], parts: _Parts) -> None:
    """`mask = batch["mask"]`: a name for a part, unless another part has that name as well."""
    if isinstance(target, ast.Name):
        text = "" if isinstance(value, ast.Name) else parts.text(value)
        if text:
            named[target.id] = text if named.get(target.id, text) == text else ""
    elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        for one, given in zip(target.elts, value.elts):
            _note_names(one, given, named, parts)


def _cast(call: ast.Call) -> Iterator[Passed]:
    """The name whose cast is a call's first argument, or, with an axis, what a comparison of it with a number gives."""
    first = call.args[0]
    if isinstance(first, ast.Call):
        if not (isinstance(first.func, ast.Attribute) and first.func.attr == "cast" and first.args):
            return
        first = first.args[0]
        if isinstance(first, ast.Name):
            yield Passed(first.id, 0, call.func)
    if isinstance(first, ast.Compare) and _has_axis(call):
        sides = (first.left, *first.comparators)
        names = [side.id for side in sides if isinstance(side, ast.Name)]
        if len(names) == 1 and all(isinstance(side, (ast.Name, ast.Constant)) for side in sides):
            yield Passed(names[0], 0, call.func)


def _cut(call: ast.Call) -> Iterator[Passed]:
    """The names of which a call passes a run of items: `f(x[i : i + 2])`."""
    for position, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            return
        if isinstance(argument, ast.Subscript) and isinstance(argument.slice, ast.Slice):
            if isinstance(argument.value, ast.Name):
                yield Passed(argument.value.id, position, call.func)


def _has_axis(call: ast.Call) -> bool:
    """Whether a call says by a number along which axis it works, which a scalar has none of: `-1`, `axis=[1, 2]`."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "axis"]
    axis = next(iter(named or call.args[1:2]), None)
    if isinstance(axis, (ast.Tuple, ast.List)) and axis.elts:
        axis = axis.elts[0]
    if isinstance(axis, ast.UnaryOp):
        axis = axis.operand
    return isinstance(axis, ast.Constant) and type(axis.value) is int


def _is_part_of_itself(node: ast.Assign) -> bool:
    """`x, mask = x`"""
    return any(
        isinstance(name, ast.Name) and name.id == getattr(node.value, "id", None)
        for target in node.targets
        if isinstance(target, (ast.Tuple, ast.List))
        for name in ast.walk(target)
    )


def _goes_over(value: ast.expr) -> str:
    """The name that a list is made of, element by element: `[f(each) for each in x]`; nothing for anything else."""
    if isinstance(value, ast.Call) and len(value.args) == 1 and isinstance(value.func, ast.Name):
        value = value.args[0]
    if not isinstance(value, (ast.ListComp, ast.GeneratorExp)):
        return ""
    over = value.generators[0].iter
    return over.id if isinstance(over, ast.Name) else ""


def _whose_shape(node: ast.expr) -> str:
    """The name whose `shape` this is; nothing where it is no such attribute."""
    if not isinstance(node, ast.Attribute) or node.attr != "shape":
        return ""
    return node.value.id if isinstance(node.value, ast.Name) else ""


def _passed(call: ast.Call, parts: _Parts) -> Iterator[Passed]:
    """The names that a call passes; positions behind `*args` are not known."""
    for position, argument in enumerate(call.args):
        if isinstance(argument, ast.Name):
            yield Passed(argument.id, position, call.func)
        elif isinstance(argument, ast.Starred):
            break
        elif text := parts.text(argument):
            yield Passed(text, position, call.func)
    for keyword in call.keywords:
        if keyword.arg is not None and (text := parts.text(keyword.value)):
            yield Passed(text, keyword.arg, call.func)


def _computes(owner: ast.expr) -> bool:
    """Whether NumPy computes with what lies there: in `np` or `np.linalg`, not in `np.random`."""
    return isinstance(owner, ast.Name) or (
        isinstance(owner, ast.Attribute) and owner.attr == "linalg"
    )


def _root(func: ast.expr) -> str:
    """The name that a dotted name begins with; nothing where it begins with anything else."""
    while isinstance(func, ast.Attribute):
        func = func.value
    return func.id if isinstance(func, ast.Name) else ""


def _is_of_array(index: ast.expr) -> bool:
    """`[:, 0]`, `[..., 1]`: several axes of which one is kept whole, which neither a list nor a dictionary takes."""
    parts = index.elts if isinstance(index, ast.Tuple) else (index,)
    return any(
        (isinstance(part, ast.Slice) and isinstance(index, ast.Tuple))
        or (isinstance(part, ast.Constant) and part.value is Ellipsis)
        for part in parts
    )
