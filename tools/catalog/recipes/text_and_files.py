"""Calls of tf.strings, tf.io and tf.audio."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping

import numpy as np
import tensorflow as tf

from tools.catalog.arguments import (
    IMAGE,
    VECTOR,
    Call,
    i32,
    ones,
)

# Pictures of one pixel. The bitmap ends in a zero byte, which NumPy drops from its own strings.
_GIF = bytes.fromhex(
    "47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b"
)
_BITMAP = bytes.fromhex(
    "424d3a000000000000003600000028000000010000000100000001001800000000000400000000000000000000000000"
    "000000000000ffffff00"
)


def calls() -> Mapping[str, list[Call]]:
    """API name to the calls to try."""
    folder = tempfile.mkdtemp(prefix="catalog-")
    text = np.array([b"a b", b"c"])
    number = np.array([b"1", b"2"])
    pixels = (IMAGE[0] * 255).astype(np.uint8)
    picture = np.array(tf.io.encode_png(pixels).numpy())
    photograph = np.array(tf.io.encode_jpeg(pixels).numpy())
    return {
        "tf.io.read_file": [{"filename": np.array(__file__.encode())}],
        "tf.io.write_file": [
            {"filename": np.array(f"{folder}/written".encode()), "contents": np.array(b"a")}
        ],
        "tf.io.matching_files": [{"pattern": np.array(b"/nowhere/*")}],
        "tf.io.decode_raw": [{"input_bytes": np.array([b"abcd"]), "out_type": tf.uint8}],
        "tf.io.decode_csv": [{"records": np.array([b"1.0"]), "record_defaults": [[0.0]]}],
        "tf.io.decode_image": [{"contents": picture}],
        "tf.io.decode_bmp": [{"contents": np.array(_BITMAP, object)}],
        "tf.io.decode_gif": [{"contents": np.array(_GIF)}],
        "tf.io.decode_json_example": [{"json_examples": np.array([b"{}"])}],
        "tf.io.decode_png": [{"contents": picture}],
        "tf.io.decode_jpeg": [{"contents": photograph}],
        "tf.io.decode_and_crop_jpeg": [{"contents": photograph, "crop_window": [0, 0, 2, 2]}],
        "tf.io.extract_jpeg_shape": [{"contents": photograph}],
        "tf.io.parse_sequence_example": [
            {
                "serialized": np.array([b""]),
                "sequence_features": {"a": tf.io.FixedLenSequenceFeature([], tf.float32)},
            }
        ],
        "tf.io.parse_single_sequence_example": [
            {
                "serialized": np.array(b""),
                "sequence_features": {
                    "a": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)
                },
            }
        ],
        "tf.io.decode_base64": [{"input": np.array(b"YQ")}],
        "tf.io.parse_example": [
            {
                "serialized": np.array([b""]),
                "features": {"a": tf.io.FixedLenFeature([], tf.float32, 0.0)},
            }
        ],
        "tf.io.parse_single_example": [
            {
                "serialized": np.array(b""),
                "features": {"a": tf.io.FixedLenFeature([], tf.float32, 0.0)},
            }
        ],
        "tf.io.serialize_tensor": [{"tensor": VECTOR}],
        "tf.io.parse_tensor": [
            {"serialized": np.array(tf.io.serialize_tensor(VECTOR).numpy()), "out_type": tf.float32}
        ],
        "tf.strings.as_string": [{"input": VECTOR}],
        "tf.strings.bytes_split": [{"input": text}],
        "tf.strings.format": [{"template": "{}", "inputs": VECTOR}],
        "tf.strings.join": [{"inputs": [text, text]}],
        "tf.strings.ngrams": [{"data": text, "ngram_width": 2}],
        "tf.strings.reduce_join": [{"inputs": text}],
        "tf.strings.regex_full_match": [{"input": text, "pattern": "a"}],
        "tf.strings.regex_replace": [{"input": text, "pattern": "a", "rewrite": "b"}],
        "tf.strings.split": [{"input": text}],
        "tf.strings.substr": [{"input": text, "pos": 0, "len": 1}],
        "tf.strings.to_hash_bucket": [{"input": text, "num_buckets": 4}],
        "tf.strings.to_hash_bucket_fast": [{"input": text, "num_buckets": 4}],
        "tf.strings.to_hash_bucket_strong": [{"input": text, "num_buckets": 4, "key": [1, 2]}],
        "tf.strings.to_number": [{"input": number}],
        "tf.strings.unsorted_segment_join": [
            {"inputs": text, "segment_ids": i32(0, 1), "num_segments": 2}
        ],
        "tf.strings.unicode_encode": [
            {"input": i32(97, 98), "output_encoding": "UTF-8"},
        ],
        "tf.strings.unicode_decode": [{"input": text, "input_encoding": "UTF-8"}],
        "tf.strings.unicode_decode_with_offsets": [{"input": text, "input_encoding": "UTF-8"}],
        "tf.strings.unicode_split": [{"input": text, "input_encoding": "UTF-8"}],
        "tf.strings.unicode_split_with_offsets": [{"input": text, "input_encoding": "UTF-8"}],
        "tf.strings.unicode_transcode": [
            {"input": text, "input_encoding": "UTF-8", "output_encoding": "UTF-8"}
        ],
        "tf.audio.encode_wav": [{"audio": ones(4, 1), "sample_rate": 8000}],
        "tf.audio.decode_wav": [
            {"contents": np.array(tf.audio.encode_wav(ones(4, 1), 8000).numpy())}
        ],
        "tf.timestamp": [{}],
    }
