"""Calls of Kapre 0.4.1 (Keras 2): spectrograms and augmentation as layers."""

from __future__ import annotations

from kapre import augmentation, composed, signal, time_frequency
from program import Programs

from programs.made import floats, layer, plain

programs = Programs("kapre")
SOUND = floats(2, 512, 1) - 0.5
PICTURE = floats(2, 16, 33, 1)
T = time_frequency

layer(programs, "STFT", lambda: T.STFT(64, hop_length=16), SOUND)
layer(
    programs, "STFT padded", lambda: T.STFT(64, hop_length=16, pad_begin=True, pad_end=True), SOUND
)
layer(
    programs,
    "Magnitude of STFT",
    lambda: composed.get_stft_magnitude_layer(input_shape=(512, 1), n_fft=64, hop_length=16),
    SOUND,
)
layer(
    programs,
    "STFT decibel",
    lambda: composed.get_stft_magnitude_layer(
        input_shape=(512, 1), n_fft=64, hop_length=16, return_decibel=True
    ),
    SOUND,
)
layer(
    programs,
    "Melspectrogram",
    lambda: composed.get_melspectrogram_layer(
        input_shape=(512, 1), n_fft=64, hop_length=16, n_mels=8, return_decibel=True
    ),
    SOUND,
)
layer(
    programs,
    "LogFrequency",
    lambda: composed.get_log_frequency_spectrogram_layer(
        input_shape=(2048, 1), n_fft=512, hop_length=128, log_n_bins=24
    ),
    floats(2, 2048, 1),
)
layer(programs, "MagnitudeToDecibel", lambda: T.MagnitudeToDecibel(), PICTURE)
layer(
    programs,
    "ApplyFilterbank",
    lambda: T.ApplyFilterbank("mel", {"sample_rate": 8000, "n_freq": 33, "n_mels": 8}),
    PICTURE,
)
layer(programs, "Delta", lambda: T.Delta(win_length=5), PICTURE)
layer(programs, "ConcatenateFrequencyMap", lambda: T.ConcatenateFrequencyMap(), PICTURE)
layer(programs, "Frame", lambda: signal.Frame(64, 16), SOUND)
layer(programs, "Energy", lambda: signal.Energy(frame_length=64, hop_length=16), SOUND)
layer(programs, "MuLawEncoding", lambda: signal.MuLawEncoding(16), SOUND)
layer(programs, "MuLawDecoding", lambda: signal.MuLawDecoding(16), SOUND)
layer(programs, "LogmelToMFCC", lambda: signal.LogmelToMFCC(4), PICTURE)
layer(
    programs, "ChannelSwap", lambda: augmentation.ChannelSwap(), floats(2, 16, 33, 2), training=True
)
layer(
    programs,
    "SpecAugment",
    lambda: augmentation.SpecAugment(
        freq_mask_param=4, time_mask_param=4, n_freq_masks=1, n_time_masks=1
    ),
    PICTURE,
    training=True,
)
plain(
    programs,
    "backend.magnitude_to_decibel",
    lambda x: __import__("kapre").backend.magnitude_to_decibel(x),
    PICTURE,
    gradient=True,
)
plain(
    programs,
    "backend.mu_law_encoding",
    lambda x: __import__("kapre").backend.mu_law_encoding(x, 16),
    SOUND,
)
