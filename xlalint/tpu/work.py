"""What the compiling process does with its job: load libtpu, compile, look at the result, report it as one JSON line."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xlalint.isolation import wire
from xlalint.isolation.channel import Channel
from xlalint.project import cache
from xlalint.tpu import program
from xlalint.tpu.budget import make_places
from xlalint.tpu.module import read
from xlalint.tpu.options import compile_options
from xlalint.tpu.pjrt import Executable, Library, LibraryError, PjrtError

_HBM = "device_memory_bytes_limit"


def main(job_file: str) -> None:
    """Do the job and leave without Python's shutdown: libtpu's threads may hang it."""
    channel = Channel()
    job: dict[str, Any] = json.loads(Path(job_file).read_text(encoding="utf-8"))
    make_places()
    record = _compiled(job)
    channel.emit(record)
    # Kept by this process: where a user's program runs, what is written goes elsewhere.
    if job["key"] and record["kind"] != "unusable":
        cache.store(job["key"], json.dumps(record).encode())
    channel.emit({"kind": wire.END})
    os._exit(0)


def _compiled(job: dict[str, Any]) -> dict[str, Any]:
    try:
        library = Library(Path(job["library"]))
        topology = library.topology(job["topology"], job["options"])
    except (LibraryError, PjrtError) as error:
        return {"kind": "unusable", "message": str(error)}
    hbm = int(topology.attributes.get(_HBM, job["memory"]))
    hlo = Path(job["hlo"]).read_bytes()
    devices = list(topology.devices[: job["replicas"]])
    if len(devices) < job["replicas"]:
        message = f"{job['topology']} has {len(topology.devices)} devices, too few for {job['replicas']} replicas"
        return {"kind": "unusable", "message": message}
    started, used = time.monotonic(), time.process_time()
    try:
        made = library.compile(topology, hlo, compile_options(len(devices), devices, job["level"]))
    except PjrtError as error:
        return {"kind": "rejected", "code": error.code, "message": str(error), "hbm": hbm}
    record = {
        "kind": "compiled",
        "hbm": hbm,
        "seconds": time.monotonic() - started,
        "cpu_seconds": time.process_time() - used,
    }
    return {**record, **_described(made, hlo)}


def _described(made: Executable, hlo: bytes) -> dict[str, Any]:
    optimized, source = read(made.optimized, with_config=True), read(hlo)
    return {
        "memory": dict(made.memory),
        "flops": made.costs.get("flops", 0.0),
        "bytes_accessed": made.costs.get("bytes accessed", 0.0),
        "padding": asdict(program.padding(optimized)),
        "emulated": [asdict(one) for one in program.emulated(source)],
        "products": program.products(source),
        "repeated": program.repeated(source),
        "data_sized": [asdict(one) for one in program.data_sized(source)],
        "collectives": asdict(program.collectives(optimized)),
    }
