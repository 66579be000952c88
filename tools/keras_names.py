"""`python -m tools.keras_names WHEEL...`: write `rules/keras_names.json`, what each Keras could import and no longer can.

Reads wheels of Keras, oldest first, the newest last, and runs nothing of them: what a module binds is in its text.
"""

from __future__ import annotations

import ast
import json
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

_TABLE = Path(__file__).parent.parent / "rules" / "keras_names.json"
# Where a wheel keeps what is imported as `keras`, and as `tensorflow.keras`.
_PLAIN = "keras/"
_THROUGH_TENSORFLOW = ("keras/_tf_keras/keras/", "keras/api/_v2/keras/")
_LEFT_OUT = (
    "keras/src/",
    "keras/api/",
    "keras/_tf_keras/",
    "keras/protobuf/",
    "keras/testing_infra/",
    "keras/distribute/",
    "keras/tests/",
)


class Wheel:
    """One version of Keras: the modules below each of its two names, by dotted path, with their syntax."""

    def __init__(self, path: Path) -> None:
        self.version = ".".join(path.name.split("-")[1].split(".")[:2])
        with zipfile.ZipFile(path) as archive:
            files = {
                name: archive.read(name)
                for name in archive.namelist()
                if name.startswith(_PLAIN) and name.endswith(".py")
            }
        self._plain = _modules(files, _PLAIN, _LEFT_OUT)
        self._tensorflow: dict[str, ast.Module] = {}
        for root in _THROUGH_TENSORFLOW:
            self._tensorflow |= _modules(files, root, ())

    def names(self) -> dict[str, set[str]]:
        """What can be imported, below `keras` and below `tf.keras`."""
        return {"keras": _importable(self._plain), "tf.keras": _importable(self._tensorflow)}


def _modules(
    files: Mapping[str, bytes], root: str, without: tuple[str, ...]
) -> dict[str, ast.Module]:
    found = {}
    for name, source in files.items():
        if name.startswith(root) and not name.startswith(without):
            parts = name.removeprefix(root).removesuffix(".py").split("/")
            dotted = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if not any(
                part.startswith("_") or part.endswith("_test") for part in dotted.split(".")
            ):
                found[dotted] = ast.parse(source)
    return found


def _importable(modules: Mapping[str, ast.Module]) -> set[str]:
    """Modules, and the public names that they bind, by dotted path."""
    found = {dotted for dotted in modules if dotted}
    for dotted in modules:
        for name in _bound(dotted, modules, frozenset()):
            if not name.startswith("_"):
                found.add(f"{dotted}.{name}" if dotted else name)
    return found


def _bound(dotted: str, modules: Mapping[str, ast.Module], seen: frozenset[str]) -> Iterator[str]:
    """What a module defines, and a package makes of what its modules define. What a module imports for itself is not meant for others."""
    is_package = any(other.startswith(f"{dotted}.") for other in modules) or not dotted
    for node in _statements(modules[dotted].body):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (each.id for each in node.targets if isinstance(each, ast.Name))
        elif isinstance(node, ast.ImportFrom) and (is_package or _is_listed(node)):
            for alias in node.names:
                if alias.name != "*":
                    if _is_of_keras(node):
                        yield alias.asname or alias.name
                    continue
                target = _target(node, dotted, is_package)
                if target in modules and target not in seen:
                    yield from _bound(target, modules, seen | {dotted})


def _is_of_keras(node: ast.ImportFrom) -> bool:
    """Whether it takes something of Keras's own, and no helper of TensorFlow's (`keras_export`, `logging`)."""
    return bool(node.level) or (node.module or "").partition(".")[0] == "keras"


def _is_listed(node: ast.ImportFrom) -> bool:
    """Whether it is a line of the files that list what is public (`from keras.src.layers.core.dense import Dense as Dense`), or a star."""
    return (node.module or "").startswith(("keras.src.", "keras.api.")) or node.names[0].name == "*"


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        for block in ("body", "orelse", "finalbody"):
            if isinstance(node, (ast.If, ast.Try)):
                yield from _statements(getattr(node, block, []))


def _target(node: ast.ImportFrom, dotted: str, is_package: bool) -> str:
    """The module, below the root, that a star import takes from."""
    if not node.level:
        return (node.module or "").removeprefix("keras.").removeprefix("tensorflow.keras.")
    parts = dotted.split(".") if dotted else []
    parts = parts[: len(parts) - node.level + (1 if is_package else 0)]
    return ".".join([*parts, *filter(None, [node.module])])


def main() -> int:
    """Write the table out of the wheels that the command line names."""
    wheels = [Wheel(Path(path)) for path in sys.argv[1:]]
    known = [(wheel.version, wheel.names()) for wheel in wheels]
    _, today = known.pop()
    _, keras_2 = known[-1]
    last: dict[str, dict[str, str]] = {package: {} for package in today}
    for version, found in known:
        for package, names in found.items():
            last[package] |= dict.fromkeys(names, version)
    gone = {package: _outermost(set(names) - today[package]) for package, names in last.items()}
    table = {
        package: {
            "gone": {name: last[package][name] for name in sorted(gone[package])},
            "in both": sorted(names & keras_2[package]),
            "in Keras 3": sorted(names - keras_2[package]),
        }
        for package, names in today.items()
    }
    _TABLE.write_text(json.dumps(table, indent=0) + "\n", encoding="utf-8")
    print({package: len(names) for package, names in gone.items()})
    return 0


def _outermost(names: set[str]) -> set[str]:
    """Without what lies in a module that is gone itself."""
    return {name for name in names if not any(above in names for above in _above(name))}


def _above(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


if __name__ == "__main__":
    sys.exit(main())
