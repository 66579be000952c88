"""What the analysis knows of an expression: its kind, what it depends on, and how big it is.

A `Value` is immutable and hashable, so that a function's result can be remembered per argument values.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from xlalint.semantics.results import shapes
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
# operation): no XLA target knows it when it compiles.
CONSTANT = 0
FROM_SHAPE = 1
BOUNDED = 2
CAPTURED = 3
ARRIVING = 4
COMPUTED = 5


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
    `open_place`: as for `Sizes`.
    """

    numbers: Shape
    is_rank: bool = False
    is_eager: bool = False
    open_place: int | None = None


class Sizes(NamedTuple):
    """That a vector, or each number of a tuple, is a size of a data-sized tensor of unknown rank, of which the data decide the one at `open_place`."""

    open_place: int


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


class Kept(NamedTuple):
    """What a boolean mask leaves of a tensor: `at_most` elements or rows, the size of the mask."""

    at_most: int


class Cut(NamedTuple):
    """Along which axes slices with bounds of the running program made a tensor (rejoined.py)."""

    axes: frozenset[int]


class Rejoined(NamedTuple):
    """Along which axes such parts were put together again."""

    axes: frozenset[int]


class Places(NamedTuple):
    """That a tensor holds positions or values that a sort returned, constants that were shuffled, or is a mask (or what counts one) made of either and of
    constants alone (sorted_places.py).
    """

    is_mask: bool
    is_shuffled: bool = False
    is_value: bool = False


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
    where its elements are known numbers, a `Kept` where a mask of known size made it, a `Cut` where slices did, a `Places` where a sort did, an
    `Eager` where a constructor or a module made it, a `Handed` where it was reckoned from what a layer was handed. `sure` is False where kind and dependence rest on a parameter that was
    only inferred to be a tensor, `guess` True where the very kind does. `optional` marks a value that may also be None, `structured` a tensor that may
    also be a list, tuple or dict of tensors (the `inputs` of a layer). The `dtype` of a sequence is `list` or `tuple` where it is written as one, that of a collection `dict`
    where it is known to be one. `made` is where a thing with variables was made, in code that
    knows of a strategy (`scopes.py`). `given` are the settings that an object of a project class was made with (`configured.py`), and
    of a sequence the names of its items (`named_tuples.py`), of a tensor that it is a symbolic one of Keras (`symbolic.py`),
    of a function what `tf.function(...)` made of it (a `Wrapping`).
    `fields` are the attributes of an object of a project class that was made of tensors while tracing (`objects.py`).
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
_LISTS = frozenset({SEQUENCE, COLLECTION})
_MAY_HOLD_OTHERS = frozenset({SEQUENCE, COLLECTION, MAPPING})
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


def unshaped(value: Value) -> Value:
    """The value without its static shape and content, for where a few shapes have been told apart already."""
    if value.kind is SEQUENCE and value.ref:
        return value._replace(ref=tuple(unshaped(item) for item in value.ref))
    if value.shape is None:
        return value
    ref = None if type(value.ref) is Content else value.ref
    return value._replace(shape=None, ref=ref)


def join(a: Value, b: Value) -> Value:
    """What is known when the value is one of two."""
    if a == b:
        return a
    if a.kind in _LISTS and b.kind in _LISTS and _is_filled(a, b):
        return _join_lists(a, b)
    if a.kind is b.kind:
        if a.kind in _TOLD_BY_REF and a.ref != b.ref:
            return _join_objects(a, b)
        return _join_same_kind(a, b)
    if {a.kind, b.kind} == {TENSOR, VARIABLE}:
        return _join_same_kind(a._replace(kind=TENSOR, ref=None), b._replace(kind=TENSOR, ref=None))
    if _stands_in(a, b):
        return b._replace(optional=True)
    if _stands_in(b, a):
        return a._replace(optional=True)
    if (a.kind in _CHOSEN or a.kind is ANY_OF) and (b.kind in _CHOSEN or b.kind is ANY_OF):
        return _either(a, b)
    if _is_none(a):
        return b._replace(optional=True)
    if _is_none(b):
        return a._replace(optional=True)
    if _is_number_of_data(a) and _is_written_number(b):
        return _or_a_number(a)
    if _is_number_of_data(b) and _is_written_number(a):
        return _or_a_number(b)
    return Value(UNKNOWN, max(a.dependence, b.dependence))


