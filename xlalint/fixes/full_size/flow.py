"""From where elements are picked out to where none of them is asked for by itself any more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from xlalint.fixes.bindings import origin, reads, simple_target
from xlalint.fixes.draft import Draft
from xlalint.fixes.full_size import operations
from xlalint.fixes.full_size.distinct import is_distinct, reads_of, unpacked
from xlalint.fixes.full_size.kept import Reader
from xlalint.fixes.full_size.masks import COLUMN, INDICES, POSITIONS, VALUES, Kept
from xlalint.fixes.ranks import argument

COUNT = "count"
FIRST = "first"
LAST = "last"
SCATTER = "scatter"
RETURNED = "returned"
ROW_MEAN = "row mean"
_REDUCED = (VALUES, POSITIONS)


@dataclass(frozen=True, slots=True)
class End:
    """An expression whose result has a static size, and the kept elements that it is made of. `how` is an API of `operations`
    (`tf.reduce_sum`), or what else is done with them."""

    node: cst.BaseExpression
    operand: cst.BaseExpression
    how: str


@dataclass(eq=False, slots=True)
class Group:
    """Everything that hangs together by names and operations: it is written again as a whole or not at all."""

    sources: list[cst.BaseExpression] = field(default_factory=list)
    assignments: list[cst.Assign] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    # Assignments of updates that are one number over and over: nothing is left of them.
    fills: list[cst.Assign] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Follower:
    """Collects the group of a source."""

    draft: Draft
    reader: Reader
    group: Group = field(default_factory=Group)
    _pending: list[cst.BaseExpression] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)

    def follow(self, start: cst.BaseExpression) -> Group | None:
        """The group of an expression that keeps something; None where one use of it cannot be written over full tensors."""
        self._pending.append(start)
        while self._pending:
            node = self._pending.pop()
            if id(node) in self._seen:
                continue
            self._seen.add(id(node))
            if not (self._down(node) and self._up(node)):
                return None
        inner = {id(n) for fill in self.group.fills for n in self.draft.within(fill.value)}
        self.group.ends = [end for end in self.group.ends if id(end.node) not in inner]
        return self.group if self.group.ends else None

    # --- what it is made of ------------------------------------------------------------------------------------

    def _down(self, node: cst.BaseExpression) -> bool:
        known = self.reader.kept(node)
        assert known is not None
        if isinstance(node, cst.Name):
            if is_distinct(self.draft, known.mask):
                self.group.sources.append(node)
            return self._assignment_of(node)
        if known.is_source:
            self.group.sources.append(node)
        for operand in self.reader.operands(node):
            if self.reader.kept(operand) is not None:
                self._pending.append(operand)
            elif not known.is_source and self._may_be_kept(operand):
                return False
        return True

    def _may_be_kept(self, operand: cst.BaseExpression) -> bool:
        """Data-sized by something that was not understood."""
        return self.draft.value(operand).is_data_sized

    def _assignment_of(self, name: cst.Name) -> bool:
        found = origin(self.draft, name.value, name)
        assert found is not None and isinstance(found.node, cst.Assign)
        return self._assigned(found.node)

    def _assigned(self, assignment: cst.Assign) -> bool:
        if any(known is assignment for known in self.group.assignments):
            return True
        if unpacked(self.draft, assignment):
            names = reads_of(self.draft, assignment)
            self._pending += names or ()
            return bool(names)
        target = simple_target(assignment)
        found = None if target is None else reads(self.draft, assignment, target)
        if found is None:
            return False
        self.group.assignments.append(assignment)
        self._pending += [assignment.value, *found]
        return True

    # --- what is made of it ------------------------------------------------------------------------------------

    def _up(self, node: cst.BaseExpression) -> bool:
        above = self._user(node)
        if isinstance(above, cst.Return) and self._is_loss(node):
            self.group.ends.append(End(node, node, RETURNED))
            return True
        if isinstance(above, cst.Assign):
            return self._assigned(above)
        if not isinstance(above, cst.BaseExpression):
            return False
        end = self._end(above, node)
        if end is not None:
            self.group.ends.append(end)
            return True
        if self.reader.kept(above) is not None:
            self._pending.append(above)
            return True
        return False

    def _is_loss(self, node: cst.BaseExpression) -> bool:
        """Whether it is one loss for each kept element, of which whoever asked for them takes the mean."""
        known = self.reader.kept(node)
        if isinstance(node, cst.Name):
            found = origin(self.draft, node.value, node)
            assert found is not None and isinstance(found.node, cst.Assign)
            node = found.node.value
        api = self.reader.api(node) if isinstance(node, cst.Call) else None
        is_loss = api in operations.SPARSE_LOSSES or str(api).startswith("keras.losses.")
        return is_loss and known is not None and known.kind == VALUES and not known.leading

    def _user(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The expression or assignment that uses an expression, without what stands between."""
        between = (
            cst.Arg, cst.Index, cst.SubscriptElement, cst.ComparisonTarget, cst.Element
        )  # fmt: skip
        above = self.draft.parent(node)
        while isinstance(above, between):
            above = self.draft.parent(above)
        return above

    def _end(self, above: cst.BaseExpression, node: cst.BaseExpression) -> End | None:
        known = self.reader.kept(node)
        assert known is not None
        if isinstance(above, cst.Subscript):
            return self._picked(above, node, known)
        if not isinstance(above, cst.Call) or not above.args or any(a.star for a in above.args):
            return None
        api = self.draft.api(above)
        if self.reader.row_mean(above) is not None and self._is_of_vectors(above):
            self._pending += [given.value for given in above.args]
            outer = self._user(above)
            is_mean = isinstance(outer, cst.Call) and self.draft.api(outer) in operations.MEANS
            # The mean of what is one number already.
            return End(outer if is_mean and len(outer.args) == 1 else above, node, ROW_MEAN)  # type: ignore[union-attr, arg-type]
        if api in operations.REDUCTIONS and above.args[0].value is node and known.kind in _REDUCED:
            return self._reduced(above, node, known, str(api))
        if api in ("tf.size", "tf.shape") and above.args[0].value is node:
            return self._counted(above, node, known, api)
        if api in _SCATTERS:
            return self._scattered(above, node, known, str(api))
        return None

    def _is_of_vectors(self, call: cst.Call) -> bool:
        """Whether a loss of rows is called with one vector of kept labels and one of kept predictions."""
        known = [self.reader.kept(given.value) for given in call.args]
        if len(known) != 2 or any(k is None or k.kind != VALUES or k.leading for k in known):
            return False
        keys = {k.mask.key for k in known if k is not None}
        return len(keys) == 1 and {k.trailing for k in known if k is not None} in ({0}, {0, None})

    def _reduced(
        self, call: cst.Call, node: cst.BaseExpression, known: Kept, api: str
    ) -> End | None:
        keeps = argument(call, ("keepdims", "keep_dims"), 2)
        axis = argument(call, ("axis", "reduction_indices"), 1)
        others = [a for a in call.args[1:] if a.keyword and a.keyword.value not in ("axis", "name")]
        if keeps is not None or others:
            return None
        if axis is None or self._code(axis) == "None":
            return End(call, node, api) if not known.leading or api in operations.SUMS else None
        is_vector = known.mask.is_vector
        if known.trailing is None:
            return None  # rows, most likely; how many axes they have must be known
        is_masked = self._code(axis) in ("0", "[0]") and not known.leading
        if known.leading and self._code(axis) in (str(known.leading), f"[{known.leading}]"):
            is_masked = True
        if known.trailing == 0 and self._code(axis) in ("-1", "[-1]"):
            is_masked = True
        # Without an axis of its own in the full tensor, that of a mask of several axes cannot be named.
        return End(call, node, api + " axis") if is_masked and is_vector else None

    def _counted(
        self, call: cst.Call, node: cst.BaseExpression, known: Kept, api: str | None
    ) -> End | None:
        if known.leading:
            return None
        if api == "tf.size" and len(call.args) == 1:
            is_column = known.kind in _REDUCED and known.trailing == 0
            return End(call, node, COUNT) if is_column else None
        above = self._user(call)
        if isinstance(above, cst.Subscript) and self._code(above.slice[0]) == "0":
            return (
                End(above, node, COUNT) if len(above.slice) == 1 and len(call.args) == 1 else None
            )
        return None

    def _picked(self, above: cst.Subscript, node: cst.BaseExpression, known: Kept) -> End | None:
        """`kept[0]`, `kept[-1]`; `indices[0, 0]`, `indices[-1][0]`."""
        if above.value is not node or known.leading or known.mask.is_vector is False:
            return None
        if is_distinct(self.draft, known.mask):
            return None  # they are sorted, and were in the order of the data
        index = self._code(above.slice[0])
        how = {"0": FIRST, "-1": LAST}.get(index)
        if how is None:
            return None
        if known.kind == COLUMN:
            return None
        if known.kind != INDICES:
            return End(above, node, how) if len(above.slice) == 1 else None
        if len(above.slice) == 2:
            return End(above, node, how) if self._code(above.slice[1]) == "0" else None
        outer = self._user(above)
        if isinstance(outer, cst.Subscript) and outer.value is above:
            is_number = len(outer.slice) == 1 and self._code(outer.slice[0]) == "0"
            return End(outer, node, how) if is_number else None
        return None

    def _scattered(
        self, call: cst.Call, node: cst.BaseExpression, known: Kept, api: str
    ) -> End | None:
        tensor, indices, updates = (argument(call, names, place) for names, place in _SCATTERS[api])
        if indices is None or updates is None or tensor is None or len(call.args) != 3:
            return None
        if node is not indices:
            # The updates: they are followed, and the call is an end of its indices.
            known_indices = self.reader.kept(indices)
            is_right = known_indices is not None and known_indices.kind == INDICES
            return End(call, node, "updates") if node is updates and is_right else None
        if known.kind != INDICES:
            return None
        given = self.reader.kept(updates)
        if given is not None and (given.kind != VALUES or given.mask.key != known.mask.key):
            return None
        if given is not None and given.trailing is None:
            return None
        if given is None:
            if fill_of(self.draft, updates) is None:
                return None
            assignment = only_use(self.draft, updates) if isinstance(updates, cst.Name) else None
            if assignment is not None:
                self.group.fills.append(assignment)
        return End(call, node, SCATTER)

    def _code(self, node: cst.CSTNode) -> str:
        if isinstance(node, cst.SubscriptElement):
            node = node.slice
        if isinstance(node, cst.Index):
            node = node.value
        return "".join(self.draft.code(node).split())


