"""benchmarks/accuracy: how labels come of what programs did, and how findings are scored against them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARK = Path(__file__).resolve().parent.parent / "benchmarks" / "accuracy"

SOURCE = """\
import tensorflow as tf

def sizes(x):
    return tf.shape(
        x
    )

def unique(x):
    kept = tf.unique(x).y
    return kept[-1]

class Layer:
    def call(self, x):
        y = unique(x)
        if self.flag:
            y = y + 1
        return y
"""
SIZES, UNIQUE, CALL = ("sizes", 3, 6), ("unique", 8, 10), ("Layer.call", 13, 17)


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """The benchmark's modules, and the sources of a package `tiny`."""
    monkeypatch.syspath_prepend(str(BENCHMARK / "label"))
    monkeypatch.syspath_prepend(str(BENCHMARK))
    before = set(sys.modules)
    import labels
    import merge
    import places
    import scoring

    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "__init__.py").write_text(SOURCE)

    class Room:
        sources = places.Sources("tiny", tmp_path)
        read, write = staticmethod(labels.read), staticmethod(labels.write)
        spans, lines_of = staticmethod(labels.spans), staticmethod(labels.lines_of)
        kind_of = staticmethod(labels.kind_of)

        def merged(self, *records: dict[str, Any]) -> list[Any]:
            return list(merge.merged(records, self.sources))

        def scored(self, found: list[Any], *records: dict[str, Any]) -> Any:
            return scoring.score("tiny", "tuned", self.merged(*records), found, self.sources)

    yield Room()
    for name in set(sys.modules) - before:
        del sys.modules[name]


def ran(label: str, *lines: int, program: str = "p", **more: Any) -> dict[str, Any]:
    return {
        "program": program,
        "label": label,
        "stage": "",
        "lines": {"tiny/__init__.py": lines},
        **more,
    }


def failed(*stack: int, error: str = "no XLA kernel: Foo", **more: Any) -> dict[str, Any]:
    frames = [["tiny/__init__.py", line] for line in stack]
    more = {"program": "f", "stage": "lower", "lines": {}, **more}
    return {"label": "incompatible", "offenders": [{"error": error, "stack": frames}], **more}


def finding(line: int, severity: str = "error") -> dict[str, Any]:
    return {
        "path": "tiny/__init__.py",
        "line": line,
        "severity": severity,
        "code": "XLA401",
        "message": "m",
    }


def told(labels: list[Any]) -> set[tuple[str, str, int, str]]:
    return {(label.name, label.label, label.line, label.lines) for label in labels}


def test_every_function_that_ran_in_a_program_that_compiles_is_compatible(room: Any) -> None:
    labels = room.merged(ran("compatible", 14, 15, 17, 9, 10), ran("compatible", 16, program="q"))
    assert told(labels) == {
        ("Layer.call", "compatible", 0, "14-17"),
        ("unique", "compatible", 0, "9-10"),
    }


def test_a_failure_is_laid_to_the_innermost_function_alone(room: Any) -> None:
    assert told(room.merged(failed(14, 10))) == {
        ("unique", "incompatible", 10, ""),
        ("Layer.call", "calls an offender", 0, ""),
    }


def test_a_gradient_without_a_stack_is_laid_to_the_only_conditional(room: Any) -> None:
    records = [failed(stage="gradient", conditionals=[[["tiny/__init__.py", 15]]])]
    assert [(label.line, label.kind) for label in room.merged(*records)] == [(15, "gradient")]
    assert room.merged({**records[0], "stage": "lower"}) == []
    records[0]["conditionals"].append([["tiny/__init__.py", 9]])
    assert room.merged(*records) == []


@pytest.mark.parametrize(
    ("program", "count"),
    [
        ("tiny.unique", 0),
        ("tiny.Table.lookup flag", 0),
        ("tiny.Layer(flag=True)", 1),
        ("unique", 1),
    ],
)
def test_tracing_that_fails_on_a_guess_for_a_setting_says_nothing(
    room: Any, program: str, count: int
) -> None:
    assert len(room.merged(failed(10, stage="trace", program=program))) == count


