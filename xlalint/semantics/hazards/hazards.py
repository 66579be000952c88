"""What the catalogue holds against a call: the facts that rules report."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from xlalint.semantics.arguments import bind
from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.elements import flattened, leaves
from xlalint.semantics.facts import (
    DATA_SIZED_USE,
    DENSE_SHAPE,
    DTYPE,
    ROW_LENGTHS,
    SLICE,
    UNFOLLOWED,
    Verdict,
)
from xlalint.semantics.frames import Frame
from xlalint.semantics.gradients import kept_in_steps, misplaced, step_operands
from xlalint.semantics.hazards import (
    asked_dtypes,
    costs,
    counted_sizes,
    counts,
    differences,
    families,
    graph_summaries,
    measured_misuses,
    misfits,
    misuses,
    moved_slices,
    partners,
    rows_beside,
    text,
    unknown_sizes,
    verdicts,
)
from xlalint.semantics.hazards.noted_calls import (
    is_handed_over,
    is_measured,
    needs_exact,
    note_call,
    works_with,
)
from xlalint.semantics.hazards.sizes import sizes_in_front
from xlalint.semantics.names import api_name
from xlalint.semantics.results import composites, followed, result_dtypes, result_sizes
from xlalint.semantics.settled_calls import Settled
from xlalint.semantics.values import (
    BOUNDED,
    CONSTANT,
    EXTERNAL,
    NDARRAY,
    NOTHING_KNOWN,
    PYTHON,
    SHAPE,
    TENSOR,
    UNKNOWN,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments


def parameters_of(api: Api | None, arguments: Arguments) -> tuple[str, ...]:
    if api is None:
        return ()
    # tf.range(limit) and tf.range(start, limit): like Python's range, it reads a single argument as the limit.
    if (
        api.name == "tf.range"
        and len(arguments.positional) == 1
        and "limit" not in arguments.keywords
    ):
        return ("limit",)
    return api.params


# `x[mask]` by name.
MASK_APIS = frozenset({"tf.boolean_mask", "tf.compat.v1.boolean_mask"})


def note_in_step(api: Api, bound: dict[str, Value], node: ast.AST, frame: Frame) -> None:
    """Note a call in a step of a loop, or in an arm of a conditional on data, whose gradient may need what is computed there."""
    if frame.silent or not frame.context.is_compiled or not step_operands.concerns(api):
        return
    if frame.rounds or frame.analysis.arms.is_asked:
        frame.analysis.gradients.note_in_step(api, bound, node, frame)


def is_ordinary(api: Api, settled: Settled, arguments: Arguments) -> bool:
    """Whether `note_hazards` has nothing to ask of a call, in whatever code it stands: no operation that XLA lacks or that has a
    rule of its own, no data-sized, sparse or ragged tensor, no text, no misfit among the dtypes, no number that must be known.
    """
    verdict, bound = settled.verdict, settled.bound
    result = settled.value if settled.value is not None else NOTHING_KNOWN
    fails = verdict.status in ("fails", "crashes") or verdict.missing or api.host
    if fails or _may_lack_gradient(api, verdict):
        return False
    if differences.concerns(api) or text.picks_text(api, bound):
        return False
    if step_operands.concerns(api):
        return False
    if costs.of_call(api, bound) is not None:
        return False
    flat = flattened(bound.values())
    for leaf in (
        *flattened(arguments.values),
        *leaves(result),
    ):
        if leaf.producer is not None or leaf.is_composite or leaf.dtype == "string":
            return False
    if any(_must_be_known(api, bound.get(name), name) for name in verdict.constant_args):
        return False
    if api.sizing_args and result_sizes.is_sized_by(api, bound):
        return False
    argument = bound.get(api.dtype_arg or "dtype")
    given = result_dtypes.dtype_name(argument) if argument is not None else None
    return misfits.of_call(api, bound, flat, result, given) is None


def _must_be_known(api: Api, value: Value | None, parameter: str) -> bool:
    """Whether XLA has to know the value of an argument and cannot."""
    if is_handed_over(value) or (works_with(api.name, parameter) and is_measured(value)):
        return True
    if not _is_bounded(value):
        return False
    return needs_exact(api, parameter) or (
        value is not None and bool(sizes_in_front(parameter, value))
    )


def _may_lack_gradient(api: Api, verdict: Verdict) -> bool:
    if verdict.gradient == "fails" or api.bounded_gradient:
        return True
    return not _ASKED_FOR_GRADIENTS.isdisjoint(api.ops)


# Operations whose gradient compiles for some arguments.
_ASKED_FOR_GRADIENTS = frozenset({"TopKV2", "SelfAdjointEigV2"})


def note_hazards(
    api: Api,
    verdict: Verdict,
    bound: dict[str, Value],
    arguments: Arguments,
    result: Value,
    node: ast.AST,
    frame: Frame,
) -> None:
    """Note the call when the catalogue holds anything against it with these arguments."""
    if not frame.context.is_compiled or frame.silent:
        return
    differences.note(api, bound, node, frame)
    costs.note_call(api, bound, node, frame)
    if _may_lack_gradient(api, verdict):
        frame.analysis.gradients.note(api, verdict, bound, node, frame)
    note_in_step(api, bound, node, frame)
    if verdict.missing:
        family = families.of_call(api.name, verdict.missing, api.ops)
        if _is_folded(api.name, verdict.missing, family, arguments):
            return
        if family == families.PRINTING and graph_summaries.are_left_out(api.ops, frame):
            return
        if family == families.TEXT and _may_be_words(api.name, verdict.missing, arguments):
            verdict = verdict._replace(possible=True)
    verdict = _of_guarded(verdict, arguments)
    makes_data_sized = _makes_data_sized(result, arguments)
    needs_constant = any(
        _must_be_known(api, bound.get(parameter), parameter) for parameter in verdict.constant_args
    )
    # What makes variables or arrays while tracing is judged as that.
    makes_objects = verdict.reason == "eager-only" and api.returns not in ("tensor", "structure")
    if (
        verdict.missing
        or api.host
        or (verdict.status in ("fails", "crashes") and not makes_objects)
        or makes_data_sized
        or needs_constant
    ):
        note_call(api, verdict, bound, makes_data_sized, node, frame)
    if makes_data_sized and api.name in MASK_APIS and isinstance(node, ast.Call) and node.args:
        kept = arguments.positional[0] if arguments.positional else NOTHING_KNOWN
        frame.analysis.arms.saw_kept(node, node.args[0], kept, frame)
        if len(node.args) > 1:
            kept_in_steps.note_mask(node, node.args[0], node.args[1], kept, frame)
    elif result.producer is not None and isinstance(node, ast.Call):
        given = zip(node.args, arguments.positional)
        frame.analysis.arms.saw_result(node, given, result.producer, frame)
    if result.producer is not None:
        kept_in_steps.note_gather(api.name, node, bound, frame)
    if not verdict.missing:
        _note_dtypes(api, bound, arguments, result, node, frame)
        text.note_call(api, bound, result, node, frame)
    arriving = composites.densified_from_outside(api.constant_args, bound)
    if arriving is not None and not verdict.missing:
        frame.analysis.note(frame, node, DENSE_SHAPE, arriving)
    cut = composites.numbers_rows(api.name, arguments)
    if cut is not None:
        frame.analysis.note(frame, node, ROW_LENGTHS, cut)
    if api.sizing_args and "TopKV2" not in api.ops and result_sizes.is_sized_by(api, bound):
        unfollowed = followed.unfollowed_size(api, bound)
        if unfollowed is not None:
            frame.analysis.note(frame, node, UNFOLLOWED, unfollowed, api.name)
        frame.analysis.note(frame, node, SLICE, NOTHING_KNOWN)
    if api.sizing_args:
        moved_slices.note_call(api, bound, node, frame)
    counts.note_call(api, arguments, node, frame)
    unknown_sizes.note_call(api.name, bound, node, frame)
    misuse = misuses.misuse_of_data_sized(api.name, bound, arguments)
    if misuse is None and api.bounded:
        misuse = measured_misuses.misuse(api, bound)
    if misuse is not None and misuses.fits_buffer(misuse, tuple(bound.values())):
        misuse = None
    if misuse is None and not frame.analysis.tells_counts_apart:
        misuse = misuses.of_solved(api.name, bound) or misuses.of_picked_twice(api.name, bound)
    if misuse is None and arguments.positional:
        beside = rows_beside.taken(api.name, bound, arguments.positional[0], frame)
        misuse = ("rows-beside", beside) if beside is not None else None
    if api.sizing_args:
        misplaced.note_cut(api, bound, node, frame)
    if arguments.positional:
        misplaced.note_summed(api, arguments.positional[0], node, frame)
    if misuse is None and api.constant_args:
        size = counted_sizes.miscounted(api.name, bound)
        misuse = ("counted-size", size) if size is not None else None
    if misuse is not None:
        frame.analysis.note(frame, node, DATA_SIZED_USE, misuse[1], misuse[0])
        if misuse[0] == misuses.GRADIENT_WRONG:
            joined = arguments.positional
            items = misuses.parts_of(joined[0]) if joined else ()
            misplaced.note_joined(node, items, misuse[1], frame)
    elif api.name in partners.PAIRED and isinstance(node, ast.Call):
        sized = partners.of_static_size(tuple(bound.values()))
        if sized is not None:
            frame.analysis.gradients.note_partner(node, node.args, sized, frame)


def _note_dtypes(
    api: Api,
    bound: dict[str, Value],
    arguments: Arguments,
    result: Value,
    node: ast.AST,
    frame: Frame,
) -> None:
    flat = flattened(bound.values())
    argument = bound.get(api.dtype_arg or "dtype")
    given = result_dtypes.dtype_name(argument) if argument is not None else None
    misfit = misfits.of_call(api, bound, flat, result, given)
    if misfit is None or _is_constant(arguments):
        return
    if misfit.how == misfits.MIXED or not asked_dtypes.is_chosen_by_caller(node, frame):
        frame.analysis.note(frame, node, DTYPE, result, misfit)


# Operations without state: of constants alone, they are computed before XLA sees the program.
_STATELESS = (
    "tf.strings.",
    "tf.io.",
    "tf.random.stateless",
    "tf.math.",
    "tf.linalg.",
    "tf.unravel_index",
)

_FOLDED_FAMILIES = frozenset({families.KERNEL, families.TEXT, families.COMPOSITE})

# Of constants too, these stay: they have state, or give what has no static shape (compiled by themselves, 2.21).
_UNFOLDED = re.compile(
    r"^(ParseTensor|DecodeRaw|StringSplit|UnicodeDecode|StringNGrams|Sparse|Ragged(?!TensorToSparse)|StatelessRandomGamma|"
    r"Random|StatefulRandom|SampleDistorted|\w*CandidateSampler|GuaranteeConst|Segment|UniqueWithCounts|Set|DenseToDenseSet|EditDistance|CTC|LookupTable|MutexLock|Timestamp)"
)


def _is_folded(name: str, missing: tuple[str, ...], family: str, arguments: Arguments) -> bool:
    """Whether a call is computed before XLA sees it: a function of constants leaves no operation behind."""
    if family not in _FOLDED_FAMILIES or any(_UNFOLDED.match(each) for each in missing):
        return False
    if family == families.COMPOSITE:
        return _is_constant(arguments)
    if "random" in name.lower() and "stateless" not in name.lower():
        return False
    values = arguments.values
    if name.startswith("tf.io.parse_"):
        values = values[:1]  # the others say which features there are
    flat = [leaf for value in values for leaf in leaves(value)]
    tensors = [leaf for leaf in flat if leaf.is_tensor]
    known = all(leaf.kind in (PYTHON, SHAPE, EXTERNAL, TENSOR, NDARRAY) for leaf in flat)
    may_be = bool(tensors) or (bool(flat) and name.startswith(_STATELESS))
    return may_be and known and all(t.dependence == CONSTANT and t.sure for t in tensors)


def _may_be_words(name: str, missing: tuple[str, ...], arguments: Arguments) -> bool:
    """Whether a function of text is given what nobody knows, and no tensor: of Python's words, nothing is left to compile."""
    if not name.startswith(_STATELESS) or any(_UNFOLDED.match(each) for each in missing):
        return False
    values = arguments.values
    flat = [leaf for value in values for leaf in leaves(value)]
    return any(leaf.kind is UNKNOWN for leaf in flat) and not any(leaf.holds_data for leaf in flat)


