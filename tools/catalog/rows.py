"""Turns what the steps said into the catalogue's rows. Plain data in, plain data out; no TensorFlow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Steps = Mapping[str, Mapping[str, Any]]
Row = dict[str, Any]

_BOUNDED = ("fine", "wrong-numbers", "rejected", "crashes")
_WHOLE = ("dtype:int32", "dtype:int64")
_OTHER_FLOATS = ("dtype:float16", "dtype:float64")
_NOT_ITS_KIND = "is not in the list of allowed values"
_FLOATING = ("float", "bfloat", "complex")
_VERDICT_KEYS = ("status", "reason", "missing", "data_sized")


def api_row(params: list[str], steps: Steps, host_ops: frozenset[str]) -> Row:
    """The row of one public name. Keys that hold nothing are left out."""
    row: Row = {"params": params, **_outcome(steps)}
    default = steps.get("default", {})
    if row["status"] in ("compiles", "fails") and "ops" in default:
        base = _verdict(default)
        row |= {
            "constant_args": _arguments(steps, params, default, "constant"),
            "sizing_args": _arguments(steps, params, default, "sizing"),
            "python_args": _arguments(steps, params, default, "python"),
            "python_parts": _arguments(steps, params, default, "python", "parts:"),
            **_form(steps),
            "dtypes": _dtypes(steps, base["status"]),
            "floating": _is_floating(steps),
            "conditions": _conditions(steps, base, default, params),
            **_gradient(steps),
            **_data_sized(steps, params),
        }
        row["host"] = bool(host_ops.intersection((*default["ops"], *row.get("missing", ()))))
        if row["host"]:  # what comes back from the host has no size that the graph knows
            row["data_sized"] = None
    result = {key: value for key, value in row.items() if value not in (None, [], {}, False)}
    if _reduces(default):
        result["result_rank"] = 0
    return result


def op_rows(
    registered: Mapping[str, Mapping[str, Any]], all_steps: Iterable[Steps]
) -> dict[str, Row]:
    """The registry's rows, with what lowering single operations added."""
    rows: dict[str, Row] = {name: dict(row) for name, row in registered.items()}
    for steps in all_steps:
        for label, result in steps.items():
            if label.startswith("op:") and "op" in result:
                row = rows[result["op"]]
                for key in ("constant_inputs", "data_sized"):
                    if result.get(key):
                        row[key] = sorted({*row.get(key, ()), *result[key]})
    return rows


def _outcome(steps: Steps) -> Row:
    default = steps.get("default")
    if default is None:
        return {"status": "untraced"}
    if default.get("status") == "crashes":
        return {"status": "crashes"}
    if default.get("not_compute"):
        return {"status": "not-compute", "returns": default["returns"]}
    if "status" not in default:
        return {"status": "untraced"}
    row = {"ops": default.get("ops"), "returns": default["returns"], **_verdict(default)}
    if row["status"] != "compiles" and default.get("unknown_sizes"):
        row["data_sized"] = default["unknown_sizes"]
    return row


def _verdict(result: Mapping[str, Any]) -> Row:
    """A graph that is built outside XLA's context only counts as a failure of its own kind."""
    if result["status"] == "untraceable":
        return {"status": "fails", "reason": "eager-only", "missing": [], "data_sized": []}
    return {
        "status": result["status"],
        "reason": result.get("reason"),
        "missing": list(result.get("missing", ())),
        "data_sized": list(result.get("data_sized", ())),
    }


def _arguments(
    steps: Steps, params: list[str], default: Mapping[str, Any], kind: str, given: str = "argument:"
) -> list[str]:
    """Arguments of one kind, in the order of the signature, `given` as a tensor or as parts of a list."""
    found = set(default["frozen"]) if kind == "constant" else set()
    for label, result in steps.items():
        is_given = label.startswith(given if kind == "python" else ("argument:", "parts:"))
        if is_given and _argument_kind(result, default) == kind:
            found.add(label.partition(":")[2])
    order = {name: index for index, name in enumerate(params)}
    return sorted(found, key=lambda name: (order.get(name, len(order)), name))


