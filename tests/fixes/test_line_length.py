"""Rewritten code keeps to the project's line length, laid out as black does it; what was too long before stays as it is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from xlalint.cli.app import run
from xlalint.fixes.breaking import broken

LOSS = """import tensorflow as tf


class Loss(tf.keras.losses.Loss):
    def call(self, y_true, y_pred):
        losses = [tf.reduce_mean(tf.square(t - p)) for t, p in zip(y_true, y_pred)]
        return tf.reduce_mean(losses)
"""
LAID_OUT = """        losses = [
            tf.reduce_mean(tf.square(t - p))
            for t, p in zip(tf.unstack(y_true), tf.unstack(y_pred))
        ]
"""
ON_ONE_LINE = (
    "        losses = [tf.reduce_mean(tf.square(t - p))"
    " for t, p in zip(tf.unstack(y_true), tf.unstack(y_pred))]\n"
)


def rewritten(folder: Path, program: str) -> str:
    path = folder / "package" / "loss.py"
    path.parent.mkdir()
    path.write_text(program, encoding="utf-8")
    run(["check", "--fix", "--unsafe-fixes", "--exit-zero", str(path)])
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "said", "expected"),
    [
        ("README", "", LAID_OUT),
        ("pyproject.toml", "[tool.black]\nline-length = 88\n", LAID_OUT),
        ("pyproject.toml", "[tool.black]\nline-length = 120\n", ON_ONE_LINE),
        ("pyproject.toml", "[tool.ruff]\nline-length = 120\n", ON_ONE_LINE),
        ("ruff.toml", "line-length = 120\n", ON_ONE_LINE),
        ("setup.cfg", "[flake8]\nmax-line-length = 120\n", ON_ONE_LINE),
        (".flake8", "[flake8]\nmax-line-length = 120  # wide\n", ON_ONE_LINE),
        ("pyproject.toml", "[tool.black\nline-length = 120\n", LAID_OUT),
        ("setup.cfg", "not a section\n", LAID_OUT),
    ],
)
def test_the_project_says_how_long_lines_may_be(
    name: str, said: str, expected: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(said, encoding="utf-8")
    (tmp_path / ".git").mkdir()
    assert expected in rewritten(tmp_path, LOSS)


def test_lines_that_were_too_long_before_are_left_alone(tmp_path: Path) -> None:
    program = LOSS.replace("losses = [", "losses_of_each_pair_of_rows_in_the_batch = [")
    assert "= [tf.reduce_mean(tf.square(t - p)) for t, p in zip(" in rewritten(tmp_path, program)


def test_line_ends_of_windows_stay(tmp_path: Path) -> None:
    path = tmp_path / "loss.py"
    path.write_bytes(LOSS.replace("\n", "\r\n").encode())
    run(["check", "--fix", "--unsafe-fixes", "--exit-zero", str(path)])
    assert LAID_OUT.replace("\n", "\r\n").encode() in path.read_bytes()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = f(alpha, beta, gamma_delta)", ["x = f(", "    alpha, beta, gamma_delta", ")"]),
        (
            "x = f(alpha, beta, gamma_delta, epsilon)  # why",
            ["x = f(  # why", "    alpha,", "    beta,", "    gamma_delta,", "    epsilon,", ")"],
        ),
        (
            "    return alpha + beta * gamma - delta",
            ["    return (", "        alpha", "        + beta * gamma", "        - delta", "    )"],
        ),
        ("return alpha_beta, gamma_delta_epsilon", ["return (", "    alpha_beta,", "    gamma_delta_epsilon,", ")"]),
        (
            "y = cond(p, lambda: a, lambda: b, unused)",
            ["y = cond(", "    p,", "    lambda: a,", "    lambda: b,", "    unused,", ")"],
        ),
        (
            "kept = [a for a, b in pairs if a is not b]",
            ["kept = [", "    a", "    for a, b in pairs", "    if a is not b", "]"],
        ),
        ("x = f(alpha, beta, gamma)[first, second]", ["x = f(alpha, beta, gamma)[", "    first, second", "]"]),
        (
            "x = alpha if beta is not gamma else delta_",
            ["x = (", "    alpha", "    if beta is not gamma", "    else delta_", ")"],
        ),
    ],
)  # fmt: skip
def test_a_line_is_broken_as_black_does_it(line: str, expected: list[str]) -> None:
    found = broken(line, 28)
    assert found == expected
    assert ast.dump(ast.parse("\n".join(found).strip().replace("\n    )", "\n)"))) == ast.dump(
        ast.parse(line.strip())
    )


@pytest.mark.parametrize(
    "line", ["an_extremely_long_name_of_something = other", "x = 'a long text, with commas'"]
)
def test_a_line_without_brackets_stays(line: str) -> None:
    assert broken(line, 20) is None
