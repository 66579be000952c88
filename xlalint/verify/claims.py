"""What each rule claims, as far as a compiler can judge it: what bears a claim out, and what would speak against it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xlalint.finding import Finding
from xlalint.verify.records import OUT_OF_REACH

# What a claim is refuted by, if its line was reached:
TRACES = "traces"  # tracing went past it
HOLDS = "holds"  # the program does not hold what it says
KERNEL = "kernel"  # the operations that it names are in a program that compiled
COMPILES = "compiles"  # what it calls is in a program that was lowered from shapes alone
BOUNDED = "bounded"  # the sizes are known when XLA compiles
REJECTED = "rejected"  # the program compiled, and has sizes that depend on data
NUMBERS = "numbers"  # the numbers agree with eager execution, where the data could have shown a difference
GRADIENT = "gradient"  # a gradient passes it and compiled
NEVER = "never"  # nothing that one run on a CPU shows

_SYMBOLIC = frozenset({"symbolic"})
_TRACING = frozenset({"symbolic", "python"})
_NO_KERNEL = frozenset({"no-kernel", "compiler"})
_REFUSED = frozenset({"compiler", "not-constant"})
_COMPILER = _REFUSED | {"crash"}
_BACKWARD = frozenset({"gradient", "compiler", "not-constant", "no-kernel", "crash"})

_CONDITIONALS = frozenset({"If", "StatelessIf", "Case", "StatelessCase", "Cond"})
_LOGIC = frozenset({"LogicalAnd", "LogicalOr", "LogicalNot"})
_LOOPS = frozenset({"While", "StatelessWhile"})
HOST_OPS = frozenset(
    {
        "PrintV2",
        "Print",
        "StringFormat",
        "PyFunc",
        "EagerPyFunc",
        "PyFuncStateless",
        "WriteScalarSummary",
    }
)

_THESE_ARGUMENTS = "compiles with the arguments of this run"
_THESE_VALUES = "agrees with eager execution for the values of this run"
_LATER = "compiles, which says nothing of later calls"
_TRACED_HERE = (
    "compiles where this run traces it, which says nothing of what Keras has traced before"
)
_NOT_MAPPED = "compiles where no vectorized map calls it"
_TPU = "compiles on a CPU, which says nothing of a TPU"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a finding says.

    `kinds` are the failures (see `records.Failure`) at its place that bear it out; `shows` the operations that do so by
    being in the program; `basis` what it is refuted by; `otherwise` what to say of a program that passes where the basis is
    NEVER. `says`: what a failure of a training run says, wherever it stands, that bears it out. `only_backward`: a failure counts
    in a gradient alone. `is_of_names`: the error has to speak of the name that the finding says is gone.
    """

    kinds: frozenset[str]
    basis: str
    shows: frozenset[str] = frozenset()
    otherwise: str = ""
    says: str = ""
    only_backward: bool = False
    is_of_names: bool = False


