"""One of two values, chosen by a tensor: tf.where where both may be computed, tf.cond where only the chosen one may."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from xlalint.fixes.asts import Source, python_constant
from xlalint.fixes.effects import Effect, effect_of, unknown_call
from xlalint.fixes.gradients import leak
from xlalint.fixes.numerics import (
    FLOATS,
    Agreement,
    agreement,
    dtype_source,
    is_quiet,
    literal,
)
from xlalint.fixes.questions import Question
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import EXTERNAL, FUNCTION, PROJECT_MODULE, Value

WHERE = "tf.where"
COND = "tf.cond"


@dataclass(frozen=True, slots=True)
class Side:
    """One of two values: its expression (a name without a place for `as it was`) and what it is known to be."""

    node: ast.expr
    value: Value
    code: str


@dataclass(frozen=True, slots=True)
class Choice:
    """How to choose (WHERE or COND), and what may change by it; None where it is proven that nothing does."""

    how: str
    then: str
    otherwise: str
    doubt: str | None


def side(source: Source, node: ast.expr) -> Side:
    """A value as an arm has it written."""
    return Side(node, source.value(node), source.code(node))


def unchanged(name: str, value: Value) -> Side:
    """The value that a name had before."""
    return Side(ast.Name(name, ast.Load()), value, name)


def choose(
    source: Source, statement: ast.stmt, asked: Question, sides: Sequence[Side], tf: str
) -> Choice | None:
    """The best way to choose between two values in `statement`; None where the two cannot come out of one conditional.

    `sides` are the value where the answer is yes, and the one where it is no.
    """
    then, otherwise = sides
    if _is_hopeless(then) or _is_hopeless(otherwise):
        return None
    agreed = agreement(source, then.node, otherwise.node, otherwise.value)
    effect = effect_of(source, [then.node, otherwise.node])
    both_quiet = is_quiet(source, then.node) and is_quiet(source, otherwise.node)
    has_numbers = [_number(source, s) is not None for s in (then, otherwise)]
    if agreed.dtype is False and not all(has_numbers):
        return _cast(source, statement, asked, then, otherwise, tf)
    if agreed.shape is False:
        return None
    doubt = asked.doubt or _doubt(source, statement, agreed, effect, then, otherwise)
    if both_quiet and asked.is_scalar and effect is Effect.NONE and agreed.shape is True:
        arguments = _where_arguments(source, then, otherwise, tf)
        if arguments is not None:
            if all(has_numbers):
                doubt = doubt or "the result is a float32 or int32 tensor, not a Python number"
            return Choice(WHERE, *arguments, doubt)
    if any(has_numbers):
        numbers = _cond_numbers(source, then, otherwise, tf)
        if numbers is None:
            return None
        return Choice(COND, *numbers, doubt)
    return Choice(COND, _in_lambda(then), _in_lambda(otherwise), doubt)


def _is_hopeless(one: Side) -> bool:
    """What no conditional of a graph returns: None, functions, modules, text."""
    value = one.value
    if value.kind in (FUNCTION, EXTERNAL, PROJECT_MODULE):
        return True
    known = value.constant()
    return known is not None and not isinstance(known.value, (bool, int, float))


def _number(source: Source, one: Side) -> bool | int | float | None:
    found = literal(source, one.node) if hasattr(one.node, "lineno") else None
    return found if found is not None else python_constant(one.value)


def _doubt(
    source: Source,
    statement: ast.stmt,
    agreed: Agreement,
    effect: Effect,
    then: Side,
    otherwise: Side,
) -> str | None:
    if effect is Effect.UNKNOWN:
        called = unknown_call(source, [then.node, otherwise.node])
        what = f"`{called}`" if called is not None else "an arm"
        return f"both arms are traced, so what {what} does in Python happens whichever is taken"
    if effect is Effect.WRITES_VARIABLES:
        return "both arms must return the same kind of value"
    if not agreed.is_proven:
        what = "dtype and shape" if agreed.dtype is not True else "shape"
        return f"both arms must have one {what}, which could not be proven"
    if loops_in(source, [then.node, otherwise.node]) is not None:
        return "XLA compiles no gradient through a loop in an arm"
    return leak(source, statement, [((), (then.node,)), ((), (otherwise.node,))])


_LOOPS = frozenset(
    {"map_fn", "scan", "while_loop", "foldl", "foldr", "vectorized_map", "fori_loop"}
)


def loops_in(source: Source, nodes: Sequence[ast.AST]) -> ast.AST | None:
    """A loop of the graph among nodes: XLA compiles it in an arm of a conditional, and not its gradient."""
    for node in nodes_of(nodes):
        if isinstance(node, (ast.For, ast.While)):
            return node
        if isinstance(node, ast.Call) and (source.api(node) or "").rpartition(".")[2] in _LOOPS:
            return node
    return None


# --- how numbers stand beside tensors -------------------------------------------------------------------------------


def _where_arguments(
    source: Source, then: Side, otherwise: Side, tf: str
) -> tuple[str, str] | None:
    """The two values as tf.where takes them: its first decides the dtype, so that a number there is written out as a tensor."""
    number = _number(source, then)
    if number is None or _number(source, otherwise) is not None:
        return then.code, otherwise.code
    beside = _beside(source, number, otherwise, tf)
    return (beside if beside is not None else then.code), otherwise.code


def _beside(source: Source, number: float, other: Side, tf: str) -> str | None:
    """A number as a tensor of the dtype of another value; None where a plain number is one already."""
    dtype = other.value.dtype
    if dtype == (
        "bool" if isinstance(number, bool) else "int32" if isinstance(number, int) else "float32"
    ):
        return None
    if dtype is not None:
        return f"{tf}.constant({number!r}, {tf}.{dtype})"
    if isinstance(number, bool):
        return f"{tf}.constant({number!r})"  # beside a flag of Python, too, which has no dtype
    if isinstance(other.node, (ast.Name, ast.Attribute)) and number in (0, 1):
        return f"{tf}.{'ones' if number else 'zeros'}_like({other.code})"
    like = dtype_source(source, other.node)
    return f"{tf}.constant({number!r}, {like}.dtype)" if like is not None else None


def _cond_numbers(source: Source, then: Side, otherwise: Side, tf: str) -> tuple[str, str] | None:
    """The two values as arms of tf.cond, which makes float32 and int32 of Python numbers."""
    numbers = [_number(source, s) for s in (then, otherwise)]
    if None not in numbers:
        return then.code, otherwise.code
    codes = [_in_lambda(then), _in_lambda(otherwise)]
    for index, (number, other) in enumerate(zip(numbers, (otherwise, then))):
        if number is not None:
            beside = _beside(source, number, other, tf)
            if beside is None and other.value.dtype is None:
                return None
            codes[index] = beside or codes[index]
    return codes[0], codes[1]


def _in_lambda(one: Side) -> str:
    return f"({one.code})" if isinstance(one.node, ast.Tuple) and is_bare(one.code) else one.code


def is_bare(code: str) -> bool:
    """Whether the source of a tuple has no parentheses of its own around it: `(a), (b)` has none."""
    call = ast.parse(f"_({code}\n)", mode="eval").body
    return isinstance(call, ast.Call) and len(call.args) != 1


_WIDTH = {
    "float16": 1, "bfloat16": 1, "float32": 2, "float64": 3, "int8": 1, "int16": 2, "int32": 3, "int64": 4,
}  # fmt: skip


def _cast(
    source: Source, statement: ast.stmt, asked: Question, then: Side, otherwise: Side, tf: str
) -> Choice | None:
    """Arms of two dtypes: the one that holds less is cast to the other."""
    dtypes = [s.value.dtype for s in (then, otherwise)]
    numbers = [_number(source, s) for s in (then, otherwise)]
    known = [
        d if d is not None else {bool: "bool", int: "int32", float: "float32"}.get(type(n))
        for d, n in zip(dtypes, numbers)
    ]
    one, other = known
    if one is None or other is None or "bool" in known or "string" in known:
        return None
    if one in FLOATS and other not in FLOATS:
        to, index = one, 1
    elif other in FLOATS and one not in FLOATS:
        to, index = other, 0
    elif one in _WIDTH and other in _WIDTH and (one in FLOATS) is (other in FLOATS):
        to, index = (one, 1) if _WIDTH[one] >= _WIDTH[other] else (other, 0)
    else:
        return None
    codes = [_in_lambda(then), _in_lambda(otherwise)]
    codes[index] = f"{tf}.cast({(then, otherwise)[index].code}, {tf}.{to})"
    was = known[index]
    doubt = asked.doubt or f"the arm of {was} gives {to} as well"
    return Choice(COND, codes[0], codes[1], doubt)


# --- the form of the guide ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scaling:
    """`x / 2.0` where a test holds and `x` where not: `x / (1.0 + indicator)`, which is exact."""

    name: str
    operator: str


def scaling(source: Source, then: Side, otherwise: Side) -> Scaling | None:
    """The scaling that two values differ by, where an indicator can make the factor: 1.0 or 2.0, both exact in any float."""
    node = then.node
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Div, ast.Mult)):
        return None
    if not isinstance(otherwise.node, ast.Name) or not isinstance(node.left, ast.Name):
        return None
    if node.left.id != otherwise.node.id or not source.value(node.left).is_tensor:
        return None
    number = literal(source, node.right)
    if not isinstance(number, float) or number != 2.0:
        return None
    return Scaling(node.left.id, "/" if isinstance(node.op, ast.Div) else "*")
