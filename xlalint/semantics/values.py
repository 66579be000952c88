"""What the analysis knows of an expression: its kind, what it depends on, and how big it is.

A `Value` is immutable and hashable, so that a function's result can be remembered per argument values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from xlalint.semantics.results.shapes import Shape

# Kinds. Plain strings: they print well and compare by identity first.
UNKNOWN = "unknown"
PYTHON = "python"
TENSOR = "tensor"
VARIABLE = "variable"
SHAPE = "shape"
NDARRAY = "ndarray"
DATASET = "dataset"
STRATEGY = "strategy"
FUNCTION = "function"
CLASS = "class"
INSTANCE = "instance"
EXTERNAL = "external"
PROJECT_MODULE = "module"
SEQUENCE = "sequence"
COLLECTION = "collection"
MAPPING = "mapping"
TENSOR_ARRAY = "tensor-array"
# tf.SparseTensor and tf.RaggedTensor: several tensors in one object.
SPARSE = "sparse"
RAGGED = "ragged"
SUPER = "super"
PARTIAL = "partial"
# A class of named tuples; what it makes are sequences whose items have names.
NAMED_TUPLE = "named-tuple"
# A collator of transformers, which makes batches of a list of examples.
COLLATOR = "collator"
# What a name of the project's own promises as an annotation: `TensorLike = Union[tf.Tensor, np.ndarray]`. `ref` is the value promised.
ANNOTATION = "annotation"
# A name imported by a module, looked up when it is first used: a package of a thousand modules is not read for one.
DEFERRED = "deferred"
# One of a few functions, classes or objects: a choice that a setting makes. `ref` holds them all.
ANY_OF = "any-of"

# Dependence, from what is known soonest to what is known latest. BOUNDED is the size of a data-sized tensor, which XLA
# keeps as a bound and a run-time count: most sizes may be made of it. CAPTURED is a number that eager code made a
# tensor of, before anything is traced: the program gets it as an argument, whose value never changes, so that only
# a TPU asks what it is (`eager.py`). ARRIVING is data that is an argument or a
# variable of the program: XLA on CPU and GPU can read it and compile again for each value, a TPU cannot.
# COMPUTED is data that the program itself makes (random numbers, loop state, the output of a data-sized
# operation): no XLA target knows it when it compiles. Of the last two it has not even a bound (`results/followed.py`): FACTORED is what
# was computed with factors of a matrix, REGROUPED what came through the reshape of a data-sized tensor.
CONSTANT = 0
FROM_SHAPE = 1
BOUNDED = 2
CAPTURED = 3
ARRIVING = 4
COMPUTED = 5
FACTORED = 6
REGROUPED = 7


class Const(NamedTuple):
    """A Python value known while reading. A class of its own, so that `None` known differs from nothing known."""

    value: Any


class Usual(NamedTuple):
    """A Python value that holds unless a caller chooses another: a parameter's default, and what follows from it."""

    value: Any


class OneOf(NamedTuple):
    """A Python value known to be one of a few."""

    values: tuple[Any, ...]


class Partly(NamedTuple):
    """A text, of which the start and the end may be known: `f"segment_{mode}"`."""

    start: str
    end: str = ""


class SomeNumber(NamedTuple):
    """A Python number that is not known, but is one: never None. `of` says what it counts, or is."""

    of: str


class Content(NamedTuple):
    """The numbers in a small tensor of whole numbers (a shape), None for those that are not known.

    `is_rank`: what `tf.rank` returned, a tensor even where the rank is known while tracing. `is_eager` as for an `Eager`.
    `open_place` and `of`: as for `Sizes`.
    """

    numbers: Shape
    is_rank: bool = False
    is_eager: bool = False
    open_place: int | None = None
    of: str | None = None


class Sizes(NamedTuple):
    """That a vector, or each number of a tuple, is a size of a data-sized tensor of unknown rank, of which the data decide the one at `open_place`.
    `of`: that tensor as it is written, where `tf.shape` was asked."""

    open_place: int
    of: str | None = None


