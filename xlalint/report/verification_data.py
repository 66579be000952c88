"""What `xlalint verify` found as plain data, for JSON: the keys are a contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xlalint.finding import Finding
from xlalint.fixes.proof import Proof
from xlalint.report import recompiles, tpu
from xlalint.report.advice import advice
from xlalint.report.json import error_data, finding_data
from xlalint.report.places import relative
from xlalint.verify.records import (
    FAILED,
    IMPOSSIBLE,
    OK,
    SKIPPED,
    UNFIT,
    Failure,
    Place,
    TargetReport,
    TrainingReport,
)
from xlalint.verify.verdicts import CONFIRMED, NOT_REACHED, REFUTED, Verdict
from xlalint.verify.verification import Verification

SCHEMA_VERSION = 1


def as_data(result: Verification) -> dict[str, Any]:
    """The object that is written as JSON."""
    return {
        "schema_version": SCHEMA_VERSION,
        "environment": asdict(result.environment),
        "targets": [_target_data(target, result) for target in result.targets],
        "findings": [_verdict_data(one, result.proofs) for one in result.verdicts],
        "not_found_by_check": [
            {
                "function": target.function,
                **_failure_data(failure, result),
            }
            for target, failure in result.unclaimed
        ],
        "training": [_training_data(training, result) for training in result.trainings],
        "recompiles": [
            recompiles.data(found, lambda path: relative(path, result.folder))
            for found in result.recompiles
        ],
        "tpu": [
            tpu.data(outcome, target.function, lambda path: relative(path, result.folder))
            for target in result.targets
            for outcome in target.tpu
        ],
        "broken": [
            {"what": one.what, "message": one.message, **_place_data(one.place, result.folder)}
            for one in result.broken
        ],
        "errors": [error_data(error) for error in result.errors],
        "notes": list(result.notes),
        "summary": summary(result),
    }


def _target_data(target: TargetReport, result: Verification) -> dict[str, Any]:
    return {
        "function": target.function,
        "path": relative(target.path, result.folder),
        "line": target.line,
        "origin": target.origin,
        "status": target.status,
        "checks": {
            stage.name: {
                "status": stage.status,
                "seconds": round(stage.seconds, 3),
                "detail": stage.detail,
            }
            for stage in target.stages
        },
        "failures": [_failure_data(failure, result) for failure in target.failures],
        "calls": target.calls,
        "traces": target.traces,
        "compiles": target.compiles,
        "compiled_per_value": target.evidence.compiled_per_value,
        "value_compiles": {"other_values": target.values_tried, "compiles": target.value_compiles},
        "inputs": target.inputs,
        "notes": list(target.notes),
    }


def _failure_data(failure: Failure, result: Verification) -> dict[str, Any]:
    caller = failure.called_from
    return {
        "stage": failure.stage,
        "kind": failure.kind,
        "message": failure.message,
        "op": failure.op or None,
        **_place_data(failure.place, result.folder),
        "called_from": None if caller is None else _place_data(caller, result.folder),
        "frames": [
            {"function": frame.function, **_place_data(frame, result.folder)}
            for frame in failure.frames
        ],
        **_advice_data(failure, result),
    }


def _advice_data(failure: Failure, result: Verification) -> dict[str, Any]:
    found = advice(failure, result)
    return {
        "rule": None if found is None else found.code or None,
        "explanation": None if found is None else found.says,
        "instead": None if found is None else found.instead or None,
    }


def _place_data(place: Place | None, folder: Path) -> dict[str, Any]:
    if place is None:
        return {"path": None, "line": 0, "column": 0}
    return {"path": relative(place.path, folder), "line": place.line, "column": place.column}


def _verdict_data(one: Verdict, proofs: Mapping[Finding, Proof]) -> dict[str, Any]:
    proof = proofs.get(one.finding)
    return {
        **finding_data(one.finding),
        "proof": None if proof is None else proof.as_dict(),
        "verdict": one.verdict,
        "evidence": one.evidence,
        "target": one.target or None,
    }


def _training_data(training: TrainingReport, result: Verification) -> dict[str, Any]:
    return {
        "program": training.program,
        "strategy": training.strategy,
        "replicas": training.replicas,
        "status": training.status,
        "steps": training.steps,
        "losses": list(training.losses),
        "seconds": round(training.seconds, 3),
        "compiles": dict(training.compiles),
        "events": list(training.events),
        "checks": {
            check.name: {"status": check.status, "detail": check.detail}
            for check in training.checks
        },
        "detail": training.detail,
        "failure": None if training.failure is None else _failure_data(training.failure, result),
    }


def summary(result: Verification) -> dict[str, Any]:
    return {
        "targets": _tally([target.status for target in result.targets], (OK, FAILED, SKIPPED)),
        "findings": _tally(
            [one.verdict for one in result.verdicts], (CONFIRMED, REFUTED, NOT_REACHED)
        ),
        "training": _tally(
            [training.status for training in result.trainings],
            ("stopped", "ended", UNFIT, IMPOSSIBLE, FAILED),
        ),
        "interrupted": result.interrupted,
    }


def _tally(values: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    return {name: values.count(name) for name in names}
