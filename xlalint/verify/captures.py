"""From what a script called to programs for the stages."""

from __future__ import annotations

import contextlib
import functools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from xlalint.verify import eagerly, structure
from xlalint.verify.capture import Capture, Captured
from xlalint.verify.patching import Patches
from xlalint.verify.program import Call, Program, parameter_names, static, tensors_alone
from xlalint.verify.sites import real_path
from xlalint.verify.standin import Standin
from xlalint.verify.targets import code_of

# A dimension that was unknown even while the script ran.
_UNKNOWN = 8
# Called from what other captures hold.
_INNER = ("plain", "layer")
# Layers are compiled with the step already; alone, they take no longer than this, all together.
_LONGEST_FOR_LAYERS = 90.0


def watch_conversions(converted: set[tuple[str, int]]) -> None:
    """Add to `converted` the (real path, first line) of each function that AutoGraph converts from now on."""
    from tensorflow.python.autograph.impl import api

    original = getattr(api, "_convert_actual", None)
    if original is None:
        return

    def convert(entity: Any, program_ctx: Any) -> Any:
        code = code_of(entity)
        if code is not None:
            converted.add((real_path(code.co_filename), code.co_firstlineno))
        return original(entity, program_ctx)

    api._convert_actual = convert


class Runs:
    """Which strategy ran which function."""

    def __init__(self) -> None:
        self._runs: list[tuple[Any, Any]] = []

    def watch(self) -> None:
        """Remember the arguments of `strategy.run` from now on, of any strategy made by TensorFlow."""
        base = tf.distribute.Strategy.__mro__[1]
        runs = self._runs

        def run_of(original: Any) -> Any:
            @functools.wraps(original)
            def run(strategy: Any, fn: Any, *args: Any, **kwargs: Any) -> Any:
                if not any(fn is known for known, _ in runs):
                    runs.append((fn, strategy))
                return original(strategy, fn, *args, **kwargs)

            return run

        for cls in (base, tf.distribute.OneDeviceStrategy, tf.distribute.MirroredStrategy):
            if "run" in vars(cls):
                Patches().wrap(cls, "run", run_of)

    def strategy_of(self, function: Any) -> Any:
        return next((strategy for known, strategy in self._runs if known is function), None)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """How functions ran in the script: converted by AutoGraph, under a stand-in, by which strategy."""

    converted: AbstractSet[tuple[str, int]]
    standin: Standin | None
    runs: Runs
    note: Callable[[str], None] = lambda text: None


def with_values(
    capture: Capture, captured: Sequence[Captured], around: Circumstances, has_failed: bool
) -> Sequence[Captured]:
    """What was captured, with values for the helpers and layers that were only called while others were traced.

    Those others are run once more, eagerly, and what they call is seen with values; of a script that failed, also what it did
    not come to. Call it when the script has ended.
    """
    is_wanted = has_failed or any(one.kind in _INNER and not _has_values(one) for one in captured)
    for one in captured if is_wanted else ():
        call = None if one.kind in _INNER or not _has_values(one) else callable_of(one, around)
        if call is None:
            continue
        example = calls_of(one)[0]
        with capture.looking_again(), eagerly.everything(), contextlib.suppress(Exception):
            call(*example.args, **example.kwargs)
        captured = capture.results()
        if not has_failed and all(_has_values(one) for one in captured if one.kind in _INNER):
            break
    return captured


def _has_values(one: Captured) -> bool:
    return any(example.has_values for example in one.examples)


def programs(captured: Sequence[Captured], around: Circumstances) -> Iterator[Program]:
    """One program per function of the user's that was called with usable arguments, in the order of the first calls."""
    started = 0.0
    for index, one in _in_order(captured):
        if one.kind == "layer":
            started = started or time.monotonic()
            if time.monotonic() - started > _LONGEST_FOR_LAYERS:
                around.note(
                    f"not every layer was compiled alone: the first took {_LONGEST_FOR_LAYERS:.0f} s"
                )
                return
        call = callable_of(one, around)
        if call is not None and one.examples and not _makes_dataset(one.function):
            yield Program(
                id=f"{one.kind}:{one.name}:{one.path}:{one.line}:{index}",
                function=one.name,
                path=one.path,
                line=one.line,
                origin=one.kind,
                call=call,
                calls=calls_of(one),
                parameters=parameter_names(one.function),
                is_differentiated=one.kind == "train_step",
                n_calls=one.calls,
                n_traces=one.traces or 0,
            )


def _in_order(captured: Sequence[Captured]) -> list[tuple[int, Captured]]:
    """Each function once, layers last; the call of a layer that has findings is a plain function already."""
    steps = {(one.path, one.line) for one in captured if one.kind not in _INNER}
    plain = {(one.path, one.line) for one in captured if one.kind == "plain"}
    wanted = [
        (index, one)
        for index, one in enumerate(captured)
        if "__autograph_generated_file" not in one.path
        and not (one.kind in _INNER and (one.path, one.line) in steps)
        and not (one.kind == "layer" and (one.path, one.line) in plain)
    ]
    return sorted(wanted, key=lambda numbered: numbered[1].kind == "layer")


def _makes_dataset(function: Any) -> bool:
    """Does a tf.function return a dataset, as those for `create_per_worker_dataset` do? It runs on the host."""
    try:
        traced = function._list_all_concrete_functions()
        return any(
            "Dataset" in type(part).__name__
            for concrete in traced
            for part in tf.nest.flatten(concrete.structured_outputs)
        )
    except AttributeError:  # no tf.function, or another TensorFlow's
        return False


