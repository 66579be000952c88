"""What a process of a cluster does besides running the program: serve it, or wait for the others before it leaves."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xlalint.verify import jobs
from xlalint.verify.jobs import Job

# Longer than the parent waits: it ends those that wait in vain.
_MOST_SECONDS = 120.0


def serve(tell: Callable[[], None]) -> None:
    """Be the server that $TF_CONFIG names, until the parent ends this process. `tell` is called once it runs.

    A worker's steps wait for each other on a machine with fewer cores than workers, for ever, unless the server has a
    thread more than there are workers.
    """
    tf = importlib.import_module("tensorflow")
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    cluster = resolver.cluster_spec()
    config = tf.compat.v1.ConfigProto()
    workers = int(cluster.num_tasks("worker"))
    config.inter_op_parallelism_threads = max(workers + 1, os.cpu_count() or 1)
    server: Any = tf.distribute.Server(
        cluster,
        job_name=resolver.task_type,
        task_index=resolver.task_id,
        config=config,
        protocol="grpc",
    )
    tell()
    server.join()


def meet(job: Job) -> None:
    """Wait until each of the other workers has come here too: one that leaves early takes the others' strategy down.

    The parent hears who has, and says so by making the file; what this process writes might go elsewhere.
    """
    if job.strategy != jobs.MULTI_WORKER or not job.meeting:
        return
    deadline = time.monotonic() + _MOST_SECONDS
    while not Path(job.meeting).exists() and time.monotonic() < deadline:
        time.sleep(0.05)
