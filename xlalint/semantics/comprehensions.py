"""Comprehensions: what they make of a structure, item by item where each of its items is known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from xlalint.semantics import enumerations
from xlalint.semantics.control_flow.narrowing import narrow
from xlalint.semantics.elements import items_in_order, iterated
from xlalint.semantics.facts import COMPREHENSION_FILTER
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import iteration
from xlalint.semantics.tracing import host_use
from xlalint.semantics.truths import truth
from xlalint.semantics.values import COLLECTION, CONSTANT, MAPPING, SEQUENCE, Value

Evaluate = Callable[[ast.expr, Frame], Value]
Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp

# Of longer lists, what is in them is known, not how many there are.
_MOST_ITEMS = 8


def value_of(node: Comprehension, frame: Frame, evaluate: Evaluate) -> Value:
    """What a comprehension makes: as many as it goes through where that is known, otherwise any number of one kind."""
    frame.names.fork()
    *outer, last = node.generators
    for generator in outer:
        _bind_any(generator, evaluate(generator.iter, frame), frame)
        _filter(generator.ifs, frame, evaluate)
    items = evaluate(last.iter, frame)
    found = None if outer else _one_by_one(node, last, items, frame, evaluate)
    if found is None:
        _bind_any(last, items, frame)
        _filter(last.ifs, frame, evaluate)
        found = _any_number(node, frame, evaluate)
        count = _repeated(node, frame, evaluate) if isinstance(node, ast.ListComp) else None
        if count is not None:
            found = Value(SEQUENCE, found.dependence, ref=(found.ref,) * count)
    frame.names.take_back()
    return found


def _bind_any(generator: ast.comprehension, items: Value, frame: Frame) -> None:
    iteration.note(frame, generator.iter, items, "a comprehension")
    item = enumerations.each(items, frame) or iterated(items)
    frame.analysis.bind(generator.target, item, frame)


def _filter(tests: Sequence[ast.expr], frame: Frame, evaluate: Evaluate) -> bool | None:
    """Evaluate the `if`s; whether what they are asked of is taken, None where that is not known."""
    taken: bool | None = True
    for test in tests:
        frame.cover(test)
        value = evaluate(test, frame)
        if value.is_tensor and not value.structured and not value.optional:
            frame.analysis.note(frame, test, COMPREHENSION_FILTER, value)
            frame.host |= host_use.VALUES  # no tracing gets by: eager code asks so
        if taken is not False:
            answer = truth(value)
            taken = answer if answer is not True else taken
        narrow(test, True, frame)
    return taken


def _any_number(node: Comprehension, frame: Frame, evaluate: Evaluate) -> Value:
    if isinstance(node, ast.DictComp):
        evaluate(node.key, frame)
        item = evaluate(node.value, frame)
        return Value(MAPPING, item.dependence, ref=((None, item),))
    item = evaluate(node.elt, frame)
    return Value(COLLECTION, item.dependence, ref=item)


def _one_by_one(
    node: Comprehension,
    generator: ast.comprehension,
    items: Value,
    frame: Frame,
    evaluate: Evaluate,
) -> Value | None:
    """Each item in turn; None where not all are known, or whether an `if` takes them."""
    given = items_in_order(items)
    if given is None or not 0 < len(given) <= _MOST_ITEMS or generator.is_async:
        return None
    made: list[tuple[object, Value]] = []
    known: list[tuple[Value, tuple[object, Value] | None]] = []
    for item in given:
        before = next((pair for seen, pair in known if seen == item), None)
        if before is None:
            frame.names.fork()
            frame.analysis.bind(generator.target, item, frame)
            taken = _filter(generator.ifs, frame, evaluate)
            pair = _pair(node, frame, evaluate) if taken is not False else None
            frame.names.take_back()
            if taken is None and not isinstance(node, ast.DictComp):
                return None  # of a dictionary, who asks for an item counts on it
            known.append((item, pair))
            before = pair
        if before is not None:
            made.append(before)
    dependence = max([value.dependence for _, value in made], default=CONSTANT)
    if isinstance(node, ast.DictComp):
        return Value(MAPPING, dependence, ref=tuple(made))
    return Value(SEQUENCE, dependence, ref=tuple(value for _, value in made))


def _pair(node: Comprehension, frame: Frame, evaluate: Evaluate) -> tuple[object, Value]:
    if not isinstance(node, ast.DictComp):
        return None, evaluate(node.elt, frame)
    key = evaluate(node.key, frame).constant()
    return (key.value if key is not None else None), evaluate(node.value, frame)


def _repeated(node: ast.ListComp, frame: Frame, evaluate: Evaluate) -> int | None:
    """How many items `[tf.zeros([n]) for _ in range(3)]` has."""
    generator = node.generators[0]
    call = generator.iter
    if len(node.generators) > 1 or generator.ifs or not isinstance(call, ast.Call):
        return None
    if not isinstance(call.func, ast.Name) or call.func.id != "range" or len(call.args) != 1:
        return None
    known = evaluate(call.args[0], frame).constant()
    if known is None or type(known.value) is not int or not 0 < known.value <= _MOST_ITEMS:
        return None
    return known.value
