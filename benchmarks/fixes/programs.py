"""Programs made at random of what people write: small tensor functions with something that XLA cannot take as it stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from benchmarks.fixes.idioms import (
    AS_IT_IS,
    BOOLEANS,
    CONVERTED,
    EITHER,
    FAMILIES,
    FLOATS,
    NUMBER,
    TRUTH,
    WHOLE,
    WHOLES,
    Idiom,
)

ROWS, COLUMNS = 4, 3
_CONSTANTS = ("0.0", "0.5", "1.0", "2.0", "-1.0", "0.1")
_COMMENTS = ("# as in the paper", "# TODO: faster", "# the masked part")
_HOLE = re.compile(r"([@$])([a-zA-Z]\d?)")
_KINDS = {"F": FLOATS, "N": NUMBER, "B": BOOLEANS, "T": TRUTH, "W": WHOLE}


@dataclass(frozen=True, slots=True)
class Made:
    """A module with one function, or layer, named `subject`. `specs` are (dtype, shape) of its arguments, `names` theirs.

    `is_open`: the program says nothing of how many rows its arguments have.
    """

    text: str
    specs: tuple[tuple[str, tuple[int, ...]], ...]
    names: tuple[str, ...]
    is_open: bool


@dataclass(frozen=True, slots=True)
class _Frame:
    """What stands around the body, and who runs its Python."""

    head: tuple[str, ...]
    tail: tuple[str, ...]
    indent: str
    runs: str
    is_open: bool = False


@dataclass(slots=True)
class _Writer:
    dice: Random
    rank: int
    names: dict[str, str] = field(default_factory=dict)
    count: int = 0
    # What idioms have assigned, in order.
    written: list[str] = field(default_factory=list)

    def known(self, kind: str) -> list[str]:
        return [name for name, one in self.names.items() if one == kind]

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    # Expressions

    def value(self, kind: str, depth: int = 1) -> str:
        """An expression of a kind."""
        names = self.known(kind)
        if names and (depth <= 0 or self.dice.random() < 0.35):
            return self.dice.choice(names)
        makers: dict[str, Callable[[int], str]] = {
            FLOATS: self._floats,
            NUMBER: self._number,
            BOOLEANS: self._booleans,
            TRUTH: self._truth,
            WHOLE: self._whole,
        }
        return makers[kind](depth - 1)

    def _floats(self, depth: int) -> str:
        one = self.value(FLOATS, depth)
        other = self.value(FLOATS, depth)
        constant = self.dice.choice(_CONSTANTS)
        return self.dice.choice(
            (
                f"{one} * {constant}",
                f"({one} + {other})",
                f"({one} - {other})",
                f"{one} / {other}",
                f"tf.nn.relu({one})",
                f"tf.abs({one})",
                f"tf.sqrt(tf.abs({one}))",
                f"tf.math.log({one})",
                f"tf.sqrt({one})",
                f"tf.square({one})",
                f"tf.tanh({one})",
                f"tf.exp(-tf.abs({one}))",
                f"{one} / {self.value(NUMBER, depth)}",
                f"{one} * {self.value(NUMBER, depth)}",
                f"tf.maximum({one}, {constant})",
                f"tf.where({self.value(BOOLEANS, depth)}, {one}, {other})",
                f"tf.cast({self.value(BOOLEANS, depth)}, tf.float32)",
            )
        )

    def _number(self, depth: int) -> str:
        reduced = f"tf.reduce_{self._reduction()}({self.value(FLOATS, depth)})"
        made = [reduced, reduced]
        if depth >= 0:
            made.append(f"({self.value(NUMBER, depth)} + {self.dice.choice(_CONSTANTS)})")
            made.append(f"tf.cast({self.value(WHOLE, depth)}, tf.float32)")
        return self.dice.choice(made)

    def _reduction(self) -> str:
        return self.dice.choice(("sum", "mean", "max", "min"))

    def _booleans(self, depth: int) -> str:
        one = self.value(FLOATS, depth)
        made = [
            f"({one} > {self.dice.choice(_CONSTANTS)})",
            f"({one} > {self.dice.choice(_CONSTANTS)})",
            f"({one} < {self.value(FLOATS, depth)})",
            f"tf.math.is_finite({one})",
        ]
        if depth >= 0:
            made.append(f"~{self.value(BOOLEANS, depth)}")
            made.append(f"({self.value(BOOLEANS, depth)} & {self.value(BOOLEANS, depth)})")
        return self.dice.choice(made)

    def _truth(self, depth: int) -> str:
        sign = self.dice.choice((">", "<", ">=", "<="))
        made = [
            f"{self.value(NUMBER, depth)} {sign} {self.dice.choice(_CONSTANTS)}",
            f"{self.value(NUMBER, depth)} {sign} {self.dice.choice(_CONSTANTS)}",
            f"tf.reduce_any({self.value(BOOLEANS, depth)})",
            f"tf.reduce_all({self.value(BOOLEANS, depth)})",
            f"{self.value(WHOLE, depth)} {sign} 2",
        ]
        if depth >= 0:
            made += [
                f"{self.value(NUMBER, depth)} {sign} {self.value(NUMBER, depth)}",
                f"not {self.value(TRUTH, depth)}",
                f"({self.value(TRUTH, depth)} and {self.value(TRUTH, depth)})",
                f"({self.value(TRUTH, depth)} or {self.value(TRUTH, depth)})",
            ]
        return self.dice.choice(made)

    def _whole(self, depth: int) -> str:
        made = ["tf.reduce_max(k)", "tf.reduce_sum(k)", "tf.reduce_min(k)"]
        if depth >= 0:
            made.append(f"tf.math.count_nonzero({self.value(BOOLEANS, depth)}, dtype=tf.int32)")
            made.append(f"({self.value(WHOLE, depth)} + 1)")
        return self.dice.choice(made)

    # Statements

    def plain(self) -> list[str]:
        """An assignment that XLA takes."""
        kind = self.dice.choice((FLOATS, FLOATS, NUMBER, BOOLEANS))
        made, old = self.value(kind, 2), self.known(kind)
        name = self.dice.choice(old) if old and self.dice.random() < 0.3 else self.fresh(kind[0])
        self.names[name] = kind
        return self._commented([f"{name} = {made}"])

    def idiom(self, one: Idiom) -> list[str]:
        """The template filled; what it defines is known afterwards."""
        bound: dict[str, str] = {}

        def fill(hole: re.Match[str]) -> str:
            sign, what = hole.groups()
            if sign == "@":
                if what not in bound:
                    bound[what] = self.fresh(what)
                return bound[what]
            if what[0] == "f":
                free = [name for name in self.known(FLOATS) if name not in bound.values()]
                if what not in bound:
                    bound[what] = self.dice.choice(free or self.known(FLOATS))
                return bound[what]
            if what in _KINDS:
                return self.value(_KINDS[what])
            if what == "C":
                return self.dice.choice(_CONSTANTS)
            return self._reduction() if what == "R" else self.dice.choice(("any", "all"))

        lines = [_HOLE.sub(fill, line) for line in one.lines]
        self.names |= {bound[name]: kind for name, kind in one.defines.items()}
        self.written += [bound[what] for what in bound if what in one.defines or what == "f1"]
        return self._commented(lines)

    def _commented(self, lines: list[str]) -> list[str]:
        if self.dice.random() < 0.1:
            lines = [self.dice.choice(_COMMENTS), *lines]
        if self.dice.random() < 0.1:
            lines = [f"{lines[0]}  {self.dice.choice(_COMMENTS)}", *lines[1:]]
        return lines

    def returned(self) -> str:
        """What the idioms made, and no more: each result is computed, differentiated and compiled."""
        found = dict.fromkeys(name for name in reversed(self.written) if self._is_number(name))
        return f"return {', '.join(list(found)[:2]) or 'x'}"

    def _is_number(self, name: str) -> bool:
        return self.names.get(name) in (FLOATS, NUMBER)


def made(dice: Random) -> Made:
    """A program. The same dice make the same program."""
    rank = dice.choice((1, 2))
    shape = (ROWS, COLUMNS)[:rank]
    # Most have one thing to mend: then nothing else keeps the function from being compiled.
    count = dice.choice((1, 1, 1, 2))
    chosen = [_drawn(dice, rank) for _ in range(count)]
    wanted = {one.where for one in chosen} - {EITHER}
    runs = wanted.pop() if wanted else dice.choice((AS_IT_IS, CONVERTED))
    chosen = [one for one in chosen if one.where in (EITHER, runs)]
    # Only the last may return.
    chosen = [one for one in chosen if not one.is_last] + [one for one in chosen if one.is_last][:1]
    frame = _framed(dice, runs, shape)
    writer = _Writer(dice, rank, {"x": FLOATS, "y": FLOATS, "k": WHOLES})
    body = [line for _ in range(dice.choice((0, 1, 1))) for line in writer.plain()]
    for one in chosen:
        body += writer.idiom(one)
    if not (chosen and chosen[-1].is_last):
        body += [line for _ in range(dice.choice((0, 0, 1))) for line in writer.plain()]
        body.append(writer.returned())
    lines = (*frame.head, *(frame.indent + line for line in body), *frame.tail, "")
    text = "\n".join(("import tensorflow as tf", "", "", *lines))
    specs = (("float32", shape), ("float32", shape), ("int32", (ROWS,)))
    return Made(text, specs, ("x", "y", "k"), frame.is_open)


def _drawn(dice: Random, rank: int) -> Idiom:
    [family] = dice.choices(FAMILIES, (4, 2, 3, 1))
    return dice.choice([one for one in family if one.rank in (0, rank)])


def _framed(dice: Random, runs: str, shape: Sequence[int]) -> _Frame:
    sizes = ", ".join(str(size) for size in shape)
    specs = (
        f"[tf.TensorSpec([{sizes}]), tf.TensorSpec([{sizes}]), tf.TensorSpec([{ROWS}], tf.int32)]"
    )
    if runs == CONVERTED:
        return dice.choice(
            (
                _function("@tf.function(jit_compile=True)", True),
                _function(f"@tf.function(jit_compile=True, input_signature={specs})"),
                _function(f"@tf.function(jit_compile=True, input_signature={specs})"),
                _method(f"    @tf.function(jit_compile=True, input_signature={specs})"),
            )
        )
    return dice.choice(
        (
            _function("@tf.function(jit_compile=True, autograph=False)", True),
            _function(f"@tf.function(jit_compile=True, autograph=False, input_signature={specs})"),
            _function(f"@tf.function(jit_compile=True, autograph=False, input_signature={specs})"),
            _Frame(
                (
                    "class Subject(tf.keras.layers.Layer):",
                    "    def call(self, x: tf.Tensor, y: tf.Tensor, k: tf.Tensor):",
                ),
                ("", "", "subject = Subject()"),
                "        ",
                AS_IT_IS,
                True,
            ),
        )
    )


def _function(decorator: str, is_open: bool = False) -> _Frame:
    head = (decorator, "def subject(x: tf.Tensor, y: tf.Tensor, k: tf.Tensor):")
    return _Frame(head, (), "    ", EITHER, is_open)


def _method(decorator: str) -> _Frame:
    head = ("class Subject(tf.Module):", decorator, "    def __call__(self, x, y, k):")
    return _Frame(head, ("", "", "subject = Subject()"), "        ", CONVERTED)