def _is_number_of_data(value: Value) -> bool:
    """Whether the program draws or computes a scalar tensor: a random offset, the length of the longest row."""
    return (
        value.kind is TENSOR
        and value.rank == 0
        and value.dependence >= COMPUTED
        and not value.guess
    )


def _is_written_number(value: Value) -> bool:
    known = value.usual()
    return value == SOME_LENGTH or (known is not None and type(known.value) in (int, float))


def _or_a_number(value: Value) -> Value:
    """`tf.random.uniform(()) if moves else 0`: fit for what takes either, and decided by the data where they are asked."""
    return value._replace(dtype=None, ref=None)


def _is_filled(a: Value, b: Value) -> bool:
    """Whether two lists are one that was filled on a way: `[]` before a loop, and what the loop has appended after it."""
    if a.given or b.given:
        return False
    return a.kind is not b.kind or (a.kind is SEQUENCE and len(a.ref) != len(b.ref))


def _join_lists(a: Value, b: Value) -> Value:
    """A list of some items or of others. One that is empty on a way says nothing of them, but that there may be none."""
    items = [element(one) for one in (a, b) if one.kind is COLLECTION or one.ref]
    item = join_all(tuple(items))
    return Value(
        COLLECTION,
        max(a.dependence, b.dependence),
        dtype=a.dtype if a.dtype == b.dtype else None,
        ref=item if len(items) == 2 else _perhaps(item),
        sure=a.sure and b.sure,
        optional=a.optional or b.optional,
    )


def _perhaps(value: Value) -> Value:
    """What is there on one way only: a tensor is no more than a guess, and code for sparse and ragged ones may never run."""
    if value.is_composite:
        return NOTHING_KNOWN
    if value.kind is SEQUENCE:
        return value._replace(ref=tuple(_perhaps(item) for item in value.ref))
    if value.kind is MAPPING and value.ref:
        return value._replace(ref=tuple((key, _perhaps(item)) for key, item in value.ref))
    if value.kind is COLLECTION and value.ref is not None:
        return value._replace(ref=_perhaps(value.ref))
    return value._replace(guess=True, sure=False) if value.is_tensor else value


def _stands_in(a: Value, b: Value) -> bool:
    """Whether `a` is an object of the project that takes the place of a package where it is not installed."""
    return b.kind is EXTERNAL and b.ref in _PACKAGES and a.kind is INSTANCE


_PACKAGES = frozenset({"tf", "keras", "tf_keras", "tf.compat.v1", "tensorflow_probability"})
_TOLD_BY_REF = frozenset(
    {
        FUNCTION,
        CLASS,
        INSTANCE,
        EXTERNAL,
        PROJECT_MODULE,
        SUPER,
        DEFERRED,
        PARTIAL,
        ANY_OF,
        NAMED_TUPLE,
    }
)
CALLED = frozenset({FUNCTION, CLASS, INSTANCE, EXTERNAL, PARTIAL})
_CHOSEN = CALLED | {PROJECT_MODULE}


def _join_objects(a: Value, b: Value) -> Value:
    """Either of two functions, classes or objects: nothing is known, unless both are layers of Keras."""
    if a.kind is INSTANCE and b.kind is INSTANCE:
        names = [class_name(value) for value in (a, b)]
        if all(name is not None and ".layers." in name for name in names):
            return a._replace(ref=names[0])
    return _either(a, b)


_MOST_ALTERNATIVES = 8