# By `CODE/variant`, else `CODE/severity`, else `CODE`.
_CLAIMS = {
    "XLA101/not-boolean": Claim(_TRACING | {"compiler"}, COMPILES),
    "XLA101/error": Claim(_SYMBOLIC, TRACES),
    "XLA101/warning": Claim(frozenset({"symbolic", "compiler", "gradient"}), HOLDS, _CONDITIONALS | _LOGIC),
    "XLA102/error": Claim(_TRACING, TRACES),
    "XLA102/warning": Claim(frozenset({"symbolic", "compiler", "gradient", "not-constant"}), HOLDS, _LOOPS),
    "XLA103/traced-before": Claim(_BACKWARD, NEVER, otherwise=_TRACED_HERE, says="TensorList", only_backward=True),
    "XLA103/error": Claim(_BACKWARD, GRADIENT, only_backward=True),
    "XLA103/warning": Claim(_BACKWARD, GRADIENT, only_backward=True),
    "XLA104/dataset": Claim(frozenset({"no-kernel", "compiler", "python", "symbolic"}), TRACES),
    "XLA104": Claim(_TRACING, TRACES),
    "XLA105": Claim(_TRACING, TRACES),
    "XLA106/warning": Claim(frozenset({"python", "compiler"}), HOLDS, _CONDITIONALS),
    "XLA106/error": Claim(frozenset({"python", "symbolic", "compiler"}), TRACES),
    "XLA107/dropped": Claim(frozenset({"compiler", "no-kernel", "numbers"}), NEVER, otherwise=_THESE_VALUES),
    "XLA107/error": Claim(frozenset({"python", "symbolic", OUT_OF_REACH}), NEVER, otherwise=_LATER),
    "XLA107": Claim(frozenset(), NEVER, otherwise=_LATER),
    "XLA201": Claim(_REFUSED, BOUNDED),
    "XLA202": Claim(_REFUSED, BOUNDED),
    "XLA203/recurrent": Claim(frozenset({"not-constant"}), NEVER, otherwise=_LATER),
    "XLA203/error": Claim(frozenset({"not-constant", "compiler"}), COMPILES),
    "XLA203/warning": Claim(frozenset({"not-constant"}), COMPILES),
    "XLA204/rejected": Claim(_COMPILER, REJECTED),
    "XLA204/parted": Claim(_COMPILER, REJECTED),
    "XLA204/unknown-size": Claim(_TRACING | {"numbers"}, NUMBERS),
    "XLA204/open-size": Claim(_TRACING, NUMBERS),
    "XLA204/miscounted": Claim(frozenset({"numbers", "crash"}), NEVER, otherwise=_THESE_VALUES),
    "XLA204/masked-twice": Claim(frozenset({"numbers", "crash"}), NEVER, otherwise=_THESE_VALUES),
    "XLA204/gradient-wrong": Claim(_BACKWARD | {"numbers"}, NEVER, otherwise=_THESE_VALUES, only_backward=True),
    "XLA204/gradient-taken": Claim(_BACKWARD | {"numbers"}, NEVER, otherwise=_THESE_VALUES, only_backward=True),
    "XLA204/trained-arms": Claim(_BACKWARD | {"numbers"}, NEVER, otherwise=_THESE_VALUES, only_backward=True),
    "XLA204/trained-filling": Claim(_BACKWARD | {"numbers", "crash"}, NEVER, otherwise=_THESE_VALUES, only_backward=True),
    "XLA204/kept-in-step": Claim(_BACKWARD | {"numbers"}, NEVER, otherwise=_THESE_VALUES, only_backward=True),
    "XLA204": Claim(_COMPILER | {"numbers"}, NUMBERS),
    "XLA205/loses-rows": Claim(_COMPILER | {"numbers"}, NEVER, otherwise="agrees with eager execution for the rows that this run writes"),
    "XLA205/gradient": Claim(_BACKWARD, GRADIENT, only_backward=True),
    "XLA205": Claim(frozenset({"compiler", "python", "not-constant"}), COMPILES),
    "XLA206/slice": Claim(_BACKWARD | {"numbers"}, NEVER, otherwise=_THESE_VALUES, only_backward=True),
    "XLA206/slice-taken": Claim(_BACKWARD | {"numbers"}, NEVER, otherwise=_THESE_VALUES, only_backward=True),
    "XLA206/data-sized": Claim(frozenset({"compiler", "python", "numbers", "crash"}), REJECTED),
    "XLA206": Claim(frozenset({"compiler", "python"}), COMPILES),
    "XLA401/vectorized-conditional": Claim(frozenset({"not-constant", "compiler"}), NEVER, otherwise=_NOT_MAPPED),
    "XLA401/custom-gradient": Claim(_TRACING, TRACES),
    "XLA401/warning": Claim(_NO_KERNEL, NEVER, otherwise=_THESE_ARGUMENTS),
    "XLA401": Claim(_NO_KERNEL, KERNEL),
    "XLA402": Claim(_NO_KERNEL | {"python"}, KERNEL, HOST_OPS),
    "XLA403/warning": Claim(_NO_KERNEL, NEVER, otherwise=_THESE_ARGUMENTS),
    "XLA403": Claim(_NO_KERNEL | {"python"}, KERNEL),
    "XLA404/no-kernel": Claim(_NO_KERNEL, KERNEL),
    "XLA404/shuffled": Claim(_COMPILER, NEVER, otherwise="lowers, and XLA on a CPU refuses what it was lowered to (see the note of the run)"),
    "XLA404/narrowed": Claim(_NO_KERNEL, NEVER, otherwise=_THESE_ARGUMENTS),
    "XLA404/narrowed-result": Claim(frozenset({"numbers"}), NEVER, otherwise=_THESE_VALUES),
    "XLA404/mixed": Claim(_TRACING, TRACES),
    "XLA404": Claim(_NO_KERNEL | {"tpu"}, NEVER, otherwise=_TPU),
    "XLA405/dense-shape": Claim(frozenset({"not-constant", "compiler"}), COMPILES),
    "XLA405/warning": Claim(_NO_KERNEL | {"python"}, NEVER, otherwise=_THESE_ARGUMENTS),
    "XLA405": Claim(_NO_KERNEL | {"not-constant", "python"}, KERNEL),
    "XLA406": Claim(frozenset(), NEVER, otherwise=_THESE_VALUES),
    "XLA407/slice-taken": Claim(_BACKWARD, NEVER, otherwise=_THESE_VALUES, only_backward=True),
    "XLA407/slice-likely": Claim(_BACKWARD, NEVER, otherwise=_THESE_VALUES, only_backward=True),
    "XLA407/traced-before": Claim(_BACKWARD, NEVER, otherwise=_TRACED_HERE, says="Optional", only_backward=True),
    "XLA407/in-arm": Claim(_BACKWARD, NEVER, otherwise=_THESE_VALUES, only_backward=True),
    "XLA407/masked-arms": Claim(_BACKWARD, GRADIENT),
    "XLA407/kept-in-else": Claim(_BACKWARD, GRADIENT),
    "XLA407/empty-arm": Claim(_BACKWARD, GRADIENT),
    "XLA407/in-loop": Claim(_BACKWARD, NEVER, otherwise=_THESE_VALUES, only_backward=True),
    "XLA407": Claim(_BACKWARD | {"python"}, GRADIENT, only_backward=True),
    "XLA504/by-position": Claim(_TRACING | {"compiler"}, NEVER),
    "XLA504/other-order": Claim(_TRACING | {"compiler"}, NEVER),
    "XLA504/kept": Claim(_TRACING | {"compiler"}, NEVER),
    "XLA504": Claim(_TRACING | {"compiler"}, NEVER, is_of_names=True),
    "XLA408/no-data": Claim(_TRACING, TRACES),
    "XLA408/debug-hook": Claim(_NO_KERNEL, NEVER, otherwise=_THESE_ARGUMENTS),
    "XLA408": Claim(frozenset({"numbers"}), NEVER, otherwise=_THESE_VALUES),
}  # fmt: skip
_UNKNOWN = Claim(frozenset(), NEVER, otherwise=_THESE_ARGUMENTS)

