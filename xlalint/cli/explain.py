"""`xlalint explain`: a rule, an API of TensorFlow or Keras, or an error message that somebody has met."""

from __future__ import annotations

import difflib
import re
import sys

import click

from xlalint import pages
from xlalint.cli.options import settings_from

_API = re.compile(r"^[A-Za-z_]\w*(?:\.\w+)+(?:\(\))?$")
_CODE = re.compile(r"^[A-Za-z]{3}\d+$")


@click.command("explain")
@click.argument("what", nargs=-1, required=True)
@click.option(
    "--tf-version",
    metavar="VERSION",
    help="TensorFlow version to explain an API for [default: from the project's dependencies].",
)
def command(what: tuple[str, ...], tf_version: str | None) -> int:
    """Explain a rule (XLA201, or boolean-mask), an API (tf.unique), or an error message (pasted, in quotes; - reads it
    from standard input).
    """
    asked = " ".join(what).strip()
    if asked == "-":
        asked = sys.stdin.read().strip()
    text: str | None
    if len(asked.split()) > 1:
        text = _explain_error(asked, tf_version)
    elif _API.match(asked):
        text = _explain_api(asked, tf_version)
        if text is None:
            raise click.UsageError(_no_api(asked, tf_version))
    else:
        named = {page.name: page.code for page in _pages()}
        text = _explain_rule(asked, named) or _explain_api(asked, tf_version)
        if text is None:
            raise click.UsageError(_unknown(asked, (*pages.codes(), *named)))
    click.echo(text, nl=False)
    return 0


def _pages() -> tuple[pages.Page, ...]:
    try:
        return tuple(pages.all_pages())
    except pages.PageError as error:
        raise click.ClickException(str(error)) from error


def _explain_rule(asked: str, named: dict[str, str]) -> str | None:
    """The page of a rule by its code or name; None where there is no such rule."""
    code = named.get(asked.lower(), asked.upper())
    if code not in pages.codes():
        return None
    try:
        page = pages.load(code)
    except pages.PageError as error:
        raise click.ClickException(str(error)) from error
    says = "".join(
        f"- {v.severity.value}: {v.message}\n  {_indented(v.help)}\n"
        for v in page.variants.values()
    )
    facts = f"Targets: {', '.join(page.targets)}. TensorFlow {page.versions}. Fix: {page.fix}."
    return f"{page.markdown}\n## What it says\n\n{says}\n{facts}\n"


def _indented(text: str) -> str:
    return "\n  ".join(line.strip() for line in text.splitlines())


def _unknown(asked: str, known: tuple[str, ...]) -> str:
    spelling = asked.upper() if _CODE.match(asked) else asked.lower()
    near = difflib.get_close_matches(spelling, known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"There is no rule {asked}.{hint} `xlalint rules` lists them."


# --- error messages -------------------------------------------------------------------------------------------------


def _explain_error(text: str, tf_version: str | None) -> str:
    from xlalint.messages import explained
    from xlalint.semantics.catalog.shipped import CatalogError

    version = settings_from((".",), {"tf_version": tf_version}).tf_version
    try:
        found = explained.explained(text, version)
    except CatalogError as error:
        raise click.ClickException(str(error)) from error
    if found is None:
        near = explained.nearest(text)
        hint = f" The nearest that is known: {near}" if near else ""
        raise click.ClickException(
            f"no rule is known for this message.{hint}\nPaste the line that starts with the error's name, or run "
            "`xlalint check` on the file that it points to."
        )
    return found


# --- APIs and operations --------------------------------------------------------------------------------------------


def _explain_api(name: str, tf_version: str | None) -> str | None:
    """None where nothing has that name. The catalogue takes longer to read than the other answers take to give."""
    from xlalint.cli import api_facts
    from xlalint.semantics.catalog.shipped import CatalogError

    version = settings_from((".",), {"tf_version": tf_version}).tf_version
    try:
        return api_facts.explained(name, version)
    except CatalogError as error:
        raise click.ClickException(str(error)) from error


def _no_api(name: str, tf_version: str | None) -> str:
    from xlalint.cli import api_facts
    from xlalint.semantics.catalog import shipped

    version = settings_from((".",), {"tf_version": tf_version}).tf_version
    alike = api_facts.near(name, version)
    hint = f" Did you mean {', '.join(alike)}?" if alike else ""
    return f"TensorFlow {shipped.nearest(version)} has no {name} that was measured.{hint}"
