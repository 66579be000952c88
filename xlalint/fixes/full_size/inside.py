"""Functions of the program that compute each element from its own: what they give where what was dropped is one number.

Such a function may be called with tensors of full size, if what takes the place of dropped elements gives a finite number
with a finite slope there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import libcst as cst

from xlalint.fixes.bindings import bound_once
from xlalint.fixes.draft import Draft
from xlalint.fixes.full_size import operations

_LONGEST = 12
_OPTIONS = ("name", "dtype")


class UnknownError(Exception):
    """The function does something that is not followed here."""


class Number(NamedTuple):
    """What an expression is: its value where the elements are what was filled in, and whether it is computed of them."""

    value: float
    of_elements: bool


@dataclass(frozen=True, slots=True)
class Elementwise:
    """A function whose body was read. `parameters`: in their order, with the numbers that they are by default."""

    draft: Draft
    body: cst.BaseSuite
    parameters: Mapping[str, float | None]

    def at(self, given: Mapping[str, Number]) -> Number:
        """What it returns for these.

        Raises:
            UnknownError: not known, not finite, or of no finite slope.
        """
        names = {n: Number(v, False) for n, v in self.parameters.items() if v is not None}
        names.update(given)
        assert isinstance(self.body, cst.IndentedBlock)
        for line in self.body.body:
            assert isinstance(line, cst.SimpleStatementLine)
            for statement in line.body:
                if isinstance(statement, cst.Return) and statement.value is not None:
                    return self._number(statement.value, names)
                if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
                    target = statement.targets[0].target
                    if isinstance(target, cst.Name):
                        names[target.value] = self._number(statement.value, names)
                        continue
                if not (
                    isinstance(statement, cst.Expr)
                    and isinstance(statement.value, cst.SimpleString)
                ):
                    raise UnknownError
        raise UnknownError

    def _number(self, node: cst.BaseExpression, names: Mapping[str, Number]) -> Number:
        found = self._unchecked(node, names)
        if not math.isfinite(found.value):
            raise UnknownError
        return found

    def _unchecked(self, node: cst.BaseExpression, names: Mapping[str, Number]) -> Number:
        if isinstance(node, (cst.Integer, cst.Float)):
            return Number(float(node.evaluated_value), False)
        if isinstance(node, cst.Name) and node.value in names:
            return names[node.value]
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
            inner = self._number(node.expression, names)
            return Number(-inner.value, inner.of_elements)
        if isinstance(node, cst.BinaryOperation):
            left, right = self._number(node.left, names), self._number(node.right, names)
            return _combined(_operation(node.operator), left, right)
        if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
            # Truths are asked for by tf.where alone, of which both branches are looked at.
            left = self._number(node.left, names)
            right = self._number(node.comparisons[0].comparator, names)
            return Number(0.0, left.of_elements or right.of_elements)
        if isinstance(node, cst.Call):
            return self._called(node, names)
        raise UnknownError

    def _called(self, node: cst.Call, names: Mapping[str, Number]) -> Number:
        api = self.draft.api(node)
        if api is None or any(given.star for given in node.args):
            raise UnknownError
        if api in ("tf.cast", "tf.convert_to_tensor", "tf.identity"):
            return self._number(node.args[0].value, names)
        if any(g.keyword and g.keyword.value not in _OPTIONS for g in node.args):
            raise UnknownError
        given = [self._number(g.value, names) for g in node.args if g.keyword is None]
        if api == "tf.where" and len(given) == 3:
            # Whichever is taken: the finite numbers of both are near enough for what is asked here, unless they differ.
            if given[1].value != given[2].value:
                raise UnknownError
            return Number(given[1].value, any(g.of_elements for g in given))
        if api not in operations.ELEMENTWISE or api in operations.FLAT:
            raise UnknownError
        return _combined(api, *given)


def _operation(operator: cst.BaseBinaryOp) -> str:
    known: Mapping[type[cst.BaseBinaryOp], str] = {
        cst.Add: "tf.add",
        cst.Subtract: "tf.subtract",
        cst.Multiply: "tf.multiply",
        cst.Divide: "tf.divide",
        cst.Power: "tf.pow",
    }
    if type(operator) not in known:
        raise UnknownError
    return known[type(operator)]


def _combined(api: str, *given: Number) -> Number:
    """What an operation gives; where it has no finite slope, that is not known."""
    is_steep = api in operations.SINGULAR and any(g.value == 0 for g in given if g.of_elements)
    if api == "tf.pow" and len(given) == 2 and not given[1].of_elements and given[1].value >= 1:
        is_steep = False
    value = operations.at(api, *(g.value for g in given))
    if value is None or is_steep:
        raise UnknownError
    return Number(float(value), any(g.of_elements for g in given))


def elementwise(draft: Draft, call: cst.Call) -> Elementwise | None:
    """The function that a call calls: one of the module, bound once, without decorators, of assignments and a return."""
    function = bound_once(draft, call.func.value) if isinstance(call.func, cst.Name) else None
    if not isinstance(function, cst.FunctionDef) or function.decorators or function.asynchronous:
        return None
    params, body = function.params, function.body
    is_plain = not (params.star_kwarg or params.kwonly_params or params.posonly_params)
    if isinstance(params.star_arg, cst.Param) or not isinstance(body, cst.IndentedBlock):
        return None
    is_straight = all(isinstance(line, cst.SimpleStatementLine) for line in body.body)
    if not is_plain or not is_straight or len(body.body) > _LONGEST:
        return None
    return Elementwise(draft, body, {p.name.value: _default(p) for p in params.params})


def _default(parameter: cst.Param) -> float | None:
    value = parameter.default
    is_number = isinstance(value, (cst.Integer, cst.Float))
    return float(value.evaluated_value) if is_number else None  # type: ignore[union-attr]


def at_fill(draft: Draft, call: cst.Call, kept: frozenset[int], fill: float) -> float | None:
    """What a call gives for dropped elements where each argument of `kept` (by id) holds `fill` there; None where that is not
    known, not finite, or where the function does more than compute each element from its own."""
    function = elementwise(draft, call)
    if function is None or any(given.star for given in call.args):
        return None
    names = list(function.parameters)
    numbers: dict[str, Number] = {}
    for index, given in enumerate(call.args):
        if given.keyword is None and index >= len(names):
            return None
        name = names[index] if given.keyword is None else given.keyword.value
        if id(given.value) in kept:
            numbers[name] = Number(fill, True)
        elif isinstance(given.value, (cst.Integer, cst.Float)):
            numbers[name] = Number(float(given.value.evaluated_value), False)
        else:
            return None
    try:
        found = function.at(numbers)
    except UnknownError:
        return None
    return found.value if found.of_elements else None
