"""Labels: what XLA makes of each function of a package, one tab-separated line per function and fact."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

COMPATIBLE, INCOMPATIBLE, COSTLY = "compatible", "incompatible", "costly"
# Compiles, but to other numbers than eager ones: nothing is said of its lines.
DIFFERS = "differs"
# Fails only because a function that it calls does.
CALLS = "calls an offender"

_KINDS = (
    ("printing", r"kernel: (Print|StringFormat|\w*Summary)"),
    ("op", r"no XLA kernel|No registered|not supported on .*JIT|Detected unsupported"),
    (
        "size",
        r"compile-time constant|must be a constant|known at compile|statically known|static shape|fixed-size|dynamic sized|dynamic_reshape|max_num_elements|TensorListReserve",
    ),
    (
        "python value",
        r"\.numpy|NumPy call|numpy\(\)|has no attribute 'numpy'|cannot be interpreted as an integer|__array__|"
        r"SymbolicTensor|convert a symbolic|EagerTensor|to_list|only be used in eager|eager execution|Iterating over|not iterable|__int__|__float__",
    ),
    (
        "control",
        r"as a Python bool|OperatorNotAllowed|must also be initialized|branch|branches|StagingError|set to None|loop body|"
        r"'(if|else|while|for|break)'|inconsistent|shape invariant|return a value|UndefinedReturn|undefined",
    ),
    ("variable", r"singleton tf.Variable|Variable on the non-first|create variables"),
    ("dtype", r"dtype|DT_|not a compatible type|element type"),
    ("shape", r"[Ss]hape|dimension|rank|[Ii]ncompatible"),
)


@dataclass(frozen=True, slots=True, order=True)
class Label:
    """One fact about the function `name`, written from line `first` to `last` of `path`.

    `line` is the offending or costly line, 0 where the fact is of the whole function; `kind` and `stage` say what failed;
    `lines` are the lines that ran while a program that compiles was traced, as `3-5,9`.
    """

    path: str
    name: str
    first: int
    last: int
    label: str
    line: int
    kind: str
    stage: str
    program: str
    error: str
    lines: str

    def __str__(self) -> str:
        return "\t".join(map(str, astuple(self)))

    @property
    def function(self) -> tuple[str, str, int]:
        """What tells this function from others."""
        return self.path, self.name, self.first


_HEADER = "\t".join(field.name for field in fields(Label))


def read(path: Path) -> list[Label]:
    """The labels of a file.

    Raises:
        ValueError: a line that is not a label.
    """
    labels = []
    for text in path.read_text(encoding="utf-8").splitlines()[1:]:
        parts = text.split("\t")
        if len(parts) != len(fields(Label)):
            raise ValueError(f"{path}: not a label: {text!r}")
        file, name, first, last, label, line, *rest = parts
        labels.append(Label(file, name, int(first), int(last), label, int(line), *rest))
    return labels


def write(path: Path, labels: Iterable[Label]) -> None:
    """Write `labels`, sorted, replacing what was there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{line}\n" for line in (_HEADER, *sorted(labels)))
    path.write_text(text, encoding="utf-8")


def kind_of(error: str, stage: str) -> str:
    """A short name for the kind of failure, by the words of the error."""
    if stage in ("gradient", "numbers"):
        return stage
    if stage.startswith("crash"):
        return "crash"
    return next((kind for kind, words in _KINDS if re.search(words, error)), "other")


def spans(lines: Iterable[int]) -> str:
    """`3-5,9` of 3, 4, 5 and 9."""
    ends: list[list[int]] = []
    for line in sorted(set(lines)):
        if ends and ends[-1][1] == line - 1:
            ends[-1][1] = line
        else:
            ends.append([line, line])
    return ",".join(f"{a}-{b}" if a < b else str(a) for a, b in ends)


def lines_of(text: str) -> set[int]:
    """3, 4, 5 and 9 of `3-5,9`."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found
