"""Steps of a loop that compute with what stands outside of it, and keep a result for the gradient.

The gradient of a loop reads what was there before the loop where it is: `total += tf.sin(x)` keeps nothing. It keeps what a step computed
wherever a gradient asks for that: the result of an operation (`tf.exp(x)`, `tf.sort(x)`), and an operand that the step has made
(`tf.square(x - y)`, `x * tf.cast(i, tf.float32)`). Numbers of Python are constants, which
it makes again. Measured of 160 expressions, in an arm of a conditional and in a loop without a bound, which agree (TensorFlow 2.21).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import trace_effects
from xlalint.semantics.names import api_name
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.values import EXTERNAL, INSTANCE, PYTHON, SHAPE, Value

# The gradient asks for the result.
_OF_RESULT = frozenset(
    "exp sqrt rsqrt tanh sigmoid relu elu gelu reciprocal clip_by_value pow reduce_max reduce_min reduce_logsumexp logsumexp norm softmax "
    "log_softmax l2_normalize matvec tensordot sort top_k boolean_mask dropout cumulative_logsumexp repeat "
    "sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits sparse_softmax_cross_entropy_with_logits".split()
)
# It asks for operands, of which those from outside are there.
_OF_OPERANDS = frozenset(
    "sin cos log square abs softplus silu leaky_relu log1p expm1 erf maximum minimum multiply divide truediv divide_no_nan "
    "squared_difference reduce_prod cumprod einsum matmul conv1d conv2d conv3d depthwise_conv2d conv2d_transpose".split()
)
# It asks where the results came from: for a condition, places, segments.
_OF_PLACES = frozenset({"where", "gather", "gather_nd", "unsorted_segment_sum"})
# It asks for nothing, but for shapes.
_OF_NOTHING = frozenset(
    "add add_n subtract negative cast reduce_sum reduce_mean reshape expand_dims squeeze transpose concat stack unstack "
    "split tile pad cumsum reverse roll diag diag_part broadcast_to moments bias_add".split()
)
# What is made of numbers alone is a constant, which the gradient makes again.
_OF_PYTHON = frozenset({"float", "int", "len"})
_CONSTANTS = _OF_PYTHON | {"constant", "ones", "zeros"}
_MODULES = ("tf.", "keras.ops.", "keras.backend.")
_PRODUCTS = (ast.Mult, ast.Div, ast.MatMult)
_SUMS = (ast.Add, ast.Sub)


class _Part(NamedTuple):
    """Whether a gradient reaches an expression, whether the step computes it, and whether it is a number that Python knows."""

    is_trained: bool = False
    is_computed: bool = False
    is_plain: bool = False


_NUMBER = _Part(is_plain=True)


def _together(parts: Iterable[_Part]) -> _Part:
    """What holds of several: one that is trained or computed is enough, all have to be numbers."""
    every = list(parts)
    return _Part(
        any(part.is_trained for part in every),
        any(part.is_computed for part in every),
        all(part.is_plain for part in every),
    )


def keeps(
    body: Iterable[ast.AST],
    own: Iterable[str],
    frame: Frame,
    may_have_gradient: Callable[[Value | None], bool],
) -> bool:
    """Whether a step keeps a result of what it computes with names from outside that may have a gradient.

    `own` are the names that each step is given.
    """
    reader = _Reader(list(body), set(own), frame, may_have_gradient)
    return reader.finds()


class _Reader:
    """Reads a step once, in the order of its statements."""

    def __init__(
        self,
        body: list[ast.AST],
        own: set[str],
        frame: Frame,
        may_have_gradient: Callable[[Value | None], bool],
    ) -> None:
        self._body = body
        self._frame = frame
        self._may_have_gradient = may_have_gradient
        self._own = own | set(_stored(body))
        self._made: dict[str, _Part] = {}
        self._is_kept = False

    def finds(self) -> bool:
        """Whether something is kept."""
        for statement in _statements(self._body):
            if isinstance(statement, (ast.For, ast.AsyncFor)):
                self._bind(statement.target, self._each(statement.iter))
                continue
            value = getattr(statement, "value", None)
            if not isinstance(value, ast.expr):
                continue
            made = self._read(value)
            if self._is_kept:
                return True
            if isinstance(statement, ast.AugAssign):
                made = _together((made, self._read(statement.target)))
            self._bind(statement, made)
        return False

    def _bind(self, root: ast.AST, part: _Part) -> None:
        self._made.update(dict.fromkeys(_stored([root]), part))

    def _each(self, items: ast.expr) -> _Part:
        """What a loop within the step is given: numbers of `range(3)` and `(0.5, 2.0)`, or what is computed of tensors."""
        if isinstance(items, ast.Call) and called_name(items) == "range":
            found = _together(self._read(argument) for argument in items.args)
        else:
            found = self._read(items)
        return _NUMBER if found.is_plain else _Part(found.is_trained, is_computed=True)

    def _read(self, node: ast.expr) -> _Part:
        if isinstance(node, ast.Constant):
            return _NUMBER
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            return _computed(self._read(node.operand))
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return self._part_of(node)
        if isinstance(node, (ast.Tuple, ast.List)):
            return _together(map(self._read, node.elts))
        if isinstance(node, ast.Call):
            return self._call(node)
        return _Part(is_computed=True)

    def _name(self, node: ast.Name) -> _Part:
        if node.id in self._own:
            return self._made.get(node.id, _Part(is_computed=True))
        value = self._frame.look_up(node.id) or self._frame.analysis.evaluate(node, self._frame)
        return _Part(self._may_have_gradient(value), is_plain=value.kind is PYTHON)

    def _part_of(self, node: ast.Attribute | ast.Subscript) -> _Part:
        """`self.rate`, `x.shape[0]`, `x[0]`."""
        names = {part.id for part in nodes_of([node]) if isinstance(part, ast.Name)}
        if not names & self._own:
            value = self._frame.analysis.evaluate(node, self._frame)
            if value.kind in (PYTHON, SHAPE):
                return _NUMBER
        if isinstance(node, ast.Attribute):
            return _Part()
        return _computed(self._read(node.value))

    def _operation(self, node: ast.BinOp) -> _Part:
        both = _together((self._read(node.left), self._read(node.right)))
        if isinstance(node.op, ast.Pow):
            self._is_kept |= both.is_trained
        elif isinstance(node.op, _PRODUCTS):
            self._is_kept |= both.is_trained and both.is_computed
        elif not isinstance(node.op, _SUMS):
            both = both._replace(is_trained=False)
        return _computed(both)

    def _call(self, node: ast.Call) -> _Part:
        given = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
        parts = [self._read(each) for each in (*given, *(k.value for k in node.keywords))]
        passed = _together(parts)
        if called_name(node) in _CONSTANTS and passed.is_plain:
            return _NUMBER if called_name(node) in _OF_PYTHON else _Part()
        api = self._api(node)
        if api.startswith("keras.layers."):
            self._is_kept |= trace_effects.has_weights(api)
        name = api.rsplit(".", 1)[-1] if passed.is_trained and api.startswith(_MODULES) else ""
        if name == "identity":
            return passed
        if name in _OF_RESULT or (passed.is_trained and api.startswith("keras.losses.")):
            self._is_kept = True
        elif name in _OF_OPERANDS:
            self._is_kept |= passed.is_computed
        elif name in _OF_PLACES:
            self._is_kept |= any(part.is_computed and not part.is_trained for part in parts)
        elif name not in _OF_NOTHING:
            return _Part(is_computed=True)
        return _Part(passed.is_trained, is_computed=True)

    def _api(self, node: ast.Call) -> str:
        """The name of the API that is called, or of the layer that an object is."""
        if not isinstance(node.func, (ast.Name, ast.Attribute)):
            return ""
        target = self._frame.analysis.evaluate(node.func, self._frame)
        return api_name(str(target.ref)) if target.kind in (EXTERNAL, INSTANCE) else ""


def _computed(part: _Part) -> _Part:
    """What a step computes of something, which it does not of numbers alone."""
    return part if part.is_plain else part._replace(is_computed=True)


def _stored(body: Iterable[ast.AST]) -> Iterator[str]:
    for part in nodes_of(body, into_functions=False):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Statements in their order, those of blocks within included; of a lambda, its expression as one that is returned."""
    for part in body:
        if isinstance(part, ast.expr):
            yield ast.copy_location(ast.Return(part), part)
        elif isinstance(part, (ast.If, ast.For, ast.While, ast.With)):
            if isinstance(part, ast.For):
                yield part
            yield from _statements([*part.body, *getattr(part, "orelse", [])])
        else:
            yield part
