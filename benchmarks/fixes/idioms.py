"""What people write that XLA cannot take as it stands, as templates that `programs.py` fills at random.

In a template, `@name` is a name of its own, and `$` stands for something drawn anew each time:

    $F $N $B $T $W   an expression: floats of the shape of `x`, a number, a mask of the shape of `x`, one truth, a whole number
    $C $R $A         a constant, the name of a reduction, and of a reduction of truths
    $f1 $f2          names of floats, the same wherever the template says so
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

# Kinds of values: floats and booleans of the shape of `x`, scalars, and whole numbers.
FLOATS, NUMBER, BOOLEANS, TRUTH, WHOLES, WHOLE = "floats number booleans truth wholes whole".split()

# Who runs the Python of a function: AutoGraph turns it into the graph's, or it runs as it is while tracing.
CONVERTED, AS_IT_IS, EITHER = "converted", "as it is", "either"


@dataclass(frozen=True, slots=True)
class Idiom:
    """Statements for the body of a function. `defines`: the kinds of the names that can be used after it.

    `rank`: the rank that `x` must have, 0 for any. `is_last`: it returns.
    """

    text: str
    defines: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    where: str = EITHER
    rank: int = 0
    is_last: bool = False

    @property
    def lines(self) -> list[str]:
        return self.text.strip("\n").split("\n")


def _idiom(text: str, where: str = EITHER, rank: int = 0, **defines: str) -> Idiom:
    return Idiom(text, MappingProxyType(defines), where, rank)


def _last(text: str, where: str = EITHER, rank: int = 0) -> Idiom:
    return Idiom(text, where=where, rank=rank, is_last=True)


BRANCHES = (
    _idiom("if $T:\n    @a = $F\nelse:\n    @a = $F", AS_IT_IS, a=FLOATS),
    _idiom("if $T:\n    @a = $N\nelse:\n    @a = $N", AS_IT_IS, a=NUMBER),
    _idiom("if $T:\n    @a, @b = $F, $N\nelse:\n    @a = $F\n    @b = $N", AS_IT_IS, a=FLOATS, b=NUMBER),
    _idiom("if $T:\n    $f1 = $F", AS_IT_IS),
    _idiom("if $T:\n    $f1 = $f1 * $C", AS_IT_IS),
    _idiom("if $T:\n    $f1 = $f1 / $N", AS_IT_IS),
    _idiom("@s = 1.0\nif $T:\n    @s = $C", AS_IT_IS, s=NUMBER),
    _idiom("if $T:\n    @a = $F\nelif $T:\n    @a = $F\nelse:\n    @a = $F", AS_IT_IS, a=FLOATS),
    _idiom("if $T:\n    $f1 = $F\nelif $T:\n    $f1 = $F", AS_IT_IS),
    _idiom("if $T:\n    @h = $F\n    @a = @h * @h\nelse:\n    @a = $F", AS_IT_IS, a=FLOATS),
    _idiom("if $T:\n    if $T:\n        $f1 = $F\n    else:\n        $f1 = $F\n    $f1 = $f1 * 2.0", AS_IT_IS),
    _idiom("@t = $T\nif @t:\n    $f1 = $F\n    $f2 = $F", AS_IT_IS),
    _idiom("@a = $F if $T else $F", AS_IT_IS, a=FLOATS),
    _idiom("@a = $N if $T else $N", AS_IT_IS, a=NUMBER),
    _idiom("@a = 1.0 if $T else $C", AS_IT_IS, a=NUMBER),
    _idiom("@t = $T and $T\n@a = tf.where(@t, $F, $F)", AS_IT_IS, a=FLOATS),
    _idiom("@t = $T or $T\n@a = tf.cast(@t, tf.float32)", AS_IT_IS, a=NUMBER),
    _idiom("@t = not $T\n@a = tf.where(@t, $N, $C)", AS_IT_IS, a=NUMBER),
    _idiom("if 0.0 < $N < 2.0:\n    $f1 = $F", AS_IT_IS),
    _idiom("if $W in [0, 2, 3]:\n    $f1 = $F", AS_IT_IS),
    _idiom("@a = 1.0 if 0 in k else 2.0", a=NUMBER),
    _idiom("@a = 1.0 if 1 not in k else 0.5", a=NUMBER),
    _idiom("match $W:\n    case 0:\n        @a = $F\n    case 1 | 2:\n        @a = $F\n    case _:\n        @a = $F", AS_IT_IS, a=FLOATS),
    _last("if $T:\n    return $F\nreturn $F", AS_IT_IS),
    _last("if $T:\n    return $F, $N\nelse:\n    return $F, $N", AS_IT_IS),
    _last("if $T:\n    return $F\n$f1 = $F\nreturn $f1 * 2.0", AS_IT_IS),
    _last("if $T:\n    return $F\nif $T:\n    return $F\nreturn $F", AS_IT_IS),
    _last("return $F if $T else $F", AS_IT_IS),
    _idiom("if tf.rank(x) == 1:\n    @a = tf.reduce_sum(x)\nelse:\n    @a = tf.reduce_max(x)", a=NUMBER),
    _idiom("if tf.equal(tf.rank(x), 2):\n    @a = tf.reduce_max(x, axis=-1)\nelse:\n    @a = x\n@b = tf.reduce_sum(@a)", b=NUMBER),
    _idiom("@p = [x, y]\n@b = tf.constant(0.0)\nif tf.greater(len(@p), 1):\n    @b = @b + 1.0", b=NUMBER),
)  # fmt: skip

LOOPS = (
    _idiom("@i = tf.constant(0)\n@n = tf.reduce_max(tf.abs(x))\nwhile @i < 4 and @n > 1.0:\n    @n = @n * 0.5\n    @i += 1", AS_IT_IS, n=NUMBER),
    _idiom("@i = tf.constant(0)\n@n = $N\nwhile @i < 3:\n    @n = @n * 0.5 + 1.0\n    @i = @i + 1", AS_IT_IS, n=NUMBER),
    _idiom("@i = tf.constant(0)\nwhile @i < 3:\n    $f1 = $f1 * 0.5 + tf.cast(@i, tf.float32)\n    @i += 1", AS_IT_IS),
    _idiom("@t = tf.zeros([])\nfor @i in range(tf.shape(x)[0]):\n    @t = @t + tf.reduce_mean(x[@i])", t=NUMBER),
    _idiom("@t = tf.zeros([])\nfor @i in tf.range(3):\n    @t = @t + tf.cast(@i, tf.float32) * $N", AS_IT_IS, t=NUMBER),
    _idiom("@t = tf.zeros([])\nfor @r in x:\n    @t = @t + tf.reduce_sum(@r)", AS_IT_IS, t=NUMBER),
    _idiom("@p = []\nfor @r in x:\n    @p.append(tf.reduce_sum(@r * @r))\n@t = tf.reduce_max(tf.stack(@p))", AS_IT_IS, t=NUMBER),
    _idiom("@t = tf.zeros([])\nfor (@l, @m, @h) in x:\n    @t = @t + @h - @l * @m", rank=2, t=NUMBER),
    _idiom("@l, @m, @h, @o = x\n@t = (@l - @m) * (@h - @o)", rank=1, t=NUMBER),
    _idiom("@h, @w = tf.shape(x)\n@a = tf.reshape(x, [@w, @h])\n@t = tf.reduce_sum(@a * @a)", rank=2, t=NUMBER),
    _idiom("@p = [@a * @b for @a, @b in zip(x, y)]\n@t = tf.reduce_sum(tf.add_n(@p))", t=NUMBER),
    _idiom("@p = [tf.cast(@i, tf.float32) * @a for @i, @a in enumerate(x)]\n@t = tf.reduce_sum(tf.add_n(@p))", t=NUMBER),
    _idiom("@t = tf.reduce_sum(next(iter(x)))", t=NUMBER),
    _idiom("@t = tf.reduce_sum(tf.add_n([*x]))", t=NUMBER),
    _idiom("@t = tf.cast(sum(k), tf.float32)", t=NUMBER),
    _idiom("@p = list(x)\n@t = tf.reduce_sum(@p[0]) - tf.reduce_sum(@p[-1])", t=NUMBER),
    _idiom("@p = tf.TensorArray(tf.float32, size=0, dynamic_size=True)\nfor @i in tf.range(tf.shape(x)[0]):\n    @p = @p.write(@i, x[@i] * $C)\n@t = tf.reduce_sum(@p.stack())", CONVERTED, t=NUMBER),
    _idiom("@p = tf.TensorArray(tf.float32, 0, True)\nfor @i in range(3):\n    @p = @p.write(@i, $F)\n@t = tf.reduce_max(@p.stack())", t=NUMBER),
    _idiom("@p = tf.TensorArray(tf.float32, size=0, dynamic_size=True)\nfor @i in range(3):\n    @p = @p.write(@p.size(), $f1 * float(@i))\n@t = tf.reduce_sum(@p.stack())", t=NUMBER),
    _idiom("@p = tf.TensorArray(tf.float32, size=1, dynamic_size=True)\n@p = @p.write(0, tf.zeros_like(x[0]))\nfor @i in tf.range(1, 4):\n    @p = @p.write(@i, x[@i] * 2.0)\n@t = tf.reduce_sum(@p.stack())", CONVERTED, t=NUMBER),
    _idiom("@p = tf.TensorArray(tf.float32, size=0, dynamic_size=True)\n@i = tf.constant(0)\nwhile @i < 4:\n    @p = @p.write(@i, x[@i] * $C)\n    @i += 1\n@t = tf.reduce_sum(@p.stack())", CONVERTED, t=NUMBER),
    _idiom("@t = tf.constant(0.0)\nfor @i in tf.range(1, 4):\n    @t += tf.reduce_sum(x[:@i] ** 2)", CONVERTED, t=NUMBER),
    _idiom("@t = tf.constant(0.0)\nfor @i in tf.range(1, 3):\n    @t += tf.reduce_$R(x[:, :@i])", CONVERTED, rank=2, t=NUMBER),
    _idiom("with tf.GradientTape() as @g:\n    @g.watch(x)\n    @i = tf.constant(0)\n    @v = x\n    while @i < 3:\n        @v = tf.sin(@v) + 0.1\n        @i += 1\n    @l = tf.reduce_sum(@v)\n@d = tf.stop_gradient(@g.gradient(@l, x))", CONVERTED, d=FLOATS),
    _idiom("with tf.GradientTape() as @g:\n    @g.watch(x)\n    @i, @v = tf.while_loop(lambda @i, @v: @i <= 2, lambda @i, @v: (@i + 1, tf.cos(@v)), (tf.constant(1), x))\n    @l = tf.reduce_sum(@v)\n@d = tf.stop_gradient(@g.gradient(@l, x))", d=FLOATS),
)  # fmt: skip

MASKS = (
    _idiom("@r = tf.reduce_$R($f1[$B])", r=NUMBER),
    _idiom("@s = $f1[$B]\n@r = tf.reduce_$R(@s)", r=NUMBER),
    _idiom("@s = tf.boolean_mask($F, $B)\n@r = tf.reduce_$R(@s)", r=NUMBER),
    _idiom("@m = $B\n@s = $f1[@m]\n@o = $f2[@m]\n@r = tf.reduce_$R(tf.square(@s - @o))", r=NUMBER),
    _idiom("@m = $B\n@s = tf.boolean_mask($f1, @m) * tf.boolean_mask($f2, @m)\n@r = tf.reduce_$R(@s)", r=NUMBER),
    _idiom("@m = $B\n@s = $f1[@m]\n@r = tf.reduce_sum(@s) / tf.cast(tf.size(@s), tf.float32)", r=NUMBER),
    _idiom("@s = tf.boolean_mask($f1, $B)\n@r = tf.reduce_max(@s) - tf.reduce_min(@s)", r=NUMBER),
    _idiom("@s = $f1[$B]\n@r = tf.reduce_mean(tf.math.log(tf.abs(@s) + 1.0))", r=NUMBER),
    _idiom("@s = tf.math.log($f1[$B])\n@r = -tf.reduce_sum(@s)", r=NUMBER),
    _idiom("@s = $f1[$B]\n@r = tf.cast(tf.size(@s), tf.float32)", r=NUMBER),
    _idiom("@s = $f1[$B]\n@r = tf.cast(tf.shape(@s)[0], tf.float32)", r=NUMBER),
    _idiom("@s = $f1[$B]\n@h = @s > $C\n@r = tf.cast(tf.reduce_$A(@h), tf.float32)", r=NUMBER),
    _idiom("@s = $f1[$B]\n@r = tf.cast(tf.math.count_nonzero(@s > $C), tf.float32)", r=NUMBER),
    _idiom("@s = $f1[$B]\n@d = @s - tf.reduce_mean(@s)\n@r = tf.reduce_mean(@d**2)", r=NUMBER),
    _idiom("@s = $f1[$B]\n@r = tf.reduce_logsumexp(@s)", r=NUMBER),
    _idiom("@s = k[k > 1]\n@r = tf.cast(tf.reduce_$R(@s), tf.float32)", r=NUMBER),
    _idiom("@s = k[k > 0]\n@r = tf.cast(tf.reduce_prod(@s), tf.float32)", r=NUMBER),
    _idiom("@s = tf.boolean_mask(x, k > 1)\n@r = tf.reduce_sum(tf.reduce_$R(@s, axis=0))", rank=2, r=NUMBER),
    _idiom("@m = $B\n@r = tf.reduce_sum(tf.where(@m, $f1, 0.0)[@m])", r=NUMBER),
    _idiom("@w = tf.where($B)\n@r = tf.reduce_$R(tf.gather_nd($f1, @w))", r=NUMBER),
    _idiom("@w = tf.where($B)\n@r = tf.cast(tf.shape(@w)[0], tf.float32)", r=NUMBER),
    _idiom("@w = tf.where($B)\n@a = tf.tensor_scatter_nd_update($f1, @w, tf.zeros([tf.shape(@w)[0]]))", a=FLOATS),
    _idiom("@w = tf.where($B)\n@a = tf.tensor_scatter_nd_update($f1, @w, tf.zeros_like(tf.gather_nd($f1, @w)))", a=FLOATS),
    _idiom("@w = tf.where($B)\n@a = tf.tensor_scatter_nd_add($f1, @w, tf.gather_nd($f2, @w) * $C)", a=FLOATS),
    _idiom("@w = tf.where($f1 > $C)[:, 0]\n@r = tf.reduce_sum(tf.gather($f2, @w))", rank=1, r=NUMBER),
    _idiom("@w = tf.where(k > 1)[:, 0]\n@r = tf.reduce_sum(tf.gather(x, @w), axis=0)\n@s = tf.reduce_max(@r)", s=NUMBER),
    _idiom("@u = tf.cast(tf.size(tf.unique(k)[0]), tf.float32)", u=NUMBER),
    _idiom("@v, _ = tf.unique(k)\n@u = tf.cast(tf.size(@v), tf.float32)", u=NUMBER),
    _idiom("@v = tf.unique(k).y\n@u = tf.cast(tf.shape(@v)[0], tf.float32)", u=NUMBER),
)  # fmt: skip

OTHERS = (
    _idiom("@a = $F / tf.cast(len(x), tf.float32)", a=FLOATS),
    _idiom("@n = tf.cast(len(k), tf.float32) / 3.0", n=NUMBER),
    _idiom("@a = $F / float(tf.size(x))", a=FLOATS),
    _idiom("@n = tf.reduce_sum($F) / len(x)", n=NUMBER),
    _idiom("@p = bool($T)\n@a = tf.where(@p, $F, $F)", a=FLOATS),
    _idiom("@p = bool($N > $C)\n@a = tf.where(@p, $N, $N)", a=NUMBER),
    _idiom("@a = $N\nprint(f'now {@a:.3f}')", a=NUMBER),
    _idiom("@a = $N\nprint('now', float(@a))", a=NUMBER),
    _idiom("@a = tf.reduce_sum(tf.math.segment_sum(x, [0, 0, 1, 1]))", a=NUMBER),
    _idiom("@a = tf.reduce_max(tf.math.segment_sum($F, [0, 0, 1, 2]))", a=NUMBER),
    _idiom("@b = tf.math.is_nan(tf.reduce_max(tf.abs($f1)))\n@a = tf.where(@b, 0.0, $f1)", a=FLOATS),
    _idiom("@b = tf.math.is_nan(tf.reduce_min($f1))\n@a = tf.where(@b, $N, $C)", a=NUMBER),
    _idiom("@b = tf.math.is_finite(tf.reduce_max(tf.abs($f1)))\n@a = tf.where(@b, $f1, tf.zeros_like($f1))", a=FLOATS),
    _idiom("@v = tf.reduce_max($f1, axis=-1, keepdims=True)\n@a = $f1 + tf.where(tf.math.is_nan(@v), 0.0, 1.0)", rank=2, a=FLOATS),
)  # fmt: skip

FAMILIES = (BRANCHES, LOOPS, MASKS, OTHERS)
