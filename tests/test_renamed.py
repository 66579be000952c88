"""The table of names that are gone or renamed, held against the TensorFlow that is installed."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from xlalint.semantics.environment.renames import Entry, table

# Asks for each name: one process for all, because importing TensorFlow takes seconds.
_ASK = """
import json, sys
import tensorflow as tf

def has(name):
    found = {"tf": tf, "keras": tf.keras}[name.partition(".")[0]]
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
        if found is None:
            return False
    return True

asked = json.loads(sys.stdin.read())
strategy = tf.distribute.get_strategy()
answer = {name: has(name) for name in asked["names"]}
answer |= {method: hasattr(strategy, method) for method in asked["methods"]}
answer |= {method: hasattr(tf.keras.Model, method) for method in asked["models"]}
answer |= {method: hasattr(tf.keras.metrics.Metric, method) for method in asked["metrics"]}
scaled = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD())
answer |= {name: hasattr(scaled, name) for name in asked["optimizers"]}
print(json.dumps({"version": tf.__version__, "keras": tf.keras.__version__, "has": answer}))
"""


def is_gone(entry: Entry, version: str, keras: str) -> bool:
    if entry.gone == "keras-3":
        return keras.startswith("3")
    if entry.gone in ("", "long", "graphs"):
        return entry.gone == "long"
    return tuple(map(int, version.split(".")[:2])) >= tuple(map(int, entry.gone.split(".")))


@pytest.mark.compiler
def test_old_names_are_gone_where_the_table_says_so_and_new_names_are_there() -> None:
    known = table()
    named = [*known.names.values(), *known.families.values()]
    methods = list(known.methods.values())
    models = list(known.models.values())
    metrics = list(known.metrics.values())
    optimizers = list(known.optimizers.values())
    asked = {
        "names": [name for entry in named for name in (entry.old, entry.use) if name],
        "methods": [name for entry in methods for name in (entry.old, entry.use) if name],
        "models": [name for entry in models for name in (entry.old, entry.use) if name],
        "metrics": [name for entry in metrics for name in (entry.old, entry.use) if name],
        "optimizers": [name for entry in optimizers for name in (entry.old, entry.use) if name],
    }
    done = subprocess.run(
        [sys.executable, "-c", _ASK],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    answer = json.loads(done.stdout.splitlines()[-1])
    has = answer["has"]
    for entry in (*named, *methods, *models, *metrics, *optimizers):
        assert has[entry.old] is not is_gone(entry, answer["version"], answer["keras"]), entry.old
        assert not entry.use or has[entry.use], entry.use


def test_every_entry_says_what_to_do() -> None:
    known = table()
    methods = (known.methods, known.models, known.metrics, known.optimizers, known.texts)
    tables = (known.names, known.families, *methods, known.environment)
    entries = [entry for each in (*tables, *known.parameters.values()) for entry in each.values()]
    assert all(entry.use or entry.instead for entry in entries)
