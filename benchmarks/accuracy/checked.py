"""What `xlalint check` finds in a pinned package, and which packages are pinned."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from packages import Package

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# By the value of TF_USE_LEGACY_KERAS.
_KERAS = {1: "2", 0: "3"}
_CHECKOUT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True, slots=True)
class Pin:
    """A package of packages.toml: `pin` is NAME==VERSION, `tensorflow` the version that it is written for.

    `half` is `tuned` or `held-out`, `folder` the name that it is imported by, `keras` the Keras that its code runs with
    where its environment says so (`2` or `3`).
    """

    name: str
    pin: str
    tensorflow: str
    half: str
    folder: str
    keras: str | None


@dataclass(frozen=True, slots=True)
class Checked:
    """What check found in a package, as its JSON report says it, and the seconds (wall clock) that it took."""

    findings: tuple[dict[str, Any], ...]
    errors: tuple[dict[str, Any], ...]
    seconds: float


class CannotCheckError(Exception):
    """The check of a package came to no report; the text says why."""


def pins(path: Path) -> list[Pin]:
    """The packages of a packages.toml, in its order."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["package"]
    return [
        Pin(
            entry["name"],
            f"{entry['name']}=={entry['version']}",
            entry["tensorflow"],
            entry.get("half", "tuned"),
            entry.get("import", entry["name"]),
            _KERAS.get(entry.get("legacy_keras")),
        )
        for entry in entries
    ]


def check(package: Package, pin: Pin, checkout: Path = _CHECKOUT) -> Checked:
    """The report of `xlalint check`, as the sources in `checkout` make it.

    Raises:
        CannotCheckError: there is no report.
    """
    command = [sys.executable, "-m", "xlalint", "check", ".", "--no-cache", "--exit-zero"]
    command += ["--format", "json", "--tf-version", pin.tensorflow]
    command += ["--keras", pin.keras] if pin.keras is not None else []
    started = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=package.folder,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - started
    if not done.stdout:
        raise CannotCheckError(f"{package.name}: {done.stderr}")
    report = json.loads(done.stdout)
    return Checked(tuple(report["findings"]), tuple(report["errors"]), seconds)
