"""Calls of tfkbnufft 0.2.5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from program import Call, Programs
from tfkbnufft import kbnufft_adjoint, kbnufft_forward
from tfkbnufft.kbnufft import KbNufftModule
from tfkbnufft.mri import dcomp_calc
from tfkbnufft.nufft import fft_functions, interp_functions

from programs.made import floats, plain

programs = Programs("tfkbnufft")
# Radians.
TRAJECTORY = floats(1, 2, 30) * 6 - 3
CALLS: dict[str, Callable[[Any], Call]] = {
    "fwdFalse": lambda it: Call(
        kbnufft_forward(it, False), [complexes(1, 1, 16, 16), TRAJECTORY], True
    ),
    "fwdTrue": lambda it: Call(
        kbnufft_forward(it, True), [complexes(1, 1, 16, 16), TRAJECTORY], True
    ),
    "adjFalse": lambda it: Call(
        kbnufft_adjoint(it, False), [complexes(1, 1, 30), TRAJECTORY], True
    ),
    "adjTrue": lambda it: Call(kbnufft_adjoint(it, True), [complexes(1, 1, 30), TRAJECTORY], True),
    "dcomp": lambda it: Call(
        lambda k: dcomp_calc.calculate_density_compensator(
            it, kbnufft_forward(it), kbnufft_adjoint(it), k, num_iterations=3
        ),
        [TRAJECTORY[0]],
    ),
    "dcompr": lambda it: Call(
        lambda k: dcomp_calc.calculate_radial_dcomp_tf(
            it, kbnufft_forward(it), kbnufft_adjoint(it), k
        ),
        [TRAJECTORY[0]],
    ),
    "kbi": lambda it: Call(
        lambda x, m: interp_functions.kbinterp(x, m, it),
        [complexes(1, 1, 32, 32), TRAJECTORY],
        True,
    ),
    "akbi": lambda it: Call(
        lambda x, m: interp_functions.adjkbinterp(x, m, it),
        [complexes(1, 1, 30), TRAJECTORY],
        True,
    ),
}


def complexes(*shape: int) -> Any:
    return (floats(*shape) + 1j * floats(*shape)).astype(np.complex64)


def add(name: str, call: Callable[[Any], Call]) -> None:
    def build() -> Call:
        module = KbNufftModule(im_size=(16, 16), grid_size=None, norm="ortho")
        return call(module._extract_nufft_interpob())

    programs(name)(build)


for name, call in CALLS.items():
    add(name, call)
for name in ("tf_mp_ifft", "tf_mp_fft", "tf_mp_ifft2d", "tf_mp_fft2d"):
    plain(programs, name, getattr(fft_functions, name), complexes(2, 2, 8, 8))
for name in ("tf_mp_ifft3d", "tf_mp_fft3d"):
    plain(programs, name, getattr(fft_functions, name), complexes(2, 2, 4, 8, 8))
