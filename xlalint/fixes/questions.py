"""Python's questions about tensors (`and`, `or`, `not`, chained comparisons, `in`) as operations that give a tensor of truth."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import pairwise

from xlalint.fixes.asts import Source
from xlalint.fixes.effects import never_raises
from xlalint.fixes.numerics import function_name, literal
from xlalint.semantics.values import MAPPING, PYTHON, SEQUENCE, SHAPE, Value

_LONGEST_NAME = 24


@dataclass(frozen=True, slots=True)
class Question:
    """A question as code that gives a boolean tensor.

    `is_scalar`: the answer is known to be one; `doubt`: what may change by asking this way, None where nothing does.
    """

    code: str
    is_scalar: bool
    doubt: str | None = None


def question(
    source: Source, node: ast.expr, tf: str, truths: frozenset[str] = frozenset()
) -> Question | None:
    """The question that a condition asks; None where the graph has no form of it.

    `truths` are names of Python's True and False that will be tensors where the question is asked.
    """
    if isinstance(node, ast.Name) and node.id in truths:
        return Question(node.id, True)
    if isinstance(node, ast.BoolOp):
        return _both(source, node, tf, truths)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        asked = question(source, node.operand, tf, truths)
        if asked is None:
            return None
        return Question(f"{tf}.logical_not({asked.code})", asked.is_scalar, asked.doubt)
    if isinstance(node, ast.Compare):
        return _comparison(source, node, tf)
    value = source.value(node)
    if not value.is_tensor:
        return None
    if value.dtype == "bool":
        return Question(source.code(node), value.rank == 0)
    # Any number but zero is true, NaN too: the same as bool() of it.
    return Question(f"{tf}.cast({source.code(node)}, {tf}.bool)", value.rank == 0)


def _both(source: Source, node: ast.BoolOp, tf: str, truths: frozenset[str]) -> Question | None:
    parts = [question(source, part, tf, truths) for part in node.values]
    if any(part is None for part in parts):
        return None
    known = [part for part in parts if part is not None]
    # What stood behind `and` was not asked where the first had said no.
    raises = not all(never_raises(source, part) for part in node.values[1:])
    doubt = next((part.doubt for part in known if part.doubt), None)
    if raises:
        doubt = "all of its parts are computed, also those that the first one used to guard"
    if not all(part.is_scalar for part in known):
        doubt = doubt or "a part that is not a scalar is compared element by element"
    operation = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
    code = known[0].code
    for part in known[1:]:
        code = f"{tf}.{operation}({code}, {part.code})"
    return Question(code, all(part.is_scalar for part in known), doubt)


def _comparison(source: Source, node: ast.Compare, tf: str) -> Question | None:
    if any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
        return membership(source, node, tf) if len(node.ops) == 1 else None
    if any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
        return None
    if any(
        source.api(o) == "tf.rank"
        for o in (node.left, *node.comparators)
        if isinstance(o, ast.Call)
    ):
        return None  # a question for Python: the arms may well differ in rank
    if len(node.ops) == 1:
        value = source.value(node)
        if not value.is_tensor:
            return None
        return Question(source.code(node), value.rank == 0)
    return _chain(source, node, tf)


def _chain(source: Source, node: ast.Compare, tf: str) -> Question | None:
    """`low < x < high`: what stands in the middle is written twice, so it has to be a name or a number."""
    middle = node.comparators[:-1]
    if not all(isinstance(m, (ast.Name, ast.Attribute, ast.Constant)) for m in middle):
        return None
    operands = [node.left, *node.comparators]
    values = [source.value(operand) for operand in operands]
    pairs = list(pairwise(operands))
    if not all(_is_number(source, o, v) for o, v in zip(operands, values)):
        return None
    if not all(source.value(a).is_tensor or source.value(b).is_tensor for a, b in pairs):
        return None
    texts = [
        f"{source.code(a)} {_SYMBOLS[type(op)]} {source.code(b)}"
        for (a, b), op in zip(pairs, node.ops)
    ]
    code = texts[0]
    for text in texts[1:]:
        code = f"{tf}.logical_and({code}, {text})"
    is_scalar = all(v.rank == 0 for v in values if v.is_tensor)
    doubt = None if is_scalar else "a part that is not a scalar is compared element by element"
    return Question(code, is_scalar, doubt)


_SYMBOLS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


def _is_number(source: Source, node: ast.expr, value: Value) -> bool:
    return value.is_tensor or literal(source, node) is not None or value.kind == PYTHON


def membership(source: Source, node: ast.Compare, tf: str) -> Question | None:
    """`t in [...]` and `1 in t` as one comparison with all."""
    wanted, among = node.left, node.comparators[0]
    one, many = source.value(wanted), source.value(among)
    doubt = None
    if one.is_tensor and isinstance(among, (ast.List, ast.Tuple)):
        numbers = [literal(source, item) for item in among.elts]
        if not numbers or None in numbers or len({type(n) for n in numbers}) > 1:
            return None
        if one.rank != 0:
            doubt = "eager code stops at a tensor that is not a scalar"
        code = f"{tf}.equal({source.code(wanted)}, {_listed(source, among)})"
    elif many.is_tensor and (one.is_tensor or literal(source, wanted) is not None):
        if many.rank == 0:
            return None
        if not (
            many.shape is not None and len(many.shape) == 1 and (not one.is_tensor or one.rank == 0)
        ):
            doubt = "single elements are compared; eager code stops at rows"
        code = f"{tf}.equal({source.code(among)}, {source.code(wanted)})"
    else:
        return None
    code = f"{tf}.reduce_any({code})"
    if isinstance(node.ops[0], ast.NotIn):
        code = f"{tf}.logical_not({code})"
    return Question(code, True, doubt)


def _listed(source: Source, among: ast.List | ast.Tuple) -> str:
    text = source.code(among)
    return text if text.startswith(("[", "(")) else f"[{text}]"


def is_python(value: Value) -> bool:
    """Whether a value is known while tracing."""
    return value.kind in (PYTHON, SHAPE, SEQUENCE, MAPPING)


_WORDS: dict[type[ast.cmpop], str] = {
    ast.Gt: "over", ast.GtE: "at_least", ast.Lt: "under", ast.LtE: "at_most", ast.Eq: "is", ast.NotEq: "is_not",
}  # fmt: skip


def name_for(source: Source, node: ast.expr) -> str:
    """A name that says what a condition asks: `sum_over_10` for `tf.reduce_sum(x) > 10`; `condition` where it gives none."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _WORDS:
        subject, limit = _word(source, node.left), _limit(source, node.comparators[0])
        if subject and limit:
            name = f"{subject}_{_WORDS[type(node.ops[0])]}_{limit}"
            if len(name) <= _LONGEST_NAME and name.isidentifier():
                return name
    if isinstance(node, ast.Call):
        word = _word(source, node)
        if word and word.startswith(("is_", "any_", "all_")) and word.isidentifier():
            return word
    return "condition"


def _word(source: Source, node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    name = function_name(source, node)
    if name is None:
        return None
    word = re.sub(r"^reduce_", "", name)
    if word in ("any", "all") and isinstance(node, ast.Call) and node.args:
        inner = node.args[0]
        of = inner.id if isinstance(inner, ast.Name) else (function_name(source, inner) or "")
        of = of.removeprefix("is_")
        return (
            f"{word}_{of}"
            if of in ("nan", "inf", "finite") or isinstance(inner, ast.Name)
            else None
        )
    return word


def _limit(source: Source, node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id.lower()
    number = literal(source, node)
    if isinstance(number, bool) or number is None or number < 0 or number != int(number):
        return None
    return str(int(number))
