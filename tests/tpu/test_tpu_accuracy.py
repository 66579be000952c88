"""What the TPU compiler says of sizes and work, against what is counted by hand."""

from __future__ import annotations

import fcntl
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from xlalint.tpu import installed, module, options, pjrt, program, targets
from xlalint.tpu.compiler import Compiler
from xlalint.tpu.generations import GENERATIONS, Generation
from xlalint.tpu.statuses import COMPILES, OVERFLOWS, UNVERIFIED


def _installed() -> installed.Installed | None:
    try:
        return installed.find()
    except installed.Missing:
        return None


pytestmark = [
    pytest.mark.compiler,
    pytest.mark.skipif(_installed() is None, reason="libtpu is not installed"),
]
Argument = tuple[list[int], str]

# Bytes of arguments and of results, in whole tiles of 8 x 128 elements (fewer rows for small arrays, 1024 elements in a row of
# numbers). The compiler may lay out the dimensions in another order, to lose less.
SIZES = [
    ("x + 1.0", [([1024, 1024], "float32")], 4 << 20, 4 << 20),
    ("x + 1.0", [([1000, 1000], "float32")], 1000 * 1024 * 4, 1000 * 1024 * 4),
    ("x + 1.0", [([9, 129], "float32")], 16 * 256 * 4, 16 * 256 * 4),
    ("x + 1.0", [([1025], "float32")], 2048 * 4, 2048 * 4),
    ("x + 1.0", [([3000], "float32")], 3072 * 4, 3072 * 4),
    # Laid out as 3 x 8, in tiles of 4 x 128.
    ("x * 2.0", [([8, 3], "float32")], 2048, 2048),
    ("x * 2.0", [([100, 100], "bfloat16")], 104 * 128 * 2, 104 * 128 * 2),
    ("x + x", [([100, 100], "int8")], 104 * 128, 104 * 128),
    ("tf.logical_not(x)", [([100, 100], "bool")], 104 * 128, 104 * 128),
    # 64 bits are pairs of 32.
    ("x + x", [([100, 100], "int64")], 2 * 104 * 128 * 4, 2 * 104 * 128 * 4),
    ("x + x", [([100, 100], "float64")], 2 * 104 * 128 * 4, 2 * 104 * 128 * 4),
    ("tf.math.conj(x)", [([100, 100], "complex64")], 2 * 104 * 128 * 4, 2 * 104 * 128 * 4),
    ("tf.cast(x, tf.bfloat16)", [([256, 256], "float32")], 256 * 256 * 4, 256 * 256 * 2),
    ("tf.cast(x, tf.float32)", [([64, 128], "int32")], 1 << 15, 1 << 15),
    ("tf.reduce_sum(x)", [([512, 512], "float32")], 1 << 20, 512),
    ("tf.reduce_sum(x, 0)", [([512, 512], "float32")], 1 << 20, 512 * 4),
    ("tf.nn.relu(x)", [([16, 128, 128], "float32")], 1 << 20, 1 << 20),
    ("tf.concat([x, x], 0)", [([128, 128], "float32")], 1 << 16, 1 << 17),
    # The table lies as 64 x 30000, the result as 64 x 512.
    (
        "tf.gather(x, y)",
        [([30000, 64], "float32"), ([512], "int32")],
        64 * 30080 * 4 + 2048,
        64 * 512 * 4,
    ),
    # Laid out as 1000 x 256.
    ("tf.one_hot(x, 1000)", [([256], "int32")], 1024, 1000 * 256 * 4),
    # All three lie the other way round: 300 x 1000, 10 x 300, 10 x 1000.
    (
        "x @ y",
        [([1000, 300], "float32"), ([300, 10], "float32")],
        (304 * 1024 + 16 * 384) * 4,
        16 * 1024 * 4,
    ),
    ("x @ y", [([128, 256], "float32"), ([256, 512], "float32")], (1 << 17) + (1 << 19), 1 << 18),
]


@pytest.mark.parametrize(("body", "arguments", "taken", "given"), SIZES)
def test_sizes_are_those_counted_by_hand(
    body: str, arguments: list[Argument], taken: int, given: int
) -> None:
    made = _compiled(_lowered(body, arguments))
    assert (made.memory["argument"], made.memory["output"]) == (taken, given)
    optimized = module.read(made.optimized, with_config=True)
    # TPUs hold 64-bit numbers as pairs, which are no arrays of one type.
    if arguments[0][1] not in ("int64", "float64", "complex64"):
        parameters = [one for one in optimized.running if one.opcode == "parameter"]
        assert sum(array.padded_bytes for one in parameters for array in one.arrays) == taken


