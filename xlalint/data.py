"""Where the rule pages and the catalogue lie: inside an installed package, or at the top of a checkout."""

from __future__ import annotations

from pathlib import Path


def root() -> Path:
    """The folder `rules/`, which holds the pages `XLA*.md` and `catalog/*.json`.

    A wheel carries it as `xlalint/_data/rules`; an editable install reads the checkout's own. Paths rather than
    `importlib.resources`, whose import costs more than reading the data.
    """
    package = Path(__file__).resolve().parent
    packed = package / "_data" / "rules"
    return packed if packed.is_dir() else package.parent / "rules"
