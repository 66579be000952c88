"""What the compiler's refusal of a program means: no TPU runs it, a chip has too little memory, or neither is known."""

from __future__ import annotations

import re

COMPILES, REJECTED, OVERFLOWS, UNVERIFIED = "compiles", "rejected", "does not fit", "unverified"

_OVERFLOW = "RESOURCE_EXHAUSTED"
# TensorFlow lowers some things otherwise for a TPU than for the CPU here: kernels that a CPU has ("Custom emitter for
# lapack_spotrf not found"), and dimensions whose size only the data tell. No fault of the program's.
_LOWERED_FOR_CPU = re.compile(
    r"[Cc]ustom emitter|custom[ -]call|Dynamic input unexpectedly found|[Bb]ounded dynamic|dynamic dimension|PadToStatic"
    r"|SliceToDynamic",
    re.ASCII,
)
# Codes of what a program cannot be blamed for; INTERNAL is for checks of the compiler's own that fail.
_NOBODYS_FAULT = ("CANCELLED", "UNKNOWN", "DEADLINE_EXCEEDED", "INTERNAL", "UNAVAILABLE")


def status_of(code: str, message: str) -> tuple[str, str]:
    """(status, what to say before the message) of a program that was refused with a PJRT error code."""
    if code == _OVERFLOW:
        return OVERFLOWS, ""
    if _LOWERED_FOR_CPU.search(message):
        return UNVERIFIED, "TensorFlow lowers this for a CPU in a way that TPUs do not take: "
    if code in _NOBODYS_FAULT:
        return UNVERIFIED, "the compiler itself failed: "
    return REJECTED, ""
