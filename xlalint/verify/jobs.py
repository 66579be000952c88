"""What the parent asks of one child process. Plain data, written as JSON to a file that the child reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

# What a child is to do.
SCRIPT = "script"  # run a program for some steps, then take what it called through the stages
MODULES = "modules"  # import modules and take their tf.functions with an input_signature through the stages
ENTRY = "entry"  # the same for one function named in the settings
SERVER = (
    "server"  # be a worker or a parameter server of a cluster, for the program that runs beside it
)
ALONE = "alone"  # find inputs for the functions of a module that have findings, and take them through the stages
PROOF = "proof"  # find inputs for functions of a module, and run them as they are and as fixes rewrite them

OF_MODULES = (MODULES, ALONE, PROOF)

# What a child does before a function's stages: look for inputs. What dies there is nobody's failure.
INPUTS = "inputs"

# How a script is run.
AS_IS = "none"  # as it is
STANDIN = "tpu"  # on the stand-in for a TPU
REAL_TPU = "real-tpu"  # on the TPU that this machine has
MIRRORED = "mirrored"  # on several virtual CPUs
ONE_DEVICE = "one-device"
MULTI_WORKER = "multi-worker"  # the same program in several processes, which reduce over gRPC
CENTRAL_STORAGE = "central-storage"  # variables on one CPU, steps on several virtual ones
PARAMETER_SERVER = (
    "parameter-server"  # the program coordinates, other processes hold variables and run steps
)

# Marks the calls of tf.functions on a child's stderr, by number, as `wire.PHASE` marks phases.
CALL = "xlalint-call:"


@dataclass(frozen=True, slots=True)
class Module:
    """A module to import: its dotted name and the folder that must be on sys.path for it."""

    name: str
    folder: str
    path: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """A function with findings, to be called with inputs that have yet to be found.

    `line` is where Python says that it starts (the first decorator), `lines` are the first and last line of each statement
    with a finding, `codes` the findings'. `via` is the chain of calls by which check came to it, from the outside in, `modules` where the classes and
    functions of that chain are defined. `parameters` is what check believes each parameter to hold: kind, dtype, shape.
    `inputs` are those of the settings; `tests` are (file, name) of tests that name it.
    """

    path: str
    line: int
    qualname: str
    lines: tuple[tuple[int, int], ...]
    codes: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    is_converted: bool = True
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    constructor: tuple[str, ...] = ()
    tests: tuple[tuple[str, str], ...] = ()

    @property
    def identity(self) -> str:
        """What its reports are told apart by."""
        return f"alone:{self.path}:{self.line}:{self.qualname}"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A fix to prove. `text` is the file with it, `together` with all others of its pass as well; `function` is the place of the
    function among those wanted. `lines` are the lines that it mends in the file as it is, `new_lines` those that it brings."""

    id: str
    number: int
    function: tuple[int, str]
    text: str
    together: str
    lines: tuple[tuple[int, int], ...]
    new_lines: tuple[tuple[int, int], ...]

    def is_new(self, line: int) -> bool:
        """Does this line of the rewritten file come from the fix?"""
        return any(first <= line <= last for first, last in self.new_lines)


@dataclass(frozen=True, slots=True)
class TpuJob:
    """What the TPU compiler is to be asked: `targets` by name, none for no TPU. `library` is libtpu's, of `version`; each
    compilation may take `seconds` and `memory_mb` (0: no limit). `searches` looks for the largest batch that fits."""

    targets: tuple[str, ...] = ()
    library: str = ""
    version: str = ""
    seconds: float = 600.0
    memory_mb: int = 0
    searches: bool = True


@dataclass(frozen=True, slots=True)
class Job:
    """One child's work.

    `argv` is the script's own `sys.argv`; `run` the path of the script, or the module's name for `python -m`. `first_path`
    goes to the head of `sys.path`, as Python itself would put it. `cwd` is the folder to run in where it is not the parent's;
    `has_ipython` gives the program, a notebook, what IPython puts into its names. `is_imposed` puts the script, which names no strategy, inside
    the scope of ours; `is_substituted` gives a script that asks for a TPU ours instead. `flagged` are functions with findings, by real path and
    first line; `flagged_files` the files whose executed lines the verdicts need. `skip` names targets that killed an earlier
    child, `without_xla` runs the script uncompiled, since XLA killed the child that ran it as it is. `avoid` are inputs that killed one while they
    were tried. `does_work` says that importing the module trains: its calls are captured like a script's.

    `splits_batch` says that the program never asks how many replicas there are, so that each gets its share of a batch.
    `is_driven` lets the steps of a training loop that names no strategy run on every replica of ours. `is_asked` says that
    the user named the strategy. A process of a cluster has its `task`, such as `worker:1`, and a file that
    appears once all are done, for their `meeting`.
    """

    kind: str
    label: str
    first_path: str
    roots: tuple[str, ...]
    steps: int = 5
    strategy: str = AS_IS
    replicas: int = 1
    is_imposed: bool = False
    is_substituted: bool = False
    is_driven: bool = False
    is_asked: bool = False
    task: str = ""
    meeting: str = ""
    argv: tuple[str, ...] = ()
    run: str = ""
    is_module: bool = False
    cwd: str = ""
    has_ipython: bool = False
    modules: tuple[Module, ...] = ()
    wanted: tuple[Wanted, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    entry: str = ""
    inputs: tuple[str, ...] = ()
    flagged: tuple[tuple[str, int], ...] = ()
    flagged_files: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    takes_targets: bool = True
    without_xla: bool = False
    does_work: bool = False
    tpu: TpuJob = field(default_factory=TpuJob)
    splits_batch: bool = False
    compile_only: bool = False
    python: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")


def read(path: str) -> Job:
    data: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    lists = ("roots", "argv", "inputs", "flagged_files", "skip", "avoid", "python", "notes")
    return Job(
        **{
            **data,
            **{name: tuple(data[name]) for name in lists},
            "modules": tuple(Module(**module) for module in data["modules"]),
            "wanted": tuple(_wanted(one) for one in data["wanted"]),
            "rewrites": tuple(_rewrite(one) for one in data["rewrites"]),
            "tpu": TpuJob(**{**data["tpu"], "targets": tuple(data["tpu"]["targets"])}),
            "flagged": tuple((path, line) for path, line in data["flagged"]),
        }
    )


def _wanted(data: dict[str, Any]) -> Wanted:
    lists = ("codes", "via", "modules", "inputs", "constructor")
    return Wanted(
        **{
            **data,
            **{name: tuple(data[name]) for name in lists},
            "lines": tuple((first, last) for first, last in data["lines"]),
            "tests": tuple((file, name) for file, name in data["tests"]),
        }
    )


def _rewrite(data: dict[str, Any]) -> Rewrite:
    line, qualname = data["function"]
    spans = {name: tuple(map(tuple, data[name])) for name in ("lines", "new_lines")}
    return Rewrite(**{**data, **spans, "function": (line, qualname)})
