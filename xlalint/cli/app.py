"""The group of commands, each loaded from its own module when it is called.

A command module `xlalint/cli/NAME.py` holds a click command called `command`. To add one, write the module and its line
in `_COMMANDS`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from xlalint import __version__

INTERRUPTED = 130
# The summaries stand here, not in the modules: `xlalint --help` must not import them all.
_COMMANDS = {
    "check": "Read code and report what XLA or a TPU cannot run.",
    "verify": "Compile and run the code that check reports, and compare it with eager execution.",
    "ready": "Go through the checklist before the move to a TPU.",
    "rules": "List the rules.",
    "explain": "Explain a rule, a TensorFlow API or an error message.",
    "config": "Show the settings that hold here and where each comes from.",
    "debug": "Show what the analysis believes of code: why it is compiled, kinds, shapes, dependence.",
}


class _Commands(click.Group):
    """A group that knows its commands' names and summaries, and imports a command's module when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"xlalint.cli.{cmd_name}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and Path(args[0]).exists():
            ctx.fail(f"No such command {args[0]!r}. To check it: xlalint check {args[0]}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    epilog="Exit status: 0 clean, 1 findings, 2 could not do the job.",
)
@click.version_option(__version__, "-V", "--version", message="xlalint %(version)s")
@click.pass_context
def group(ctx: click.Context) -> None:
    """Find the TensorFlow and Keras code that will not survive XLA or a TPU, and prove it with the compiler."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run(arguments: Sequence[str], remains: list[object] | None = None) -> int:
    """Run the command line and return the exit status. Nothing that a user can cause ends in a traceback.

    A command may leave in `remains` what it would be a waste to take apart in a process that ends after it.
    """
    try:
        result = group.main(
            list(arguments), prog_name="xlalint", standalone_mode=False, obj=remains
        )
    except click.ClickException as error:
        error.show()
        # click gives some of its errors status 1, which here means findings.
        return 2
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("xlalint: interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`head`) has seen enough. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception:
        import traceback

        traceback.print_exc()
        click.echo(
            "xlalint: this is a bug in xlalint; please report it with the lines above", err=True
        )
        # Python's own status for this would be 1, which here means findings.
        return 2
    return result if isinstance(result, int) else 0
