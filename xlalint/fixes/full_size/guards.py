"""Where dropped elements must be replaced before something is computed of them, so that no NaN flows back into the gradient.

0 times NaN is NaN: tf.where around a reduction keeps what was dropped out of the result, but the gradient of `tf.math.log(x)` at a
dropped 0 is still 0 / 0. So elements are replaced where the computation is still linear in them, and once more at its end
unless it maps 0 to 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from xlalint.fixes.bindings import origin
from xlalint.fixes.draft import Draft
from xlalint.fixes.full_size import operations
from xlalint.fixes.full_size.distinct import unpacked
from xlalint.fixes.full_size.kept import Reader
from xlalint.fixes.full_size.masks import POSITIONS, VALUES
from xlalint.fixes.ranks import argument
from xlalint.semantics.values import FROM_SHAPE

_WHOLE = ("int", "uint", "bool")


@dataclass(eq=False, slots=True)
class Guards:
    """The expressions to replace dropped elements in. `open_ends`: calls whose inside is not known, and losses of scores."""

    draft: Draft
    reader: Reader
    at: dict[int, cst.BaseExpression] = field(default_factory=dict)
    open_ends: list[cst.BaseExpression] = field(default_factory=list)
    # Calls of functions that were read, which are closed as long as what they are given is filled as they want it.
    read: list[cst.Call] = field(default_factory=list)
    # How many axes what is guarded has behind those of the mask, where its operation says so.
    trailing: dict[int, int] = field(default_factory=dict)
    _ones: set[int] = field(default_factory=set)

    def settle(self, node: cst.BaseExpression) -> list[cst.BaseExpression]:
        """Guard what an end computes on; returns the parts that are linear still, which the guard at the end covers."""
        if self._is_flat(node):
            self._below(node)
            return []
        if isinstance(node, cst.Name):
            value = self.value_of(node)
            return [node] if value is node else self.settle(value)
        known = self.reader.kept(node)
        assert known is not None
        if known.is_source or known.kind != VALUES:
            return [node]
        if self._is_lookup(node):
            self._below(node)
            return [node]
        inner = self._kept_operands(node)
        if isinstance(node, cst.Subscript):
            found = self.settle(inner[0])
            return [node] if found == [self._behind(inner[0])] else found
        if self._is_linear(node, inner):
            parts = [self.settle(operand) for operand in inner]
            is_whole = all(part == [self._behind(operand)] for part, operand in zip(parts, inner))
            return [node] if is_whole else [each for part in parts for each in part]
        self._below(node)
        return []

    def fill(self, node: cst.BaseExpression) -> float:
        """What takes the place of dropped elements: 0, or 1 where 0 has no logarithm or cannot be divided by."""
        return 1.0 if id(node) in self._ones else 0.0

    def value_of(self, name: cst.Name) -> cst.BaseExpression:
        """What the assignment gave that a name has its value from; the name itself where that was unpacked."""
        found = origin(self.draft, name.value, name)
        assert found is not None and isinstance(found.node, cst.Assign)
        return name if unpacked(self.draft, found.node) else found.node.value

    def zero_at(self, node: cst.BaseExpression) -> float | None:
        """What an expression is where its guarded parts are 0; None where that is not known."""
        if id(node) in self.at:
            return self.fill(node)
        if isinstance(node, (cst.Integer, cst.Float)):
            return float(node.evaluated_value)
        if self.reader.kept(node) is None:
            return None
        if isinstance(node, cst.Name):
            value = self.value_of(node)
            return None if value is node else self.zero_at(value)
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
            inner = self.zero_at(node.expression)
            return None if inner is None else -inner
        if isinstance(node, cst.BinaryOperation):
            return self._zero_of_operation(node)
        if isinstance(node, cst.Call) and self.reader.api(node) is None:
            known = self.reader.inside(node)
            is_filled = known is not None and all(
                self.zero_at(operand) == known[0] for operand in self._kept_operands(node)
            )
            return known[1] if is_filled and known is not None else None
        if isinstance(node, cst.Call) and all(a.keyword is None for a in node.args):
            values = [self.zero_at(a.value) for a in node.args]
            api = self.reader.api(node)
            if api is not None and all(value is not None for value in values):
                return operations.at(api, *[v for v in values if v is not None])
        return None

    def _zero_of_operation(self, node: cst.BinaryOperation) -> float | None:
        left, right = self.zero_at(node.left), self.zero_at(node.right)
        if isinstance(node.operator, cst.Power):
            is_positive = right is not None and right > 0
            return 0.0 if left == 0.0 and is_positive else None
        if left is None or right is None:
            return None
        if isinstance(node.operator, cst.Multiply):
            return left * right
        if isinstance(node.operator, cst.Add):
            return left + right
        if isinstance(node.operator, cst.Subtract):
            return left - right
        return None

    def _below(self, node: cst.BaseExpression) -> None:
        """Guard the operands of what is not linear."""
        is_flat = self._is_flat(node)
        if isinstance(node, cst.Name):
            value = self.value_of(node)
            if value is not node:
                self._below(value)
            return
        known = self.reader.kept(node)
        if known is None or known.is_source or known.kind != VALUES:
            return
        api = self.reader.api(node) if isinstance(node, cst.Call) else None
        if isinstance(node, cst.Call) and api is None:
            self._call(node, is_flat)
            return
        if isinstance(node, cst.Call) and api in operations.SPARSE_LOSSES:
            self._labels(node)
            if not self._scores(node) and not is_flat:
                self.open_ends.append(node)
            return
        if isinstance(node, cst.Call) and self._is_lookup(node):
            if not self._has_row(node):
                self._guard(node.args[1].value)
            return
        for operand in self._kept_operands(node):
            if is_flat and api not in ("tf.cast",):
                self._below(operand)
                continue
            for part in self.settle(operand):
                self.at[id(part)] = part
                if self._is_singular(node, operand):
                    self._ones.add(id(part))

    def _is_singular(self, node: cst.BaseExpression, operand: cst.BaseExpression) -> bool:
        """Whether an operation has no finite result, or slope, at 0."""
        if isinstance(node, cst.BinaryOperation):
            is_quotient = isinstance(node.operator, (cst.Divide, cst.FloorDivide, cst.Modulo))
            return is_quotient and operand is node.right
        if isinstance(node, cst.Call):
            api = self.reader.api(node)
            is_divisor = api in operations.PRODUCTS and operand is not node.args[0].value
            return is_divisor or api in operations.SINGULAR
        return False

    def _call(self, node: cst.Call, is_flat: bool) -> None:
        """A function of the program: fill what it is given, where its body says what is right for it."""
        known = self.reader.inside(node)
        if known is None:
            if not is_flat:
                self.open_ends.append(node)
            return
        self.read.append(node)
        for operand in self._kept_operands(node):
            parts = self.settle(operand) or [self._behind(operand)]
            self.at.update((id(part), part) for part in parts)
            if known[0] == 1.0:
                self._ones |= {id(part) for part in parts}

    def _labels(self, node: cst.Call) -> None:
        """Labels that are left out may be none of the classes: 0 always is one."""
        labels = argument(node, ("labels", "y_true"), 0)
        if labels is not None and self.reader.kept(labels) is not None:
            self._guard(labels)

    def _scores(self, node: cst.Call) -> bool:
        """Fill the rows of scores that are left out: a NaN among them would come back in the gradient. False where their shape
        is not known."""
        scores = argument(node, ("logits", "y_pred"), 1)
        if scores is None or self.reader.kept(scores) is None:
            return False
        parts = self.settle(scores)
        known = [self.reader.kept(part) for part in parts]
        if any(kept is None or kept.trailing is None for kept in known):
            labels = argument(node, ("labels", "y_true"), 0)
            own = None if labels is None else self.reader.kept(labels)
            is_whole = len(parts) == 1 and parts[0] is self._behind(scores)
            if own is None or own.trailing != 0 or not is_whole:
                return False
            self.trailing[id(parts[0])] = 1  # one axis more than the labels, which have the mask's
        self.at.update((id(part), part) for part in parts)
        return True

    def _guard(self, node: cst.BaseExpression) -> None:
        """Fill what is dropped with 0. The padding of boxes is 0 already."""
        known = self.reader.kept(node)
        if known is not None and known.mask.made_by is None:
            part = node if known.kind == POSITIONS else self._behind(node)
            self.at[id(part)] = part

    def _has_row(self, node: cst.Call) -> bool:
        """Whether a table has a row for each number of a range; what else is dropped may be none of them, but 0 always is."""
        table, known = self.draft.value(node.args[0].value), self.reader.kept(node.args[1].value)
        if known is None or known.text is None or known.mask.made_by is not None:
            return False
        number = known.text.partition("range(")[2].partition(")")[0].partition(",")[0]
        rows = table.shape[0] if table.shape else None
        return rows is not None and number.isdigit() and int(number) <= rows

    def _is_lookup(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, cst.Call) and self.reader.api(node) in operations.LOOKUPS

    def _behind(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """The expression that a name stands for."""
        while isinstance(node, cst.Name) and self.reader.kept(node) is not None:
            value = self.value_of(node)
            if value is node:
                break
            node = value
        return node

    def _kept_operands(self, node: cst.BaseExpression) -> list[cst.BaseExpression]:
        return [o for o in self.reader.operands(node) if self.reader.kept(o) is not None]

    def _is_flat(self, node: cst.BaseExpression) -> bool:
        """Whether no gradient comes through: comparisons, whole numbers."""
        if isinstance(node, cst.Comparison):
            return True
        dtype = self.draft.value(node).dtype
        if dtype is not None and dtype.startswith(_WHOLE):
            return True
        return isinstance(node, cst.Call) and self.reader.api(node) in operations.FLAT

    def _beside_numbers(self, node: cst.BaseExpression, kept: cst.BaseExpression) -> bool:
        """Whether the other factor has no gradient, which what was dropped would reach: 0 times NaN."""
        others = [o for o in self.reader.operands(node) if o is not kept]
        return all(
            not self.draft.value(o).holds_data and self.draft.value(o).dependence <= FROM_SHAPE
            for o in others
        )

    def _is_linear(self, node: cst.BaseExpression, inner: list[cst.BaseExpression]) -> bool:
        if isinstance(node, cst.UnaryOperation):
            return isinstance(node.operator, (cst.Minus, cst.Plus))
        if isinstance(node, cst.BinaryOperation):
            if isinstance(node.operator, (cst.Add, cst.Subtract)):
                return True
            if isinstance(node.operator, cst.Multiply):
                return len(inner) == 1 and self._beside_numbers(node, inner[0])
            is_over = isinstance(node.operator, cst.Divide) and inner == [node.left]
            return is_over and self._beside_numbers(node, node.left)
        if isinstance(node, cst.Call):
            api = self.reader.api(node)
            if api in operations.PRODUCTS:
                is_over = str(api).endswith("multiply") or node.args[0].value is inner[0]
                return len(inner) == 1 and is_over and self._beside_numbers(node, inner[0])
            return (
                api in operations.LINEAR
                or api == "tf.expand_dims"
                or (api in (operations.SUMS | operations.MEANS))
            )
        return False
