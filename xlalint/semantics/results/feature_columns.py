"""Columns of `tf.feature_column`: which of them are made of sparse tensors, for which XLA has no kernels.

Numbers, buckets, and the indicators of buckets and of whole numbers compile; embeddings, crossings, vocabularies, hashes and weights do
not (measured, TensorFlow 2.12 and 2.15, for tables of strings and of whole numbers: fixtures/XLA405/flagged_feature_columns.py). Keras 3
has no layer that takes columns.
"""

from __future__ import annotations

from collections.abc import Mapping

from xlalint.semantics.arguments import Arguments, bind
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import Verdict
from xlalint.semantics.joins import alternatives
from xlalint.semantics.values import INSTANCE, NOTHING_KNOWN, Made, Value, class_name

# Why a verdict fails: such columns are there, or nobody knows which they are (`possible`).
REASON = "columns"
PARAMETER = "feature_columns"
LAYER = "keras.layers.DenseFeatures"
_HOMES = ("tf.feature_column.", "tf.compat.v1.feature_column.")
# The last of these combines the embeddings of a row, by their mean unless the column says otherwise.
_EMBEDS = ("SparseReshape", "SparseFillEmptyRows", "SparseSegmentMean")
# What XLA lacks for a column itself, whatever it is made of.
_LACKS = {
    "numeric_column": (),
    "bucketized_column": (),
    "indicator_column": (),
    "categorical_column_with_identity": (),
    "embedding_column": _EMBEDS,
    "shared_embeddings": _EMBEDS,
    "shared_embedding_columns": _EMBEDS,
    "crossed_column": ("SparseCross",),
    "weighted_categorical_column": ("SparseReorder",),
    "categorical_column_with_hash_bucket": ("AsString", "StringToHashBucketFast"),
    "categorical_column_with_vocabulary_list": ("LookupTableFindV2",),
    "categorical_column_with_vocabulary_file": ("LookupTableFindV2",),
}
# Columns made of another: the parameter that is given it.
_OF_ANOTHER = {
    "indicator_column": "categorical_column",
    "embedding_column": "categorical_column",
    "weighted_categorical_column": "categorical_column",
}


def may_make(name: str) -> bool:
    """Whether calling an API of this name makes a column."""
    return name.startswith(_HOMES) and name.rpartition(".")[2] in _LACKS


def made(name: str, arguments: Arguments) -> Value:
    """The column that such an API makes."""
    parameter = _OF_ANOTHER.get(name.rpartition(".")[2])
    if parameter is None:
        return Value(INSTANCE, ref=name)
    inner = bind((parameter,), arguments).get(parameter, NOTHING_KNOWN)
    return Value(INSTANCE, ref=Made(name, ((parameter, inner),)))


def verdict(given: Mapping[str, Value]) -> Verdict:
    """What becomes of a layer that is given these columns."""
    lacking = _lacking(given.get(PARAMETER, NOTHING_KNOWN))
    if lacking is None:
        return Verdict("fails", _EMBEDS, REASON, (), (), possible=True)
    return Verdict("fails" if lacking else "compiles", lacking, REASON, (), ())


def _lacking(columns: Value) -> tuple[str, ...] | None:
    """The operations that XLA lacks for the first of some columns that it lacks any for; None where some are not known, and the others compile."""
    # A list that was appended to holds one or another in each of its places.
    each_one = (one for column in leaves(columns) for one in alternatives(column))
    found = [_lacking_of(column) for column in each_one]
    lacking = next((each for each in found if each), None)
    return None if not found or (lacking is None and None in found) else lacking or ()


def _lacking_of(column: Value) -> tuple[str, ...] | None:
    name = class_name(column) or ""
    if not may_make(name):
        return None
    own = _LACKS[name.rpartition(".")[2]]
    if own or not isinstance(column.ref, Made):
        return own
    return _lacking(dict(column.ref.arguments)[_OF_ANOTHER[name.rpartition(".")[2]]])
