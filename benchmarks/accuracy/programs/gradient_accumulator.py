"""Calls of gradient_accumulator 0.5.2: adaptive clipping of gradients."""

from __future__ import annotations

from gradient_accumulator import adaptive_clip_grad, compute_norm
from program import Programs

from programs.made import floats, plain

programs = Programs("gradient_accumulator")

plain(
    programs,
    "compute_norm",
    lambda x: compute_norm(x, axis=0, keepdims=True),
    floats(3, 4),
    gradient=True,
)
for name, shape in (("bias", (4,)), ("dense", (3, 4)), ("convolution", (2, 2, 3, 4))):
    plain(
        programs,
        f"adaptive_clip_grad {name}",
        lambda weights, gradient: adaptive_clip_grad([weights], [gradient]),
        floats(*shape),
        floats(*shape),
    )