class Lengths(NamedTuple):
    """That the numbers of a vector are sizes of a tensor of unknown rank, which XLA knows; none of them is -1. `is_part`: some of them, as in
    `tf.shape(x)[:-1]`."""

    is_part: bool = False


class Eager(NamedTuple):
    """That eager code made a tensor of no data, before anything was traced: Python can read it while tracing."""


class FromPython(NamedTuple):
    """That a tensor stands for `int(t)` or `float(t)`, as AutoGraph converts them: its dtype is int32 or float32, and stays so."""

    name: str


class Handed(NamedTuple):
    """That a tensor is reckoned from numbers that a layer was handed beside its batch and from sizes alone: it is a size itself, as they are."""


class Open(NamedTuple):
    """That an `input_signature` leaves a size of a tensor open: at `axis`, its static shape has None."""

    axis: int


class Kept(NamedTuple):
    """What a boolean mask leaves of a tensor: `at_most` elements or rows, the size of the mask."""

    at_most: int


class CountOf(NamedTuple):
    """That a scalar is `tf.shape(x)[axis]` of the data-sized tensor that is written `x`."""

    text: str


class Rest(NamedTuple):
    """How much is missing to `whole` (None: not known) where the data decide how much there is (padded_back.py).

    `of`: the tensor whose size was subtracted, as it is written, where nothing was reckoned since; `axis`: of paddings, the one that has it.
    """

    whole: int | None
    of: str | None = None
    axis: int | None = None


class ReadInCalls(str):
    """What made a tensor data-sized, where an argument decides the size (`x[:n]`): XLA on CPU and GPU reads that as it compiles, once for each
    value, and has a static size; for a TPU it is a bound and a count, like any other size from data.
    """

    __slots__ = ()


class Cut(NamedTuple):
    """Along which axes slices with bounds of the running program made a tensor (rejoined.py)."""

    axes: frozenset[int]


class Rejoined(NamedTuple):
    """Along which axes such parts were put together again."""

    axes: frozenset[int]


class Places(NamedTuple):
    """That a tensor holds positions or values that a sort returned, constants that were shuffled, or is a mask (or what counts one) made of either and of
    constants alone (sorted_places.py). `origin` tells values of one sort from those of others, `level` is what TensorFlow
    takes them for where that is known; `is_full` marks a mask that compares these and is true
    wherever TensorFlow reckons with the same number for all of them.
    """

    is_mask: bool
    is_shuffled: bool = False
    is_value: bool = False
    origin: int = 0
    is_full: bool = False
    level: tuple[float, float] | None = None


class Made(NamedTuple):
    """A class of another package and what its instance was made with, where that decides what a call of it does."""

    name: str
    arguments: tuple[tuple[str, Value], ...]


class Wrapping(NamedTuple):
    """What `tf.function(...)` makes of a function that it is called with, for whoever calls what it returns: whether AutoGraph converts it, and
    whether XLA compiles it."""

    converts: bool
    jit: bool


