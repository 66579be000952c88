"""Calls of nbeats_keras 1.8.0: its loss, and what its blocks make of their parameters."""

from __future__ import annotations

from nbeats_keras import model
from program import Programs

from programs.made import floats, plain

programs = Programs("nbeats_keras")

plain(programs, "smape_loss", model.smape_loss, floats(3, 5), floats(3, 5), gradient=True)
plain(
    programs,
    "trend_model",
    lambda thetas: model.trend_model(thetas, 6, 3, is_forecast=True),
    floats(2, 4),
    gradient=True,
)
plain(
    programs,
    "seasonality_model",
    lambda thetas: model.seasonality_model(thetas, 6, 3, is_forecast=False),
    floats(2, 4),
    gradient=True,
)
