"""Run everything eagerly, tf.functions included: the reference that compiled numbers are held against."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import tensorflow as tf

from xlalint.verify.patching import Patches


@contextmanager
def everything() -> Iterator[None]:
    """While open, tf.functions run as Python, and the stand-in for a TPU lets `strategy.run` be eager."""
    patches = Patches()
    strategies = sys.modules.get("xlalint.verify.standin_strategy")
    patches.put_if_present(strategies, "_validate_run_function", lambda fn: None)
    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(before)
        patches.undo()
