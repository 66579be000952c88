"""Where libtpu is, which version it is, and whether it can read what a version of TensorFlow lowers. Loads nothing."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path

# From which TensorFlow on which libtpu is the oldest, newest first. Measured: before 0.0.24 the compiler aborts on the 64-bit
# instruction ids of later TensorFlows, before 0.0.21 it does not tell the peak of memory.
OLDEST = (((2, 19), (0, 0, 24)), ((2, 12), (0, 0, 21)))


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
    oldest = next((least for since, least in OLDEST if wanted >= since), None)
    if oldest is None:
        return f"the TPU compiler needs TensorFlow 2.12 or later, not {tensorflow}"
    if _numbers(installed.version) >= oldest:
        return ""
    return (
        f"libtpu {installed.version} does not work with TensorFlow {tensorflow}: "
        f"{'.'.join(map(str, oldest))} or later does (pip install -U libtpu)"
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])
