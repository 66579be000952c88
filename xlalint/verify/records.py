"""What the child process reports and the parent judges: plain data, made of JSON types, shared by both sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from xlalint.tpu.outcome import Outcome, outcome_from

# Stages of a target, in the order in which they run.
EAGER = "eager"  # the program as plain Python, the reference for the numbers
TRACE = "trace"  # Python to graph, AutoGraph included
LOWER = "lower"  # graph to XLA from static shapes alone, no values: what a TPU would be asked to compile
OPAQUE = "opaque"  # which value of an argument or variable is needed where lowering fails for want of a constant
RUN = "run"  # compile and run with values on this machine
NUMBERS = "numbers"  # eager against compiled
GRADIENT = "gradient"  # the same for the gradient of the sum of the float outputs
VALUES = "values"  # does another value of the same shape compile again?
SHAPES = "shapes"  # another batch size or length: does it compile, and to the eager numbers?
TPU = "tpu"  # the TPU compiler's word, where the user names a TPU
STAGES = (EAGER, TRACE, LOWER, OPAQUE, RUN, NUMBERS, GRADIENT, VALUES, SHAPES)

OK, FAILED, SKIPPED, NOTE = "ok", "failed", "skipped", "note"
# The kind of a failure: a tensor of a branch or a loop, used where the graph around it is traced.
OUT_OF_REACH = "out-of-reach"
# Added to the message of a failure by who found the operation of which the failing one is the gradient.
IN_A_GRADIENT = ", in the gradient of "
# Of a training, besides FAILED: what is no fault of the program's.
UNFIT, IMPOSSIBLE = "unfit", "impossible"

# What is looked at beside a training's steps.
VARIABLES = "variables"  # equal on every replica, on every worker
LOSS = "loss"  # a number in every step
WORKERS = "workers"  # the other processes of the cluster
LAST_BATCH = "last batch"  # the smaller one that ends an epoch


@dataclass(frozen=True, slots=True)
class Place:
    """A place in source: real path, 1-based line, 1-based column (0 where it is not known).

    `text` is the line itself, given only where the path is no file that others can read: code that was generated.
    """

    path: str
    line: int
    column: int = 0
    function: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a stage failed.

    `kind` is `no-kernel`, `not-constant`, `symbolic` (Python asked a traced tensor for its value), `out-of-reach` (the place
    is where the tensor is made, the message ends with the line that uses it), `python`, `shape`, `numbers`, `crash`,
    `gradient` or `compiler`. `place` is the innermost line outside TensorFlow, Keras and the standard library; `called_from` the innermost line of the project, where that is another one. `frames` are all lines of
    the code under test on the way to `place`, which comes last, outermost first.
    """

    stage: str
    kind: str
    message: str
    op: str = ""
    place: Place | None = None
    called_from: Place | None = None
    frames: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """The outcome of one stage: status `ok`, `failed`, `skipped` or `note`, wall seconds, one phrase of detail."""

    name: str
    status: str
    seconds: float = 0.0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the trace and the compiled program show, by real path and line.

    `executed`: lines that ran while tracing; `ops`: types of the operations made at a line, `needed` of those that
    results need; `bounded`: lines whose instructions have a bounded dimension (`f32[<=4]`) in the program lowered from shapes;
    `compiled_per_value`: names of the arguments whose values are baked into the program, None where that could not be
    asked; `differentiated`: lines whose operations have a gradient in the program; `kept_part` and `kept_all`: lines that
    made a data-sized tensor in the eager run, by whether it had fewer rows than its buffer; `is_uniform`: all numbers of
    every argument were the same; `differs`: path -> line -> how the numbers that it computes differ from TensorFlow's own
    kernels, whether or not what is returned does.
    """

    executed: Mapping[str, list[int]] = field(default_factory=dict)
    ops: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    needed: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    bounded: Mapping[str, list[int]] = field(default_factory=dict)
    compiled_per_value: list[str] | None = None
    differentiated: Mapping[str, list[int]] = field(default_factory=dict)
    kept_part: Mapping[str, list[int]] = field(default_factory=dict)
    kept_all: Mapping[str, list[int]] = field(default_factory=dict)
    is_uniform: bool = False
    differs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TargetReport:
    """One function that was taken through the stages. `origin` says why: `input_signature`, `entry`, `tf.function`...

    `calls`, `traces` and `compiles` were counted while the script ran, `value_compiles` while stage `values` ran the function
    with `values_tried` other values of the same shapes.
    `inputs` tells where inputs that no caller gave come from; `is_special` says that one of them is a plain value that
    was made up: another might take another branch, so what compiles with it refutes nothing.
    """

    id: str
    function: str
    path: str
    line: int
    origin: str
    status: str
    stages: tuple[Stage, ...] = ()
    failures: tuple[Failure, ...] = ()
    evidence: Evidence = field(default_factory=Evidence)
    calls: int = 0
    traces: int = 0
    compiles: int = 0
    values_tried: int = 0
    value_compiles: int = 0
    notes: tuple[str, ...] = ()
    inputs: str = ""
    is_special: bool = False
    tpu: tuple[Outcome, ...] = ()

    def stage(self, name: str) -> Stage | None:
        return next((stage for stage in self.stages if stage.name == name), None)


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """A script or entry that ran for some steps.

    `status` is `stopped` (after the steps asked for), `ended` (before), `failed`, `unfit`: it names no strategy and fails
    under the one that it was given, or `impossible`: TensorFlow itself cannot train so. `losses` has one entry per step,
    None where none was seen. `program` is how the reader calls it. `checks` are what was looked at besides: do the replicas agree, is the loss a number, what
    became of the other processes. `is_asked` means that the user named the strategy.
    """

    strategy: str
    replicas: int
    status: str
    steps: int
    losses: tuple[float | None, ...] = ()
    seconds: float = 0.0
    detail: str = ""
    failure: Failure | None = None
    events: tuple[str, ...] = ()
    compiles: Mapping[str, int] = field(default_factory=dict)
    output: str = ""
    program: str = ""
    checks: tuple[Stage, ...] = ()
    is_asked: bool = False


@dataclass(frozen=True, slots=True)
class MeteredCall:
    """One call of a tf.function from eager code: the traces it made, its wall seconds, what it was given.

    `arguments` are what TensorFlow tells calls apart by: argument path -> `float32[8, 17]`, `int32[] = 3`, `Python value 5`.
    """

    index: int
    traces: int
    seconds: float
    arguments: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MeteredFunction:
    """A tf.function that a script called; `is_library` where it is Keras's or TensorFlow's own."""

    function: str
    path: str
    line: int
    is_library: bool
    calls: tuple[MeteredCall, ...]


@dataclass(frozen=True, slots=True)
class BatchShapes:
    """The shapes of a dataset's first batches, one mapping of part -> shape per batch.

    `path` and `line` say where the script takes from it; `is_all` whether these are all of its batches.
    """

    path: str
    line: int
    shapes: tuple[Mapping[str, list[int]], ...]
    is_all: bool


@dataclass(frozen=True, slots=True)
class Environment:
    """The versions that gave the verdicts; empty where a library is not installed or was not imported."""

    python: str = ""
    tensorflow: str = ""
    keras: str = ""
    tf_keras: str = ""


def to_record(kind: str, value: Any) -> dict[str, Any]:
    return {"kind": kind, **asdict(value)}


def failure_from(data: Mapping[str, Any] | None) -> Failure | None:
    if data is None:
        return None
    frames = (_place(frame) for frame in data["frames"])
    return Failure(
        **{
            **data,
            "place": _place(data["place"]),
            "called_from": _place(data["called_from"]),
            "frames": tuple(frame for frame in frames if frame is not None),
        }
    )


def metered_from(data: Mapping[str, Any]) -> MeteredFunction:
    return MeteredFunction(
        **{**data, "calls": tuple(MeteredCall(**call) for call in data["calls"])}
    )


def batch_shapes_from(data: Mapping[str, Any]) -> BatchShapes:
    return BatchShapes(**{**data, "shapes": tuple(data["shapes"])})


def _place(data: Mapping[str, Any] | None) -> Place | None:
    return None if data is None else Place(**data)


def target_from(record: Mapping[str, Any]) -> TargetReport:
    data = {key: value for key, value in record.items() if key != "kind"}
    failures = (failure_from(failure) for failure in data["failures"])
    return TargetReport(
        **{
            **data,
            "stages": tuple(Stage(**stage) for stage in data["stages"]),
            "failures": tuple(failure for failure in failures if failure is not None),
            "evidence": Evidence(**data["evidence"]),
            "notes": tuple(data["notes"]),
            "tpu": tuple(outcome_from(outcome) for outcome in data["tpu"]),
        }
    )


def training_from(record: Mapping[str, Any]) -> TrainingReport:
    data = {key: value for key, value in record.items() if key != "kind"}
    return TrainingReport(
        **{
            **data,
            "losses": tuple(data["losses"]),
            "failure": failure_from(data["failure"]),
            "events": tuple(data["events"]),
            "checks": tuple(Stage(**check) for check in data.get("checks", ())),
        }
    )
