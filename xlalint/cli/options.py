"""Options that several commands share, and how they become settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from xlalint.project.settings import SEVERITIES, TARGETS, Settings, SettingsError, load

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _codes(
    ctx: click.Context, param: click.Parameter, value: Sequence[str]
) -> tuple[str, ...] | None:
    """`--select XLA1,XLA201 --select XLA4` as one list; None where the option is absent."""
    codes = tuple(code.strip() for given in value for code in given.split(",") if code.strip())
    return codes or None


def _many(
    ctx: click.Context, param: click.Parameter, value: Sequence[str]
) -> tuple[str, ...] | None:
    return tuple(value) or None


_SHARED = (
    click.option(
        "--select",
        metavar="CODES",
        multiple=True,
        callback=_codes,
        help="Rules to run, by code or prefix, parted by commas [default: all].",
    ),
    click.option(
        "--ignore",
        metavar="CODES",
        multiple=True,
        callback=_codes,
        help="Rules to leave out; the longer prefix wins.",
    ),
    click.option(
        "--extend-select",
        metavar="CODES",
        multiple=True,
        callback=_codes,
        help="Rules to add to those that the settings select.",
    ),
    click.option(
        "--extend-ignore",
        metavar="CODES",
        multiple=True,
        callback=_codes,
        help="Rules to leave out besides those that the settings leave out.",
    ),
    click.option(
        "--target",
        type=click.Choice(TARGETS),
        help="What the code is headed for [default: tpu-vm].",
    ),
    click.option(
        "--tf-version",
        metavar="VERSION",
        help="TensorFlow version, such as 2.15 [default: from the project's dependencies].",
    ),
    click.option(
        "--keras",
        type=click.Choice(("2", "3")),
        help="Keras version [default: from the imports and the TensorFlow version].",
    ),
    click.option(
        "--exclude",
        metavar="PATTERN",
        multiple=True,
        callback=_many,
        help="Files to leave out, as in .gitignore, instead of those that the settings exclude.",
    ),
    click.option(
        "--extend-exclude",
        metavar="PATTERN",
        multiple=True,
        callback=_many,
        help="Files to leave out besides those that the settings exclude.",
    ),
    click.option(
        "--force-exclude",
        is_flag=True,
        default=None,
        help="Leave out excluded files even when they are named on the command line.",
    ),
    click.option(
        "--respect-gitignore/--no-respect-gitignore",
        default=None,
        help="Leave out what .gitignore leaves out [default: yes].",
    ),
    click.option(
        "--pedantic",
        is_flag=True,
        default=None,
        help="Show findings that are only possible, too.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(min=0),
        metavar="N",
        help="Children that `verify` runs at once, as memory allows [default: one per core]; `check` is one process.",
    ),
    click.option(
        "--fail-on",
        type=click.Choice(SEVERITIES),
        help="The least severity that makes the exit status 1 [default: warning].",
    ),
    click.option("--config", metavar="FILE", help="Settings file to use instead of the nearest."),
)


def shared_options(command: _Command) -> _Command:
    """Add the options that say which files and rules a run is about."""
    for option in reversed(_SHARED):
        command = option(command)
    return command


def settings_from(paths: Sequence[str], options: dict[str, Any]) -> Settings:
    """Take the shared options out of `options` and resolve the settings for `paths`.

    Raises:
        click.ClickException: a setting, from the file or the command line, cannot be used.
    """
    config = options.pop("config", None)
    given = {name: options.pop(name) for name in _SETTINGS if name in options}
    overrides = {name: value for name, value in given.items() if value is not None}
    try:
        return load(paths, overrides, config)
    except SettingsError as error:
        raise click.ClickException(str(error)) from error


# In the order in which they take effect: what extends a list comes after what replaces it.
_SETTINGS = (
    "select",
    "ignore",
    "extend_select",
    "extend_ignore",
    "target",
    "tf_version",
    "keras",
    "exclude",
    "extend_exclude",
    "force_exclude",
    "respect_gitignore",
    "pedantic",
    "jobs",
    "fail_on",
    "stdin_filename",
)
