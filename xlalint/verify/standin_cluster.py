"""The cluster of a TPU that is not there: resolver, topology, devices, connections.

Imported by `standin.install` only: it needs TensorFlow as it is defined.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from xlalint.verify.patching import Patches
from xlalint.verify.standin import private

_Topology = private("tensorflow.python.tpu.topology", "Topology")
_SystemMetadata = private("tensorflow.python.tpu.tpu_system_metadata", "TPUSystemMetadata")
_ADDRESS = "10.0.0.2:8470"


class _Resolver(tf.distribute.cluster_resolver.ClusterResolver):  # type: ignore[misc]
    """`TPUClusterResolver`, whose TPU is always found. Same arguments as TensorFlow's."""

    _replicas: int

    def __init__(
        self,
        tpu: Any = None,
        zone: Any = None,
        project: Any = None,
        job_name: str = "worker",
        coordinator_name: Any = None,
        coordinator_address: Any = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: Any = None,
    ) -> None:
        self._tpu = tpu
        self._job_name = job_name
        self.task_type = job_name
        self.task_id = 0
        self.rpc_layer = "grpc"

    @classmethod
    def connect(cls, tpu: Any = None, zone: Any = None, project: Any = None) -> _Resolver:
        return cls(tpu, zone, project)

    def __enter__(self) -> _Resolver:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def cluster_spec(self) -> Any:
        return tf.train.ClusterSpec({self._job_name: [_ADDRESS]})

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> str:
        return f"grpc://{_ADDRESS}"

    def get_master(self) -> str:
        return self.master()

    def get_job_name(self) -> str:
        return self._job_name

    def get_coordination_service_leader(self) -> str:
        return f"/job:{self._job_name}/replica:0/task:0"

    def get_tpu_system_metadata(self) -> Any:
        return _SystemMetadata(
            num_cores=self._replicas,
            num_hosts=1,
            num_of_cores_per_host=self._replicas,
            topology=topology(self._replicas),
            devices=tuple(devices(tf.config.LogicalDevice, self._replicas)),
        )

    def num_accelerators(
        self, task_type: Any = None, task_id: Any = None, config_proto: Any = None
    ) -> dict[str, int]:
        return {"TPU": self._replicas}

    def set_tpu_topology(self, serialized_tpu_topology: Any) -> None:
        pass

    @property
    def tpu_hardware_feature(self) -> None:
        return None

    @property
    def environment(self) -> str:
        return "google"


def resolver_class(replicas: int) -> type[Any]:
    """The resolver of a TPU with `replicas` cores."""

    class TPUClusterResolver(_Resolver):
        _replicas = replicas

    return TPUClusterResolver


def resolver_module(name: str) -> Any:
    """A module of TensorFlow that names the resolver, or None: the layout differs by version."""
    try:
        return importlib.import_module(f"tensorflow.python.distribute.cluster_resolver.{name}")
    except ImportError:
        return None


def topology(replicas: int) -> Any:
    """One host's topology, of chips with two cores where the number is even (as a v2-8 has)."""
    cores = 2 if replicas % 2 == 0 else 1
    chips = replicas // cores
    coordinates = [[chip, 0, 0, core] for chip in range(chips) for core in range(cores)]
    return _Topology(
        mesh_shape=np.array([chips, 1, 1, cores], np.int32),
        device_coordinates=np.array([coordinates], np.int32),
    )


def devices(device_class: Callable[..., Any], replicas: int) -> list[Any]:
    """`replicas` devices as TensorFlow names a TPU worker's."""
    prefix = "/job:worker/replica:0/task:0/device:TPU:"
    return [device_class(name=f"{prefix}{index}", device_type="TPU") for index in range(replicas)]


def replace_connections(patches: Patches, config: Any, resolver: type[Any]) -> None:
    """Connecting to a TPU does nothing; connecting to another cluster is TensorFlow's own business."""

    def wrap(connect: Any) -> Any:
        @functools.wraps(connect)
        def connect_unless_tpu(target: Any = None, *args: Any, **kwargs: Any) -> Any:
            if isinstance(target, (resolver, str, list, type(None))):
                return None
            return connect(target, *args, **kwargs)

        return connect_unless_tpu

    for name in ("experimental_connect_to_cluster", "experimental_connect_to_host"):
        patches.wrap(config, name, wrap)


def replace_device_lists(patches: Patches, config: Any, replicas: int) -> None:
    """Every list of devices that is asked for TPUs names `replicas` of them."""

    def wrap(device_class: Callable[..., Any]) -> Callable[[Any], Any]:
        def wrapper(list_devices: Any) -> Any:
            @functools.wraps(list_devices)
            def list_with_tpu(device_type: Any = None) -> Any:
                if device_type in ("TPU", "tpu"):
                    return devices(device_class, replicas)
                return list_devices(device_type)

            return list_with_tpu

        return wrapper

    for namespace in (config, config.experimental):
        patches.wrap(namespace, "list_logical_devices", wrap(tf.config.LogicalDevice))
        for name in ("list_physical_devices", "get_visible_devices"):
            patches.wrap(namespace, name, wrap(tf.config.PhysicalDevice))
