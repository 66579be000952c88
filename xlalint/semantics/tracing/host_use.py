"""What a library function that nobody is seen to compile does on the host, and whether that shows that its author runs it eagerly.

Kept in `Frame.host` as bits, which calls hand on to their callers.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics import evidence
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import ASSUMED, FORMATTING
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.values import ARRIVING, CONSTANT, NONE

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame
    from xlalint.semantics.index import FunctionInfo
    from xlalint.semantics.values import Value

# What no compiled code does: files, checkpoints, data sets, the training of a model.
WORK = 1
# Tensors that it computed are asked for their values (`.numpy()`), which eager code can do anywhere.
VALUES = 2
# A tf.function is called: whoever calls it drives what is compiled.
TRACES = 4


def of_fact(kind: str, frame: Frame) -> int:
    """What a fact says of code that nobody is seen to compile: who formats a tensor as a number for people has one."""
    return VALUES if kind == FORMATTING and frame.context.region == ASSUMED else 0


def of_reading(call: ast.AST, frame: Frame) -> int:
    """What `x.numpy()` and `convert_to_numpy(x)` say: who asks a parameter takes tensors and works on arrays; who asks a result may only check it."""
    if not isinstance(call, ast.Call) or frame.function is None:
        return VALUES
    asked = [*call.args, call.func.value] if isinstance(call.func, ast.Attribute) else call.args
    given = frame.function.parameter_names
    return WORK if any(isinstance(one, ast.Name) and one.id in given for one in asked) else VALUES


_CODERS = ("tf.io.encode_", "tf.io.decode_", "tf.image.encode_", "tf.image.decode_")
_ENCODERS = frozenset({"encode_jpeg", "encode_png"})
_DECODERS = frozenset({"decode_jpeg", "decode_png", "decode_image"})


def is_of_coding(name: str, frame: Frame) -> bool:
    """Whether an API codes an image in a function that decodes just that again: it wants what coding does to an image, and reads no file."""
    if not name.startswith(_CODERS) or frame.function is None:
        return False
    coded: set[str] = set()
    for node in nodes_of([frame.function.node]):
        if isinstance(node, ast.Assign) and _encodes(node.value):
            coded |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return any(
        called_name(call) in _DECODERS
        and call.args
        and (_encodes(call.args[0]) or getattr(call.args[0], "id", "") in coded)
        for call in frame.function.calls
    )


def _encodes(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and called_name(node) in _ENCODERS


def for_callers(host: int, value: Value, info: FunctionInfo) -> int:
    """What the bits of a function that returned `value` say of whoever called it.

    One that asks tensors for their values and returns numbers, arrays, nothing, or tensors made of these works on the host. One that
    returns what it computed of the tensors it was given is of the kind that steps call, and could be compiled but for that; so is a metric
    (`y_true, y_pred`) that makes tensors of numbers again, as Keras wants them.
    """
    if not host & VALUES or host & WORK:
        return host
    least = CONSTANT if info.parameter_names >= evidence.OF_LOSSES else ARRIVING
    returned = [one for one in leaves(value) if one != NONE]
    of_tensors = (one.is_tensor and one.dependence >= least for one in returned)
    if host & TRACES or not returned or not all(of_tensors):
        return host | WORK
    return host
