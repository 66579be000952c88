"""Small values to try for a parameter: from what check believes, annotations, how it is used, and its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import tensorflow as tf

from xlalint.verify.alone.annotations import Makers, read
from xlalint.verify.alone.lazy import Lazy
from xlalint.verify.alone.scenes import Scene
from xlalint.verify.alone.usage import Usage

_MOST = 14
_TENSOR_KINDS = ("tensor", "structure", "sparse", "ragged", "variable")


@dataclass(frozen=True, slots=True)
class Parameter:
    """What is known of a parameter before anything is tried. `annotation` is as written or as Python evaluated it.

    `belief` is check's own: `kind`, `dtype`, `shape`. `is_setting` says that it is an argument of a constructor.
    """

    name: str
    annotation: Any = None
    default: Any = None
    has_default: bool = False
    usage: Usage = field(default_factory=Usage)
    belief: Mapping[str, Any] = field(default_factory=dict)
    is_setting: bool = False

    @property
    def is_believed_tensor(self) -> bool:
        return self.belief.get("kind") in _TENSOR_KINDS


def candidates(parameter: Parameter, scene: Scene, makers: Makers) -> list[Any]:
    """Values to try, the likeliest first. NumPy arrays stand for tensors, `Lazy` for what is made anew for each try."""
    found = [
        *_by_annotation(parameter, scene, makers),
        *_by_belief(parameter, scene),
        *(makers.configs(parameter.name) if _is_config(parameter) else ()),
        *_by_usage(parameter, scene, makers),
        *_by_name(parameter, scene, makers),
    ]
    if parameter.is_believed_tensor and any(_is_data(one) for one in found):
        # What check takes for a tensor is given as one first: a plain value would prove little.
        found = [one for one in found if _is_data(one)] + [
            one for one in found if not _is_data(one)
        ]
    return _without_doubles(found)[:_MOST]


def _is_data(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(_is_data(one) for one in value)
    if isinstance(value, dict):
        return bool(value) and any(_is_data(one) for one in value.values())
    return isinstance(value, (np.ndarray, tf.Tensor, tf.SparseTensor, tf.RaggedTensor, tf.Variable))


def is_plain(value: Any) -> bool:
    """Is there no tensor in it?"""
    return not _is_data(value)


def _without_doubles(values: Sequence[Any]) -> list[Any]:
    seen: set[str] = set()
    kept = []
    for value in values:
        key = _key(value)
        if key not in seen:
            seen.add(key)
            kept.append(value)
    return kept


def _key(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.min() if value.size and value.dtype.kind in 'iu' else ''}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({','.join(_key(one) for one in value)})"
    if isinstance(value, dict):
        return f"dict({','.join(f'{name}:{_key(one)}' for name, one in value.items())})"
    if isinstance(value, Lazy):
        return f"lazy {value.words}"
    return f"{type(value).__name__} {value!r}"[:200]


# By annotation


def _by_annotation(parameter: Parameter, scene: Scene, makers: Makers) -> list[Any]:
    said = read(parameter.annotation)
    found: list[Any] = []
    for one in said.shaped:
        found.append(_array(scene, one.dtype, makers.dimensions(one.dimensions), parameter))
    found += list(said.literals)
    if said.is_tensor and not said.shaped:
        found += _tensors(parameter, scene)
    if said.is_sparse:
        found.append(scene.sparse(4, 4))
    if said.is_ragged:
        found += [scene.ragged(), scene.ragged(3)]
    if said.is_tensor_sequence:
        data = _tensors(parameter, scene)
        found += [[data[0], data[0]], [data[0]]]
    if said.is_mapping:
        found += _mappings(parameter, scene, makers)
    found += [value for kind in said.plain for value in _plain(kind, parameter)]
    if said.is_callable:
        found += list(_FUNCTIONS)
    for cls in said.classes:
        found += makers.instances(cls, parameter.name)
    if said.may_be_none:
        found.append(None)
    return found


def _plain(kind: str, parameter: Parameter) -> list[Any]:
    if kind == "bool":
        return [False, True]
    if kind == "int":
        named = [v for v in _named(parameter.name) or [] if type(v) is int]
        return [*named, 2, 4, 1, 8]
    if kind == "float":
        return [0.5, 1.0, 0.1]
    if kind == "ints":
        return [(2, 2), (4, 4), (8, 8), (2,)]
    if kind == "floats":
        return [(0.2, 0.8), (0.5, 0.5)]
    if kind == "texts":
        return [("a", "b")]
    literals = [one for one in parameter.usage.literals if isinstance(one, str)]
    return [*literals, *(v for v in _named(parameter.name) or [] if isinstance(v, str)), "given"]


# By belief


def _by_belief(parameter: Parameter, scene: Scene) -> list[Any]:
    kind, dtype = parameter.belief.get("kind"), parameter.belief.get("dtype")
    shape = parameter.belief.get("shape")
    if kind == "sparse":
        return [scene.sparse(4, 4)]
    if kind == "ragged":
        return [scene.ragged(), scene.ragged(3)]
    if kind not in ("tensor", "structure", "variable") or (dtype is None and shape is None):
        return []
    if shape is None:
        made = (_as_dtype(scene, one, dtype) for one in _tensors(parameter, scene))
        return [one for one in made if one is not None]
    usual = scene.of_rank(len(shape))
    sizes = tuple(size if size is not None else usual[axis] for axis, size in enumerate(shape))
    known = _array(scene, dtype or "float32", sizes, parameter)
    if len(scene.shape) != len(shape) or scene.shape == sizes:
        return [known]
    # The sizes that a caller has are one choice: of others, masks keep as many as the function may ask for.
    return [_array(scene, dtype or "float32", scene.shape, parameter), known]


def _as_dtype(scene: Scene, value: Any, dtype: Any) -> Any:
    return _array(scene, dtype, value.shape, None) if isinstance(value, np.ndarray) else None


def _array(scene: Scene, dtype: str, shape: Sequence[int], parameter: Parameter | None) -> Any:
    if dtype in ("bool", "mask"):
        return scene.booleans(*shape)
    if dtype.startswith(("int", "uint")):
        name = parameter.name if parameter is not None else ""
        limit = 255 if dtype == "uint8" or "image" in name else 3
        return scene.integers(limit, *shape).astype(dtype)
    if dtype in ("string", "str"):
        return tf.fill(list(shape), "a text")
    if dtype.startswith("complex"):
        return scene.floats(*shape).astype(dtype)
    if dtype == "bfloat16":
        return tf.cast(scene.floats(*shape), tf.bfloat16)
    return scene.floats(*shape).astype(dtype if dtype.startswith("float") else "float32")


# By usage


def _by_usage(parameter: Parameter, scene: Scene, makers: Makers) -> list[Any]:
    usage, found = parameter.usage, list[Any]()
    literals = [one for one in usage.literals if isinstance(one, str)]
    if literals and not usage.keys:
        found += literals
    if usage.is_mapping and not parameter.is_setting:
        found += _mappings(parameter, scene, makers)
    if usage.is_ragged:
        found += [scene.ragged(), scene.ragged(3)]
    if usage.is_sparse or usage.types & {"SparseTensor", "SparseTensorValue"}:
        found.append(scene.sparse(4, 4))
        if usage.types & {"SparseTensor"}:
            found += _tensors(parameter, scene)
    if usage.arity > 1 and not parameter.is_setting:
        found += [*_parts(usage, scene, makers), *_several(parameter, scene, usage.arity)]
    if usage.is_called and not usage.attributes - {"__name__"}:
        found += [*_FUNCTIONS]
        if not parameter.is_setting or "layer" in parameter.name:
            found.append(makers.layer())
    found += [one for role in sorted(usage.roles) for one in _by_role(role, parameter, scene)]
    if (usage.rank is not None or usage.least_rank) and not parameter.is_setting:
        found += _tensors(parameter, scene)
    if len(usage.fields) > 1 and not usage.is_called:
        found += makers.objects(parameter.name, usage)
    return found


def _by_role(role: str, parameter: Parameter, scene: Scene) -> list[Any]:
    shape = scene.shape or (4,)
    if role == "indices":
        return [
            scene.integers(3, *one)
            for one in dict.fromkeys((shape[:-1] or shape, shape[:1], shape, (4, 2)))
        ]
    if role == "sorted":
        return [np.sort(scene.integers(3, shape[0]))]
    if role == "mask":
        return _masks(scene)
    if role == "flag":
        return [True, np.array(True)]
    if role == "text":
        return [tf.constant(["some text", "more of it"]), tf.constant("some text")]
    if role == "image":
        return _images(scene)
    if role == "square":
        return [scene.positive_definite(3), np.stack([scene.positive_definite(3)] * 2)]
    if role == "boxes":
        return [scene.boxes(5)]
    if role == "complex":
        return [scene.floats(2, 4, 4).astype("complex64")]
    if role in ("size", "lengths") and parameter.is_believed_tensor:
        return [scene.integers(2, *shape[:1]) + 1, np.array(3, "int32")]
    if role == "size":
        return [3]
    if role == "image size":
        return [(4, 4), [8, 8]]
    if role.startswith(("rank ", "may have rank ")):
        return [scene.floats(*scene.of_rank(int(role.split()[-1])))]
    return []


def _parts(usage: Usage, scene: Scene, makers: Makers) -> list[Any]:
    """A list of what each part is by its own name and use; then with another choice for one part."""
    belief = {"kind": "tensor"}
    per_part = []
    for name, of in usage.parts:
        # Only one level: a name may be taken apart into itself.
        alone = Parameter(name, usage=replace(of, parts=(), arity=0), belief=belief)
        per_part.append([one for one in candidates(alone, scene, makers) if _is_data(one)])
    if not per_part or not all(per_part):
        return []
    first = [one[0] for one in per_part]
    others = [
        [*first[:index], one[rank], *first[index + 1 :]]
        for rank in (1, 2)
        for index, one in enumerate(per_part)
        if len(one) > rank
    ]
    return [first, *others[:6]]


def _several(parameter: Parameter, scene: Scene, count: int) -> list[Any]:
    """What is taken apart into `count` parts: several of the same; features, adjacency and ids of a graph; pairs of sizes."""
    same = [scene.floats(*scene.shape) for _ in range(count)]
    rows = scene.shape[0] if scene.shape else 4
    graph = [
        scene.floats(*scene.of_rank(2)),
        scene.adjacency(scene.of_rank(2)[0]),
        np.sort(scene.integers(2, scene.of_rank(2)[0])),
        scene.floats(rows, 2),
    ]
    sparse_graph = [graph[0], scene.sparse(len(graph[0]), len(graph[0])), *graph[2:]]
    labelled = [same[0], scene.integers(scene.classes, rows), *same[2:]]
    found: list[Any] = [same, labelled]
    if count <= len(graph):
        found += [graph[:count], sparse_graph[:count]]
    return [*found, tuple(range(2, 2 + count))]


def _mappings(parameter: Parameter, scene: Scene, makers: Makers) -> list[Any]:
    keys = parameter.usage.keys
    if not keys:
        return [{"x": scene.floats(*scene.shape)}] if not parameter.is_setting else []
    per_key = {
        key: candidates(Parameter(key, belief={"kind": "tensor"}), scene, makers)
        or [scene.floats(*scene.shape)]
        for key in keys
    }
    first = {key: found[0] for key, found in per_key.items()}
    others = [
        {**first, key: found[index]}
        for index in (1, 2)
        for key, found in per_key.items()
        if len(found) > index
    ]
    return [first, *others[:6]]


# By name


def _by_name(parameter: Parameter, scene: Scene, makers: Makers) -> list[Any]:
    name = parameter.name.lstrip("_").lower()
    if _is_config(parameter):
        return makers.objects(parameter.name, parameter.usage)
    found = [*(_named(name) or []), *(_tensors_named(name, scene) or [])]
    if parameter.is_setting:
        return [*found, 4, 0.5, *makers.by_name(name)]
    if not found:
        found = [*_tensors(parameter, scene)]
        if _INPUTS.fullmatch(name):
            several = _several(parameter, scene, 3)
            lists = [
                several[0][:2],
                several[2][:2],
                several[2],
                several[3],
                several[3][:2],
                several[0],
            ]
            found += [*lists, {"x": scene.floats(*scene.shape)}]
    return [*found, *_tensors(parameter, scene)[:2], 2, 0.5]


_INPUTS = re.compile(r"(.*_)?(inputs?|features?|tensors?|args?|values|states?|data|batch)")
_CONFIG = re.compile(
    r"(.*_)?(config|cfg|conf|hparams|hps|params|hyper_?parameters|flags|options|opts?)"
)


def _is_config(parameter: Parameter) -> bool:
    return _CONFIG.fullmatch(parameter.name.lstrip("_").lower()) is not None


def _tensors(parameter: Parameter, scene: Scene) -> list[Any]:
    """Tensors of the scene's shape, or of the rank that the function asks for; also whole numbers, and one axis less."""
    usage = parameter.usage
    ranks = [usage.rank] if usage.rank is not None else []
    if not ranks and usage.least_rank > len(scene.shape):
        ranks = [usage.least_rank]
    shape = scene.of_rank(ranks[0]) if ranks else scene.shape
    named = _tensors_named(parameter.name.lstrip("_").lower(), scene) or []
    fitting = [one for one in named if not ranks or len(getattr(one, "shape", ())) == ranks[0]]
    shorter = [scene.floats(*shape[:-1])] if shape else []
    return [*fitting, scene.floats(*shape), scene.integers(scene.classes, *shape), *shorter]


