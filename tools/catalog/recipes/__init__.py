"""How particular APIs are called, where the names of their parameters do not say enough.

Arrays are inputs, Python values are constants; several calls for one API are tried in order. Names are canonical.
"""

from __future__ import annotations

from collections.abc import Mapping

from tools.catalog.arguments import Call
from tools.catalog.recipes import (
    core,
    images,
    keras_functions,
    mathematics,
    networks,
    odds_and_ends,
    python_values,
    randomness,
    receivers,
    sparse_and_ragged,
    text_and_files,
    version_one,
)

_MODULES = (
    core,
    mathematics,
    networks,
    images,
    randomness,
    text_and_files,
    sparse_and_ragged,
    python_values,
    version_one,
    keras_functions,
    receivers,
    odds_and_ends,
)


def recipes() -> Mapping[str, list[Call]]:
    """API name to the calls to try. Made once per process: some values need TensorFlow."""
    return {name: calls for module in _MODULES for name, calls in module.calls().items()}
