"""The process that holds TensorFlow: reads one job per line, reports each step as it begins and as it ends.

Whatever kills this process does so inside an announced step, so the parent knows which one it was.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any, TextIO


def main() -> None:
    """Serve jobs from standard input until it closes. Replies go to the original standard output, one JSON per line."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    warnings.simplefilter("ignore")
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # TensorFlow and user-facing APIs print
    server = _Server(replies)
    os.dup2(1, 2)
    server.serve(sys.stdin)


class _Server:
    def __init__(self, replies: TextIO) -> None:
        # TensorFlow comes in here, after its environment is set.
        import logging

        import tensorflow as tf

        from tools.catalog.arguments import Arguments
        from tools.catalog.compiler import compiled_ops
        from tools.catalog.layers import LayerCalls
        from tools.catalog.operations import OperationProbe
        from tools.catalog.public import LEGACY_KERAS, enumerate_public, legacy_keras
        from tools.catalog.recipes import recipes
        from tools.catalog.registry import operations

        logging.getLogger("tensorflow").setLevel(logging.CRITICAL)
        logging.getLogger("absl").setLevel(logging.CRITICAL)
        tf.config.set_soft_device_placement(True)
        tf.random.set_seed(1)
        # Summaries are dropped where no writer is the default one; with one they do what they do in training.
        folder = tempfile.mkdtemp(prefix="catalog-")
        tf.summary.create_file_writer(folder).set_as_default()
        self._replies = replies
        self._operations = operations()
        self._public = enumerate_public()
        self._recipes = recipes()
        self._tables = Arguments()
        self._layers = {"keras": LayerCalls(tf.keras)}
        legacy = legacy_keras()
        if legacy is not None:
            self._layers[LEGACY_KERAS] = LayerCalls(legacy)
        self._probe = OperationProbe(compiled_ops())

    def serve(self, jobs: TextIO) -> None:
        self._reply({"ready": True})
        for line in jobs:
            job = json.loads(line)
            if job["job"] == "list":
                self._reply(self._listing())
            elif job["job"] == "symbols":
                self._reply(self._symbols())
            else:
                self._measure(job["name"], set(job["deadly"]), job["known"], set(job["without"]))
                self._reply({"end": True})

    def _listing(self) -> dict[str, Any]:
        import tensorflow as tf

        from tools.catalog.public import keras_version

        return {
            "tensorflow": tf.__version__,
            "keras": keras_version(),
            "ops": self._operations,
            "apis": {
                each.name: {
                    "params": list(each.params),
                    "aliases": list(each.aliases),
                    "is_class": each.is_class,
                    "has_recipe": each.name in self._recipes,
                }
                for each in self._public.values()
            },
        }

    def _symbols(self) -> dict[str, Any]:
        import tensorflow as tf

        from tools.catalog.symbols import declared

        return {"tensorflow": tf.__version__, "symbols": declared()}

    def _measure(
        self,
        name: str,
        deadly: set[str],
        known: dict[str, dict[str, Any]],
        without: set[str],
    ) -> None:
        """Run the steps of one API that are not in `known`, which holds the results of earlier runs.

        `without` names steps to leave out, by what stands before the colon of their labels.
        """
        from tools.catalog.measure import measure
        from tools.catalog.public import LEGACY_KERAS
        from tools.catalog.subjects import subject_of

        public = self._public[name]
        try:
            family = LEGACY_KERAS if name.startswith(f"{LEGACY_KERAS}.") else "keras"
            layers = self._layers.get(family, self._layers["keras"])
            subject = subject_of(public, self._recipes, self._tables, layers)
        except Exception as error:  # a table holds a mistake; the other names go on
            self._reply({"done": "subject", "result": {"error": repr(error)[:200]}})
            return
        if subject is None:
            return

        def step(label: str, run: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
            if label in deadly:
                return None
            if label in known:
                return known[label]
            if label.partition(":")[0] in without:
                return None
            self._reply({"start": label})
            try:
                result = run()
            except Exception as error:
                result = {"error": f"{type(error).__name__}: {error}"[:200]}
            self._reply({"done": label, "result": result})
            return result

        measure(name, subject, step, None if known else self._probe)

    def _reply(self, message: dict[str, Any]) -> None:
        self._replies.write(json.dumps(message) + "\n")


if __name__ == "__main__":
    main()
