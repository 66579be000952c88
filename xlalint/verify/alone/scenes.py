"""The shapes that the data of one call have, and small made-up arrays of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

_SEED = 7
_BY_RANK: dict[int, tuple[int, ...]] = {
    0: (),
    1: (6,),
    2: (4, 3),
    3: (2, 5, 4),
    4: (2, 8, 8, 3),
    5: (1, 4, 4, 4, 2),
    6: (1, 2, 4, 4, 4, 2),
}


@dataclass(frozen=True, slots=True)
class Scene:
    """`shape` is that of floats, of which the last axis is features or classes. The same scene draws the same numbers."""

    name: str
    shape: tuple[int, ...]
    dice: Any = field(default_factory=lambda: np.random.RandomState(_SEED), compare=False)

    @property
    def classes(self) -> int:
        return self.shape[-1] if self.shape else 3

    def of_rank(self, rank: int) -> tuple[int, ...]:
        """The scene's own shape where it has this rank, else a usual one."""
        return self.shape if len(self.shape) == rank else _BY_RANK.get(rank, (2,) * rank)

    def floats(self, *shape: int) -> Any:
        """float32 values in [0.05, 0.95)."""
        return np.asarray(self.dice.rand(*shape) * 0.9 + 0.05, "float32")

    def integers(self, limit: int, *shape: int) -> Any:
        """int32 values in [0, limit)."""
        return np.asarray(self.dice.randint(0, limit, shape), "int32")

    def booleans(self, *shape: int) -> Any:
        """Mostly true, never all the same where there are several."""
        drawn = np.asarray(self.dice.rand(*shape) < 0.7)
        if drawn.size > 1:
            drawn.flat[0], drawn.flat[-1] = True, False
        return drawn

    def boxes(self, *leading: int) -> Any:
        """Boxes of four numbers: two corners, the second beyond the first."""
        corner = self.floats(*leading, 2) * 0.4
        return np.concatenate([corner, corner + 0.1 + self.floats(*leading, 2) * 0.4], -1).astype(
            "float32"
        )

    def unit(self, *shape: int) -> Any:
        values = self.floats(*shape)
        return (values / np.linalg.norm(values, axis=-1, keepdims=True)).astype("float32")

    def positive_definite(self, size: int) -> Any:
        half = self.floats(size, size)
        return (half @ half.T + size * np.eye(size)).astype("float32")

    def adjacency(self, size: int) -> Any:
        upper = np.triu(self.dice.rand(size, size) < 0.6, 1)
        return (upper + upper.T + np.eye(size)).astype("float32")

    def sparse(self, rows: int, columns: int) -> Any:
        full = self.adjacency(max(rows, columns))[:rows, :columns]
        return tf.sparse.from_dense(full)

    def ragged(self, width: int = 0) -> Any:
        values = self.floats(6, width) if width else self.floats(6)
        return tf.RaggedTensor.from_row_splits(values, [0, 2, 3, 6])


SHAPES: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("matrix", (4, 3)),
    ("sequence", (2, 5, 4)),
    ("images", (2, 8, 8, 3)),
    ("vector", (6,)),
    ("square", (3, 3)),
    ("image", (8, 8, 3)),
    ("fields", (4, 1, 3)),
    ("volume", (1, 4, 4, 4, 2)),
    ("scalar", ()),
)
# With a configuration: its sizes are shrunk to these (`configs`).
CONFIGURED: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("hidden states", (2, 8, 16)),
    ("token ids", (2, 8)),
    ("pictures", (2, 3, 32, 32)),
    ("pictures, channels last", (2, 32, 32, 3)),
    ("features", (2, 16)),
)
# Models and layers that look at pictures halve them again and again.
PICTURES: tuple[tuple[str, tuple[int, ...]], ...] = (("pictures", (2, 64, 64, 3)),)


def scene(name: str, shape: tuple[int, ...]) -> Scene:
    return Scene(name, shape)