def _is_constant(arguments: Arguments) -> bool:
    values = arguments.values
    flat = [leaf for value in values for leaf in leaves(value) if leaf.holds_data]
    return bool(flat) and all(leaf.dependence == CONSTANT and leaf.sure for leaf in flat)


def _of_guarded(verdict: Verdict, arguments: Arguments) -> Verdict:
    """`if K.is_sparse(a): tf.sparse.sparse_dense_matmul(a, b)` fails for callers that pass a sparse tensor, if any does."""
    if not verdict.missing:
        return verdict
    values = arguments.values
    composite = [leaf for value in values for leaf in leaves(value) if leaf.is_composite]
    if composite and all(leaf.guess for leaf in composite):
        return verdict._replace(possible=True)
    return verdict


def note_chosen(
    choices: tuple[Value, ...], arguments: Arguments, node: ast.AST, frame: Frame
) -> None:
    """Note a call of one of several APIs of which some have no kernel: an error where none has one."""
    if not frame.context.is_compiled or frame.silent:
        return
    judged = []
    for choice in choices:
        name = api_name(str(choice.ref)) if choice.kind is EXTERNAL else ""
        api = frame.analysis.catalog.api(name) if name else None
        bound = bind(parameters_of(api, arguments), arguments)
        judged.append((api, verdicts.judge(api, bound), bound) if api is not None else None)
    lacking = [each for each in judged if each is not None and each[1].missing]
    certain = [each for each in lacking if not each[1].possible]
    if not lacking:
        return
    api, verdict, bound = lacking[0]
    if not _is_folded(api.name, verdict.missing, families.KERNEL, arguments):
        possible = len(certain) < len(judged)
        note_call(api, verdict._replace(possible=possible), bound, False, node, frame)


def _makes_data_sized(result: Value, arguments: Arguments) -> bool:
    """Whether the result is data-sized by this call's own doing, not because an argument was."""
    if result.producer is None and not result.ref:
        return False  # one tensor of a size of its own
    made = {leaf.producer for leaf in leaves(result) if leaf.producer is not None}
    if not made:
        return False
    passed = {leaf.producer for value in arguments.values for leaf in leaves(value)}
    return not made <= passed | {result_sizes.A_SIZE_FROM_DATA, result_sizes.ALL_ONES}


def _is_bounded(value: Value | None) -> bool:
    if value is None or value.kind is PYTHON:
        return False
    return any(leaf.is_tensor and leaf.dependence == BOUNDED for leaf in leaves(value))
