"""Calls of iisignature-tensorflow-2 0.1.0: its signature layers, with a stand-in for the module that computes them."""

from __future__ import annotations

import iisignature_tensorflow_2 as signatures
from program import Programs

from programs.made import floats, layer, plain

programs = Programs("iisignature_tensorflow_2")
PATHS, SIGNATURES, STEPS = floats(2, 5, 3), floats(2, 12), floats(2, 3)
plain(programs, "Sig", lambda x: signatures.Sig(x, 2), PATHS, gradient=True)
layer(programs, "LogSigLayer", lambda: signatures.LogSigLayer(2), PATHS)
layer(programs, "SigScaleLayer", lambda: signatures.SigScaleLayer(2), [SIGNATURES, STEPS])
layer(programs, "SigJoinLayer", lambda: signatures.SigJoinLayer(2), [SIGNATURES, STEPS])
