"""Names that would change the measuring process, wait, or write outside it, are never called."""

from __future__ import annotations

import pytest

from tools.catalog.skipped import is_skipped, why_not_measured


@pytest.mark.parametrize(
    "name",
    [
        "tf.config.run_functions_eagerly",
        "tf.debugging.enable_check_numerics",
        "tf.random.set_seed",
        "tf.experimental.numpy.experimental_enable_numpy_behavior",
        "tf.compat.v1.disable_eager_execution",
        "tf.compat.v1.reset_default_graph",
        "tf.compat.v1.train.Saver",
        "tf.distribute.experimental_set_strategy",
        "tf.saved_model.save",
        "keras.backend.clear_session",
        "keras.backend.set_floatx",
    ],
)
def test_is_never_called(name: str) -> None:
    assert is_skipped(name)


@pytest.mark.parametrize(
    "name",
    [
        "tf.unique",
        "tf.distribute.has_strategy",
        "tf.executing_eagerly",
        "tf.compat.v1.where",
        "tf.compat.v1.image.resize_images",
        "tf.compat.v1.scalar_mul",
        "keras.backend.ndim",
        "keras.ops.unique",
    ],
)
def test_is_measured(name: str) -> None:
    assert not is_skipped(name)


@pytest.mark.parametrize(
    ("name", "is_class", "why"),
    [
        ("tf.data.experimental.service.distribute", False, "an input pipeline"),
        ("keras.callbacks.EarlyStopping", True, "files, saving and loading"),
        ("tf.compat.v1.Session", True, "TensorFlow 1"),
        ("keras.layers.Layer", True, "abstract"),
        ("tf_keras.layers.Layer", True, "abstract"),
        ("keras.applications.ResNet50", False, "a whole model"),
        ("tf.sparse.SparseTensor", True, "a class"),
        ("tf.io.decode_proto", False, "protocol buffers"),
    ],
)
def test_says_why(name: str, is_class: bool, why: str) -> None:
    assert why in (why_not_measured(name, is_class) or "")


@pytest.mark.parametrize(
    "name", ["tf.unique", "keras.layers.Dense", "keras.applications.resnet.preprocess_input"]
)
def test_has_no_excuse(name: str) -> None:
    assert why_not_measured(name, name == "keras.layers.Dense") is None
