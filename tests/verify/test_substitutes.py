"""What counts as out of reach, and the shapes of what stands in for the data sets of Keras."""

from __future__ import annotations

import socket
import urllib.error
from collections.abc import Iterator
from typing import Any

import pytest

from xlalint.verify import substitutes

np = pytest.importorskip("numpy")


def wrapped() -> Exception:
    try:
        try:
            raise socket.gaierror(-2, "Name or service not known")
        except OSError as error:
            raise RuntimeError("no data") from error
    except RuntimeError as error:
        return error


REACHED: list[tuple[BaseException, bool]] = [
    (urllib.error.URLError("refused"), True),
    (Exception("URL fetch failure on https://x: None -- [Errno -2]"), True),
    (OSError("We couldn't connect to 'https://huggingface.co' to load the files"), True),
    (ConnectionResetError(), True),
    (wrapped(), True),
    (FileNotFoundError(2, "No such file or directory", "data.csv"), False),
    (ValueError("shapes differ"), False),
]


@pytest.mark.parametrize(("error", "expected"), REACHED)
def test_what_the_network_was_needed_for(error: BaseException, expected: bool) -> None:
    assert substitutes.is_unreachable(error) is expected


# As the reference of Keras gives them: features and labels of both parts.
SHAPES = {
    "mnist": ["uint8(60000, 28, 28)", "uint8(60000,)", "uint8(10000, 28, 28)", "uint8(10000,)"],
    "cifar10": [
        "uint8(50000, 32, 32, 3)",
        "uint8(50000, 1)",
        "uint8(10000, 32, 32, 3)",
        "uint8(10000, 1)",
    ],
    "imdb": ["object(25000,)", "int64(25000,)", "object(25000,)", "int64(25000,)"],
    "reuters": ["object(8982,)", "int64(8982,)", "object(2246,)", "int64(2246,)"],
    "boston_housing": ["float64(404, 13)", "float64(404,)", "float64(102, 13)", "float64(102,)"],
}


def parts(data: Any) -> Iterator[Any]:
    for features, labels in data:
        yield from (features, labels)


@pytest.mark.parametrize("name", SHAPES)
def test_what_stands_in_has_the_published_shapes_and_dtypes(name: str) -> None:
    made = substitutes._DATASETS[name]()
    assert [f"{part.dtype}{part.shape}" for part in parts(made)] == SHAPES[name]


def test_texts_are_as_asked_for() -> None:
    (texts, labels), _ = substitutes._DATASETS["imdb"](num_words=50, maxlen=20)
    assert max(max(text) for text in texts) < 50
    assert max(len(text) for text in texts) == 20
    assert set(labels.tolist()) == {0, 1}