# Rules whose message lists the operations that lack a kernel.
_LISTS_OPERATIONS = re.compile(
    r"needs ((?:\w+, )*\w+(?: and \w+)?)(?=,? which|,? for some)|\(([^()]*)\)(?=, which|, and XLA)"
)
# What the messages of XLA504 quote: names, and ends that files must have.
_QUOTED = re.compile(r"`([^`]+)`")
_OF_SYMBOLIC = "KerasTensor"
_OPERATION = re.compile(r"\b_?[A-Z][a-z]\w*\b|\b[A-Z]{2,}[a-z]\w*\b")


def of(finding: Finding) -> Claim:
    """What `finding` claims."""
    names = (f"{finding.code}/{finding.variant}", f"{finding.code}/{finding.severity.value}")
    for name in (*names, finding.code):
        if name in _CLAIMS:
            return _CLAIMS[name]
    return _UNKNOWN


def operations_named(finding: Finding) -> frozenset[str]:
    """The operations that a finding says have no kernel; empty where it names none."""
    match = _LISTS_OPERATIONS.search(finding.message)
    if match is None or not finding.code.startswith("XLA4"):
        return frozenset()
    return frozenset(_OPERATION.findall(match[1] or match[2]))


def layer_named(finding: Finding) -> str:
    """The name under which a finding about a kernel knows what is called, or what a model is given; nothing of other findings."""
    if finding.code not in ("XLA401", "XLA403", "XLA405"):
        return ""
    quoted = _QUOTED.match(finding.message)
    name = quoted[1] if quoted is not None else ""
    return name if name.replace(".", "_").isidentifier() else ""


def speaks_of(message: str, finding: Finding) -> bool:
    """Whether an error is about the name that a finding says is gone, the file's name or the symbolic tensor that is refused."""
    name, *rest = _QUOTED.findall(finding.message) or ("",)
    if finding.variant == "file-name":
        return any(ending in message for ending in rest if ending.startswith("."))
    if finding.variant == "refused":
        return _OF_SYMBOLIC in message
    return bool(name) and name.rsplit(".", 1)[-1] in message