def alternatives(value: Value) -> tuple[Value, ...]:
    """The functions, classes, objects or modules that a value may be; the value itself where it is one."""
    return value.ref if value.kind is ANY_OF else (value,)


def _either(a: Value, b: Value) -> Value:
    """Either of two functions, classes, objects or modules, which may be such choices themselves."""
    every = tuple(dict.fromkeys((*alternatives(a), *alternatives(b))))
    if len(every) > _MOST_ALTERNATIVES or not all(v.kind in _CHOSEN for v in every):
        return NOTHING_KNOWN
    return Value(ANY_OF, ref=every, optional=a.optional or b.optional)


def class_name(value: Value) -> str | None:
    """The canonical name of the class of an instance of another package's; None for the project's own."""
    if isinstance(value.ref, Made):
        return value.ref.name
    return value.ref if isinstance(value.ref, str) else None


def _is_none(value: Value) -> bool:
    return value.kind is PYTHON and value.ref == NONE.ref


def _join_same_kind(a: Value, b: Value) -> Value:
    return Value(
        a.kind,
        max(a.dependence, b.dependence),
        a.producer or b.producer,
        a.dtype if a.dtype == b.dtype else None,
        a.rank if a.rank == b.rank else None,
        _join_refs(a, b),
        a.sure and b.sure,
        a.optional or b.optional,
        a.structured or b.structured,
        a.guess or b.guess,
        a.shape if a.shape == b.shape else shapes.join(a.shape, b.shape),
        _join_axes(a, b),
        _join_counts(a, b),
        None,
        a.given if a.given == b.given else (),
        a.fields if a.fields == b.fields else _join_fields(a, b),
    )


def _join_fields(a: Value, b: Value) -> tuple[tuple[str, Value], ...]:
    others = dict(b.fields)
    return tuple((name, join(v, others[name])) for name, v in a.fields if name in others)


def _join_axes(a: Value, b: Value) -> int | None:
    """Which dimension is data-sized, in whichever of the two is."""
    if a.producer is None:
        return b.sized_axis
    return a.sized_axis if b.producer is None or a.sized_axis == b.sized_axis else None


def _join_counts(a: Value, b: Value) -> int | None:
    """Who counted the elements, in whichever of the two is data-sized: `if mask is not None: x = x[mask]`."""
    if a.counted == b.counted or (a.producer is None) is (b.producer is None):
        return a.counted if a.counted == b.counted else None
    return b.counted if a.producer is None else a.counted


def _join_refs(a: Value, b: Value) -> Any:
    if a.ref == b.ref:
        return a.ref
    if a.kind is PYTHON:
        return _join_constants(a, b)
    if a.kind is SEQUENCE and len(a.ref) == len(b.ref):
        return tuple(join(x, y) for x, y in zip(a.ref, b.ref))
    if a.kind is SEQUENCE:
        return ()
    if a.kind is COLLECTION and a.ref is not None and b.ref is not None:
        return join(a.ref, b.ref)
    if a.kind is MAPPING and a.ref is not None and b.ref is not None:
        return _join_items(a.ref, b.ref)
    if a.kind is TENSOR_ARRAY and a.ref is not None and b.ref is not None:
        return a.ref.joined(b.ref)
    return None


_MOST_ITEMS = 16


