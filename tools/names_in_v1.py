"""`python -m tools.names_in_v1`: write `rules/names_in_v1.json`, the classes, types and constants that `tf.compat.v1` shares with `tf`.

Of functions the catalogue says which are the same. Run it with each TensorFlow whose names are to be known: what one version
shares stays in the table.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import tensorflow as tf

_TABLE = Path(__file__).parent.parent / "rules" / "names_in_v1.json"
_LEFT_OUT = frozenset({"compat", "contrib", "estimator", "keras"})
_DEEPEST = 3


def shared(new: ModuleType, old: ModuleType, depth: int = 1) -> Iterator[str]:
    """The names below both modules of the same class, type or constant."""
    for name, was in vars(old).items():
        if name.startswith("_") or not hasattr(new, name):
            continue
        now = getattr(new, name)
        if isinstance(was, ModuleType):
            if name not in _LEFT_OUT and depth < _DEEPEST and isinstance(now, ModuleType):
                yield from (f"{name}.{inner}" for inner in shared(now, was, depth + 1))
        elif now is was and (inspect.isclass(was) or not callable(was)):
            yield name


def main() -> int:
    """Add what the installed TensorFlow shares to the table."""
    known = set(json.loads(_TABLE.read_text(encoding="utf-8"))) if _TABLE.is_file() else set()
    # Modules of TensorFlow's API fill themselves when they are asked.
    for module in (tf, tf.compat.v1):
        for name in dir(module):
            getattr(module, name, None)
    known.update(shared(tf, tf.compat.v1))
    _TABLE.write_text(json.dumps(sorted(known), indent=0) + "\n", encoding="utf-8")
    print(f"TensorFlow {tf.__version__}: {len(known)} names")
    return 0


if __name__ == "__main__":
    sys.exit(main())
