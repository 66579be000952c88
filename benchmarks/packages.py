"""The pinned packages that the benchmarks read: downloaded once, unpacked, never installed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

_PINS = Path(__file__).resolve().parent / "packages.txt"


@dataclass(frozen=True)
class Package:
    """An unpacked wheel: `name` with its version, the folder it lies in, its Python files and their lines."""

    name: str
    folder: Path
    files: tuple[Path, ...]
    lines: int


def pinned() -> list[str]:
    """`NAME==VERSION` of every package in packages.txt, in its order."""
    lines = _PINS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def fetch(pin: str, cache: Path) -> Package:
    """The package of `pin`, from `cache` or downloaded into it.

    Raises:
        CalledProcessError: pip cannot download it.
    """
    wheel = _wheel(pin, cache / "wheels")
    name = pin.replace("==", "-")
    folder = cache / "sources" / name
    if not folder.is_dir():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    files = tuple(sorted(folder.rglob("*.py")))
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    return Package(name, folder, files, lines)


def _wheel(pin: str, wheels: Path) -> Path:
    name, version = pin.split("==")
    pattern = f"{name}-{version}-*.whl"
    if not any(wheels.glob(pattern)):
        wheels.mkdir(parents=True, exist_ok=True)
        # Wheels are only read, so one for any Python will do: 3.11 has one of every package here.
        options = ("--no-deps", "--only-binary=:all:", "--python-version", "3.11", "--dest")
        command = (
            *(sys.executable, "-m", "pip", "download", "--quiet", "--ignore-requires-python"),
            *(*options, str(wheels), pin),
        )
        done = subprocess.run(command, check=False)
        # Having saved a wheel, pip reads what it requires, and fails where that is none of its business.
        if done.returncode and not any(wheels.glob(pattern)):
            raise subprocess.CalledProcessError(done.returncode, command)
    return sorted(wheels.glob(pattern))[0]
