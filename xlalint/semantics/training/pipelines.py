"""Input pipelines: where elements are batched, and whether batches may differ in size or length.

A dataset's value carries a `Feed`; so do the elements that a Python loop takes from it, until something is computed with
them. XLA compiles a program for each shape it meets (facts/probes, section 1: 573 of 577 shape changes compile again).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.elements import leaves
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo, ModuleInfo
from xlalint.semantics.syntax import nodes_of
from xlalint.semantics.training import host_calls, local_files
from xlalint.semantics.values import (
    COLLATOR,
    COLLECTION,
    DATASET,
    FALSE,
    FUNCTION,
    NONE,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    TRUE,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments


class Site(NamedTuple):
    """A call in a pipeline that decides about shapes: the node to report, and where it stands."""

    node: ast.AST
    module: ModuleInfo
    function: FunctionInfo | None
    words: str = ""


class Feed(NamedTuple):
    """What is known of a dataset's batches.

    `partial` is where batches are made whose last one may be smaller, `varying` where their length follows their longest
    element. `size` counts elements where that is known, `is_endless` says that they repeat before they are batched,
    `endless` where a `repeat()` without a count makes the dataset so, `python` where the pipeline runs Python, `local`
    where it reads files of the machine that it runs on (node_inputs.py), `serial` where elements are made one after the other
    that could be made together, `batched` where batches of a known size are made: its words are the number.
    """

    partial: Site | None = None
    varying: Site | None = None
    size: int | None = None
    is_endless: bool = False
    endless: Site | None = None
    python: Site | None = None
    local: Site | None = None
    serial: Site | None = None
    batched: Site | None = None


FRESH = Feed()
# What the words of a collator's site say.
COLLATED = "collated"
# What the words of an argument's site say that a loop makes longer.
GROWN = "grown"
# ... and where a tokenizer pads to the longest text of its call.
TOKENIZED = "tokenized"
# What the words of a batch's site say where the number of elements is known, and does not divide.
COUNTED = "counted"
# What the words of a site say that runs Python.
GENERATOR, CALLBACK, TRANSFORMERS = "generator", "callback", "transformers"
# What the words of a site say that makes elements one after the other.
RANDOM, PYTHON_MAP, INTERLEAVED = "random", "python", "interleaved"


def feed_of(value: Value) -> Feed | None:
    """The feed that a dataset, or an element of one, carries."""
    return value.ref if type(value.ref) is Feed else None


def without_feed(values: Iterable[Value]) -> list[Value]:
    """Elements as compiled code gets them: where they came from says nothing there."""
    return [value._replace(ref=None) if type(value.ref) is Feed else value for value in values]


def made(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """A dataset made by an API of tf.data."""
    if name == "tf.data.Dataset.range":
        bounds = [value.constant() for value in arguments.positional]
        numbers = [b.value for b in bounds if b is not None and isinstance(b.value, int)]
        if numbers and len(numbers) == len(bounds) <= 3:
            return Value(DATASET, ref=Feed(size=len(range(*numbers))))
    if name.endswith("Dataset.from_tensor_slices"):
        return Value(DATASET, ref=Feed(size=_rows(arguments)))
    if name.endswith("Dataset.from_generator"):
        python = Site(node, frame.module, frame.function, GENERATOR)
        return Value(DATASET, ref=Feed(is_endless=_never_ends(arguments), python=python))
    if name.endswith("Dataset.zip"):
        given = arguments.values
        values = (leaf for value in given for leaf in leaves(value))
        feeds = [feed for feed in map(feed_of, values) if feed is not None]
        called = next((feed.python for feed in feeds if feed.python is not None), None)
        local = next((feed.local for feed in feeds if feed.local is not None), None)
        return Value(DATASET, ref=Feed(python=called, local=local))
    if name in local_files.READERS:
        path = local_files.first_path(node, frame)
        local = Site(node, frame.module, frame.function, path) if path else None
        return Value(DATASET, ref=Feed(local=local))
    return Value(DATASET, ref=FRESH if name.startswith("tf.data.") else None)


def _rows(arguments: Arguments) -> int | None:
    """How many rows the tensors have that are cut into elements, where that is static."""
    given = arguments.values
    for leaf in leaves(next(iter(given), NOTHING_KNOWN)):
        if leaf.is_tensor and leaf.shape:
            return leaf.shape[0]
    return None


def _never_ends(arguments: Arguments) -> bool:
    """Whether a generator loops for ever: `while True` with a `yield` in it."""
    generator = next(iter(arguments.positional), NOTHING_KNOWN)
    if generator.kind is not FUNCTION:
        return False
    info = generator.ref[0] if isinstance(generator.ref, tuple) else generator.ref
    body = info.node.body if isinstance(info.node.body, list) else []
    return any(
        isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and node.test.value
        for node in nodes_of(body)
    )


def after(
    feed: Feed | None, attr: str, arguments: Arguments, node: ast.AST, frame: Frame
) -> Feed | None:
    """The feed of `dataset.attr(...)`."""
    if feed is None:
        return None
    python = feed.python
    if python is None and attr in _MAPS and arguments.positional:
        if host_calls.calls_python(arguments.positional[0], frame):
            python = Site(node, frame.module, frame.function, CALLBACK)
    handler = _METHODS.get(attr)
    found = handler(feed, arguments, node, frame) if handler is not None else feed
    serial = feed.serial or _serial(attr, arguments, python is not feed.python, node, frame)
    if found is None:
        return None
    return found._replace(python=python, local=feed.local, serial=serial)


def _serial(
    attr: str, arguments: Arguments, is_python: bool, node: ast.AST, frame: Frame
) -> Site | None:
    """Where elements are made one after the other. tf.data runs a `map` of functions without state on all cores by itself."""
    position = {"map": 1, "interleave": 3}.get(attr)
    if position is None or arguments.open_ended:
        return None
    if _given(arguments, position, "num_parallel_calls") is not None or not arguments.positional:
        return None
    if not frame.analysis.modules.project.mentions("TPUStrategy"):
        return None  # only said where there is one: looking for random numbers costs
    words = INTERLEAVED if attr == "interleave" else PYTHON_MAP if is_python else ""
    if not words and host_calls.draws_numbers(arguments.positional[0], frame):
        words = RANDOM
    return Site(node, frame.module, frame.function, words) if words else None


# Methods that run a function for each element.
_MAPS = frozenset({"map", "flat_map", "interleave", "filter"})


def _batch(feed: Feed, arguments: Arguments, node: ast.AST, frame: Frame) -> Feed:
    partial = _partial(feed, arguments, 1, node, frame)
    batched = _batched(arguments, node, frame)
    return Feed(partial=partial, varying=feed.varying, endless=feed.endless, batched=batched)


def _batched(arguments: Arguments, node: ast.AST, frame: Frame) -> Site | None:
    """Where batches are made of a size that is written down."""
    size = arguments.keywords.get("batch_size", next(iter(arguments.positional), NOTHING_KNOWN))
    known = size.constant()
    number = known.value if known is not None else None
    if type(number) is not int or number < 1:
        return None
    return Site(node, frame.module, frame.function, str(number))


def _partial(
    feed: Feed, arguments: Arguments, position: int, node: ast.AST, frame: Frame
) -> Site | None:
    """Where the last batch may be smaller: the elements come to an end, and nothing is said of `drop_remainder`.

    Who writes drop_remainder=False means it: evaluation takes every element.
    """
    size = arguments.keywords.get("batch_size", next(iter(arguments.positional), NOTHING_KNOWN))
    drop = _given(arguments, position, "drop_remainder")
    if drop is not None or feed.is_endless or arguments.open_ended:
        return None
    known = size.constant()
    words = ""
    if known is not None and isinstance(known.value, int) and known.value > 0:
        if known.value == 1 or (feed.size is not None and feed.size % known.value == 0):
            return None
        words = COUNTED if feed.size is not None else ""
    return Site(node, frame.module, frame.function, words)


def _given(arguments: Arguments, position: int, name: str) -> Value | None:
    if name in arguments.keywords:
        return arguments.keywords[name]
    return arguments.positional[position] if len(arguments.positional) > position else None


def _padded_batch(feed: Feed, arguments: Arguments, node: ast.AST, frame: Frame) -> Feed:
    shapes = _given(arguments, 1, "padded_shapes")
    varying = None
    if shapes in (None, NONE) and not arguments.open_ended:
        varying = Site(node, frame.module, frame.function, "without `padded_shapes`")
    elif shapes is not None and _holds_none(shapes):
        varying = Site(node, frame.module, frame.function, "with None in `padded_shapes`")
    partial, batched = _partial(feed, arguments, 3, node, frame), _batched(arguments, node, frame)
    return Feed(partial, varying, endless=feed.endless, batched=batched)


def _holds_none(shapes: Value) -> bool:
    return any(leaf == NONE for leaf in leaves(shapes))


def _bucketed(feed: Feed, arguments: Arguments, node: ast.AST, frame: Frame) -> Feed:
    to_boundary = arguments.keywords.get("pad_to_bucket_boundary")
    if to_boundary not in (None, FALSE) or arguments.open_ended:
        return FRESH
    return Feed(
        varying=Site(node, frame.module, frame.function, "without `pad_to_bucket_boundary`")
    )


def _repeat(feed: Feed, arguments: Arguments, node: ast.AST, frame: Frame) -> Feed:
    count = arguments.keywords.get("count", next(iter(arguments.positional), NONE)).constant()
    is_for_ever = count is not None and count.value in (None, -1) and not arguments.open_ended
    if is_for_ever:
        feed = feed._replace(endless=Site(node, frame.module, frame.function))
    return feed._replace(is_endless=True) if feed.partial is None else feed


def _take(feed: Feed, arguments: Arguments, node: ast.AST, frame: Frame) -> Feed:
    """Of batches, the first few: the last, smaller one may not be among them."""
    if feed.partial is not None:
        return feed._replace(partial=None, endless=None)
    known = arguments.positional[0].constant() if arguments.positional else None
    size = known.value if known is not None and isinstance(known.value, int) else None
    return feed._replace(size=size, is_endless=False, endless=None)


def _map(feed: Feed, arguments: Arguments, node: ast.AST, frame: Frame) -> Feed:
    """A function over batches may pad them to one length, or cut them."""
    function = next(iter(arguments.positional), NOTHING_KNOWN)
    padded = _pads_to_longest(function)
    if padded is not None:
        return feed._replace(varying=padded)
    if feed == FRESH or function.kind is not FUNCTION:
        return feed if function.kind is FUNCTION or feed.varying is None else FRESH
    info = function.ref[0] if isinstance(function.ref, tuple) else function.ref
    body = info.node.body if isinstance(info.node.body, list) else [info.node.body]
    fixes = any(
        isinstance(part, ast.Attribute) and part.attr in _FIXES_SHAPES for part in nodes_of(body)
    )
    return feed._replace(varying=None, partial=None) if fixes else feed


def _pads_to_longest(function: Value) -> Site | None:
    """`rows.to_tensor()` of a ragged tensor, and nothing that gives the result a length."""
    if function.kind is not FUNCTION:
        return None
    info = function.ref[0] if isinstance(function.ref, tuple) else function.ref
    body = info.node.body if isinstance(info.node.body, list) else [info.node.body]
    parts = list(nodes_of(body))
    fixes = _FIXES_SHAPES - {"to_tensor"}
    if any(isinstance(part, ast.Attribute) and part.attr in fixes for part in parts):
        return None
    for part in parts:
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            is_open = len(part.args) < 3 and all(
                k.arg not in ("shape", None) for k in part.keywords
            )
            if part.func.attr == "to_tensor" and is_open:
                return Site(part, info.module, info, "without a `shape`")
    return None


_FIXES_SHAPES = frozenset({"pad", "ensure_shape", "set_shape", "to_tensor", "resize", "reshape"})


def _unknown(feed: Feed, arguments: Arguments, node: ast.AST, frame: Frame) -> None:
    return None


def _unbatch(feed: Feed, arguments: Arguments, node: ast.AST, frame: Frame) -> Feed:
    return FRESH


def _changed_count(feed: Feed, arguments: Arguments, node: ast.AST, frame: Frame) -> Feed:
    return feed._replace(size=None)


_METHODS = {
    "batch": _batch,
    "padded_batch": _padded_batch,
    "bucket_by_sequence_length": _bucketed,
    "repeat": _repeat,
    "take": _take,
    "map": _map,
    "unbatch": _unbatch,
    "rebatch": _unknown,
    "apply": _unknown,
    "window": _unknown,
    "group_by_window": _unknown,
    "ragged_batch": _unknown,
    "sparse_batch": _unknown,
    "flat_map": _changed_count,
    "interleave": _changed_count,
    "filter": _changed_count,
    "skip": _changed_count,
    "shard": _changed_count,
    "concatenate": _changed_count,
}

# Collators of transformers that pad a batch to its longest element unless they are told otherwise.
_COLLATORS = frozenset(
    f"transformers.DataCollator{name}"
    for name in ("WithPadding", "ForSeq2Seq", "ForTokenClassification")
)


def collator(name: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value | None:
    """A collator of transformers: `ref` is where it was made when it pads to the longest; None for other names."""
    if not name.startswith("transformers.") or name.rpartition(".")[2] not in _COLLATOR_NAMES:
        return None
    padding = arguments.keywords.get("padding")
    known = padding.constant() if padding is not None else None
    longest = padding is None or (known is not None and known.value in (True, "longest"))
    multiple = arguments.keywords.get("pad_to_multiple_of")
    if not longest or multiple not in (None, NONE) or arguments.open_ended:
        return Value(COLLATOR)
    return Value(COLLATOR, ref=Site(node, frame.module, frame.function, COLLATED))


_COLLATOR_NAMES = frozenset(name.rpartition(".")[2] for name in _COLLATORS)


def from_datasets(attr: str, arguments: Arguments, node: ast.AST, frame: Frame) -> Value:
    """`dataset.to_tf_dataset(...)` of datasets, `model.prepare_tf_dataset(...)` of transformers.

    The latter drops the remainder when it shuffles, and does not when what it makes is evaluated in order.
    """
    collate = arguments.keywords.get("collate_fn", NOTHING_KNOWN)
    varying = collate.ref if collate.kind is COLLATOR else None
    drop = arguments.keywords.get("drop_remainder")
    partial = None
    if attr == "to_tf_dataset" and drop is None and not arguments.open_ended:
        if "batch_size" in arguments.keywords or arguments.positional:
            partial = Site(node, frame.module, frame.function)
    python = Site(node, frame.module, frame.function, TRANSFORMERS)
    return Value(DATASET, ref=Feed(partial=partial, varying=varying, python=python))


def of_tensorflow_datasets(arguments: Arguments) -> Value:
    """What `tfds.load` returns: a dataset, one per split, and the info when asked for."""
    split = _given(arguments, 1, "split") or NOTHING_KNOWN
    dataset = Value(DATASET, ref=FRESH)
    if "batch_size" in arguments.keywords or arguments.open_ended:
        return NOTHING_KNOWN
    if split.kind is SEQUENCE:
        dataset = Value(SEQUENCE, ref=tuple(dataset for _ in split.ref))
    elif split.kind is COLLECTION:
        dataset = Value(COLLECTION, ref=dataset)
    elif split.kind is not PYTHON or split == NONE:
        return NOTHING_KNOWN
    info = arguments.keywords.get("with_info")
    if info == TRUE:
        return Value(SEQUENCE, ref=(dataset, NOTHING_KNOWN))
    return dataset if info in (None, FALSE) else NOTHING_KNOWN
