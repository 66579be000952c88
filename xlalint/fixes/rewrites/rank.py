"""Questions whose answer tracing knows, asked in the graph: `tf.rank(x) == 1`, `tf.greater(len(parts), 1)`."""

from __future__ import annotations

import ast

from xlalint.finding import Edit, Fix
from xlalint.fixes.asts import Source, names_bound
from xlalint.fixes.numerics import literal
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.values import PYTHON, SHAPE, UNKNOWN

MENDS = ("XLA101", "XLA106")
ORDER = 10

_RANKS = frozenset({"tf.rank"})
_COMPARISONS = {
    "equal": "==", "not_equal": "!=", "greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<=",
}  # fmt: skip


def propose(site: Site) -> Fix | None:
    """Ask Python. Safe where the rank is known to the analysis, or nothing but Python values is compared."""
    source, test = Source(site.draft), site.draft.as_ast(site.node)
    if not isinstance(test, ast.expr):
        return None
    if isinstance(test, ast.Call) and source.api(test) == "tf.cond":
        return _choice_of_python(source, test)
    asked = _Asking(source)
    code = asked.code(test)
    if code is None or not asked.has_changed:
        return None
    what = "Ask for the static rank, which tracing knows" if asked.ranks else "Compare in Python"
    edits = [Edit(source.span(test), code)] if asked.is_reworded else asked.in_place
    edits = [*edits, *asked.elsewhere]
    if asked.is_known:
        return fix(SAFE, f"{what}.", *edits)
    return fix(UNSAFE, f"{what}: where a trace is made for any rank, it is None.", *edits)


def _choice_of_python(source: Source, call: ast.Call) -> Fix | None:
    """`tf.cond(tf.equal(tf.rank(x), 0), lambda: a, lambda: b)` as Python's own choice, made while tracing."""
    if len(call.args) != 3 or call.keywords:
        return None
    asked = _Asking(source)
    test = asked.code(call.args[0])
    if test is None or not asked.has_changed:
        return None
    arms = [_result(source, arm) for arm in call.args[1:]]
    if None in arms:
        return None
    edit = Edit(source.span(call), f"({arms[0]} if {test} else {arms[1]})")
    what = "Choose in Python, by what tracing knows"
    if asked.is_known:
        return fix(SAFE, f"{what}.", edit, *asked.elsewhere)
    return fix(
        UNSAFE, f"{what}: where a trace is made for any rank, it is None.", edit, *asked.elsewhere
    )


def _result(source: Source, arm: ast.expr) -> str | None:
    """What a function without parameters gives, as code."""
    if isinstance(arm, ast.Lambda):
        return source.code(arm.body)
    return f"{source.code(arm)}()" if isinstance(arm, ast.Name) else None


class _Asking:
    """A test put into Python's words, and what was met on the way."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.is_known = True
        self.has_changed = False
        self.is_reworded = False
        self.ranks = 0
        self.in_place: list[Edit] = []
        self.elsewhere: list[Edit] = []

    def code(self, node: ast.expr) -> str | None:
        """The source of the test without tensors; None where it has others."""
        if isinstance(node, ast.BoolOp):
            parts = [self.code(part) for part in node.values]
            known = [
                f"({part})" if isinstance(node.op, ast.And) and " or " in part else part
                for part in parts
                if part is not None
            ]
            word = " and " if isinstance(node.op, ast.And) else " or "
            return word.join(known) if len(known) == len(parts) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.code(node.operand)
            return None if inner is None else f"not ({inner})"
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compared(node.left, _text(self._source, node), node.comparators[0])
        if isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords:
            symbol = _COMPARISONS.get((self._source.api(node) or "").rpartition(".")[2])
            if symbol is not None:
                self.has_changed = self.is_reworded = True
                return self._compared(node.args[0], symbol, node.args[1])
        return None

    def _compared(self, left: ast.expr, symbol: str, right: ast.expr) -> str | None:
        one, other = self._number(left), self._number(right)
        return None if one is None or other is None else f"{one} {symbol} {other}"

    def _number(self, node: ast.expr) -> str | None:
        source = self._source
        if source.value(node).kind in (PYTHON, SHAPE) or literal(source, node) is not None:
            return source.code(node)
        static = self._static_rank(node)
        if static is not None:
            self.has_changed = True
            self.in_place.append(Edit(source.span(node), static))
            return static
        if isinstance(node, ast.Name) and self._ask_where_made(node):
            return source.code(node)
        return None

    def _static_rank(self, node: ast.expr) -> str | None:
        source = self._source
        if not isinstance(node, ast.Call) or source.api(node) not in _RANKS or len(node.args) != 1:
            return None
        tensor = node.args[0]
        value = source.value(tensor)
        if not value.is_tensor and value.kind is not UNKNOWN:
            return None
        self.is_known = self.is_known and value.is_tensor and value.shape is not None
        self.ranks += 1
        is_tight = isinstance(tensor, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
        code = source.code(tensor)
        return f"{code}.shape.rank" if is_tight else f"({code}).shape.rank"

    def _ask_where_made(self, name: ast.Name) -> bool:
        """`ranks = tf.rank(x)`, made once: the static rank takes its place there."""
        function = self._source.function(name)
        if function is None:
            return False
        makers = [
            node
            for node in nodes_of(function.body, into_functions=False)
            if isinstance(node, ast.stmt)
            and not isinstance(
                node, (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.FunctionDef)
            )
            and name.id in names_bound([node])
        ]
        made = makers[0].value if len(makers) == 1 and isinstance(makers[0], ast.Assign) else None
        static = self._static_rank(made) if made is not None else None
        if made is None or static is None:
            return False
        # Elsewhere the name may be asked for what only a tensor has.
        self.is_known = False
        self.has_changed = True
        self.elsewhere.append(Edit(self._source.span(made), static))
        return True


def _text(source: Source, node: ast.Compare) -> str:
    symbols: dict[type[ast.cmpop], str] = {
        ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    }  # fmt: skip
    return symbols.get(type(node.ops[0]), "==")
