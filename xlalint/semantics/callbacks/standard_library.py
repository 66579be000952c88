"""Functions of Python's standard library that call what they are given, ask tensors for their truth or order, or copy objects."""

from __future__ import annotations

import ast

from xlalint.semantics import nesting
from xlalint.semantics.arguments import Arguments
from xlalint.semantics.callbacks import (
    builtin_calls,
    handed_functions,
    made_mappings,
    python_numbers,
    tuples_of_items,
)
from xlalint.semantics.elements import element, leaves
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import iteration
from xlalint.semantics.values import (
    COLLECTION,
    INSTANCE,
    NONE,
    NOTHING_KNOWN,
    SOME_PYTHON,
    Value,
    usually,
)

# They keep the items for which a function says yes (or no).
_KEEP = frozenset({"itertools.takewhile", "itertools.dropwhile", "itertools.filterfalse"})
_LARGEST = frozenset({"heapq.nlargest", "heapq.nsmallest"})
_TRUTHS = frozenset({"operator.truth", "operator.not_"})
_OPERATORS = {
    "operator.add": "tf.add",
    "operator.sub": "tf.subtract",
    "operator.mul": "tf.multiply",
    "operator.truediv": "tf.divide",
    "operator.pow": "tf.pow",
    "operator.matmul": "tf.matmul",
    "operator.neg": "tf.negative",
    "operator.lt": "tf.less",
    "operator.le": "tf.less_equal",
    "operator.gt": "tf.greater",
    "operator.ge": "tf.greater_equal",
    "operator.eq": "tf.equal",
    "operator.ne": "tf.not_equal",
    "operator.and_": "tf.logical_and",
    "operator.or_": "tf.logical_or",
}


# Variables of the environment, which are as the program takes them to be unless somebody sets them.
_ENVIRONMENT = frozenset({"os.environ.get", "os.getenv", "os.environ.setdefault"})


def _yes_or_no(text: Value) -> Value:
    """What `strtobool` makes of a text."""
    usual = text.usual()
    if usual is None:
        return SOME_PYTHON
    return usually(str(usual.value).lower() in ("y", "yes", "t", "true", "on", "1"))


def _set_by_the_user(arguments: Arguments) -> Value | None:
    """A variable of the environment: the default that is written, or None."""
    default = arguments.keywords.get("default", NONE)
    if len(arguments.positional) > 1:
        default = arguments.positional[1]
    known = default.usual()
    return usually(known.value) if known is not None else None


# They go through everything that they are given, or through what stands at one place.
_GO_THROUGH_ALL = frozenset({"itertools.chain", "itertools.product", "itertools.zip_longest"})
_GO_THROUGH = {
    "collections.deque": 0,
    "functools.reduce": 1,
    "itertools.accumulate": 0,
    "itertools.chain.from_iterable": 0,
    "itertools.combinations": 0,
    "itertools.islice": 0,
    "itertools.pairwise": 0,
    "itertools.permutations": 0,
    "itertools.starmap": 1,
}


def _iterated(name: str, given: tuple[Value, ...]) -> tuple[Value, ...]:
    """What a function iterates over, which asks a traced tensor for its elements."""
    if name in _GO_THROUGH_ALL:
        return given
    place = _GO_THROUGH.get(name)
    return () if place is None else given[place : place + 1]


def _holds_tensors(value: Value) -> bool:
    return any(leaf.is_tensor for leaf in leaves(value))


def call(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value | None:
    """The value of `itertools.takewhile(...)` and its like; None of any other function."""
    given = arguments.positional
    python_numbers.note(name, arguments, node, frame)
    for value in _iterated(name, given):
        if isinstance(node, ast.Call):
            iteration.note(frame, node, value, f"`{name}`")
    operator = _OPERATORS.get(name)
    if operator is not None:
        if not any(value.is_tensor and not value.structured for value in given):
            return NOTHING_KNOWN
        return frame.analysis.call_api(operator, arguments, node, frame)
    if name in _TRUTHS:
        return builtin_calls.call("bool", arguments, node, frame)
    if name in _LARGEST:
        rest = arguments._replace(positional=given[1:])
        return builtin_calls.call("sorted", rest, node, frame)
    if name == "dataclasses.replace" and given and given[0].kind is INSTANCE:
        return given[0]._replace(
            fields=tuple({**dict(given[0].fields), **arguments.keywords}.items())
        )
    if name == "types.SimpleNamespace" and not arguments.open_ended:
        # What is no tensor may be set to another where the object goes.
        held = {n: value for n, value in arguments.keywords.items() if _holds_tensors(value)}
        return nesting.bounded(Value(INSTANCE, ref=name, fields=tuple(held.items())))
    if name == "distutils.util.strtobool" and given:
        return _yes_or_no(given[0])
    if name in _ENVIRONMENT:
        return _set_by_the_user(arguments)
    if name == "collections.OrderedDict":
        return made_mappings.made(arguments)
    if name == "collections.deque":
        return Value(COLLECTION, ref=element(given[0]) if given else None)
    tuples = tuples_of_items.made(name, arguments)
    if tuples is not None:
        return tuples
    if len(given) < 2:
        return None
    if name in _KEEP:
        builtin_calls.note_answers(name.rpartition(".")[2], given[0], given[1:2], node, frame)
        return given[1]
    if name == "itertools.accumulate":
        item = element(given[0])
        return Value(COLLECTION, ref=handed_functions.combined(given[1], item, node, frame))
    return None
