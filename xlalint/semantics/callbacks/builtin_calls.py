"""Calls of Python's own functions on what may be a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from xlalint.semantics import eager, evidence, symbolic
from xlalint.semantics.attributes import read
from xlalint.semantics.callbacks import handed_functions, made_mappings, protocols, python_numbers
from xlalint.semantics.elements import element, items_in_order, iterated
from xlalint.semantics.facts import ASSUMED, CONVERSION, ITERATION
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import iteration, trace_effects, unknown_sizes
from xlalint.semantics.hazards.sizes import note_sizes
from xlalint.semantics.index import ClassInfo
from xlalint.semantics.joins import join_all
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.tracing import host_use
from xlalint.semantics.truths import truth
from xlalint.semantics.type_kinds import kind_of_type
from xlalint.semantics.values import (
    BOUNDED,
    CLASS,
    COLLECTION,
    COMPUTED,
    CONSTANT,
    DATASET,
    EXTERNAL,
    FALSE,
    FUNCTION,
    INSTANCE,
    MAPPING,
    NDARRAY,
    NONE,
    NOTHING_KNOWN,
    PARTIAL,
    PYTHON,
    RAGGED,
    SEQUENCE,
    SHAPE,
    SOME_LENGTH,
    SOME_PYTHON,
    SOME_TEXT,
    SPARSE,
    SUPER,
    TENSOR,
    TRUE,
    VARIABLE,
    FromPython,
    Partly,
    Usual,
    Value,
    constant,
    dimension,
    usually,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

NAMES = frozenset(
    "abs all any bin bool callable chr dict dir divmod enumerate filter float format frozenset getattr hasattr hash hex id input int "
    "isinstance issubclass iter len list map max min next object oct open pow print property range repr reversed round set "
    "setattr slice sorted staticmethod classmethod str sum super tuple type vars zip bytes complex Exception ValueError "
    "TypeError NotImplementedError RuntimeError NotImplemented AssertionError KeyError IndexError __import__".split()
)

# bool(t) fails everywhere; int(t), float(t) become tf.cast where AutoGraph converts (facts: control flow, section 2).
_CONVERTED_FINE = frozenset({"int", "float"})
_ASK_FOR_TRUTH = frozenset({"any", "all", "max", "min", "sorted"})


def call(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """The value of `name(...)` for a builtin."""
    values = arguments.positional
    if name == "range":
        values = tuple(SOME_PYTHON if eager.is_read_in_python(v, frame) else v for v in values)
    first = values[0] if values else NOTHING_KNOWN
    unknown_sizes.note_builtin(name, values, node, frame)
    if name in iteration.ITERATING and isinstance(node, ast.Call):
        _note_iteration(name, values, node, frame)
    if name in ("int", "float", "bool", "complex"):
        return _convert(name, first, node, frame)
    if name == "filter" and values:
        note_answers(name, values[0], values[1:2], node, frame)
    if name == "sorted" and frame.context.converted and _may_be_vector(first):
        return first._replace(
            kind=TENSOR, ref=None
        )  # AutoGraph makes it tf.sort, with a key or without
    if name in _ASK_FOR_TRUTH and "key" in arguments.keywords:
        # The keys are compared, whatever the items are.
        note_answers(name, arguments.keywords["key"], values, node, frame)
        return first if name == "sorted" and first.kind is COLLECTION else NOTHING_KNOWN
    if name in _ASK_FOR_TRUTH:
        return _truth_of_elements(name, values, node, frame)
    if name == "dict":
        return made_mappings.made(arguments)
    if name == "len":
        return _len(first, node, frame)
    if name == "map" and values:
        return handed_functions.mapped(arguments, node, frame)
    if name == "range":
        return _range(values, node, frame)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(values, frame)
    if name in ("abs", "pow", "round", "divmod"):
        return first._replace(kind=TENSOR, ref=None) if first.is_tensor else SOME_PYTHON
    if name == "print":
        trace_effects.note_told(name, node, frame)
        return NONE
    if name in ("str", "repr"):
        return SOME_TEXT
    python_numbers.note(f"builtins.{name}", arguments, node, frame)
    if name == "open":
        frame.host |= host_use.WORK
    return SOME_PYTHON


def _may_be_vector(value: Value) -> bool:
    return value.is_tensor and (value.shape is None or len(value.shape) == 1)


def _note_iteration(name: str, values: tuple[Value, ...], node: ast.Call, frame: Frame) -> None:
    """`zip(xs, ys)`, `list(x)`, `map(f, x)`: a tensor among what they iterate over."""
    first = 1 if name in ("map", "filter") else 0
    given = values[:1] if name in ("iter", "next", "sum", "dict") else values[first:]
    if name == "range" and frame.context.converted:
        return  # becomes tf.range
    are_written = len(node.args) == len(values) and not any(
        isinstance(each, ast.Starred) for each in node.args
    )
    for place, value in enumerate(given, first):
        written = node.args[place] if are_written else None
        if value.kind is DATASET and frame.context.jit:
            frame.analysis.note(frame, node, ITERATION, value, "dataset")
        elif iteration.is_taken_apart(value, written, frame):
            iteration.note(frame, node, value, f"`{name}`", written)
            return


def note_answers(
    name: str, function: Value, values: tuple[Value, ...], node: ast.AST, frame: Frame
) -> None:
    """`sorted(rows, key=tf.reduce_sum)`, `filter(is_kept, rows)`: Python asks what the function answers for its truth."""
    if not values or values[0].kind not in _HELD or len(values[0].ref or ()) == 1:
        return
    answer = handed_functions.answer(function, iterated(values[0]), node, frame)
    if answer.is_tensor and not (answer.guess or answer.structured or answer.optional):
        frame.analysis.note(frame, node, CONVERSION, answer, name)


def _convert(name: str, value: Value, node: ast.AST, frame: Frame) -> Value:
    if value.kind is INSTANCE:
        if name == "bool":
            protocols.truth(value, frame)
        else:
            protocols.number(value, f"__{name}__", frame)
    if not value.is_tensor:
        known = value.constant()
        is_number = name == "int" and known is not None and str(known.value).isdecimal()
        if known is not None and is_number:
            return constant(int(known.value))
        if known is not None and name == "float" and type(known.value) in (bool, int, float):
            return constant(float(known.value))
        return _usual_flag(name, value)
    if frame.context.converted and name in _CONVERTED_FINE:
        dtype = "int32" if name == "int" else "float32"
        # Whoever asks for Python's number in a function that nobody is seen to compile means to run it eagerly, and has one then: so does who
        # makes a setting of settings, `int(ops.ceil(filters / ratio))`.
        is_asked = value.dependence == CONSTANT or (name == "float" and not value.sure)
        is_meant = frame.context.region == ASSUMED and is_asked
        is_guess = value.guess or is_meant
        return value._replace(kind=TENSOR, dtype=dtype, ref=FromPython(name), guess=is_guess)
    # No number is made of a list or dict of what a step computes either, as `metric.result()` may be.
    is_one = not value.structured or (name != "bool" and value.dependence >= COMPUTED)
    if is_one and not value.guess:
        frame.analysis.note(frame, node, CONVERSION, value, name)
        if frame.context.region == ASSUMED and _is_promised(name, frame):
            frame.host |= host_use.WORK  # as with `.numpy()`: its author runs it eagerly
    return SOME_PYTHON


def _usual_flag(name: str, value: Value) -> Value:
    """`int(os.environ.get("DEBUG", "0"))`, `bool(flag)`: a flag that is as it is written unless somebody sets it."""
    usual = value.ref.value if type(value.ref) is Usual else None
    is_unset = type(value.ref) is Usual and usual is None
    if name == "bool" and (is_unset or isinstance(usual, (bool, int, str))):
        return usually(bool(usual))
    if name == "int" and (isinstance(usual, bool) or usual in (0, 1, "0", "1")):
        return usually(int(usual))
    return SOME_PYTHON


def _is_promised(name: str, frame: Frame) -> bool:
    """`def equal(a, b) -> bool: return bool(...)`: whether a function says that it returns such a Python value."""
    returns = getattr(frame.function.node, "returns", None) if frame.function is not None else None
    return isinstance(returns, ast.Name) and returns.id == name


def _truth_of_elements(name: str, values: tuple[Value, ...], node: ast.AST, frame: Frame) -> Value:
    if len(values) == 1:
        answer = _answer(name, values[0])
        if answer is not None:
            return answer
        inside = element(values[0])
        if values[0].kind is TENSOR and not values[0].structured and not values[0].guess:
            frame.analysis.note(frame, node, CONVERSION, values[0], name)
            return SOME_PYTHON
        asked = inside if values[0].kind in (SEQUENCE, COLLECTION) else NOTHING_KNOWN
    else:
        tensors = [v for v in values if v.is_tensor]
        asked = tensors[0] if tensors and name in ("max", "min") else NOTHING_KNOWN
    if asked.is_tensor and not asked.structured and not asked.optional:
        if not asked.guess:
            frame.analysis.note(frame, node, CONVERSION, asked, name)
        return NOTHING_KNOWN
    return SOME_PYTHON if all(v.kind in (PYTHON, SHAPE) for v in values) else NOTHING_KNOWN


def _answer(name: str, asked: Value) -> Value | None:
    """`any(tf.is_tensor(t) for t in tf.nest.flatten(x))` and `all(...)`, where each answer is known; there is one at least."""
    if name not in ("any", "all") or asked.kind not in (SEQUENCE, COLLECTION):
        return None
    items = asked.ref if asked.kind is SEQUENCE else (asked.ref,)
    answers = {None if item is None else truth(item) for item in items}
    settles = name == "any"
    if settles in answers:
        return TRUE if settles else FALSE
    return (FALSE if settles else TRUE) if answers == {not settles} else None


# Kinds of what callers pass on purpose, where a tensor would do.
_COMPOSITES = frozenset({SPARSE, RAGGED, "slices"})


def _isinstance(values: tuple[Value, ...], frame: Frame) -> Value:
    if len(values) != 2:
        return SOME_PYTHON
    value, types = values
    wanted = types.ref if types.kind is SEQUENCE else (types,)
    kinds = {kind_of_type(t) for t in wanted}
    if value.kind is TENSOR and not (value.guess or value.structured or value.optional):
        if TENSOR in kinds:
            return TRUE
        if None not in kinds:
            return FALSE
    if value.kind is VARIABLE and not value.optional and kinds <= {SEQUENCE, MAPPING}:
        return FALSE
    if value.is_composite and not (value.guess or value.optional):
        if value.kind in kinds:
            return TRUE if value.sure else SOME_PYTHON
        if None not in kinds:
            return FALSE
    if kinds <= _COMPOSITES:
        return usually(False)
    if kinds == {NDARRAY} and frame.context.is_compiled:
        return usually(False)  # what is traced is handed tensors
    if value.usual() is not None or value.kind in _CALLABLE or type(value.ref) is Partly:
        return _is_of_python(value, wanted)
    if value.kind in (SEQUENCE, COLLECTION) and kinds == {SEQUENCE}:
        return _is_written_as(value, wanted)
    if value.kind is MAPPING and kinds == {MAPPING}:
        return TRUE
    return SOME_PYTHON


_HELD = frozenset({COLLECTION, MAPPING, SEQUENCE})
_CALLABLE = frozenset({FUNCTION, PARTIAL, CLASS})
_SCALARS = {
    "builtins.str": str,
    "builtins.int": int,
    "builtins.float": float,
    "builtins.bool": bool,
}
_CONTAINERS = frozenset({"builtins.list", "builtins.tuple", "builtins.dict"})


def _is_of_python(value: Value, classes: Iterable[Value]) -> Value:
    """`isinstance(activation, str)` of a text, a number or a function, where it asks for such types alone."""
    names = {str(wanted.ref) if wanted.kind is EXTERNAL else "" for wanted in classes}
    if value.optional or not names <= _SCALARS.keys() | _CONTAINERS:
        return SOME_PYTHON
    if type(value.ref) is Partly:
        return TRUE if "builtins.str" in names else FALSE
    known = value.usual()
    if known is None:
        return FALSE  # a function
    answer = isinstance(known.value, tuple(_SCALARS[name] for name in names - _CONTAINERS))
    return constant(answer) if value.constant() is not None else usually(answer)


def _callable(values: tuple[Value, ...], frame: Frame) -> Value:
    """`activation if callable(activation) else ...`"""
    value = values[0] if values else NOTHING_KNOWN
    if value.kind in _CALLABLE and not value.optional:
        return TRUE
    if value.kind is PYTHON and value.usual() is not None:
        return FALSE if value.constant() is not None else usually(False)
    return SOME_PYTHON


def _is_written_as(value: Value, classes: Iterable[Value]) -> Value:
    """A list is no tuple: both are one kind here, and what was written as one or the other is told apart."""
    names = {str(wanted.ref) if wanted.kind is EXTERNAL else "" for wanted in classes}
    if value.optional or value.dtype is None or not names <= {"builtins.list", "builtins.tuple"}:
        return SOME_PYTHON
    return TRUE if f"builtins.{value.dtype}" in names else FALSE


def _getattr(values: tuple[Value, ...], frame: Frame) -> Value:
    name = values[1].usual() if len(values) > 1 else None
    if name is not None and isinstance(name.value, str) and name.value.isidentifier():
        return read(values[0], name.value, frame, ast.Constant(name.value))
    if name is None and len(values) > 1 and type(values[1].ref) is Partly:
        return _named_alike(values[0], values[1].ref, frame)
    return NOTHING_KNOWN


def _named_alike(module: Value, name: Partly, frame: Frame) -> Value:
    """`getattr(tf.math, f"segment_{mode}")`: one of the functions of that module whose names begin and end like that."""
    if module.kind is not EXTERNAL or not (name.start or name.end):
        return NOTHING_KNOWN
    every = frame.analysis.catalog.members(str(module.ref))
    alike = [each for each in every if each.startswith(name.start) and each.endswith(name.end)]
    found = [Value(EXTERNAL, ref=f"{module.ref}.{each}") for each in alike if each.islower()]
    return join_all(tuple(found)) if found and len(found) == len(alike) else NOTHING_KNOWN


def _hasattr(values: tuple[Value, ...], frame: Frame) -> Value:
    name = values[1].constant() if len(values) > 1 else None
    if name is not None and symbolic.has_attribute(values[0], name.value):
        return TRUE
    if (
        name is not None
        and values[0].kind is TENSOR
        and not values[0].guess
        and not values[0].structured
    ):
        if name.value in ("numpy", "item", "tolist"):
            return FALSE  # a symbolic tensor has none of these (facts: silently different)
    if values and values[0].ref in ("keras.Model", "tf_keras.Model") and name is not None:
        return TRUE if name.value in _MODEL_METHODS else SOME_PYTHON
    return SOME_PYTHON


# What every Keras that the catalogue covers has (TensorFlow 2.12 and later): libraries still ask.
_MODEL_METHODS = frozenset({"compute_loss", "compute_metrics", "train_step", "export"})


def _enumerate(values: tuple[Value, ...], frame: Frame) -> Value:
    given = items_in_order(values[0]) if len(values) == 1 else None
    if given:
        pairs = (Value(SEQUENCE, ref=(constant(i), item)) for i, item in enumerate(given))
        return Value(SEQUENCE, ref=tuple(pairs))
    inner = element(values[0]) if values else NOTHING_KNOWN
    return Value(COLLECTION, ref=Value(SEQUENCE, ref=(SOME_PYTHON, inner)))


def _zip(values: tuple[Value, ...], frame: Frame) -> Value:
    given = [items_in_order(value) for value in values]
    if given and all(given):
        rows = zip(*(items for items in given if items))
        return Value(SEQUENCE, ref=tuple(Value(SEQUENCE, ref=row) for row in rows))
    return Value(COLLECTION, ref=Value(SEQUENCE, ref=tuple(element(v) for v in values)))


def _tuple(values: tuple[Value, ...], frame: Frame) -> Value:
    """`tuple(x.shape)` is as good a shape, and nobody writes into it."""
    given = values[0] if len(values) == 1 else NOTHING_KNOWN
    if given.kind is SHAPE and (given.shape is None or given.producer is not None):
        return given
    return _listed(values, frame)


def _listed(values: tuple[Value, ...], frame: Frame) -> Value:
    if not values:
        return Value(SEQUENCE, ref=())
    first = values[0]
    if first.kind in (SEQUENCE, COLLECTION):
        return first if first.dtype is None else first._replace(dtype=None)
    if first.kind is SHAPE:
        if first.shape is not None:
            return Value(SEQUENCE, ref=tuple(dimension(size) for size in first.shape))
        return Value(COLLECTION, ref=SOME_PYTHON)
    if first.kind is MAPPING:
        return Value(COLLECTION, ref=SOME_PYTHON)
    return Value(COLLECTION, ref=element(first)) if first.kind is TENSOR else NOTHING_KNOWN


def _range(values: tuple[Value, ...], node: ast.AST, frame: Frame) -> Value:
    tensors = [value for value in values if value.is_tensor]
    if not tensors:
        return Value(COLLECTION, ref=SOME_PYTHON)
    if not frame.context.converted:
        return NOTHING_KNOWN
    # AutoGraph turns range(tensor) into tf.range, whose length XLA must know.
    names = ("limit",) if len(values) == 1 else ("start", "limit", "delta")
    note_sizes("range", dict(zip(names, values)), names, node, frame)
    dependence = max(value.dependence for value in tensors)
    guess = all(value.guess for value in tensors)
    return Value(TENSOR, dependence, dtype="int32", rank=1, shape=(None,), guess=guess)


def _len(value: Value, node: ast.AST, frame: Frame) -> Value:
    counted = protocols.number(value, "__len__", frame)
    if counted is not None and counted.is_tensor and not (counted.guess or counted.optional):
        # Python takes no tensor for a length, whether AutoGraph converts the call or not.
        frame.analysis.note(frame, node, CONVERSION, counted, "len")
    is_certain = value.kind is TENSOR and not (value.guess or value.optional)
    if is_certain and value.structured and not frame.context.converted:
        if _is_sliced_as_tensor(node, frame):
            frame.analysis.note(frame, node, CONVERSION, value, "len")
    elif is_certain and not value.structured:
        if not frame.context.converted:
            frame.analysis.note(frame, node, CONVERSION, value, "len")
            return SOME_PYTHON
        # AutoGraph gives the Python number where the size is static.
        if value.producer is None and unknown_sizes.open_axis(value) != 0:
            return SOME_PYTHON
        return Value(TENSOR, BOUNDED, dtype="int32", rank=0, shape=(), ref=FromPython("len"))
    if value.kind is SEQUENCE and value.ref:
        return constant(len(value.ref))
    if value.kind is SHAPE and value.shape is not None:
        return constant(len(value.shape))
    return SOME_LENGTH if value.kind in _COUNTED else SOME_PYTHON


# `len` of these is a number that nothing but Python code decides.
_COUNTED = frozenset({COLLECTION, MAPPING, SEQUENCE})


def _is_sliced_as_tensor(node: ast.AST, frame: Frame) -> bool:
    """Whether `len(x)` asks the input of a layer that `x[:, 0]` or `x.shape` elsewhere tells from a list, and nothing else is put in its place."""
    counted = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if not isinstance(counted, ast.Name) or frame.function is None:
        return False
    uses = frame.function.uses
    if counted.id not in uses.sliced and counted.id not in uses.shaped:
        return False
    if evidence.is_asked_for_type(frame.function, counted.id):
        return False
    stored = (part for part in nodes_of(frame.function.body) if isinstance(part, ast.Name))
    return not any(part.id == counted.id and isinstance(part.ctx, ast.Store) for part in stored)


def _sum(values: tuple[Value, ...], frame: Frame) -> Value:
    inside = element(values[0]) if values else NOTHING_KNOWN
    if inside.is_tensor:
        return inside._replace(kind=TENSOR, ref=None, structured=False)
    return SOME_PYTHON if inside.kind is PYTHON else NOTHING_KNOWN


def _super(values: tuple[Value, ...], frame: Frame) -> Value:
    owner_frame: Frame | None = frame
    while owner_frame is not None and owner_frame.self_value is None:
        owner_frame = owner_frame.outer
    if owner_frame is None or owner_frame.function is None or owner_frame.function.cls is None:
        return NOTHING_KNOWN
    instance, cls = owner_frame.self_value, owner_frame.function.cls
    # `Base.__init__(self, ...)` is also written outside of classes, where nothing is known of `self`.
    is_known = instance is not None and isinstance(instance.ref, ClassInfo)
    return Value(SUPER, ref=(instance if is_known else Value(INSTANCE, ref=cls), cls))


def _passed_on(values: tuple[Value, ...], frame: Frame) -> Value:
    kinds = (SEQUENCE, COLLECTION, DATASET)
    return values[0] if values and values[0].kind in kinds else NOTHING_KNOWN


def _some_of(values: tuple[Value, ...], frame: Frame) -> Value:
    """`filter(f, items)`: of which kind its items are."""
    given = values[1] if len(values) > 1 else NOTHING_KNOWN
    return (
        Value(COLLECTION, ref=element(given))
        if given.kind is SEQUENCE
        else _passed_on(values[1:], frame)
    )


def _reversed(values: tuple[Value, ...], frame: Frame) -> Value:
    given = items_in_order(values[0]) if len(values) == 1 else None
    return _passed_on(values, frame) if given is None else Value(SEQUENCE, ref=given[::-1])


def _iter(values: tuple[Value, ...], frame: Frame) -> Value:
    if values and values[0].kind is DATASET:
        return values[0]
    return _passed_on(values, frame)


def _next(values: tuple[Value, ...], frame: Frame) -> Value:
    return element(values[0]) if values else NOTHING_KNOWN


def _type(values: tuple[Value, ...], frame: Frame) -> Value:
    if len(values) == 1 and values[0].kind is TENSOR:
        if not (values[0].guess or values[0].structured or values[0].optional):
            return Value(EXTERNAL, ref="tf.Tensor")
    return NOTHING_KNOWN


def _nothing(values: tuple[Value, ...], frame: Frame) -> Value:
    return NOTHING_KNOWN


_SPECIAL = {
    "isinstance": _isinstance,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "callable": _callable,
    "enumerate": _enumerate,
    "zip": _zip,
    "list": _listed,
    "tuple": _tuple,
    "set": _listed,
    "sum": _sum,
    "super": _super,
    "filter": _some_of,
    "reversed": _reversed,
    "iter": _iter,
    "next": _next,
    "type": _type,
    "vars": _nothing,
    "object": _nothing,
}
