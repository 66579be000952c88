"""Where libtpu is, which version it is, and whether it can read what a version of TensorFlow lowers. Loads nothing."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path

# Measured: older ones reject or abort on the HLO of these and later TensorFlows (64-bit instruction ids since 2.19).
_OLDEST = {(2, 19): (0, 0, 30), (2, 0): (0, 0, 7)}


class Missing(Exception):  # noqa: N818 - a state of the world, not a bug
    """The TPU compiler cannot be used here; the message says what would do."""


@dataclass(frozen=True, slots=True)
class Installed:
    """libtpu's shared library and version."""

    library: Path
    version: str


def find() -> Installed:
    """The installed libtpu. Raises Missing."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        raise Missing("Google's TPU compiler (libtpu) runs on x86-64 Linux only")
    spec = importlib.util.find_spec("libtpu")
    if spec is None or spec.origin is None:
        raise Missing(
            "tpu targets need Google's TPU compiler: pip install 'xlalint[tpu]' (libtpu is proprietary, under the Google "
            "Cloud Platform terms of service; it is yours to install and is never shipped with xlalint)"
        )
    library = Path(spec.origin).with_name("libtpu.so")
    if not library.is_file():
        raise Missing(f"{library} is missing: reinstall libtpu")
    return Installed(library, importlib.metadata.version("libtpu"))


def why_not(installed: Installed, tensorflow: str) -> str:
    """Why this libtpu cannot read what this TensorFlow lowers; empty where it can, as far as was measured."""
    wanted = _numbers(tensorflow)[:2]
    oldest = next(least for since, least in _OLDEST.items() if wanted >= since or since == (2, 0))
    if _numbers(installed.version) >= oldest:
        return ""
    return (
        f"libtpu {installed.version} cannot read what TensorFlow {tensorflow} lowers: "
        f"{'.'.join(map(str, oldest))} or later can (pip install -U libtpu)"
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])
