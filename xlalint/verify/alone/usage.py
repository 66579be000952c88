"""What a function does with its parameters, read from its source: taken apart, indexed, handed to which API."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

# What an argument of an API is, by the API's last name and the argument's place.
_ROLES: dict[tuple[str, int], str] = {
    **{(name, 1): "indices" for name in ("gather", "gather_nd", "embedding_lookup", "batch_gather")},
    **{(name, 0): "indices" for name in ("one_hot", "scatter_nd", "bincount", "Embedding", "sequence_mask")},
    **{(f"segment_{name}", 1): "sorted" for name in ("sum", "mean", "max", "min", "prod")},
    **{(f"unsorted_segment_{name}", 1): "indices" for name in ("sum", "mean", "max", "min", "prod", "sqrt_n")},
    ("boolean_mask", 1): "mask", ("cond", 0): "flag", ("logical_and", 0): "mask", ("logical_and", 1): "mask",
    ("logical_not", 0): "mask", ("logical_or", 0): "mask", ("logical_or", 1): "mask", ("while_loop", 0): "function",
    ("where", 0): "condition", ("map_fn", 0): "function", ("vectorized_map", 0): "function",
    ("map_fn", 1): "data", ("vectorized_map", 1): "data",
    ("switch", 0): "flag", ("smart_cond", 0): "flag", ("decode_jpeg", 0): "text", ("decode_image", 0): "text",
    ("to_dense", 0): "sparse", ("sparse_dense_matmul", 0): "sparse", ("sparse_tensor_dense_matmul", 0): "sparse",
    ("sparse_reduce_sum", 0): "sparse", ("sparse_reorder", 0): "sparse", ("reorder", 0): "sparse",
    ("cholesky", 0): "square", ("inv", 0): "square", ("det", 0): "square", ("eigh", 0): "square", ("eye", 0): "size",
    ("resize", 1): "image size", ("random_crop", 1): "shape", ("zeros", 0): "shape", ("ones", 0): "shape",
    ("reshape", 1): "shape", ("range", 0): "size", ("top_k", 1): "size", ("repeat", 1): "lengths", ("tile", 1): "multiples",
    ("conv2d", 0): "rank 4", ("max_pool2d", 0): "rank 4", ("avg_pool2d", 0): "rank 4", ("conv1d", 0): "rank 3",
    ("extract_patches", 0): "rank 4", ("crop_and_resize", 0): "rank 4", ("depthwise_conv2d", 0): "rank 4",
    ("non_max_suppression", 0): "boxes", ("combined_non_max_suppression", 0): "boxes",
    ("parse_single_example", 0): "text", ("bitcast", 0): "data", ("fft2d", 0): "complex",
}  # fmt: skip
_TEXT_MODULES = ("strings",)
_SPARSE_ATTRIBUTES = frozenset({"indices", "dense_shape"})
_RAGGED_ATTRIBUTES = frozenset(
    {"row_splits", "row_lengths", "to_tensor", "flat_values", "nested_row_splits", "bounding_shape"}
)
_MAPPING_METHODS = frozenset({"items", "keys", "get", "pop", "update", "copy", "setdefault"})
_TENSOR_ATTRIBUTES = frozenset(
    {"shape", "dtype", "get_shape", "set_shape", "numpy", "ndim", "values", "rank", "name", "device", "graph", "op"}
)  # fmt: skip
_SHAPE_CALLS = frozenset(
    {"shape", "int_shape", "get_shape", "get_shape_list", "shape_list", "unstack", "as_list"}
)


@dataclass(slots=True)
class Usage:
    """What is seen of one parameter (or of `self.name`). `parts` are the names that it is taken apart into."""

    roles: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    keys: list[str] = field(default_factory=list)
    literals: list[Any] = field(default_factory=list)
    types: set[str] = field(default_factory=set)
    arity: int = 0
    parts: tuple[tuple[str, Usage], ...] = ()
    rank: int | None = None
    least_rank: int = 0
    is_called: bool = False
    is_iterated: bool = False
    may_be_none: bool = False

    @property
    def is_mapping(self) -> bool:
        return bool(self.keys) or bool(self.attributes & _MAPPING_METHODS)

    @property
    def is_ragged(self) -> bool:
        return bool(self.attributes & _RAGGED_ATTRIBUTES)

    @property
    def is_sparse(self) -> bool:
        return self.attributes >= _SPARSE_ATTRIBUTES or "sparse" in self.roles

    @property
    def fields(self) -> set[str]:
        """Attributes that no tensor has: those of an object of another kind."""
        known = _TENSOR_ATTRIBUTES | _RAGGED_ATTRIBUTES | _MAPPING_METHODS | _SPARSE_ATTRIBUTES
        return {name for name in self.attributes - known if not name.startswith("__")}


def usages(function: Any) -> dict[str, Usage]:
    """By parameter, and by `self.NAME` for attributes of the object; empty where there is no source."""
    node = _definition(function)
    if node is None:
        return {}
    reader = _Reader()
    reader.visit(node)
    return reader.found


def class_usages(cls: type) -> dict[str, Usage]:
    """The same over all methods that a class and its bases outside of the frameworks write."""
    found: dict[str, Usage] = {}
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] in (
            "builtins",
            "keras",
            "tf_keras",
            "tensorflow",
            "abc",
        ):
            continue
        for item in list(vars(base).values()):
            if inspect.isfunction(item):
                for name, usage in usages(item).items():
                    if name.startswith("self."):
                        _merge(found.setdefault(name, Usage()), usage)
    return found


def _merge(into: Usage, other: Usage) -> None:
    into.roles |= other.roles
    into.attributes |= other.attributes
    into.types |= other.types
    into.literals += [one for one in other.literals if one not in into.literals]
    into.keys += [one for one in other.keys if one not in into.keys]
    into.arity = into.arity or other.arity
    into.rank = into.rank if into.rank is not None else other.rank
    into.least_rank = max(into.least_rank, other.least_rank)
    into.is_called |= other.is_called
    into.is_iterated |= other.is_iterated
    into.may_be_none |= other.may_be_none


def _definition(function: Any) -> ast.AST | None:
    try:
        source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
        return ast.parse(source).body[0]
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):
        return None


class _Reader(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: dict[str, Usage] = {}

    def _of(self, node: ast.AST | None) -> Usage | None:
        """The usage of a name, of `self.name`, or of what a name was converted from (`tf.convert_to_tensor(x)`)."""
        if isinstance(node, ast.Name):
            return self.found.setdefault(node.id, Usage())
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        ):
            return self.found.setdefault(f"self.{node.attr}", Usage())
        return None

    def visit_Attribute(self, node: ast.Attribute) -> None:
        usage = self._of(node.value)
        if usage is not None:
            usage.attributes.add(node.attr)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._subscript(node)
        self.generic_visit(node)

    def _subscript(self, node: ast.Subscript) -> None:
        index = node.slice
        shaped = self._shaped(node.value)
        if shaped is not None:
            number = _number(index)
            if number is not None:
                shaped.least_rank = max(shaped.least_rank, number + 1 if number >= 0 else -number)
            return
        usage = self._of(node.value)
        if usage is None:
            return
        if isinstance(index, ast.Constant) and isinstance(index.value, str):
            if index.value not in usage.keys:
                usage.keys.append(index.value)
        elif isinstance(index, ast.Tuple):
            parts = [part for part in index.elts if not _is_new_axis(part)]
            axes = [part for part in parts if not _is_ellipsis(part)]
            usage.least_rank = max(usage.least_rank, len(axes))

    def _shaped(self, node: ast.AST) -> Usage | None:
        """The parameter of which `node` is the shape: `x.shape`, `tf.shape(x)`, `K.int_shape(x)`, `x.get_shape().as_list()`."""
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            return self._of(node.value)
        if isinstance(node, ast.Call):
            name = _last_name(node.func)
            if name in ("get_shape", "as_list") and isinstance(node.func, ast.Attribute):
                inner = node.func.value
                return self._of(inner) if name == "get_shape" else self._shaped(inner)
            if name in _SHAPE_CALLS and node.args:
                return self._shaped(node.args[0]) or self._of(node.args[0])
        return None

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, (ast.Tuple, ast.List)):
                has_star = any(isinstance(one, ast.Starred) for one in target.elts)
                shaped = self._shaped(node.value)
                if shaped is not None and not has_star:
                    shaped.rank = len(target.elts)
                elif shaped is None and not has_star and isinstance(node.value, ast.Name):
                    usage = self.found.setdefault(node.value.id, Usage())
                    usage.arity = len(target.elts)
                    # What becomes of each part says what it is.
                    usage.parts = tuple(
                        (_last_name(one), self.found.setdefault(_last_name(one), Usage()))
                        for one in target.elts
                    )
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        usage = self._of(node.iter)
        if usage is not None:
            usage.is_iterated = True
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        usage = self._of(node.iter)
        if usage is not None:
            usage.is_iterated = True
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        self._compare(node)
        self.generic_visit(node)

    def _compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        ranked = self._ranked(node)
        if ranked is not None:
            return
        for side, other in ((sides[0], sides[1]), (sides[1], sides[0])):
            usage = self._of(side)
            if usage is None:
                if (
                    isinstance(side, ast.Constant)
                    and isinstance(side.value, str)
                    and isinstance(node.ops[0], ast.In)
                ):
                    container = self._of(other)
                    if (
                        container is not None
                        and side.value not in container.keys
                        and other is sides[1]
                    ):
                        container.keys.append(side.value)
                continue
            for literal in _literals(other):
                if literal is None:
                    usage.may_be_none = True
                elif literal not in usage.literals:
                    usage.literals.append(literal)

    def _ranked(self, node: ast.Compare) -> Usage | None:
        """`len(x.shape) == 4`, `x.shape.rank != 3`, `K.ndim(x) == 2`: how many dimensions it may have."""
        side = node.left
        number = _number(node.comparators[0])
        usage = None
        if (
            isinstance(side, ast.Call)
            and _last_name(side.func) in ("len", "ndim", "rank")
            and side.args
        ):
            usage = self._shaped(side.args[0]) or (
                self._of(side.args[0]) if _last_name(side.func) != "len" else None
            )
        elif isinstance(side, ast.Attribute) and side.attr in ("rank", "ndims", "ndim"):
            usage = self._shaped(side.value) or self._of(side.value)
        if usage is not None and number is not None:
            usage.roles.add(f"may have rank {number}")
        return usage

    def visit_Call(self, node: ast.Call) -> None:
        called = self._of(node.func)
        if called is not None:
            called.is_called = True
        name = _last_name(node.func)
        module = _module_of(node.func)
        if name == "isinstance" and len(node.args) == 2:
            usage = self._of(node.args[0])
            if usage is not None:
                usage.types |= {_last_name(one) for one in _elements(node.args[1])}
        for place, argument in enumerate(node.args):
            usage = self._of(argument)
            if usage is None:
                continue
            role = _ROLES.get((name, place))
            if role is not None:
                usage.roles.add(role)
            if module in _TEXT_MODULES and place == 0:
                usage.roles.add("text")
            if module == "sparse" and place == 0:
                usage.roles.add("sparse")
            if module == "image" and place == 0:
                usage.roles.add("image")
            if module == "linalg" and place == 0 and name not in ("matmul", "norm", "matvec"):
                usage.least_rank = max(usage.least_rank, 2)
        self._axes(node)
        self.generic_visit(node)

    def _axes(self, node: ast.Call) -> None:
        usage = self._of(node.args[0]) if node.args else None
        axis = next((word.value for word in node.keywords if word.arg in ("axis", "perm")), None)
        if usage is None or axis is None:
            return
        numbers = [n for part in _elements(axis) if (n := _number(part)) is not None]
        for number in numbers:
            usage.least_rank = max(usage.least_rank, number + 1 if number >= 0 else -number)


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _module_of(node: ast.AST) -> str:
    return _last_name(node.value) if isinstance(node, ast.Attribute) else ""


def _elements(node: ast.AST) -> list[ast.AST]:
    return list(node.elts) if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]


def _literals(node: ast.AST) -> Iterator[Any]:
    for part in _elements(node):
        if isinstance(part, ast.Constant):
            yield part.value


def _number(node: ast.AST) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def _is_new_axis(node: ast.AST) -> bool:
    return _last_name(node) == "newaxis" or (isinstance(node, ast.Constant) and node.value is None)


def _is_ellipsis(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
