"""`xlalint explain "pasted text"`: what happened, whose line it was, what is known of the operation, what to write instead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import RunXlalint

from xlalint import pages
from xlalint.messages import explained, known
from xlalint.messages.paste import read

EXAMPLES = [(entry.name, example) for entry in known.all_known() for example in entry.examples]


def test_at_least_forty_kinds_of_messages_are_known() -> None:
    names = [entry.name for entry in known.all_known()]
    assert len(names) == len(set(names)) >= 40
    assert all(entry.examples for entry in known.all_known())


@pytest.mark.parametrize(("name", "message"), EXAMPLES, ids=[f"{n}-{i}" for i, (n, _) in enumerate(EXAMPLES)])  # fmt: skip
def test_every_message_is_told_by_its_own_entry(name: str, message: str) -> None:
    match = known.find(*read(message).readings)
    assert match is not None
    assert match.known.name == name
    assert "{" not in match.says


@pytest.mark.parametrize("entry", known.all_known(), ids=lambda entry: entry.name)
def test_every_entry_leads_to_a_rule_or_says_what_to_write(entry: known.Known) -> None:
    assert entry.code in pages.codes() if entry.code else entry.instead
    if entry.code and entry.variant:
        assert entry.variant in pages.load(entry.code).variants


@pytest.mark.parametrize(
    ("message", "instead"),
    [
        ("ValueError: condition of if statement expected to be `tf.bool` scalar", "Ask the question: "),
        ("ValueError: 'y' must also be initialized in the else branch", "Give it a value of the same"),
        ("TypeError: 'x' has dtype int32 in the main branch, but dtype float32 in the else branch", "Cast in the arms"),
        ("ValueError: tf.function only supports singleton tf.Variables created on the first call.", "Make it once, outside"),
        ("No registered 'RaggedRange' OpKernel for XLA_CPU_JIT devices compatible with node", "Bring it into a dense form"),
        ("triggered tf.function retracing. Tracing is expensive", "Pass a tensor: tf.constant(value)"),
    ],
)  # fmt: skip
def test_what_to_write_instead_is_about_that_message(message: str, instead: str) -> None:
    match = known.find(message)
    assert match is not None
    assert explained.instead(match, "", "2.21").startswith(instead)


@pytest.mark.parametrize("width", [40, 79, 100])
@pytest.mark.parametrize(
    "mark",
    ["", "> ", "E       ", "2026-11-21 14:00:00.123456: E tensorflow/core/framework/op.cc:12] "],
)
def test_quotes_logs_and_wraps_hide_nothing(width: int, mark: str) -> None:
    for name, message in EXAMPLES:
        flat = " ".join(message.split())
        wrapped = [flat[at : at + width] for at in range(0, len(flat), width)]
        match = known.find(*read("\n".join(mark + line for line in wrapped)).readings)
        assert match is not None and match.known.name == name, (name, wrapped)


def test_colours_and_entities_and_curly_quotes_hide_nothing() -> None:
    text = (
        "\x1b[1mAttributeError: ‘SymbolicTensor’ object has no attribute ‘numpy’\x1b[0m &lt;x&gt;"
    )
    match = known.find(*read(text).readings)
    assert match is not None and match.known.name == "numpy"


KERAS_3 = """\
Traceback (most recent call last):
  File "/home/me/train.py", line 41, in <module>
    model.fit(x, y)
  File "/venv/lib/python3.11/site-packages/keras/src/utils/traceback_utils.py", line 122, in error_handler
    raise e.with_traceback(filtered_tb) from None
  File "/home/me/layers.py", line 12, in call
    if tf.reduce_sum(x) > 10:
       ^^^^^^^^^^^^^^^^^^^^^^
tensorflow.python.framework.errors_impl.OperatorNotAllowedInGraphError: Exception encountered when calling Gate.call().

\x1b[1mUsing a symbolic `tf.Tensor` as a Python `bool` is not allowed. You can attempt the following resolutions to the problem:
"""
IPYTHON = """\
InvalidArgumentError                      Traceback (most recent call last)
<ipython-input-1-151283a3b91b> in <cell line: 36>()
     34 print("Eager mode:", value_and_grads(0.1, 0.4))
---> 36 print("XLA mode:", tf.function(value_and_grads, jit_compile=True)())

/usr/local/lib/python3.10/dist-packages/tensorflow/python/eager/execute.py in quick_execute(op_name, num_outputs)
---> 53     tensors = pywrap_tfe.TFE_Py_Execute(ctx._handle, device_name, op_name,

InvalidArgumentError: Input 1 to node `gradient_tape/while/Reshape_1` with op Reshape must be a compile-time constant.
"""
THREAD = """\
> 2022-07-21 23:36:18.107830: W tensorflow/core/framework/op_kernel.cc:1745] OP_REQUIRES failed at bcast_ops.cc:50 :
> INVALID_ARGUMENT:
> Input 0 to node `pretraining_model/attention/self/BroadcastArgs`
> with op BroadcastArgs must be a compile-time constant.
>
> Stack trace for op definition:
> File "/workspaces/model_training_utils.py", line 675, in run_customized_training_loop
>   train_steps_strategy(
> File "/usr/local/lib/python3.8/dist-packages/transformers/modeling_tf_deberta_v2.py", line 700, in call
>   att = x_softmax(scores)
"""
AUTOGRAPH = """\
in user code:

    /content/train.py:52 train_step  *
        last = tf.unique_with_counts(y)
    /usr/local/lib/python3.7/dist-packages/tensorflow/python/ops/array_ops.py:1 unique_with_counts
        return gen(x)

    InvalidArgumentError: UniqueWithCounts (No registered 'UniqueWithCounts' OpKernel for XLA_CPU_JIT devices compatible
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            KERAS_3,
            ["Your line: /home/me/layers.py:12, in call", "    if tf.reduce_sum(x) > 10:", "explain XLA101"],
        ),
        (
            IPYTHON,
            ["Your line: <ipython-input-1-151283a3b91b>:36", "Input 1 of the operation Reshape", "explain XLA203"],
        ),
        (
            THREAD,
            [
                "In an installed package: /usr/local/lib/python3.8/dist-packages/transformers/modeling_tf_deberta_v2.py:700",
                "  called from your line /workspaces/model_training_utils.py:675, in run_customized_training_loop",
                "Operation: BroadcastArgs has an XLA kernel in TensorFlow 2.21",
                "  must be known at compile time: s0, s1",
            ],
        ),
        (
            AUTOGRAPH,
            [
                "Your line: /content/train.py:52, in train_step",
                "    last = tf.unique_with_counts(y)",
                "Operation: UniqueWithCounts has no XLA kernel in TensorFlow 2.21",
                "  stands behind: tf.unique_with_counts",
                "  for tf.unique_with_counts: y, idx = tf.unique(x)",
                "explain XLA401",
            ],
        ),
    ],
    ids=["keras-3", "ipython", "thread", "autograph"],
)  # fmt: skip
def test_a_paste_with_a_stack_names_the_users_own_line(
    xlalint: RunXlalint, text: str, told: list[str]
) -> None:
    ran = xlalint("explain", "-", "--tf-version", "2.21", stdin=text)
    assert (ran.status, ran.err) == (0, "")
    for line in told:
        assert line in ran.out