# A product and a sum count as two. Products with the zeros of "SAME" are not counted: of 3 x 32 places along an axis 94 are.
WORK = [
    ("x + 1.0", [([9, 129], "float32")], 9 * 129),
    ("x @ y", [([512, 512], "float32")] * 2, 2 * 512**3),
    ("x @ y", [([1000, 300], "float32"), ([300, 10], "float32")], 2 * 1000 * 300 * 10),
    (
        "tf.matmul(x, y)",
        [([8, 64, 32], "float32"), ([8, 32, 128], "float32")],
        2 * 8 * 64 * 32 * 128,
    ),
    (
        "tf.einsum('bhqd,bhkd->bhqk', x, y)",
        [([2, 4, 128, 64], "float32")] * 2,
        2 * 2 * 4 * 128 * 128 * 64,
    ),
    (
        "tf.nn.conv2d(x, y, 1, 'VALID')",
        [([8, 32, 32, 16], "float32"), ([3, 3, 16, 32], "float32")],
        2 * 8 * 30 * 30 * 9 * 16 * 32,
    ),
    (
        "tf.nn.conv2d(x, y, 1, 'SAME')",
        [([8, 32, 32, 16], "float32"), ([3, 3, 16, 32], "float32")],
        2 * 8 * 94 * 94 * 16 * 32,
    ),
    (
        "tf.nn.conv2d(x, y, 2, 'VALID')",
        [([8, 32, 32, 16], "float32"), ([2, 2, 16, 32], "float32")],
        2 * 8 * 16 * 16 * 4 * 16 * 32,
    ),
    (
        "tf.nn.avg_pool2d(x, 2, 2, 'VALID')",
        [([4, 16, 16, 128], "float32")],
        4 * 4 * 8 * 8 * 128,
    ),
    ("tf.reduce_sum(x, -1)", [([256, 4096], "float32")], 256 * 4095),
]


@pytest.mark.parametrize(("body", "arguments", "flops"), WORK)
def test_work_is_that_counted_by_hand(body: str, arguments: list[Argument], flops: int) -> None:
    assert _compiled(_lowered(body, arguments)).costs["flops"] == flops


@pytest.mark.parametrize("fill", [0.45, 0.55])
@pytest.mark.parametrize("one", GENERATIONS, ids=lambda one: one.name)
def test_an_argument_and_a_result_fit_up_to_half_the_memory(one: Generation, fill: float) -> None:
    rows = int(one.memory * fill) // 4096
    hlo = _lowered("x + 1.0", [([rows, 1024], "float32")])
    try:
        made = _compiled(hlo, f"tpu-{one.name}")
    except pjrt.PjrtError as error:
        assert (error.code, fill) == ("RESOURCE_EXHAUSTED", 0.55)
    else:
        assert fill == 0.45
        assert made.memory["peak"] == pytest.approx(2 * rows * 4096, abs=1 << 20)


@pytest.mark.parametrize("one", GENERATIONS, ids=lambda one: one.name)
def test_a_slice_has_a_device_for_each_replica(one: Generation) -> None:
    for shape in one.slices.values():
        target = targets.parse(f"{one.name}:{shape}")
        topology = _library().topology(target.topology, target.options)
        assert len(topology.devices) == target.replicas
        assert topology.attributes["device_memory_bytes_limit"] == pytest.approx(
            one.memory, rel=1e-3
        )


WEIGHTS = 1024 * 1024 * 4


@pytest.mark.parametrize(
    ("make", "copies"),
    [
        ("SGD(0.1)", 1),
        ("SGD(0.1, momentum=0.9)", 2),
        ("RMSprop(0.1)", 2),
        ("Adam()", 3),
        ("AdamW()", 3),
    ],
)
def test_a_step_holds_its_weights_and_the_optimizers_copies(make: str, copies: int) -> None:
    made = _compiled(_step(make, replicas=8), "tpu-v5e-8")
    batch, numbers = 8 * 1024 * 4, 8192
    assert copies * WEIGHTS + batch <= made.memory["argument"] <= copies * WEIGHTS + batch + numbers
    # Updated in place, and of them all only the gradient goes to the other chips.
    assert copies * WEIGHTS <= made.memory["alias"] <= copies * WEIGHTS + numbers
    between = program.collectives(module.read(made.optimized, with_config=True))
    assert between.bytes == WEIGHTS


