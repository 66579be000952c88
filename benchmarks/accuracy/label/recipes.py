"""Small made-up values for parameters, guessed from their names, annotations and defaults."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

_random = np.random.RandomState(7)


@dataclass(frozen=True, slots=True)
class Scene:
    """The shape that the data of one call have: `shape` of floats, of which the last axis is features or classes."""

    name: str
    shape: tuple[int, ...]


SCENES = (
    Scene("matrix", (4, 3)),
    Scene("sequence", (2, 5, 4)),
    Scene("images", (2, 8, 8, 3)),
    Scene("fields", (4, 1, 3)),
    Scene("vector", (6,)),
    Scene("square", (3, 3)),
    Scene("image", (8, 8, 3)),
    Scene("volume", (1, 4, 4, 4, 2)),
    Scene("scalar", ()),
)


def floats(*shape: int) -> Any:
    """float32 values in [0.05, 0.95)."""
    return np.asarray(_random.rand(*shape) * 0.9 + 0.05, "float32")


def integers(limit: int, *shape: int) -> Any:
    """int32 values in [0, limit)."""
    return np.asarray(_random.randint(0, limit, shape), "int32")


def _positive_definite(size: int) -> Any:
    half = floats(size, size)
    return (half @ half.T + size * np.eye(size)).astype("float32")


def _adjacency(size: int) -> Any:
    upper = np.triu(_random.rand(size, size) < 0.6, 1)
    return (upper + upper.T + np.eye(size)).astype("float32")


def _boxes(count: int) -> Any:
    corner = floats(count, 2) * 0.4
    return np.concatenate([corner, corner + 0.1 + floats(count, 2) * 0.4], 1).astype("float32")


def _unit(*shape: int) -> Any:
    values = floats(*shape)
    return (values / np.linalg.norm(values, axis=-1, keepdims=True)).astype("float32")


def _data(scene: Scene) -> list[Any]:
    classes = scene.shape[-1] if scene.shape else 3
    return [floats(*scene.shape), integers(classes, *scene.shape), floats(*scene.shape[:-1])]


def _labels(scene: Scene) -> list[Any]:
    classes = scene.shape[-1] if scene.shape else 3
    if not scene.shape:
        return [floats()]
    sparse = integers(classes, *scene.shape[:-1])
    return [np.eye(classes, dtype="float32")[sparse], sparse, floats(*scene.shape)]


def _masks(scene: Scene) -> list[Any]:
    full = floats(*scene.shape)
    return [
        np.asarray(full > 0.3),
        np.asarray(floats(*scene.shape[:-1]) > 0.3),
        np.asarray(full > 0.3, "float32"),
    ]


def _lengths(scene: Scene) -> list[Any]:
    limit = scene.shape[1] if len(scene.shape) > 1 else 3
    return [integers(limit, scene.shape[0] if scene.shape else 1) + 1, 3]


def _sequence(scene: Scene) -> list[Any]:
    return [floats(*scene.shape)] if len(scene.shape) > 1 else [floats(2, 5, 4)]


def _first_of(*arguments: Any, **options: Any) -> Any:
    return arguments[0]


def _sum_of_first(*arguments: Any, **options: Any) -> Any:
    return tf.reduce_sum(arguments[0])


def _squares_of_first(*arguments: Any, **options: Any) -> Any:
    return tf.reduce_sum(arguments[0] ** 2, -1)


Recipe = Callable[[Scene], list[Any]]


def _same(*values: Any) -> Recipe:
    return lambda scene: list(values)


# The first pattern that the name matches decides; later candidates of a recipe are tried later.
_BY_NAME: tuple[tuple[str, Recipe], ...] = (
    (r"name|scope|prefix|suffix|.*_name", _same("given")),
    (r".*ragged.*|rt", lambda s: [tf.RaggedTensor.from_row_splits(floats(6), [0, 2, 3, 6])]),
    (r".*sparse.*|sp_.*|sp", lambda s: [tf.sparse.from_dense(_adjacency(4))]),
    (r"training|is_training|train|inference", _same(False, True)),
    (r"(random_)?seed", _same(3, np.array([1, 2], "int32"))),
    (r".*dtype.*", _same(tf.float32)),
    (r".*activation.*|nonlinearity", _same("relu", tf.nn.relu)),
    (r".*initializer|.*_init", _same("zeros", tf.zeros_initializer())),
    (r".*regularizer|.*constraint", _same(None)),
    (r"padding", _same("same", "valid", "SAME", 1)),
    (r"interpolation|method", _same("nearest", "bilinear")),
    (r"reduction", _same("sum_over_batch_size", "none", "mean", "sum")),
    (r"mode", _same("constant", "max", "mean")),
    (r"optimizer", lambda s: ["sgd"]),
    (
        r"(.*_)?(fn|func|function|callable|op|map|transform|f|g)",
        _same(_first_of, _sum_of_first, _squares_of_first),
    ),
    (
        r"kernel_size|pool_size|window(_size)?|filter_shape|filter_size|ksize|block_size|size_per_.*",
        _same(3, 2, (3, 3)),
    ),
    (r"strides?|dilation(_rate)?|dilations|rates?", _same(1, 0.3, (1, 1))),
    (
        r"(image|target|output|crop|input|new|out|patch)_?(size|shape|hw)|size|shape|.*_shape|.*_size",
        _same(4, (4, 4), (8, 8, 3), (4,), (4, 3), 8),
    ),
    (r"height|width|.*_height|.*_width", _same(8, 4)),
    (r"axis|axes|dim|.*_axis|.*_dim", _same(-1, 1, 4, 0)),
    (r"data_format", _same("channels_last")),
    (r"quantiles?|percentiles?|thresholds|taus", _same([0.1, 0.5, 0.9], 0.5)),
    (
        r"(num|n|max|min|count|total|no)_.*|.*(units|filters|channels|depth|dims?|heads?|groups?|layers?|steps|order|degree|rank|levels?|classes|buckets|bins|factors?|hidden|width|length|blocks|components|experts|repeats?|capacity)|k|n|m|d|top_?k|ndims?|multiplicity",
        _same(2, 3, 4, (4, 4), [4, 4], 8),
    ),
    (r"epsilon|eps|tolerance|tol|.*_tol|.*_epsilon|delta", _same(1e-3)),
    (
        r".*(rate|prob|probability|alpha|beta|gamma|lambda|momentum|decay|ratio|temperature|threshold|margin|factor|scale|weight|coef\w*|strength|stddev|sigma|std|noise|lr|tau|power|smoothing|dropout|fraction|clip|penalty|level|magnitude|discount)",
        lambda s: [0.3, floats(*s.shape), floats(*s.shape[:1]), np.float32(0.3)],
    ),
    (r".*(min|lower|low|start|left)(_.*)?", lambda s: [0.1, 0, floats(*s.shape) * 0.1]),
    (r".*(max|upper|high|end|stop|limit|right)(_.*)?", lambda s: [2.0, 3, floats(*s.shape) + 1]),
    (r"logits|.*_logits", lambda s: [floats(*s.shape) * 4 - 2]),
    (r"y_true|labels?|targets?|true.*|gt.*|ground_truth.*|.*_labels?|.*_targets?|y", _labels),
    (
        r"y_pred|predictions?|preds?|outputs?|probs|probabilities|.*_pred",
        lambda s: [floats(*s.shape), floats(*s.shape[:-1])],
    ),
    (
        r".*(box|boxes|bboxes|rois|anchors|proposals)",
        _same(_boxes(5), _boxes(5)[None].repeat(2, 0)),
    ),
    (
        r"scores?|.*_scores?|.*_weights|weights|importance.*",
        lambda s: [floats(*s.shape), floats(*s.shape[:-1]), floats(*s.shape[:1]), floats(5), 0.5],
    ),
    (r".*mask.*|is_valid|valid|is_.*|done|.*_valid", _masks),
    (
        r".*(indices|index|ids|idx|tokens|token_ids|segments?|positions?|actions?|items?|classes)",
        lambda s: [
            integers(3, *s.shape[:2]),
            integers(3, *s.shape[:1]),
            integers(3, 4, 2),
            integers(3, *s.shape),
            1,
        ],
    ),
    (r".*(lengths?|seq_len|row_splits|sizes)", _lengths),
    (r"quaternions?\d?|.*_quaternion|q", _same(_unit(5, 4))),
    (r".*rotation_matrix.*|matrix_rotation", _same(np.tile(np.eye(3, dtype="float32"), (5, 1, 1)))),
    (
        r"points?(_.*)?|.*_points?|vertices|.*normals?|.*directions?|.*positions|vector\d?|vectors?|translations?|rays?.*|origin.*|euler_angles|angles|.*coordinates|xyz",
        lambda s: [_unit(5, 3), floats(2, 5, 3), floats(5, 2), floats(5, 1), *_data(s)],
    ),
    (r"faces?|triangles?|edges?", _same(integers(5, 4, 3), integers(4, 6, 2))),
    (
        r"a|adj\w*|.*adjacency.*|neighbors|affinity",
        lambda s: [_adjacency(4), np.stack([_adjacency(4)] * 2), floats(*s.shape)],
    ),
    (
        r".*(matrix|matrices|covariance|cov|scale_tril|cholesky|chol|precision|kernel_matrix|lower_upper)|mat|gram",
        _same(_positive_definite(3), np.stack([_positive_definite(3)] * 2), _positive_definite(4)),
    ),
    (
        r"query|queries|keys?|values?|memory|hidden_states|sequences?|encoder.*|decoder.*|embeddings?",
        lambda s: [*_sequence(s), floats(*s.shape)],
    ),
    (
        r"images?|img|imgs|pictures?|.*_images?|feature_?maps?|video|frames?",
        lambda s: [
            floats(*s.shape) if len(s.shape) in (3, 4, 5) else floats(2, 8, 8, 3),
            floats(8, 8, 3),
            (floats(8, 8, 3) * 255).astype("uint8"),
        ],
    ),
    (
        r"loc|mean|means|mu|concentration\d?|df|scale.*|rates|variance|var|log_.*",
        lambda s: [floats(*s.shape), 0.5, floats(3)],
    ),
)
_COMPILED = tuple((re.compile(pattern), recipe) for pattern, recipe in _BY_NAME)
_INPUTS = re.compile(r"inputs?|x|data|tensors?|features?|args?|values|state|states|observations?")


def candidates(parameter: inspect.Parameter, scene: Scene) -> list[Any]:
    """Values to try for a parameter without a default, the likeliest first. NumPy arrays stand for tensors."""
    name = parameter.name.lstrip("_").lower()
    by_annotation = _by_annotation(parameter.annotation, scene)
    if by_annotation and not _INPUTS.fullmatch(name):
        named = _named(name, scene)
        fitting = [v for v in named or [] if type(v) in {type(a) for a in by_annotation}]
        return fitting + by_annotation
    named = _named(name, scene)
    if named is not None:
        return [*named, floats(*scene.shape), 2]
    data = _data(scene)
    if name in ("inputs", "features", "tensors", "args", "states", "values", "input"):
        several = [floats(*scene.shape) for _ in range(3)]
        return [data[0], several[:2], data[1], several, {"x": data[0]}, [data[0], _adjacency(4)]]
    return [data[0], data[1], 2, 0.5, data[2]]


def _named(name: str, scene: Scene) -> list[Any] | None:
    return next((recipe(scene) for pattern, recipe in _COMPILED if pattern.fullmatch(name)), None)


def _by_annotation(annotation: Any, scene: Scene) -> list[Any]:
    text = (
        annotation
        if isinstance(annotation, str)
        else getattr(annotation, "__name__", str(annotation))
    )
    for word, values in (
        ("Tensor", _data(scene)[:2]),
        ("Callable", [_first_of, _sum_of_first]),
        ("bool", [False, True]),
        ("Sequence[int", [(2, 3), (4, 4)]),
        ("List[int", [[2, 3], [4, 4]]),
        ("Tuple[int", [(2, 3), (4, 4)]),
        ("int", [2, 3, 4, 8]),
        ("float", [0.3, 1.0]),
        ("str", ["relu", "same", "mean", "given"]),
    ):
        if word in text:
            return list(values)
    return []