def _first_of(*arguments: Any, **options: Any) -> Any:
    return arguments[0]


def _sum_of_first(*arguments: Any, **options: Any) -> Any:
    return tf.reduce_sum(arguments[0])


def _squares_of_first(*arguments: Any, **options: Any) -> Any:
    return tf.reduce_sum(arguments[0] ** 2, -1)


_FUNCTIONS = (_first_of, _sum_of_first, _squares_of_first)

# Settings. The first pattern that the name matches decides.
_SETTINGS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    (r"name|scope|prefix|suffix|.*_name", ("given",)),
    (r"training|is_training|train|inference|deterministic", (False, True)),
    (r"(random_)?seed", (3, (1, 2))),
    (r".*dtype.*", (tf.float32, "float32")),
    (r".*activation.*|nonlinearity", ("relu", tf.nn.relu)),
    (r".*initializer|.*_init", ("zeros",)),
    (r".*regularizer|.*constraint", (None,)),
    (r"padding", ("same", "valid", "SAME", "VALID", 1)),
    (r"interpolation|.*_method|method", ("nearest", "bilinear")),
    (r"(loss_)?reduction", ("sum_over_batch_size", "none", "sum")),
    (r"fill_mode|.*_mode|mode", ("constant", "reflect", "max", "mean")),
    (r"data_format", ("channels_last",)),
    (r"bounding_box_format|box_format|.*_format", ("xyxy", "rel_xyxy", "channels_last")),
    (r"value_range", ((0, 1), (0, 255))),
    (r"(.*_)?factor|rate|(.*_)?probability|(.*_)?ratio|p", (0.3, (0.2, 0.8), 2)),
    (r".*(fn|func|function|callable)", (_first_of, _sum_of_first)),
    (r"(kernel|pool|window|filter|k|block)_?(size|shape)?|.*kernel_size", (3, 2, (3, 3))),
    (r"strides?|dilation(_rate)?|dilations|rates", (1, (1, 1), 2)),
    (r"(image|target|output|crop|input|new|out|patch)_?(size|shape|hw)|size|shape|.*_shape|.*_size", (4, (4, 4), (8, 8, 3), (4, 3), 8)),
    (r"height|width|.*_height|.*_width", (8, 4)),
    (r"axis|axes|dim|.*_axis", (-1, 1, 0)),
    (
        r"(num|n|max|min|count|total|no)_.*|.*(units|filters|channels|depth|dims?|heads?|groups?|layers?|steps|order|degree|rank|levels?|classes|buckets|bins|hidden|width|length|blocks|components|experts|repeats?|capacity)|k|n|m|d|top_?k|ndims?|max.*size|channels?",
        (2, 4, 3, (4, 4), [4, 4], 8),
    ),
    (r"epsilon|eps|tolerance|tol|.*_tol|.*_epsilon|delta", (1e-3,)),
    (r".*(rate|alpha|beta|gamma|lambda|momentum|decay|temperature|threshold|margin|coef\w*|strength|stddev|sigma|std|lr|tau|power|smoothing|dropout|fraction|clip|penalty|magnitude|discount)", (0.3, 1.0)),
    (r".*(min|lower|low|start)(_.*)?", (0.1, 0, 1)),
    (r".*(max|upper|high|end|stop|limit)(_.*)?", (2.0, 3)),
    (r"optimizer", ("sgd",)),
    (r"(is|has|use|do|with|add|return|apply|keep|include|should)_.*|normalize|verbose", (True, False)),
)  # fmt: skip
_COMPILED_SETTINGS = tuple((re.compile(pattern), values) for pattern, values in _SETTINGS)


