"""The column, and the text, of the call that made an operation."""

from __future__ import annotations

import ast
import linecache
import re
import sys

from xlalint.semantics.catalog import shipped
from xlalint.verify.records import Place

_MOST_TEXT = 60


class Calls:
    """Finds calls and subscripts in source by line and by the operation that they made. Each file is parsed once."""

    def __init__(self) -> None:
        self._by_file: dict[str, list[ast.Call | ast.Subscript]] = {}
        self._apis: dict[str, frozenset[str]] = {}

    def with_column(self, place: Place, op_type: str) -> Place:
        """`place` with the column of the call on that line whose name fits the operation, or of the only call there."""
        call = self._call(place, op_type)
        if call is None:
            return place
        text = linecache.getline(place.path, call.lineno)
        column = len(text.encode()[: call.col_offset].decode("utf-8", "ignore")) + 1
        line = call.lineno if call.lineno <= place.line <= (call.end_lineno or 0) else place.line
        return Place(place.path, line, column, place.function)

    def text(self, place: Place, op_type: str) -> str:
        """The call as it is written, where it is short and can be told; empty where not."""
        call = self._call(place, op_type)
        written = "" if call is None else ast.unparse(call)
        return written if len(written) <= _MOST_TEXT else ""

    def _call(self, place: Place, op_type: str) -> ast.Call | ast.Subscript | None:
        here = [
            node
            for node in self._in(place.path)
            if node.lineno <= place.line <= (node.end_lineno or 0)
        ]
        calls = [node for node in here if isinstance(node, ast.Call)]
        subscripts = [node for node in here if isinstance(node, ast.Subscript)]
        if op_type == "StridedSlice" and subscripts:
            # `x[mask][-1]` starts where `x[mask]` does; of several apart, any may be meant.
            starts = {(node.lineno, node.col_offset) for node in subscripts}
            return subscripts[0] if len(starts) == 1 else None
        names = self._names(op_type)
        fitting = [call for call in calls if called(call).lower() in names]
        chosen = fitting or (calls if len(calls) == 1 else [])
        return chosen[0] if chosen else None

    def _names(self, op_type: str) -> frozenset[str]:
        """The last parts of the names of the functions that make an operation, as the catalogue has measured them."""
        if op_type not in self._apis:
            plain = re.sub(r"V\d$", "", op_type)
            snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).lower()
            self._apis[op_type] = frozenset({plain.lower(), snake, *_measured(op_type)})
        return self._apis[op_type]

    def _in(self, path: str) -> list[ast.Call | ast.Subscript]:
        if path not in self._by_file:
            try:
                tree = ast.parse("".join(linecache.getlines(path)))
            except SyntaxError:
                tree = ast.Module(body=[], type_ignores=[])
            self._by_file[path] = [
                node for node in ast.walk(tree) if isinstance(node, (ast.Call, ast.Subscript))
            ]
        return self._by_file[path]


def called(call: ast.Call) -> str:
    """The last part of the name that a call calls; empty where it calls no name."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _measured(op_type: str) -> set[str]:
    tensorflow = sys.modules.get("tensorflow")
    try:
        facts = shipped.load(shipped.nearest(getattr(tensorflow, "__version__", "")))
    except shipped.CatalogError:
        return set()
    return {name.rpartition(".")[2].lower() for name in facts.emitters(op_type)}