def test_a_call_of_other_numbers_says_nothing_of_its_functions(room: Any) -> None:
    assert told(room.merged(ran("differs", 9, 10))) == {("unique", "differs", 0, "")}


def test_labels_are_read_as_they_were_written(room: Any, tmp_path: Path) -> None:
    labels = room.merged(ran("compatible", 14, 17), failed(14, 10))
    room.write(tmp_path / "tiny.tsv", labels)
    assert room.read(tmp_path / "tiny.tsv") == sorted(labels)


def test_an_error_in_an_offender_is_found_and_one_at_its_statement_is_on_the_line(
    room: Any,
) -> None:
    score = room.scored([finding(9)], failed(14, 10))
    assert (score.offenders, score.found, score.on_line, score.missed) == (1, 1, 0, ())
    assert room.scored([finding(5)], failed(4)).on_line == 1


def test_a_warning_in_an_offender_does_not_find_it(room: Any) -> None:
    score = room.scored([finding(10, "warning")], failed(14, 10))
    assert (score.found, score.found_at_all) == (0, 1)
    assert [(miss.label.name, miss.said) for miss in score.missed] == [
        ("unique", "XLA401 warning at 10")
    ]


def test_an_error_at_a_caller_finds_nothing(room: Any) -> None:
    assert room.scored([finding(14)], failed(14, 10)).found == 0


def test_an_error_is_false_where_its_statement_ran_and_compiled(room: Any) -> None:
    score = room.scored([finding(16)], ran("compatible", 14, 15, 17))
    assert (score.compatible, score.blamed) == (1, ())
    score = room.scored([finding(16)], ran("compatible", 14, 15, 16, 17))
    assert [(false.line, false.code) for false in score.blamed] == [(16, "XLA401")]


def test_a_function_that_fails_in_one_program_is_not_compatible_for_another(room: Any) -> None:
    score = room.scored([], ran("compatible", 9, 10), failed(14, 10))
    assert (score.compatible, score.offenders) == (0, 1)


def test_an_error_at_a_line_that_costs_is_not_false(room: Any) -> None:
    paid = ran("costly", 9, 10, stage="bounded", bounded=[[["tiny/__init__.py", 9]]])
    score = room.scored([finding(9)], paid)
    assert (score.compatible, score.costly, score.costly_found, score.blamed) == (1, 1, 1, ())


def test_what_compiles_with_values_built_in_shows_nothing_of_other_lines(room: Any) -> None:
    offender = {"error": "must be a compile-time constant", "stack": [["tiny/__init__.py", 9]]}
    labels = room.merged(ran("costly", 9, 10, stage="value", offenders=[offender]))
    assert told(labels) == {("unique", "costly", 9, "")}


@pytest.mark.parametrize(
    ("error", "stage", "kind"),
    [
        ("ValueError: no XLA kernel: Foo", "lower", "op"),
        ("ValueError: no XLA kernel: ScalarSummary", "lower", "printing"),
        ("ValueError: Input 1 to Sum must be a compile-time constant", "lower", "size"),
        ("ValueError: no XLA kernel: FakeParam", "gradient", "gradient"),
        (
            "OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool`",
            "trace",
            "control",
        ),
        (
            "NotImplementedError: Cannot convert a symbolic tf.Tensor to a numpy array",
            "trace",
            "python value",
        ),
        ("ended with -11", "crash: run", "crash"),
        ("other numbers: Roll", "numbers", "numbers"),
    ],
)
def test_kinds_of_failure(room: Any, error: str, stage: str, kind: str) -> None:
    assert room.kind_of(error, stage) == kind


def test_spans_of_lines_go_both_ways(room: Any) -> None:
    assert room.spans([9, 3, 4, 5]) == "3-5,9"
    assert room.lines_of("3-5,9") == {3, 4, 5, 9}
