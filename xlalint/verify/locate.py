"""From an error of TensorFlow or XLA to the user's file, line and column, with the stack of the user's frames."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xlalint.verify import constants, drafting, forward, suspects
from xlalint.verify.columns import Calls
from xlalint.verify.graphs import operations
from xlalint.verify.layersites import LayerSites
from xlalint.verify.opstack import UserCode
from xlalint.verify.records import IN_A_GRADIENT, OUT_OF_REACH, Failure, Place

_FRAME = re.compile(r'File "([^"]+)", line (\d+), in ([^\s*]+)')
_NOT_CONSTANT = re.compile(r"Input (\d+) to node .*? must be a compile-time constant", re.S)
# Behind these words TensorFlow lists the frames in which a tensor that is out of reach was made.
_MADE = "was defined here:"
_MOST_FRAMES = 12

# Words by which messages of TensorFlow 2.12 to 2.21 are told apart.
_KINDS = (
    (OUT_OF_REACH, ("cannot be accessed from FuncGraph(",)),
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
        self._calls = Calls()

    def python_error(self, stage: str, error: BaseException) -> Failure:
        """An exception raised while Python ran: the innermost frame of the user's, AutoGraph's translation included."""
        message = text_of(error)
        stack = self._stack(self._frames(error))
        suspect = suspects.suspects(message)[0]
        told = suspect.message if suspect.op else _named(error, suspects.gist(message))
        kind = kind_of(message, "python")
        if kind == OUT_OF_REACH:
            told += self._used(error, message)
        return stack.failure(stage, kind, told, suspect.op)

    def _used(self, error: BaseException, message: str) -> str:
        """In words, the line that uses a tensor which is out of reach there."""
        frames = traceback.extract_tb(error.__traceback__)
        walked = [Place(one.filename, one.lineno or 0) for one in frames]
        # AutoGraph's list is about the user's code, and comes after the frames of what it made of that.
        using = [*walked, *self._told(message.partition(_MADE)[0])]
        user = [place for place in using if self._code.is_user(place.path)]
        return f" Line {user[-1].line} uses it" if user else ""

    def compiler_error(self, stage: str, error: BaseException, graph: Any) -> list[Failure]:
        """An error from lowering or compiling `graph`: one failure per operation that it names."""
        return list(dict.fromkeys(one.failure for one in self.blamed(stage, error, graph)))

    def blamed(
        self, stage: str, error: BaseException, graph: Any, names: Sequence[str] = ()
    ) -> list[Blame]:
        """The operations that an error from lowering or compiling `graph` names, each with its failure.

        `names` are those of the program's arguments.
        """
        message = str(error)
        ops = _by_name(graph)
        kind = kind_of(message, "compiler")
        found = []
        for suspect in suspects.suspects(message):
            op = suspects.match(suspect, ops) or suspects.blamed_by_words(message, ops)
            stack = self._blamed_stack(op, suspect, ops, message)
            type_ = suspect.op or (op.type if op is not None else "")
            failure = stack.failure(stage, kind, suspect.message, type_)
            needs = _NOT_CONSTANT.search(message)
            if op is not None and needs is not None and int(needs[1]) < len(op.inputs):
                failure = self._not_constant(failure, op, int(needs[1]), graph, names)
            found.append(Blame(failure, op))
        return found

    def _blamed_stack(
        self, op: Any, suspect: suspects.Suspect, ops: Mapping[str, list[Any]], message: str
    ) -> _Stack:
        if op is not None:
            return self._stack_of(op)
        # A tape's own copy of a function holds the gradient, which names the operation that it belongs to.
        source = suspects.differentiated(suspect, ops)
        if source is not None:
            return replace(self._stack_of(source), gradient_of=source.type)
        return self._stack(self._told(message))

    def without_kernel(self, stage: str, op: Any) -> Blame:
        """The failure of an operation that is known to have no XLA kernel."""
        stack = self._stack_of(op)
        return Blame(stack.failure(stage, "no-kernel", f"{op.type} has no XLA kernel", op.type), op)

    def answering(self) -> AbstractContextManager[list[Failure]]:
        """See `drafting.answering`."""
        return drafting.answering(self._code.is_user)

    def missing_kernels(self, stage: str, ops: Iterable[Any]) -> list[Failure]:
        """A failure for each operation, known to have no XLA kernel."""
        return list(dict.fromkeys(self.without_kernel(stage, op).failure for op in ops))

    def is_user(self, path: str) -> bool:
        """Is a file of the code under test?"""
        return self._code.is_user(path)

    def of_users(self, lines: Mapping[str, list[int]]) -> dict[str, list[int]]:
        """What of `lines`, by path, is in the code under test."""
        return {path: numbers for path, numbers in lines.items() if self._code.is_user(path)}

    def in_program(self, op_name: str, path: str, line: int) -> Place | None:
        """The user's line of what a compiled program says of an instruction: its own, or that of the Keras layer which its
        scope names; None for neither."""
        if path and self._code.is_user(path):
            return Place(path, line)
        return self._layers.resolve(op_name)

    def line_of(self, op: Any) -> tuple[str, int] | None:
        """The path and line that made an operation: the innermost of the code under test."""
        stack = op.traceback or ()  # TensorFlow's own copies of functions have none
        for index in range(len(stack) - 1, -1, -1):
            if self._code.is_user(stack[index].filename):
                return stack[index].filename, stack[index].lineno
        return None

    def place_of(self, op: Any) -> Place | None:
        """The line of the code under test that made an operation, or the one that it is the gradient of."""
        return self._stack_of(op).place

    def _not_constant(
        self, failure: Failure, op: Any, index: int, graph: Any, names: Sequence[str]
    ) -> Failure:
        """Name the argument, and where its value comes from."""
        origin = constants.origin(graph, op, index, names)
        made = [self._in_words(one) for one in origin.made_by[:1]]
        roots = [f"from {_listed(origin.roots[:3])}"] if origin.roots else []
        came = ", computed ".join(part for part in (*made, *roots) if part)
        message = f"`{origin.argument}` of {op.type} must be a compile-time constant"
        source = forward.original_of(op)
        backward = "" if source is op else f"{IN_A_GRADIENT}{source.type}"
        message = (f"{message}, and is {came}" if came else message) + backward
        return replace(failure, message=message, op=op.type)

    def _in_words(self, op: Any) -> str:
        """The call that made an operation, as the user wrote it, with its line."""
        place = self._stack_of(op).place
        if place is None:
            return f"what {op.type} gives"
        written = self._calls.text(place, op.type)
        what = f"`{written}`" if written else f"what {op.type} gives"
        return f"{what} (line {place.line})"

    def _stack_of(self, op: Any) -> _Stack:
        source = forward.original_of(op)
        frames = [
            Place(frame.filename, frame.lineno, 0, frame.name) for frame in source.traceback or ()
        ]
        stack = self._stack(frames)
        site = self._layers.resolve(source.name)
        if site is not None:
            stack = _Stack(site, stack.place, (*stack.frames, site))
        elif stack.place is not None:
            exact = self._calls.with_column(stack.place, source.type)
            stack = replace(stack, place=exact, frames=(*stack.frames[:-1], exact))
        return replace(stack, gradient_of=source.type if source is not op else "")

    def _frames(self, error: BaseException) -> list[Place]:
        """Outermost first. What AutoGraph tells in the message comes last: it stands for generated code's frames."""
        told = [place for place in self._told(text_of(error)) if self._code.is_user(place.path)]
        walked = []
        for frame in traceback.extract_tb(error.__traceback__):
            column = getattr(frame, "colno", None)
            where = Place(
                frame.filename, frame.lineno or 0, 0 if column is None else column + 1, frame.name
            )
            walked.append(where)
        if isinstance(error, SyntaxError) and error.filename:
            walked.append(Place(error.filename, error.lineno or 0, error.offset or 0, "<module>"))
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

    def _stack(self, frames: Sequence[Place]) -> _Stack:
        """The frames of the code under test; the innermost one, and that of the project where it is another."""
        user = [frame for frame in frames if self._code.is_user(frame.path)]
        if not user:
            return _Stack(None, None, ())
        place = user[-1]
        project = [frame for frame in user if self._code.is_project(frame.path)]
        caller = project[-1] if project and not self._code.is_project(place.path) else None
        return _Stack(place, caller, tuple(_with_text(one) for one in _distinct(user)))


