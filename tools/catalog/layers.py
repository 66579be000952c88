"""How Keras layers, losses and metrics are made and called, by class name, else by the names of their parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from tools.catalog.arguments import IMAGE, MATRIX, VECTOR, f32, i32, ones
from tools.catalog.public import Public
from tools.catalog.skipped import ABSTRACT

# Keys of a call that are given to the instance; the others make the instance.
INPUTS = frozenset(
    {"inputs", "training", "y_true", "y_pred", "states", "initial_state", "value", "key"}
    | {"attention_mask", "query", "gradients"}
)

_SEQUENCE = ones(2, 4, 3)
_VOLUME = ones(1, 4, 4, 4, 3)
_MAKING: dict[str, Any] = {
    "alpha": 0.3,
    "boundaries": [2, 4],
    "values": [0.1, 0.2, 0.3],
    "initial_learning_rate": 0.1,
    "decay_steps": 10,
    "decay_rate": 0.9,
    "first_decay_steps": 10,
    "axes": 1,
    "bin_boundaries": [0.2, 0.5],
    "cropping": 1,
    "dims": [2, 1],
    "factor": 0.2,
    "filters": 4,
    "groups": 1,
    "height": 8,
    "head_dim": 4,
    "height_factor": 0.2,
    "input_dim": 10,
    "key_dim": 4,
    "kernel_size": 2,
    "max_value": 1.0,
    "n": 2,
    "noise_shape": None,
    "num_bins": 4,
    "num_classes": 3,
    "target_class_ids": [1],
    "recall": 0.5,
    "precision": 0.5,
    "sensitivity": 0.5,
    "specificity": 0.5,
    "num_heads": 2,
    "num_key_value_heads": 1,
    "num_query_heads": 2,
    "num_tokens": 4,
    "output_dim": 4,
    "output_size": 2,
    "normalizer": [1.0, 2.0, 3.0],
    "pool_size": 2,
    "rate": 0.5,
    "scale": 0.5,
    "seed": 1,
    "size": 2,
    "stddev": 0.1,
    "target_shape": [9],
    "units": 4,
    "value_range": [0.0, 1.0],
    "width": 8,
}


class LayerCalls:
    """Tables of calls. Made once per process and Keras: wrapped layers are its own."""

    def __init__(self, keras: Any) -> None:
        self.special = _special_layers(keras.layers)

    def layer(self, public: Public) -> tuple[dict[str, Any], ...]:
        """Ways to make and call a layer, most ordinary first."""
        short = public.name.rsplit(".", 1)[1]
        if short in ABSTRACT:
            return ()
        if short in self.special:
            return tuple(self.special[short])
        making = _making(public)
        if making is None:
            return ()
        return tuple({**making, "inputs": each} for each in _layer_inputs(short))

    def scored(self, public: Public) -> tuple[dict[str, Any], ...]:
        """Ways to make and call a loss or metric: dense targets, class labels, a single value."""
        making = _making(public)
        short = public.name.rsplit(".", 1)[1]
        if making is None or short in {"Loss", "Metric"}:
            return ()
        shares = f32([0.2, 0.3, 0.5], [0.1, 0.8, 0.1], [0.6, 0.2, 0.2])
        targets = f32([0, 0, 1], [0, 1, 0], [1, 0, 0])
        pairs = [(targets, shares), (i32(2, 1, 0), shares), (i32(1, 0, 1), f32(0.2, 0.7, 0.4)),
                 (i32(1, 0, 1), i32(1, 1, 0)), (i32([1]), ones(1, 4, 3))]  # fmt: skip
        if "Sparse" in short or "CTC" in short:
            pairs = [pairs[1], pairs[-1]]
        return tuple({**making, "y_true": true, "y_pred": pred} for true, pred in pairs)

    def applied(self, public: Public) -> tuple[dict[str, Any], ...]:
        """Ways to make and call what is applied to one value: initializers, regularizers, constraints, schedules."""
        making = _making(public)
        kind = public.name.split(".")[1]
        if making is None or public.name.rsplit(".", 1)[1] in ABSTRACT:
            return ()
        if kind == "initializers":
            return tuple({**making, "inputs": shape} for shape in ([3, 3], [2, 2, 3, 3], [4]))
        if ".schedules." in public.name or ".experimental." in public.name:
            return ({**making, "inputs": np.array(3, np.int64)},)
        return ({**making, "inputs": MATRIX}, {**making, "inputs": ones(2, 2, 3, 3)})

    def optimizing(self, public: Public) -> tuple[dict[str, Any], ...]:
        """Ways to make an optimizer and apply gradients with it."""
        making = _making(public)
        if making is None or public.name.rsplit(".", 1)[1] in ABSTRACT:
            return ()
        return ({**making, "gradients": MATRIX},)


def _making(public: Public) -> dict[str, Any] | None:
    """Constructor arguments by parameter name, or None where a required one has no value here."""
    making: dict[str, Any] = {}
    for parameter in public.parameters or ():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is parameter.empty:
            if parameter.name not in _MAKING:
                return None
            making[parameter.name] = _MAKING[parameter.name]
    return making


def _layer_inputs(short: str) -> list[Any]:
    """The rank that a layer's name asks for first."""
    if short.endswith("1D") or "Sequence" in short:
        return [_SEQUENCE, MATRIX]
    if "3D" in short:
        return [_VOLUME, ones(1, 4, 4, 4, 4, 3)]
    if "2D" in short or short.startswith(("Random", "Center", "Auto", "Aug", "Mix", "CutMix")):
        return [IMAGE, ones(2, 4, 4, 4, 3)]
    pair = [MATRIX, MATRIX]
    return [MATRIX, _SEQUENCE, IMAGE, pair, i32(0, 1, 2), VECTOR, _VOLUME, [_SEQUENCE, _SEQUENCE]]


