"""What `xlalint explain` says of an API or an operation: the facts of the catalogue, in words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

from xlalint.semantics.catalog import shipped
from xlalint.semantics.catalog.catalog import Catalog
from xlalint.semantics.catalog.entries import Api, Condition, Op
from xlalint.semantics.hazards import eigenvalues

_ALIASES = (
    ("K.", "keras.backend."),
    ("tnp.", "tf.experimental.numpy."),
    ("tfa.", "tensorflow_addons."),
)
_OPERATION = re.compile(r"^[A-Z]\w*$")
_MOST_EMITTERS = 8


def explained(asked: str, tf_version: str) -> str | None:
    """The text for an API, an operation type or the last part of an API's name; None where nothing has that name.

    Raises CatalogError where no catalogue is shipped, or when `tf_version` is not a version.
    """
    facts = shipped.load(shipped.nearest(tf_version))
    name = _written_out(asked)
    api = facts.api(name)
    if api is not None:
        return _text(_of_api(name, api, facts))
    if _OPERATION.match(name) and (op := facts.op(name)) is not None:
        return _text(_of_operation(op, facts))
    owner = facts.api(name.rpartition(".")[0])
    if owner is not None and owner.why is not None:  # a method of what is not measured
        return _text(_of_api(name.rpartition(".")[0], owner, facts))
    found = [f"tf.{name}"] if facts.api(f"tf.{name}") else _by_last_part(name, facts)
    if len(found) == 1 and (api := facts.api(found[0])) is not None:
        return _text(_of_api(found[0], api, facts))
    if found:
        return _text([f"{asked} may be one of:", *(f"  {each}" for each in found)])
    return None


def near(asked: str, tf_version: str) -> list[str]:
    """Names that are spelt alike, the likeliest first."""
    facts = shipped.load(shipped.nearest(tf_version))
    name = _written_out(asked)
    known = (*facts.spellings(), *facts.op_types())
    alike = difflib.get_close_matches(name, known, n=3, cutoff=0.75)
    if not alike and "." in name:  # a right name in a wrong module
        alike = _by_last_part(name.rsplit(".", 1)[1], facts)[:3]
    return alike


def _written_out(asked: str) -> str:
    name = asked.removesuffix("()").replace("tensorflow.", "tf.", 1)
    for short, full in _ALIASES:
        if name.startswith(short):
            return full + name.removeprefix(short)
    return name


def _by_last_part(name: str, facts: Catalog) -> list[str]:
    """`RaggedTensor.to_tensor` and `reduce_sum` without what stands before: canonical names, the plainest first."""
    canonical = {
        facts.canonical(each) or each
        for each in facts.spellings()
        if each.endswith(f".{name}") and not each.startswith(("tf.compat.", "tf.raw_ops."))
    }
    return sorted(canonical, key=lambda each: (each.count("."), each))


# --- an API ---------------------------------------------------------------------------------------------------------


def _of_api(name: str, api: Api, facts: Catalog) -> Iterator[str]:
    alias = f" ({api.name})" if api.name != name else ""
    yield f"{name}{alias}, TensorFlow {facts.tensorflow}: {_STATUS[api.status]}"
    for label, value in _details(api):
        if value:
            yield f"  {label}: {value}"
    yield from (f"  {line}" for condition in api.conditions for line in _of_condition(condition))
    if api.status in ("compiles", "fails", "crashes"):
        yield f"  compiles in TensorFlow: {_versions(name)}"


def _details(api: Api) -> tuple[tuple[str, str], ...]:
    return (
        ("why", api.why or ""),
        ("operations", ", ".join(api.ops)),
        ("without an XLA kernel", ", ".join(api.missing)),
        ("reason", _REASON.get(api.reason or "", "")),
        ("runs on the host", "yes" if api.host else ""),
        ("outputs whose size depends on data", ", ".join(map(str, api.data_sized or ()))),
        ("must be known at compile time", ", ".join(api.constant_args)),
        ("of these, a count of data is refused", ", ".join(api.exact_args)),
        ("size the output when given as tensors", ", ".join(api.sizing_args)),
        ("refused as tensors while tracing", ", ".join(api.python_args)),
        ("with a data-sized argument", _bounded(api.bounded, api.bounded_gradient)),
        (
            "with all its arguments data-sized",
            _bounded(api.bounded_together, api.bounded_together_gradient),
        ),
        ("gradient", _gradient(api.gradient, api.gradient_missing)),
        ("gradient does not compile in", " and ".join(_WHERE[each] for each in api.no_gradient_in)),
        ("dtypes", ", ".join(f"{dtype} {_SHORT[status]}" for dtype, status in api.dtypes)),
        ("of complex matrices", eigenvalues.explained(api.name) or ""),
        ("result", _result(api)),
        ("use instead", api.replacement or ""),
    )


def _bounded(verdicts: tuple[tuple[str, str], ...], backward: tuple[tuple[str, str], ...]) -> str:
    """What does not agree with eager execution; nothing where all does."""
    said = [f"{name} {_DIFFERS[verdict]}" for name, verdict in verdicts if verdict in _DIFFERS]
    forward = {name for name, verdict in verdicts if verdict in _DIFFERS}
    said += [
        f"the gradient of {name} {_DIFFERS[verdict]}"
        for name, verdict in backward
        if verdict in _DIFFERS and name not in forward
    ]
    return ", ".join(said)


def _gradient(status: str | None, missing: tuple[str, ...]) -> str:
    if status is None:
        return ""
    without = f" (no XLA kernel: {', '.join(missing)})" if missing else ""
    return f"{_GRADIENT.get(status, status)}{without}"


def _result(api: Api) -> str:
    shape = api.shape or ""
    kind, _, detail = shape.partition(":")
    words = {
        "same": "as big as its first argument",
        "broadcast": "as big as its arguments broadcast",
        "reduce": "without the axes that are reduced",
        "like": f"as big as {detail}",
        "given": f"as big as {detail} says",
    }.get(kind, "")
    dtype = api.result_dtype
    if dtype in ("same", "real") or (dtype or "").startswith("like:"):
        dtype = None
    return ", ".join(each for each in (words, dtype or "") if each)


def _of_condition(condition: Condition) -> Iterator[str]:
    when = ", ".join(f"{name}={_value(value)}" for name, value in condition.when)
    missing = f" (no XLA kernel: {', '.join(condition.missing)})" if condition.missing else ""
    yield f"with {when}: {_STATUS[condition.status]}{missing}"
    if condition.gradient is not None:
        yield f"  its gradient {_gradient(condition.gradient, condition.gradient_missing)}"


def _value(value: object) -> str:
    return "..." if value == "given" else repr(value)


def _versions(name: str) -> str:
    """In which of the measured versions a name compiles."""
    verdicts = {minor: _verdict(name, minor) for minor in shipped.available()}
    works = [minor for minor, status in verdicts.items() if status == "compiles"]
    fails = [minor for minor, status in verdicts.items() if status in ("fails", "crashes")]
    absent = [minor for minor, status in verdicts.items() if status is None]
    said = _listed(works) if works else f"none of {_listed(shipped.available())}"
    more = [f"not in {_listed(fails)}"] if works and fails else []
    more += [f"not known in {_listed(absent)}"] if absent else []
    return said + (f" ({'; '.join(more)})" if more else "")


def _verdict(name: str, minor: str) -> str | None:
    api = shipped.load(minor).api(name)
    return None if api is None else api.status


def _listed(minors: Iterable[str]) -> str:
    return ", ".join(minors)


# --- an operation ---------------------------------------------------------------------------------------------------


def _of_operation(op: Op, facts: Catalog) -> Iterator[str]:
    says = "has a kernel" if op.kernel else "has no kernel"
    yield f"{op.name}, an operation of TensorFlow {facts.tensorflow}: {says} for XLA"
    if op.is_host:
        yield "  runs on the host: yes"
    if op.constant_inputs:
        yield f"  must be known at compile time: {', '.join(op.constant_inputs)}"
    if op.data_sized:
        yield f"  outputs whose size depends on data: {', '.join(map(str, op.data_sized))}"
    emitters = facts.emitters(op.name)
    if emitters:
        more = (
            f" and {len(emitters) - _MOST_EMITTERS} more" if len(emitters) > _MOST_EMITTERS else ""
        )
        yield f"  stands behind: {', '.join(emitters[:_MOST_EMITTERS])}{more}"
    kernels = [minor for minor in shipped.available() if _has_kernel(op.name, minor)]
    measured = _listed(shipped.available())
    yield f"  kernel in TensorFlow: {_listed(kernels) if kernels else f'none of {measured}'}"


def _has_kernel(op_type: str, minor: str) -> bool:
    op = shipped.load(minor).op(op_type)
    return op is not None and op.kernel


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


_STATUS = {
    "compiles": "compiles under XLA",
    "fails": "does not compile under XLA",
    "crashes": "crashes the compiler",
    "untraced": "was not measured",
    "not-compute": "computes nothing on a device",
}
_SHORT = {"compiles": "compiles", "fails": "does not compile", "crashes": "crashes the compiler"}
_REASON = {
    "constant": "it needs a value at compile time that only the data can tell",
    "dtype": "XLA has no kernel for this dtype",
    "eager-only": "it cannot be traced into a graph",
    "gradient": "its loop has no bound, so that nothing can be kept for the gradient",
    "other": "the compiler refuses it",
}
_GRADIENT = {
    "compiles": "compiles",
    "fails": "does not compile",
    "crashes": "crashes the compiler",
    "none": "there is none",
}
_WHERE = {"arm": "an arm of a conditional on data", "step": "a step of a loop"}
_DIFFERS = {
    "wrong-numbers": "gives other numbers than eager execution",
    "rejected": "is rejected",
    "crashes": "crashes the compiler",
}
