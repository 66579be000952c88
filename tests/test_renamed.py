"""The table of names that are gone or renamed, held against the TensorFlow that is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from xlalint.semantics.environment.rename_table import Entry, table

# Asks for each name: one process for all, because importing TensorFlow takes seconds.
_ASK = """
import json, sys
import keras
import tensorflow as tf

def has(name):
    found = {"tf": tf, "keras": tf.keras, "plain": keras}[name.partition(".")[0]]
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
        if found is None:
            return False
    return True

asked = json.loads(sys.stdin.read())
inputs = tf.keras.Input([1])
functional = tf.keras.Model(inputs, inputs)
strategy = tf.distribute.get_strategy()
answer = {name: has(name) for name in asked["names"]}
answer |= {method: hasattr(strategy, method) for method in asked["methods"]}
answer |= {method: hasattr(tf.keras.Model, method) for method in asked["models"]}
answer |= {name: hasattr(functional, name) for name in asked["functional"]}
answer |= {method: hasattr(tf.keras.metrics.Metric, method) for method in asked["metrics"]}
scaled = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD())
answer |= {name: hasattr(scaled, name) for name in asked["optimizers"]}
layer = tf.keras.layers.Dense(1)
layer(tf.keras.Input([1]))
answer |= {name: hasattr(layer, name.partition(".")[0]) for name in asked["layers"]}
answer |= {f"symbolic.{name}": hasattr(inputs, name) for name in asked["symbolic"]}
answer |= {f"shapes.{name}": hasattr(inputs.shape, name) for name in asked["shapes"]}
answer |= {f"weights.{name}": callable(getattr(layer.kernel, name, None)) for name in asked["weights"]}
print(json.dumps({"version": tf.__version__, "keras": tf.keras.__version__, "has": answer}))
"""


def is_gone(entry: Entry, version: str, keras: str) -> bool:
    if entry.gone == "keras-3":
        return keras.startswith("3")
    if entry.gone in ("", "long", "graphs"):
        return entry.gone == "long"
    return tuple(map(int, version.split(".")[:2])) >= tuple(map(int, entry.gone.split(".")))


_OF_VALUES = ("symbolic", "shapes", "weights")
_KINDS = (
    "names",
    "methods",
    "models",
    "functional",
    "metrics",
    "optimizers",
    "layers",
    *_OF_VALUES,
)


def asked_of_tensorflow(asked: dict[str, list[str]]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", _ASK],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.compiler
def test_old_names_are_gone_where_the_table_says_so_and_new_names_are_there() -> None:
    known = table()
    named = [*known.names.values(), *known.families.values()]
    methods = list(known.methods.values())
    models = list(known.models.values())
    functional = list(known.functional.values())
    metrics = list(known.metrics.values())
    optimizers = list(known.optimizers.values())
    layers = [*known.layers.values(), *known.own.values()]
    asked = {
        "names": [name for entry in named for name in (entry.old, entry.use) if name],
        "methods": [name for entry in methods for name in (entry.old, entry.use) if name],
        "models": [name for entry in models for name in (entry.old, entry.use) if name],
        "functional": [name for entry in functional for name in (entry.old, entry.use) if name],
        "metrics": [name for entry in metrics for name in (entry.old, entry.use) if name],
        "optimizers": [name for entry in optimizers for name in (entry.old, entry.use) if name],
        "layers": [name for entry in layers for name in (entry.old, entry.use) if name],
    }
    answer = asked_of_tensorflow(asked | {kind: [] for kind in _OF_VALUES})
    has = answer["has"]
    told = (*named, *methods, *models, *functional, *metrics, *optimizers, *layers)
    for entry in (each for each in told if not each.through and not each.when):
        assert has[entry.old] is not is_gone(entry, answer["version"], answer["keras"]), entry.old
        assert not entry.use or has[entry.use], entry.use


@pytest.mark.compiler
def test_what_some_values_have_lost_they_have_in_keras_2_alone() -> None:
    known = table()
    of_values = {kind: list(getattr(known, kind)) for kind in _OF_VALUES}
    answer = asked_of_tensorflow({kind: [] for kind in _KINDS} | of_values)
    asked = [f"{kind}.{name}" for kind, names in of_values.items() for name in names]
    is_keras_3 = answer["keras"].startswith("3")
    assert [name for name in asked if answer["has"][name] is is_keras_3] == []


@pytest.mark.compiler
def test_names_that_one_of_two_packages_has_lost_are_those_of_the_other() -> None:
    known = table()
    entries = [e for e in (*known.names.values(), *known.families.values()) if e.through]
    # `plain` is Keras itself.
    packages = {"tf.keras": "keras", "keras": "plain"}
    losers, keepers, uses = [], [], []
    for entry in entries:
        rest = entry.old.partition(".")[2]
        olds = [f"{rest}.{member}" for member in sorted(entry.members)] or [rest]
        other = next(package for package in packages if package != entry.through)
        losers += [f"{packages[entry.through]}.{old}" for old in olds]
        keepers += [f"{packages[other]}.{old}" for old in olds]
        uses += [f"{packages[entry.through]}.{entry.use.partition('.')[2]}"] if entry.use else []
    named = [*losers, *keepers, *uses]
    answer = asked_of_tensorflow({kind: [] for kind in _KINDS} | {"names": named})
    has, is_keras_3 = answer["has"], answer["keras"].startswith("3")
    assert [name for name in losers if has[name] is is_keras_3] == []
    assert [name for name in (*keepers, *uses) if not has[name]] == []


def test_every_entry_says_what_to_do() -> None:
    known = table()
    methods = (
        known.methods,
        known.models,
        known.functional,
        known.metrics,
        known.optimizers,
        known.texts,
    )
    methods = (*methods, known.layers, known.own, known.symbolic, known.shapes, known.weights)
    tables = (known.names, known.families, *methods, known.environment)
    entries = [
        entry
        for each in (*tables, *known.parameters.values(), *known.kept.values())
        for entry in each.values()
    ]
    assert all(entry.use or entry.instead for entry in entries)
