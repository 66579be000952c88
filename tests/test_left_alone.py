"""Code of Keras and TensorFlow Probability, which AutoGraph leaves alone whoever calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlalint.engine import check
from xlalint.project.settings import Settings
from xlalint.semantics.tracing import left_alone

SOURCE = """
import tensorflow as tf


def centred(x):
    if tf.rank(x) == 0:
        return x

    def scaled(y):
        if tf.reduce_sum(y) > 0:
            return y / tf.reduce_sum(y)
        return y

    return scaled(x - tf.reduce_mean(x))
"""


def errors_in(folder: Path) -> list[tuple[str, int]]:
    findings = check([str(folder)], Settings(root=folder.parent)).findings
    return [(f.code, f.span.line) for f in findings if f.severity.value == "error"]


def package(root: Path, name: str, *, is_package: bool = True) -> Path:
    folder = root / name
    folder.mkdir()
    if is_package:
        (folder / "__init__.py").write_text("")
    (folder / "numbers_of.py").write_text(SOURCE)
    return folder


@pytest.mark.parametrize("name", ["keras", "tf_keras", "tensorflow_probability"])
def test_conditionals_in_a_package_that_is_left_alone_stop_tracing(
    tmp_path: Path, name: str
) -> None:
    assert errors_in(package(tmp_path, name)) == [("XLA101", 6), ("XLA101", 10)]


def test_conditionals_in_other_packages_are_converted(tmp_path: Path) -> None:
    assert errors_in(package(tmp_path, "keras_helpers")) == []


def test_a_folder_of_scripts_is_no_package(tmp_path: Path) -> None:
    assert errors_in(package(tmp_path, "keras", is_package=False)) == []


@pytest.mark.compiler
def test_the_packages_are_those_of_autograph() -> None:
    from tensorflow.python.autograph.core import config, config_lib

    left = {
        rule._prefix
        for rule in config.CONVERSION_RULES
        if isinstance(rule, config_lib.DoNotConvert)
    }
    converted = {
        rule._prefix for rule in config.CONVERSION_RULES if isinstance(rule, config_lib.Convert)
    }
    assert left == left_alone.PACKAGES
    assert converted == {left_alone.CONVERTED_ALL_THE_SAME}


@pytest.mark.compiler
def test_a_conditional_in_keras_stops_tracing() -> None:
    import keras
    import tensorflow as tf

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(keras.ops.corrcoef).get_concrete_function(tf.TensorSpec([3, 4]))
