"""The checklist: each item judged by what was seen, found and verified.

The items are those of the guides to TPU training: the three rules of XLA, compiled once on the CPU, data that the TPU can read,
initialisation, model and optimizer in scope, batch and learning rate, `jit_compile=True` taken out again, versions, a step that runs,
memory that suffices. An item is done only when something shows that it is; what nothing shows stays unknown.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xlalint import pages
from xlalint.finding import FileError, Finding, Severity
from xlalint.readiness.declarations import Declared
from xlalint.readiness.items import Evidence, Item, State
from xlalint.readiness.sights import Sight, Sign
from xlalint.readiness.verified import Verified

_MOST_SHOWN = 3
_LONGEST = 160
_GIB = 2**30
# Above this share of its memory a chip is full: what the runtime itself needs is not in the compiler's figures.
_FULL = 0.9
_SETUP = """\
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=...)  # "local" on a TPU VM
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)"""
_NODE = "tpu-node"
_COPY = "gcloud storage cp -r DATA gs://BUCKET/DATA    # and give the program that path"
_FREEZE = 'pip freeze | grep -iE "^(tensorflow|keras|tf.keras|libtpu)" >> requirements.txt'
_SCOPE = """\
with strategy.scope():
    model = ...      # and its optimizer, its metrics, and what restores them"""


@dataclass(frozen=True, slots=True)
class Seen:
    """All that the checklist is judged by. `paths` are as the user gave them, `least` the least severity that counts."""

    paths: Sequence[str]
    target: str
    least: Severity
    sights: Sequence[Sight]
    findings: Sequence[Finding]
    errors: Sequence[FileError]
    is_selected: Callable[[str], bool]
    verified: Verified | None
    # What says which TensorFlow this runs with, and the one that it was checked for.
    declared: Declared = field(default_factory=Declared)
    tf_version: str = ""

    def places(self, *signs: Sign) -> list[Sight]:
        return [sight for sight in self.sights if sight.sign in signs]

    def found(self, *codes: str) -> list[Finding]:
        """The findings of these rules that count: bad enough, and not refuted by a compiler."""
        return [
            f
            for f in self.findings
            if f.code.startswith(codes)
            and f.severity.rank >= self.least.rank
            and self.verdict(f) != "refuted"
        ]

    def verdict(self, finding: Finding) -> str | None:
        if self.verified is None:
            return None
        return self.verified.verdict(finding)

    @property
    def where(self) -> str:
        return shlex.join(self.paths)

    @property
    def has_tensorflow(self) -> bool:
        return bool(self.places(Sign.TENSORFLOW))

    @property
    def trains(self) -> bool:
        return bool(self.places(Sign.MODEL, Sign.OPTIMIZER, Sign.OWN_LOOP))


def judged(seen: Seen) -> tuple[Item, ...]:
    """Every item of the checklist, in the order in which one works through them."""
    return tuple(judge(seen) for judge in _JUDGES)


# --- items that rules decide -----------------------------------------------------------------------------------------


def _by_rules(key: str, title: str, *codes: str) -> Callable[[Seen], Item]:
    """An item that is done when check finds nothing of these rules."""

    def judge(seen: Seen) -> Item:
        return _ruled(seen, key, title, codes)

    return judge


def _ruled(seen: Seen, key: str, title: str, codes: tuple[str, ...]) -> Item:
    if not seen.has_tensorflow:
        return Item(key, title, State.NOT_APPLICABLE, (Evidence("no TensorFlow or Keras here"),))
    found = seen.found(*codes)
    select = f"xlalint check {seen.where} --select {','.join(codes)}"
    if found:
        return Item(key, title, State.TO_DO, _shown(seen, found), _mending(found, select))
    rules = [code for code in pages.codes() if code.startswith(codes)]
    if not rules:
        return Item(key, title, State.UNKNOWN, (Evidence("no rule looks at this yet"),))
    off = [code for code in rules if not seen.is_selected(code)]
    if len(off) == len(rules):
        told = Evidence(f"off in the settings: {', '.join(off)}")
        return Item(key, title, State.UNKNOWN, (told,), select)
    if seen.errors:
        unread = [Evidence(f"cannot be checked: {e.message}", e.path, e.line) for e in seen.errors]
        return Item(key, title, State.UNKNOWN, tuple(unread[:_MOST_SHOWN]), select)
    return Item(key, title, State.DONE, (Evidence(_nothing(seen, codes, off)),))


