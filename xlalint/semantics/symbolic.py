"""Symbolic tensors of Keras 3: what `keras.Input` stands for, and what layers and `keras.ops` make of it in a functional model.

Functions of TensorFlow refuse them (788 of those that the catalogue knows were tried with one; the others want something else than a
tensor). Operators and subscripts of such a tensor are Keras's own, and inside a layer's `call` there are TensorFlow's tensors. Its shape is a
tuple, and of the methods of a tensor it has none.
"""

from __future__ import annotations

import ast

from xlalint.semantics.arguments import Arguments
from xlalint.semantics.elements import leaves
from xlalint.semantics.environment.rename_table import of_value, table
from xlalint.semantics.facts import RENAMED, SYMBOLIC, SYMBOLIC_TEST
from xlalint.semantics.frames import Frame
from xlalint.semantics.values import ARRIVING, FALSE, SHAPE, TENSOR, TRUE, Value

# What `Value.given` holds for such a tensor.
MARK = ("keras.Input",)
# What makes no operations where a shape is known refuses them all the same.
ASK_FOR_SHAPES = frozenset({"tf.shape", "tf.rank", "tf.size"})
# What goes through structures asks nothing of what is in them.
_TAKE_THEM = ("tf.Tensor.", "tf.nest.")
_ANSWERS = {"is_tensor": FALSE, "is_keras_tensor": TRUE}
_KERAS_TENSOR = frozenset({"is_keras_tensor"})
_QUESTIONS = frozenset({"hasattr", "getattr", "isinstance", "is_keras_tensor"})
_MODELS = ("keras.applications.", "keras.Model", "keras.Sequential")


def is_symbolic(value: Value) -> bool:
    return value.kind is TENSOR and value.given == MARK


def marked(value: Value) -> Value:
    """The value as one of a model in the making; structures of tensors stay as they are."""
    return value._replace(given=MARK) if value.kind is TENSOR else value


def end_of(model: str, attr: str, frame: Frame) -> Value | None:
    """`base.output`: where a model of Keras 3 ends, for others to go on; None of other attributes."""
    if attr not in ("input", "output") or not model.startswith(_MODELS):
        return None
    if frame.analysis.keras != "3":
        return None
    frame.analysis.makes_symbolic = True
    return marked(Value(TENSOR, ARRIVING, structured=True))


def made_by_keras(value: Value, arguments: Arguments) -> Value:
    """What a layer or a function of Keras returns: symbolic where it was given something symbolic."""
    return marked(value) if takes(arguments) else value


def takes(arguments: Arguments) -> bool:
    given = arguments.values
    return any(is_symbolic(leaf) for value in given for leaf in leaves(value))


def answer(name: str, arguments: Arguments) -> Value | None:
    """What a question for the kind of tensor is answered of one: `tf.is_tensor(x)` is False of it, `is_keras_tensor(x)` True. None of other calls."""
    leaf = name.rsplit(".", 1)[-1]
    if leaf not in _ANSWERS or len(arguments.positional) != 1:
        return None
    return _ANSWERS[leaf] if is_symbolic(arguments.positional[0]) else None


def has_attribute(value: Value, name: object) -> bool:
    """Whether one is asked for what it alone has: `hasattr(x, "_keras_history")`."""
    return is_symbolic(value) and name == "_keras_history"


def note(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    """Note a function of TensorFlow that is called with one."""
    if frame.silent or frame.caught or not isinstance(node, ast.Call) or not takes(arguments):
        return
    if _asks(frame, _KERAS_TENSOR):
        return  # in a `try`, too
    if not name.endswith("assert_equal") and not name.startswith(_TAKE_THEM):
        value = next(v for v in arguments.values)
        frame.analysis.note_anywhere(frame, node, SYMBOLIC, value, name)


def shape_of(value: Value, shape: Value) -> Value:
    """The shape of a tensor, known as that of a symbolic one."""
    return shape._replace(given=MARK) if is_symbolic(value) and shape.kind is SHAPE else shape


def note_asked(value: Value, node: ast.Attribute, frame: Frame) -> None:
    """Note an attribute that tensors and shapes have, and symbolic tensors and their tuples do not."""
    if value.given != MARK or value.kind not in (TENSOR, SHAPE):
        return
    gone = table().symbolic if value.kind is TENSOR else table().shapes
    entry = gone.get(node.attr)
    if entry is None or value.optional or value.guess or frame.silent or frame.caught:
        return
    if not _asks(frame, _QUESTIONS):
        frame.analysis.note_anywhere(frame, node, RENAMED, value, of_value(entry))


def _asks(frame: Frame, questions: frozenset[str]) -> bool:
    """Whether the function is made for tensors of several kinds, of which it asks these questions."""
    return frame.function is not None and any(
        getattr(call.func, "attr", getattr(call.func, "id", "")) in questions
        for call in frame.function.calls
    )


def note_test(node: ast.expr, value: Value, construct: str, frame: Frame) -> bool:
    """Note that Python asks one for its truth, which it has not; returns whether the value is one. `==` answers with a Python bool."""
    if not is_symbolic(value):
        return False
    if frame.silent or frame.caught or _compares_identity(node):
        return True
    frame.analysis.note_anywhere(frame, node, SYMBOLIC_TEST, value, construct)
    return True


def _compares_identity(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq))
