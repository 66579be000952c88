"""What to say of a pasted message: what happened, in whose line, what is known of the operation, what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlalint import pages
from xlalint.messages import known
from xlalint.messages.paste import Frame, Paste, read

_NODE = re.compile(r"\{\{node ([^}]+)\}\}")
# What a finding fills in from the code that it is about.
_OF_THE_CODE = re.compile(r"\{(\w+)\}")
# Of an operation that no API has a replacement for.
_NO_REPLACEMENT = re.compile(r"Use \{replacement\}, or (\w)")
_MOST_APIS = 4
# An operation behind more APIs than this says nothing by naming some of them.
_COMMON = 12


def explained(text: str, tf_version: str) -> str | None:
    """The explanation of a message; None where it is not known.

    Raises CatalogError where no catalogue is shipped for `tf_version`.
    """
    paste = read(text)
    match = known.find(*paste.readings)
    if match is None:
        return None
    blocks = [match.says, *_place(paste)]
    op = match.names.get("op") or _operation(paste.readings[0])
    if op:
        blocks += _operation_block(op, tf_version)
    rewrite = instead(match, op, tf_version)
    if rewrite:
        blocks.append(f"Write instead:\n{_indented(rewrite)}")
    if match.known.code:
        blocks.append(f"Read on: xlalint explain {match.known.code}")
    return "\n\n".join(blocks) + "\n"


def nearest(text: str) -> str | None:
    """The known message most like one that is not."""
    return known.nearest(read(text).readings[0])


def _place(paste: Paste) -> Iterator[str]:
    place = paste.place
    if place is None:
        return
    lines = [f"Your line: {_where(place)}"]
    if place.text:
        lines.append(f"    {place.text}")
    caller = paste.called_from
    if caller is not None:
        lines[0] = f"In an installed package: {_where(place)}"
        lines.append(f"  called from your line {_where(caller)}")
        if caller.text:
            lines.append(f"    {caller.text}")
    yield "\n".join(lines)


def _where(frame: Frame) -> str:
    line = f":{frame.line}" if frame.line else ""
    return f"{frame.path}{line}" + (f", in {frame.function}" if frame.function else "")


def _operation(text: str) -> str:
    """The type of the operation that a message is about, from its words or the name of its node; empty where it names none."""
    told = re.search(r"with op (\w+)|op type: (\w+)", text)
    if told:
        return told[1] or told[2]
    for node in _NODE.findall(text):
        last = re.match(r"([A-Z]\w*?)(?:_\d+)?$", node.rsplit("/", 1)[-1].strip())
        if last:
            return last[1]
    return ""


def _operation_block(op: str, tf_version: str) -> list[str]:
    from xlalint.semantics.catalog import shipped

    facts = shipped.load(shipped.nearest(tf_version))
    measured = facts.op(op)
    if measured is None:
        return [f"Operation: {op}"]
    has = "has an XLA kernel" if measured.kernel else "has no XLA kernel"
    lines = [f"Operation: {op} {has} in TensorFlow {shipped.nearest(tf_version)}"]
    if measured.constant_inputs:
        lines.append(f"  must be known at compile time: {', '.join(measured.constant_inputs)}")
    apis = [name for name in facts.emitters(op) if not name.startswith("tf.compat.")]
    if len(apis) > _COMMON:
        apis = [name for name in apis if name.rpartition(".")[2].replace("_", "") == op.lower()]
    if apis:
        more = f" and {len(apis) - _MOST_APIS} more" if len(apis) > _MOST_APIS else ""
        lines.append(f"  stands behind: {', '.join(apis[:_MOST_APIS])}{more}")
    return ["\n".join(lines)]


def instead(match: known.Match, op: str, tf_version: str) -> str:
    """The rewrite: of the entry, of an API that the operation stands behind, or of the rule's page."""
    if match.known.instead:
        return match.known.instead
    replacement = _replacement(op, tf_version) if op else ""
    if replacement:
        return replacement
    if match.known.code is None:
        return ""
    page = pages.load(match.known.code)
    worst = max(page.variants.values(), key=lambda variant: variant.severity.rank)
    told = page.variants.get(match.known.variant, worst)
    help_ = _NO_REPLACEMENT.sub(lambda found: found[1].upper(), told.help.strip())
    return _OF_THE_CODE.sub(r"\1", help_)


def _replacement(op: str, tf_version: str) -> str:
    from xlalint.semantics.catalog import shipped

    facts = shipped.load(shipped.nearest(tf_version))
    measured = facts.op(op)
    if measured is not None and measured.kernel:
        return ""
    for name in facts.emitters(op):
        api = facts.api(name)
        if api is not None and api.replacement and op in api.missing:
            return f"for {name}: {api.replacement}"
    return ""


def _indented(text: str) -> str:
    return "\n".join(f"  {line.rstrip()}" for line in text.splitlines())
