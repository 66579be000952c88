"""Methods of Keras that run the whole of a loop, or hand weights out as arrays: no function that is traced can hold them.

Measured with Keras 3.15 on TensorFlow 2.21, with tf_keras 2.21 and with Keras 2.15, in a tf.function with and without
`jit_compile=True` and in `train_step` (fixtures/XLA105/flagged_loops_of_keras.py): `fit`, `evaluate`, `predict` and `predict_on_batch`
are refused whatever they are given, arrays included, and so are `get_weights` and `save_weights`. `set_weights` assigns, and compiles.
"""

from __future__ import annotations

import ast
import re

from xlalint.semantics.classes import LAYER, METRIC, MODEL, external_role
from xlalint.semantics.facts import COMPILED, KERAS_LOOP, WEIGHTS_AS_ARRAYS
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ClassInfo
from xlalint.semantics.syntax import receiver_name
from xlalint.semantics.values import INSTANCE, UNKNOWN, Value, class_name

LOOPS = frozenset({"evaluate", "fit", "predict", "predict_on_batch"})
READS_WEIGHTS = frozenset({"get_weights", "save_weights"})
_OF_KERAS = frozenset({LAYER, METRIC, MODEL})
_MOST_POSITIONAL = {"get_weights": 0, "predict": 1, "predict_on_batch": 1, "save_weights": 1}
_KEYWORDS = frozenset(
    "x y batch_size epochs verbose callbacks validation_data validation_split shuffle class_weight sample_weight steps "
    "steps_per_epoch validation_steps return_dict filepath overwrite max_queue_size workers use_multiprocessing".split()
)
# What people call a model that they are handed: `self.teacher.predict(x)`. Filters, processes and trees predict as well, and have other names.
_MODEL_NAME = re.compile(
    r"(^|_)(actor|critic|discriminator|generator|model|net|network|student|teacher)(_|$)"
)


def note(base: Value, attr: str, node: ast.AST, frame: Frame) -> None:
    """Note a call of such a method in a function that is compiled."""
    if frame.context.region != COMPILED or attr not in LOOPS | READS_WEIGHTS:
        return
    if _is_of_keras(base, attr, node, frame):
        kind = WEIGHTS_AS_ARRAYS if attr in READS_WEIGHTS else KERAS_LOOP
        frame.analysis.note(frame, node, kind, base._replace(guess=False))


def _is_of_keras(base: Value, attr: str, node: ast.AST, frame: Frame) -> bool:
    if base.kind is UNKNOWN:
        return (
            frame.module.mentions("keras")
            and _MODEL_NAME.search(receiver_name(node).lower()) is not None
            and not frame.analysis.modules.project.mentions(f"def {attr}(")
            and _is_called_so(node, attr)
        )
    if base.kind is not INSTANCE or not _is_called_so(node, attr):
        return False
    if isinstance(base.ref, ClassInfo):
        role = frame.analysis.classes.role(base.ref)
    else:
        role = external_role(class_name(base) or "")
    wanted = _OF_KERAS if attr in READS_WEIGHTS else {MODEL}
    return role is not None and role.kind in wanted


def _is_called_so(node: ast.AST, attr: str) -> bool:
    """Whether a call fits the method of Keras: of what may be a model or an object with a `predict` of its own, others are calls of the latter."""
    if not isinstance(node, ast.Call):
        return False
    names = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
    return len(node.args) <= _MOST_POSITIONAL.get(attr, 2) and names <= _KEYWORDS