def _special_layers(layers: Any) -> dict[str, list[dict[str, Any]]]:
    words = np.array([[b"a b"], [b"b"]])
    numbers = i32([1, 2], [2, 1])
    pair = [MATRIX, MATRIX]
    sequences = [_SEQUENCE, _SEQUENCE]
    cells = {
        name: [{"units": 4, "inputs": MATRIX, "states": states}]
        for name, states in {
            "SimpleRNNCell": [ones(3, 4)],
            "GRUCell": [ones(3, 4)],
            "LSTMCell": [ones(3, 4), ones(3, 4)],
        }.items()
    }
    recurrent = {name: [{"units": 4, "inputs": _SEQUENCE}] for name in ("LSTM", "GRU", "SimpleRNN")}
    merging = {
        name: [{"inputs": pair}]
        for name in ("Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract")
    }
    convolving = {
        f"ConvLSTM{rank}D": [{"filters": 2, "kernel_size": 2, "inputs": ones(1, 3, *[4] * rank, 2)}]
        for rank in (1, 2, 3)
    }
    return {
        **cells,
        **recurrent,
        **merging,
        **convolving,
        "Activation": [{"activation": "relu", "inputs": MATRIX}],
        "AdditiveAttention": [{"inputs": sequences}],
        "Attention": [{"inputs": sequences}],
        "Bidirectional": [{"layer": layers.LSTM(4), "inputs": _SEQUENCE}],
        "BatchNormalization": [{"inputs": MATRIX}],
        "CategoryEncoding": [{"num_tokens": 4, "inputs": numbers}],
        "CenterCrop": [{"height": 2, "width": 2, "inputs": IMAGE}],
        "Discretization": [{"bin_boundaries": [0.2, 0.5], "inputs": MATRIX}],
        "Dot": [{"axes": 1, "inputs": pair}],
        "EinsumDense": [{"equation": "ab,bc->ac", "output_shape": 4, "inputs": MATRIX}],
        "Embedding": [{"input_dim": 10, "output_dim": 4, "inputs": numbers}],
        "GroupNormalization": [{"groups": 3, "inputs": MATRIX}],
        "GroupedQueryAttention": [
            {
                "head_dim": 4,
                "num_query_heads": 2,
                "num_key_value_heads": 1,
                "inputs": _SEQUENCE,
                "value": _SEQUENCE,
            }
        ],
        "GroupQueryAttention": [
            {
                "head_dim": 4,
                "num_query_heads": 2,
                "num_key_value_heads": 1,
                "inputs": _SEQUENCE,
                "value": _SEQUENCE,
            }
        ],
        "HashedCrossing": [{"num_bins": 4, "inputs": [np.array([b"a"]), np.array([b"b"])]}],
        "Hashing": [{"num_bins": 4, "inputs": words}, {"num_bins": 4, "inputs": numbers}],
        "IntegerLookup": [{"vocabulary": [1, 2, 3], "inputs": numbers.astype(np.int64)}],
        "Lambda": [{"function": lambda x: x * 2.0, "inputs": MATRIX}],
        "LocallyConnected1D": [{"filters": 4, "kernel_size": 2, "inputs": _SEQUENCE}],
        "LocallyConnected2D": [{"filters": 4, "kernel_size": 2, "inputs": IMAGE}],
        "Masking": [{"inputs": _SEQUENCE}],
        "MelSpectrogram": [
            {"fft_length": 16, "sequence_length": 16, "sequence_stride": 8, "num_mel_bins": 4,
             "inputs": ones(1, 64)},
            {"inputs": ones(1, 4096)},
        ],
        "MultiHeadAttention": [
            {"num_heads": 2, "key_dim": 4, "inputs": _SEQUENCE, "value": _SEQUENCE}
        ],
        "Normalization": [{"mean": 0.0, "variance": 1.0, "inputs": MATRIX}],
        "Permute": [{"dims": [2, 1], "inputs": _SEQUENCE}],
        "RNN": [{"cell": layers.LSTMCell(4), "inputs": _SEQUENCE}],
        "RandomBrightness": [{"factor": 0.2, "inputs": IMAGE}],
        "RandomPosterization": [{"factor": 4, "inputs": IMAGE}],
        "RandomFourierFeatures": [{"output_dim": 4, "inputs": MATRIX}],
        "RandomCrop": [{"height": 2, "width": 2, "inputs": IMAGE}],
        "RandomHeight": [{"factor": 0.2, "inputs": IMAGE}],
        "RandomWidth": [{"factor": 0.2, "inputs": IMAGE}],
        "RandomTranslation": [{"height_factor": 0.2, "width_factor": 0.2, "inputs": IMAGE}],
        "RepeatVector": [{"n": 3, "inputs": MATRIX}],
        "Resizing": [{"height": 8, "width": 8, "inputs": IMAGE}],
        "Rescaling": [{"scale": 0.5, "inputs": IMAGE}],
        "Reshape": [{"target_shape": [3, 1], "inputs": MATRIX}],
        "STFTSpectrogram": [
            {"frame_length": 16, "frame_step": 8, "fft_length": 16, "inputs": ones(1, 64, 1)}
        ],
        "SpectralNormalization": [{"layer": layers.Dense(4), "inputs": MATRIX}],
        "StringLookup": [{"vocabulary": ["a", "b"], "inputs": words}],
        "TextVectorization": [{"vocabulary": ["a", "b"], "inputs": words}],
        "TimeDistributed": [{"layer": layers.Dense(4), "inputs": _SEQUENCE}],
        "UpSampling1D": [{"inputs": _SEQUENCE}],
        "UpSampling2D": [{"inputs": IMAGE}],
        "CuDNNLSTM": [{"units": 4, "inputs": _SEQUENCE}],
        "CuDNNGRU": [{"units": 4, "inputs": _SEQUENCE}],
    }  # fmt: skip