class Value(NamedTuple):
    """What is known of one expression.

    `ref` says more by kind: a `Const` for Python values, a canonical dotted name for externals and their
    instances (or a `Made`), the index's own record for project functions, classes and modules, the elements of a sequence
    (a tuple of values), the joined element of a collection, a tuple of `(key, Value)` for a mapping.
    `producer` names the operation that made a tensor data-sized, `sized_axis` is the dimension it did that to (None: not
    known which), `counted` stands for the operation that counted its elements where that matters (counts.py). `shape` is the static shape, where at least the rank is
    known: of a tensor its own, of a SHAPE the one it holds. `rank` is 0 for a scalar, otherwise the least number of
    dimensions (a mask is no scalar, whatever its rank), None when nothing is known. A tensor's `ref` is a `Content`
    where its elements are known numbers, a `Kept` where a mask of known size made it, a `Cut` where slices did, a `Rest` where it was padded, a `Places` where a sort did, an `Open` where a signature leaves a size open, an
    `Eager` where a constructor or a module made it, a `Handed` where it was reckoned from what a layer was handed. `sure` is False where kind and dependence rest on a parameter that was
    only inferred to be a tensor, `guess` True where the very kind does. `optional` marks a value that may also be None, `structured` a tensor that may
    also be a list, tuple or dict of tensors (the `inputs` of a layer). The `dtype` of a sequence is `list` or `tuple` where it is written as one, that of a collection `dict`
    where it is known to be one. `made` is where a thing with variables was made, in code that
    knows of a strategy (`scopes.py`). `given` are the settings that an object of a project class was made with (`configured.py`), and
    of a sequence the names of its items (`named_tuples.py`), of a tensor that it is a symbolic one of Keras (`symbolic.py`),
    of a function what `tf.function(...)` made of it (a `Wrapping`).
    `fields` are the attributes of an object of a project class that was made of tensors while tracing (`objects.py`). `closure` says with which values around
    it a nested function was defined (`closures.py`).
    """

    kind: str = UNKNOWN
    dependence: int = CONSTANT
    producer: str | None = None
    dtype: str | None = None
    rank: int | None = None
    ref: Any = None
    sure: bool = True
    optional: bool = False
    structured: bool = False
    guess: bool = False
    shape: Shape | None = None
    sized_axis: int | None = 0
    counted: int | None = None
    made: Any = None
    given: tuple[Any, ...] = ()
    fields: tuple[tuple[str, Value], ...] = ()
    closure: int | None = None

    @property
    def is_tensor(self) -> bool:
        return self.kind is TENSOR or self.kind is VARIABLE

    @property
    def is_composite(self) -> bool:
        return self.kind is SPARSE or self.kind is RAGGED

    @property
    def holds_data(self) -> bool:
        """Whether it is made of tensors: one, or the several of a sparse or ragged one."""
        return self.kind in _HOLD_DATA

    @property
    def is_data_sized(self) -> bool:
        return self.producer is not None

    @property
    def is_of_the_run(self) -> bool:
        """Whether only the running program knows it, whatever the target: a size that data decide, or what is computed."""
        return self.dependence == BOUNDED or self.dependence >= COMPUTED

    @property
    def has_no_gradient(self) -> bool:
        """Whether it is known to be of whole numbers, truth values or text."""
        return self.dtype is not None and self.dtype.startswith(_WITHOUT_GRADIENT)

    def constant(self) -> Const | None:
        """The Python value, where it is known."""
        return self.ref if self.kind is PYTHON and type(self.ref) is Const else None

    def usual(self) -> Const | None:
        """The Python value that it has where nobody chooses another, where that is known."""
        if self.kind is not PYTHON:
            return None
        if type(self.ref) is Usual:
            return Const(self.ref.value)
        return self.ref if type(self.ref) is Const else None

    def choices(self) -> tuple[Any, ...]:
        """The Python values it may have, where all of them are known; empty otherwise."""
        if self.kind is not PYTHON:
            return ()
        if type(self.ref) is OneOf:
            return self.ref.values
        return (self.ref.value,) if type(self.ref) is Const else ()


_WITHOUT_GRADIENT = ("int", "uint", "bool", "string")
_HOLD_DATA = frozenset({TENSOR, VARIABLE, SPARSE, RAGGED})
NOTHING_KNOWN = Value()
SOME_PYTHON = Value(PYTHON)
SOME_TEXT = Value(PYTHON, ref=Partly(""))
NONE = Value(PYTHON, ref=Const(None))
# XLA compiles for known ranks: in what it compiles, `x.shape.rank` is None of no tensor.
SOME_RANK = Value(PYTHON, ref=SomeNumber("dimensions"))
# `len(self.blocks)`: Python knows it while tracing.
SOME_LENGTH = Value(PYTHON, ref=SomeNumber("items"))
# `1j`, and what it is multiplied to: no tensor of real numbers can be combined with it.
IMAGINARY = Value(PYTHON, ref=SomeNumber("imaginary"))
TRUE = Value(PYTHON, ref=Const(True))
FALSE = Value(PYTHON, ref=Const(False))
DATA = Value(TENSOR, ARRIVING)
LIKELY_DATA = Value(TENSOR, ARRIVING, sure=False, guess=True)
INPUTS = Value(TENSOR, ARRIVING, structured=True)
STATIC_SHAPE = Value(SHAPE)