def _nothing(seen: Seen, codes: tuple[str, ...], off: Sequence[str]) -> str:
    refuted = sum(f.code.startswith(codes) and seen.verdict(f) == "refuted" for f in seen.findings)
    names = ", ".join(code if len(code) > 4 else f"{code}xx" for code in codes)
    also = f"; {refuted} refuted by the compiler" if refuted else ""
    without = f"; off in the settings: {', '.join(off)}" if off else ""
    return f"check finds nothing ({names}{also}{without})"


def _shown(seen: Seen, findings: Sequence[Finding]) -> tuple[Evidence, ...]:
    """The first findings, the worst before the others, and how many more there are."""
    ordered = sorted(findings, key=lambda f: -f.severity.rank)
    shown = [
        Evidence(
            f"{f.code} {f.message}"
            + (" (confirmed by the compiler)" if seen.verdict(f) == "confirmed" else ""),
            f.path,
            f.span.line,
            f.cell,
        )
        for f in ordered[:_MOST_SHOWN]
    ]
    if len(findings) > _MOST_SHOWN:
        shown.append(Evidence(f"and {len(findings) - _MOST_SHOWN} more"))
    return tuple(shown)


def _mending(findings: Sequence[Finding], select: str) -> str:
    """What to run next: the rewrites, where the rules have some."""
    has_fix = any(pages.load(f.code).fix in ("safe", "unsafe") for f in findings)
    return f"{select} --unsafe-fixes --diff" if has_fix else select


# --- items that need something to be there ---------------------------------------------------------------------------


def _setup(seen: Seen) -> Item:
    item = _ruled(
        seen, "setup", "The TPU is initialised and a TPUStrategy made", ("XLA503", "XLA504")
    )
    if item.state in (State.TO_DO, State.NOT_APPLICABLE):
        return item
    made = seen.places(Sign.TPU_STRATEGY)
    used = seen.places(Sign.SCOPE, Sign.REPLICAS)
    if not made and used and not seen.places(Sign.OTHER_STRATEGY):
        elsewhere = Evidence("a strategy is used here, and made in files that were not checked")
        advice = "xlalint ready . (or name the files that make the strategy, too)"
        return Item(item.key, item.title, State.UNKNOWN, (elsewhere, *_at(used)), advice)
    if not made:
        missing = Evidence("no TPUStrategy is made in these files")
        return Item(item.key, item.title, State.TO_DO, (missing,), _SETUP)
    return Item(item.key, item.title, State.DONE, (*_at(made), *_at(seen.places(Sign.TPU_SETUP))))


def _scope(seen: Seen) -> Item:
    item = _ruled(
        seen, "scope", "Model, optimizer and metrics are made inside strategy.scope()", ("XLA505",)
    )
    if item.state in (State.TO_DO, State.NOT_APPLICABLE) or not seen.trains:
        return _unless_training(seen, item)
    scopes = seen.places(Sign.SCOPE)
    if not scopes:
        missing = Evidence("nothing in these files enters strategy.scope()")
        return Item(item.key, item.title, State.TO_DO, (missing,), _SCOPE)
    return Item(item.key, item.title, item.state, _at(scopes))


def _batch(seen: Seen) -> Item:
    item = _ruled(
        seen,
        "batch",
        "The global batch is built from the number of replicas",
        ("XLA601", "XLA604", "XLA301"),
    )
    if item.state is not State.DONE or not seen.trains:
        return _unless_training(seen, item)
    counted = seen.places(Sign.REPLICAS)
    if not counted:
        missing = Evidence("nothing in these files reads strategy.num_replicas_in_sync")
        advice = "global_batch = batch_per_replica * strategy.num_replicas_in_sync"
        return Item(item.key, item.title, State.UNKNOWN, (missing,), advice)
    return Item(item.key, item.title, State.DONE, _at(counted))


def _rate(seen: Seen) -> Item:
    item = _ruled(
        seen,
        "rate",
        "Learning rate and loss are right for many replicas",
        ("XLA602", "XLA603", "XLA605"),
    )
    if item.state is not State.DONE or not seen.trains:
        return _unless_training(seen, item)
    if not seen.places(Sign.TPU_STRATEGY, Sign.SCOPE):
        early = Evidence("judged once there is a strategy to train under")
        return Item(item.key, item.title, State.UNKNOWN, (early,))
    return item


def _unless_training(seen: Seen, item: Item) -> Item:
    if item.state is State.DONE and not seen.trains:
        nothing = Evidence("no model is made or trained in these files")
        return Item(item.key, item.title, State.NOT_APPLICABLE, (nothing,))
    return item


