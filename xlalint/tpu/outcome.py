"""What is reported of one program on one target: plain data, made of JSON types, which the child writes and the parent reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from xlalint.tpu.batch import Largest
from xlalint.tpu.compiler import QUICK, Result
from xlalint.tpu.program import DataSized, Emulated, Waste


@dataclass(frozen=True, slots=True)
class Outcome:
    """Sizes in bytes on one device, per replica and step. `status` and the rest as in `compiler.Result`.

    `alias` is the part of `output` that overwrites arguments (donated variables). `level` is `quick` or `default`.
    `products` counts those of each element type, `repeated` is the operation that the program holds most often, and how often.
    `bound_seconds` is a lower bound of the step's time, set by `limited_by`. `padding_share` of the arrays in HBM is padding
    (0 to 1). `batch` is the per-replica batch that was compiled, None where the program has none. `note` says what was
    compiled where that is not what the target would run. `reduced` are the bytes that a replica hands over to the `collectives`.
    """

    target: str
    chips: int
    replicas: int
    status: str
    message: str = ""
    path: str = ""
    line: int = 0
    level: str = "quick"
    compiles: int = 1
    cpu_seconds: float = 0.0
    hbm: int = 0
    argument: int = 0
    output: int = 0
    alias: int = 0
    temporary: int = 0
    peak: int = 0
    flops: float = 0.0
    bytes_accessed: float = 0.0
    bound_seconds: float = 0.0
    limited_by: str = ""
    collectives: int = 0
    reduced: int = 0
    collective_share: float = 0.0
    padding_share: float = 0.0
    wasted: tuple[Waste, ...] = ()
    emulated: tuple[Emulated, ...] = ()
    products: tuple[tuple[str, int], ...] = ()
    repeated: tuple[str, int] = ("", 0)
    data_sized: tuple[DataSized, ...] = ()
    batch: int | None = None
    note: str = ""
    is_step: bool = False
    largest: Largest | None = None


def outcome_of(result: Result, replicas: int, batch: int | None) -> Outcome:
    base = Outcome(
        target=result.target.name,
        chips=result.target.chips,
        replicas=replicas,
        status=result.status,
        message=result.message,
        path=result.path,
        line=result.line,
        level="quick" if result.level == QUICK else "default",
        compiles=result.compiles,
        cpu_seconds=result.seconds,
        hbm=result.hbm,
        batch=batch,
    )
    bound = result.bound
    if result.memory is None or bound is None:
        return base
    return replace(
        base,
        argument=result.memory["argument"],
        output=result.memory["output"],
        alias=result.memory["alias"],
        temporary=result.memory["temp"],
        peak=result.memory["peak"],
        flops=result.flops,
        bytes_accessed=result.bytes_accessed,
        bound_seconds=bound.step,
        limited_by=bound.limited_by,
        collectives=result.collectives.count if result.collectives else 0,
        reduced=result.collectives.bytes if result.collectives else 0,
        collective_share=bound.collective_share,
        padding_share=result.padding.share if result.padding else 0.0,
        wasted=result.padding.worst if result.padding else (),
        emulated=result.emulated,
        products=result.products,
        repeated=result.repeated,
        data_sized=result.data_sized,
    )


def outcome_from(data: Mapping[str, Any]) -> Outcome:
    """What `dataclasses.asdict` made of an Outcome, read again."""
    largest = data["largest"]
    return Outcome(
        **{
            **data,
            "wasted": tuple(Waste(**one) for one in data["wasted"]),
            "emulated": tuple(Emulated(**one) for one in data["emulated"]),
            "products": tuple((dtype, count) for dtype, count in data["products"]),
            "repeated": tuple(data["repeated"]),
            "data_sized": tuple(DataSized(**one) for one in data["data_sized"]),
            "largest": None if largest is None else Largest(**largest),
        }
    )
