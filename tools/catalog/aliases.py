"""Which aliases a catalogue must spell out, and which the loader can work out by itself."""

from __future__ import annotations

from collections.abc import Mapping


def stored_aliases(aliases: Mapping[str, list[str]], names: frozenset[str]) -> dict[str, str]:
    """Alias to canonical name, without `tf.compat.v1.X` where `X` names the same thing in `tf`.

    The loader reads an unknown `tf.compat.v1.X` as `tf.X`.
    """
    spelled = {alias: name for name, many in aliases.items() for alias in many}
    return {
        alias: name for alias, name in spelled.items() if not _follows(alias, name, spelled, names)
    }


def _follows(alias: str, name: str, spelled: Mapping[str, str], names: frozenset[str]) -> bool:
    if not alias.startswith("tf.compat.v1."):
        return False
    modern = "tf." + alias.removeprefix("tf.compat.v1.")
    return spelled.get(modern) == name or (modern == name and modern in names)
