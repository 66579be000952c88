"""Calls of DDSP 3.7.0 (TensorFlow 2.15): synthesis, filters, spectra, effects and losses on short sounds."""

from __future__ import annotations

from typing import Any

import ddsp
import tensorflow as tf
from ddsp import core, effects, losses, spectral_ops, synths
from program import Call, Programs

from programs.made import floats, integers, plain

programs = Programs("ddsp")
SOUND = floats(2, 1024) - 0.5
PITCH, LOUD, HARMONICS = floats(2, 8, 1) * 400 + 100, floats(2, 8, 1), floats(2, 8, 4)
CURVE = floats(2, 1024, 4) * 400 + 100


def each(name: str, function: Any, *inputs: Any, gradient: bool = True) -> None:
    """A program that calls a function, and lowers its gradient."""
    plain(programs, name, function, *inputs, gradient=gradient)


for _method in ("nearest", "linear", "cubic", "window"):
    each(
        f"core.resample {_method}",
        lambda x, method=_method: core.resample(x, 32, method),
        HARMONICS,
    )
each("core.upsample_with_windows", lambda x: core.upsample_with_windows(x, 32), HARMONICS)
each("core.angular_cumsum", lambda x: core.angular_cumsum(x, 256), CURVE)
each("core.oscillator_bank", lambda f, a: core.oscillator_bank(f, a), CURVE, floats(2, 1024, 4))
each(
    "core.oscillator_bank angular",
    lambda f, a: core.oscillator_bank(f, a, use_angular_cumsum=True),
    CURVE,
    floats(2, 1024, 4),
)
each(
    "core.remove_above_nyquist",
    lambda f, a: core.remove_above_nyquist(f, a),
    CURVE,
    floats(2, 1024, 4),
)
each(
    "core.harmonic_oscillator_bank",
    lambda f, a: core.harmonic_oscillator_bank(f, a),
    CURVE[..., :1],
    floats(2, 1024, 4),
)
each(
    "core.harmonic_synthesis",
    lambda f, a, h: core.harmonic_synthesis(f, a, harmonic_distribution=h, n_samples=64),
    PITCH,
    LOUD,
    HARMONICS,
)
each(
    "core.harmonic_synthesis linear",
    lambda f, a, h: core.harmonic_synthesis(
        f, a, harmonic_distribution=h, n_samples=64, amp_resample_method="linear"
    ),
    PITCH,
    LOUD,
    HARMONICS,
)
each(
    "core.streaming_harmonic_synthesis",
    lambda f, a, h: core.streaming_harmonic_synthesis(f, a, h, n_samples=64),
    PITCH,
    LOUD,
    HARMONICS,
)
each(
    "core.harmonic_to_sinusoidal",
    lambda a, h, f: core.harmonic_to_sinusoidal(a, h, f),
    LOUD,
    HARMONICS,
    PITCH,
)
each(
    "core.sinusoidal_to_harmonic",
    lambda a, f, p: core.sinusoidal_to_harmonic(a, f, p, n_harmonics=4),
    HARMONICS,
    HARMONICS * 400,
    PITCH,
)
each(
    "core.linear_lookup", lambda p, w: core.linear_lookup(p, w), floats(2, 64, 1), floats(2, 64, 16)
)
each(
    "core.wavetable_synthesis",
    lambda f, a, w: core.wavetable_synthesis(f, a, w, n_samples=64),
    PITCH,
    LOUD,
    floats(2, 16),
)
each(
    "core.harmonic_distribution_to_wavetable",
    lambda h: core.harmonic_distribution_to_wavetable(h, 64),
    HARMONICS,
)
each(
    "core.variable_length_delay",
    lambda p, x: core.variable_length_delay(p, x, 16),
    floats(2, 1024, 1),
    SOUND,
)
each("core.fft_convolve", lambda x, i: core.fft_convolve(x, i), SOUND, floats(2, 64))
each(
    "core.fft_convolve frames",
    lambda x, i: core.fft_convolve(x, i, padding="valid"),
    SOUND,
    floats(2, 8, 64),
)
each(
    "core.frequency_impulse_response",
    lambda m: core.frequency_impulse_response(m, 16),
    floats(2, 8, 17),
)
each("core.frequency_filter", lambda x, m: core.frequency_filter(x, m, 16), SOUND, floats(2, 8, 17))
each("core.sinc_filter", lambda x, c: core.sinc_filter(x, c, 64), SOUND, floats(2, 1))
each(
    "core.sinc_impulse_response",
    lambda c: core.sinc_impulse_response(c, 64, high_pass=True),
    floats(2, 1),
)
each(
    "core.normalize_harmonics", lambda h, f: core.normalize_harmonics(h, f, 16000), HARMONICS, PITCH
)
each("core.get_harmonic_frequencies", lambda f: core.get_harmonic_frequencies(f, 4), PITCH)
each("core.frequencies_softmax", lambda x: core.frequencies_softmax(x, depth=4), floats(2, 8, 8))
each("core.frequencies_sigmoid", lambda x: core.frequencies_sigmoid(x, depth=4), floats(2, 8, 8))
each(
    "core.frequencies_critical_bands",
    lambda x: core.frequencies_critical_bands(x, depth=4),
    floats(2, 8, 8),
)
for _name in "exp_sigmoid sym_exp_sigmoid hz_to_midi midi_to_hz hz_to_bark bark_to_hz hz_to_mel mel_to_hz hz_to_erb safe_log logb log10 nan_to_num diff amplitude_to_db power_to_db db_to_amplitude db_to_power soft_limit gradient_reversal sinc".split():
    each(f"core.{_name}", lambda x, name=_name: getattr(core, name)(x), floats(2, 8))
