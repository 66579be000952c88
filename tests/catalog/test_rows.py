"""How results of steps become rows, and rows a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.catalog.aliases import stored_aliases
from tools.catalog.rows import api_row, op_rows
from tools.catalog.write import render, write

NO_HOSTS: frozenset[str] = frozenset()


def default(**facts: Any) -> dict[str, Any]:
    return {"status": "compiles", "ops": ["Op"], "returns": "tensor", "frozen": [], **facts}


def row(params: str = "", /, **steps: dict[str, Any]) -> dict[str, Any]:
    named = {label.replace("__", ":", 1): result for label, result in steps.items()}
    made = api_row(params.split(), named, NO_HOSTS)
    return {key: value for key, value in made.items() if key not in ("ops", "returns", "params")}


def test_nothing_accepted_is_untraced() -> None:
    assert row(inputs__0={"error": "ValueError"}) == {"status": "untraced"}


def test_malformed_arguments_that_kill_a_process_say_nothing_of_xla() -> None:
    assert row(inputs__0={"status": "crashes", "signal": "SIGABRT"}) == {"status": "untraced"}


def test_a_compiler_that_dies_is_a_verdict() -> None:
    assert row(default={"status": "crashes", "signal": "SIGSEGV"}) == {"status": "crashes"}


def test_no_tensors_and_no_ops_is_not_compute() -> None:
    made = row(default={"ops": [], "returns": "python", "frozen": [], "not_compute": True})
    assert made == {"status": "not-compute"}


def test_a_failure_keeps_its_reason_and_ops() -> None:
    made = row(
        default=default(status="fails", reason="no-kernel", missing=["Op"], unknown_sizes=[1])
    )
    assert made == {"status": "fails", "reason": "no-kernel", "missing": ["Op"], "data_sized": [1]}


def test_what_comes_from_the_host_has_no_size() -> None:
    steps = {
        "default": default(
            status="fails", reason="no-kernel", missing=["PyFunc"], unknown_sizes=[0]
        )
    }
    made = api_row([], steps, frozenset({"PyFunc"}))
    assert made["host"] is True
    assert "data_sized" not in made


def test_arguments_are_sorted_by_what_happens_to_tensors() -> None:
    made = row(
        "x a b c d",
        default=default(frozen=["x"]),
        argument__d={"status": "fails", "reason": "constant"},
        argument__a={"status": "compiles", "data_sized": [0]},
        argument__b={"status": "untraceable"},
        argument__c={"status": "compiles"},
    )
    assert made["constant_args"] == ["x", "d"]
    assert made["sizing_args"] == ["a"]
    assert made["python_args"] == ["b"]


def test_lists_are_sorted_by_what_happens_to_their_parts() -> None:
    made = row(
        "a b c d",
        default=default(),
        argument__a={"status": "refused"},
        parts__a={"status": "untraceable"},
        argument__b={"status": "untraceable"},
        parts__b={"status": "fails", "reason": "constant"},
        argument__c={"status": "fails", "reason": "no-kernel"},
        argument__d={"status": "fails", "reason": "dtype"},
    )
    assert made["constant_args"] == ["b", "c"]
    assert made["python_args"] == ["b"]
    assert made["python_parts"] == ["a"]


def test_conditions_hold_only_what_differs() -> None:
    made = row(
        default=default(),
        condition__0={"when": {"a": True}, "status": "compiles"},
        condition__1={
            "when": {"m": "cubic"},
            "status": "fails",
            "reason": "no-kernel",
            "missing": ["C"],
        },
        condition__2={"when": {"m": "odd"}, "status": "refused"},
    )
    assert made["conditions"] == [
        {"when": {"m": "cubic"}, "status": "fails", "reason": "no-kernel", "missing": ["C"]}
    ]


def test_an_exception_to_a_condition_is_kept() -> None:
    made = row(
        default=default(),
        condition__0={"when": {"a": True}, "status": "fails", "reason": "other"},
        condition__1={"when": {"a": True, "m": "near"}, "status": "compiles"},
        condition__2={"when": {"b": True, "m": "near"}, "status": "compiles"},
    )
    assert [each["when"] for each in made["conditions"]] == [{"a": True}, {"a": True, "m": "near"}]


def test_a_condition_can_free_an_argument() -> None:
    made = row(
        "lengths maxlen",
        default=default(frozen=["lengths"]),
        argument__maxlen={"status": "fails", "reason": "constant"},
        condition__0={"when": {"maxlen": "given"}, "status": "compiles", "frozen": []},
    )
    assert made["constant_args"] == ["lengths", "maxlen"]
    assert made["conditions"] == [
        {"when": {"maxlen": "given"}, "status": "compiles", "constant_args": ["maxlen"]}
    ]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("float32", "float32"), ("int32", "int32")], "same"),
        ([("float32", "bool"), ("int32", "bool")], "bool"),
        ([("float32", "bool")], "bool"),
        ([("bool", "bool")], "bool"),
        ([("float32", "float32")], None),
        ([("float32", "float32"), ("int32", "float64")], None),
        ([(None, "float32")], "float32"),
    ],
)
def test_result_dtype(pairs: list[tuple[str | None, str]], expected: str | None) -> None:
    labels = ["default", "dtype__a", "dtype__b"]
    steps = {
        label: default(input_dtype=before, output_dtype=after)
        for label, (before, after) in zip(labels, pairs, strict=False)
    }
    assert row(**steps).get("result_dtype") == expected


def test_dtypes_that_differ() -> None:
    made = row(
        default=default(),
        dtype__float64={"status": "compiles"},
        dtype__complex64={"status": "fails", "reason": "dtype", "missing": ["Op"]},
        dtype__int32={"status": "refused"},
    )
    assert made["dtypes"] == {"complex64": "fails"}


NOT_ITS_KIND = "InvalidArgumentError: Value for attr 'T' of int32 is not in the list of allowed values: half, float"
REFUSED = {"status": "refused", "error": NOT_ITS_KIND}
LIMITED = {
    "status": "refused",
    "error": "TypeError: Cannot convert 1.0 to EagerTensor of dtype int32",
}
TAKEN = {"status": "compiles", "input_dtype": "int32", "output_dtype": "int32"}
DIVIDED = {"status": "compiles", "input_dtype": "int32", "output_dtype": "float64"}
RECEIVED = {"status": "compiles", "input_dtype": "float32", "output_dtype": "float32"}
OTHER = {"status": "compiles", "input_dtype": "float16", "output_dtype": "float16"}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param(
            {"int32": REFUSED, "int64": REFUSED, "float16": OTHER}, True, id="a logarithm"
        ),
        pytest.param({"int32": DIVIDED, "int64": DIVIDED, "float16": OTHER}, True, id="a quotient"),
        pytest.param({"int32": TAKEN, "int64": REFUSED, "float16": OTHER}, False, id="a sum"),
        pytest.param(
            {"int32": LIMITED, "int64": LIMITED, "float16": OTHER}, False, id="the limits of a clip"
        ),
        pytest.param(
            {"int32": RECEIVED, "int64": RECEIVED, "float16": OTHER},
            False,
            id="no number was another",
        ),
        pytest.param({"int32": REFUSED, "int64": REFUSED}, False, id="float32 alone is taken"),
        pytest.param({"int32": REFUSED, "float16": OTHER}, False, id="not measured"),
    ],
)
def test_what_makes_floating_numbers(steps: dict[str, dict[str, str]], expected: bool) -> None:
    given = {f"dtype__{name}": each for name, each in steps.items()}
    made = row(default=default(output_dtype="float32"), **given)

    assert made.get("floating", False) is expected


def test_operations_collect_what_they_need_from_all_calls() -> None:
    rows = op_rows(
        {"Range": {"kernel": True}, "Other": {}},
        [
            {"op:Range(a)": {"op": "Range", "constant_inputs": ["limit"]}},
            {"op:Range(b)": {"op": "Range", "constant_inputs": ["delta"], "data_sized": [0]}},
            {"op:Range(c)": {"error": "ValueError"}},
        ],
    )
    assert rows == {
        "Range": {"kernel": True, "constant_inputs": ["delta", "limit"], "data_sized": [0]},
        "Other": {},
    }


def test_aliases_that_the_loader_can_work_out_are_left_out() -> None:
    aliases = {
        "tf.math.abs": ["tf.abs", "tf.compat.v1.abs", "tf.compat.v1.math.abs", "tf.compat.v1.odd"]
    }
    assert stored_aliases(aliases, frozenset(aliases)) == {
        "tf.abs": "tf.math.abs",
        "tf.compat.v1.odd": "tf.math.abs",
    }


def test_one_row_per_line_sorted(tmp_path: Path) -> None:
    facts = {"tensorflow": "2.21.0", "apis": {"b": {"y": 1, "x": [2]}, "a": {}}, "ops": {}}
    path = write(facts, tmp_path / "made")
    assert path.name == "2.21.json"
    assert path.read_text() == render(facts)
    assert path.read_text() == (
        '{\n"apis":{\n"a":{},\n"b":{"x":[2],"y":1}\n},\n"ops":{\n\n},\n"tensorflow":"2.21.0"\n}\n'
    )


def test_the_form_of_a_result_is_kept() -> None:
    made = row(
        "x axis dtype",
        default=default(),
        form={"shape": "same", "shape_unless": ["axis"], "dtype": "same", "dtype_arg": "dtype"},
    )

    assert made == {
        "status": "compiles",
        "shape": "same",
        "shape_unless": ["axis"],
        "result_dtype": "same",
        "dtype_arg": "dtype",
    }


def test_the_form_told_by_graphs_counts_where_the_eager_calls_killed_the_process() -> None:
    made = row(
        default=default(),
        form={"status": "crashes", "signal": "SIGABRT"},
        form__traced={"shape": "rank+0", "dtype": "same"},
    )

    assert (made["shape"], made["result_dtype"]) == ("rank+0", "same")


@pytest.mark.parametrize(("out", "dtype"), [("float32", "real"), ("complex64", "same")])
def test_what_comes_of_complex_numbers(out: str, dtype: str) -> None:
    made = row(
        default=default(),
        form={"dtype": "same"},
        dtype__complex64={"status": "compiles", "output_dtype": out},
    )

    assert made["result_dtype"] == dtype


def test_data_sized_arguments_have_verdicts_of_their_own() -> None:
    made = row(
        "x y",
        default=default(),
        bounded__x={"status": "wrong-numbers"},
        bounded__y={"status": "fine"},
        bounded_gradient__x={"status": "rejected"},
        bounded_gradient__y={"status": "fine"},
        bounded_together__x={"status": "refused", "error": "ValueError"},
    )

    assert made["bounded"] == {"x": "wrong-numbers", "y": "fine"}
    assert made["bounded_gradient"] == {"x": "rejected"}
    assert "bounded_together" not in made


@pytest.mark.parametrize(
    ("verdict", "exact"), [("rejected", ["depth"]), ("fine", None), ("refused", None)]
)
def test_sizes_that_must_be_known_exactly(verdict: str, exact: list[str] | None) -> None:
    made = row("x depth", default=default(), counted__depth={"status": verdict})

    assert made.get("exact_args") == exact


@pytest.mark.parametrize(
    ("usual", "own", "kept"),
    [
        ("compiles", "fails", True),
        ("fails", "compiles", True),
        ("compiles", "compiles", False),
        ("compiles", "none", False),
        (None, "compiles", False),
    ],
)
def test_the_gradient_under_a_condition(usual: str | None, own: str, kept: bool) -> None:
    steps = {"gradient": {"status": usual}} if usual else {}
    made = row(
        "x flag",
        default=default(),
        condition__0={
            "when": {"flag": True},
            "status": "compiles",
            "gradient": own,
            "gradient_missing": ["Op"],
        },
        **steps,
    )

    conditions = [{"when": {"flag": True}, "status": "compiles", "gradient": own, "gradient_missing": ["Op"]}]  # fmt: skip
    assert made.get("conditions") == (conditions if kept else None)