def _named(name: str) -> list[Any] | None:
    return next(
        (list(values) for pattern, values in _COMPILED_SETTINGS if pattern.fullmatch(name)), None
    )


def setting_of(name: str) -> Any:
    """A plain value that the name suggests, 2 where it suggests none."""
    return (_named(name.lower()) or [2])[0]


def _labels(scene: Scene) -> list[Any]:
    if not scene.shape:
        return [scene.floats()]
    sparse = scene.integers(scene.classes, *scene.shape[:-1])
    one_hot = np.eye(scene.classes, dtype="float32")[sparse]
    return [one_hot, sparse, scene.floats(*scene.shape), scene.integers(2, *scene.shape)]


def _masks(scene: Scene) -> list[Any]:
    shape = scene.shape or (4,)
    shapes = dict.fromkeys((shape[:-1] or shape, shape, shape[:1]))
    return [*(scene.booleans(*one) for one in shapes), scene.booleans(*shape).astype("float32")]


def _attention_masks(scene: Scene) -> list[Any]:
    batch, length = (scene.shape[0], scene.shape[1]) if len(scene.shape) > 1 else (2, 8)
    ones: Any = np.ones((batch, length), "int32")
    return [
        ones,
        np.zeros((batch, 1, 1, length), "float32"),
        scene.booleans(batch, length, length),
        *_masks(scene),
    ]


