"""The code of a group of kept elements over full tensors: its expressions, the masks that they need, and new names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields
from itertools import chain, count

import libcst as cst

from xlalint.finding import Span
from xlalint.fixes.bindings import is_read, origin
from xlalint.fixes.draft import Draft
from xlalint.fixes.full_size.flow import End, Group
from xlalint.fixes.full_size.guards import Guards
from xlalint.fixes.full_size.kept import Reader
from xlalint.fixes.full_size.masks import COLUMN, INDICES, VALUES, Kept, Mask
from xlalint.fixes.full_size.texts import (
    WIDTH,
    is_loose,
    literal,
    short,
    source,
    with_pieces,
)
from xlalint.fixes.full_size.unfit import UnfitError
from xlalint.rules.walk import children


@dataclass(eq=False, slots=True)
class Rewriting:
    """Writes one group again. `mask_names` are the names that masks get which have none yet."""

    draft: Draft
    reader: Reader
    group: Group
    tf: str
    guards: Guards
    # What an end becomes over full tensors, by means of this class.
    write_end: Callable[[Rewriting, End], str]
    doubts: dict[str, None] = field(default_factory=dict)
    mask_names: dict[object, str] = field(default_factory=dict)
    aliases: dict[int, str] = field(default_factory=dict)
    _mask_uses: dict[object, list[cst.CSTNode]] = field(default_factory=dict)
    masks: dict[object, Mask] = field(default_factory=dict)
    # How many boxes are kept, by their mask.
    numbers: dict[object, str] = field(default_factory=dict)
    # Masks that are made together with what they are for.
    made: set[object] = field(default_factory=set)
    bound_lines: dict[int, list[str]] = field(default_factory=dict)

    # --- expressions -------------------------------------------------------------------------------------------

    def render(self, node: cst.CSTNode) -> str:
        """The code of an expression with everything in it over full tensors."""
        end = next((e for e in self.group.ends if e.node is node), None)
        if end is not None:
            return self.write_end(self, end)
        known = self.reader.kept(node)
        text = self.plain(node, known)
        if id(node) in self.guards.at and known is not None:
            assert isinstance(node, cst.BaseExpression)
            known = replace_fields(
                known, trailing=self.guards.trailing.get(id(node), known.trailing)
            )
            fill = literal(self.draft.value(node).dtype, str(int(self.guards.fill(node))))
            text = self.where(known, node, text, fill)
        return text

    def plain(self, node: cst.CSTNode, known: Kept | None) -> str:
        if known is not None and known.text is not None:
            if known.mask.made_by is not None:
                return self.source(node)
            return known.text
        if known is not None and known.kind != VALUES:
            return self._positions(node, known)
        if isinstance(node, cst.Name) and known is not None:
            found = origin(self.draft, node.value, node)
            assert found is not None
            return self.aliases.get(id(found.node), node.value)
        if known is not None and known.is_source and known.whole is not None:
            return self._whole(node, known.whole)
        return self._spliced(node)

    def _whole(self, node: cst.CSTNode, whole: cst.BaseExpression) -> str:
        text = self.render(whole)
        return f"({text})" if "\n" in text and is_loose(text) else text

    def _spliced(self, node: cst.CSTNode) -> str:
        """The code of a node with what is below it rendered."""
        code = self.source(node)
        pieces = []
        for child in children(node):
            before = self.source(child)
            if isinstance(child, cst.BaseExpression):
                after = self.render(child)
                if after == before:
                    continue
                is_tight = isinstance(
                    node, (cst.BinaryOperation, cst.UnaryOperation, cst.Subscript)
                )
                if is_loose(after) and is_tight and not child.lpar:
                    after = f"({after})"
            else:
                after = self._spliced(child)
            if after != before:
                pieces.append((self._with_parentheses(child, after), after))
        return with_pieces(code, self.draft.span(node), pieces) if pieces else code

    def _with_parentheses(self, node: cst.CSTNode, text: str) -> Span:
        """Where a node stands, with its parentheses where what takes its place needs none."""
        span = self.draft.span(node)
        if not isinstance(node, cst.BaseExpression) or len(node.lpar) != 1 or is_loose(text):
            return span
        line = self.draft.line(span.line)
        is_tight = span.line == span.end_line and line[span.column - 2 : span.column - 1] == "("
        if not is_tight or line[span.end_column - 1 : span.end_column] != ")":
            return span
        return Span(span.line, span.column - 1, span.end_line, span.end_column + 1)

    def source(self, node: cst.CSTNode) -> str:
        """The code of a node without its own parentheses, as it stands in the program."""
        return source(self.draft, node)

    # --- masks -------------------------------------------------------------------------------------------------

    def mask(self, mask: Mask, at: cst.CSTNode, trailing: int = 0) -> str:
        """The code of a mask at some place, with as many axes added at its end."""
        self.masks[mask.key] = mask
        self._mask_uses.setdefault(mask.key, []).append(at)
        name = self.mask_names.get(mask.key)
        text = name if name is not None else self.mask_code(mask)
        if trailing:
            tight = text if name is not None or mask.is_named else f"({text})"
            text = f"{tight}[..., {', '.join(['None'] * trailing)}]"
        return text

    def mask_code(self, mask: Mask) -> str:
        return mask.template.format(self.draft.code(mask.node))

    def name_masks(self) -> None:
        """Give a name to each mask that is written out more than once, or whose names mean something else where it is used."""
        for key, uses in self._mask_uses.items():
            if key in self.made:
                continue
            mask = self.masks[key]
            is_stable = all(self._is_stable(mask, place) for place in uses)
            is_in_lambda = any(
                isinstance(self.draft.function(s), cst.Lambda) for s in self.group.sources
            )
            if mask.is_named:
                if not is_stable:
                    raise UnfitError
                continue
            if is_stable and (len(uses) == 1 or is_in_lambda) and not self._is_assigned(mask):
                continue
            if is_in_lambda:
                raise UnfitError
            self.mask_names[key] = self._name_of(mask)
            self.first_statement(key)

    def _name_of(self, mask: Mask) -> str:
        """A name for a mask, which no other mask of the function is given by a fix of its own."""
        function = self._outermost()
        unnamed: dict[object, None] = {}
        for node in self.draft.within(function if function is not None else self.draft.module):
            known = self.reader.kept(node) if isinstance(node, cst.BaseExpression) else None
            if known is not None and known.is_source and not known.mask.is_named:
                unnamed[known.mask.key] = None
        used = self._names_in(function)
        free = (name for n in count(1) if (name := f"mask_{n}" if n > 1 else "mask") not in used)
        return next(name for key, name in zip(unnamed, free) if key == mask.key)

    def _is_assigned(self, mask: Mask) -> bool:
        """Whether its indices have a name, whose assignment can become that of the mask."""
        return any(
            (known := self.reader.kept(a.value)) is not None
            and known.kind == INDICES
            and known.mask.key == mask.key
            for a in self.group.assignments
        )

    def _is_stable(self, mask: Mask, place: cst.CSTNode) -> bool:
        """Whether the names of a mask mean at some place what they mean where the mask stands."""
        nodes = [mask.node, *mask.bound, *([] if mask.of is None else [mask.of])]
        names = [n for node in nodes for n in self.draft.within(node) if isinstance(n, cst.Name)]
        for name in names:
            if not is_read(self.draft, name):
                continue
            was = origin(self.draft, name.value, name)
            if was is None or origin(self.draft, name.value, place) != was:
                return False
        return True

    def first_statement(self, key: object) -> cst.BaseStatement:
        """The statement before which a mask can be named so that all its uses follow."""
        places = [s for s in self.group.sources if self.reader.kept(s).mask.key == key]  # type: ignore[union-attr]
        statements = [self.draft.statement(place) for place in places]
        found = min(
            (s for s in statements if s is not None),
            key=lambda s: (self.draft.span(s).line, self.draft.span(s).column),
            default=None,
        )
        if found is None or not isinstance(found, cst.SimpleStatementLine):
            raise UnfitError
        block = list(self.draft.block(found))
        index = next((i for i, s in enumerate(block) if s is found), None)
        if index is None:
            raise UnfitError
        later = {id(s) for s in block[index:]}
        for use in self._mask_uses.get(key, ()):
            around = {id(use), *(id(a) for a in self.draft.ancestors(use))}
            if not around & later:
                raise UnfitError
        return found

    # --- what replaces what was dropped ------------------------------------------------------------------------

    def where(self, known: Kept, node: cst.CSTNode, text: str, fill: str) -> str:
        trailing = known.trailing
        if trailing is None:
            self._assume_shape(known, node)
            trailing = 0
        return f"{self.tf}.where({self.mask(known.mask, node, trailing)}, {text}, {fill})"

    def _assume_shape(self, known: Kept, node: cst.CSTNode) -> None:
        words = short(self.render_quoted(node))
        self.doubts[
            f"`{words}` is taken to have the shape of the mask, which wants `[..., None]` where it has more axes."
        ] = None

    def render_quoted(self, node: cst.CSTNode) -> str:
        known = self.reader.kept(node)
        if known is not None and known.is_source and known.whole is not None:
            return self.draft.code(known.whole)
        return self.draft.code(node)

    def _positions(self, node: cst.CSTNode, known: Kept) -> str:
        """The indices themselves, as values: those of a mask of one axis."""
        if known.kind in (INDICES, COLUMN) or known.mask.is_vector is False:
            raise UnfitError
        if known.mask.is_vector is None:
            self.doubts["The mask is taken to have one axis."] = None
        dtype = self.draft.value(node).dtype or "int64"
        size = f"{self.tf}.size({self.mask(known.mask, node)}, {self.tf}.{dtype})"
        return f"{self.tf}.range({size})"

    # --- names --------------------------------------------------------------------------------------------------

    def _outermost(self) -> cst.FunctionDef | None:
        """The outermost function around the group."""
        around = self.draft.ancestors(self.group.sources[0])
        functions = [above for above in around if isinstance(above, cst.FunctionDef)]
        return functions[-1] if functions else None

    def _names_in(self, function: cst.FunctionDef | None) -> set[str]:
        root = function if function is not None else self.draft.module
        return {
            node.value
            for node in self.draft.within(root)
            if isinstance(node, cst.Name)
            and (
                not isinstance(self.draft.parent(node), cst.Attribute) or is_read(self.draft, node)
            )
        }

    def fresh(self, name: str, others: set[str]) -> str:
        """A name that the outermost function around the group does not use, and that is not among others."""
        used = self._names_in(self._outermost()) | others
        wanted = [name, "masked"] if name == "kept" else [name]
        numbered = (f"{name}_{n}" for n in count(2))
        return next(candidate for candidate in chain(wanted, numbered) if candidate not in used)

    def is_long(self, end: End, text: str) -> bool:
        """Whether an expression would make a line that nobody likes to read."""
        return self.draft.span(end.node).column + len(text) > WIDTH

    def fills_line(self, end: End, text: str) -> bool:
        """Whether an expression leaves no room for what is around it, even on a line of its own."""
        line = self.draft.line(self.draft.span(end.node).line)
        return len(line) - len(line.lstrip()) + len("return ") + len(text) > WIDTH - 10

    def bound(self, end: End, text: str, name: str) -> str | None:
        """A name for an expression where one can be given, else None."""
        try:
            return self.bind(end, text, name)
        except UnfitError:
            return None

    def bind(self, end: End, text: str, name: str) -> str:
        """A name for an expression, given in front of the statement of an end."""
        statement = self.draft.statement(end.node)
        if (
            not isinstance(statement, cst.SimpleStatementLine)
            or isinstance(self.draft.function(end.node), cst.Lambda)
            or not self.draft.block(statement)
        ):
            raise UnfitError
        lines = self.bound_lines.setdefault(id(statement), [])
        names = {line.split(" = ")[0] for line in lines}
        fresh = self.fresh(name, names)
        lines.append(f"{fresh} = {text}")
        return fresh
