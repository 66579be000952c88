"""From what came of a package's programs to labels of its functions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from labels import CALLS, COMPATIBLE, COSTLY, DIFFERS, INCOMPATIBLE, Label, kind_of, spans
from places import Function, Sources

Record = dict[str, Any]


def merged(records: Iterable[Record], sources: Sources) -> list[Label]:
    """One label per function and fact; a function that only calls an offender is labelled as that alone."""
    done = [record for record in records if "label" in record]
    offending = _first(_offending(done, sources))
    costly = _first(_costly(done, sources))
    differing = _first(_differing(done, sources))
    differ = {label.function for label in differing}
    # What gives other numbers for some inputs is not right for any.
    compatible = [c for c in _compatible(done, sources) if c.function not in differ]
    blamed = {label.function for label in offending}
    known = blamed | {label.function for label in compatible}
    calling = _first(label for label in _calling(done, sources) if label.function not in known)
    known |= {label.function for label in calling}
    differing = [label for label in differing if label.function not in known]
    costly = [
        c for c in costly if (c.function, c.line) not in {(o.function, o.line) for o in offending}
    ]
    return [*offending, *costly, *compatible, *calling, *differing]


def _first(labels: Iterable[Label]) -> list[Label]:
    """One label per function, line and word: that of the first program."""
    kept: dict[tuple[Any, ...], Label] = {}
    for label in labels:
        kept.setdefault((label.function, label.label, label.line), label)
    return list(kept.values())


def _made(function: Function, label: str, record: Record, **fact: Any) -> Label:
    known = {"line": 0, "kind": "-", "stage": record["stage"] or "-", "error": "-", "lines": ""}
    return Label(
        function.path, function.name, function.first, function.last, label,
        program=record["program"], **{**known, **fact},
    )  # fmt: skip


def _offending(records: Iterable[Record], sources: Sources) -> Iterator[Label]:
    for record in records:
        if record["label"] not in (INCOMPATIBLE, COSTLY):
            continue
        for offender in record.get("offenders", ()):
            yield from _at(record, offender, sources)


def _at(record: Record, offender: Record, sources: Sources) -> Iterator[Label]:
    stack = offender["stack"] or _sole_conditional(record)
    if not stack:
        return
    path, line = stack[-1]
    function = sources.function(path, line)
    if function is None:
        return
    if not _is_telling(function, offender["error"]) or _is_guessed(record, sources.name):
        return
    error = " ".join(offender["error"].split())[:160]
    kind = kind_of(offender["error"], record["stage"])
    yield _made(function, record["label"], record, line=line, kind=kind, error=error)


def _sole_conditional(record: Record) -> Any:
    """The one conditional of a call whose gradient fails at an operation without a stack."""
    if record["stage"] != "gradient":
        return None
    stacks = [stack for stack in record.get("conditionals", ()) if stack]
    return stacks[0] if len({tuple(stack[-1]) for stack in stacks}) == 1 else None


def _is_telling(function: Function, error: str) -> bool:
    """Whether the failure is the function's, not that of calling it outside of its place."""
    if "singleton tf.Variable" in error or "non-first" in error:
        # Functions that build a model make variables each time; layers must not.
        return function.name.endswith((".call", ".__call__"))
    # What a package leaves behind in a graph of TensorFlow 1 (`disable_eager_execution` in one of its modules) is nobody's function.
    left_behind = "cannot be accessed from here, because it was defined in" in error
    return not (
        left_behind or "don't all match" in error or "must return zero or more Tensors" in error
    )


_FOUND_FUNCTION = re.compile(r"(.*\.)?[a-z_]\w*")


def _is_guessed(record: Record, package: str) -> bool:
    """Whether tracing fails in a function or method that was found, not written for: a tensor may have been made up for what
    is a setting. The inputs of Keras layers, losses and metrics are tensors for sure.
    """
    name = record["program"].split("(")[0].split(" ")[0]
    was_found = name.startswith(f"{package}.") and _FOUND_FUNCTION.fullmatch(name) is not None
    return was_found and record["stage"] == "trace"


def _costly(records: Iterable[Record], sources: Sources) -> Iterator[Label]:
    for record in records:
        for stack in record.get("bounded", ()):
            function = sources.function(*stack[-1]) if stack else None
            if function is not None:
                yield _made(
                    function, COSTLY, record, line=stack[-1][1], kind="bounded", stage="bounded"
                )


def _compatible(records: Iterable[Record], sources: Sources) -> list[Label]:
    """The functions that ran in programs that compile without knowing the values of arguments.

    Where a value is built in, the compiler names the first place that needs it, and others may follow.
    """
    lines: dict[Function, set[int]] = defaultdict(set)
    programs: dict[Function, Record] = {}
    for record in records:
        if record["label"] == COMPATIBLE or record["stage"] == "bounded":
            for function, line in _ran(record, sources):
                lines[function].add(line)
                programs.setdefault(function, record)
    return [
        _made(function, COMPATIBLE, programs[function], stage="-", lines=spans(ran))
        for function, ran in lines.items()
    ]


def _ran(record: Record, sources: Sources) -> Iterator[tuple[Function, int]]:
    for path, lines in record["lines"].items():
        for line in lines:
            function = sources.function(path, line)
            # The line of `def` runs when an inner function is made, not when it is called.
            if (function is not None and line > function.first) or (
                function is not None and function.first == function.last
            ):
                yield function, line


def _calling(records: Iterable[Record], sources: Sources) -> Iterator[Label]:
    for record in records:
        if record["label"] != INCOMPATIBLE or _is_guessed(record, sources.name):
            continue
        for offender in record.get("offenders", ()):
            for path, line in offender["stack"][:-1]:
                function = sources.function(path, line)
                if function is not None:
                    yield _made(function, CALLS, record)


def _differing(records: Iterable[Record], sources: Sources) -> Iterator[Label]:
    for record in records:
        if record["label"] == DIFFERS:
            for function, _ in _ran(record, sources):
                yield _made(function, DIFFERS, record)