def test_a_program_that_no_chip_holds_does_not_fit() -> None:
    found = installed.find()
    compiler = Compiler(found, use_cache=False)
    hlo = _lowered("tf.linalg.matmul(x, x, transpose_b=True)", [([65536, 1024], "float32")])
    small = compiler.compile(hlo, targets.parse("tpu-v5e"))
    assert (small.status, small.compiles) == (OVERFLOWS, 2)
    assert compiler.compile(hlo, targets.parse("tpu-v5p")).status == COMPILES


KERNEL_OF_A_CPU = """\
gen_xla_ops.xla_custom_call_v2([x], "TARGET", "", False, [tf.float32], [tf.TensorShape([8, 8])])[0]"""


@pytest.mark.parametrize(
    "target",
    [
        "lapack_spotrf_ffi",  # what a model exported from JAX may bring along
        "TopK",  # with one operand libtpu aborts
    ],
)
def test_what_only_a_cpu_runs_is_unverified(target: str) -> None:
    hlo = _lowered(KERNEL_OF_A_CPU.replace("TARGET", target), [([8, 8], "float32")])
    result = Compiler(installed.find(), use_cache=False).compile(hlo, targets.parse("tpu-v5e"))
    assert result.status == UNVERIFIED
    assert result.message


def test_programs_compile_beside_each_other_and_beside_a_tpu_in_use() -> None:
    """libtpu locks this file while it drives a TPU."""
    lock = Path("/tmp/libtpu_lockfile")
    was_there = lock.exists()
    hlo = _lowered("x + 1.0", [([8, 128], "float32")])
    compiler = Compiler(installed.find(), use_cache=False)
    with lock.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with ThreadPoolExecutor(2) as both:
            asked = [
                both.submit(compiler.compile, hlo, targets.parse(name)) for name in ("v5e", "v4")
            ]
        assert [one.result().status for one in asked] == [COMPILES, COMPILES]
    if not was_there:
        lock.unlink()


def _lowered(body: str, arguments: list[Argument]) -> bytes:
    import tensorflow as tf
    from tensorflow.compiler.tf2xla.ops import gen_xla_ops
    from tensorflow.python.eager.polymorphic_function import compiler_ir

    specs = [tf.TensorSpec(shape, dtype) for shape, dtype in arguments]

    @tf.function(jit_compile=True, autograph=False)
    def program(*values: Any) -> Any:
        names = {"tf": tf, "gen_xla_ops": gen_xla_ops}
        return eval(body, {**names, **dict(zip("xyz", values, strict=False))})

    concrete = program.get_concrete_function(*specs)
    found: bytes = compiler_ir.from_concrete_function(concrete, specs)("hlo_serialized")
    return found


def _step(optimizer: str, replicas: int) -> bytes:
    """A step of one matrix of weights, as one of `replicas`."""
    import tensorflow as tf
    from tensorflow.python.eager.polymorphic_function import compiler_ir

    from xlalint.verify import standin

    weights = tf.Variable(tf.zeros([1024, 1024]))
    made = eval(f"tf.keras.optimizers.{optimizer}", {"tf": tf})
    made.build([weights])

    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(x @ weights))
        made.apply_gradients([(tape.gradient(loss, weights), weights)])

    specs = [tf.TensorSpec([8, 1024])]
    replica = standin.beside(replicas)(step)
    traced = tf.function(replica, jit_compile=True, autograph=False).get_concrete_function(*specs)
    found: bytes = compiler_ir.from_concrete_function(traced, specs)("hlo_serialized")
    return found


_LIBRARY: list[pjrt.Library] = []


def _library() -> pjrt.Library:
    if not _LIBRARY:  # one process may load it once
        _LIBRARY.append(pjrt.Library(installed.find().library))
    return _LIBRARY[0]


def _compiled(hlo: bytes, name: str = "tpu-v5e") -> pjrt.Executable:
    target = targets.parse(name)
    topology = _library().topology(target.topology, target.options)
    devices = list(topology.devices)
    return _library().compile(
        topology, hlo, options.compile_options(len(devices), devices, level=9)
    )
