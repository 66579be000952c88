"""Programs made at random of what people write: small tensor functions with branches, loops, masks, reductions and sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

# Kinds of values: floats and booleans of the shape of `x`, scalars, whole numbers, and floats of which a mask left some.
FLOATS, NUMBER, BOOLEANS, TRUTH, WHOLES, WHOLE, SOME = (
    "floats number booleans truth wholes whole some".split()
)

ROWS, COLUMNS = 4, 3
_CONSTANTS = ("0.0", "0.5", "1.0", "2.0", "-1.0", "0.1")
_COMMENTS = ("# as in the paper", "# TODO: faster", "# the masked part")


@dataclass(frozen=True, slots=True)
class Made:
    """A module with one function, or layer, named `subject`. `specs` are (dtype, shape) of its arguments."""

    text: str
    subject: str
    specs: tuple[tuple[str, tuple[int, ...]], ...]
    is_layer: bool


@dataclass(slots=True)
class _Writer:
    dice: Random
    shape: tuple[int, ...]
    names: dict[str, str] = field(default_factory=dict)
    is_layer: bool = False
    count: int = 0

    def known(self, kind: str) -> list[str]:
        return [name for name, one in self.names.items() if one == kind]

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def value(self, kind: str, depth: int = 2) -> str:
        """An expression of a kind."""
        names = self.known(kind)
        if names and (depth <= 0 or self.dice.random() < 0.35):
            return self.dice.choice(names)
        makers: dict[str, Callable[[int], str]] = {
            FLOATS: self._floats,
            NUMBER: self._number,
            BOOLEANS: self._booleans,
            TRUTH: self._truth,
            WHOLES: lambda depth: "k",
            WHOLE: self._whole,
            SOME: self._some,
        }
        return makers[kind](depth - 1)

    def _floats(self, depth: int) -> str:
        if depth < 0:
            return self.dice.choice(self.known(FLOATS))
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
                f"tf.square({one})",
                f"tf.exp(-tf.abs({one}))",
                f"{one} / {self.value(NUMBER, depth)}",
                f"{one} * {self.value(NUMBER, depth)}",
                f"tf.where({self.value(BOOLEANS, depth)}, {one}, {other})",
                f"tf.cast({self.value(BOOLEANS, depth)}, tf.float32)",
            )
        )

    def _number(self, depth: int) -> str:
        whole = self.value(FLOATS, depth)
        reduction = self.dice.choice(("sum", "mean", "max", "min"))
        made = [f"tf.reduce_{reduction}({whole})", f"tf.reduce_{reduction}({whole})"]
        if depth >= 0:
            made.append(f"tf.reduce_{reduction}({self.value(SOME, depth)})")
            made.append(f"({self.value(NUMBER, depth)} + {self.dice.choice(_CONSTANTS)})")
            made.append(f"tf.cast({self.value(WHOLE, depth)}, tf.float32)")
        return self.dice.choice(made)

    def _booleans(self, depth: int) -> str:
        one = self.value(FLOATS, depth)
        made = [
            f"({one} > {self.dice.choice(_CONSTANTS)})",
            f"({one} < {self.value(FLOATS, depth)})",
        ]
        if depth >= 0:
            made += [f"~{self.value(BOOLEANS, depth)}", f"tf.math.is_finite({one})"]
            made.append(f"({self.value(BOOLEANS, depth)} & {self.value(BOOLEANS, depth)})")
        return self.dice.choice(made)

    def _truth(self, depth: int) -> str:
        sign = self.dice.choice((">", "<", ">=", "<="))
        made = [
            f"{self.value(NUMBER, depth)} {sign} {self.dice.choice(_CONSTANTS)}",
            f"tf.reduce_any({self.value(BOOLEANS, depth)})",
            f"tf.reduce_all({self.value(BOOLEANS, depth)})",
        ]
        if depth >= 0:
            made += [
                f"{self.value(NUMBER, depth)} {sign} {self.value(NUMBER, depth)}",
                f"{self.value(WHOLE, depth)} {sign} 2",
                f"not {self.value(TRUTH, depth)}",
                f"({self.value(TRUTH, depth)} and {self.value(TRUTH, depth)})",
                f"({self.value(TRUTH, depth)} or {self.value(TRUTH, depth)})",
            ]
        return self.dice.choice(made)

    def _whole(self, depth: int) -> str:
        made = ["tf.reduce_max(k)", "tf.reduce_sum(k)", "tf.size(x)", "tf.shape(x)[0]"]
        if depth >= 0:
            made.append(f"tf.size({self.value(SOME, depth)})")
            made.append(f"tf.math.count_nonzero({self.value(BOOLEANS, depth)}, dtype=tf.int32)")
            made.append(f"({self.value(WHOLE, depth)} + 1)")
        return self.dice.choice(made)

    def _some(self, depth: int) -> str:
        floats, mask = self.value(FLOATS, depth), self.value(BOOLEANS, depth)
        floats = floats if floats.isidentifier() else f"({floats})"
        return self.dice.choice((f"{floats}[{mask}]", f"tf.boolean_mask({floats}, {mask})"))

    # Statements

    def block(self, depth: int, indent: str, most: int) -> list[str]:
        """Some statements; what they define is known afterwards."""
        lines: list[str] = []
        for _ in range(self.dice.randint(1, most)):
            lines += self.statement(depth, indent)
        return lines

    def statement(self, depth: int, indent: str) -> list[str]:
        kinds: list[Callable[[int, str], list[str]]] = [self.assignment] * 4
        if depth > 0:
            kinds += [self.branch] * 4 + [self.ternary, self.loop, self.counted, self.overwritten]
            kinds += [self.sized, self.one_armed, self.kept]
        lines = self.dice.choice(kinds)(depth - 1, indent)
        if self.dice.random() < 0.15:
            lines = [f"{indent}{self.dice.choice(_COMMENTS)}", *lines]
        return lines

    def assignment(self, depth: int, indent: str) -> list[str]:
        kind = self.dice.choice((FLOATS, FLOATS, NUMBER, BOOLEANS, SOME))
        made = self.value(kind)
        old = self.known(kind)
        name = self.dice.choice(old) if old and self.dice.random() < 0.5 else self.fresh(kind[0])
        if name in ("x", "y", "k") and kind not in (FLOATS,):
            name = self.fresh(kind[0])
        self.names[name] = kind
        comment = f"  {self.dice.choice(_COMMENTS)}" if self.dice.random() < 0.1 else ""
        return [f"{indent}{name} = {made}{comment}"]

    def branch(self, depth: int, indent: str) -> list[str]:
        """`if`, `elif` and `else` that assign the same names, or return."""
        kinds = self.dice.choices((FLOATS, NUMBER), k=self.dice.randint(1, 2))
        names = [self._target(kind) for kind in kinds]
        arms = self.dice.choice((("if", "else"), ("if", "else"), ("if", "elif", "else")))
        lines: list[str] = []
        before = dict(self.names)
        for arm in arms:
            head = "else" if arm == "else" else f"{arm} {self.value(TRUTH)}"
            lines.append(f"{indent}{head}:")
            if depth > 0 and self.dice.random() < 0.3:
                lines += self.statement(depth - 1, f"{indent}    ")
            for name, kind in zip(names, kinds):
                lines.append(f"{indent}    {name} = {self.value(kind)}")
            self.names = dict(before)
        self.names.update(zip(names, kinds))
        return lines

    def one_armed(self, depth: int, indent: str) -> list[str]:
        kind = self.dice.choice((FLOATS, NUMBER))
        known = self.known(kind)
        if not known:
            return self.assignment(depth, indent)
        name = self.dice.choice(known)
        test = self.value(TRUTH)
        return [f"{indent}if {test}:", f"{indent}    {name} = {self.value(kind)}"]

    def ternary(self, depth: int, indent: str) -> list[str]:
        kind = self.dice.choice((FLOATS, NUMBER))
        test, one, other = self.value(TRUTH), self.value(kind), self.value(kind)
        name = self._target(kind)
        self.names[name] = kind
        return [f"{indent}{name} = {one} if {test} else {other}"]

    def loop(self, depth: int, indent: str) -> list[str]:
        """Halve until it is small: ends for every input but infinities and NaN."""
        name = self.fresh("n")
        steps = self.fresh("i")
        lines = [
            f"{indent}{name} = tf.minimum(tf.reduce_sum(tf.abs(x)), 100.0)",
            f"{indent}{steps} = 0",
            f"{indent}while {name} > 1.0:",
            f"{indent}    {name} = {name} * 0.5",
            f"{indent}    {steps} = {steps} + 1",
        ]
        self.names[name] = NUMBER
        return lines

    def counted(self, depth: int, indent: str) -> list[str]:
        name = self.fresh("a")
        # What else a layer is called with than its first argument may be a Python list.
        counted = "range(2)" if self.is_layer else "range(len(k))"
        over = self.dice.choice(("tf.range(3)", "range(3)", "tf.range(tf.shape(x)[0])", counted))
        step = self.dice.choice(("tf.cast(i, tf.float32)", self.value(NUMBER, 1)))
        self.names[name] = NUMBER
        if not over.startswith("tf"):
            step = step.replace("tf.cast(i, tf.float32)", "float(i)")
        return [
            f"{indent}{name} = tf.constant(0.0)",
            f"{indent}for i in {over}:",
            f"{indent}    {name} = {name} + {step}",
        ]

    def overwritten(self, depth: int, indent: str) -> list[str]:
        """`tf.where(c)` and a scatter: the masked assignment of people who know NumPy."""
        mask, floats = self.value(BOOLEANS, 1), self.dice.choice(self.known(FLOATS))
        name = self.fresh("f")
        self.names[name] = FLOATS
        where = self.fresh("w")
        return [
            f"{indent}{where} = tf.where({mask})",
            f"{indent}{name} = tf.tensor_scatter_nd_update({floats}, {where}, tf.zeros_like(tf.gather_nd({floats}, {where})))",
        ]

    def kept(self, depth: int, indent: str) -> list[str]:
        """A mask, a selection, and what is reduced of it, in statements of their own."""
        mask, some, number = self.fresh("m"), self.fresh("s"), self.fresh("r")
        lines = [
            f"{indent}{mask} = {self.value(BOOLEANS, 1)}",
            f"{indent}{some} = tf.boolean_mask({self.dice.choice(self.known(FLOATS))}, {mask})",
            f"{indent}{number} = tf.reduce_{self.dice.choice(('sum', 'mean', 'max', 'min'))}({some})",
        ]
        if self.dice.random() < 0.4:
            lines[-1] = (
                f"{indent}{number} = tf.reduce_sum({some}) / tf.cast(tf.size({some}), tf.float32)"
            )
        self.names |= {mask: BOOLEANS, number: NUMBER}
        return lines

    def sized(self, depth: int, indent: str) -> list[str]:
        name = self.fresh("z")
        self.names[name] = NUMBER
        return [
            self.dice.choice(
                (
                    f"{indent}{name} = tf.reduce_sum(tf.one_hot(k, tf.reduce_max(k) + 1))",
                    f"{indent}{name} = tf.reduce_sum(tf.sequence_mask(k, tf.reduce_max(k), dtype=tf.float32))",
                    f"{indent}{name} = tf.reduce_sum(tf.cast(tf.range(tf.reduce_max(k)), tf.float32))",
                    f"{indent}{name} = tf.cast(tf.size(tf.unique(k)[0]), tf.float32)",
                    f"{indent}{name} = tf.reduce_sum(tf.math.segment_sum(x, tf.sort(k)))",
                    f"{indent}{name} = tf.reduce_sum(tf.zeros([tf.reduce_max(k)]) + 1.0)",
                )
            )
        ]

    def _target(self, kind: str) -> str:
        known = [name for name in self.known(kind) if name not in ("x", "y", "k")]
        return (
            self.dice.choice(known) if known and self.dice.random() < 0.5 else self.fresh(kind[0])
        )

    def returned(self, indent: str) -> list[str]:
        numbers = [*self.known(FLOATS), *self.known(NUMBER)]
        chosen = self.dice.sample(numbers, min(len(numbers), self.dice.randint(1, 3)))
        lines = []
        if self.dice.random() < 0.2:
            lines += [f"{indent}if {self.value(TRUTH)}:", f"{indent}    return {', '.join(chosen)}"]
            kinds = [self.names[name] for name in chosen]
            lines.append(f"{indent}return {', '.join(self.value(kind) for kind in kinds)}")
            return lines
        return [f"{indent}return {', '.join(chosen)}"]


def made(dice: Random) -> Made:
    """A program. The same dice make the same program."""
    shape = dice.choice(((ROWS,), (ROWS, COLUMNS)))
    writer = _Writer(dice, shape, {"x": FLOATS, "y": FLOATS, "k": WHOLES})
    is_layer = writer.is_layer = dice.random() < 0.3
    indent = "        " if is_layer else "    "
    # Many have one thing to mend: then nothing else keeps the function from being compiled.
    depth, most = dice.choice(((1, 1), (1, 1), (1, 2), (2, 4)))
    body = [*writer.block(depth, indent, most), *writer.returned(indent)]
    head = _layer() if is_layer else _function(dice, shape)
    text = "\n".join(("import tensorflow as tf", "", "", *head, *body, ""))
    specs = (("float32", shape), ("float32", shape), ("int32", (ROWS,)))
    if is_layer:
        text += "\n\nsubject = Subject()\n"
    return Made(text, "subject", specs, is_layer)


def _layer() -> Sequence[str]:
    return (
        "class Subject(tf.keras.layers.Layer):",
        "    def call(self, x, y, k):",
    )


def _function(dice: Random, shape: tuple[int, ...]) -> Sequence[str]:
    sizes = [str(size) for size in shape]
    signature = (
        f"input_signature=[tf.TensorSpec([{', '.join(sizes)}], tf.float32), "
        f"tf.TensorSpec([{', '.join(sizes)}], tf.float32), tf.TensorSpec([{ROWS}], tf.int32)]"
    )
    return dice.choice(
        (
            (
                "@tf.function(jit_compile=True)",
                "def subject(x: tf.Tensor, y: tf.Tensor, k: tf.Tensor):",
            ),
            (
                "@tf.function(jit_compile=True, autograph=False)",
                "def subject(x: tf.Tensor, y: tf.Tensor, k: tf.Tensor):",
            ),
            (f"@tf.function(jit_compile=True, {signature})", "def subject(x, y, k):"),
            (
                f"@tf.function(jit_compile=True, autograph=False, {signature})",
                "def subject(x, y, k):",
            ),
        )
    )
