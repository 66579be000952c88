"""Which TensorFlow an interpreter has, read from its folders: the claims of check must be about the one that runs them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from xlalint.project import versions
from xlalint.project.settings import Settings

_DISTRIBUTION = re.compile(
    r"^tensorflow(?:_cpu|_gpu|_intel|_macos|_tpu)?-(\d+\.\d+)[.\d]*.*\.dist-info$"
)
_YES = frozenset({"1", "true"})


def tensorflow_of(python: str) -> str | None:
    """The minor (`2.15`) of the TensorFlow beside an interpreter; None where none is found."""
    # Unresolved: a virtual environment's own folder, not that of the Python it was made from.
    prefix = Path(python).absolute().parent.parent
    for folder in sorted(prefix.glob("lib*/python3*/*-packages")):
        for entry in folder.iterdir():
            match = _DISTRIBUTION.match(entry.name)
            if match:
                return match[1]
    return None


def settings_for(
    settings: Settings, python: str, env: Mapping[str, str]
) -> tuple[Settings, tuple[str, ...]]:
    """The settings for the TensorFlow and Keras that will run, and what to tell the user of that.

    What the command line says of them stands.
    """
    notes: list[str] = []
    origins = dict(settings.origins)
    found = tensorflow_of(python)
    is_free = origins.get("tf_version") != "--tf-version"
    if found in versions.known() and found != settings.tf_version and is_free and found is not None:
        notes.append(
            f"checked for TensorFlow {found}, which is installed, not {settings.tf_version}"
        )
        settings = replace(settings, tf_version=found)
    legacy = env.get("TF_USE_LEGACY_KERAS", os.environ.get("TF_USE_LEGACY_KERAS", ""))
    if settings.keras is None and legacy.lower() in _YES:
        settings = replace(settings, keras="2")
    return settings, tuple(notes)
