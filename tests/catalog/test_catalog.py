"""What the loader answers, and what the shipped catalogues say of APIs that users meet."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from xlalint import data
from xlalint.semantics.catalog import shipped
from xlalint.semantics.catalog.catalog import Catalog
from xlalint.semantics.catalog.entries import Api, Condition
from xlalint.semantics.catalog.shipped import CatalogError, load

MINORS = shipped.available()
STATUSES = {"compiles", "fails", "crashes", "untraced", "not-compute"}
REASONS = {None, "no-kernel", "constant", "dtype", "gradient", "eager-only", "other"}


@pytest.fixture(scope="module", params=MINORS)
def facts(request: pytest.FixtureRequest) -> Catalog:
    """Each shipped catalogue in turn."""
    return shipped.load(request.param)


@pytest.fixture(scope="module")
def newest() -> Catalog:
    return shipped.load(MINORS[-1])


def found(facts: Catalog, name: str) -> Api:
    api = facts.api(name)
    assert api is not None, name
    return api


def condition(api: Api, **when: object) -> Condition:
    [match] = [each for each in api.conditions if dict(each.when) == when]
    return match


def test_ships_the_versions_that_the_readme_promises() -> None:
    assert MINORS == ("2.12", "2.15", "2.18", "2.21")


@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        ("tf.reduce_sum", "tf.math.reduce_sum"),
        ("tensorflow.reduce_sum", "tf.math.reduce_sum"),
        ("tf.compat.v2.reduce_sum", "tf.math.reduce_sum"),
        ("tf.compat.v1.abs", "tf.math.abs"),
        ("tf.compat.v1.matmul", "tf.linalg.matmul"),
        ("tf.keras.layers.Dense", "keras.layers.Dense"),
        ("tf.raw_ops.UniqueWithCounts", "tf.raw_ops.UniqueWithCounts"),
        ("gen_array_ops.unique_with_counts", "tf.raw_ops.UniqueWithCounts"),
        ("tensorflow.python.ops.gen_math_ops.segment_sum", "tf.raw_ops.SegmentSum"),
    ],
)
def test_resolves_every_spelling_of_a_name(facts: Catalog, spelling: str, canonical: str) -> None:
    assert facts.canonical(spelling) == canonical
    assert found(facts, spelling).name == canonical


@pytest.mark.parametrize("name", ["tf.no_such_thing", "numpy.unique", "gen_array_ops.nothing", ""])
def test_an_unknown_name_has_no_facts(facts: Catalog, name: str) -> None:
    assert facts.api(name) is None


def test_a_missing_version_names_those_that_there_are() -> None:
    with pytest.raises(CatalogError) as error:
        shipped.load("2.9")
    assert str(error.value) == (
        "no catalogue for TensorFlow 2.9; there is one for: 2.12, 2.15, 2.18, 2.21. "
        "Choose one of these with --tf-version, or generate it: python -m tools.catalog"
    )


@pytest.mark.parametrize("version", ["two", "", "2"])
def test_what_is_no_version_is_refused(version: str) -> None:
    with pytest.raises(CatalogError, match="there is one for"):
        shipped.load(version)
    with pytest.raises(CatalogError, match="there is one for"):
        shipped.nearest(version)


@pytest.mark.parametrize(
    ("asked", "used"),
    [("2.21", "2.21"), ("2.21.0", "2.21"), ("2.22", "2.21"), ("2.20", "2.18"), ("2.16.1", "2.15"),
     ("2.12.0", "2.12"), ("2.4", "2.12"), ("3.0", "2.21")],
)  # fmt: skip
def test_the_nearest_version_is_the_newest_that_is_not_newer(asked: str, used: str) -> None:
    assert shipped.nearest(asked) == used


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "cannot be read"),
        ('{"schema": 2}', "cannot be read"),
        ('{\n"schema":1\n}\n', "has schema 1, this xlalint reads 2"),
    ],
)
def test_a_broken_file_says_how_to_mend_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, complaint: str
) -> None:
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "2.21.json").write_text(text)
    monkeypatch.setattr(data, "root", lambda: tmp_path)
    with pytest.raises(CatalogError) as error:
        shipped.load("2.21")
    assert complaint in str(error.value)
    assert "python -m tools.catalog" in str(error.value)


def test_loading_costs_little(newest: Catalog) -> None:
    """15 ms on the machine that it was written on; a wider bound keeps a busy one from failing."""
    best = 1.0
    for _ in range(5):
        started = time.process_time()
        shipped.load(MINORS[-1]).api("tf.reduce_sum")
        best = min(best, time.process_time() - started)
    assert best < 0.06


def test_files_are_small_and_sorted() -> None:
    for minor in MINORS:
        path = data.root() / "catalog" / f"{minor}.json"
        assert path.stat().st_size < 1_500_000
        raw = json.loads(path.read_text())
        for table in ("apis", "aliases", "ops"):
            assert list(raw[table]) == sorted(raw[table])
        assert raw["tensorflow"].startswith(f"{minor}.")


def test_every_row_has_the_schema(facts: Catalog) -> None:
    for name in facts.names():
        api = found(facts, name)
        assert api.status in STATUSES, name
        assert api.reason in REASONS, name
        assert api.returns in {None, "tensor", "structure", "python", "none", "object"}, name
        assert api.gradient in {None, "compiles", "fails", "crashes", "none"}, name
        assert set(api.constant_args) <= {*api.params, "*"}, name
        assert api.status != "compiles" or not api.missing, name
        assert api.reason not in ("no-kernel",) or api.missing, name
        for op in (*api.ops, *api.missing):
            assert facts.op(op) is not None, (name, op)
        for each in api.conditions:
            assert each.status in STATUSES, name
            assert set(dict(each.when)) <= {*api.params, "training", "y_pred"}, name


def test_aliases_lead_to_rows(facts: Catalog) -> None:
    raw = json.loads(
        (data.root() / "catalog" / f"{facts.tensorflow.rsplit('.', 1)[0]}.json").read_text()
    )
    for alias, name in raw["aliases"].items():
        assert facts.api(alias) is not None, (alias, name)


def test_ops_without_a_kernel_agree_with_verdicts(facts: Catalog) -> None:
    """An op that the compiler called missing has no kernel, unless the dtype was the reason."""
    for name in facts.names():
        api = found(facts, name)
        if api.reason == "no-kernel":
            kernels = [op for op in map(facts.op, api.missing) if op is not None and op.kernel]
            assert len(kernels) < len(api.missing), name


def test_ops_without_a_kernel_compile_only_where_they_vanish(facts: Catalog) -> None:
    """Sobol points are folded into a constant; recurrent layers hold a branch for another device."""
    vanishing = {
        "tf.math.sobol_sample",
        "keras.layers.LSTM",
        "keras.layers.GRU",
        "keras.layers.Bidirectional",
    }
    for name in facts.names():
        api = found(facts, name)
        if api.status == "compiles" and name.removeprefix("tf_") not in vanishing:
            ops = [op for op in map(facts.op, api.ops) if op is not None]
            assert [op.name for op in ops if not op.kernel] == [], name


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("tf.unique_with_counts", "UniqueWithCounts"),
        ("tf.math.segment_sum", "SegmentSum"),
        ("tf.image.crop_and_resize", "CropAndResize"),
        ("tf.image.combined_non_max_suppression", "CombinedNonMaxSuppression"),
        ("tf.histogram_fixed_width", "HistogramFixedWidth"),
        ("tf.py_function", "EagerPyFunc"),
        ("tf.numpy_function", "PyFunc"),
        ("tf.strings.as_string", "AsString"),
        ("tf.strings.length", "StringLength"),
        ("tf.nn.ctc_greedy_decoder", "CTCGreedyDecoder"),
        ("tf.sets.intersection", "DenseToDenseSetOperation"),
        ("tf.RaggedTensor.to_tensor", "RaggedTensorToTensor"),
        ("tf.raw_ops.ImageProjectiveTransformV3", "ImageProjectiveTransformV3"),
        ("keras.layers.RandomRotation", "ImageProjectiveTransformV3"),
    ],
)
def test_fails_for_want_of_a_kernel(minor: str, name: str, missing: str) -> None:
    api = found(shipped.load(minor), name)
    assert (api.status, api.reason) == ("fails", "no-kernel")
    assert missing in api.missing


@pytest.mark.parametrize(
    "name",
    [
        "tf.math.unsorted_segment_sum", "tf.matmul", "tf.einsum", "tf.image.non_max_suppression_padded",
        "tf.debugging.assert_greater", "tf.debugging.check_numerics", "tf.gather", "tf.scatter_nd",
        "tf.random.normal", "tf.random.stateless_uniform", "tf.signal.stft", "tf.sort", "tf.linspace",
        "tf.linalg.inv", "keras.layers.Dense", "keras.layers.LSTM", "keras.layers.MultiHeadAttention",
    ],
)  # fmt: skip
def test_compiles(facts: Catalog, name: str) -> None:
    api = found(facts, name)
    assert (api.status, api.missing) == ("compiles", ())


@pytest.mark.parametrize(
    ("name", "outputs"),
    [
        ("tf.unique", (0,)),
        ("tf.where", (0,)),
        ("tf.boolean_mask", (0,)),
        ("tf.dynamic_partition", (0, 1)),
        ("tf.image.non_max_suppression", (0,)),
        ("tf.math.reduce_sum", ()),
    ],
)
def test_outputs_whose_size_is_data(facts: Catalog, name: str, outputs: tuple[int, ...]) -> None:
    api = found(facts, name)
    assert (api.status, api.data_sized) == ("compiles", outputs)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("tf.range", ("start", "limit", "delta")),
        ("tf.one_hot", ("depth",)),
        ("tf.fill", ("dims",)),
        ("tf.reshape", ("shape",)),
        ("tf.tile", ("multiples",)),
        ("tf.broadcast_to", ("shape",)),
        ("tf.repeat", ("repeats",)),
        ("tf.image.resize", ("size",)),
        ("tf.math.unsorted_segment_sum", ("num_segments",)),
        ("tf.scatter_nd", ("shape",)),
        ("tf.sequence_mask", ("lengths", "maxlen")),
        ("tf.nn.relu", ()),
    ],
)
def test_arguments_that_must_be_constants(
    facts: Catalog, name: str, arguments: tuple[str, ...]
) -> None:
    api = found(facts, name)
    assert (api.status, set(arguments) <= set(api.constant_args)) == ("compiles", True)
    assert bool(arguments) == bool(api.constant_args)


def test_an_argument_can_give_an_output_its_size(newest: Catalog) -> None:
    assert found(newest, "tf.slice").sizing_args == ("size",)
    assert "k" in found(newest, "tf.math.top_k").sizing_args


def test_resize_depends_on_its_method(facts: Catalog) -> None:
    api = found(facts, "tf.image.resize")
    assert api.status == "compiles"
    assert condition(api, method="bicubic").missing == ("ResizeBicubic",)
    assert condition(api, method="area").missing == ("ResizeArea",)
    assert condition(api, method="lanczos3").missing == ("ScaleAndTranslate",)
    assert condition(api, antialias=True).status == "fails"
    assert condition(api, antialias=True, method="nearest").status == "compiles"


def test_where_with_three_arguments_has_the_size_of_its_arguments(facts: Catalog) -> None:
    api = found(facts, "tf.where")
    assert condition(api, x="given", y="given").data_sized == ()


def test_a_given_length_frees_the_others(facts: Catalog) -> None:
    freed = condition(found(facts, "tf.sequence_mask"), maxlen="given")
    assert (freed.status, freed.constant_args) == ("compiles", ("maxlen",))


def test_random_layers_fail_only_in_training(facts: Catalog) -> None:
    api = found(facts, "keras.layers.RandomRotation")
    statuses = {api.status, *(each.status for each in api.conditions)}
    assert statuses == {"fails", "compiles"}


@pytest.mark.parametrize(
    ("name", "returns"),
    [
        ("tf.rank", "tensor"),
        ("tf.size", "tensor"),
        ("tf.shape", "tensor"),
        ("tf.unique", "structure"),
        ("tf.split", "structure"),
        ("tf.nest.map_structure", "structure"),
        ("tf.executing_eagerly", "python"),
        ("tf.is_tensor", "python"),
        ("tf.get_static_value", "python"),
        ("tf.nest.is_nested", "python"),
        ("tf.distribute.has_strategy", "python"),
        ("tf.distribute.in_cross_replica_context", "python"),
        ("tf.keras.backend.ndim", "python"),
        ("tf.keras.backend.int_shape", "python"),
        ("tf.debugging.assert_equal", "none"),
        ("tf.print", "none"),
        ("tf.Variable", "object"),
        ("tf.GradientTape", "object"),
    ],
)
def test_what_a_call_returns(facts: Catalog, name: str, returns: str) -> None:
    assert found(facts, name).returns == returns


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("tf.reduce_sum", "same"), ("tf.equal", "bool"), ("tf.reduce_any", "bool"), ("tf.shape", "int32"),
     ("tf.where", "int64"), ("tf.argmax", "int64"), ("tf.abs", "real")],
)  # fmt: skip
def test_the_dtype_that_comes_out(facts: Catalog, name: str, dtype: str | None) -> None:
    assert found(facts, name).result_dtype == dtype


@pytest.mark.parametrize(
    ("name", "rank"),
    [("tf.reduce_sum", 0), ("tf.norm", 0), ("tf.size", 0), ("tf.rank", 0), ("tf.abs", None)],
)
def test_reductions_leave_a_scalar(facts: Catalog, name: str, rank: int | None) -> None:
    assert found(facts, name).result_rank == rank


def test_a_loop_without_a_bound_has_no_gradient(facts: Catalog) -> None:
    api = found(facts, "tf.while_loop")
    assert (api.status, api.gradient) == ("compiles", "fails")
    assert condition(api, maximum_iterations="given").gradient == "compiles"


@pytest.mark.parametrize(
    "name", ["tf.print", "tf.py_function", "tf.io.read_file", "tf.summary.scalar"]
)
def test_host_work_is_known_as_such(facts: Catalog, name: str) -> None:
    api = found(facts, name)
    assert (api.status, api.host) == ("fails", True)


def test_verdicts_follow_the_version() -> None:
    """`tf.nn.ctc_loss` wrote in place in 2.12, for which XLA has no kernel."""
    older = found(shipped.load("2.12"), "tf.nn.ctc_loss")
    assert (older.status, older.missing) == ("fails", ("InplaceAdd",))
    assert found(shipped.load("2.21"), "tf.nn.ctc_loss").status == "compiles"


def test_complex_matrices_cannot_be_inverted(newest: Catalog) -> None:
    assert dict(found(newest, "tf.linalg.inv").dtypes)["complex64"] == "fails"


def test_replacements_are_shown(newest: Catalog) -> None:
    replacement = found(newest, "tf.math.segment_sum").replacement
    assert replacement == "tf.math.unsorted_segment_sum(data, segment_ids, num_segments)"


def test_single_operations(newest: Catalog) -> None:
    slice_, unique, print_ = newest.op("Slice"), newest.op("Unique"), newest.op("PrintV2")
    assert slice_ is not None
    assert (slice_.kernel, slice_.constant_inputs, slice_.data_sized) == (True, (), (0,))
    range_ = newest.op("Range")
    assert range_ is not None
    assert range_.constant_inputs == ("delta", "limit", "start")
    assert unique is not None
    assert (unique.kernel, unique.data_sized, unique.outputs) == (True, (0,), 2)
    assert print_ is not None
    assert (print_.kernel, print_.is_host) == (False, True)
    assert newest.op("NoSuchOp") is None


def test_breadth(facts: Catalog) -> None:
    """The functions of `tf` itself that have a verdict, which is what `check` stands on."""
    own = [
        name for name in facts.names() if name.startswith("tf.") and name.count(".compat.v1.") == 0
    ]
    verdicts = [
        name for name in own if found(facts, name).status in ("compiles", "fails", "crashes")
    ]
    plain = [name for name in verdicts if not name.startswith("tf.raw_ops.")]
    assert len(plain) >= 560


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("tf.nn.softmax", "same"),
        ("tf.add", "broadcast"),
        ("tf.matmul", "matmul"),
        ("tf.reduce_sum", "reduce"),
        ("tf.argmax", "reduce:0"),
        ("keras.backend.argmax", "reduce:-1"),
        ("tf.linalg.trace", "drop:2"),
        ("tf.zeros", "given:shape"),
        ("tf.fill", "given:dims"),
        ("tf.searchsorted", "like:values"),
        ("tf.where", "rank:2"),
        ("tf.expand_dims", "rank+1"),
        ("tf.gather", None),
        ("tf.einsum", None),
        ("tf.map_fn", None),
    ],
)
def test_the_shape_that_comes_out(name: str, shape: str | None) -> None:
    assert found(load("2.21"), name).shape == shape


def test_arguments_that_change_the_shape_are_named() -> None:
    assert found(load("2.21"), "keras.ops.cumsum").shape_unless == ("axis",)


def test_the_argument_that_decides_the_dtype() -> None:
    catalog = load("2.21")

    assert found(catalog, "tf.zeros").dtype_arg == "dtype"
    assert found(catalog, "tf.argmax").dtype_arg == "output_type"
    assert found(catalog, "tf.abs").dtype_arg is None


@pytest.mark.parametrize("minor", ["2.12", "2.15", "2.18", "2.21"])
def test_what_takes_floats_alone_or_makes_them(minor: str) -> None:
    catalog = load(minor)

    assert all(found(catalog, f"tf.{name}").floating for name in ("exp", "sqrt", "divide", "norm"))
    for name in ("add", "clip_by_value", "map_fn", "reduce_mean", "abs"):
        assert not found(catalog, f"tf.{name}").floating


def test_a_broken_row_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are read when they are asked for: the others still work."""
    (tmp_path / "catalog").mkdir()
    rows = (data.root() / "catalog" / "2.21.json").read_text(encoding="utf-8")
    broken = rows.replace('"tf.unique":{', '"tf.unique":{{', 1)
    (tmp_path / "catalog" / "2.21.json").write_text(broken, encoding="utf-8")
    monkeypatch.setattr(data, "root", lambda: tmp_path)

    loaded = shipped.load("2.21")

    assert found(loaded, "tf.where").data_sized == (0,)
    with pytest.raises(CatalogError, match=r"row of tf\.unique cannot be read"):
        loaded.api("tf.unique")


