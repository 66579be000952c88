"""What a mask keeps of a tensor: the words that the reader, the follower and the writer of full tensors share."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import libcst as cst

from xlalint.fixes.ranks import Rank

VALUES = "values"
# What one-argument tf.where gives: a row of indices for each kept element...
INDICES = "indices"
# ... and a column of it, for a mask of one axis.
POSITIONS = "positions"
# ... and what tf.gather takes with rows of one index: a column, too.
COLUMN = "column"
WITHOUT_FULL_FORM = (INDICES, COLUMN)


@dataclass(frozen=True, slots=True)
class Mask:
    """A mask as the program has it: two are one when their keys are equal.

    `node` is its expression; `template` makes the code of the mask from that of `node` where they differ, and `of` is the
    tensor whose axis `axis` a slice shortens. `made_by`: the suppression of boxes that is asked for the mask, too.
    `bound` is what the length of the mask is read from, `rows` the identity of the tensor whose rows it counts.
    """

    key: Hashable
    node: cst.BaseExpression
    rank: Rank | None
    template: str = "{}"
    of: cst.BaseExpression | None = None
    axis: int = 0
    made_by: cst.Call | None = None
    bound: tuple[cst.BaseExpression, ...] = ()
    rows: Hashable | None = None

    @property
    def is_vector(self) -> bool | None:
        """Whether it has one axis; None where that is not known."""
        if self.rank is None or self.rank.base is not None:
            return None
        return self.rank.more == 1

    @property
    def is_counted(self) -> bool:
        """Whether there never was a tensor of its size: what the kept elements meet is as long as they are, or one number."""
        return self.made_by is not None or (self.template != "{}" and self.of is None)

    @property
    def is_named(self) -> bool:
        return isinstance(self.node, cst.Name) and self.template == "{}"


@dataclass(frozen=True, slots=True)
class Kept:
    """What an expression holds of a full tensor. `trailing` is how many axes stand behind the masked ones (None: not known),
    `leading` how many before them. `is_source`: here the elements are picked out; `whole` is the tensor that they are of, or
    `text` its code. `doubt`: what is taken for granted.
    """

    kind: str
    mask: Mask
    trailing: int | None
    leading: int = 0
    is_source: bool = False
    whole: cst.BaseExpression | None = None
    text: str | None = None
    doubt: str | None = None
