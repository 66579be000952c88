"""What may change where a group is written over full tensors: what is taken for granted of everything beside the kept elements."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from xlalint.fixes.bindings import origin
from xlalint.fixes.draft import Draft
from xlalint.fixes.full_size import operations
from xlalint.fixes.full_size.flow import Group
from xlalint.fixes.full_size.guards import Guards
from xlalint.fixes.full_size.kept import Reader
from xlalint.fixes.full_size.masks import Kept
from xlalint.fixes.full_size.texts import short
from xlalint.fixes.full_size.unfit import UnfitError
from xlalint.fixes.ranks import Rank, rank_of
from xlalint.semantics.values import FROM_SHAPE


@dataclass(eq=False, slots=True)
class Doubts:
    """Collects the sentences of a group in `found`, each once."""

    draft: Draft
    reader: Reader
    group: Group
    guards: Guards
    found: dict[str, None]

    def operands(self) -> None:
        """Doubts about the other operands of what is computed, and about calls whose inside is not known."""
        unread = [call for call in self.guards.read if self.guards.zero_at(call) is None]
        for call in (*self.guards.open_ends, *unread):
            self._doubt_call(call)
        seen: set[int] = set()
        pending: list[cst.BaseExpression] = [e.operand for e in self.group.ends]
        pending += [a.value for a in self.group.assignments]
        while pending:
            node = pending.pop()
            known = self.reader.kept(node)
            if id(node) in seen or known is None or known.is_source:
                continue
            seen.add(id(node))
            for operand in self.reader.operands(node):
                if self.reader.kept(operand) is not None:
                    pending.append(operand)
                elif not isinstance(node, cst.Subscript) and not self._is_lookup(node):
                    self._doubt_partner(node, operand, known)

    def _is_lookup(self, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Call) and self.reader.api(node) in operations.LOOKUPS

    def bounds(self) -> None:
        """A slice counts a negative bound from the end; a comparison does not."""
        for source in self.group.sources:
            known = self.reader.kept(source)
            assert known is not None
            if known.doubt is not None:
                self.found[known.doubt] = None
            if known.mask.of is not None and not self._counts_up(known.mask.node):
                bound = short(self.draft.code(known.mask.node))
                self.found[f"A negative `{bound}` counted from the end."] = None

    def _counts_up(self, bound: cst.BaseExpression) -> bool:
        """Whether it is the variable of a loop over a range that begins at 0 or above."""
        if not isinstance(bound, cst.Name):
            return False
        found = origin(self.draft, bound.value, bound)
        if found is None or not found.is_sure or not isinstance(found.node, cst.For):
            return False
        values = found.node.iter
        if not isinstance(values, cst.Call) or any(a.keyword or a.star for a in values.args):
            return False
        is_range = self.draft.api(values) == "tf.range" or self.draft.code(values.func) == "range"
        starts = values.args[0].value
        return is_range and (
            len(values.args) == 1 or (len(values.args) == 2 and isinstance(starts, cst.Integer))
        )

    def _doubt_call(self, call: cst.BaseExpression) -> None:
        assert isinstance(call, cst.Call)
        words = short(self.draft.code(call.func))
        if self.reader.api(call) in operations.SPARSE_LOSSES:
            text = "A dropped row of scores that is not finite makes the gradient NaN."
        else:
            text = f"`{words}` is taken to compute each element from its own, and a finite number from what was dropped."
        self.found[text] = None

    def _doubt_partner(self, node: cst.CSTNode, operand: cst.BaseExpression, known: Kept) -> None:
        value = self.draft.value(operand)
        shape = value.shape if value.is_tensor and value.dependence <= FROM_SHAPE else None
        # A constant with an axis where elements are dropped, along which it is not repeated.
        depth = None if known.trailing is None or shape is None else len(shape) - known.trailing
        is_wide = bool(depth and depth > 0 and shape and shape[depth - 1] != 1)
        is_static = value.dependence <= FROM_SHAPE
        if not is_wide and (not (value.holds_data or value.kind == "unknown") or is_static):
            if value.kind != "unknown" or not isinstance(operand, (cst.Name, cst.Attribute)):
                return
            if self.draft.api(operand) is not None:
                return
        rank = rank_of(self.draft, operand)
        if rank == Rank(None, 0):
            return
        if rank is not None and rank.base is None and known.trailing is not None:
            if rank.more <= known.trailing:
                return
        if value.kind == "unknown" and isinstance(node, cst.Call) and self.draft.api(node) is None:
            return
        if known.mask.is_counted:
            raise UnfitError
        words = short(self.draft.code(operand))
        self.found[
            f"`{words}` meets all elements now; eager TensorFlow refuses it where the mask drops some."
            if self._is_full_partner(operand)
            else f"`{words}` is taken to be a number, or of full size."
        ] = None

    def _is_full_partner(self, operand: cst.BaseExpression) -> bool:
        return any(
            isinstance(name, cst.Name) and name.value in self._names_of_masks()
            for name in self.draft.within(operand)
        )

    def _names_of_masks(self) -> set[str]:
        found: set[str] = set()
        for source in self.group.sources:
            known = self.reader.kept(source)
            assert known is not None
            node: cst.CSTNode = known.mask.node
            if isinstance(node, cst.Name):
                came_from = origin(self.draft, node.value, node)
                if came_from is not None and isinstance(came_from.node, cst.Assign):
                    node = came_from.node.value
            found |= {n.value for n in self.draft.within(node) if isinstance(n, cst.Name)}
        return found - {self.draft.tensorflow}
