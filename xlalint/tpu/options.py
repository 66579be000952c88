"""XLA's CompileOptionsProto, as much of it as a data-parallel step needs (xla/pjrt/proto/compile_options.proto)."""

from __future__ import annotations

from xlalint.tpu.wire import encode_bytes, encode_number, encode_packed

# Fields of CompileOptionsProto and of its ExecutableBuildOptionsProto and DeviceAssignmentProto.
_BUILD = 3
_DEVICE, _REPLICAS, _PARTITIONS, _ASSIGNMENT, _LEVEL = 1, 4, 5, 9, 24
_ASSIGNED_REPLICAS, _ASSIGNED_COMPUTATIONS, _COMPUTATION_DEVICES, _DEVICE_IDS = 1, 2, 3, 1


def compile_options(replicas: int, devices: list[int], level: int | None = None) -> bytes:
    """Options for `replicas` copies of the program, one on each of `devices`; `level` as in `-O`, None for the default.

    Raises ValueError unless there is a device for each replica.
    """
    if len(devices) != replicas:
        raise ValueError(f"{replicas} replicas need as many devices, not {len(devices)}")
    computation = encode_packed(_DEVICE_IDS, devices)
    assignment = (
        encode_number(_ASSIGNED_REPLICAS, replicas)
        + encode_number(_ASSIGNED_COMPUTATIONS, 1)
        + encode_bytes(_COMPUTATION_DEVICES, computation)
    )
    build = (
        encode_number(_DEVICE, -1)
        + encode_number(_REPLICAS, replicas)
        + encode_number(_PARTITIONS, 1)
        + encode_bytes(_ASSIGNMENT, assignment)
        + (b"" if level is None else encode_number(_LEVEL, level))
    )
    return encode_bytes(_BUILD, build)
