"""The public symbols of TensorFlow, Keras and tf_keras as their packages declare them, read from the text of the packages.

The catalogue finds names by walking over imported modules; this list is made in another way, so that a name that the
walk misses is missed by one of the two only.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^from ([\w.]+) import (\w+)(?: as (\w+))?", re.MULTILINE)
_CODE = {
    "tf": re.compile(r"^tensorflow\.(?:python|dtensor|lite|compiler|tools)\b"),
    "keras": re.compile(r"^keras\.src\b"),
    "tf_keras": re.compile(r"^tf_keras\.src\b"),
}
# `tf.keras` is Keras; compat.v2 repeats everything; operators and internals are not for programs.
_LEFT_OUT = re.compile(r"^tf\.(?:keras|compat\.v2|compat\.v1\.(?:compat|keras|raw_ops))\b|\.__|\._")


def declared() -> dict[str, str]:
    """Name of each declared symbol to `callable` or `value` (a dtype, a version, a list of names...).

    Runs where TensorFlow is imported already.
    """
    import tensorflow as tf

    from tools.catalog.public import legacy_keras

    roots: dict[str, Any] = {"tf": tf, "keras": tf.keras}
    legacy = legacy_keras()
    if legacy is not None:
        roots["tf_keras"] = legacy
    return {
        name: kind
        for package, root in roots.items()
        for name in sorted(_names(package))
        if (kind := _kind(root, name)) is not None
    }


def _names(package: str) -> Iterator[str]:
    folder = _folder(package)
    if folder is None:
        return
    root = folder / "v2.py"  # TensorFlow's own root is not a package of that folder
    for path in (*sorted(folder.rglob("__init__.py")), *([root] if root.is_file() else [])):
        module = ".".join((package, *path.parent.relative_to(folder).parts))
        if "src" in module.split(".") or "_tf_keras" in module or module.startswith("keras.api"):
            continue
        for source, name, other in _IMPORT.findall(path.read_text(encoding="utf-8")):
            full = f"{module}.{other or name}"
            if _CODE[package].match(source) and not _LEFT_OUT.search(full):
                yield full


def _folder(package: str) -> Path | None:
    """Where the package's generated modules are: Keras 2 keeps those of `tf.keras` in a folder of its own."""
    if package == "tf":
        found = importlib.util.find_spec("tensorflow")
        return Path(str(found.origin)).parent / "_api" / "v2" if found else None
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent
    nested = folder / "api" / "_v2" / "keras"
    return nested if nested.is_dir() else folder


def _kind(root: Any, name: str) -> str | None:
    """None for what this environment lacks."""
    value = root
    for part in name.split(".")[1:]:
        try:
            value = getattr(value, part)
        except Exception:  # a lazily loaded part that is not there
            return None
    return "callable" if callable(value) else "value"
