"""Keeping the fact that code calls an API which XLA cannot run, or runs at a price."""

from __future__ import annotations

import ast
from dataclasses import replace

from xlalint.semantics.catalog.entries import Api
from xlalint.semantics.elements import leaves
from xlalint.semantics.facts import CALL, CallDetail, Verdict
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import families
from xlalint.semantics.values import (
    ARRIVING,
    CAPTURED,
    FROM_SHAPE,
    NOTHING_KNOWN,
    PYTHON,
    UNKNOWN,
    Value,
)

# Arguments that must be known exactly: the size of a data-sized tensor, which others accept as a bound (tf.zeros, tf.range, tf.tile,
# tf.repeat, tf.pad, tf.broadcast_to, num_segments), is refused (fixtures/XLA203).
_EXACT_PARAMETERS = frozenset(
    {
        "axis",
        "perm",
        "depth",
        "num_classes",
        "max_output_size",
        "num_or_size_splits",
        "minlength",
        "maxlength",
    }
)
_EXACT_SHAPES = frozenset(
    {
        ("tf.scatter_nd", "shape"),
        ("keras.ops.scatter", "shape"),
        ("tf.linspace", "num"),
        ("keras.ops.linspace", "num"),
        ("tf.image.resize", "size"),
        ("keras.ops.image.resize", "size"),
    }
)
# The count of a tensor's own rows keeps its bound; static_sizes.py says which other shapes do not.
_SHAPES_OF_THEIR_OWN = frozenset({"tf.reshape", "tf.ensure_shape", "tf.experimental.numpy.reshape"})


def needs_exact(api: Api, parameter: str) -> bool:
    """Whether an argument must be known exactly, where most that must be constants may also be bounded."""
    if parameter in _EXACT_PARAMETERS or (api.name, parameter) in _EXACT_SHAPES:
        return True
    return parameter in api.exact_args and api.name not in _SHAPES_OF_THEIR_OWN


# They work out a greatest common divisor with these arguments, in a loop of the graph where Python does not know them.
_WORKED_WITH = {
    "tf.signal.frame": frozenset({"frame_length", "frame_step"}),
    "tf.signal.stft": frozenset({"frame_length", "frame_step"}),
    "tf.signal.mdct": frozenset({"frame_length"}),
}


def works_with(name: str, parameter: str) -> bool:
    """Whether an API computes with a size in the graph, of which XLA needs the result as a constant: one taken from a shape is refused,
    too (fixtures/XLA203/flagged_frames_by_tensors.py).
    """
    return parameter in _WORKED_WITH.get(name, ())


def note_operation(
    operation: str, operands: tuple[Value, ...], node: ast.AST, frame: Frame
) -> None:
    """Note an operator or a subscript that emits an operation of this name, if XLA has no kernel for it."""
    api = frame.analysis.catalog.api(f"tf.raw_ops.{operation}")
    if api is None or not api.missing or not frame.context.is_compiled or frame.silent:
        return
    verdict = Verdict(api.status, api.missing, api.reason, (), ())
    composite = [value for value in operands if value.is_composite]
    if composite and all(value.guess for value in composite):
        verdict = verdict._replace(possible=True)
    note_call(api, verdict, {}, False, node, frame)


def note_refused(name: str, node: ast.AST, frame: Frame) -> None:
    """Note a method that calls an API which XLA refuses, as it is called there."""
    api = frame.analysis.catalog.api(name)
    if api is None or api.status != "fails" or not frame.context.is_compiled or frame.silent:
        return
    note_call(api, Verdict(api.status, api.missing, api.reason, (), ()), {}, False, node, frame)


def note_size(name: str, parameter: str, size: Value, node: ast.AST, frame: Frame) -> None:
    """Note a method that draws as many numbers as an argument says, where data may decide it."""
    api = frame.analysis.catalog.api("tf.random.stateless_normal")
    if api is None or not frame.context.is_compiled or frame.silent or not is_handed_over(size):
        return
    verdict = Verdict(api.status, (), None, (), (parameter,))
    drawing = replace(api, name=name, ops=())
    note_call(drawing, verdict, {parameter: size}, False, node, frame)


def note_call(
    api: Api,
    verdict: Verdict,
    bound: dict[str, Value],
    makes_data_sized: bool,
    node: ast.AST,
    frame: Frame,
) -> None:
    """Note a call of which the catalogue says so."""
    value = next((v for v in bound.values() if v.holds_data), NOTHING_KNOWN)
    detail = detail_of(api, verdict, bound, makes_data_sized)
    frame.analysis.note(frame, node, CALL, value, detail)


def detail_of(
    api: Api, verdict: Verdict, bound: dict[str, Value], makes_data_sized: bool
) -> CallDetail:
    """What a fact about a call holds."""
    passed = [leaf for argument in bound.values() for leaf in leaves(argument)]
    confidence = "certain"
    if makes_data_sized and not all(leaf.sure and leaf.kind is not UNKNOWN for leaf in passed):
        confidence = "likely" if any(is_data(leaf) for leaf in passed) else "possible"
    return CallDetail(
        api.name,
        tuple(bound.items()),
        verdict,
        makes_data_sized,
        confidence,
        api.replacement,
        api.ops,
        families.of_call(api.name, verdict.missing, api.ops),
        tuple(each for each in verdict.constant_args if needs_exact(api, each)),
    )


def is_data(value: Value | None) -> bool:
    """Whether there is a tensor in it that the program is handed, or computes."""
    return _depends(value, ARRIVING)


def is_measured(value: Value | None) -> bool:
    """Whether there is a tensor in it that is no constant, though a shape may say what it is."""
    return _depends(value, FROM_SHAPE)


def is_handed_over(value: Value | None) -> bool:
    """Whether there is a tensor in it that the program is handed, computes, or captures: XLA has no constant for it."""
    return _depends(value, CAPTURED)


def _depends(value: Value | None, least: int) -> bool:
    if value is None or value.kind is PYTHON:
        return False
    return any(leaf.is_tensor and leaf.dependence >= least for leaf in leaves(value))
