"""`verify --target`: what check knows (`tpu-vm`), or TPUs by generation and slice, which the TPU compiler is asked about."""

from __future__ import annotations

from typing import Any

import click

from xlalint.project.settings import TARGETS
from xlalint.tpu import targets

# Where the generations among the targets are kept for the command.
_META = "xlalint.tpu-targets"
# What check is told when the target is a generation: the machine that such TPUs come with.
_MACHINE = "tpu-vm"


class VerifyTarget(click.Choice[str]):
    """A target of check, or a list of TPU generations and slices between commas."""

    def __init__(self) -> None:
        super().__init__(TARGETS)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "[cpu|gpu|tpu-vm|tpu-node|tpu-v5e,...]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not targets.is_generation(str(value)):
            return str(super().convert(value, param, ctx))
        try:
            named = targets.parse_list(str(value))
        except targets.TargetError as error:
            self.fail(str(error), param, ctx)
        if ctx is not None:
            ctx.meta[_META] = tuple(one.name for one in named)
        return _MACHINE


def slice_replicas() -> int:
    """Of the first slice of several chips among the targets; 0 where each is a single chip."""
    found = (targets.parse(name) for name in _named())
    return next((one.replicas for one in found if one.chips > 1), 0)


def job(limits: Any, searches: bool) -> Any:
    """What the TPU compiler is to be asked. Raises click.ClickException, before any work starts, where it cannot be."""
    from xlalint.tpu import installed
    from xlalint.verify.jobs import TpuJob

    names = _named()
    if not names:
        return TpuJob()
    try:
        found = installed.find()
    except installed.Missing as error:
        raise click.ClickException(str(error)) from error
    return TpuJob(
        targets=names,
        library=str(found.library),
        version=found.version,
        seconds=limits.wall,
        memory_mb=limits.memory_mb,
        searches=searches,
    )


def _named() -> tuple[str, ...]:
    """The TPUs that the running command's `--target` names; none where it names a kind of machine."""
    found: tuple[str, ...] = click.get_current_context().meta.get(_META, ())
    return found
