"""Compile serialized HLO for a TPU slice, in a process of its own that may crash, and keep what came of it.

The quick level gives the verdict in an eighth of the time, but schedules so that it may run out of memory where the
default does not (measured: ResNet-50 at batch 512), so an overflow, or a peak near the limit, is tried again at the default.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from xlalint.isolation import sandbox
from xlalint.project import cache
from xlalint.tpu import roofline
from xlalint.tpu.budget import Budget
from xlalint.tpu.installed import Installed
from xlalint.tpu.module import fingerprint
from xlalint.tpu.program import Collectives, DataSized, Emulated, Padding, Waste
from xlalint.tpu.statuses import COMPILES, OVERFLOWS, UNVERIFIED, status_of
from xlalint.tpu.targets import Target

QUICK, DEFAULT = 9, None
# A quick compile's peak above this share of the memory is confirmed at the default level.
_NEARLY_FULL = 0.85
_CHILD = (*sandbox.BEGIN, "xlalint.tpu.work")
_FORMAT = 4
_SUSPECT = re.compile(r"Suspected Python Code Location:\s*(\S+?):(\d+)")
_NO_TIME = "no time was left for the TPU compiler (--timeout)"


@dataclass(frozen=True, slots=True)
class Result:
    """What the compiler of one target made of one program.

    `status` is COMPILES, REJECTED, OVERFLOWS (more memory than a chip has), or UNVERIFIED: it could not be asked, and
    `message` says why. Sizes are bytes on one device: `memory` by name (`argument`, `output`, `alias`, `temp`, `peak`),
    `hbm` the device's own. `level` is QUICK or DEFAULT. `path` and `line` are where the compiler suspects the fault.
    """

    target: Target
    status: str
    message: str = ""
    path: str = ""
    line: int = 0
    level: int | None = QUICK
    compiles: int = 1
    seconds: float = 0.0
    hbm: int = 0
    memory: dict[str, int] | None = None
    flops: float = 0.0
    bytes_accessed: float = 0.0
    padding: Padding | None = None
    emulated: tuple[Emulated, ...] = ()
    products: tuple[tuple[str, int], ...] = ()
    repeated: tuple[str, int] = ("", 0)
    data_sized: tuple[DataSized, ...] = ()
    collectives: Collectives | None = None

    @property
    def peak(self) -> int:
        return (self.memory or {}).get("peak", 0)

    @property
    def bound(self) -> roofline.Bound | None:
        """A lower bound of the step's time; None where nothing was compiled."""
        if self.memory is None:
            return None
        return roofline.bound(
            self.target.generation,
            flops=self.flops,
            moved_bytes=self.memory["argument"] + self.memory["output"],
            reduced_bytes=self.collectives.bytes if self.collectives else 0,
            replicas=self.target.replicas,
        )


@dataclass(frozen=True, slots=True)
class Compiler:
    """libtpu, and what its compilations may use."""

    installed: Installed
    budget: Budget = field(default_factory=Budget)
    use_cache: bool = True

    def compile(self, hlo: bytes, target: Target, replicas: int | None = None) -> Result:
        """`hlo` is a serialized HloModuleProto for one of `replicas` (of all of the target's, if not said)."""
        count = target.replicas if replicas is None else replicas
        quick = self._at(hlo, target, count, QUICK)
        is_full = quick.status == OVERFLOWS or (
            quick.hbm > 0 and quick.peak > _NEARLY_FULL * quick.hbm
        )
        if not is_full:
            return quick
        settled = self._at(hlo, target, count, DEFAULT)
        if settled.status == UNVERIFIED:
            return _unsettled(quick, settled)
        return replace(settled, compiles=2, seconds=quick.seconds + settled.seconds)

    def _at(self, hlo: bytes, target: Target, replicas: int, level: int | None) -> Result:
        key = self._key(hlo, target, replicas, level)
        kept = cache.load(key) if self.use_cache else None
        record = json.loads(kept) if kept is not None else None
        if record is None:
            record = self._ask(hlo, target, replicas, level, key if self.use_cache else "")
        return _result(record, target, level)

    def _ask(
        self, hlo: bytes, target: Target, replicas: int, level: int | None, key: str
    ) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="xlalint-tpu-") as folder:
            program, job = Path(folder) / "program.hlo", Path(folder) / "job.json"
            program.write_bytes(hlo)
            job.write_text(
                json.dumps(
                    {
                        "library": str(self.installed.library),
                        "hlo": str(program),
                        "topology": target.topology,
                        "options": target.options,
                        "memory": target.generation.memory,
                        "replicas": replicas,
                        "level": level,
                        "key": key,
                    }
                ),
                encoding="utf-8",
            )
            with self.budget.turn() as has_come:
                if not has_come or not self.budget.seconds:
                    return {"kind": "unusable", "message": _NO_TIME}
                command = [sys.executable, *_CHILD, str(job)]
                outcome = sandbox.run(command, limits=self.budget.limits, env={})
        for record in outcome.records:
            if record["kind"] in ("compiled", "rejected", "unusable"):
                return record
        why = outcome.abort_message or f"the TPU compiler {outcome.describes}"
        return {"kind": "unusable", "message": why}

    def _key(self, hlo: bytes, target: Target, replicas: int, level: int | None) -> str:
        about = f"tpu {_FORMAT} {self.installed.version} {target.topology} {target.options} {replicas} {level}"
        return hashlib.sha256(f"{about} {fingerprint(hlo)}".encode()).hexdigest()


def _unsettled(quick: Result, settled: Result) -> Result:
    """The quick level's word where the default level could not be asked: of an overflow it is none."""
    told = f"not confirmed at the compiler's default level: {settled.message}"
    if quick.status != OVERFLOWS:
        return replace(quick, message=told)
    return replace(quick, status=UNVERIFIED, message=f"does not fit at the quick level; {told}")


def _result(record: dict[str, Any], target: Target, level: int | None) -> Result:
    if record["kind"] == "unusable":
        return Result(target, UNVERIFIED, record["message"], level=level)
    if record["kind"] == "rejected":
        return _rejected(record, target, level)
    padding = record["padding"]
    return Result(
        target=target,
        status=COMPILES,
        level=level,
        seconds=record["cpu_seconds"],
        hbm=record["hbm"],
        memory=record["memory"],
        flops=record["flops"],
        bytes_accessed=record["bytes_accessed"],
        padding=Padding(
            padding["bytes"],
            padding["padded_bytes"],
            tuple(Waste(**one) for one in padding["worst"]),
        ),
        emulated=tuple(Emulated(**one) for one in record["emulated"]),
        products=tuple((dtype, count) for dtype, count in record["products"]),
        repeated=(record["repeated"][0], record["repeated"][1]),
        data_sized=tuple(DataSized(**one) for one in record["data_sized"]),
        collectives=Collectives(**record["collectives"]),
    )


def _rejected(record: dict[str, Any], target: Target, level: int | None) -> Result:
    message = record["message"].strip()
    suspect = _SUSPECT.search(message)
    status, about = status_of(record["code"], message)
    return Result(
        target,
        status,
        about + _SUSPECT.sub("", message).strip(),
        path=suspect[1] if suspect else "",
        line=int(suspect[2]) if suspect else 0,
        level=level,
        hbm=record["hbm"],
    )
