"""What a run of `xlalint verify --format json` has shown, read back from its report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xlalint.finding import Finding
from xlalint.project.files import SourceFile


class ReportError(Exception):
    """A file that is no report of verify. The message names it and says why."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A report. `outdated` names a file that has changed since it was written; None where none has.

    `is_foreign`: nothing in it is about the files of the checklist.
    """

    path: str
    document: Mapping[str, Any]
    outdated: str | None = None
    is_foreign: bool = False

    @property
    def holds(self) -> bool:
        """Whether it is about these files as they are."""
        return self.outdated is None and not self.is_foreign

    @property
    def versions(self) -> str:
        """`TensorFlow 2.21.0 and Keras 3.15.1`: what it ran with; empty where it does not say."""
        named = (("TensorFlow", "tensorflow"), ("Keras", "keras"), ("tf_keras", "tf_keras"))
        ran = self._environment
        return " and ".join(f"{name} {ran[key]}" for name, key in named if ran.get(key))

    @property
    def tensorflow(self) -> str:
        """The version of TensorFlow that it ran with; empty where it does not say."""
        return str(self._environment.get("tensorflow", ""))

    @property
    def _environment(self) -> Mapping[str, Any]:
        told = self.document.get("environment")
        return told if isinstance(told, dict) else {}

    @property
    def targets(self) -> list[Mapping[str, Any]]:
        """The compiled functions, with `function`, `path`, `line`, `status`, `checks`."""
        return list(self.document["targets"])

    @property
    def training(self) -> list[Mapping[str, Any]]:
        """The training runs, with `program`, `strategy`, `replicas`, `status`, `steps`."""
        return list(self.document["training"])

    @property
    def tpu(self) -> list[Mapping[str, Any]]:
        """What the TPU compiler said, with `function`, `target`, `status`, `peak` and `hbm` in bytes."""
        return list(self.document["tpu"])

    def verdict(self, wanted: Finding) -> str | None:
        """What became of a finding: `confirmed`, `refuted`, `not reached`; None where the report does not hold it."""
        place = (wanted.code, wanted.cell, wanted.span.line)
        for finding in self.document["findings"]:
            told = (finding["code"], finding.get("cell"), finding["line"])
            if told == place and _same(finding["path"], wanted.path):
                return str(finding["verdict"])
        return None


def read(path: str, files: Iterable[SourceFile]) -> Verified:
    """The report at `path`, and whether one of the files is newer.

    Raises:
        ReportError: there is no such file, or it is no report of verify.
    """
    file = Path(path)
    try:
        written = file.stat().st_mtime
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise ReportError(f"{path}: not JSON ({error})") from error
    if not isinstance(document, dict) or not all(
        isinstance(document.get(key), list) for key in ("targets", "findings", "training", "tpu")
    ):
        raise ReportError(f"{path}: not a report of `xlalint verify --format json`")
    checked = [file for file in files if file.text is None]
    newer = (f.display for f in checked if f.path.stat().st_mtime > written)
    return Verified(path, document, next(newer, None), _is_foreign(document, checked))


def _is_foreign(document: Mapping[str, Any], files: Iterable[SourceFile]) -> bool:
    """Whether a report names places, and none of them is in these files."""
    named = [one["path"] for key in ("targets", "findings") for one in document[key]]
    programs = [part for run in document["training"] for part in str(run["program"]).split()]
    told = {Path(one).resolve() for one in (*named, *programs) if one}
    return bool(told) and not any(file.path in told for file in files)


def _same(one: str, other: str) -> bool:
    return one == other or Path(one).resolve() == Path(other).resolve()
