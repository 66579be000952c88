"""NumPy arrays: which functions make float64 ones, unless told otherwise, and what keeps the dtype of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlalint.semantics.elements import leaves
from xlalint.semantics.results import result_dtypes
from xlalint.semantics.values import NDARRAY, SOME_PYTHON, Const, Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

_FLOAT64 = frozenset(
    {f"np.{name}" for name in "zeros ones empty eye identity linspace logspace".split()}
    | {f"np.random.{name}" for name in
       "rand randn random normal uniform standard_normal random_sample gamma beta exponential".split()}
)  # fmt: skip
_OF_VALUES = frozenset({"np.array", "np.asarray", "np.full"})
# Of a list these make no number, whatever is in it.
OF_LISTS = frozenset({"np.array", "np.asarray"})
_KEEP_DTYPE = frozenset(
    {"reshape", "copy", "transpose", "flatten", "ravel", "squeeze", "T", "swapaxes", "repeat"}
)
_POSITION_OF_DTYPE = {"np.array": 1, "np.asarray": 1, "np.zeros": 1, "np.ones": 1, "np.full": 2}


def made(name: str, arguments: Arguments) -> Value | None:
    """The array that a NumPy function makes, where its dtype is known; None otherwise."""
    if name == "np.arange":
        return Value(NDARRAY)
    if name not in _FLOAT64 and name not in _OF_VALUES:
        return None
    position = _POSITION_OF_DTYPE.get(name, 99)
    given = arguments.keywords.get("dtype")
    if given is None and len(arguments.positional) > position:
        given = arguments.positional[position]
    if given is not None:
        return Value(NDARRAY, dtype=result_dtypes.dtype_name(given))
    if name in _FLOAT64:
        return Value(NDARRAY, dtype="float64")
    numbers = [leaf for value in arguments.positional for leaf in leaves(value)]
    is_float = any(type(n.ref) is Const and type(n.ref.value) is float for n in numbers)
    known = all(type(n.ref) is Const for n in numbers)
    return Value(NDARRAY, dtype="float64") if is_float and known else None


def method(base: Value, attr: str, arguments: Arguments) -> Value:
    """`array.reshape(...)`, `array.astype(...)`."""
    if attr in ("item", "tolist", "any", "all"):
        return SOME_PYTHON
    if attr == "astype" and arguments.positional:
        return Value(NDARRAY, dtype=result_dtypes.dtype_name(arguments.positional[0]))
    return Value(NDARRAY, dtype=base.dtype if attr in _KEEP_DTYPE else None)
