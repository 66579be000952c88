"""What TensorFlow itself cannot do under a strategy, told apart from a program's own faults by the words of its error."""

from __future__ import annotations

import re
import sys
import traceback
from dataclasses import dataclass

from xlalint.verify import jobs
from xlalint.verify.locate import text_of
from xlalint.verify.sites import is_user_file, real_path


@dataclass(frozen=True, slots=True)
class Limit:
    """An error that TensorFlow or Keras raises for every program of a kind: `says` why, for the reader.

    `is_in_keras` means that it counts only where it was raised below one of Keras's own frames, with none of the program's
    beneath: the same words may be the program's own fault elsewhere.
    """

    strategies: tuple[str, ...]
    pattern: str
    says: str
    is_in_keras: bool = False


# Each was seen to be raised by TensorFlow 2.21 and Keras 3.15 without xlalint; the README's table says what works instead.
LIMITS = (
    Limit(
        (jobs.MULTI_WORKER,),
        r"Attempt to convert a value \(PerReplica",
        "fit of {keras} takes the values of all replicas for one tensor under MultiWorkerMirroredStrategy; fit of tf_keras "
        "works, and so does a loop of your own with strategy.run",
        is_in_keras=True,
    ),
    Limit(
        (jobs.PARAMETER_SERVER,),
        r"pass this dataset to ClusterCoordinator\.create_per_worker_dataset",
        "fit of {keras} knows no ParameterServerStrategy; fit of tf_keras works, and so does a loop of your own with "
        "ClusterCoordinator.schedule",
        is_in_keras=True,
    ),
    Limit(
        (jobs.PARAMETER_SERVER,),
        r"pass this dataset to ClusterCoordinator\.create_per_worker_dataset",
        "ParameterServerStrategy trains only what a ClusterCoordinator schedules, from a dataset of its create_per_worker_dataset; "
        "the loop iterates over a distributed dataset itself",
    ),
    Limit(
        (jobs.PARAMETER_SERVER,),
        r"must be used with .*ClusterCoordinator|'NoneType' object has no attribute 'merge_call'",
        "ParameterServerStrategy trains only what a ClusterCoordinator schedules; the loop runs its steps itself",
    ),
    Limit(
        (jobs.CENTRAL_STORAGE,),
        r"specify an aggregation method to update a AggregatingVariable|symbolic `tf.Tensor` as a Python `bool`",
        "{keras} updates variables (BatchNormalization's, metrics') in a way that CentralStorageStrategy refuses; tf_keras works",
        is_in_keras=True,
    ),
)


def of(strategy: str, error: BaseException) -> str:
    """Why TensorFlow cannot train so, empty where the error is none that we know."""
    text = f"{type(error).__name__}: {text_of(error)}"
    for limit in LIMITS:
        if strategy not in limit.strategies or not re.search(limit.pattern, text):
            continue
        if not limit.is_in_keras or _ends_in_keras(error):
            return limit.says.format(keras=_keras())
    return ""


def _ends_in_keras(error: BaseException) -> bool:
    """Is the innermost frame that is the program's or Keras's one of Keras 3's?"""
    innermost = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if "/keras/src/" in frame.filename or is_user_file(real_path(frame.filename)):
            innermost = frame.filename
    # AutoGraph's own frames stand for the program's: its message lists those it left out.
    return "/keras/src/" in innermost or "/keras/src/" in text_of(error)


def _keras() -> str:
    keras = sys.modules.get("keras")
    return f"Keras {getattr(keras, '__version__', '')}".strip()