def test_tf_keras_is_told_by_its_own_rows_where_tensorflow_brings_keras_3() -> None:
    new, old = load("2.21"), load("2.15")

    assert found(new, "tf_keras.layers.Dense").name == "tf_keras.layers.Dense"
    assert found(old, "tf_keras.layers.Dense").name == "keras.layers.Dense"
    for facts in (new, old):
        zoom = facts.api_of_keras_2("keras.layers.RandomZoom")
        assert zoom is not None
        assert (zoom.name, zoom.missing) == (
            "keras.layers.RandomZoom",
            ("ImageProjectiveTransformV3",),
        )


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("tf.raw_ops.Fill", ("dims",)),
        ("tf.raw_ops.Reshape", ("shape",)),
        ("tf.raw_ops.OneHot", ("depth",)),
        ("tf.raw_ops.Tile", ("multiples",)),
        ("tf.raw_ops.BroadcastTo", ("shape",)),
        ("tf.random.Generator.normal", ("shape",)),
    ],
)
def test_compile_time_constants_of_operations_and_methods(
    name: str, arguments: tuple[str, ...]
) -> None:
    assert found(load("2.21"), name).constant_args == arguments


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("tf.TensorArray.write", "compiles"),
        ("tf.Variable.assign", "compiles"),
        ("tf.Tensor.numpy", "fails"),
        ("tf.RaggedTensor.to_tensor", "fails"),
        ("tf.lookup.experimental.MutableHashTable.lookup", "fails"),
        ("tf.linalg.LinearOperator.solve", "compiles"),
        ("tf.experimental.numpy.nonzero", "compiles"),
        ("keras.optimizers.Adam", "compiles"),
        ("keras.initializers.GlorotUniform", "compiles"),
        ("keras.regularizers.L2", "compiles"),
        ("keras.metrics.MeanIoU", "compiles"),
        ("keras.optimizers.schedules.CosineDecay", "compiles"),
        ("keras.applications.resnet50.preprocess_input", "compiles"),
    ],
)
def test_methods_optimizers_and_what_else_is_called(name: str, status: str) -> None:
    assert found(load("2.21"), name).status == status
