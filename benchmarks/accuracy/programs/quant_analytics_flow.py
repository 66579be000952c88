"""Calls of quant_analytics_flow 0.0.1: Brownian bridges and what they are built of."""

from __future__ import annotations

import numpy as np
from program import Call, Programs
from quant_analytics_flow.analytics.matrixanalytics import square_root_symmetric_matrix
from quant_analytics_flow.analytics.norminv import norminv
from quant_analytics_flow.calculators.multivariatebrownianbridge import MultivariateBrownianBridge
from quant_analytics_flow.calculators.univariatebrownianbridge import UnivariateBrownianBridge

from programs.made import floats, plain

programs = Programs("quant_analytics_flow")
STEPS = floats(4, 2, 3).astype("float64")
COVARIANCES = np.asarray([np.eye(2) + 0.1] * 4)

plain(programs, "square_root_symmetric_matrix", square_root_symmetric_matrix, COVARIANCES[0])
plain(programs, "norminv", norminv, STEPS)


@programs("UnivariateBrownianBridge.path")
def _path() -> Call:
    made = UnivariateBrownianBridge(4)
    return Call(lambda steps: made.path(steps, True), [STEPS])


@programs("MultivariateBrownianBridge.path")
def _paths() -> Call:
    return Call(lambda matrices: MultivariateBrownianBridge(matrices).path(3), [COVARIANCES])