def _ids(scene: Scene) -> list[Any]:
    shape = scene.shape or (4,)
    shapes = dict.fromkeys((shape[:2], shape[:1], shape, (4, 2)))
    return [*(scene.integers(3, *one) for one in shapes), 1]


def _images(scene: Scene) -> list[Any]:
    own = [scene.floats(*scene.shape)] if len(scene.shape) in (3, 4, 5) else []
    return [
        *own,
        scene.floats(2, 8, 8, 3),
        scene.floats(8, 8, 3),
        (scene.floats(8, 8, 3) * 255).astype("uint8"),
    ]


def _sequences(scene: Scene) -> list[Any]:
    return [scene.floats(*scene.shape)] if len(scene.shape) > 1 else [scene.floats(2, 5, 4)]


def _lengths(scene: Scene) -> list[Any]:
    limit = scene.shape[1] if len(scene.shape) > 1 else 3
    return [scene.integers(limit, scene.shape[0] if scene.shape else 1) + 1, 3]


def _points(scene: Scene) -> list[Any]:
    return [scene.floats(2, 6, 3), scene.unit(5, 3), scene.floats(6, 3), scene.floats(2, 3, 6, 7)]


_Recipe = Callable[[Scene], list[Any]]
_TENSORS: tuple[tuple[str, _Recipe], ...] = (
    (r".*ragged.*|rt", lambda s: [s.ragged(), s.ragged(3)]),
    (r".*sparse.*|sp_.*|sp", lambda s: [s.sparse(4, 4)]),
    (r"logits|.*_logits", lambda s: [s.floats(*s.shape) * 4 - 2]),
    (r"y_true|labels?|targets?|true.*|gt.*|ground_truth.*|.*_labels?|.*_targets?|y", _labels),
    (r"y_pred|predictions?|preds?|outputs?|probs|probabilities|.*_pred", lambda s: [s.floats(*s.shape), s.floats(*s.shape[:-1])]),
    (r".*(box|boxes|bboxes|boxes?\d|rois|anchors|proposals)", lambda s: [s.boxes(5), s.boxes(2, 5), s.floats(2, 5, 7), s.floats(2, 2, 5, 7)]),
    (r"scores?|.*_scores?|.*_weights?|weights|importance.*|sample_weight", lambda s: [s.floats(*s.shape[:-1]), s.floats(*s.shape), s.floats(*s.shape[:1]), s.floats(5)]),
    (r".*attention_mask", _attention_masks),
    (r".*mask.*|is_valid|valid|done|.*_valid", _masks),
    (r".*(indices|index|ids|idx|tokens?|token_ids|segments?|positions?|actions?|items?|classes)", _ids),
    (r".*(lengths?|seq_len|row_splits|sizes)", _lengths),
    (r"quaternions?\d?|.*_quaternion|q", lambda s: [s.unit(5, 4)]),
    (r".*rotation_matrix.*|matrix_rotation", lambda s: [np.tile(np.eye(3, dtype="float32"), (5, 1, 1))]),
    (r".*point_?clouds?|points?(_.*)?|.*_points?|vertices|.*normals?|.*directions?|vector\d?|vectors?|translations?|rays?.*|origin.*|angles|.*coordinates|xyz|keypoints?", _points),
    (r"a|adj\w*|.*adjacency.*|neighbors|affinity", lambda s: [s.adjacency(4), s.sparse(4, 4), np.stack([s.adjacency(4)] * 2)]),
    (r".*(matrix|matrices|covariance|cov|scale_tril|cholesky|chol|precision|gram)|mat", lambda s: [s.positive_definite(3), np.stack([s.positive_definite(3)] * 2)]),
    (r"query|queries|keys?|values?|memory|hidden_states?|sequences?|encoder.*|decoder.*|embeddings?", lambda s: [*_sequences(s), s.floats(*s.shape)]),
    (r"images?|img|imgs|pictures?|.*_images?|feature_?maps?|video|frames?|pixel_values", _images),
    (r"texts?|sentences?|.*_string|strings?", lambda s: [tf.constant(["some text", "more of it"]), tf.constant("some text")]),
    (r"grads?|gradients?|dy|upstream", lambda s: [s.floats(*s.shape)]),
    (r"var|variable", lambda s: [Lazy("a variable", lambda: tf.Variable(s.floats(*s.shape)))]),
)  # fmt: skip
_COMPILED_TENSORS = tuple((re.compile(pattern), recipe) for pattern, recipe in _TENSORS)


def _tensors_named(name: str, scene: Scene) -> list[Any] | None:
    return next(
        (recipe(scene) for pattern, recipe in _COMPILED_TENSORS if pattern.fullmatch(name)), None
    )