def _argument_kind(result: Mapping[str, Any], default: Mapping[str, Any]) -> str | None:
    """Of arguments that eager execution takes as tensors. What has no kernel is computed beforehand from constants alone."""
    if result.get("status") == "untraceable":
        return "python"
    if result.get("status") == "fails" and result.get("reason") != "dtype":
        return "constant"
    more = set(result.get("data_sized", ())) - set(default.get("data_sized", ()))
    return "sizing" if more else None


def _form(steps: Steps) -> Row:
    """Shape and dtype of what comes out, measured by calling with other arguments."""
    form = steps.get("form:traced") or steps.get("form") or {}
    decided = "dtype" in form or "dtype_arg" in form
    return {
        "shape": form.get("shape"),
        "shape_unless": form.get("shape_unless"),
        "result_dtype": _of_complex(steps, form.get("dtype")) if decided else _result_dtype(steps),
        "dtype_arg": form.get("dtype_arg"),
    }


def _of_complex(steps: Steps, dtype: str | None) -> str | None:
    """`tf.abs` gives what it was given, but of complex numbers their real counterpart."""
    outcome = steps.get("dtype:complex64", {})
    if dtype != "same" or "output_dtype" not in outcome:
        return dtype
    return {"complex64": "same", "float32": "real"}.get(outcome["output_dtype"])


def _result_dtype(steps: Steps) -> str | None:
    """`same` as the first input where at least two dtypes say so, or the one dtype that always comes out."""
    measured = [
        (result.get("input_dtype"), result["output_dtype"])
        for label, result in steps.items()
        if (label == "default" or label.startswith("dtype:")) and "output_dtype" in result
    ]
    outputs = {after for _, after in measured}
    if len(measured) > 1 and all(before == after for before, after in measured):
        return "same"
    if len(outputs) == 1:
        before, after = measured[0]
        return after if before != after or len(measured) > 1 or after == "bool" else None
    return None


def _data_sized(steps: Steps, params: list[str]) -> Row:
    """What XLA made of data-sized arguments, and of sizes that are counts of data."""
    row: Row = {}
    for label in ("bounded", "bounded_gradient", "bounded_together", "bounded_together_gradient"):
        verdicts = {
            name.removeprefix(f"{label}:"): result["status"]
            for name, result in steps.items()
            if name.startswith(f"{label}:") and result.get("status") in _BOUNDED
        }
        if label.endswith("gradient"):  # what is not said agrees with eager execution
            verdicts = {name: each for name, each in verdicts.items() if each != "fine"}
        row[label] = {name: verdicts[name] for name in (*params, "*") if name in verdicts}
    row["exact_args"] = [
        name
        for name in params
        if steps.get(f"counted:{name}", {}).get("status") in ("rejected", "crashes")
    ]
    return row


def _dtypes(steps: Steps, base: str) -> dict[str, str]:
    """Verdicts of dtypes that eager execution takes and that differ from the API's own."""
    return {
        label.removeprefix("dtype:"): result["status"]
        for label, result in steps.items()
        if label.startswith("dtype:")
        and result.get("status") in ("compiles", "fails", "crashes")
        and result["status"] != base
    }


def _is_floating(steps: Steps) -> bool:
    """Whether floating or complex numbers come out, whatever goes in.

    What takes no whole numbers takes other floats than float32, and an operation's kinds are why: a function that was
    given (`lambda x: x + 1.0`) and a divisor that became 0 are refused for their own sake.
    """
    whole = [steps.get(label, {}) for label in _WHOLE]
    others = [steps.get(label, {}) for label in _OTHER_FLOATS]
    outputs = [each["output_dtype"] for each in others if "output_dtype" in each]
    outputs.append(steps.get("default", {}).get("output_dtype", ""))
    return (
        len(outputs) > 1
        and all(each.startswith(_FLOATING) for each in outputs)
        and all(_takes_no_whole(each) or _makes_floats_of_whole(each) for each in whole)
    )


