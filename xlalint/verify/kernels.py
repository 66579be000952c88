"""Operations of a graph that XLA has no kernel for. The compiler names the first one only; users want them all."""

from __future__ import annotations

from typing import Any

from xlalint.verify.graphs import needed_operations

_DEVICE = "XLA_CPU_JIT"
# Not compiled as kernels: functions are inlined or compiled by themselves, arguments are parameters.
_STRUCTURAL = frozenset(
    {
        "Placeholder",
        "PlaceholderWithDefault",
        "PartitionedCall",
        "StatefulPartitionedCall",
        "NoOp",
        "_Arg",
        "_Retval",
    }
)


def missing(graph: Any) -> list[Any]:
    """The operations without an XLA kernel that the results of `graph`, or of the functions it calls, depend on.

    Empty where TensorFlow does not tell its kernels (it lists XLA's only after something was compiled).
    """
    known = registered()
    if not known:
        return []
    return [
        op for op in needed_operations(graph) if op.type not in known and op.type not in _STRUCTURAL
    ]


def registered() -> frozenset[str]:
    """The types of operations that XLA has a kernel for; empty where TensorFlow does not tell."""
    from tensorflow.python.framework import kernels

    listed = kernels.get_all_registered_kernels().kernel
    return frozenset(kernel.op for kernel in listed if kernel.device_type == _DEVICE)
