"""Sizes that XLA needs when it compiles, where the catalogue has no row for what takes them: objects and builtins."""

from __future__ import annotations

import ast

from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import CALL, CallDetail, Verdict
from xlalint.semantics.frames import Frame
from xlalint.semantics.results.result_sizes import PARTITIONED
from xlalint.semantics.values import ARRIVING, BOUNDED, CAPTURED, SEQUENCE, Handed, Value


def note_sizes(
    api: str, bound: dict[str, Value], constants: tuple[str, ...], node: ast.AST, frame: Frame
) -> None:
    """Note a call of `api` when one of its arguments `constants`, which XLA must know as it compiles, comes from data."""
    given = [bound[name] for name in constants if name in bound]
    size = next(
        (v for v in given if v.is_tensor and v.dependence >= CAPTURED and not v.guess), None
    )
    if size is not None:
        verdict = Verdict("compiles", (), None, (), constants)
        detail = CallDetail(api, tuple(bound.items()), verdict, False, "certain", None)
        frame.analysis.note(frame, node, CALL, size, detail)


def sizes_from_data(size: Value, least: int) -> list[Value]:
    """What makes a size one that the data decide: the size itself, or the numbers of a written shape."""
    found = leaves(size)
    if found == (size,):
        is_data = size.is_tensor and size.dependence >= least and type(size.ref) is not Handed
        return [size] if is_data else []
    return [leaf for leaf in found if is_size_from_data(leaf, least)]


def is_size_from_data(number: Value, least: int) -> bool:
    """Whether the data decide a number of a written shape, from the dependence `least` on.

    What a layer is handed, or one of several things, is no batch where it stands as a number: batches have an axis. It is a
    size that the caller knows, as in `layer((x, (height, width)))` (fixtures/XLA203/near_layers_given_a_size.py).
    """
    is_handed = number.structured or type(number.ref) is Handed or number.guess
    return number.is_tensor and number.dependence >= least and not is_handed


def sizes_in_front(parameter: str, given: Value) -> list[Value]:
    """What padding puts before a dimension, where it is counted from a tensor whose size depends on data: XLA knows no more of it than a
    bound, which serves behind the dimension and not before it (fixtures/XLA203/flagged_padding_in_front.py).
    """
    if parameter not in ("paddings", "pad_width") or given.kind is not SEQUENCE:
        return []
    pairs = [pair.ref for pair in given.ref or () if pair.kind is SEQUENCE and pair.ref]
    return [pair[0] for pair in pairs if is_size_from_data(pair[0], BOUNDED)]


def are_read_off_arguments(api: str, deciding: list[Value]) -> bool:
    """Whether XLA reads computed places off the program's arguments on CPU and GPU: those of `tf.dynamic_stitch`, which puts together
    what `tf.dynamic_partition` took apart (fixtures/XLA203/flagged_sizes_on_gpu.py). As a shape they are not found.
    """
    return api == "tf.dynamic_stitch" and all(leaf.producer == PARTITIONED for leaf in deciding)


# Parameters that take a whole shape, or the part of one that is new.
_SHAPES = frozenset({"shape", "size", "dims"})


def confidence(parameter: str, deciding: list[Value], dependence: int) -> str:
    """How sure it is that data decide. What a layer is given beside its tensors may be a shape that its callers read off one:
    `x, size = inputs`.
    """
    is_given = dependence == ARRIVING and all(leaf.structured for leaf in deciding)
    if is_given and parameter in _SHAPES:
        return "possible"
    is_sure = any(leaf.sure for leaf in deciding) and dependence >= CAPTURED
    return "certain" if is_sure else "likely"
