"""Expressions that hold what a mask keeps: which mask, which of their axes it shortens, and how the full tensor is written."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import libcst as cst

from xlalint.fixes.bindings import called_object, is_read, origin, simple_target
from xlalint.fixes.draft import Draft
from xlalint.fixes.full_size import operations
from xlalint.fixes.full_size.counted import first_of, rank_of_rows
from xlalint.fixes.full_size.distinct import distinct
from xlalint.fixes.full_size.inside import at_fill
from xlalint.fixes.full_size.masks import (
    COLUMN,
    INDICES,
    POSITIONS,
    VALUES,
    WITHOUT_FULL_FORM,
    Kept,
    Mask,
)
from xlalint.fixes.ranks import Rank, argument, difference, rank_of
from xlalint.semantics.facts import MASK_INDEX, SLICE
from xlalint.semantics.names import api_name
from xlalint.semantics.values import NDARRAY, PYTHON, SHAPE

BOOLEAN_MASKS = frozenset({"tf.boolean_mask", "tf.compat.v1.boolean_mask"})
WHERE = frozenset({"tf.where", "tf.compat.v1.where", "tf.compat.v2.where"})


@dataclass(eq=False, slots=True)
class Reader:
    """Says of the expressions of a program what they keep. It remembers its answers."""

    draft: Draft
    _known: dict[int, Kept | None] = field(default_factory=dict)
    _fills: dict[int, tuple[float, float] | None] = field(default_factory=dict)

    def kept(self, node: cst.CSTNode) -> Kept | None:
        """What an expression keeps; None for anything else, and for what cannot be followed."""
        if id(node) not in self._known:
            self._known[id(node)] = (
                None  # a name that is made of itself keeps nothing that is known
            )
            self._known[id(node)] = self._read(node)
        return self._known[id(node)]

    def api(self, call: cst.Call) -> str | None:
        """The canonical name of what a call computes; for a loss object that does not reduce, that of its function."""
        api = self.draft.api(call)
        if api is not None:
            return api
        loss = called_object(self.draft, call.func)
        if not isinstance(loss, cst.Call):
            return None
        reduction = argument(loss, ("reduction",), 99)
        code = "" if reduction is None else self.draft.code(reduction).strip("\"'")
        is_open = code.rpartition(".")[2].lower() == "none"
        return operations.LOSS_CLASSES.get(self._class_of(loss)) if is_open else None

    def inside(self, node: cst.Call) -> tuple[float, float] | None:
        """For a function of the program that computes each element from its own: what to fill dropped elements with, and what
        the function gives for that."""
        if id(node) not in self._fills:
            kept = frozenset(id(a.value) for a in node.args if self.kept(a.value) is not None)
            found = ((fill, at_fill(self.draft, node, kept, fill)) for fill in (0.0, 1.0))
            self._fills[id(node)] = next(
                ((f, value) for f, value in found if value is not None), None
            )
        return self._fills[id(node)]

    def row_mean(self, call: cst.Call) -> str | None:
        """What a loss that takes the mean over the last axis computes of a difference (`square`); None for other calls."""
        api = self.draft.api(call)
        if api is not None:
            return operations.ROW_MEANS.get(api_name(api))
        made = (
            call.func if isinstance(call.func, cst.Call) else called_object(self.draft, call.func)
        )
        is_plain = isinstance(made, cst.Call) and all(
            a.keyword is not None and a.keyword.value == "name" for a in made.args
        )
        return operations.MEAN_CLASSES.get(self._class_of(made)) if is_plain else None  # type: ignore[arg-type]

    def _class_of(self, made: cst.Call) -> str:
        """The canonical name of a Keras class, whichever of its packages `keras` was imported from."""
        written = ".".join(self.draft.code(made.func).split(".")[-3:])
        return api_name(self.draft.api(made) or written)

    def operands(self, node: cst.CSTNode) -> list[cst.BaseExpression]:
        """The expressions that an operation computes on, element by element or row by row."""
        if isinstance(node, cst.BinaryOperation):
            return [node.left, node.right]
        if isinstance(node, cst.UnaryOperation):
            return [node.expression]
        if isinstance(node, cst.Comparison):
            return [node.left, *(target.comparator for target in node.comparisons)]
        if isinstance(node, cst.Call):
            return [a.value for a in node.args]
        return [node.value] if isinstance(node, cst.Subscript) else []

    def _read(self, node: cst.CSTNode) -> Kept | None:
        found = distinct(self.draft, node)
        if found is not None:
            return found
        if isinstance(node, cst.Name):
            return self._of_name(node)
        if isinstance(node, cst.Subscript):
            return self._of_subscript(node)
        if isinstance(node, cst.Call):
            return self._of_call(node)
        if isinstance(node, (cst.BinaryOperation, cst.UnaryOperation)):
            return self._elementwise(node)
        if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
            is_one = isinstance(
                node.comparisons[0].operator, (cst.In, cst.NotIn, cst.Is, cst.IsNot)
            )
            return None if is_one else self._elementwise(node)
        return None

    def _of_name(self, node: cst.Name) -> Kept | None:
        if not is_read(self.draft, node):
            return None
        found = origin(self.draft, node.value, node)
        if found is None or not isinstance(found.node, cst.Assign) or not simple_target(found.node):
            return None
        known = self.kept(found.node.value)
        if known is None:
            return None
        text = known.text if known.kind == POSITIONS else None
        return Kept(known.kind, known.mask, known.trailing, known.leading, text=text)

    # --- where elements are picked out -------------------------------------------------------------------------

    def _of_subscript(self, node: cst.Subscript) -> Kept | None:
        base = self.kept(node.value)
        if base is not None:
            return self._of_part(node, base)
        if self.draft.facts_at(node, MASK_INDEX):
            if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
                return None
            return self._masked(node.value, node.slice[0].slice.value)
        return self._prefix(node) if self.draft.facts_at(node, SLICE) else None

    def _masked(self, whole: cst.BaseExpression, mask: cst.BaseExpression) -> Kept | None:
        """`whole[mask]`."""
        if self.kept(whole) is not None or self.kept(mask) is not None:
            return None
        value = self.draft.value(whole)
        if value.kind in (PYTHON, NDARRAY, SHAPE) or value.is_composite:
            return None
        made = self.mask(mask)
        if made is None:
            return None
        trailing = self.trailing(whole, made)
        return Kept(VALUES, made, trailing, is_source=True, whole=whole)

    def mask(self, node: cst.BaseExpression) -> Mask | None:
        key = self.identity(node)
        return None if key is None else Mask(key, node, rank_of(self.draft, node))

    def trailing(self, whole: cst.BaseExpression, mask: Mask) -> int | None:
        """How many axes a tensor has behind those of a mask; None where that is not known."""
        return difference(rank_of(self.draft, whole), mask.rank)

    def identity(self, node: cst.BaseExpression) -> Hashable | None:
        """What tells an expression from others that may have another value; None where its names may be bound in two ways."""
        code = " ".join(self.draft.code(node).split())
        origins: list[object] = []
        for name in self.draft.within(node):
            if isinstance(name, cst.Call) and not is_repeatable(self.draft.api(name)):
                # Two calls may differ: this mask is like no other.
                origins.append(id(name))
            if isinstance(name, cst.Name) and is_read(self.draft, name):
                found = origin(self.draft, name.value, name)
                if found is None:
                    return None
                origins.append(found)
        return (code, tuple(origins))

    def _prefix(self, node: cst.Subscript) -> Kept | None:
        """`x[:i]`, `x[..., :i]`, `x[:, i:]`: one axis, cut at a number that the program computes."""
        cut = [
            (place, element.slice)
            for place, element in enumerate(node.slice)
            if not _is_whole(element) and not _is_ellipsis(element)
        ]
        if len(cut) != 1:
            return None
        place, part = cut[0]
        if not isinstance(part, cst.Slice):
            return None
        bound, sign = (part.upper, "<") if part.lower is None else (part.lower, ">=")
        if bound is None or (part.lower is not None and part.upper is not None) or part.step:
            return None
        key = self.identity(node)
        has_ellipsis = any(_is_ellipsis(element) for element in node.slice)
        if key is None or (has_ellipsis and (len(node.slice) != 2 or place != 1)):
            return None
        known = rank_of(self.draft, node.value)
        absolute = known.more if known is not None and known.base is None else None
        axis = -1 if has_ellipsis else place
        if absolute is None and not has_ellipsis:
            return None
        trailing = 0 if absolute is None or has_ellipsis else absolute - place - 1
        dtype = self.draft.value(bound).dtype
        if self.draft.value(bound).is_tensor and dtype not in ("int32", "int64"):
            return None
        kind = f", dtype={self.draft.tensorflow}.{dtype}" if dtype == "int64" else ""
        tf = self.draft.tensorflow
        size = f"{tf}.shape({self.draft.code(node.value)})[{axis}]"
        template = f"{tf}.range({size}) {sign} {{}}"
        if kind:
            template = f"{tf}.range({tf}.cast({size}, {tf}.int64)) {sign} {{}}"
        mask = Mask(key, bound, Rank(None, 1), template, node.value, axis)
        leading = -1 if has_ellipsis else place
        return Kept(VALUES, mask, trailing, leading, is_source=True, whole=node.value)

    def _of_call(self, node: cst.Call) -> Kept | None:
        if any(given.star for given in node.args):
            return None
        api = self.draft.api(node)
        if api in BOOLEAN_MASKS:
            return self._boolean_mask(node)
        counted = first_of(self.draft, node, self.identity)
        if counted is not None:
            return None if any(self.kept(given.value) for given in node.args) else counted
        if api in WHERE and _operand_count(node) == 1:
            mask = argument(node, ("condition",), 0)
            made = None if mask is None or self.kept(mask) else self.mask(mask)
            is_counted = self.draft.value(node).is_data_sized
            return Kept(INDICES, made, None, is_source=True) if made and is_counted else None
        if api in ("tf.gather", "tf.gather_nd") and node.args:
            found = self._gathered(node, api)
            if found is not None:
                return found
        if api in ("tf.squeeze", "tf.reshape", "tf.cast"):
            found = self._of_indices(node, api)
            if found is not None:
                return found
        return self._computed(node, self.api(node))

    def _boolean_mask(self, node: cst.Call) -> Kept | None:
        whole = argument(node, ("tensor",), 0)
        mask = argument(node, ("mask",), 1)
        axis = argument(node, ("axis",), 2 if self.draft.api(node) == "tf.boolean_mask" else 3)
        if whole is None or mask is None:
            return None
        found = self._masked(whole, mask)
        if axis is None or found is None or self._is(axis, "0"):
            return found
        if not isinstance(axis, cst.Integer):
            return None
        place = axis.evaluated_value
        known = rank_of(self.draft, whole)
        if not found.mask.is_vector or known is None or known.base is not None:
            return None
        return Kept(VALUES, found.mask, known.more - place - 1, place, True, whole)

    def _gathered(self, node: cst.Call, api: str) -> Kept | None:
        whole, indices = (
            argument(node, ("params",), 0),
            argument(node, ("indices",), 1),
        )
        if whole is None or indices is None or self.kept(whole) is not None:
            return None
        known = self.kept(indices)
        axis = argument(node, ("axis",), 3 if api == "tf.gather" else 9)
        is_column = known is not None and known.kind == INDICES and api == "tf.gather"
        wanted = INDICES if api == "tf.gather_nd" or is_column else POSITIONS
        if known is None or known.kind != wanted:
            return None
        if len(node.args) > 2 and (axis is None or not self._is(axis, "0")):
            return None
        if known.text is not None and known.mask.rows != self.identity(whole):
            return None  # other rows than those that are counted
        trailing = self.trailing(whole, known.mask)
        if api == "tf.gather" and not is_column and trailing is None:
            return None  # rows, most likely
        if is_column and (known.mask.is_vector is False or trailing not in (None, 0)):
            return None
        kind = COLUMN if is_column else VALUES
        return Kept(kind, known.mask, trailing, is_source=True, whole=whole)

    def _of_indices(self, node: cst.Call, api: str) -> Kept | None:
        """`tf.squeeze(indices, axis=1)`, `tf.reshape(indices, [-1])`, `tf.cast(indices, tf.int32)`."""
        value = argument(node, ("input", "tensor", "x"), 0)
        known = None if value is None else self.kept(value)
        if known is None or known.kind in (VALUES, POSITIONS):
            return None
        if api == "tf.cast" and known.kind == INDICES:
            return Kept(known.kind, known.mask, None)
        if not self._drops_column(node, api):
            return None
        if known.kind == INDICES:
            return Kept(POSITIONS, known.mask, 0)
        return Kept(VALUES, known.mask, known.trailing, is_source=True, whole=known.whole)

    def _drops_column(self, node: cst.Call, api: str) -> bool:
        """Whether a call makes a vector of a matrix of one column."""
        if len(node.args) != 2:
            return False
        words = ("1", "-1", "[1]", "[-1]") if api == "tf.squeeze" else ("[-1]", "(-1,)", "-1")
        return any(self._is(node.args[1].value, word) for word in words)

    # --- what is computed of them ------------------------------------------------------------------------------

    def _of_part(self, node: cst.Subscript, base: Kept) -> Kept | None:
        parts = [element.slice for element in node.slice]
        if base.kind == INDICES:
            is_column = len(parts) == 2 and _is_whole(node.slice[0]) and self._is(parts[1], "0")
            return Kept(POSITIONS, base.mask, 0) if is_column else None
        if base.kind != VALUES or len(parts) < 2 or base.leading:
            return None
        first = node.slice[0]
        is_one = _is_ellipsis(first) or (_is_whole(first) and base.mask.is_vector)
        if not is_one or base.trailing is None:
            return None
        trailing = base.trailing
        for part in parts[1:]:
            if not isinstance(part, cst.Index):
                continue
            if self._is(part, "None") or self.draft.api(part.value) == "tf.newaxis":
                trailing += 1
            elif isinstance(part.value, (cst.Integer, cst.UnaryOperation)):
                trailing -= 1
            else:
                return None
        reach = sum(not self._is(p, "None") for p in parts[1:])
        return (
            Kept(VALUES, base.mask, trailing) if trailing >= 0 and reach <= base.trailing else None
        )

    def _elementwise(self, node: cst.BaseExpression) -> Kept | None:
        return self._together([known for o in self.operands(node) if (known := self.kept(o))])

    def _together(self, parts: Sequence[Kept]) -> Kept | None:
        if not parts or any(
            p.kind in WITHOUT_FULL_FORM or p.mask.key != parts[0].mask.key for p in parts
        ):
            return None
        known = {p.trailing for p in parts}
        trailing = known.pop() if len(known) == 1 else None
        if trailing is None and len(known) > 1 and None not in known:
            return None
        if len({p.leading for p in parts}) > 1:
            return None
        return Kept(VALUES, parts[0].mask, trailing, parts[0].leading)

    def _computed(self, node: cst.Call, api: str | None) -> Kept | None:
        parts = {id(o): known for o in self.operands(node) if (known := self.kept(o))}
        if not parts:
            return None
        joined = self._joined(list(parts.values()))
        if joined is None:
            return None
        if api in operations.ELEMENTWISE:
            return self._together(list(parts.values()))
        if api is not None and api in operations.ROW_WISE:
            return _with(joined, operations.ROW_WISE[api], 1) if self._is_last(node) else None
        if api in operations.SPARSE_LOSSES:
            labels = argument(node, ("labels", "y_true"), 0)
            known = None if labels is None else parts.get(id(labels))
            return None if known is None else Kept(VALUES, known.mask, known.trailing)
        if api in ("tf.expand_dims", "tf.one_hot"):
            is_last = api == "tf.one_hot" or self._has(node, 1, ("axis",), "-1")
            return _with(joined, 1, 0) if is_last else None
        if api in operations.REDUCTIONS or api in ("tf.argmax", "tf.math.argmax", "tf.norm"):
            is_second = joined.mask.is_vector is True and self._has(node, 1, ("axis",), "1")
            is_last = is_second or self._has(node, 1, ("axis",), "-1")
            return _with(joined, -1, 1) if is_last and len(node.args) == 2 else None
        if api in operations.LOOKUPS:
            return self._looked_up(node, joined)
        if api is None and self.inside(node) is not None:
            return self._together(list(parts.values()))
        if api is None and not joined.leading and self.is_opaque(node):
            return Kept(VALUES, joined.mask, None)
        return None

    def _looked_up(self, node: cst.Call, ids: Kept) -> Kept | None:
        """`tf.gather(table, kept)`: a row of the table for each kept number."""
        table, numbers = node.args[0].value, node.args[1:2]
        rank = rank_of(self.draft, table)
        is_plain = len(node.args) == 2 and self.kept(table) is None
        known = rank.more if rank is not None and rank.base is None else None
        known = known or rank_of_rows(self.draft, table, ids.mask)
        if not is_plain or not numbers or not known or ids.trailing is None or ids.leading:
            return None
        return Kept(VALUES, ids.mask, ids.trailing + known - 1)

    def _joined(self, parts: Sequence[Kept]) -> Kept | None:
        """One for all, as long as they are of one mask."""
        if any(p.kind in WITHOUT_FULL_FORM or p.mask.key != parts[0].mask.key for p in parts):
            return None
        return max(parts, key=lambda p: -1 if p.trailing is None else p.trailing)

    def is_opaque(self, node: cst.Call) -> bool:
        """Whether it is a function of the project, or a loss that is not reduced, whose result is as long as what it is given."""
        value = self.draft.value(node)
        return value.is_data_sized and not isinstance(node.func, cst.Lambda)

    def _is_last(self, node: cst.Call) -> bool:
        axis = argument(node, ("axis",), 1) if self.draft.api(node) != "keras.losses" else None
        given = [a for a in node.args if a.keyword is not None and a.keyword.value == "axis"]
        return not given or (axis is not None and self._is(axis, "-1"))

    def _has(self, node: cst.Call, position: int, names: Sequence[str], code: str) -> bool:
        given = argument(node, names, position)
        return given is not None and self._is(given, code)

    def _is(self, node: cst.CSTNode, code: str) -> bool:
        written = node.value if isinstance(node, cst.Index) else node
        return "".join(self.draft.code(written).split()) == code


def is_repeatable(api: str | None) -> bool:
    """Whether a call gives the same again for the same arguments, and nobody else notices that it was made."""
    return (
        api is not None
        and api.startswith(("tf.", "keras.ops."))
        and not api.startswith(
            ("tf.random.", "tf.py_function", "tf.numpy_function", "keras.random")
        )
        and "random" not in api
    )


def _with(known: Kept, more: int, least: int) -> Kept | None:
    """With more or fewer axes at the end, of which there must be so many."""
    if known.kind != VALUES or known.trailing is None or known.trailing < least:
        return None
    return Kept(VALUES, known.mask, known.trailing + more, known.leading)


def _operand_count(call: cst.Call) -> int:
    return sum(given.keyword is None or given.keyword.value != "name" for given in call.args)


def _is_whole(element: cst.SubscriptElement) -> bool:
    part = element.slice
    return isinstance(part, cst.Slice) and not (part.lower or part.upper or part.step)


def _is_ellipsis(element: cst.SubscriptElement) -> bool:
    return isinstance(element.slice, cst.Index) and isinstance(element.slice.value, cst.Ellipsis)
