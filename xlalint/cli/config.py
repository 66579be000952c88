"""`xlalint config`: the settings that hold here and where each comes from."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import click

from xlalint.cli.options import settings_from, shared_options
from xlalint.project.settings import Settings

_HIDDEN = ("origins", "dependencies", "source", "stdin", "stdin_filename")


@click.command("config")
@click.argument("paths", nargs=-1)
@shared_options
@click.option(
    "--format",
    "format_",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="How to write the settings.",
)
def command(paths: tuple[str, ...], format_: str, **options: Any) -> int:
    """Show the settings that hold for PATHS and where each comes from."""
    settings = settings_from(paths or (".",), options)
    click.echo(_json(settings) if format_ == "json" else _text(settings), nl=False)
    return 0


def _text(settings: Settings) -> str:
    origins = dict(settings.origins)
    source = settings.source or "none found"
    rows = [("settings file", str(source), "")]
    for name, value in _values(settings).items():
        rows.append((name.replace("_", "-"), _shown(value), origins.get(name, "default")))
    width = max(len(name) for name, _, _ in rows)
    lines = [f"{name:<{width}}  {value}{_from(origin)}" for name, value, origin in rows]
    return "".join(f"{line}\n" for line in lines)


def _from(origin: str) -> str:
    return f"  ({origin})" if origin else ""


def _shown(value: object) -> str:
    return str(value) if isinstance(value, Path) else json.dumps(value)


def _values(settings: Settings) -> dict[str, Any]:
    flat = {
        f.name: getattr(settings, f.name)
        for f in dataclasses.fields(settings)
        if f.name not in (*_HIDDEN, "verify")
    }
    nested = dataclasses.asdict(settings.verify)
    return flat | {f"verify.{name}": value for name, value in nested.items()}


def _json(settings: Settings) -> str:
    origins = dict(settings.origins)
    listed = {
        name.replace("_", "-"): {
            "value": str(value) if isinstance(value, Path) else value,
            "from": origins.get(name.split(".")[0], "default"),
        }
        for name, value in _values(settings).items()
    }
    source = str(settings.source) if settings.source else None
    return json.dumps({"source": source, "settings": listed}, indent=2) + "\n"
