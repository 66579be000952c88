"""`xlalint explain`: a rule, an API of TensorFlow or Keras, or an error message that somebody has met."""

from __future__ import annotations

import difflib
import re
import sys
from typing import TYPE_CHECKING

import click

from xlalint import data, pages, toml
from xlalint.cli.options import settings_from

if TYPE_CHECKING:
    from xlalint.semantics import catalog

_API = re.compile(r"^(?:tf|tensorflow|keras|tf_keras)(?:\.\w+)+$")
_CODE = re.compile(r"^[A-Za-z]{3}\d+$")
_WORDS = re.compile(r"\{(\w+)\}")


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
    if _API.match(asked):
        text = _explain_api(asked, tf_version)
    elif len(asked.split()) <= 1:
        text = _explain_rule(asked)
    else:
        text = _explain_error(asked)
    click.echo(text, nl=False)
    return 0


def _explain_rule(asked: str) -> str:
    try:
        named = {page.name: page.code for page in pages.all_pages()}
        code = named.get(asked.lower(), asked.upper())
        if code not in pages.codes():
            raise click.UsageError(_unknown(asked, (*pages.codes(), *named)))
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


def _explain_error(text: str) -> str:
    flat = " ".join(text.split())
    for entry in toml.loads((data.root() / "errors.toml").read_text(encoding="utf-8"))["error"]:
        match = re.search(entry["pattern"], flat)
        if match:
            return f"{_filled(entry['says'].strip(), match)}\n\nRead on: xlalint explain {entry['code']}\n"
    raise click.ClickException(
        "no rule is known for this message. Paste the line that starts with the error's name, or run "
        "`xlalint check` on the file that it points to."
    )


def _filled(says: str, match: re.Match[str]) -> str:
    groups = {name.rstrip("2"): value for name, value in match.groupdict().items() if value}
    return _WORDS.sub(lambda m: groups.get(m.group(1), "it"), says)


# --- APIs -----------------------------------------------------------------------------------------------------------


def _explain_api(name: str, tf_version: str | None) -> str:
    # The catalogue takes longer to read than the other answers take to give.
    from xlalint.semantics import catalog

    settings = settings_from((".",), {"tf_version": tf_version})
    try:
        facts = catalog.load(catalog.nearest(settings.tf_version))
    except catalog.CatalogError as error:
        raise click.ClickException(str(error)) from error
    api = facts.api(name)
    if api is None:
        near = difflib.get_close_matches(name, facts.names(), n=3)
        hint = f" Did you mean {', '.join(near)}?" if near else ""
        raise click.UsageError(
            f"TensorFlow {facts.tensorflow} has no {name} that was measured.{hint}"
        )
    return "".join(f"{line}\n" for line in _api_lines(name, api, facts))


def _api_lines(name: str, api: catalog.Api, facts: catalog.Catalog) -> list[str]:
    alias = f" ({api.name})" if api.name != name else ""
    lines = [f"{name}{alias}, TensorFlow {facts.tensorflow}: {_STATUS.get(api.status, api.status)}"]
    details = (
        ("operations", ", ".join(api.ops)),
        ("without an XLA kernel", ", ".join(api.missing)),
        ("reason", api.reason or ""),
        ("outputs whose size depends on data", ", ".join(map(str, api.data_sized or ()))),
        ("must be known at compile time", ", ".join(api.constant_args)),
        ("size the output when given as tensors", ", ".join(api.sizing_args)),
        ("gradient", _gradient(api)),
        ("dtypes", ", ".join(f"{dtype} {status}" for dtype, status in api.dtypes)),
        ("use instead", api.replacement or ""),
    )
    lines += [f"  {label}: {value}" for label, value in details if value]
    lines += [f"  {_condition(each)}" for each in api.conditions]
    return lines


def _gradient(api: catalog.Api) -> str:
    missing = f" (no XLA kernel: {', '.join(api.gradient_missing)})" if api.gradient_missing else ""
    return f"{api.gradient}{missing}" if api.gradient else ""


def _condition(condition: catalog.Condition) -> str:
    when = ", ".join(f"{name}={value!r}" for name, value in condition.when)
    missing = f" (no XLA kernel: {', '.join(condition.missing)})" if condition.missing else ""
    return f"with {when}: {_STATUS.get(condition.status, condition.status)}{missing}"


_STATUS = {
    "compiles": "compiles under XLA",
    "fails": "does not compile under XLA",
    "crashes": "crashes the compiler",
    "untraced": "was not measured (no input was found that it takes)",
    "not-compute": "computes nothing on a device",
}
