"""Objects that no conditional of the graph can choose between: of classes that TensorFlow does not take apart into tensors.

It does take apart dictionaries, lists and tuples, classes that inherit from them, named tuples, what `attrs` makes, extension types (TensorFlow
Probability's distributions among them) and what has `__tf_flatten__` (measured on TensorFlow 2.21).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from xlalint.semantics.index import ClassInfo
from xlalint.semantics.names import api_name
from xlalint.semantics.values import INSTANCE, Value, class_name

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

_OF_KERAS = ("keras.layers.", "keras.Sequential", "keras.Model")
_FLATTENED = "__tf_flatten__"


def is_opaque(value: Value, analysis: Analysis) -> bool:
    """Whether a value is such an object: of a plain class of the project, a data class among them, or a layer of Keras."""
    if value.kind is not INSTANCE:
        return False
    if isinstance(value.ref, ClassInfo):
        return _is_plain(value.ref, analysis)
    return api_name(class_name(value) or "").startswith(_OF_KERAS)


def _is_plain(cls: ClassInfo, analysis: Analysis) -> bool:
    """Whether a class inherits from nothing, and nothing but Python's own `dataclass` makes something else of it."""
    bases = {ast.unparse(base) for base in cls.node.bases}
    if not bases <= {"object"} or cls.node.keywords or _FLATTENED in cls.methods:
        return False
    return set(analysis.objects.decorators(cls)) <= {"dataclasses.dataclass"}
