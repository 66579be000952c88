"""Every public symbol is covered, or said not to be and why."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import pytest

from tools.catalog import coverage
from tools.catalog.coverage import Covered
from tools.catalog.pool import declared_symbols
from xlalint.semantics.catalog.catalog import Catalog
from xlalint.semantics.catalog.shipped import available, load

OPS = {"Where": {"kernel": True}, "Unused": {}}
APIS = {
    "tf.where": {"status": "compiles", "ops": ["Where"], "returns": "tensor"},
    "tf.is_tensor": {"status": "not-compute", "returns": "python"},
    "tf.data.Dataset": {"status": "not-compute", "returns": "object", "why": "an input pipeline"},
    "tf.puzzling": {"status": "untraced"},
    "tf.unsaid": {"status": "not-compute"},
}
TINY = Catalog(
    {"tensorflow": "2.21.0", "keras": None, "ops": OPS, "apis": APIS, "aliases": {"tf.where_v2": "tf.where"}}
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "state", "why"),
    [
        ("tf.where", coverage.MEASURED, None),
        ("tf.where_v2", coverage.MEASURED, None),
        ("tf.raw_ops.Unused", coverage.REGISTRY, None),
        ("tf.is_tensor", coverage.NO_COMPUTATION, None),
        ("tf.data.Dataset", coverage.NOT_MEASURED, "an input pipeline"),
        ("tf.puzzling", coverage.UNEXPLAINED, None),
        ("tf.unsaid", coverage.UNEXPLAINED, None),
        ("tf.new", coverage.MISSING, None),
    ],
)
def test_how_a_symbol_is_covered(name: str, state: str, why: str | None) -> None:
    assert coverage.coverage({name: "callable"}, TINY) == [Covered(name, state, why)]


def test_values_need_no_cover() -> None:
    assert coverage.coverage({"tf.float32": "value"}, TINY) == []


def test_the_report_counts_and_names_what_is_open() -> None:
    rows = coverage.coverage(dict.fromkeys(("tf.where", "tf.new", "tf.data.Dataset"), "callable"), TINY)  # fmt: skip

    text = coverage.report(rows)

    assert "     1  an input pipeline\n" in text
    assert text.endswith("missing: tf.new\n")


def _installed() -> str:
    for package in ("tensorflow", "tensorflow-cpu"):
        try:
            return ".".join(version(package).split(".")[:2])
        except PackageNotFoundError:
            continue
    return "none"


@pytest.mark.compiler
@pytest.mark.skipif(
    _installed() not in available(), reason="no shipped catalogue for the installed TensorFlow"
)
def test_no_public_symbol_is_missing() -> None:
    """What the packages declare, against the catalogue of their version."""
    rows = coverage.coverage(declared_symbols()["symbols"], load(_installed()))

    assert len(rows) > 4000
    assert [row for row in rows if row.state in (coverage.MISSING, coverage.UNEXPLAINED)] == []
