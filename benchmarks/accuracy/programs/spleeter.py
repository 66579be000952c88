"""Calls of spleeter 2.4.2: spectrograms, and the tools that shape tensors."""

from __future__ import annotations

import numpy as np
from program import Programs
from spleeter.audio.spectrogram import compute_spectrogram_tf
from spleeter.utils import tensor

from programs.made import floats, integers, plain

programs = Programs("spleeter")

for name, axis in (("sync_apply", 1), ("sync_apply first", 0)):
    plain(
        programs,
        name,
        lambda a, b, axis=axis: tensor.sync_apply({"a": a, "b": b}, lambda x: x * 2.0, axis),
        floats(4, 5, 2),
        floats(4, 5, 2),
    )
plain(programs, "from_float32_to_uint8", tensor.from_float32_to_uint8, floats(4, 5))
plain(
    programs,
    "from_uint8_to_float32",
    tensor.from_uint8_to_float32,
    integers(255, 4, 5).astype("uint8"),
    np.float32(0),
    np.float32(2),
)
plain(programs, "pad_and_partition", lambda x: tensor.pad_and_partition(x, 4), floats(10, 2))
plain(programs, "pad_and_reshape", lambda x: tensor.pad_and_reshape(x, 16, 6), floats(2, 3, 6, 2))
plain(
    programs,
    "check_tensor_shape",
    lambda x: tensor.check_tensor_shape(x, (None, 5)),
    floats(4, 5),
)
plain(
    programs,
    "set_tensor_shape",
    lambda x: tensor.set_tensor_shape(x, (4, 5)) * 2,
    floats(4, 5),
)
plain(
    programs,
    "compute_spectrogram_tf",
    lambda waveform: compute_spectrogram_tf(waveform, 16, 8),
    floats(64, 2),
    gradient=True,
)
plain(
    programs,
    "compute_spectrogram_tf power",
    lambda waveform: compute_spectrogram_tf(waveform, 16, 8, 2.0, 0.5),
    floats(64, 2),
)
