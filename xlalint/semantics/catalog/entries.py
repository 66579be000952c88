"""The facts of one API and of one operation, as a row of the catalogue holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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


def api_of(name: str, row: Mapping[str, Any]) -> Api:
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


def custom_operation(name: str, operation: str = "a custom operation") -> Api:
    """An operation of a library loaded with tf.load_op_library: registered for CPU and GPU, not for XLA."""
    row = {
        "status": "fails",
        "missing": [operation],
        "reason": "no-kernel",
        "returns": "structure",
    }
    return api_of(name, row)


def without_gradient(name: str, operation: str) -> Api:
    """A function of another package that compiles, and whose gradient needs an operation that XLA has no kernel for."""
    gradient = {"gradient": "fails", "gradient_missing": [operation]}
    return api_of(name, {"status": "compiles", "returns": "structure", **gradient})