def _data(seen: Seen) -> Item:
    where = "TPU node" if seen.target == _NODE else "TPU VM"
    title = f"The {where} can read the data"
    item = _ruled(seen, "data", title, ("XLA701", "XLA702"))
    if item.state in (State.TO_DO, State.NOT_APPLICABLE):
        return item
    if seen.target != _NODE:
        local = (
            "the program runs on the machine that has the TPU, and reads what that machine reads"
        )
        return Item(item.key, title, State.DONE, (Evidence(local),))
    files, buckets = seen.places(Sign.FILES), seen.places(Sign.BUCKET)
    if files and not buckets:
        open_ = Evidence(
            "nothing in these files names a bucket (gs://), which is all a TPU node reads"
        )
        return Item(item.key, title, State.UNKNOWN, (open_, *_at(files)), _COPY)
    return Item(item.key, title, item.state, (*item.evidence, *_at(buckets)), item.next)


def _versions(seen: Seen) -> Item:
    item = _ruled(seen, "versions", "The versions work together", ("XLA506",))
    if item.state is not State.DONE:
        return item
    report = seen.verified if seen.verified is not None and seen.verified.holds else None
    ran = report.versions if report is not None else ""
    if report is not None and ran and not seen.declared.allows(report.tensorflow):
        other = Evidence(f"verified with {ran}, which is another than what is declared")
        told = (*seen.declared.places[:_MOST_SHOWN], other)
        advice = f"# where what is declared is installed:\n{_command(seen)}"
        return Item(item.key, item.title, State.TO_DO, told, advice)
    if seen.declared.places:
        evidence = (*seen.declared.places[:_MOST_SHOWN], *item.evidence)
        return Item(item.key, item.title, State.DONE, evidence)
    if ran:
        alike = Evidence(f"verified with {ran}; the machine that has the TPU needs the same")
        return Item(item.key, item.title, State.DONE, (alike,))
    unsaid = Evidence(
        f"nothing says which TensorFlow this runs with; checked as for the newest known, {seen.tf_version}"
    )
    return Item(item.key, item.title, State.UNKNOWN, (unsaid,), _FREEZE)


def _at(sights: Sequence[Sight]) -> tuple[Evidence, ...]:
    return tuple(Evidence(s.sign.value, s.path, s.line, s.cell) for s in sights[:_MOST_SHOWN])


# --- items that verify decides ---------------------------------------------------------------------------------------


def _command(seen: Seen) -> str:
    """How to have it verified: with the program of the project, where there is one."""
    program = _program(seen)
    run = f" -- python {shlex.quote(program)}" if program.endswith(".py") else ""
    run = run or f" {shlex.quote(program) if program else seen.where}"
    return (
        f"xlalint verify --steps 5 --target tpu-v5e --format json{run} > verify.json\n"
        f"xlalint ready {seen.where} --verified verify.json"
    )


def _program(seen: Seen) -> str:
    """The file to run: of those that are programs, the one that shows most of a training."""
    programs = dict.fromkeys(sight.path for sight in seen.places(Sign.PROGRAM))
    signs = Counter(
        path
        for path, sign in {(sight.path, sight.sign) for sight in seen.sights}
        if path in programs and sign is not Sign.TENSORFLOW
    )
    return max(programs, key=lambda path: signs[path], default="")


def _by_verify(
    key: str, title: str, judge: Callable[[Verified], Item | None]
) -> Callable[[Seen], Item]:
    """An item that a report of verify decides; unknown without one, and when a file has changed since."""

    def judged_(seen: Seen) -> Item:
        if not seen.has_tensorflow:
            return Item(
                key, title, State.NOT_APPLICABLE, (Evidence("no TensorFlow or Keras here"),)
            )
        report = seen.verified
        if report is None:
            return Item(key, title, State.UNKNOWN, (Evidence("not verified yet"),), _command(seen))
        if report.is_foreign:
            other = Evidence(f"{report.path} is about other files")
            return Item(key, title, State.UNKNOWN, (other,), _command(seen))
        if report.outdated is not None:
            old = Evidence(f"{report.path} is older than this file", report.outdated)
            return Item(key, title, State.UNKNOWN, (old,), _command(seen))
        item = judge(report)
        if item is None:
            none = Evidence(f"{report.path} says nothing of this")
            return Item(key, title, State.UNKNOWN, (none,), _command(seen))
        return item

    return judged_


