"""`xlalint rules`, `xlalint explain` and the command line itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import RunXlalint

from xlalint import __version__, pages

CHECKOUT = Path(pages.__file__).parent.parent


def test_rules_lists_every_page(xlalint: RunXlalint) -> None:
    ran = xlalint("rules")
    assert ran.status == 0
    assert [line.split()[0] for line in ran.out.splitlines()] == list(pages.codes())


def test_rules_as_json(xlalint: RunXlalint) -> None:
    rules = {rule["code"]: rule for rule in json.loads(xlalint("rules", "--format", "json").out)}
    assert rules["XLA201"]["name"] == "boolean-mask"
    severities = {v["key"]: v["severity"] for v in rules["XLA101"]["variants"]}
    assert (severities["unconverted"], severities["converted"]) == ("error", "warning")


@pytest.mark.parametrize("asked", ["XLA902", "xla902", "unused-suppression"])
def test_explain_shows_the_page_of_a_rule(xlalint: RunXlalint, asked: str) -> None:
    ran = xlalint("explain", asked)
    assert ran.status == 0
    assert ran.out.startswith("# unused-suppression (XLA902)\n\n## What it does\n")
    assert "- warning: this comment hides nothing" in ran.out


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("XLA999", "There is no rule XLA999. Did you mean XLA9"),
        ("boolean-masks", "Did you mean boolean-mask?"),
        ("tf.uniqe", "has no tf.uniqe that was measured. Did you mean tf.unique"),
        ("something else entirely", "no rule is known for this message"),
    ],
)
def test_explain_of_something_unknown(xlalint: RunXlalint, asked: str, hint: str) -> None:
    ran = xlalint("explain", asked)
    assert (ran.status, ran.out) == (2, "")
    assert hint in ran.err


# Messages as TensorFlow 2.21 and its predecessors print them.
@pytest.mark.parametrize(
    ("message", "code"),
    [
        (
            "OperatorNotAllowedInGraphError: Using a symbolic `tf.Tensor` as a Python `bool` is not allowed",
            "XLA101",
        ),
        ("using a `tf.Tensor` as a Python `bool` is not allowed: AutoGraph did convert", "XLA101"),
        ("Iterating over a symbolic `tf.Tensor` is not allowed", "XLA104"),
        (
            "NotImplementedError: Cannot convert a symbolic tf.Tensor (x:0) to a numpy array.",
            "XLA105",
        ),
        ("'SymbolicTensor' object has no attribute 'numpy'", "XLA105"),
        (
            "InvalidArgumentError: Input 1 to node `Reshape` with op Reshape must be a compile-time constant.",
            "XLA203",
        ),
        (
            "Detected unsupported operations when trying to compile graph __inference_f_10[] on "
            "XLA_CPU_JIT: ResizeBicubic (No registered 'ResizeBicubic' OpKernel for XLA_CPU_JIT devices",
            "XLA401",
        ),
        (
            "No registered 'EagerPyFunc' OpKernel for XLA_CPU_JIT devices compatible with node",
            "XLA402",
        ),
        ("No registered 'PrintV2' OpKernel for XLA_TPU_JIT devices compatible", "XLA402"),
        (
            "ResizeNearestNeighborGrad (No registered 'ResizeNearestNeighborGrad' OpKernel for XLA_GPU_JIT",
            "XLA407",
        ),
        (
            "DebugNumericSummaryV2 (No registered 'DebugNumericSummaryV2' OpKernel for XLA_CPU_JIT devices",
            "XLA408",
        ),
        (
            "WARNING:tensorflow:5 out of the last 5 calls to <tensorflow.python.eager.polymorphic_function "
            "object at 0x7f> triggered tf.function retracing. Tracing is expensive",
            "XLA303",
        ),
        ("Unsupported data type for TPU: string, caused by output IteratorGetNext:0", "XLA403"),
    ],
)
def test_explain_finds_the_rule_behind_an_error_message(
    xlalint: RunXlalint, message: str, code: str
) -> None:
    ran = xlalint("explain", message)
    assert ran.status == 0
    assert ran.out.endswith(f"Read on: xlalint explain {code}\n")
    piped = xlalint("explain", "-", stdin=message.replace(" ", "\n", 1))
    assert piped.out == ran.out


def test_explain_names_the_operation_of_an_error_message(xlalint: RunXlalint) -> None:
    ran = xlalint("explain", "No registered 'ResizeBicubic' OpKernel for XLA_CPU_JIT devices")
    assert ran.out.startswith("The operation ResizeBicubic has no XLA implementation")


def test_help_names_every_command(xlalint: RunXlalint) -> None:
    for arguments in ((), ("--help",), ("-h",)):
        ran = xlalint(*arguments)
        assert ran.status == 0
        for command in ("check", "verify", "rules", "explain", "config"):
            assert f"\n  {command} " in ran.out


@pytest.mark.parametrize("command", ["check", "verify", "ready", "explain", "rules", "config"])
def test_each_command_has_help(xlalint: RunXlalint, command: str) -> None:
    ran = xlalint(command, "--help")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith(f"Usage: xlalint {command} ")


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(xlalint: RunXlalint, option: str) -> None:
    ran = xlalint(option)
    assert (ran.status, ran.out) == (0, f"xlalint {__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (("--version",), ("click", "libcst", "xlalint.project", "tensorflow")),
        (("--help",), ("libcst", "xlalint.semantics", "tensorflow")),
        (("rules",), ("libcst", "xlalint.semantics", "tensorflow")),
        (("check", "--help"), ("libcst", "xlalint.semantics", "tensorflow")),
    ],
)
def test_start_up_imports_only_what_it_needs(
    arguments: tuple[str, ...], absent: tuple[str, ...]
) -> None:
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "xlalint", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        check=True,
    )
    imported = {line.rsplit("|", 1)[-1].strip() for line in ran.stderr.splitlines()}
    assert not imported.intersection(absent)


def test_the_readme_has_the_table_of_rules() -> None:
    command = [sys.executable, "-m", "tools.readme", "--check"]
    ran = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
