"""Programs of conditionals, loops, returns, arrays and lists over tensors and numbers, put together by chance.

Every name has one of a few sorts (`vector`, `count`, `number`, ...); expressions are drawn by sort, and now and then a name changes its
sort, as it may in Python and may not where AutoGraph carries it round a loop or chooses it in an arm.
"""

from __future__ import annotations

import re
from random import Random

# What stands for each sort; `{sort}` is drawn in its turn.
_EXPRESSIONS = {
    "vector": (
        "x|x * {scalar}|tf.sin({vector})|{vector} + {vector}|tf.where(x > {scalar}, {vector}, 0.0)|{vector} * {float}|"
        "tf.reverse({vector}, [0])|tf.sort({vector})|tf.zeros([8])|tf.ones_like(x)|tf.cumsum({vector})|-{vector}"
    ),
    "short": "x[:4]|y[0]|y[:, 1]|tf.concat([x, x], 0)|tf.zeros([3])",
    "matrix": (
        "y|y * {scalar}|tf.exp(-tf.abs({matrix}))|{matrix} + {matrix}|tf.nn.relu({matrix})|tf.tile({matrix}, [1, 1])|"
        "tf.reverse({matrix}, [1])"
    ),
    "scalar": (
        "x[0]|tf.reduce_sum({vector})|tf.reduce_mean({matrix})|tf.constant(2.0)|tf.cast({count}, tf.float32)|"
        "{scalar} * {scalar}|{scalar} + 1.0|tf.reduce_max({vector})|tf.norm({vector})|x[{count} % 8]|y[1, 2]"
    ),
    "count": (
        "n|n + 1|tf.argmax({vector}, output_type=tf.int32)|tf.constant(3)|tf.shape(x)[0]|tf.size(y)|"
        "tf.cast({scalar}, tf.int32)|{count} * 2"
    ),
    "flag": (
        "flag|{scalar} > 0.5|{count} > 2|tf.reduce_any({vector} > 1.0)|tf.reduce_all({matrix} > -3.0)|{scalar} < {scalar}|"
        "not {flag}|{flag} and {flag}|{flag} or flag|tf.logical_not({flag})|{count} % 2 == 0|tf.equal({count}, 3)|"
        "0.0 < {scalar} < 2.0"
    ),
    "setting": 'x.shape[0] > 3|len(x.shape) == 2|x.dtype == tf.float32|SIZE > 1|True|MODE == "a"|y.shape[1] == 4|SIZE is None',
    "number": "3|SIZE|x.shape[0]|len(y.shape)|SIZE + 1",
    "float": "0.5|2.0|float(SIZE)",
    "long": "tf.argmax({vector})|tf.cast({count}, tf.int64)",
    "double": "tf.cast({vector}, tf.float64)",
    "none": "None",
    "text": '"a"|MODE',
}
_CALLS = (
    "tf.cond({flag}, lambda: {A}, lambda: {B})|{A} if {test} else {B}|tf.map_fn(lambda e: e * {scalar}, {vector})|"
    "tf.scan(lambda a, e: a + e * {scalar}, {vector})|"
    "tf.while_loop(lambda j, a: j < n, lambda j, a: (j + 1, a * {scalar}), (tf.constant(0), {vector}))[1]|"
    "tf.stack([e * {scalar} for e in {vector}])|tf.switch_case({count} % 2, [lambda: {A}, lambda: {B}])|"
    "sum(e for e in {vector})|max({scalar}, {scalar})|abs({vector})|len({vector})|int({scalar})|float({count})|bool({flag})"
)
_ASKS = "assert {test}|print({scalar})|tf.print({scalar})|tf.debugging.assert_positive(tf.abs({scalar}) + 1.0)|pass"
_SORTS = "vector vector vector matrix scalar scalar count flag number float short long none double text".split()
# Of what a gradient is taken.
_SORTS_OF_GRADIENTS = "vector vector vector matrix scalar scalar count number float short".split()
_DIFFERENTIABLE = frozenset({"vector", "matrix", "scalar", "short", "any"})
_GIVEN = {
    "x": "vector",
    "y": "matrix",
    "n": "count",
    "flag": "flag",
    "SIZE": "number",
    "MODE": "text",
}
_HOLE = re.compile(r"\{(\w+)\}")

HEAD = """import tensorflow as tf

SIZE = 2
MODE = "a"
SPECS = [
    tf.TensorSpec([8], tf.float32),
    tf.TensorSpec([6, 3], tf.float32),
    tf.TensorSpec([], tf.int32),
    tf.TensorSpec([], tf.bool),
]"""

Names = dict[str, str]
Lines = list[str]


def program(name: str, seed: str, *, is_gradient: bool, is_converted: bool) -> str:
    """One program under this name: `(x, y, n, flag)`, of the signature `SPECS`."""
    writer = _Writer(Random(seed), _SORTS_OF_GRADIENTS if is_gradient else _SORTS)
    options = "" if is_converted else ", autograph=False"
    body = writer.gradient() if is_gradient else writer.body()
    head = [
        f"@tf.function(jit_compile=True{options}, input_signature=SPECS)",
        f"def {name}(x, y, n, flag):",
    ]
    return "\n".join([*head, *_indented(body)])


