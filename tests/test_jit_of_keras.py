"""When Keras 3 compiles with XLA by itself: what the pages of XLA401 and XLA501 say of `jit_compile="auto"`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from xlalint.rules.layers import KNOWN_TO_KERAS

pytestmark = [pytest.mark.compiler, pytest.mark.xdist_group("jit-of-keras")]

_ASK = """\
import json, types, warnings
import keras, tensorflow as tf

cpu, gpu = (types.SimpleNamespace(device_type=kind) for kind in ("CPU", "GPU"))


def auto(devices, strategy, *layers):
    made = lambda: keras.Sequential([keras.Input((8, 8, 3)), *layers, keras.layers.Flatten(), keras.layers.Dense(1)])
    if strategy is None:
        model = made()
    else:
        with strategy.scope():
            model = made()
    tf.config.list_physical_devices, listed = lambda *kind: devices, tf.config.list_physical_devices
    try:
        return model._resolve_auto_jit_compile()
    finally:
        tf.config.list_physical_devices = listed


one = tf.distribute.OneDeviceStrategy("CPU:0")
options = {
    "RandomShear": ((0.1, 0.1), {}), "RandomTranslation": ((0.1, 0.1), {}), "RandomPerspective": ((), {}),
    "RandomRotation": ((0.1,), {}), "RandomZoom": ((0.1,), {}), "HashedCrossing": ((3,), {}), "Hashing": ((3,), {}),
    "IntegerLookup": ((), {"vocabulary": [1]}), "StringLookup": ((), {"vocabulary": ["a"]}), "TextVectorization": ((), {}),
    "MixUp": ((), {}), "CutMix": ((), {}), "AugMix": ((), {}), "RandAugment": ((), {}), "RandomFlip": ((), {}),
}
supports = {name: getattr(keras.layers, name)(*a, **k).supports_jit for name, (a, k) in options.items()}
print(json.dumps({
    "cpu": auto([cpu], None), "gpu": auto([cpu, gpu], None), "strategy": auto([cpu, gpu], one),
    "layer": auto([cpu, gpu], None, keras.layers.RandomRotation(0.1)), "supports": supports,
}))
"""


@pytest.fixture(scope="module")
def answers() -> dict[str, object]:
    pytest.importorskip("keras", minversion="3.10")
    done = subprocess.run([sys.executable, "-c", _ASK], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert isinstance(found, dict)
    return found


def test_auto_compiles_where_a_gpu_is_visible_and_no_strategy_is_used(
    answers: dict[str, object],
) -> None:
    decided = {where: answers[where] for where in ("cpu", "gpu", "strategy", "layer")}
    assert decided == {"cpu": False, "gpu": True, "strategy": False, "layer": False}


def test_the_layers_for_which_keras_drops_xla_are_those_it_knows(
    answers: dict[str, object],
) -> None:
    supports = answers["supports"]
    assert isinstance(supports, dict)
    dropped = {f"keras.layers.{name}" for name, supported in supports.items() if not supported}
    assert dropped == KNOWN_TO_KERAS
