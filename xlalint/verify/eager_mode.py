"""Eager execution, turned on again after a program under test that turned it off, as tests of TensorFlow 1 do in their `setUp`.

`tf.compat.v1.disable_eager_execution` holds for the whole process, and functions are driven and compared eagerly after it.
"""

from __future__ import annotations

import sys
from typing import Any


def restore() -> None:
    """Undo `disable_eager_execution`. TensorFlow's own `enable_eager_execution` refuses once a graph was made."""
    context: Any = sys.modules.get("tensorflow.python.eager.context")
    if context is None or context.default_execution_mode == context.EAGER_MODE:
        return
    context.default_execution_mode = context.EAGER_MODE
    known = context.context_safe()
    if known is not None:
        known._thread_local_data.is_eager = True
