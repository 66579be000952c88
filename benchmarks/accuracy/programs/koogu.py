"""Calls of koogu 0.7.2: augmentation of audio and spectrograms, and its layers."""

from __future__ import annotations

import numpy as np
from koogu.data import augmentations as aug
from koogu.data import tf_transformations as layers
from program import Call, Programs

from programs.made import floats

programs = Programs("koogu")


def add(name, make):
    programs(name)(make)


def clip(word, *given):
    add(f"{word}", lambda: Call(getattr(aug.Temporal, word)(*given).build_graph, [floats(32)]))


def spec(word, *given):
    add(
        f"{word}",
        lambda: Call(getattr(aug.SpectroTemporal, word)(*given).build_graph, [floats(16, 12)]),
    )


clip("RampVolume", (-3.0, 3.0))
clip("AddGaussianNoise", (-30.0, -20.0))
clip("AddEcho", (0.01, 0.05), 200)
clip("ShiftPitch", (0.5, 0.9))
spec("AlterDistance", (-3.0, 3.0))
spec("SmearFrequency", (-2, 3))
spec("SmearTime", (-2, 3))
spec("SquishFrequency", (1, 4))
spec("SquishTime", (1, 4))


def chain(kind, made, shape):
    return Call(lambda x: kind.apply_chain(x, made, [0.5] * len(made)), [floats(*shape)])


add(
    "Temporal.apply_chain",
    lambda: chain(aug.Temporal, [aug.Temporal.RampVolume((-3.0, 3.0))], (32,)),
)
add(
    "SpectroTemporal.apply_chain",
    lambda: chain(aug.SpectroTemporal, [aug.SpectroTemporal.AlterDistance((-3.0, 3.0))], (16, 12)),
)


def layer(name, make, *shape):
    def build():
        item = make()
        item(floats(*shape))
        return Call(lambda x: item(x), [floats(*shape)], True)

    add(name, build)


layer("NormalizeAudio", layers.NormalizeAudio, 2, 32)
layer("GaussianBlur", lambda: layers.GaussianBlur(1), 2, 16, 12)
layer("LoG", lambda: layers.LoG((4,)), 2, 16, 12)
layer("LoG offsets", lambda: layers.LoG((2, 4), add_offsets=True, conv_filters=3), 2, 16, 12)
layer("Spec2Img", lambda: layers.Spec2Img(np.random.rand(8, 4)), 2, 16, 12)
layer(
    "Spec2Img resized", lambda: layers.Spec2Img(np.random.rand(8, 4), 0.1, 0.9, (8, 8)), 2, 16, 12
)
layer("Linear2dB", lambda: layers.Linear2dB(1e-6, False), 2, 16, 12)
layer("Linear2dB full", lambda: layers.Linear2dB(1e-6, True), 2, 16, 12)


def sized(name, function):
    """The helpers, with the whole number that `build_graph` draws."""
    add(
        name,
        lambda: Call(function, [floats(16, 12) if "Spectro" in name else floats(32), np.int32(4)]),
    )


sized("Temporal._pad_and_downsample", lambda x, d: aug.Temporal._pad_and_downsample(x, 32, d))
sized("Temporal._upsample_and_crop", lambda x, d: aug.Temporal._upsample_and_crop(x, 32, d))
sized(
    "SpectroTemporal._upsample_and_crop",
    lambda x, d: aug.SpectroTemporal._upsample_and_crop(x, d, d > 2),
)
