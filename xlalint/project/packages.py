"""Which folders are packages, and so part of the names of the modules in them."""

from __future__ import annotations

from pathlib import Path

# Who imports these means the packages of that name: a folder that is called so is a part of another package. Keras is checked itself, as well.
_TAKEN = frozenset({"tensorflow", "torch", "jax", "numpy"})
# What stands where packages begin.
_BUILDS = ("pyproject.toml", "setup.py", "setup.cfg")


def is_package(folder: Path) -> bool:
    """Whether a folder is a package: a stray `__init__.py` makes none of `gmmvi-1.1/`, which nobody can import by its name."""
    return folder.name.isidentifier() and (folder / "__init__.py").is_file()


def is_in_namespace(package: Path) -> bool:
    """Whether the folder around a topmost package is part of its name though it has no `__init__.py`: that around `neural_compressor/tensorflow`."""
    around = package.parent.name
    return package.name in _TAKEN and around.isidentifier() and around != package.name


def holds_packages(folder: Path) -> bool:
    """Whether packages begin in a folder though it has an `__init__.py` itself: `gmmvi-1.1/`, `src/`, or a checkout with its `setup.py`."""
    if folder.name == "src" or not folder.name.isidentifier():
        return True
    return any((folder / name).is_file() for name in _BUILDS)
