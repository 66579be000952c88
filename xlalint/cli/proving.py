"""What `check --prove` needs: TensorFlow, and files that can be loaded."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlalint.cli.doing import Progress
from xlalint.project.settings import Settings

if TYPE_CHECKING:
    from xlalint.verify.proving.judging import Judge


@contextmanager
def proving(paths: Sequence[str], settings: Settings) -> Iterator[Judge]:
    """What proves fixes, and tells what it does on standard error. Raises click's errors where nothing can be proven."""
    if sys.platform == "win32":
        raise click.ClickException("--prove needs Linux or macOS (on Windows: WSL)")
    if "-" in paths:
        raise click.UsageError("--prove loads files: what comes by standard input is none")
    if importlib.util.find_spec("tensorflow") is None:
        raise click.ClickException(
            f"--prove runs code with TensorFlow, and {sys.executable} has none: pip install 'xlalint[verify]'"
        )
    from xlalint.verify import verification
    from xlalint.verify.proving.judging import Judge, Means

    limits = verification.limits(settings.verify.timeout)
    workers = settings.jobs or os.cpu_count() or 1
    with tempfile.TemporaryDirectory(prefix="xlalint-proofs-") as scratch, Progress() as progress:
        progress.say("rewriting")
        means = Means(Path.cwd(), limits, progress.say, workers, scratch=Path(scratch).resolve())
        yield Judge(paths, settings, means)
