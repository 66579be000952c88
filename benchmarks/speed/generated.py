"""Sources of any size, to see how costs grow: long files, long functions, call chains, deep classes, deep expressions.

Each shape is a small project whose size grows with `n`, with something to find at its far end: a condition on a tensor
where AutoGraph converts nothing, or a mask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

_IMPORT = "import tensorflow as tf\n\n\n"
_ROOT = "@tf.function(autograph=False)\n"


@dataclass(frozen=True)
class Shape:
    """One kind of source. `make` gives file names and texts for a size; the benchmark compares `size`, half and a quarter."""

    name: str
    make: Callable[[int], dict[str, str]]
    size: int


def long_file(n: int) -> dict[str, str]:
    """`n` functions of 20 lines each, with branches, loops and literals."""
    return {"long_file.py": _IMPORT + "".join(_one_function(i) for i in range(n)) + _end()}


def _one_function(i: int) -> str:
    return (
        f"class Layer{i}(tf.keras.layers.Layer):\n"
        "    def __init__(self, units=8, **kwargs):\n"
        "        super().__init__(**kwargs)\n"
        "        self.units = units\n"
        "        self.dense = tf.keras.layers.Dense(units)\n\n"
        "    def call(self, inputs, training=False):\n"
        '        """Something to read."""\n'
        "        x = self.dense(inputs)\n"
        "        table = {'a': [1, 2, 3], 'b': (4, 5, 6), 'c': {'d': x}}\n"
        "        for scale in (1.0, 2.0, 3.0):\n"
        "            if training and scale > 1.0:\n"
        "                x = x * scale + tf.reduce_mean(x, axis=-1, keepdims=True)\n"
        "            else:\n"
        "                x = tf.nn.relu(x) / scale\n"
        "        if table['a'][0] == 2:\n"
        "            x = tf.concat([x, x], axis=-1)\n"
        f"        return helper{i}(x)\n\n\n"
        f"def helper{i}(x):\n    return tf.reshape(x, [tf.shape(x)[0], -1])\n\n\n"
    )


def _end() -> str:
    return _ROOT + "def end(x):\n" + _far_end()


def long_function(n: int) -> dict[str, str]:
    """One function of `n` groups of statements, each with names of its own, a branch and a loop."""
    body = "".join(
        f"    a{i} = tf.nn.relu(x) + {i}.0\n"
        f"    b{i} = [a{i}, x, a{i} * 2]\n"
        f"    if flag == {i}:\n        a{i} = a{i} + 1\n    else:\n        c{i} = a{i} - 1\n"
        f"    for d{i} in b{i}:\n        x = x + d{i}\n"
        for i in range(n)
    )
    return {
        "long_function.py": f"{_IMPORT}{_ROOT}def f(x, flag=0):\n{body}    return x[x > 0]\n\n\n{_end()}"
    }


def call_chain(n: int) -> dict[str, str]:
    """`f0` calls `f1`, which calls `f2`, and so on."""
    return {"call_chain.py": _IMPORT + _chain(range(n), n)}


def _chain(numbers: range, n: int) -> str:
    return "".join(
        (_ROOT if i == 0 else "")
        + f"def f{i}(x):\n"
        + (f"    y = x + {i}\n    return f{i + 1}(y)\n\n\n" if i + 1 < n else _far_end())
        for i in numbers
    )


def _far_end() -> str:
    return "    if tf.reduce_sum(x) > 0:\n        return x\n    return -x\n"


def call_chain_across_modules(n: int) -> dict[str, str]:
    """The same, with ten functions in each module."""
    files = {"chain/__init__.py": ""}
    for first in range(0, n, 10):
        text = _chain(range(first, min(first + 10, n)), n)
        imports = f"from chain.part{first + 10} import f{first + 10}\n" if first + 10 < n else ""
        files[f"chain/part{first}.py"] = imports + _IMPORT + text
    return files


def method_chain(n: int) -> dict[str, str]:
    """A layer whose methods call one another."""
    methods = "".join(
        f"    def step{i}(self, x):\n"
        + (
            f"        return self.step{i + 1}(x * 2)\n\n"
            if i + 1 < n
            else "        return x[x > 0]\n"
        )
        for i in range(n)
    )
    return {
        "method_chain.py": f"{_IMPORT}class Long(tf.keras.layers.Layer):\n"
        f"    def call(self, inputs):\n        return self.step0(inputs)\n\n{methods}"
    }


def layers_in_layers(n: int) -> dict[str, str]:
    """Layers that each hold the one before."""
    first = (
        "class L0(tf.keras.layers.Layer):\n    def call(self, x):\n        return x[x > 0]\n\n\n"
    )
    others = "".join(
        f"class L{i}(tf.keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.inner = L{i - 1}()\n\n    def call(self, x):\n        return self.inner(x) + 1\n\n\n"
        for i in range(1, n)
    )
    return {"layers_in_layers.py": _IMPORT + first + others}


def layers_in_modules(n: int) -> dict[str, str]:
    """A layer and a function that makes one in each module of a package that computes in mixed precision."""
    one = (
        "class L{0}(tf.keras.layers.Layer):\n    def call(self, x):\n        return x[x > 0]\n\n\n"
        "def make{0}():\n    return L{0}(name='l{0}')\n"
    )
    files = {f"layers/l{i}.py": _IMPORT + one.format(i) for i in range(n)}
    policy = "tf.keras.mixed_precision.set_global_policy('mixed_bfloat16')\n"
    return {"layers/__init__.py": "", "layers/policy.py": _IMPORT + policy, **files}


def class_hierarchy(n: int) -> dict[str, str]:
    """Layers that each inherit from the one before and call what it does."""
    first = (
        "class C0(tf.keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n        self.w0 = 1\n\n"
        "    def call(self, x):\n        return x[x > 0]\n\n\n"
    )
    others = "".join(
        f"class C{i}(C{i - 1}):\n    def __init__(self):\n        super().__init__()\n        self.w{i} = {i}\n\n"
        f"    def call(self, x):\n        return super().call(x) + self.w{i}\n\n\n"
        for i in range(1, n)
    )
    return {"class_hierarchy.py": _IMPORT + first + others}


def branches(n: int) -> dict[str, str]:
    """One `if` with `n` branches."""
    arms = "".join(f"    elif mode == {i}:\n        y{i} = x + {i}\n" for i in range(1, n))
    text = f"{_ROOT}def f(x, mode):\n    if mode == 0:\n        y0 = x\n{arms}    return x[x > 0]\n\n\n"
    return {"branches.py": _IMPORT + text + _end()}


def nested_blocks(n: int) -> dict[str, str]:
    """`n` functions with 30 blocks in one another: Python allows 100 indents."""
    depth = 30
    kinds = ("if flag{0}:", "for i{0} in range(3):", "with tf.name_scope('s{0}'):")
    nest = "".join("    " * (d + 1) + kinds[d % 3].format(d) + "\n" for d in range(depth))
    inside = "    " * (depth + 1) + "x = x + 1\n"
    flags = ", ".join(f"flag{d}=None" for d in range(0, depth, 3))
    one = f"def f{{}}(x, {flags}):\n{nest}{inside}    return tf.reduce_sum(x)\n\n\n"
    text = "".join(_ROOT + one.format(i) for i in range(n))
    return {"nested_blocks.py": _IMPORT + text + _end()}


def nested_expressions(n: int) -> dict[str, str]:
    """Parentheses, lists, calls, sums and conditions `n` deep, a line for each (Python allows 200 parentheses)."""

    def nested(opening: str, closing: str = "") -> str:
        return "(" + f"{opening}\n" * n + "x" + closing * n + ")"

    text = (
        f"def f(x):\n    a = {nested('(', ' + 1)')}\n    b = {nested('[', ']')}\n    c = {nested('tf.abs(', ')')}\n"
        f"    d = {nested('not')}\n    e = {nested('x +')}\n    g = {nested('x if x is None else')}\n"
        f"    return a, b, c, d, e, g\n\n\n"
    )
    return {"nested_expressions.py": _IMPORT + text + _end()}


def literals(n: int) -> dict[str, str]:
    """Tables of `n` rows, at module level and in a function."""
    rows = "".join(f"    ({i}, 'name{i}', [{i}, {i + 1}], {i}.5),\n" for i in range(n))
    pairs = "".join(f"    'key{i}': {i},\n" for i in range(n))
    inside = (
        f"def table(x):\n  y = [\n{rows}  ]\n  z = {{\n{pairs}  }}\n  return x[x > 0], y, z\n\n\n"
    )
    return {
        "literals.py": f"{_IMPORT}ROWS = [\n{rows}]\nPAIRS = {{\n{pairs}}}\n\n\n{inside}{_end()}"
    }


def recursion_between_modules(n: int) -> dict[str, str]:
    """`n` pairs of functions in two modules that call each other, and each the next pair."""

    def module(name: str, other: str) -> Iterator[str]:
        yield f"import {other}\n{_IMPORT}"
        for i in range(n):
            following = f"\n    x = {other}.f{i + 1}(x)" if i + 1 < n else ""
            root = _ROOT if i == 0 and name == "one" else ""
            yield f"{root}def f{i}(x):{following}\n    y = {other}.f{i}(x * 2)\n    return tf.reduce_sum(x + y)\n\n\n"

    return {
        "one.py": "".join(module("one", "two")),
        "two.py": "".join(module("two", "one")) + _end(),
    }


def hazards(n: int) -> dict[str, str]:
    """One compiled function with `n` of each of the things that rules look at."""
    groups = "".join(
        f"    kept{i} = x[x > {i}.0]\n    ids{i}, _ = tf.unique(kept{i})\n    total = total + tf.reduce_sum(kept{i})\n"
        f"    if tf.reduce_max(x) > {i}.0:\n        y{i} = x + 1.0\n    else:\n        y{i} = x - 1.0\n"
        f"    while tf.reduce_sum(y{i}) > {i}.0:\n        y{i} = y{i} * 0.5\n"
        f"    rows{i} = tf.TensorArray(tf.float32, 4)\n    for j in tf.range(4):\n        rows{i} = rows{i}.write(j, y{i}[j])\n"
        f"    with tf.GradientTape() as tape:\n        loss = tf.reduce_sum(tf.cumsum(y{i}))\n"
        f"    x = x - tape.gradient(loss, x) + tf.random.normal([4]) + rows{i}.stack()\n"
        f"    tf.print(loss)\n    tf.debugging.assert_positive(loss)\n    z = tf.zeros([tf.cast(loss, tf.int32)])\n"
        for i in range(n)
    )
    text = f"@tf.function\ndef f(x):\n    total = 0.0\n{groups}    return total, x, z\n\n\n"
    return {"hazards.py": _IMPORT + text + _end()}


def structures(n: int) -> dict[str, str]:
    """Lists and dictionaries that each hold the one before twice."""
    lines = "".join(
        f"    a{i} = [a{i - 1}, a{i - 1}]\n    b{i} = {{'a': a{i}, 'b': b{i - 1}, 'c': b{i - 1}}}\n"
        for i in range(1, n)
    )
    text = f"{_ROOT}def f(x):\n    a0 = tf.abs(x)\n    b0 = {{}}\n{lines}    return tf.stack(a{n - 1})\n\n\n"
    return {"structures.py": _IMPORT + text + _end()}


SHAPES = (
    Shape("20,000-line file", long_file, 900),
    Shape("long function", long_function, 2000),
    Shape("long list of hazards", hazards, 800),
    Shape("chain of 2,000 calls", call_chain, 2000),
    Shape("chain across modules", call_chain_across_modules, 2000),
    Shape("chain of methods", method_chain, 2000),
    Shape("layers in layers", layers_in_layers, 800),
    Shape("layers in modules", layers_in_modules, 800),
    Shape("class hierarchy", class_hierarchy, 400),
    Shape("if with 2,000 elifs", branches, 2000),
    Shape("nested blocks", nested_blocks, 400),
    Shape("nested expressions", nested_expressions, 160),
    Shape("literals", literals, 8000),
    Shape("nested structures", structures, 800),
    Shape("recursion of modules", recursion_between_modules, 800),
)
