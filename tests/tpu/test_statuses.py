"""What a refusal of the TPU compiler means: each message was seen, with what caused it."""

from __future__ import annotations

import pytest

from xlalint.tpu.statuses import OVERFLOWS, REJECTED, UNVERIFIED, status_of


@pytest.mark.parametrize(
    ("code", "message", "status"),
    [
        # tf.signal.fft of complex128
        (
            "INVALID_ARGUMENT",
            "during context [pre-optimization]: Unexpected operand type for FFT: c128[16,16]{1,0}",
            REJECTED,
        ),
        # tf.matmul of int64
        (
            "UNIMPLEMENTED",
            "While rewriting computation to not contain X{64|128} element types, XLA encountered an HLO for which this "
            "rewriting is not implemented: %MatMul.2 = s64[16,16]{1,0} dot(%Cast.1, %Cast_1.1)",
            REJECTED,
        ),
        # ResNet-50 with a batch of 512 on a v5e
        (
            "RESOURCE_EXHAUSTED",
            "E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO temporaries (22.14G) "
            "exceeds available HBM (15.75G).",
            OVERFLOWS,
        ),
        # A kernel of the CPU's, as models exported from JAX bring along
        ("INVALID_ARGUMENT", "Custom emitter for lapack_spotrf_ffi not found", UNVERIFIED),
        # TensorFlow 2.12 and 2.15: tf.nn.softmax(tf.boolean_mask(x, mask)); a CPU compiles it
        (
            "INTERNAL",
            "RET_CHECK failure (third_party/tensorflow/compiler/xla/service/dynamic_padder.cc:2041) op_support != "
            "OpDynamismSupport::kNoSupport Dynamic input unexpectedly found for unsupported instruction: %subtract.12",
            UNVERIFIED,
        ),
        # TensorFlow 2.21 with libtpu 0.0.11.1
        (
            "INTERNAL",
            "RET_CHECK failure (third_party/tensorflow/compiler/xla/hlo/ir/hlo_instruction.cc:1340) proto.id() <= INT_MAX",
            UNVERIFIED,
        ),
    ],
)
def test_only_what_no_tpu_runs_is_a_failure(code: str, message: str, status: str) -> None:
    assert status_of(code, message)[0] == status
