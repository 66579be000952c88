"""From an error of TensorFlow or XLA to the user's file, line and column: every failing operation, not the first only."""

from __future__ import annotations

import ast
import linecache
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from xlalint.verify import drafting
from xlalint.verify.layersites import LayerSites
from xlalint.verify.opstack import UserCode
from xlalint.verify.records import Failure, Place

_NO_KERNEL = re.compile(
    r"(\w+) \(No registered '\w+' OpKernel for (XLA_\w+) devices compatible with node "
    r"((?:\{\{[^}]*\}\})+)(.*?)\)\{\{",
    re.S,
)
_NODE = re.compile(r"\{\{(function_node|node) ([^}]*)\}\}")
_BRACKETED = re.compile(r"\[\[([\w/.\-]+)\]\]")
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in ([^\s*]+)')

# Lines of a message that say nothing of the cause.
_EMPTY_WORDS = (
    "Graph execution error",
    "Detected at node",
    "<stack traces unavailable>",
    "Traceback (most",
    'File "',
)

# Words by which messages of TensorFlow 2.12 to 2.21 are told apart.
_KINDS = (
    ("not-constant", ("must be a compile-time constant", "compile time constant")),
    ("no-kernel", ("No registered '", "Detected unsupported operations")),
    (
        "symbolic",
        (
            "a symbolic `tf.Tensor`",
            "a symbolic tf.Tensor",
            "symbolic `tf.Tensor` as a Python `bool`",
            "Cannot convert a symbolic",
            "Iterating over a symbolic",
            "Iterating over `tf.Tensor`",
            "object has no attribute 'numpy'",
            "numpy() is only available when eager",
            "SymbolicTensor",
            "in graph mode",
        ),
    ),
    (
        "gradient",
        (
            "fixed tensor list size",
            "maximum_iterations",
            "no gradient defined",
            "No gradient defined",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class _Suspect:
    """What an error message says of one operation."""

    message: str
    op: str = ""
    node: str = ""
    function: str = ""


def kind_of(message: str, default: str) -> str:
    """The kind of failure that a message tells of (see `records.Failure`)."""
    for kind, words in _KINDS:
        if any(word in message for word in words):
            return kind
    return default


class Locator:
    """Maps errors to places; knows which code is the user's."""

    def __init__(self, code: UserCode, layers: LayerSites) -> None:
        self._code = code
        self._layers = layers
        self._calls = _Calls()

    def python_error(self, stage: str, error: BaseException) -> Failure:
        """An exception raised while Python ran: the innermost frame of the user's, AutoGraph's translation included."""
        message = str(error)
        frames = self._frames(error)
        place, caller = self._pick(frames)
        suspects = _suspects(message)
        return Failure(
            stage=stage,
            kind=kind_of(message, "python"),
            message=suspects[0].message
            if suspects[0].op
            else f"{type(error).__name__}: {_gist(message)}",
            op=suspects[0].op,
            place=place,
            called_from=caller,
        )

    def compiler_error(self, stage: str, error: BaseException, graph: Any) -> list[Failure]:
        """An error from lowering or compiling `graph`: one failure per operation that it names."""
        message = str(error)
        ops = _by_name(graph)
        found = []
        for suspect in _suspects(message):
            op = _match(suspect, ops) or _blamed_by_words(message, ops)
            place, caller = (
                self._place_of(op) if op is not None else self._pick(self._told(message))
            )
            found.append(
                Failure(
                    stage=stage,
                    kind=kind_of(message, "compiler"),
                    message=suspect.message,
                    op=suspect.op or (op.type if op is not None else ""),
                    place=place,
                    called_from=caller,
                )
            )
        return _without_doubles(found)

    def answering(self) -> AbstractContextManager[list[Failure]]:
        """See `drafting.answering`."""
        return drafting.answering(self._code.is_user)

    def missing_kernels(self, stage: str, ops: Iterable[Any]) -> list[Failure]:
        """A failure for each operation, known to have no XLA kernel."""
        found = []
        for op in ops:
            place, caller = self._place_of(op)
            found.append(
                Failure(stage, "no-kernel", f"{op.type} has no XLA kernel", op.type, place, caller)
            )
        return _without_doubles(found)

    def of_users(self, lines: Mapping[str, list[int]]) -> dict[str, list[int]]:
        """What of `lines`, by path, is in the code under test."""
        return {path: numbers for path, numbers in lines.items() if self._code.is_user(path)}

    def not_constant(self, stage: str, ops: Iterable[Any], index: int) -> list[Failure]:
        """A failure for each operation, whose input number `index` must be a compile-time constant and is not."""
        found = []
        for op in ops:
            place, caller = self._place_of(op)
            message = f"Input {index} to {op.type} must be a compile-time constant."
            found.append(Failure(stage, "not-constant", message, op.type, place, caller))
        return _without_doubles(found)

    def line_of(self, op: Any) -> tuple[str, int] | None:
        """The path and line that made an operation: the innermost of the code under test."""
        stack = op.traceback or ()  # TensorFlow's own copies of functions have none
        for index in range(len(stack) - 1, -1, -1):
            if self._code.is_user(stack[index].filename):
                return stack[index].filename, stack[index].lineno
        return None

    def _place_of(self, op: Any) -> tuple[Place | None, Place | None]:
        stack = op.traceback or ()
        frames = [Place(frame.filename, frame.lineno, 0, frame.name) for frame in stack]
        place, caller = self._pick(frames)
        site = self._layers.resolve(op.name)
        if site is not None:
            return site, place
        return (None, None) if place is None else (self._calls.with_column(place, op.type), caller)

    def _frames(self, error: BaseException) -> list[Place]:
        """Outermost first. What AutoGraph tells in the message comes last: it stands for generated code's frames."""
        told = [place for place in self._told(str(error)) if self._code.is_user(place.path)]
        walked = []
        for frame in traceback.extract_tb(error.__traceback__):
            column = getattr(frame, "colno", None)
            where = Place(
                frame.filename, frame.lineno or 0, 0 if column is None else column + 1, frame.name
            )
            walked.append(where)
        own = [place for place in walked if self._code.is_user(place.path)]
        if not told:
            return own
        innermost = told[-1]
        exact = [
            place for place in own if (place.path, place.line) == (innermost.path, innermost.line)
        ]
        return [*own, *told[:-1], exact[-1] if exact else innermost]

    def _told(self, message: str) -> list[Place]:
        """The frames that a message itself lists, outermost first."""
        found = _FRAME.findall(message)
        return [Place(self._code.whole(path), int(line), 0, name) for path, line, name in found]

    def _pick(self, frames: Sequence[Place]) -> tuple[Place | None, Place | None]:
        """(innermost line of the code under test, innermost line of the project if another)."""
        user = [frame for frame in frames if self._code.is_user(frame.path)]
        if not user:
            return None, None
        place = user[-1]
        project = [frame for frame in user if self._code.is_project(frame.path)]
        caller = project[-1] if project and not self._code.is_project(place.path) else None
        return place, caller


def operations(graph: Any) -> Iterator[Any]:
    """Every operation of a graph and of the functions it calls: branches, loop bodies, nested tf.functions."""
    for inner in graphs(graph):
        yield from inner.get_operations()


def graphs(graph: Any) -> Iterator[Any]:
    """A graph and those of the functions it calls, directly or not, each once."""
    seen: set[str] = set()
    waiting = [graph]
    while waiting:
        current = waiting.pop(0)
        yield current
        for op in current.get_operations():
            for name in _functions_of(op):
                inner = None if name in seen else _graph_of(current, graph, name)
                seen.add(name)
                if inner is not None:
                    waiting.append(inner)


def _functions_of(op: Any) -> Iterable[str]:
    for key, attribute in op.node_def.attr.items():
        if key in ("_gradient_op_type", "api_implements"):
            continue
        if attribute.HasField("func"):
            yield attribute.func.name
        for function in attribute.list.func:
            yield function.name


def _graph_of(current: Any, outermost: Any, name: str) -> Any:
    for holder in (current, outermost):
        try:
            function = holder._get_function(name)
        except (AttributeError, ValueError, KeyError):
            continue
        inner = getattr(function, "graph", None)
        if inner is not None:
            return inner
    return None


def _blamed_by_words(message: str, ops: dict[str, list[Any]]) -> Any:
    """The operation that a message without a node is about: the loop whose gradient has no bound."""
    if "fixed tensor list size" not in message:
        return None
    loops = [op for same in ops.values() for op in same if op.type in ("While", "StatelessWhile")]
    # The forward loop comes before the gradient's own.
    return loops[0] if loops else None


def _by_name(graph: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for op in operations(graph):
        found.setdefault(op.name, []).append(op)
    return found


def _suspects(message: str) -> list[_Suspect]:
    first = _gist(message)
    unsupported = []
    for match in _NO_KERNEL.finditer(message):
        nodes = _NODE.findall(match[3])
        function = next((name for kind, name in nodes if kind == "function_node"), "")
        types = " ".join(match[4].split())
        words = f"{match[1]} has no XLA kernel" + (
            f" for these types: {types[:160]}" if types else ""
        )
        unsupported.append(
            _Suspect(words, match[1], nodes[-1][1].strip() if nodes else "", function)
        )
    if unsupported:
        return unsupported
    nodes = [name.strip() for kind, name in _NODE.findall(message) if kind == "node"]
    nodes += _BRACKETED.findall(message)
    names = list(dict.fromkeys(node for node in nodes if node))
    return [_Suspect(first, node=name) for name in names] or [_Suspect(first)]


def _match(suspect: _Suspect, ops: dict[str, list[Any]]) -> Any:
    found = ops.get(suspect.node, [])
    if (
        not found and suspect.node
    ):  # inlined calls put their own name first: StatefulPartitionedCall/x/Where
        tails = [name for name in ops if suspect.node.endswith("/" + name)]
        found = ops[max(tails, key=len)] if tails else []
    if suspect.function:
        # `__inference_step_12` names the graph `step`.
        stem = re.sub(r"_\d+$", "", suspect.function.split("__inference_")[-1])
        found = [op for op in found if stem in getattr(op.graph, "name", "")] or found
    if not found and suspect.op:
        found = [op for same in ops.values() for op in same if op.type == suspect.op]
    return found[0] if found else None


def _gist(message: str) -> str:
    """The sentence that says what is wrong, out of a message with stacks and locations around it."""
    # Keras tells of a layer that fails, and then of the reason.
    text = message.partition("Error encountered:")[2] or message
    if "in user code:" in text:
        # The error itself follows the frames: `    OperatorNotAllowedInGraphError: Using a symbolic ...`.
        tail = [
            line.strip()
            for line in text.splitlines()
            if re.match(r"\s+[A-Z]\w*(?:Error|Exception)\b: ", line)
        ]
        text = re.sub(r"^[A-Z]\w*(?:Error|Exception)\b: ", "", tail[-1]) if tail else text
    roots = re.findall(r"^\s*\(0\)\s+(.*)$", text, re.M)
    lines = [line.strip() for line in ([roots[0]] if roots else text.splitlines())]
    telling = [line for line in lines if line and not line.startswith(_EMPTY_WORDS)]
    line = telling[0] if telling else ""
    line = re.sub(r"\{\{function_node [^}]*\}\}", "", line)
    line = re.sub(r"^Failed getting HLO text: '", "", line)
    line = re.sub(r" You can attempt the following resolutions.*", "", line)
    sentence = re.match(r".{40,}?\.(?=\s[A-Z])", line)
    return sentence[0] if sentence else line[:400]


def _without_doubles(failures: Iterable[Failure]) -> list[Failure]:
    return list(dict.fromkeys(failures))


class _Calls:
    """Finds the column of the call that made an operation. Each file is parsed once."""

    def __init__(self) -> None:
        self._by_file: dict[str, list[ast.Call]] = {}

    def with_column(self, place: Place, op_type: str) -> Place:
        """`place` with the column of the call on that line whose name fits the operation, or of the only call there."""
        wanted = op_type.lower().removesuffix("v2").removesuffix("v3")
        calls = [
            call
            for call in self._in(place.path)
            if call.lineno <= place.line <= (call.end_lineno or 0)
        ]
        fitting = [call for call in calls if _called(call).replace("_", "").lower() == wanted]
        chosen = fitting or (calls if len(calls) == 1 else [])
        if not chosen:
            return place
        text = linecache.getline(place.path, chosen[0].lineno)
        column = len(text.encode()[: chosen[0].col_offset].decode("utf-8", "ignore")) + 1
        return Place(place.path, place.line, column, place.function)

    def _in(self, path: str) -> list[ast.Call]:
        if path not in self._by_file:
            try:
                tree = ast.parse("".join(linecache.getlines(path)))
            except SyntaxError:
                tree = ast.Module(body=[], type_ignores=[])
            self._by_file[path] = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        return self._by_file[path]


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""
