"""What the catalogue says of one call: its verdict for the arguments that are given."""

from __future__ import annotations

from xlalint.semantics.catalog.entries import Api, Condition
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import (
    Verdict,
)
from xlalint.semantics.hazards import numbers_first, ragged_operands, scalar_shapes
from xlalint.semantics.joins import alternatives
from xlalint.semantics.results import dtypes, result_shapes
from xlalint.semantics.values import (
    ANY_OF,
    EXTERNAL,
    NONE,
    NOTHING_KNOWN,
    RAGGED,
    SEQUENCE,
    SPARSE,
    Usual,
    Value,
    constant,
)

# Constants that the catalogue's way of measuring cannot tell from settings: sizes passed as one tensor (fixtures/XLA203).
_MORE_CONSTANTS = {
    "tf.split": ("num_or_size_splits",),
    "tf.raw_ops.ParallelDynamicStitch": ("indices",),
}
# Arguments that are left out (None) exactly where another is sparse: TensorFlow refuses dense labels without lengths.
_NONE_MEANS_SPARSE = {
    "tf.nn.ctc_loss": ("label_length", "labels"),
    "tf.compat.v1.nn.ctc_loss_v2": ("label_length", "labels"),
}


def judge(api: Api, bound: dict[str, Value]) -> Verdict:
    """Pick the condition of the catalogue that fits the arguments, or the API's own verdict.

    What fails with the defaults of the caller's own parameters fails; what compiles with them may fail with others.
    """
    settled_by_operands = (
        scalar_shapes.verdict(api, bound)
        or numbers_first.verdict(api, bound)
        or ragged_operands.verdict(api, bound)
    )
    if settled_by_operands is not None:
        return settled_by_operands
    usual = api.conditions and {n: v for n, v in bound.items() if type(v.ref) is Usual}
    if usual:
        settled = {name: constant(value.ref.value) for name, value in usual.items()}
        verdict = judge(api, {**bound, **settled})
        if verdict.status != "compiles" and not verdict.possible:
            return verdict
    lengths, rows = _NONE_MEANS_SPARSE.get(api.name, ("", ""))
    if bound.get(lengths) == NONE and rows in bound:
        bound = {**bound, rows: Value(SPARSE)}
    best: Condition | None = None
    possible: Condition | None = None
    for condition in api.conditions:
        fit = _fits(condition, bound)
        if fit is True and (best is None or len(condition.when) > len(best.when)):
            best = condition
        elif fit is None and condition.status in ("fails", "crashes"):
            possible = condition
    if best is not None:
        # An argument whose being given makes the difference may need to be a constant itself (`maxlen`).
        given = tuple(
            p for p, _ in best.when if p in api.constant_args and p not in best.constant_args
        )
        return Verdict(
            best.status,
            best.missing,
            best.reason,
            best.data_sized or (),
            best.constant_args + given,
            gradient=best.gradient or api.gradient,
            gradient_missing=best.gradient_missing if best.gradient else api.gradient_missing,
        )
    constants = _constants(api, bound)
    if possible is not None and api.status == "compiles":
        return Verdict(
            possible.status,
            possible.missing,
            possible.reason,
            api.data_sized or (),
            constants,
            possible=True,
        )
    return Verdict(
        api.status,
        api.missing,
        api.reason,
        api.data_sized or (),
        constants,
        gradient=api.gradient,
        gradient_missing=api.gradient_missing,
    )


def fill_open(api: Api, bound: dict[str, Value]) -> None:
    """Of a call with `**kwargs` or `*args` that nobody knows: they hold what would make it compile (`maxlen` of a mask)."""
    for condition in api.conditions:
        if condition.status == "compiles" and all(w == "given" for _, w in condition.when):
            for parameter, _ in condition.when:
                bound.setdefault(parameter, NOTHING_KNOWN)


def _constants(api: Api, bound: dict[str, Value]) -> tuple[str, ...]:
    """Parameters that must be constants. A sparse tensor is three tensors, of which one must be: that is XLA405's."""
    plain = tuple(p for p in api.constant_args if not p.startswith("sp_"))
    if api.name == "tf.slice" and _leaves_sizes_open(bound):
        return (*plain, "size")
    return plain + _MORE_CONSTANTS.get(api.name, ())


def _leaves_sizes_open(bound: dict[str, Value]) -> bool:
    """`tf.slice(x, [0, 0], [n, -1])`: XLA cannot tell what -1 stands for unless it knows all sizes (fixtures/XLA203)."""
    sizes = leaves(bound["size"]) if "size" in bound else ()
    return len(sizes) > 1 and any(result_shapes.number(size) == -1 for size in sizes)


def _fits(condition: Condition, bound: dict[str, Value]) -> bool | None:
    """Whether a condition holds; None when an argument's value is not known."""
    unsure = False
    for parameter, wanted in condition.when:
        value = bound.get(parameter)
        if value is None:
            return False
        fit = _argument_fits(value, wanted)
        if fit is False:
            return False
        unsure = unsure or fit is None
    return None if unsure else True


_COMPOSITES = {"SparseTensor": SPARSE, "RaggedTensor": RAGGED}


def _argument_fits(value: Value, wanted: object) -> bool | None:
    if wanted in _COMPOSITES:
        return any(leaf.kind is _COMPOSITES[str(wanted)] for leaf in leaves(value))
    if value.kind is ANY_OF:
        fits = {_argument_fits(each, wanted) for each in alternatives(value)}
        return fits.pop() if len(fits) == 1 else None
    if wanted == "listed":
        return len(value.ref) > 1 if value.kind is SEQUENCE else _may_be_listed(value)
    known = value.constant()
    if wanted == "given":
        if known is not None:
            return known.value is not None
        return None if value.optional else True
    if value.choices() and isinstance(wanted, str) and known is None:
        fits = {str(choice).lower() == wanted.lower() for choice in value.choices()}
        return fits.pop() if len(fits) == 1 else None
    if known is not None:
        if isinstance(known.value, str) and isinstance(wanted, str):
            return known.value.lower() == wanted.lower()
        return bool(known.value == wanted) and isinstance(known.value, bool) == isinstance(
            wanted, bool
        )
    if value.kind is EXTERNAL and isinstance(wanted, int):
        return False
    if value.kind is EXTERNAL and isinstance(wanted, str):
        # tf.image.ResizeMethod.NEAREST_NEIGHBOR is "nearest".
        return str(value.ref).rsplit(".", 1)[-1].lower().startswith(wanted.lower())
    if value.is_tensor and value.dtype is not None and isinstance(wanted, str):
        return value.dtype == wanted if value.dtype != dtypes.SOME_COMPLEX else None
    return None


def _may_be_listed(value: Value) -> bool | None:
    return False if value.constant() is not None else None


def data_sized_outputs(verdict: Verdict) -> tuple[int, ...]:
    """The data-sized outputs of a call that compiles: of one that does not, nothing follows."""
    return () if verdict.missing and not verdict.possible else verdict.data_sized
