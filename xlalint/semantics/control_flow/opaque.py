"""Objects that no conditional of the graph can choose between: of classes that TensorFlow does not take apart into tensors.

It does take apart dictionaries, lists and tuples, classes that inherit from them, named tuples, what `attrs` makes, extension types (TensorFlow
Probability's distributions among them) and what has `__tf_flatten__` (measured on TensorFlow 2.21).
"""

from __future__ import annotations

import ast

from xlalint.semantics.index import ClassInfo
from xlalint.semantics.names import api_name
from xlalint.semantics.values import INSTANCE, Value, class_name

_OF_KERAS = ("keras.layers.", "keras.Sequential", "keras.Model")
_FLATTENED = "__tf_flatten__"


def is_opaque(value: Value) -> bool:
    """Whether a value is such an object: of a plain class of the project, a data class among them, or a layer of Keras."""
    if value.kind is not INSTANCE:
        return False
    if isinstance(value.ref, ClassInfo):
        return _is_plain(value.ref)
    return api_name(class_name(value) or "").startswith(_OF_KERAS)


def _is_plain(cls: ClassInfo) -> bool:
    """Whether a class inherits from nothing, and nothing but Python's own `dataclass` makes something else of it."""
    node = cls.node
    bases = {ast.unparse(base) for base in node.bases}
    decorators = {ast.unparse(one).partition("(")[0] for one in node.decorator_list}
    if not bases <= {"object"} or node.keywords or _FLATTENED in cls.methods:
        return False
    is_pythons = "from dataclasses import" in cls.module.text
    return decorators <= {"dataclasses.dataclass", *(("dataclass",) if is_pythons else ())}
