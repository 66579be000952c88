"""How far eager and compiled numbers may lie apart."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.compiler  # NumPy comes with TensorFlow

np = pytest.importorskip("numpy")

AGREE: list[tuple[Any, Any, str]] = [
    ([1.0, 2.0], [1.0, 2.0005], "float32"),
    ([100000.2], [100060.0], "float32"),
    ([0.0, 1e-9], [0.0, 0.0], "float32"),
    ([np.inf, np.nan], [np.inf, np.nan], "float32"),
    ([1.0], [1.03], "bfloat16"),
    ([1, 2], [1, 2], "int32"),
    ([], [], "float32"),
]
DIFFER: list[tuple[Any, Any, str]] = [
    ([1.0, 2.0], [1.0, 2.01], "float32"),
    ([1.0], [1.0001], "float64"),
    ([1.0], [np.nan], "float32"),
    ([1, 2], [1, 3], "int32"),
    ([True], [False], "bool"),
    ([1.0, 2.0], [1.0], "float32"),
]


def arrays(left: Any, right: Any, dtype: str) -> tuple[Any, Any]:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    return np.asarray(left, dtype), np.asarray(right, dtype)


@pytest.mark.parametrize(("left", "right", "dtype"), AGREE)
def test_rounding_is_no_difference(left: Any, right: Any, dtype: str) -> None:
    from xlalint.verify import compare

    one, other = arrays(left, right, dtype)
    assert compare.outputs([one], [other]) is None


@pytest.mark.parametrize(("left", "right", "dtype"), DIFFER)
def test_wrong_numbers_are_told(left: Any, right: Any, dtype: str) -> None:
    from xlalint.verify import compare

    one, other = arrays(left, right, dtype)
    difference = compare.outputs([one], [other])
    assert difference is not None
    assert difference.what.startswith("output 0 ")


def test_the_first_place_of_a_large_tensor_that_differs_is_named() -> None:
    from xlalint.verify import compare

    left = np.zeros((4, 5), "int32")
    right = left.copy()
    right[2, 3] = 7
    difference = compare.outputs([left], [right])
    assert difference is not None
    assert difference.what == "output 0 (int32) differs: at [2, 3] 0 eagerly, 7 under XLA"


def test_a_gradient_that_should_be_nothing_may_be_noise() -> None:
    from xlalint.verify import compare

    large, noise = np.full([10], 5.0, "float32"), np.full([10], 1e-8, "float32")
    assert compare.gradients([large, noise], [large, -noise]) is None
    difference = compare.gradients([large, noise], [large * 1.2, noise])
    assert difference is not None and difference.what == "gradient 0 differs by 0.2 of its norm"