def _takes_no_whole(step: Mapping[str, Any]) -> bool:
    return step.get("status") == "refused" and _NOT_ITS_KIND in str(step.get("error"))


def _makes_floats_of_whole(step: Mapping[str, Any]) -> bool:
    given, made = str(step.get("input_dtype")), str(step.get("output_dtype"))
    return given.startswith("int") and made.startswith(_FLOATING)


def _conditions(
    steps: Steps, base: Row, default: Mapping[str, Any], params: list[str]
) -> list[Row]:
    """Rows for argument values whose verdict is not the base's, or that are an exception to such a row."""
    unfrozen = _arguments(steps, params, {**default, "frozen": []}, "constant")
    conditions: list[Row] = []
    for label in sorted(steps, key=_condition_order):
        result = steps[label]
        # A condition that killed the process could not say which one it was; malformed calls do that eagerly.
        if not label.startswith("condition:") or "when" not in result:
            continue
        if result.get("status") in (None, "refused"):
            continue
        part = _condition(result, base, default["frozen"], unfrozen, steps.get("gradient", {}))
        if part["differs"] or _is_exception(result["when"], conditions):
            conditions.append({key: value for key, value in part.items() if key != "differs"})
    return sorted(conditions, key=lambda each: sorted(map(str, each["when"].items())))


def _condition(
    result: Mapping[str, Any],
    base: Row,
    frozen: list[str],
    unfrozen: list[str],
    gradient: Mapping[str, Any],
) -> Row:
    verdict = _verdict(result)
    backward = _other_gradient(result, gradient)
    thawed = "frozen" in result and result["frozen"] != frozen
    part = {key: verdict[key] for key in _VERDICT_KEYS if verdict[key]}
    return {
        "when": result["when"],
        **part,
        **({"constant_args": unfrozen} if thawed else {}),
        **backward,
        "differs": verdict != base or thawed or bool(backward),
    }


def _other_gradient(result: Mapping[str, Any], gradient: Mapping[str, Any]) -> Row:
    """The gradient under a condition, where one of the two fails and the other does not."""
    own, usual = result.get("gradient"), gradient.get("status")
    if own is None or own == usual or "fails" not in (own, usual):
        return {}
    missing = result.get("gradient_missing")
    return {"gradient": own, **({"gradient_missing": list(missing)} if missing else {})}


def _is_exception(when: Mapping[str, Any], conditions: list[Row]) -> bool:
    """Whether a row kept already covers these values, and so would be believed instead."""
    return any(each["when"].items() <= when.items() and each["when"] != when for each in conditions)


def _condition_order(label: str) -> tuple[int, str]:
    number = label.rpartition(":")[2]
    return (int(number) if number.isdigit() else -1, label)


def _gradient(steps: Steps) -> Row:
    result = steps.get("gradient")
    if result is None or "status" not in result:
        return {}
    return {
        "gradient": result["status"],
        "gradient_reason": result.get("reason"),
        "gradient_missing": list(result.get("missing", ())),
        **_kept(steps),
    }


def _kept(steps: Steps) -> Row:
    """Where the gradient fails that compiles elsewhere, and with which arguments; what a loop keeps is another matter."""
    where = [one for one in ("arm", "step") if _is_refused(steps.get(f"kept:{one}", {}))]
    if not where:
        return {}
    given = set(steps.get("kept:given", {}).get("given", ()))
    varied: dict[str, list[bool]] = {}
    for label, result in steps.items():
        if label.startswith("kept_with:") and result.get("status") not in (None, "refused"):
            varied.setdefault(label.split(":")[2], []).append(_is_refused(result))
    alike = {parameter for parameter, refusals in varied.items() if all(refusals)}
    return {"no_gradient_in": where, "no_gradient_with": sorted(given | alike)}


def _is_refused(result: Mapping[str, Any]) -> bool:
    return result.get("reason") == "constant"


def _reduces(default: Mapping[str, Any]) -> bool:
    return default.get("output_rank") == 0 and (default.get("input_rank") or 0) >= 1
