"""What an annotation says of a value: tensors with dtypes and shapes, plain Python values, classes to make."""

from __future__ import annotations

import ast
import contextlib
import enum
import inspect
import re
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

_DTYPES = {
    "Float": "float32", "Float16": "float16", "Float32": "float32", "Float64": "float64", "BFloat16": "bfloat16", "Int": "int32",
    "Int8": "int8", "Int16": "int16", "Int32": "int32", "Int64": "int64", "Integer": "int32", "UInt8": "uint8", "UInt": "uint8",
    "Bool": "bool", "Complex": "complex64", "Complex64": "complex64", "Num": "float32", "Inexact": "float32", "Real": "float32",
    "Shaped": "float32", "float16": "float16", "float32": "float32", "float64": "float64", "int32": "int32", "int64": "int64",
    "uint8": "uint8", "bool_": "bool", "bfloat16": "bfloat16", "AnyDType": "float32",
}  # fmt: skip
_TENSORS = frozenset(
    {
        "Tensor",
        "EagerTensor",
        "TensorLike",
        "TensorType",
        "KerasTensor",
        "TensorOrArray",
        "ndarray",
        "ArrayLike",
    }
)
_SEQUENCES = frozenset({"list", "List", "tuple", "Tuple", "Sequence", "Iterable", "Collection"})
_MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict"})
_NUMBERED = re.compile(r"^Tensor(\d)$")
_TYPING = frozenset({"typing", "types", "collections.abc", "builtins", "numpy"})


@dataclass(frozen=True, slots=True)
class Shaped:
    """A tensor with a dtype and dimensions, numbers or names: `Float[Tensor, "batch 3"]`, `Tensor2[float32, Batch, Time]`."""

    dtype: str
    dimensions: tuple[str, ...]


@dataclass(slots=True)
class Said:
    """All that one annotation allows. `plain`: `bool`, `int`, `float`, `str`, `ints`, `floats`, `texts`."""

    shaped: list[Shaped] = field(default_factory=list)
    literals: list[Any] = field(default_factory=list)
    plain: list[str] = field(default_factory=list)
    classes: list[type] = field(default_factory=list)
    is_tensor: bool = False
    is_sparse: bool = False
    is_ragged: bool = False
    is_tensor_sequence: bool = False
    is_mapping: bool = False
    is_callable: bool = False
    may_be_none: bool = False

    @property
    def is_empty(self) -> bool:
        return self == Said()


class Makers(Protocol):
    """Who makes what an annotation or a name asks for; each value is one to try."""

    def dimensions(self, names: Sequence[str]) -> tuple[int, ...]:
        """A size for each dimension: the same for the same name."""

    def instances(self, cls: type, name: str) -> list[Any]: ...

    def configs(self, name: str) -> list[Any]: ...

    def objects(self, name: str, usage: Any) -> list[Any]: ...

    def by_name(self, name: str) -> list[Any]: ...

    def layer(self) -> Any: ...


def read(annotation: Any) -> Said:
    """What `annotation` says: as Python evaluated it, or its text."""
    said = Said()
    if annotation is None or annotation is inspect.Parameter.empty or annotation is Any:
        return said
    if isinstance(annotation, str):
        with contextlib.suppress(SyntaxError):
            _text(ast.parse(annotation, mode="eval").body, said)
        return said
    _value(annotation, said)
    return said


# Annotations as Python objects


def _value(annotation: Any, said: Said) -> None:
    if isinstance(annotation, (str, typing.ForwardRef)):
        text = str(getattr(annotation, "__forward_arg__", annotation))
        _text(ast.parse(text, mode="eval").body, said)
        return
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is None or annotation is type(None):
        said.may_be_none = True
    elif origin is typing.Union or origin is getattr(types, "UnionType", None):
        for one in arguments:
            _value(one, said)
    elif origin is typing.Literal:
        said.literals += arguments
    elif origin is typing.Annotated:
        _value(arguments[0], said)
    elif hasattr(annotation, "dim_str") and hasattr(annotation, "dtypes"):  # jaxtyping
        dtypes = annotation.dtypes
        first = dtypes[0] if isinstance(dtypes, (tuple, list)) and dtypes else "float32"
        said.shaped.append(Shaped(_dtype(str(first)), _dimensions(annotation.dim_str)))
    elif origin is not None:
        _generic(getattr(origin, "__name__", str(origin)), arguments, said)
    elif inspect.isclass(annotation):
        _class(annotation, said)
    elif isinstance(annotation, typing.TypeVar):
        for one in annotation.__constraints__ or (
            (annotation.__bound__,) if annotation.__bound__ else ()
        ):
            _value(one, said)


