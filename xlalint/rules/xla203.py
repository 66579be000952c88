"""XLA203: sizes taken from data where XLA needs a compile-time constant."""

from __future__ import annotations

import ast
from typing import NamedTuple

import libcst as cst

from xlalint.rules.base import Passage, Rule
from xlalint.rules.layers import named_in
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import (
    CALL,
    INDEX,
    RECURRENT,
    SLICE_WRITE,
    STRIDE,
    UNFOLLOWED,
    CallDetail,
    Fact,
)
from xlalint.semantics.hazards.noted_calls import works_with
from xlalint.semantics.hazards.sizes import (
    are_read_off_arguments,
    confidence,
    is_size_from_data,
    sizes_from_data,
    sizes_in_front,
)
from xlalint.semantics.results import followed
from xlalint.semantics.values import ARRIVING, BOUNDED, CAPTURED, FACTORED, FROM_SHAPE, Value

# What a bound may be computed from that XLA cannot follow, in words.
_FACTORS = "the factors of a matrix"
_PICKED = "what a mask or tf.where picked"


class _Size(NamedTuple):
    """A finding to be. `names` are those that the size is made of, `is_part` says that it is one number of a shape."""

    node: cst.BaseExpression
    fact: Fact
    variant: str
    confidence: str
    words: dict[str, str]
    names: frozenset[str]
    is_part: bool


class SizeFromData(Rule):
    """An argument that XLA needs when it compiles, fed from what is known only when the program runs."""

    code = "XLA203"

    def __init__(self, passage: Passage) -> None:
        super().__init__(passage)
        self._sizes: list[_Size] = []
        self._written: set[cst.BaseExpression] = set()
        self._least = CAPTURED if self.passage.aim.is_tpu else ARRIVING

    def visit_Call(self, node: cst.Call) -> None:
        self._index(node)
        self._bound(node)
        self._write(node)
        self._recurrent(node)
        for fact in self.facts(node, CALL):
            detail: CallDetail = fact.detail
            self._inside(node, fact, detail)
            for parameter, value in detail.arguments:
                if parameter in detail.verdict.constant_args:
                    self._judge(node, fact, parameter, value)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        if node not in self._written:
            self._index(node)
            self._bound(node)
        for fact in self.facts(node, STRIDE):
            variant = self._variant(fact.value.dependence)
            step = ast.unparse(fact.detail)
            words = {"api": self.quote(node), "argument": "step", "value": step, "more": ""}
            self.report(node, fact, variant, **words)

    def leave_Module(self, original_node: cst.Module) -> None:
        """Report the sizes: one finding for those of a function that the same number decides."""
        kept: list[_Size] = []
        followers: dict[cst.BaseExpression, set[cst.BaseExpression]] = {}
        for size in self._sizes:
            leader = next((known for known in kept if _decides(known, size)), None)
            if leader is None:
                kept.append(size)
            else:
                followers.setdefault(leader.node, set()).add(size.node)
        for size in kept:
            more = _count(len(followers.get(size.node, ())))
            self.report(
                size.node,
                size.fact,
                size.variant,
                confidence=size.confidence,
                more=more,
                **size.words,
            )

    def _inside(self, node: cst.Call, fact: Fact, detail: CallDetail) -> None:
        """Layers of Keras that are nothing else: `keras.layers.CategoryEncoding(n)(ids)`."""
        verdict = detail.verdict
        is_layer = detail.api.startswith("keras.layers.")
        if is_layer and verdict.status == "fails" and verdict.reason == "constant":
            if self.passage.aim.is_tpu and not verdict.possible:
                self.report(node, fact, "inside", api=self.quote(node.func))

    def _bound(self, node: cst.BaseExpression) -> None:
        """Slices may have bounds that the data decide, where XLA can find out how large they get."""
        for fact in self.facts(node, UNFOLLOWED):
            if followed.is_refused(fact.value, is_tpu=self.passage.aim.is_tpu):
                source = _FACTORS if fact.value.dependence == FACTORED else _PICKED
                self.report(node, fact, "unfollowed", slice=self.quote(node), source=source)

    def _index(self, node: cst.BaseExpression) -> None:
        if self.passage.aim.is_tpu:
            return
        for fact in self.facts(node, INDEX):
            index, value = self.quote(node), ast.unparse(fact.detail)
            self.report(node, fact, "index-cpu", index=index, value=value)

    def _recurrent(self, node: cst.Call) -> None:
        """`keras.layers.LSTM(n)` of Keras 2 where it is trained with XLA, or the call of such a layer."""
        for fact in () if self.passage.aim.is_tpu else self.facts(node, RECURRENT):
            layer, both_ways = fact.detail
            of_cells = f"RNN({layer}Cell(n))"
            use = f"Bidirectional({of_cells})" if both_ways else of_cells
            api = self.quote(named_in(node))
            self.report(
                node, fact, "recurrent", confidence="certain", api=api, layer=layer, use=use
            )

    def _write(self, node: cst.Call) -> None:
        """`variable[i].assign(x)`, of which the part is a place and nothing that is read."""
        for fact in self.facts(node, SLICE_WRITE):
            is_repeated = self._variant(fact.value.dependence) == "argument-cpu"
            if isinstance(node.func, cst.Attribute):
                self._written.add(node.func.value)
            words = {"use": self.quote(node.func), "value": ast.unparse(fact.detail)}
            self.report(node, fact, "written-cpu" if is_repeated else "written", **words)

    def _variant(self, dependence: int) -> str:
        if dependence == CAPTURED:
            return "captured"
        if dependence != ARRIVING:
            return "computed"
        return "argument" if self.passage.aim.is_tpu else "argument-cpu"

    def _judge(self, node: cst.Call, fact: Fact, parameter: str, value: Value) -> None:
        is_worked_with = works_with(fact.detail.api, parameter)
        least = BOUNDED if parameter in fact.detail.exact_args else self._least
        least = FROM_SHAPE if is_worked_with else least
        data = [v for v in sizes_from_data(value, least) if self._is_late(v)]
        if not data:
            least = BOUNDED
            data = sizes_in_front(parameter, value)
        if not data:
            return
        dependence = max(leaf.dependence for leaf in data)
        deciding = [leaf for leaf in data if leaf.dependence == dependence]
        if are_read_off_arguments(fact.detail.api, deciding):
            dependence = ARRIVING
        argument = self._as_written(node, parameter, fact.detail)
        parts = _parts(argument, value, least)
        quoted = ", ".join(self.quote(part) for part in parts) if parts else parameter
        self._sizes.append(
            _Size(
                node if argument is None else argument,
                fact,
                "worked-with" if is_worked_with else self._variant(dependence),
                confidence(parameter, deciding, dependence),
                {"api": self.quote(node.func), "argument": parameter, "value": quoted},
                frozenset(name for part in parts for name in _names(part)),
                bool(parts) and parts[0] is not argument,
            )
        )

    def _is_late(self, size: Value) -> bool:
        return size.dependence != CAPTURED or (self.passage.aim.is_tpu and size.sure)

    def _as_written(
        self, node: cst.Call, parameter: str, detail: CallDetail
    ) -> cst.BaseExpression | None:
        """What the author wrote for a parameter, by keyword or by position."""
        for argument in node.args:
            if argument.keyword is not None and argument.keyword.value == parameter:
                return argument.value
        position = [name for name, _ in detail.arguments].index(parameter)
        positional = [a for a in node.args if a.keyword is None and not a.star]
        return positional[position].value if position < len(positional) else None