def _indented(lines: Lines) -> Lines:
    return [f"    {line}" for line in lines]


class _Writer:
    """Draws statements; `names` maps those that may be read to their sorts, and is changed by what is drawn."""

    def __init__(self, dice: Random, sorts: list[str]) -> None:
        self._dice = dice
        self._sorts = sorts
        self._leaves = sorts is _SORTS
        self._made = 0

    def body(self) -> Lines:
        """Statements, and the return of what they leave."""
        names = dict(_GIVEN)
        lines = self._statements(names)
        own = [n for n in names if n not in _GIVEN and names[n] not in ("text", "none")]
        result = ", ".join(own[-3:]) if own else self._expression("vector", names)
        return [*lines, f"return {result}"]

    def gradient(self) -> Lines:
        """The gradient of a sum over what statements leave."""
        names = {**_GIVEN, "start": "vector"}
        lines = ["start = x * 2.0", *self._statements(names)]
        own = [n for n in names if n not in ("x", "y") and names[n] in _DIFFERENTIABLE]
        used = self._dice.sample(own, min(len(own), 3)) or ["x"]
        lines.append("loss = " + " + ".join(f"tf.reduce_sum(tf.sin({name}))" for name in used))
        return [
            "with tf.GradientTape() as tape:",
            *_indented(["tape.watch((x, y))", *lines]),
            'parts = tape.gradient(loss, (x, y), unconnected_gradients="zero")',
            "return [tf.convert_to_tensor(part) for part in parts]",
        ]

    def _statements(self, names: Names) -> Lines:
        lines = self._assignment(names)
        for _ in range(self._dice.choice((1, 2, 2))):
            lines += self._statement(names, 2, in_loop=False)
        return lines

    def _statement(self, names: Names, depth: int, *, in_loop: bool) -> Lines:
        draw = self._dice.random()
        if depth <= 0 or draw < 0.35:
            return self._assignment(names)
        if draw < 0.6:
            return self._conditional(names, depth, in_loop=in_loop)
        if draw < 0.8:
            return self._loop(names, depth)
        if draw < 0.86 and not in_loop:
            return self._array(names, depth)
        if draw < 0.92:
            return self._list(names)
        if draw < 0.96:
            name = self._new("v")
            call = self._filled(self._dice.choice(_CALLS.split("|")), names)
            names[name] = "any"
            return [f"{name} = {call}"]
        return [self._filled(self._dice.choice(_ASKS.split("|")), names)]

    def _assignment(self, names: Names) -> Lines:
        own = [name for name in names if name not in _GIVEN and name[0] not in "ci"]
        if own and self._dice.random() < 0.75:
            name = self._dice.choice(own)
            had = names[name]
            sort = had
            if had == "any" or self._dice.random() < 0.2:
                sort = self._dice.choice(self._sorts)
            value = self._expression(sort, names)
            names[name] = sort
            is_sum = sort == had and sort in ("vector", "matrix", "scalar", "count")
            if is_sum and self._dice.random() < 0.3:
                return [f"{name} {self._dice.choice(('+=', '*=', '-='))} {value}"]
            return [f"{name} = {value}"]
        name, sort = self._new("v"), self._dice.choice(self._sorts)
        value = self._expression(sort, names)
        names[name] = sort
        return [f"{name} = {value}"]

    def _conditional(self, names: Names, depth: int, *, in_loop: bool) -> Lines:
        first, second = dict(names), dict(names)
        lines = [f"if {self._test(names)}:", *_indented(self._block(first, depth, in_loop))]
        draw = self._dice.random()
        if draw < 0.1:
            lines.append(f"elif {self._test(names)}:")
            lines += _indented(self._block(dict(names), depth, in_loop))
        if draw < 0.6:
            lines += ["else:", *_indented(self._block(second, depth, in_loop))]
        for name in {**first, **second}:
            sorts = [arm[name] for arm in (first, second) if name in arm]
            if len(sorts) == 2 or self._dice.random() < 0.3:
                names[name] = self._dice.choice(sorts)
        return lines

    def _loop(self, names: Names, depth: int) -> Lines:
        item, draw = self._new("i"), self._dice.random()
        inside = dict(names)
        if draw < 0.35:
            end = self._expression(self._dice.choice(("count", "count", "number")), names)
            head, inside[item] = f"for {item} in tf.range({end}):", "count"
        elif draw < 0.5:
            rows = self._expression(self._dice.choice(("vector", "vector", "short")), names)
            head, inside[item] = f"for {item} in {rows}:", "scalar"
        elif draw < 0.6:
            head, inside[item] = f"for {item} in {self._expression('matrix', names)}:", "short"
        elif draw < 0.72:
            end = self._dice.choice(
                ("3", "SIZE", "x.shape[0]", "n", self._expression("count", names))
            )
            head, inside[item] = f"for {item} in range({end}):", "number"
        elif draw < 0.78:
            element = self._new("e")
            head = f"for {item}, {element} in enumerate({self._expression('vector', names)}):"
            inside |= {item: "count", element: "scalar"}
        else:
            return self._while(names, depth)
        body = self._block(inside, depth, in_loop=True)
        after = inside if self._dice.random() < 0.3 else {name: inside[name] for name in names}
        names.update(after)
        return [head, *_indented(body)]

    def _while(self, names: Names, depth: int) -> Lines:
        count = self._new("c")
        inside = {**names, count: "count"}
        body = self._block(inside, depth, in_loop=True)
        names[count] = "count"
        start = self._dice.choice(("tf.constant(0)", "0"))
        more = self._expression("flag", names)
        test = self._dice.choice(
            (f"{count} < 3", f"{count} < n", f"tf.less({count}, 4)", f"{count} < 5 and {more}")
        )
        return [f"{count} = {start}", f"while {test}:", *_indented([f"{count} += 1", *body])]

    def _array(self, names: Names, depth: int) -> Lines:
        array, item, result = self._new("a"), self._new("i"), self._new("v")
        size = self._dice.choice(("0, dynamic_size=True", "n", "4", "8"))
        end = self._dice.choice(("n", "4", "8")) if size.startswith("0") else size
        inside = {**names, item: "count"}
        body = self._block(inside, depth, in_loop=False) if self._dice.random() < 0.4 else []
        value = self._expression(self._dice.choice(("scalar", "vector", "short")), inside)
        write = f"{array}.write({item}, {value})"
        if self._dice.random() < 0.9:
            write = f"{array} = {write}"
        if self._dice.random() < 0.25:
            body += [f"if {self._test(inside)}:", f"    {write}"]
        else:
            body.append(write)
        names[result] = "any"
        return [
            f"{array} = tf.TensorArray(tf.float32, {size})",
            f"for {item} in tf.range({end}):",
            *_indented(body),
            f"{result} = {array}.stack()",
        ]

    def _list(self, names: Names) -> Lines:
        items, item, result = self._new("l"), self._new("i"), self._new("v")
        over = self._dice.choice(
            ("tf.range(3)", "range(3)", "x", "tf.range(n)", "tf.unstack(x)", "range(x.shape[0])")
        )
        inside = {**names, item: "count" if "range" in over else "scalar"}
        value = self._expression(self._dice.choice(("scalar", "vector")), inside)
        names[result] = "any"
        return [
            f"{items} = []",
            f"for {item} in {over}:",
            f"    {items}.append({value})",
            f"{result} = tf.stack({items})",
        ]

    def _block(self, names: Names, depth: int, in_loop: bool) -> Lines:
        lines: Lines = []
        for _ in range(self._dice.choice((1, 1, 2))):
            lines += self._statement(names, depth - 1, in_loop=in_loop)
        draw = self._dice.random()
        if not self._leaves:
            return lines
        if in_loop and draw < 0.12:
            leave = self._dice.choice(("break", "continue"))
            if self._dice.random() < 0.3:
                return [*lines, leave]
            return [f"if {self._test(names)}:", f"    {leave}", *lines]
        if draw < 0.18:
            return [*lines, f"return {self._result(names)}"]
        return [*lines, 'raise ValueError("bad")'] if draw < 0.2 else lines

    def _result(self, names: Names) -> str:
        own = [n for n in names if n not in _GIVEN and names[n] not in ("text", "none")]
        if own and self._dice.random() < 0.9:
            return ", ".join(self._dice.sample(own, min(len(own), self._dice.choice((1, 1, 2)))))
        return self._expression(self._dice.choice(("vector", "vector", "scalar", "matrix")), names)

    def _test(self, names: Names) -> str:
        return self._expression("flag" if self._dice.random() < 0.75 else "setting", names)

    def _expression(self, sort: str, names: Names, depth: int = 2) -> str:
        own = [name for name, had in names.items() if had == sort and name not in ("x", "y")]
        if own and self._dice.random() < (0.6 if depth else 0.8):
            return self._dice.choice(own)
        options = _EXPRESSIONS[sort].split("|")
        if depth <= 0:
            options = [option for option in options if "{" not in option] or options
        made = _HOLE.sub(
            lambda hole: self._expression(hole.group(1), names, depth - 1),
            self._dice.choice(options),
        )
        return f"({made})" if " " in made else made

    def _filled(self, pattern: str, names: Names) -> str:
        sort = self._dice.choice(("vector", "scalar", "count"))
        other = self._dice.choice((sort, sort, self._dice.choice(self._sorts)))

        def drawn(hole: re.Match[str]) -> str:
            what = hole.group(1)
            if what == "test":
                return self._test(names)
            return self._expression({"A": sort, "B": other}.get(what, what), names)

        return _HOLE.sub(drawn, pattern)

    def _new(self, letter: str) -> str:
        self._made += 1
        return f"{letter}{self._made}"
