"""Calls of gigalens 2.0.1: deflections by mass profiles and brightness of light profiles, with a stand-in for lenstronomy."""

from __future__ import annotations

from typing import Any

import numpy as np
from gigalens.tf.profiles.light import sersic, shapelets
from gigalens.tf.profiles.mass import epl, shear, sie, sis, tnfw
from program import Call, Programs

from programs.made import floats

programs = Programs("gigalens")
X, Y = floats(4, 4, 2) * 2 - 1, floats(4, 4, 2) * 2 - 1


def _values(count: int) -> list[Any]:
    return [floats(2) / 4 + 0.3 for _ in range(count)]


for _kind, _method, _count in (
    (epl.EPL, "deriv", 6),
    (sie.SIE, "deriv", 5),
    (sis.SIS, "deriv", 3),
    (shear.Shear, "deriv", 2),
    (tnfw.TNFW, "deriv", 5),
    (sersic.Sersic, "light", 5),
    (sersic.SersicEllipse, "light", 7),
    (sersic.CoreSersic, "light", 10),
):

    @programs(f"{_kind.__name__}.{_method}")
    def _profile(kind: Any = _kind, method: str = _method, count: int = _count) -> Call:
        made = kind()
        return Call(lambda *inputs: getattr(made, method)(*inputs), [X, Y, *_values(count)], True)


class _Functions:
    def phi_n(self, order: int, x: Any) -> Any:
        return np.asarray(x) ** order * np.exp(-(np.asarray(x) ** 2) / 2)


for _interpolate in (True, False):

    @programs(f"Shapelets.light {_interpolate}")
    def _shapelets(interpolate: bool = _interpolate) -> Call:
        shapelets.LenstronomyShapelets = _Functions
        made = shapelets.Shapelets(1, interpolate=interpolate)

        def light(x: Any, y: Any, cx: Any, cy: Any, beta: Any, *amplitudes: Any) -> Any:
            return made.light(
                x, y, cx, cy, beta, **{f"amp{i}": a for i, a in enumerate(amplitudes)}
            )

        return Call(light, [X, Y, *_values(6)], True)