each("core.center_crop", lambda x: core.center_crop(x, 64), SOUND)
each("core.unit_to_hz", lambda x: core.unit_to_hz(x, 20.0, 2000.0), floats(2, 8))
each("core.hz_to_unit", lambda x: core.hz_to_unit(x, 20.0, 2000.0), PITCH)
each("spectral_ops.stft", lambda x: tf.abs(spectral_ops.stft(x, 128)), SOUND)
for _name in "compute_mag compute_logmag".split():
    each(f"spectral_ops.{_name}", lambda x, name=_name: getattr(spectral_ops, name)(x, 128), SOUND)
for _name in "compute_mel compute_logmel".split():
    each(
        f"spectral_ops.{_name}",
        lambda x, name=_name: getattr(spectral_ops, name)(x, bins=8, fft_size=128),
        SOUND,
    )
each(
    "spectral_ops.compute_mfcc",
    lambda x: spectral_ops.compute_mfcc(x, fft_size=128, mel_bins=16),
    SOUND,
)
for _name in "compute_rms_energy compute_power compute_loudness".split():
    each(
        f"spectral_ops.{_name}",
        lambda x, name=_name: getattr(spectral_ops, name)(x, frame_rate=250),
        SOUND,
    )
each("spectral_ops.pad", lambda x: spectral_ops.pad(x, 128, 64), SOUND)
each(
    "spectral_ops.pad_or_trim_to_expected_length",
    lambda x: spectral_ops.pad_or_trim_to_expected_length(x, 1030, use_tf=True),
    SOUND,
)


def processor(name: str, make: Any, *inputs: Any) -> None:
    """A program that calls a processor, made outside of it."""

    def build() -> Call:
        made = make()
        made(*map(tf.constant, inputs))
        return Call(lambda *given: made(*given), inputs, True)

    programs(name)(build)


processor("synths.Harmonic", lambda: synths.Harmonic(64), LOUD, HARMONICS, PITCH)
processor("synths.FilteredNoise", lambda: synths.FilteredNoise(64, 16), floats(2, 8, 17))
processor("synths.Wavetable", lambda: synths.Wavetable(64), LOUD, floats(2, 8, 16), PITCH)
processor("synths.Sinusoidal", lambda: synths.Sinusoidal(64), HARMONICS, HARMONICS)
processor("effects.Reverb", lambda: effects.Reverb(trainable=True, reverb_length=64), SOUND)
processor(
    "effects.ExpDecayReverb",
    lambda: effects.ExpDecayReverb(trainable=True, reverb_length=64),
    SOUND,
)
processor(
    "effects.FilteredNoiseReverb",
    lambda: effects.FilteredNoiseReverb(
        trainable=True, reverb_length=64, n_frames=8, n_filter_banks=4
    ),
    SOUND,
)
processor("effects.FIRFilter", lambda: effects.FIRFilter(16), SOUND, floats(2, 8, 17))
processor(
    "effects.ModDelay", lambda: effects.ModDelay(), SOUND, floats(2, 1024, 1), floats(2, 1024, 1)
)
processor(
    "losses.SpectralLoss",
    lambda: losses.SpectralLoss(
        fft_sizes=(128, 64), delta_time_weight=1.0, loudness_weight=0.0, cumsum_freq_weight=1.0
    ),
    SOUND,
    SOUND * 0.9,
)
processor(
    "losses.FilteredNoiseConsistencyLoss",
    lambda: losses.FilteredNoiseConsistencyLoss(1.0),
    floats(2, 8, 17),
    floats(2, 8, 17),
)
processor(
    "losses.KDEConsistencyLoss",
    lambda: losses.KDEConsistencyLoss(),
    HARMONICS,
    HARMONICS * 400 + 100,
    HARMONICS,
    HARMONICS * 400 + 100,
)
each("losses.spectral sparse", lambda a, b: losses.mean_difference(a, b, "L2"), SOUND, SOUND * 0.9)
each("losses.cosine", lambda a, b: losses.mean_difference(a, b, "COSINE"), SOUND, SOUND * 0.9)
plain(
    programs,
    "core.midi integers",
    lambda n: ddsp.core.midi_to_hz(tf.cast(n, tf.float32)),
    integers(80, 4),
)