def test_what_is_not_known_is_said_with_the_nearest(xlalint: RunXlalint) -> None:
    ran = xlalint("explain", "an operand of shape type must be static, compile time constant value")
    assert (ran.status, ran.out) == (2, "")
    assert "no rule is known for this message. The nearest that is known: " in ran.err
    assert "nearest" not in xlalint("explain", "the cat sat on the mat").err


def test_no_tensorflow_is_needed() -> None:
    code = (
        "import sys\n"
        "from xlalint.messages.explained import explained\n"
        "assert explained(\"No registered 'Lu' OpKernel for XLA_CPU_JIT devices\", '2.21')\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    root = Path(explained.__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)


LIVE = """\
import tensorflow as tf

def raised(name, f, *args):
    try:
        f(*args)
    except Exception as error:
        print("@@", name, type(error).__name__ + ": " + str(error), "@END", sep="\\n")

def jit(f):
    return tf.function(f, jit_compile=True)

def loop_in_list(n):
    out = []
    for i in tf.range(n):
        out.append(i * 2)
    return tf.stack(out)

def growing(x):
    for _ in tf.range(3):
        x = tf.concat([x, x], 0)
    return x

def undefined(x):
    if x[0] > 0.0:
        y = x
    return y

def arms(x):
    if x[0] > 0.0:
        y = tf.constant(1)
    else:
        y = tf.constant(1.0)
    return y

@jit
def taken(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.while_loop(lambda a: tf.reduce_sum(a) < 9.0, lambda a: (a * 2.0,), (x,))[0]
    return tape.gradient(y, x)

def variables(x):
    return tf.Variable(1.0) * x

x = tf.constant([1.0, 2.0, 3.0])
raised("tensor-as-bool", tf.function(lambda t: t if tf.reduce_sum(t) > 0 else -t, autograph=False), x)
raised("iterating", tf.function(lambda t: [u for u in t], autograph=False), x)
raised("numpy", tf.function(lambda t: t.numpy()), x)
raised("python-value", tf.function(lambda t: "%.2f" % tf.reduce_sum(t)), x)
raised("kernel", jit(lambda t: tf.unique_with_counts(t)), x)
raised("printing", jit(lambda t: (tf.print(t), t)[1]), x)
raised("py-function", jit(lambda t: tf.py_function(lambda u: u, [t], tf.float32)), x)
raised("text", jit(lambda t: tf.as_string(t)), x)
raised("constant-input", jit(lambda t: tf.range(tf.cast(tf.random.uniform([]) * 3.0, tf.int32))), x)
raised("leaked", tf.function(loop_in_list), tf.constant(3))
raised("loop-variable", tf.function(growing), x)
raised("arms-undefined", tf.function(undefined), x)
raised("arms-dtype", tf.function(arms), x)
raised("loop-bound", taken, x)
raised("variables", tf.function(variables), x)
raised("bounded", jit(lambda t: t[t > 1.0][::-1]), x)
raised("sparse", jit(lambda t: tf.sparse.sparse_dense_matmul(tf.sparse.from_dense(t[None]), t[:, None])), x)
raised("item-assignment", tf.function(lambda t: t.__setitem__(0, 1.0) if hasattr(t, "__setitem__") else exec("t[0] = 1.0", {"t": t})), x)
"""


@pytest.mark.compiler
def test_messages_are_known_as_this_tensorflow_raises_them(tmp_path: Path) -> None:
    script = tmp_path / "live.py"
    script.write_text(LIVE)
    ran = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=True
    )
    found = {}
    for block in ran.stdout.split("@@\n")[1:]:
        name, _, message = block.partition("\n")
        match = known.find(*read(message.partition("@END")[0]).readings)
        found[name] = match.known.name if match is not None else f"not known: {message[:200]}"
    assert found == {name: name for name in found}
    assert len(found) == LIVE.count("\nraised(")
