"""Programs drawn at random: functions of several statements, with branches, loops, maps, scans and gradients, on inputs of known types."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

# What every program is given, by name: a value to run it with, and how it is specified where there is none.
INPUTS = {
    "x": ("tf.reshape(tf.range(12.0), [4, 3]) * 0.1 - 0.3", "tf.TensorSpec([4, 3], tf.float32)"),
    "y": ("tf.reshape(tf.range(12.0), [4, 3]) * -0.2 + 1.0", "tf.TensorSpec([4, 3], tf.float32)"),
    "i": ("tf.constant(2)", "tf.TensorSpec([], tf.int32)"),
    "k": ("tf.constant([0, 1, 2, 1])", "tf.TensorSpec([4], tf.int32)"),
    "m": ("tf.constant([True, False, True, True])", "tf.TensorSpec([4], tf.bool)"),
    "q": (
        "tf.reshape(tf.range(16.0), [4, 4]) * 0.1 + tf.eye(4) * 5.0",
        "tf.TensorSpec([4, 4], tf.float32)",
    ),
}
SIGNATURE = f"[{', '.join(spec for _, spec in INPUTS.values())}]"

# Kinds of values: matrices and square ones, vectors and scalars of fractions, whole numbers and vectors of them, masks, truth values.
# A name of a kind in braces is a value of it that is at hand (`{M}`), with `!` a new expression; `|` is between what may stand there.
_FORMS = {
    "M": (
        "{M} * {S}", "{M} + {M}", "tf.nn.relu({M})", "tf.where({M} > 0.0, {M}, 0.0)", "tf.gather({M}, {I})", "tf.matmul({Q}, {M})",
        "tf.cumsum({M}, axis={0|1})", "tf.reverse({M}, [0])", "{M}[::-1]", "tf.sort({M}, axis={0|1})",
        "tf.tensor_scatter_nd_update({M}, [[{N}]], {M}[:1])", "tf.concat([{M}[:{N}], {M}[{N}:]], 0)", "tf.roll({M}, {N|P}, 0)",
        "tf.nn.softmax({M})", "tf.math.unsorted_segment_sum({M}, {I}, {4|N|E})", "tf.boolean_mask({M}, {K})", "{M}[{K}]",
        "{M}[:{N}]", "tf.map_fn(lambda r: {R}, {M})", "tf.scan(lambda a, r: {a + r|a * r|tf.maximum(a, r)}, {M})",
        "tf.vectorized_map(lambda r: {W}, {M})",
        "tf.linalg.cholesky(tf.matmul({M}, {M}, transpose_a=True) + tf.eye(3))", "tf.transpose(tf.transpose({M}))",
        "tf.clip_by_value({M}, 0.0, 1.0)", "tf.cond({B!}, lambda: {M}, lambda: {M} * 2.0)", "tf.repeat({M}, {P|N|I}, axis=0)",
        "tf.tile({M}, [{P|N}, 1])", "tf.pad({M}, [[0, {P|N}], [0, 0]])", "tf.slice({M}, [{N}, 0], [{1|2|N}, 3])",
        "tf.dynamic_partition({M}, {I}, 3)[1]", "tf.random.shuffle({M})", "tf.stack([{M}, {M}])[0]",
        "tf.image.resize({M}[..., None], [4, 3])[..., 0]", "tf.reshape({M}, [{4|-1|N}, 3])", "tf.ensure_shape({M}, [4, 3])",
        "tf.math.top_k({M}, {3|2|N})[0]", "tf.eye({4|N}, 3)", "tf.zeros([{4|N|L!}, 3])", "tf.one_hot({I}, {3|N})",
        "tf.keras.ops.cumsum({M}, axis={0|1})", "tf.keras.ops.sort({M}, axis=0)", "tf.keras.ops.flip({M}, axis=0)",
        "tf.keras.ops.roll({M}, 1, axis=0)", "tf.keras.ops.take({M}, {I}, axis=0)", "tf.keras.ops.where({M} > 0.0, {M}, 0.0)",
        "tf.keras.ops.repeat({M}, {P|N}, axis=0)", "tf.keras.ops.pad({M}, [[0, {P}], [0, 0]])",
        "tf.switch_case({N}, [lambda: {M}, lambda: {M} * 2.0])",
        "tf.while_loop(lambda i, a: i < {3|N}, lambda i, a: (i + 1, {G}), (0, {M}))[1]",
        "tf.while_loop(lambda i, a: i < {3|N}, lambda i, a: (i + 1, {G}), (0, {M}), maximum_iterations=4)[1]",
        "tf.scatter_nd({I}[:, None], {M}, [5, 3])[:4]", "tf.gather_nd({M}, {I}[:, None])", "tf.split({M}, 2)[{0|1}]",
        "tf.unstack({M})[0][None]", "tf.nn.moments({M}, [0])[0][None]", "tf.abs(tf.linalg.qr({M})[0])", "tf.concat(tf.split({M}, 2), 0)",
        "tf.foldl(lambda a, r: a + r, {M})[None]", "tf.stop_gradient({M})", "tf.recompute_grad(lambda t: {T})({M})",
        "tf.math.divide_no_nan({M}, {S})", "tf.nn.dropout({M}, 0.0)", "tf.cond({B!}, lambda: {M}, lambda: {M})",
        "{M} if {B!} else {M}", "tf.case([({B!}, lambda: {M})], default=lambda: {M})", "tf.ones_like({M})", "tf.zeros_like({M})",
        "tf.random.normal(tf.shape({M}))", "tf.add_n([{M}, {M}])", "tf.identity({M})", "tf.expand_dims({V}, 0)",
        "tf.math.reduce_std({M}, 0, keepdims=True)", "tf.linalg.matmul({M}, {M}, transpose_a=True)", "tf.image.flip_left_right({M}[..., None])[..., 0]",
        "tf.tensor_scatter_nd_add({M}, {I}[:2, None], {M}[:2])", "tf.math.segment_sum({M}, tf.sort({I}))", "tf.nn.embedding_lookup({M}, {I})",
        "tf.meshgrid({V}, {V})[0]", "tf.broadcast_to({M}[:1], [{4|N}, 3])", "tf.reverse_sequence({M}, {I}, 1)", "tf.math.cumulative_logsumexp({M}, 0)",
    ),
    "V": (
        "tf.reduce_sum({M}, axis={0|1})", "{M}[{0|-1|1|N}]", "tf.norm({M}, axis=1)", "{V} * 2.0", "tf.cumsum({V})", "{V}[:{N}]",
        "tf.boolean_mask({V}, {V} > 0.0)", "tf.sort({V})", "tf.linspace(0.0, 1.0, {4|N})", "tf.cast(tf.range({4|N}), tf.float32)",
        "tf.linalg.eigvalsh({Q})", "tf.linalg.svd({M}, compute_uv=False)", "tf.nn.top_k({V}, {2|N})[0]",
        "tf.math.segment_sum({V}, tf.sort({I}))", "tf.squeeze({M}[:1])", "tf.reshape({M}, [-1])", "tf.unique({V})[0]",
        "tf.linalg.diag_part({Q})", "tf.reverse({V}, [0])", "{V}[::-1]", "tf.concat([{V}, {V}], 0)",
        "tf.scan(lambda a, r: a * 0.5 + r, {V})",
    ),
    "S": (
        "tf.reduce_mean({M})", "tf.reduce_max({V})", "{V}[{0|-1|N}]", "tf.norm({V})", "tf.linalg.det({Q})", "tf.random.uniform([])",
        "tf.cast({N}, tf.float32)", "tf.reduce_sum({M} * {M})",
        "tf.linalg.logdet(tf.matmul({M}, {M}, transpose_a=True) + tf.eye(3))",
    ),
    "N": (
        "tf.reduce_sum(tf.cast({K}, tf.int32))", "{I}[{0|-1}]", "{L!}", "tf.size({V})", "{E}", "tf.random.uniform([], 1, 4, tf.int32)",
        "tf.minimum({N}, 3)", "{N} + 1", "tf.cast({S}, tf.int32) + 1", "tf.argmax({V}, output_type=tf.int32)", "tf.rank({M})",
        "tf.math.count_nonzero({V} > 0.0, dtype=tf.int32)",
    ),
    "I": (
        "tf.argmax({M}, 1, output_type=tf.int32)", "tf.range({4|N|L!})", "tf.argsort({V})", "{I} % 3", "tf.cast({V} * 2.0, tf.int32)",
        "tf.where({K})[:, 0]", "tf.cast(tf.where({K})[:, 0], tf.int32)", "tf.unique({I})[0]", "tf.unique({I})[1]",
        "tf.random.shuffle(tf.range(4))", "tf.math.top_k({V}, 2).indices", "tf.math.bincount({I}, minlength=4{, maxlength=4|})",
        "tf.searchsorted(tf.sort({V}), {V})",
    ),
    "K": (
        "{V} > 0.0", "tf.not_equal({I}, 1)", "tf.sequence_mask({N}, {4|N})", "tf.reduce_any({M} > 0.0, 1)", "tf.logical_not({K})",
        "tf.range(4) < {N}",
    ),
    "B": ("{S} > 0.0", "{N} > 2", "tf.reduce_any({K})", "tf.reduce_sum({V}) > 0.0", "tf.equal({N}, 3)"),
    "Q": (
        "tf.matmul({M}, {M}, transpose_b=True)", "tf.linalg.inv({Q})", "{Q} + tf.eye(4)", "tf.linalg.diag({V})",
        "tf.linalg.band_part({Q}, {0|-1|N}, 0)", "tf.linalg.expm({Q} * 0.1)",
    ),
    "L": ("tf.shape({M})[0]",),
}  # fmt: skip
_AT_HAND = {
    "M": ["x", "y"],
    "V": ["x[:, 0]", "q[0]"],
    "S": ["x[0, 0]"],
    "N": ["i"],
    "I": ["k"],
    "K": ["m"],
    "Q": ["q"],
    "P": ["2", "3"],
    "E": ["tf.reduce_max(k) + 1"],
    # What a step of tf.while_loop makes of its state, and what is recomputed for a gradient.
    "G": [
        "a * 0.5", "tf.nn.relu(a)", "tf.cumsum(a)", "a + x", "a + tf.reduce_sum(a)", "tf.transpose(tf.transpose(a))",
        "tf.reverse(a, [0])", "tf.sort(a, axis=0)", "tf.where(a > 0.0, a, 0.0)", "tf.tensor_scatter_nd_update(a, [[i]], a[:1])",
        "tf.concat([a[:i], a[i:]], 0)", "tf.roll(a, 1, 0)", "tf.cond(i > 1, lambda: a, lambda: a * 2.0)", "tf.nn.softmax(a)",
    ],
    "T": ["tf.nn.relu(t)", "tf.cumsum(t)", "tf.sort(t, axis=0)", "t * tf.reduce_sum(t)"],
    # What is made of a row, by map_fn and by vectorized_map.
    "R": ["r * 2.0", "tf.cumsum(r)", "tf.sort(r)", "r[::-1]", "tf.nn.softmax(r)", "tf.reduce_sum(r) * r"],
    "W": ["r * 2.0", "tf.cumsum(r)", "tf.sort(r)", "r[::-1]", "tf.where(r > 0.0, r, 0.0)", "tf.gather(r, k[:3])"],
}  # fmt: skip
_STATEMENTS = "MMMVVVSNNIIKQ"
_PLACE = re.compile(r"\{([^{}]*)\}")


@dataclass
class _Drawing:
    random: random.Random
    at_hand: dict[str, list[str]] = field(
        default_factory=lambda: {k: list(v) for k, v in _AT_HAND.items()}
    )
    lines: list[str] = field(default_factory=list)
    made: int = 0
    latest: str = "x"
    arrays: list[str] = field(default_factory=list)

    def value(self, kind: str) -> str:
        """What is at hand of a kind, more often one of the latest."""
        known = self.at_hand[kind]
        return self.random.choice(known[-4:] if self.random.random() < 0.7 else known)

    def expression(self, kind: str) -> str:
        return _PLACE.sub(self._filled, self.random.choice(_FORMS[kind]))

    def _filled(self, place: re.Match[str]) -> str:
        chosen = self.random.choice(place[1].split("|"))
        if chosen.endswith("!"):
            return self.expression(chosen[:-1])
        return self.value(chosen) if chosen in self.at_hand else chosen

    def name(self, kind: str | None = None) -> str:
        made = f"v{self.made}"
        self.made += 1
        if kind is not None:
            self.at_hand[kind].append(made)
            self.latest = made
        return made

    def statement(self) -> None:
        drawn = self.random.random()
        if drawn < 0.05:
            self._array()
        elif drawn < 0.09:
            self._inner()
        elif drawn < 0.13:
            self._left_early()
        elif drawn < 0.16:
            self._state()
        elif drawn < 0.24:
            self._branch()
        elif drawn < 0.32:
            self._for()
        elif drawn < 0.36:
            self._while()
        else:
            kind = self.random.choice(_STATEMENTS)
            written = self.expression(kind)
            self.lines.append(f"{self.name(kind)} = {written}")

    def _array(self) -> None:
        """An array that a loop writes to. It is returned as well: what nobody reads, XLA does not compile."""
        rows = self.random.choice(("3", self.value("N"), self.expression("L")))
        row = self.expression("V")
        more = self.random.choice(("", "", ", element_shape=[3]", ", dynamic_size=True"))
        size = self.random.choice(("0", "1", rows)) if "dynamic" in more else rows
        name = self.name()
        self.lines += [
            f"{name} = tf.TensorArray(tf.float32, {size}{more})",
            f"for step in tf.range({rows}):",
            f"    {name} = {name}.write(step, {row})",
        ]
        self.arrays.append(self.name("M"))
        self.lines.append(f"{self.latest} = {name}.stack()")

    def _inner(self) -> None:
        """A function that returns in an arm."""
        test, result, given = self.expression("B"), self.expression("M"), self.value("M")
        other = self.random.choice(
            (["    return a"], ["    else:", "        return a * 2.0"], [f"    return a + {self.value('S')}"])
        )  # fmt: skip
        inner = f"inner_{self.made}"
        self.lines += [f"def {inner}(a):", f"    if {test}:", f"        return {result}", *other]
        self.lines.append(f"{self.name('M')} = {inner}({given})")

    def _left_early(self) -> None:
        """A loop with `break` or `continue`."""
        start, bound, test = self.value("M"), self.value("N"), self.expression("B")
        over = self.random.choice(("range(3)", "tf.range(3)", f"tf.range({bound})"))
        again = self.expression("M")
        name = self.name("M")
        self.lines += [f"{name} = {start}", f"for step in {over}:"]
        self.lines += [f"    if {self.random.choice((test, f'step > {bound}'))}:"]
        self.lines += [f"        {self.random.choice(('break', 'continue'))}"]
        self.lines += [f"    {name} = {self.random.choice((again, f'{name} * 0.5'))}"]

    def _state(self) -> None:
        """A loop that carries a dictionary."""
        start, again = self.value("M"), self.expression("M")
        state = f"state_{self.made}"
        self.lines += [
            f"{state} = {{'kept': {start}, 'step': 0}}",
            f"for step in {self.random.choice(('range(2)', 'tf.range(3)'))}:",
            f"    {state}['kept'] = {again}",
            f"    {state}['step'] += 1",
        ]
        self.lines.append(f"{self.name('M')} = {state}['kept']")

    def _branch(self) -> None:
        kind = self.random.choice("MMMMV")
        before, test, then = self.value(kind), self.expression("B"), self.expression(kind)
        name = self.name(kind)
        self.lines += [f"{name} = {before}", f"if {test}:", f"    {name} = {then}"]
        if self.random.random() < 0.5:
            self.lines += ["else:", f"    {name} = {self.expression(kind)}"]

    def _for(self) -> None:
        kind = self.random.choice("MMSV")
        start, counted = self.expression(kind), self.expression("L")
        name = self.name(kind)
        over = self.random.choice(
            ("range(3)", "tf.range(3)", f"tf.range({self.value('N')})", self.value("M"), f"tf.range({counted})")
        )  # fmt: skip
        self.lines += [f"{name} = {start}", f"for step in {over}:"]
        if "range" in over:
            self.at_hand["N"].append("step")
        again = self.expression(kind)
        self.lines.append(
            f"    {name} = {self.random.choice((again, f'{name} + {again}', f'{name} * 0.5'))}"
        )
        if self.random.random() < 0.15:
            self.lines += [f"    if {self.expression('B')}:", f"        {name} = {name} * 2.0"]
        if "range" in over:
            self.at_hand["N"].remove("step")

    def _while(self) -> None:
        kind = self.random.choice("MMSV")
        start, bound = self.expression(kind), self.random.choice(("3", self.value("N")))
        name, count = self.name(kind), self.name()
        self.lines += [f"{name} = {start}", f"{count} = 0", f"while {count} < {bound}:"]
        self.lines += [f"    {name} = {self.expression(kind)}", f"    {count} += 1"]


def program(drawn: random.Random, name: str) -> str:
    """A function called `name` that takes INPUTS and is compiled with jit_compile=True: some statements, and in two of five their
    gradient.
    """
    drawing = _Drawing(drawn)
    for _ in range(drawn.randint(1, 4)):
        drawing.statement()
    results = [*drawing.arrays, drawing.latest]
    lines = [*drawing.lines, f"return {', '.join(results)}"]
    if drawn.random() < 0.4:
        lines = ["with tf.GradientTape() as tape:", "    tape.watch(x)"]
        lines += [f"    {line}" for line in drawing.lines]
        sums = [f"tf.reduce_sum(tf.cast({each}, tf.float32) ** 2)" for each in results]
        lines += [f"    loss = {' + '.join(sums)}", "return tape.gradient(loss, x)"]
    head = [f"@tf.function(jit_compile=True, input_signature={SIGNATURE})"]
    return "\n".join(
        [*head, f"def {name}({', '.join(INPUTS)}):", *(f"    {each}" for each in lines)]
    )


def programs(seed: int, count: int) -> list[str]:
    """The programs of a seed, called `program_0` and so on: the same in every run."""
    drawn = random.Random(seed)
    return [program(drawn, f"program_{number}") for number in range(count)]
