"""Calls of Larq 0.14.0 (Keras 2): quantized layers, quantizers and optimizers."""

from __future__ import annotations

import larq as lq
from program import Programs

from programs.made import floats, layer, plain

programs = Programs("larq")
L = lq.layers
QUANTIZED = {
    "input_quantizer": "ste_sign",
    "kernel_quantizer": "ste_sign",
    "kernel_constraint": "weight_clip",
}

layer(programs, "QuantDense", lambda: L.QuantDense(4, **QUANTIZED), floats(3, 5))
layer(programs, "QuantConv1D", lambda: L.QuantConv1D(4, 3, **QUANTIZED), floats(2, 8, 3))
layer(programs, "QuantConv2D", lambda: L.QuantConv2D(4, 3, **QUANTIZED), floats(2, 8, 8, 3))
layer(
    programs,
    "QuantConv2D pad",
    lambda: L.QuantConv2D(4, 3, padding="same", pad_values=1.0, **QUANTIZED),
    floats(2, 8, 8, 3),
)
layer(programs, "QuantConv3D", lambda: L.QuantConv3D(2, 2, **QUANTIZED), floats(1, 4, 4, 4, 2))
layer(
    programs,
    "QuantDepthwiseConv2D",
    lambda: L.QuantDepthwiseConv2D(3, input_quantizer="ste_sign", depthwise_quantizer="ste_sign"),
    floats(2, 8, 8, 3),
)
layer(
    programs,
    "QuantSeparableConv2D",
    lambda: L.QuantSeparableConv2D(
        4, 3, depthwise_quantizer="ste_sign", pointwise_quantizer="ste_sign"
    ),
    floats(2, 8, 8, 3),
)
layer(
    programs,
    "QuantSeparableConv1D",
    lambda: L.QuantSeparableConv1D(
        4, 3, depthwise_quantizer="ste_sign", pointwise_quantizer="ste_sign"
    ),
    floats(2, 8, 3),
)
layer(
    programs,
    "QuantConv2DTranspose",
    lambda: L.QuantConv2DTranspose(4, 3, **QUANTIZED),
    floats(2, 4, 4, 3),
)
layer(
    programs,
    "QuantConv3DTranspose",
    lambda: L.QuantConv3DTranspose(2, 2, **QUANTIZED),
    floats(1, 3, 3, 3, 2),
)
layer(
    programs,
    "QuantLocallyConnected1D",
    lambda: L.QuantLocallyConnected1D(2, 3, **QUANTIZED),
    floats(2, 6, 3),
)
layer(
    programs,
    "QuantLocallyConnected2D",
    lambda: L.QuantLocallyConnected2D(2, 3, **QUANTIZED),
    floats(2, 6, 6, 3),
)
for (
    _name
) in "SteSign ApproxSign SteHeaviside SwishSign MagnitudeAwareSign SteTern DoReFa NoOp".split():
    if hasattr(lq.quantizers, _name):
        layer(
            programs, f"quantizers.{_name}", getattr(lq.quantizers, _name), floats(4, 3, 3, 2) - 0.5
        )
plain(
    programs,
    "activations.hard_tanh",
    lambda x: lq.activations.hard_tanh(x),
    floats(4),
    gradient=True,
)
plain(
    programs,
    "activations.leaky_tanh",
    lambda x: lq.activations.leaky_tanh(x),
    floats(4),
    gradient=True,
)
plain(programs, "math.sign", lambda x: lq.math.sign(x), floats(4))
plain(programs, "math.heaviside", lambda x: lq.math.heaviside(x), floats(4))