_SCATTERS = {
    "tf.tensor_scatter_nd_update": ((("tensor",), 0), (("indices",), 1), (("updates",), 2)),
    "tf.tensor_scatter_nd_add": ((("tensor",), 0), (("indices",), 1), (("updates",), 2)),
    "tf.scatter_nd": ((("shape",), 2), (("indices",), 0), (("updates",), 1)),
}


def fill_of(draft: Draft, updates: cst.BaseExpression) -> str | None:
    """The one number that updates hold: `tf.zeros([n])`, `tf.ones([n])`, `tf.fill([n], c)`, by a name of their own or not."""
    if isinstance(updates, cst.Name):
        assignment = only_use(draft, updates)
        return None if assignment is None else fill_of(draft, assignment.value)
    if not isinstance(updates, cst.Call) or not updates.args:
        return None
    api = draft.api(updates)
    if api in ("tf.zeros", "tf.ones") and _is_vector(updates.args[0].value):
        return "0" if api == "tf.zeros" else "1"
    if api == "tf.fill" and len(updates.args) == 2 and _is_vector(updates.args[0].value):
        value = argument(updates, ("value",), 1)
        return None if value is None else draft.code(value)
    return None


def only_use(draft: Draft, name: cst.Name) -> cst.Assign | None:
    """The assignment that a name has its value from, where nothing else reads that."""
    found = origin(draft, name.value, name)
    if found is None or not isinstance(found.node, cst.Assign) or not simple_target(found.node):
        return None
    return found.node if reads(draft, found.node, name.value) == [name] else None


def _is_vector(shape: cst.BaseExpression) -> bool:
    return isinstance(shape, (cst.List, cst.Tuple)) and len(shape.elements) == 1


def kept_under(draft: Draft, reader: Reader, node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """The expressions at or under a flagged node that keep something, outermost first."""
    for inner in draft.within(node):
        if isinstance(inner, cst.BaseExpression) and reader.kept(inner) is not None:
            yield inner
