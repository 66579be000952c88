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
from xlalint.semantics.values import FALSE, INSTANCE, NOTHING_KNOWN, PYTHON, Made, Value, class_name

# Why a verdict fails: such columns are there, or nobody knows which they are (`possible`).
REASON = "columns"
PARAMETER = "feature_columns"
LAYER = "keras.layers.DenseFeatures"
_HOMES = ("tf.feature_column.", "tf.compat.v1.feature_column.")
# An embedding column makes good for rows without a category, unless it is told not to, and then combines the embeddings of each row.
_FILLS = ("SparseReshape", "SparseFillEmptyRows")
_COMBINES = {
    "mean": "SparseSegmentMean",
    "sum": "SparseSegmentSum",
    "sqrtn": "SparseSegmentSqrtN",
}
_EMBEDS = (*_FILLS, _COMBINES["mean"])
# What XLA lacks for a column itself, whatever it is made of.
_LACKS = {
    "numeric_column": (),
    "bucketized_column": (),
    "categorical_column_with_identity": (),
    "shared_embeddings": _EMBEDS,
    "shared_embedding_columns": _EMBEDS,
    "crossed_column": ("SparseCross",),
    "weighted_categorical_column": ("SparseReorder",),
    "categorical_column_with_hash_bucket": ("AsString", "StringToHashBucketFast"),
    "categorical_column_with_vocabulary_list": ("LookupTableFindV2",),
    "categorical_column_with_vocabulary_file": ("LookupTableFindV2",),
}
_EMBEDDING = "embedding_column"
_OF_ANOTHER = frozenset({_EMBEDDING, "indicator_column"})
_OF_EMBEDDING = ("categorical_column", "dimension", "combiner", "initializer", "ckpt_to_load_from", "tensor_name_in_ckpt", "max_norm", "trainable", "use_safe_embedding_lookup")  # fmt: skip


def may_make(name: str) -> bool:
    """Whether calling an API of this name makes a column."""
    leaf = name.rpartition(".")[2]
    return name.startswith(_HOMES) and (leaf in _LACKS or leaf in _OF_ANOTHER)


def made(name: str, arguments: Arguments) -> Value:
    """The column that such an API makes, with the operations that XLA lacks for it."""
    leaf = name.rpartition(".")[2]
    if leaf == "indicator_column":
        column = bind(("categorical_column",), arguments).get("categorical_column", NOTHING_KNOWN)
        lacking = _lacking(column)
    elif leaf == _EMBEDDING:
        lacking = _lacking_of_embedding(bind(_OF_EMBEDDING, arguments))
    else:
        lacking = _LACKS[leaf]
    known = NOTHING_KNOWN if lacking is None else Value(PYTHON, ref=lacking)
    return Value(INSTANCE, ref=Made(name, ((REASON, known),)))


def _lacking_of_embedding(given: Mapping[str, Value]) -> tuple[str, ...]:
    """What the column lacks that is embedded, which XLA meets first, or else what embedding it does."""
    column = given.get("categorical_column", NOTHING_KNOWN)
    own = _lacking(column)
    if own:
        return own
    combiner = given["combiner"].constant() if "combiner" in given else None
    combines = _COMBINES["mean" if combiner is None else str(combiner.value)]
    is_open = given.get("use_safe_embedding_lookup") == FALSE
    is_bucketized = (class_name(column) or "").endswith(".bucketized_column")
    fills = () if is_open else _FILLS[1:] if is_bucketized else _FILLS
    return (*fills, combines)


def verdict(given: Mapping[str, Value]) -> Verdict:
    """What becomes of a layer that is given these columns."""
    lacking = _lacking(given.get(PARAMETER, NOTHING_KNOWN))
    if lacking is None:
        return Verdict("fails", _EMBEDS, REASON, (), (), possible=True)
    return Verdict("fails" if lacking else "compiles", lacking, REASON, (), ())


def _lacking(columns: Value) -> tuple[str, ...] | None:
    """The operations that XLA lacks for the first of some columns that it lacks any for; None where some are not known, and the others compile."""
    # A list that was appended to holds one or another in each of its places.
    found = [_kept(one) for column in leaves(columns) for one in alternatives(column)]
    lacking = next((each for each in found if each), None)
    if lacking is None and (not found or None in found):
        return None
    return lacking or ()


def _kept(column: Value) -> tuple[str, ...] | None:
    """The operations that a column was made with; None of what is no column that is known."""
    if not isinstance(column.ref, Made) or not may_make(column.ref.name):
        return None
    kept = dict(column.ref.arguments)[REASON]
    return kept.ref if kept.kind is PYTHON else None
