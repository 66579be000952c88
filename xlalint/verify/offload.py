"""What a TPU moves out of a compiled step to the host: printing.

With soft placement, the default in eager mode, TensorFlow compiles the step without `tf.print` and runs that on the host,
at the price of a transfer. XLA on a CPU has no such thing and would refuse the whole step.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from xlalint.verify.patching import Patches

_PACKAGES = ("tensorflow", "keras", "tf_keras")


class Offloaded:
    """The (path, line) of each `tf.print` that was left out of a replica's program."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self._lines: dict[tuple[str, int], None] = {}

    @property
    def lines(self) -> tuple[tuple[str, int], ...]:
        return tuple(self._lines)

    def install(self) -> None:
        """Leave prints out of what replicas of a strategy trace from now on; elsewhere they print."""
        from tensorflow.python.ops import logging_ops

        original = logging_ops.print_v2

        def print_v2(*inputs: Any, **options: Any) -> Any:
            import tensorflow as tf

            if tf.executing_eagerly() or not tf.distribute.has_strategy():
                return original(*inputs, **options)
            self._remember()
            return tf.no_op()

        patches = Patches()
        for name in ("print_v2", "print"):
            patches.put_wherever_named(original, name, print_v2, _PACKAGES)

    def _remember(self) -> None:
        from xlalint.verify.coverage import original_line

        frame = sys._getframe(2)
        while frame is not None:
            path, line = original_line(frame)
            if self._is_user(path):
                self._lines[(path, line)] = None
                return
            if frame.f_back is None:
                return
            frame = frame.f_back