def wrapping(value: Value) -> Wrapping | None:
    """What `tf.function(...)` made of a function; None of one that it was not called with."""
    own = value.given[0] if value.kind is FUNCTION and value.given else None
    return own if type(own) is Wrapping else None


def may_be_handed(value: Value) -> bool:
    """Whether a tensor may be a number that a layer was handed beside its batch, or is reckoned from such numbers. What a step of a loop is given is none."""
    return value.dependence == ARRIVING and (value.structured or type(value.ref) is Handed)


def counted_size(counted: int | None) -> Value:
    """A size that the data decide, as a tensor of the graph."""
    return Value(TENSOR, BOUNDED, dtype="int32", rank=0, shape=(), counted=counted)


def constant(value: object) -> Value:
    """A Python value known while reading (None, numbers and text only: anything else may change)."""
    if value is None:
        return NONE
    if value is True:
        return TRUE
    if value is False:
        return FALSE
    kind = type(value)
    if kind is str or kind is int:
        return _known(value)
    if kind is complex:
        return IMAGINARY
    return Value(PYTHON, ref=Const(value)) if kind is float or kind is bytes else SOME_PYTHON


# The same few numbers and words are met again and again. (Floats are left out: 0.0 and -0.0 are equal and differ.)
@lru_cache(maxsize=4096)
def _known(value: str | int) -> Value:
    return Value(PYTHON, ref=Const(value))


def dimension(size: int | None) -> Value:
    """A dimension of a static shape: known, or a Python number (or None) that is not."""
    return SOME_PYTHON if size is None else Value(PYTHON, ref=Const(size))


def usually(value: object) -> Value:
    """A Python value that is another only where a caller says so."""
    return Value(PYTHON, ref=Usual(value))


def tensor(
    dependence: int = ARRIVING,
    *,
    producer: str | None = None,
    dtype: str | None = None,
    rank: int | None = None,
    sure: bool = True,
    shape: Shape | None = None,
) -> Value:
    """A tensor; a static shape settles its rank."""
    known = len(shape) if shape is not None else rank
    return Value(TENSOR, dependence, producer, dtype, known, None, sure, shape=shape)


def shaped(value: Value, shape: Shape | None) -> Value:
    """The same tensor with this static shape (and nothing known of its rank when that is None)."""
    return value._replace(shape=shape, rank=None if shape is None else len(shape))


def static_shape(shape: Shape | None) -> Value:
    """What `x.shape` is for a tensor of this shape."""
    return STATIC_SHAPE if shape is None else Value(SHAPE, shape=shape)


def with_items(value: Value, change: Callable[[Value], Value]) -> Value:
    """A structure with each of its items changed; a value that is none, or that holds nothing known, as it is."""
    if value.kind is SEQUENCE:
        return value._replace(ref=tuple(map(change, value.ref)))
    if value.kind is MAPPING and value.ref:
        return value._replace(ref=tuple((key, change(item)) for key, item in value.ref))
    if value.kind is COLLECTION and value.ref is not None:
        return value._replace(ref=change(value.ref))
    return value


def unshaped(value: Value) -> Value:
    """The value without its static shape and content, for where a few shapes have been told apart already."""
    if value.kind is SEQUENCE and value.ref:
        return value._replace(ref=tuple(unshaped(item) for item in value.ref))
    if value.shape is None:
        return value
    ref = None if type(value.ref) is Content else value.ref
    return value._replace(shape=None, ref=ref)


CALLED = frozenset({FUNCTION, CLASS, INSTANCE, EXTERNAL, PARTIAL})


def class_name(value: Value) -> str | None:
    """The canonical name of the class of an instance of another package's; None for the project's own."""
    if isinstance(value.ref, Made):
        return value.ref.name
    return value.ref if isinstance(value.ref, str) else None
