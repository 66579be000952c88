"""The installed compiler against the shipped catalogue: a sample measured again, and every replacement proven."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest

from tools.catalog.pool import listing, measure_all
from tools.catalog.replacements import proofs
from tools.catalog.rows import api_row
from xlalint import data
from xlalint.semantics.catalog.shipped import available

pytestmark = pytest.mark.compiler

_SAMPLE = 60
# Each of these compiles and runs programs, some of which kill the process: they are left out here.
_DATA_SIZED_STEPS = (
    "bounded", "bounded_gradient", "bounded_together", "bounded_together_gradient", "counted",
)  # fmt: skip
_NOT_COMPARED = (*_DATA_SIZED_STEPS, "exact_args", "replacement")
_SEED = 20


def _installed_minor() -> str:
    for package in ("tensorflow", "tensorflow-cpu"):
        try:
            return ".".join(version(package).split(".")[:2])
        except PackageNotFoundError:
            continue
    return "none"


needs_catalog = pytest.mark.skipif(
    _installed_minor() not in available(),
    reason="no shipped catalogue for the installed TensorFlow",
)


@needs_catalog
def test_measuring_again_says_the_same() -> None:
    """A seeded sample of functions that have a verdict; Keras has releases of its own, so `tf` only."""
    path = data.root() / "catalog" / f"{_installed_minor()}.json"
    shipped = json.loads(path.read_text(encoding="utf-8"))["apis"]
    measured = sorted(
        name
        for name, row in shipped.items()
        if name.startswith("tf.")
        and not name.startswith(("tf.raw_ops.", "tf.summary."))  # the latter need TensorBoard
        and row["status"] in ("compiles", "fails", "crashes")
    )
    sample = random.Random(_SEED).sample(measured, _SAMPLE)
    listed = listing()
    hosts = frozenset(name for name, row in listed["ops"].items() if row.get("host"))
    again = {
        name: api_row(listed["apis"][name]["params"], steps, hosts)
        for name, steps in measure_all(sample, jobs=1, without=_DATA_SIZED_STEPS)
    }
    differing = {
        name: (row, again[name])
        for name, row in ((name, _compared(shipped[name])) for name in sample)
        if row != again[name]
    }
    assert differing == {}


def _compared(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in _NOT_COMPARED}


@pytest.mark.parametrize("name", sorted(proofs()))
def test_a_replacement_compiles_and_agrees(name: str) -> None:
    import numpy as np
    import tensorflow as tf

    proof = proofs()[name]
    inputs = {key: _tensor(value) for key, value in proof["inputs"].items()}
    specs = [tf.TensorSpec(each.shape, each.dtype) for each in inputs.values()]
    before = _function(proof["before"], list(inputs))
    after = _function(proof["after"], list(inputs))
    compiled = tf.function(after, jit_compile=True, autograph=False)

    lowered = compiled.experimental_get_compiler_ir(*specs)(stage="hlo")
    expected = np.asarray(before(*inputs.values()))
    got = np.asarray(compiled(*inputs.values()))

    assert lowered.startswith("HloModule")
    if proof.get("agree") == "shape":
        assert (got.shape, got.dtype.kind) == (expected.shape, expected.dtype.kind)
        return
    if proof.get("head"):
        assert not got[len(expected) :].any()
        got = got[: len(expected)]
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


# One fails by its arguments, the other needs a variable that is there before the call: fixtures/XLA401 proves both.
_PROVED_ELSEWHERE = frozenset({"tf.image.resize", "tf.Variable.gather_nd"})


@pytest.mark.parametrize("name", sorted(proofs().keys() - _PROVED_ELSEWHERE))
def test_what_is_replaced_does_not_compile(name: str) -> None:
    """Otherwise the advice would be noise."""
    import tensorflow as tf

    proof = proofs()[name]
    inputs = {key: _tensor(value) for key, value in proof["inputs"].items()}
    specs = [tf.TensorSpec(each.shape, each.dtype) for each in inputs.values()]
    compiled = tf.function(
        _function(proof["before"], list(inputs)), jit_compile=True, autograph=False
    )
    with pytest.raises(Exception, match=r"No registered|compile-time constant"):
        compiled.experimental_get_compiler_ir(*specs)(stage="hlo")


def _tensor(value: Any) -> Any:
    import numpy as np
    import tensorflow as tf

    array = np.array(value)
    return tf.constant(array.astype(np.float32 if array.dtype.kind == "f" else np.int32))


def _function(expression: str, names: list[str]) -> Callable[..., Any]:
    import tensorflow as tf

    made: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {expression}", {"tf": tf})
    return made