def _generic(name: str, arguments: Sequence[Any], said: Said) -> None:
    inner = Said()
    numbered = _NUMBERED.match(name)
    if numbered:
        names = [getattr(one, "__name__", str(one)) for one in arguments]
        said.shaped.append(_numbered(int(numbered[1]), names))
        return
    for one in arguments:
        if one is not ...:
            _value(one, inner)
    _collected(name, inner, said)


def _class(cls: type, said: Said) -> None:
    name = cls.__name__
    if cls in (bool, int, float, str):
        said.plain.append(name)
    elif issubclass(cls, enum.Enum):
        said.literals += list(cls)
    elif name in ("tuple", "list"):
        said.plain.append("ints")
    elif cls.__module__ in _TYPING and name not in _TENSORS:
        _named(name, said)
    elif not _named(name, said) and cls is not object:
        said.classes.append(cls)


# Annotations as text


def _text(node: ast.AST, said: Said) -> None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        _text(node.left, said)
        _text(node.right, said)
    elif isinstance(node, ast.Constant) and node.value is None:
        said.may_be_none = True
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        _text(ast.parse(node.value, mode="eval").body, said)
    elif isinstance(node, ast.Subscript):
        _subscript(_last(node.value), _parts(node.slice), said)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        name = _last(node)
        if name in ("bool", "int", "float", "str"):
            said.plain.append(name)
        else:
            _named(name, said)


def _subscript(name: str, parts: Sequence[ast.AST], said: Said) -> None:
    if name in ("Optional", "Union"):
        said.may_be_none |= name == "Optional"
        for part in parts:
            _text(part, said)
        return
    if name == "Literal":
        said.literals += [part.value for part in parts if isinstance(part, ast.Constant)]
        return
    if name in _DTYPES and len(parts) == 2 and isinstance(parts[1], ast.Constant):
        said.shaped.append(Shaped(_DTYPES[name], _dimensions(str(parts[1].value))))
        return
    numbered = _NUMBERED.match(name)
    if numbered:
        said.shaped.append(_numbered(int(numbered[1]), [_last(part) for part in parts]))
        return
    inner = Said()
    for part in parts:
        if not (isinstance(part, ast.Constant) and part.value is ...):
            _text(part, inner)
    _collected(name, inner, said)


def _parts(node: ast.AST) -> list[ast.AST]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return _last(node.value)
    return node.id if isinstance(node, ast.Name) else ""


# Both


def _named(name: str, said: Said) -> bool:
    if name in _TENSORS:
        said.is_tensor = True
    elif name == "SparseTensor":
        said.is_sparse = True
    elif name == "RaggedTensor":
        said.is_ragged = True
    elif name in _MAPPINGS:
        said.is_mapping = True
    elif name == "Callable":
        said.is_callable = True
    elif name in _SEQUENCES:
        said.plain.append("ints")
    elif "Tensor" in name and "Spec" not in name:
        said.is_tensor = True
    else:
        return False
    return True


def _collected(name: str, inner: Said, said: Said) -> None:
    """A container `name` of what `inner` says."""
    if name in _MAPPINGS:
        said.is_mapping = True
    elif name in _SEQUENCES:
        said.is_tensor_sequence |= inner.is_tensor or bool(inner.shaped)
        said.plain += [
            kind
            for kind, of in (("ints", "int"), ("floats", "float"), ("texts", "str"))
            if of in inner.plain
        ]
    elif name == "Callable":
        said.is_callable = True
    else:
        _named(name, said)


def _numbered(rank: int, names: Sequence[str]) -> Shaped:
    """`Tensor2[float32, Batch, Time]` of tensor_annotations: the dtype may be left out."""
    has_dtype = len(names) > rank
    dtype = _DTYPES.get(names[0], "float32") if has_dtype else "float32"
    return Shaped(dtype, tuple(names[1:] if has_dtype else names))


def _dtype(name: str) -> str:
    return name if name in ("bool", "string") or name in _DTYPES.values() else "float32"


def _dimensions(text: str) -> tuple[str, ...]:
    """Of jaxtyping's `"batch *rest 3 n=4"`: a name or number each; any number of dimensions is taken as one."""
    return tuple(
        part.rpartition("=")[2].lstrip("*#?") or "dimension"
        for part in text.split()
        if part != "..."
    )