_COMPILES = "The compiled functions compile with XLA on this machine"
_STEPS = "A training step runs under a TPU strategy"
_FITS = "The step compiles for the TPU and fits its memory"


def _compiles(report: Verified) -> Item | None:
    failed = [t for t in report.targets if t["status"] == "failed"]
    passed = [t for t in report.targets if t["status"] == "ok"]
    if failed:
        evidence = tuple(_failed(t) for t in failed[:_MOST_SHOWN])
        return Item(
            "compiles",
            _COMPILES,
            State.TO_DO,
            evidence,
            "xlalint verify (its report names the lines)",
        )
    if not passed:
        return None
    evidence = tuple(
        _target(t, "compiles, and agrees with eager execution") for t in passed[:_MOST_SHOWN]
    )
    return Item("compiles", _COMPILES, State.DONE, evidence)


def _target(target: Mapping[str, Any], what: str) -> Evidence:
    return _placed(f"{target['function']} {what}", target)


def _failed(target: Mapping[str, Any]) -> Evidence:
    """A function that fails, and where and why, as far as the report tells."""
    failure = next((f for f in target.get("failures", ()) if f.get("path")), None)
    if failure is None:
        return _target(target, "fails")
    first, *_ = str(failure["message"]).splitlines() or [""]
    return _placed(f"{target['function']} fails: {_shortened(first)}", failure)


def _placed(text: str, place: Mapping[str, Any]) -> Evidence:
    return Evidence(text, place["path"] or "", place["line"], place.get("cell"))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _step(report: Verified) -> Item | None:
    runs = [run for run in report.training if str(run["strategy"]).startswith("tpu")]
    if not runs:
        return None
    good = all(run["status"] in ("stopped", "ended") and run["steps"] for run in runs)
    evidence = tuple(_run(run) for run in runs[:_MOST_SHOWN])
    advice = "" if good else "xlalint verify (its report says where the program stops)"
    return Item("step", _STEPS, State.DONE if good else State.TO_DO, evidence, advice)


def _run(run: Mapping[str, Any]) -> Evidence:
    told = f" ({_shortened(run['detail'])})" if run["detail"] else ""
    ended = _ENDED.get(run["status"], run["status"])
    return Evidence(
        f"{run['program']}: {run['steps']} steps on {run['replicas']} replicas, {ended}{told}"
    )


_ENDED = {"stopped": "then stopped as asked", "ended": "to its end"}


def _fits(report: Verified) -> Item | None:
    judged_ = [t for t in report.tpu if t["status"] not in ("unverified", "skipped")]
    if not judged_:
        return None
    evidence = tuple(_memory(t) for t in judged_[:_MOST_SHOWN])
    good = all(t["status"] == "compiles" and not _is_full(t) for t in judged_)
    advice = (
        "" if good else "a smaller batch per replica, mixed_bfloat16, or a TPU with more memory"
    )
    return Item("memory", _FITS, State.DONE if good else State.TO_DO, evidence, advice)


def _memory(one: Mapping[str, Any]) -> Evidence:
    if one["status"] != "compiles":
        why = f" ({_shortened(one['message'])})" if one["message"] else ""
        return _placed(f"{one['function']} on {one['target']}: {one['status']}{why}", one)
    share = (
        f"{one['peak'] / _GIB:.2f} of {one['hbm'] / _GIB:.1f} GiB of memory"
        if one["hbm"]
        else "of unknown memory"
    )
    full = ", nearly full" if _is_full(one) else ""
    return Evidence(f"{one['function']} on {one['target']}: {share}{full}")


def _is_full(one: Mapping[str, Any]) -> bool:
    return bool(one["hbm"]) and one["peak"] > _FULL * one["hbm"]


_JUDGES: tuple[Callable[[Seen], Item], ...] = (
    _by_rules("conditionals", "Rule 1: no data-dependent conditionals", "XLA1"),
    _by_rules("shapes", "Rule 2: no data-dependent shapes", "XLA2"),
    _by_rules("recompiles", "Rule 3: no new input shapes, step after step", "XLA3"),
    _by_rules("operations", "Operations and dtypes that a TPU runs", "XLA4"),
    _by_verify("compiles", _COMPILES, _compiles),
    _data,
    _setup,
    _scope,
    _by_rules("eager", "Steps run inside tf.function", "XLA502"),
    _batch,
    _rate,
    _by_rules("jit", "jit_compile=True is taken out again", "XLA501"),
    _versions,
    _by_verify("step", _STEPS, _step),
    _by_verify("memory", _FITS, _fits),
)