@dataclass(frozen=True, slots=True)
class Blame:
    """A failure, and the operation of the graph that failed where it is known."""

    failure: Failure
    op: Any


@dataclass(frozen=True, slots=True)
class _Stack:
    place: Place | None
    caller: Place | None
    frames: tuple[Place, ...]
    gradient_of: str = ""

    def failure(self, stage: str, kind: str, message: str, op: str) -> Failure:
        return Failure(
            stage=stage,
            kind=kind,
            message=f"{message.rstrip('.')}{IN_A_GRADIENT}{self.gradient_of}"
            if self.gradient_of
            else message,
            op=op,
            place=None if self.place is None else _with_text(self.place),
            called_from=self.caller,
            frames=self.frames[-_MOST_FRAMES:],
        )


def _distinct(frames: Iterable[Place]) -> list[Place]:
    """Each line once: a decorator's and AutoGraph's own calls tell it twice, and so does an error that repeats its stack."""
    found: dict[tuple[str, int], Place] = {}
    for frame in frames:
        found.setdefault((frame.path, frame.line), frame)
    return list(found.values())


def _with_text(place: Place) -> Place:
    """With the line's text where only this process has it: code that was generated, or typed in."""
    if place.text or Path(place.path).is_file():
        return place
    return replace(place, text=linecache.getline(place.path, place.line).strip())


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _by_name(graph: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for op in operations(graph):
        found.setdefault(op.name, []).append(op)
    return found


def text_of(value: object) -> str:
    """`str(value)`; some exceptions of programs fail at that."""
    try:
        return str(value)
    except Exception as error:
        return f"(its text cannot be had: {type(error).__name__})"


def _named(error: BaseException, text: str) -> str:
    name = type(error).__name__
    return f"{name}: {text}" if text else name
