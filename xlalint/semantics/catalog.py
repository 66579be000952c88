"""What XLA does with each public API of one TensorFlow version, as measured by `tools/catalog`.

Nothing here imports TensorFlow. A file holds one row per API; `Api` objects are made when they are asked for, because a
run of `check` meets a few hundred of several thousand names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xlalint import data

# Inputs of operations that tf.raw_ops gives another name.
_RAW_PARAMETERS = {"reduction_indices": "axis", "dim": "axis", "split_dim": "axis"}

SCHEMA = 2

_MINOR = re.compile(r"(\d+)\.(\d+)(?:\.|$|[a-z-])")
_GENERATED_WRAPPER = re.compile(r"(?:(?:^|\.)gen_\w+_ops|^tf\.raw_ops)\.(\w+)$")


class CatalogError(Exception):
    """There is no catalogue for the version asked for, or its file cannot be read. The message is for the reader."""


@dataclass(frozen=True, slots=True)
class Op:
    """One TensorFlow operation. `constant_inputs` are the inputs that XLA needs as compile-time constants.

    `data_sized` are the indexes of outputs whose size depends on data (measured alone), `outputs` is how many it has
    (-1: as many as an attribute says), `is_host` says that it can only run on the host: strings, files, tables, Python.
    """

    name: str
    kernel: bool
    constant_inputs: tuple[str, ...]
    data_sized: tuple[int, ...]
    outputs: int
    is_host: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """How the verdict differs from the API's own when arguments take these values.

    `when` pairs a parameter with a value, with `"given"` for a parameter that is None by default, or with `"listed"` for several
    axes. Where several
    conditions match a call, the one with most pairs is meant. `gradient` is None where it is as the API's own.
    """

    when: tuple[tuple[str, object], ...]
    status: str
    missing: tuple[str, ...]
    reason: str | None
    data_sized: tuple[int, ...] | None
    constant_args: tuple[str, ...]
    gradient: str | None
    gradient_missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Api:
    """One public function, layer or class, under its canonical name.

    - `status`: `compiles`, `fails`, `crashes` (the compiler kills the process), `untraced` (no input found that it
      accepts), `not-compute` (nothing that would run on a device).
    - `reason` of a failure: `no-kernel`, `constant`, `dtype`, `gradient`, `eager-only` (it
      cannot be traced), `other`; `missing` lists ops without a kernel.
      The verdict is for arguments in `constant_args` given as compile-time constants.
    - `data_sized`: indexes into the flat list of output tensors; None where it was not measured.
    - `constant_args`: arguments whose value XLA needs at compile time. `sizing_args`: arguments that may be tensors and
      then make an output data-sized. `python_args`: arguments that are refused as tensors while tracing, and not by eager
      execution; `python_parts`: those that are refused with a tensor for a number of their list.
    - `returns`: `tensor`, `structure` (tuple, list, dictionary or composite of tensors), `python`, `none`, `object`.
    - `result_dtype`: of the first output: `same` as the first tensor argument, `real` (the same, but float32
      for complex64), `like:PARAMETER`, a fixed name such as `bool`, or None. `dtype_arg`: the argument that decides it where it is given (`dtype`, `out_type`...).
      `result_rank`: 0 when every axis is reduced by default.
      `floating`: whatever the dtype of its arguments, floating or complex numbers come out, or it refuses them.
    - `shape` of the one tensor that comes out: `same` as the first tensor argument; `like:PARAMETER`; `broadcast` of all
      tensor arguments; `matmul`; `reduce` (an `axis` argument takes axes away, all of them by default), `reduce:0` and
      `reduce:-1` (that one by default); `drop:N` (the broadcast of all tensor arguments, without the last N axes);
      `given:PARAMETER` (the value of an argument, in which -1 may stand for what is left); `rank:N`; `rank+N`, `rank-N`
      against the first tensor argument; None where nothing of it is known.
      `shape_unless`: optional arguments that make `shape` wrong when given.
    - `gradient`: `compiles`, `fails`, `none` (no gradient to be had), or None where it was not measured.
      `no_gradient_in`: `arm` and `step`, where it compiles, but not in an arm of a conditional on data, or in a step of a loop: it needs as a
      constant what the call computes there. `no_gradient_with` are the arguments with which that was measured.
    - `bounded`: what XLA makes of a data-sized argument (its first axis, along which the call works), by parameter:
      `fine`, `wrong-numbers`, `rejected`, `crashes`, all other arguments having static sizes. `bounded_together` is the
      same where all arguments with as many rows are data-sized by one mask, measured where alone is not fine.
      `bounded_gradient` and `bounded_together_gradient` say it of the backward pass where that is not fine.
      `exact_args`: arguments for which the count of data is refused, though XLA has a bound for it.
    - `dtypes`: verdicts of input dtypes that differ from the API's own.
    - `why`: why an API has no verdict, in words.
    """

    name: str
    status: str
    params: tuple[str, ...]
    ops: tuple[str, ...]
    missing: tuple[str, ...]
    reason: str | None
    data_sized: tuple[int, ...] | None
    constant_args: tuple[str, ...]
    sizing_args: tuple[str, ...]
    python_args: tuple[str, ...]
    python_parts: tuple[str, ...]
    returns: str | None
    result_dtype: str | None
    result_rank: int | None
    dtype_arg: str | None
    floating: bool
    shape: str | None
    shape_unless: tuple[str, ...]
    host: bool
    gradient: str | None
    gradient_reason: str | None
    gradient_missing: tuple[str, ...]
    no_gradient_in: tuple[str, ...]
    no_gradient_with: frozenset[str]
    bounded: tuple[tuple[str, str], ...]
    bounded_gradient: tuple[tuple[str, str], ...]
    bounded_together: tuple[tuple[str, str], ...]
    bounded_together_gradient: tuple[tuple[str, str], ...]
    exact_args: tuple[str, ...]
    dtypes: tuple[tuple[str, str], ...]
    replacement: str | None
    why: str | None
    conditions: tuple[Condition, ...]


class _Rows(Mapping[str, Any]):
    """Rows by name, each of which is parsed when it is asked for. Raises CatalogError for one that is not JSON."""

    __slots__ = ("_text",)

    def __init__(self, lines: Iterable[str]) -> None:
        """Of lines such as `"name":{...},`, as `tools/catalog` writes them."""
        self._text: dict[str, str] = {}
        for line in lines:
            name, colon, value = line[1:].partition('":')
            if not colon or line[0] != '"':
                raise ValueError(f"not a row: {line[:40]}")
            self._text[name] = value

    def __getitem__(self, name: str) -> Any:
        text = self._text[name]
        try:
            return json.loads(text[:-1] if text[-1] == "," else text)
        except ValueError as error:
            raise CatalogError(
                f"the catalogue's row of {name} cannot be read ({error}); install xlalint again"
            ) from error

    def __contains__(self, name: object) -> bool:
        return name in self._text

    def __iter__(self) -> Iterator[str]:
        return iter(self._text)

    def __len__(self) -> int:
        return len(self._text)


class Catalog:
    """The measured facts of one TensorFlow version."""

    __slots__ = (
        "_aliases",
        "_apis",
        "_keras_2",
        "_made",
        "_ops",
        "_squeezed",
        "keras",
        "tensorflow",
    )

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.tensorflow: str = raw["tensorflow"]
        self.keras: str | None = raw["keras"]
        self._ops: Mapping[str, Mapping[str, Any]] = raw["ops"]
        self._apis: Mapping[str, Mapping[str, Any]] = raw["apis"]
        self._aliases: Mapping[str, str] = raw["aliases"]
        self._made: dict[str, Api | None] = {}
        self._keras_2: dict[str, Api | None] = {}
        self._squeezed: dict[str, str] | None = None

    def api(self, name: str) -> Api | None:
        """Facts of `name` (`tf.reduce_sum`, `keras.ops.sum`, `tf.raw_ops.Unique`), or None for an unknown name.

        Takes every public spelling: aliases, `tf.compat.v2.*`, `tf.compat.v1.*` where it is the same function,
        `tf.keras.*` and `tf_keras.*`, and generated wrappers (`gen_array_ops.unique`).
        """
        if name not in self._made:
            canonical = self.canonical(name)
            self._made[name] = None if canonical is None else self._make(canonical)
        return self._made[name]

    def api_of_keras_2(self, name: str) -> Api | None:
        """Facts of `keras.layers.Dense` as Keras 2 has it, under that name.

        They are measured from tf_keras where TensorFlow brings Keras 3, and from TensorFlow's own Keras before that.
        """
        key = f"tf_{name}"
        if key not in self._keras_2:
            api = self.api(key)
            if api is not None and api.name.startswith("tf_keras."):
                api = replace(api, name=api.name.removeprefix("tf_"))
            self._keras_2[key] = api
        return self._keras_2[key]

    def op(self, op_type: str) -> Op | None:
        """Facts of one operation type, such as `UniqueWithCounts`, or None for an unknown one."""
        row = self._ops.get(op_type)
        if row is None:
            return None
        return Op(
            name=op_type,
            kernel=row.get("kernel", False),
            constant_inputs=tuple(row.get("constant_inputs", ())),
            data_sized=tuple(row.get("data_sized", ())),
            outputs=row.get("outputs", 1),
            is_host=row.get("host", False),
        )

    def canonical(self, name: str) -> str | None:
        """The name under which the catalogue holds `name`, or None."""
        for spelling in _spellings(name):
            if spelling in self._apis:
                return spelling
            if spelling in self._aliases:
                return self._aliases[spelling]
            if spelling.startswith("tf.raw_ops.") and spelling[11:] in self._ops:
                return spelling
        return self._generated(name)

    def names(self) -> tuple[str, ...]:
        """Every canonical name that has a row of its own, sorted."""
        return tuple(sorted(self._apis))

    def spellings(self) -> tuple[str, ...]:
        """Every name that is written down: canonical names and aliases, sorted."""
        return tuple(sorted({*self._apis, *self._aliases}))

    def members(self, module: str) -> tuple[str, ...]:
        """The names that are written down right under `module` (`tf.math`), modules among them, sorted."""
        start = f"{module}."
        below = (name.removeprefix(start) for name in self.spellings() if name.startswith(start))
        return tuple(sorted({name.partition(".")[0] for name in below}))

    def emitters(self, op_type: str) -> tuple[str, ...]:
        """APIs whose graph holds an operation, sorted; those of `tf.compat.v1` last."""
        found = [name for name, row in self._apis.items() if op_type in row.get("ops", ())]
        return tuple(sorted(found, key=lambda name: (name.startswith("tf.compat."), name)))

    def has_row(self, name: str) -> bool:
        """Whether a canonical name has a row of its own; raw ops without one are told by the registry."""
        return name in self._apis

    def op_types(self) -> tuple[str, ...]:
        """Every operation type of this version, sorted."""
        return tuple(sorted(self._ops))

    def _generated(self, name: str) -> str | None:
        """`gen_math_ops.segment_sum` stands for the op `SegmentSum`; the words of both agree without underscores."""
        wrapper = _GENERATED_WRAPPER.search(name)
        if wrapper is None:
            return None
        if self._squeezed is None:
            self._squeezed = {op.lower(): op for op in self._ops}
        op = self._squeezed.get(wrapper[1].replace("_", "").lower())
        return None if op is None else f"tf.raw_ops.{op}"

    def _make(self, name: str) -> Api:
        row = self._apis.get(name)
        return self._raw_op(name) if row is None else _api(name, row)

    def _raw_op(self, name: str) -> Api:
        """A raw op that was not traced by itself: the registry says whether it has a kernel."""
        op = self.op(name.removeprefix("tf.raw_ops."))
        assert op is not None  # `canonical` looked it up
        row: dict[str, Any] = {
            "status": "compiles" if op.kernel else "fails",
            "ops": [op.name],
            "data_sized": op.data_sized,
            "constant_args": tuple(_RAW_PARAMETERS.get(i, i) for i in op.constant_inputs),
            "returns": {0: "none", 1: "tensor"}.get(op.outputs, "structure"),
            "host": op.is_host,
        }
        if not op.kernel:
            row |= {"missing": [op.name], "reason": "no-kernel"}
        return _api(name, row)


def custom_operation(name: str, operation: str = "a custom operation") -> Api:
    """An operation of a library loaded with tf.load_op_library: registered for CPU and GPU, not for XLA."""
    row = {
        "status": "fails",
        "missing": [operation],
        "reason": "no-kernel",
        "returns": "structure",
    }
    return _api(name, row)


def without_gradient(name: str, operation: str) -> Api:
    """A function of another package that compiles, and whose gradient needs an operation that XLA has no kernel for."""
    gradient = {"gradient": "fails", "gradient_missing": [operation]}
    return _api(name, {"status": "compiles", "returns": "structure", **gradient})


def available() -> tuple[str, ...]:
    """The TensorFlow minors that have a catalogue, oldest first: `("2.12", "2.15", ...)`."""
    return tuple(sorted((path.stem for path in _folder().glob("*.json")), key=_order))


def load(minor: str) -> Catalog:
    """The catalogue of a TensorFlow version (`"2.21"`, or `"2.21.0"`).

    Raises CatalogError when there is none, naming those that there are, or when its file cannot be read.
    """
    match = _MINOR.match(minor)
    path = _folder() / f"{match[1]}.{match[2]}.json" if match else None
    if path is None or not path.is_file():
        shipped = ", ".join(available()) or "none"
        raise CatalogError(
            f"no catalogue for TensorFlow {minor}; there is one for: {shipped}. "
            "Choose one of these with --tf-version, or generate it: python -m tools.catalog"
        )
    return _read(path)


def nearest(version: str) -> str:
    """The shipped minor to use for `version`: itself, else the newest that is older, else the oldest of all.

    Raises CatalogError when no catalogue is shipped at all, or when `version` is not a version.
    """
    minors = available()
    if not minors or _MINOR.match(version) is None:
        raise CatalogError(
            f"no catalogue for TensorFlow {version}; there is one for: {', '.join(minors)}"
        )
    older = [minor for minor in minors if _order(minor) <= _order(version)]
    return older[-1] if older else minors[0]


def _read(path: Path) -> Catalog:
    try:
        raw = _sections(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CatalogError(
            f"{path} cannot be read ({error}); install xlalint again, or generate it: python -m tools.catalog"
        ) from error
    if raw.get("schema") != SCHEMA:
        raise CatalogError(
            f"{path} has schema {raw.get('schema')}, this xlalint reads {SCHEMA}; generate it: python -m tools.catalog"
        )
    return Catalog(raw)


def _sections(text: str) -> dict[str, Any]:
    """The parts of a catalogue, whose rows are not parsed yet: of several thousand, a run needs a few hundred.

    A catalogue has one row per line, and each part that holds rows begins and ends on a line of its own. Raises
    ValueError for anything else.
    """
    lines = text.split("\n")
    if lines[0] != "{" or lines[-2:] != ["}", ""]:
        raise ValueError("the file is cut off, or not a catalogue")
    parts: dict[str, Any] = {}
    at = 1
    while at < len(lines) - 2:
        key, _, value = lines[at].partition(":")
        if value == "{":
            end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith("}"))
            parts[json.loads(key)] = _Rows(lines[at + 1 : end])
            at = end + 1
        else:
            parts[json.loads(key)] = json.loads(value.removesuffix(","))
            at += 1
    return parts


def _folder() -> Path:
    return data.root() / "catalog"


def _order(version: str) -> tuple[int, int]:
    match = _MINOR.match(version)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _spellings(name: str) -> tuple[str, ...]:
    """Names under which `name` may be held, the most particular first."""
    if name.endswith(_PRIVATE_TRANSFORM):
        return ("tf.raw_ops.ImageProjectiveTransformV3",)
    if name.startswith("tensorflow."):
        name = "tf." + name.removeprefix("tensorflow.")
    for prefix in ("tf.compat.v2.", "tf.compat.v1.compat.v1.", "tf.compat.v1.compat.v2."):
        if name.startswith(prefix):
            name = ("tf.compat.v1." if prefix.endswith("v1.") else "tf.") + name[len(prefix) :]
    for prefix in ("tf.keras.", "tf_keras.", "keras.src.", "tf.compat.v1.keras."):
        if name.startswith(prefix):
            return (name, "keras." + name[len(prefix) :])
    for prefix in ("tf.initializers.", "tf.losses.", "tf.metrics.", "tf.optimizers."):
        if name.startswith(prefix):
            return (name, "keras." + name.removeprefix("tf."))
    if name in _STATIC_METHODS:
        return (f"tf.raw_ops.{_STATIC_METHODS[name]}",)
    if name in _SUMMARIES_OF_V1:
        return (f"tf.raw_ops.{_SUMMARIES_OF_V1[name]}",)
    if name.startswith("tf.compat.v1."):
        return (name, "tf." + name.removeprefix("tf.compat.v1."))
    if name.startswith("tf.python."):
        return _public_spellings(name)
    if name.count(".") == 1 and name.startswith("tf."):
        # What TensorFlow 1 had at the top, and what private modules hold.
        return (name, "tf.compat.v1." + name[3:])
    return (name,)


# Of the module behind Keras 2's RandomRotation and its kind, which augmentations import from wherever it is.
_PRIVATE_TRANSFORM = ".preprocessing.image_preprocessing.transform"
_STATIC_METHODS = {
    "tf.experimental.Optional.empty": "OptionalNone",
    "tf.experimental.Optional.from_value": "OptionalFromValue",
}
# Other functions than their namesakes in `tf.summary`, which do nothing without a writer.
_SUMMARIES_OF_V1 = {
    f"tf.compat.v1.summary.{name}": operation
    for name, operation in {
        "audio": "AudioSummaryV2",
        "histogram": "HistogramSummary",
        "image": "ImageSummary",
        "merge": "MergeSummary",
        "scalar": "ScalarSummary",
        "tensor_summary": "TensorSummaryV2",
        "text": "TensorSummaryV2",
    }.items()
}
# Where the functions of private modules are public, by the start of the module's name: `tensorflow.python.ops.image_ops_impl`.
_PUBLIC_PLACES = {
    "image": ("image",),
    "gradients": (),
    "linalg": ("linalg",),
    "sparse": ("sparse",),
    "string": ("strings",),
    "random": ("random",),
    "stateless_random": ("random",),
    "ctc": ("nn",),
    "nn": ("nn",),
    "candidate_sampling": ("random", "nn"),
    "embedding": ("nn",),
    "sets": ("sets",),
    "lookup": ("lookup",),
    "parsing": ("io",),
    "io": ("io",),
    "check": ("debugging",),
    "special_math": ("math",),
    "math": ("math",),
    "bitwise": ("bitwise",),
    "fft": ("signal",),
    "ragged": ("ragged",),
    "script": (),
    "logging": (),
    "array": (),
    "clip": (),
    "confusion_matrix": ("math",),
    "histogram": (),
    "tensor_array": (),
}
_PRIVATE_MODULE = re.compile(
    r"^tf\.python\.ops\.(?:\w+\.)?([a-z]+(?:_[a-z]+)*?)(?:_ops)?(?:_impl)?\.(\w+)$"
)


def _public_spellings(name: str) -> tuple[str, ...]:
    match = _PRIVATE_MODULE.match(name)
    if match is not None and match[1] == "inplace":
        # `inplace_ops.alias_inplace_update`, which other modules have under names of their own, is the operation InplaceUpdate.
        operation = "".join(map(str.capitalize, match[2].removeprefix("alias_").split("_")))
        return (name, f"tf.raw_ops.{operation}")
    if match is None or match[1] not in _PUBLIC_PLACES:
        return (name,)
    places = [f"{place}." for place in _PUBLIC_PLACES[match[1]]] + [""]
    leaf = match[2].removesuffix("_v2")
    return (
        name,
        *(f"{root}{place}{leaf}" for place in places for root in ("tf.", "tf.compat.v1.")),
    )


def _api(name: str, row: Mapping[str, Any]) -> Api:
    return Api(
        name=name,
        status=row["status"],
        params=tuple(row.get("params", ())),
        ops=tuple(row.get("ops", ())),
        missing=tuple(row.get("missing", ())),
        reason=row.get("reason"),
        data_sized=_indexes(row),
        constant_args=tuple(row.get("constant_args", ())),
        sizing_args=tuple(row.get("sizing_args", ())),
        python_args=tuple(row.get("python_args", ())),
        python_parts=tuple(row.get("python_parts", ())),
        returns=row.get("returns"),
        result_dtype=row.get("result_dtype"),
        result_rank=row.get("result_rank"),
        dtype_arg=row.get("dtype_arg"),
        floating=row.get("floating", False),
        shape=row.get("shape"),
        shape_unless=tuple(row.get("shape_unless", ())),
        host=row.get("host", False),
        gradient=row.get("gradient"),
        gradient_reason=row.get("gradient_reason"),
        gradient_missing=tuple(row.get("gradient_missing", ())),
        no_gradient_in=tuple(row.get("no_gradient_in", ())),
        no_gradient_with=frozenset(row.get("no_gradient_with", ())),
        bounded=tuple(row.get("bounded", {}).items()),
        bounded_gradient=tuple(row.get("bounded_gradient", {}).items()),
        bounded_together=tuple(row.get("bounded_together", {}).items()),
        bounded_together_gradient=tuple(row.get("bounded_together_gradient", {}).items()),
        exact_args=tuple(row.get("exact_args", ())),
        dtypes=tuple(sorted(row.get("dtypes", {}).items())),
        replacement=row.get("replacement"),
        why=row.get("why"),
        conditions=tuple(_condition(each, row) for each in row.get("conditions", ())),
    )


def _condition(part: Mapping[str, Any], row: Mapping[str, Any]) -> Condition:
    """A condition's row holds what differs from the API's; the status is always its own."""
    return Condition(
        when=tuple(sorted(part["when"].items())),
        status=part["status"],
        missing=tuple(part.get("missing", ())),
        reason=part.get("reason"),
        data_sized=_indexes(part),
        constant_args=tuple(part.get("constant_args", row.get("constant_args", ()))),
        gradient=part.get("gradient"),
        gradient_missing=tuple(part.get("gradient_missing", ())),
    )


def _indexes(row: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Compiling rows leave out an empty list; a row that did not compile has no measured sizes."""
    if "data_sized" in row:
        return tuple(row["data_sized"])
    return () if row["status"] == "compiles" else None
