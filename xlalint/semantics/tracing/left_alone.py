"""Packages whose code AutoGraph never converts, whoever calls it: Keras, TensorFlow Probability and TensorFlow themselves.

From `tensorflow/python/autograph/core/config.py`, TensorFlow 2.21; tests/test_left_alone.py compares them.
"""

from __future__ import annotations

from functools import cache

from xlalint.semantics.index import ModuleInfo
from xlalint.semantics.project_modules import Project

PACKAGES = frozenset(
    "collections copy cProfile inspect ipdb linecache mock pathlib pdb posixpath pstats re threading urllib matplotlib numpy pandas "
    "tensorflow PIL absl.logging tensorflow_probability tensorflow_datasets.core keras tf_keras".split()
)
CONVERTED_ALL_THE_SAME = "tensorflow.python.training.experimental"


def package_of(module: ModuleInfo, project: Project) -> str | None:
    """The package that a module is of, where AutoGraph leaves it alone; None of other modules.

    A folder of that name is none, unless it is a package: `keras/train.py` beside `torch/train.py` runs as a script.
    """
    found = _package_of(module.name)
    if found is None:
        return None
    root = project.module(found.partition(".")[0])
    return found if root is not None and root.is_package else None


@cache
def _package_of(name: str) -> str | None:
    if _is_inside(name, CONVERTED_ALL_THE_SAME):
        return None
    return next((package for package in PACKAGES if _is_inside(name, package)), None)


def _is_inside(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")