def _join_items(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The items of a dictionary that two ways fill. None where there are many."""
    if len(a) + len(b) > _MOST_ITEMS:
        return None
    first, second = _by_key(a), _by_key(b)
    return tuple(
        (key, join(first[key], second[key]))
        if key in first and key in second
        else (key, _perhaps(first[key] if key in first else second[key]))
        for key in {**first, **second}
    )


def _by_key(pairs: tuple[Any, ...]) -> dict[Any, Value]:
    """What was put last under each key; under those that are not known, any of what was put there."""
    items: dict[Any, Value] = {}
    for key, value in pairs:
        items[key] = join(items[key], value) if key is None and None in items else value
    return items


_MOST_CHOICES = 6


def _join_constants(a: Value, b: Value) -> OneOf | Partly | None:
    """`"nearest" if small else "bilinear"` is one of two words, or some text; numbers and flags are left open."""
    both = a.choices() + b.choices()
    if (
        a.choices()
        and b.choices()
        and len(both) <= _MOST_CHOICES
        and all(isinstance(v, str) for v in both)
    ):
        return OneOf(tuple(sorted(set(both))))
    return SOME_TEXT.ref if _is_text(a) and _is_text(b) else None


def _is_text(value: Value) -> bool:
    choices = value.choices()
    is_known = bool(choices) and all(isinstance(v, str) for v in choices)
    return is_known or type(value.ref) is Partly


def item_at(value: Value, place: object) -> Value:
    """What a structure holds at a place: of the sizes of a data-sized tensor, the one that the data decide is a tensor."""
    found = element(value)
    if type(found.ref) is not Sizes:
        return found
    return (
        counted_size(found.counted) if place == found.ref.open_place else found._replace(ref=None)
    )


def element(value: Value) -> Value:
    """What iterating over, or indexing, a structure gives."""
    if value.kind is SEQUENCE:
        return join_all(value.ref) if value.ref else NOTHING_KNOWN
    if value.kind is COLLECTION:
        return value.ref if value.ref is not None else NOTHING_KNOWN
    if value.kind is SHAPE:
        return (
            dimension(value.shape[0]) if value.shape and len(set(value.shape)) == 1 else SOME_PYTHON
        )
    if value.kind is TENSOR:
        rest = value.shape[1:] if value.shape else None
        # A part of a batch is still of the pipeline that the batch came from.
        ref = value.ref if value.structured else None
        item = value._replace(shape=rest, rank=None if rest is None else len(rest), ref=ref)
        return item if value.producer is None else _without_first_axis(item)
    if value.kind is MAPPING and value.ref:
        items = tuple(v for _, v in value.ref)
        return join_all(tuple(v for v in items if not v.guess) or items)
    if value.kind is DATASET:
        return Value(TENSOR, ARRIVING, structured=True, ref=value.ref)
    return NOTHING_KNOWN


def _without_first_axis(item: Value) -> Value:
    """A row of `x[keep]` is as long as a row of `x`; columns of `x[:, keep]` stay data-sized."""
    if item.sized_axis == 0 and not item.structured:
        return item._replace(producer=None, counted=None, dependence=max(item.dependence, COMPUTED))
    axis = item.sized_axis - 1 if item.sized_axis else item.sized_axis
    return item._replace(sized_axis=axis, counted=None)


def iterated(value: Value) -> Value:
    """What a loop over a structure gives: of a dictionary, its keys."""
    if value.kind is COLLECTION and value.dtype == "dict":
        return SOME_PYTHON
    if value.kind is not MAPPING:
        return element(value)
    keys = tuple(sorted({key for key, _ in value.ref or () if isinstance(key, str)}))
    if keys and len(keys) == len(value.ref) and len(keys) <= _MOST_CHOICES:
        return Value(PYTHON, ref=OneOf(keys))
    return SOME_PYTHON


def join_all(values: tuple[Value, ...]) -> Value:
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result


def flattened(values: Iterable[Value]) -> list[Value]:
    """The values inside all of these structures, in order; most are none."""
    flat: list[Value] = []
    for value in values:
        if value.kind in _MAY_HOLD_OTHERS:
            flat += leaves(value)
        else:
            flat.append(value)
    return flat


def leaves(value: Value) -> tuple[Value, ...]:
    """The values inside a structure, or the value itself."""
    if value.kind not in _MAY_HOLD_OTHERS:
        return (value,)
    if value.kind is SEQUENCE:
        return tuple(flattened(value.ref))
    if value.kind is COLLECTION and value.ref is not None:
        return leaves(value.ref)
    if value.kind is MAPPING and value.ref:
        return tuple(flattened([item for _, item in value.ref]))
    return (value,)