def calls_of(one: Captured) -> tuple[Call, ...]:
    """Calls that can stand side by side: with values, or all without, and of one structure."""
    valued = [example for example in one.examples if example.has_values]
    calls = [_call(example) for example in valued or one.examples[:1]]
    return tuple(call for call in calls if _outline(call) == _outline(calls[0]))


def _outline(call: Call) -> list[tuple[structure.Path, str]]:
    """What two calls of one program have in common: names, dtypes, Python values."""
    return [
        (path, str(leaf.dtype) if hasattr(leaf, "dtype") else _value_of(leaf))
        for path, leaf in structure.leaves((call.args, call.kwargs))
    ]


def _value_of(leaf: Any) -> str:
    is_plain = isinstance(leaf, (bool, int, float, str, bytes, type(None)))
    return repr(leaf) if is_plain else type(leaf).__name__


def _call(example: Any) -> Call:
    args, kwargs = example.args, dict(example.kwargs)
    if example.has_values:
        return Call(tuple(args), kwargs)
    return Call(tuple(static(tuple(args), _UNKNOWN, _UNKNOWN)), static(kwargs, _UNKNOWN, _UNKNOWN))


def callable_of(one: Captured, around: Circumstances) -> Callable[..., Any] | None:
    """What to call: a replica's function needs a replica's context, a plain one the conversion it had in the script."""
    is_converted = (one.path, one.line) in around.converted
    if one.kind == "strategy.run":
        stood_in = around.standin.programs if around.standin else ()
        made = [program.compiled for program in stood_in if program.function is one.function]
        if made:
            return made[0]  # type: ignore[no-any-return]
        strategy = around.runs.strategy_of(one.function)
        if strategy is None:
            return None
        return _in_replica(tf.function(one.function) if is_converted else one.function, strategy)
    if one.kind in ("train_step", "test_step"):
        function = (
            _as_keras_converts(one.function, is_converted)
            if is_keras_2(one.bound_to)
            else one.function
        )
        return _in_replica(function, getattr(one.bound_to, "distribute_strategy", None))
    if one.kind == "layer":
        layer = one.bound_to
        return _as_keras_converts(layer, False) if is_keras_2(layer) else layer
    if one.kind == "plain" and is_converted:
        return converted(one.function)
    return one.function  # type: ignore[no-any-return]


def converted(function: Any) -> Callable[..., Any]:
    """A function as AutoGraph converts it; it may take and return what a tf.function may not."""
    alone = tf.autograph.experimental.do_not_convert(tensors_alone)

    def call(*args: Any, **kwargs: Any) -> Any:
        leaves = tf.nest.flatten((args, kwargs))
        places = [index for index, leaf in enumerate(leaves) if _is_traced(leaf)]

        @tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
        def arguments_of(tensors: Any) -> Any:
            given = list(leaves)
            for place, tensor in zip(places, tensors, strict=True):
                given[place] = tensor
            return tf.nest.pack_sequence_as((args, kwargs), given)

        @tf.function  # type: ignore[untyped-decorator]
        def helper(tensors: Any) -> Any:
            arguments, keywords = arguments_of(tensors)
            return alone(function(*arguments, **keywords))

        return helper([leaves[place] for place in places])

    return call


def _is_traced(leaf: Any) -> bool:
    composites = (tf.RaggedTensor, tf.SparseTensor, tf.IndexedSlices)
    return tf.is_tensor(leaf) or isinstance(leaf, composites)


def _as_keras_converts(function: Any, is_converted: bool) -> Callable[..., Any]:
    """A step of Keras 2 with AutoGraph as Keras 2 has it: layers' `call` converted, the step itself only where Keras
    compiles it. Keras 3 converts nothing."""
    if is_converted:
        return tf.function(function)  # type: ignore[no-any-return]
    from tensorflow.python.autograph.core import ag_ctx

    def run(*args: Any, **kwargs: Any) -> Any:
        with ag_ctx.ControlStatusCtx(status=ag_ctx.Status.ENABLED):
            return function(*args, **kwargs)

    return run


def as_keras_calls(function: Any, model: Any = None) -> Callable[..., Any]:
    """A layer, model or step as the Keras it belongs to calls it: Keras 2 converts what it calls, Keras 3 nothing."""
    owner = function if model is None else model
    return _as_keras_converts(function, False) if is_keras_2(owner) else function


def is_keras_2(model: Any) -> bool:
    """Is it a model of tf_keras, or of the Keras that came with TensorFlow up to 2.15?"""
    packages = {base.__module__.partition(".")[0] for base in type(model).__mro__}
    if "tf_keras" in packages:
        return True
    keras = sys.modules.get("keras")
    return "keras" in packages and str(getattr(keras, "__version__", "3")).startswith("2.")


def _in_replica(function: Any, strategy: Any) -> Callable[..., Any] | None:
    """`function` as the strategy would call it on its first replica; None where there are several."""
    if strategy is None or not _is_real(strategy):
        return function  # type: ignore[no-any-return]

    def run(*args: Any, **kwargs: Any) -> Any:
        with strategy.scope():
            results = strategy.extended.call_for_each_replica(function, args, kwargs)
        return tf.nest.map_structure(
            lambda one: strategy.experimental_local_results(one)[0], results
        )

    return run if strategy.num_replicas_in_sync == 1 or _is_standin(strategy) else None


def _is_real(strategy: Any) -> bool:
    return type(strategy).__name__ != "_DefaultDistributionStrategy"


def _is_standin(strategy: Any) -> bool:
    return "standin" in type(strategy).__mro__[1].__module__