def _parts(
    argument: cst.BaseExpression | None, value: Value, least: int
) -> list[cst.BaseExpression]:
    """The numbers of a written shape that come from data, or the whole argument."""
    if argument is None:
        return []
    if isinstance(argument, (cst.Tuple, cst.List)) and isinstance(value.ref, tuple):
        written = [element.value for element in argument.elements]
        if len(written) == len(value.ref):
            return [
                part
                for part, item in zip(written, value.ref)
                if any(is_size_from_data(leaf, least) for leaf in leaves(item))
            ]
    return [argument]


def _names(node: cst.CSTNode) -> set[str]:
    """The names in an expression, without those of what is called."""
    if isinstance(node, cst.Name):
        return {node.value}
    if isinstance(node, cst.Call):
        return {name for argument in node.args for name in _names(argument.value)}
    return {name for child in node.children for name in _names(child)}


def _decides(leader: _Size, size: _Size) -> bool:
    """Whether one finding speaks for another: the same number is part of a shape further on in the same function."""
    return (
        size.is_part
        and leader.node is not size.node
        and leader.fact.function is size.fact.function
        and leader.variant == size.variant
        and not leader.names.isdisjoint(size.names)
    )


def _count(followers: int) -> str:
    if not followers:
        return ""
    return f", like {followers} more {'size' if followers == 1 else 'sizes'} of this function"
