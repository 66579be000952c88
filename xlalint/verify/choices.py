"""The names that `--strategy` takes, and how many devices, workers or replicas each may have.

`parse("mirrored:4,multi-worker")` reads them; nothing here imports TensorFlow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xlalint.verify import jobs


@dataclass(frozen=True, slots=True)
class Kind:
    """A strategy of tf.distribute: the words for what it counts, and how many by default, at least and at most.

    `class_names` are what programs call it. `is_cluster` means that it needs processes beside the program's own;
    `is_compiled` that XLA can compile its steps on CPUs: of one device alone it can.
    """

    counted: str
    default: int
    least: int
    most: int
    class_names: tuple[str, ...] = ()
    is_cluster: bool = False
    is_compiled: bool = False


KINDS: Mapping[str, Kind] = {
    jobs.AS_IS: Kind("", 1, 1, 1, is_compiled=True),
    jobs.ONE_DEVICE: Kind("device", 1, 1, 1, ("OneDeviceStrategy",), is_compiled=True),
    jobs.MIRRORED: Kind("devices", 2, 2, 8, ("MirroredStrategy",)),
    jobs.MULTI_WORKER: Kind("workers", 2, 2, 4, ("MultiWorkerMirroredStrategy",), is_cluster=True),
    jobs.CENTRAL_STORAGE: Kind("devices", 2, 2, 8, ("CentralStorageStrategy",)),
    jobs.PARAMETER_SERVER: Kind(
        "workers",
        2,
        1,
        4,
        ("ParameterServerStrategy", "ParameterServerStrategyV2"),
        is_cluster=True,
    ),
    jobs.STANDIN: Kind("replicas", 8, 1, 2048, ("TPUStrategy",), is_compiled=True),
}
NAMES = tuple(KINDS)


@dataclass(frozen=True, slots=True)
class Choice:
    """One strategy to train under. `is_counted` means that the user said how many, `is_asked` that the user named it."""

    name: str
    count: int
    is_counted: bool = False
    is_asked: bool = False

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]


def parse(text: str) -> tuple[Choice, ...]:
    """The choices in `name[:count],...`, each once.

    Raises ValueError for an unknown name or a count that the strategy does not take; the message says which there are.
    """
    return tuple(dict.fromkeys(_parse_one(part.strip()) for part in text.split(",")))


def default(name: str) -> Choice:
    """A strategy that nobody asked for, with its usual count."""
    return Choice(name, KINDS[name].default)


def check(name: str, count: int) -> None:
    """Raise ValueError unless the strategy exists and takes that many."""
    kind = KINDS.get(name)
    if kind is None:
        raise ValueError(f"unknown strategy {name!r}: one of {', '.join(NAMES)}")
    if not kind.least <= count <= kind.most:
        raise ValueError(f"{name} takes {_range(kind)}, not {count}")


def _parse_one(text: str) -> Choice:
    name, colon, count = text.partition(":")
    if name not in KINDS:
        raise ValueError(f"{name!r} is not one of {', '.join(NAMES)}")
    kind = KINDS[name]
    if not colon:
        return Choice(name, kind.default, is_asked=True)
    if kind.most == 1:
        raise ValueError(f"{name} takes no number")
    if not count.isascii() or not count.isdecimal():
        raise ValueError(f"{text!r}: {name} takes {_range(kind)}, as in {name}:{kind.default}")
    check(name, int(count))
    return Choice(name, int(count), is_counted=True, is_asked=True)


def _range(kind: Kind) -> str:
    return (
        f"{kind.least} {kind.counted}"
        if kind.least == kind.most
        else f"{kind.least} to {kind.most} {kind.counted}"
    )
