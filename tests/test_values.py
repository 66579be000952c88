"""What the analysis believes of expressions: kind, dtype, static shape, dependence, size.

In each program, a line `name  # is: WORDS` asks what `name` is believed to be there.
"""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from xlalint.engine import Inspection, inspect
from xlalint.project.settings import Settings
from xlalint.semantics.beliefs import told

HEAD = "import tensorflow as tf\nimport numpy as np\nimport keras\n\n"

PROGRAMS = {
    "what a library function does with its parameters": """
        def f(lengths, boxes, items, table, flag):
            mask = tf.sequence_mask(lengths)
            lengths  # is: tensor, arrives at run time, a guess
            left = boxes[:, 0]
            boxes  # is: tensor, arrives at run time
            first = items[0]
            items  # is: unknown
            n = tf.shape(input=table)[0]
            table  # is: tensor, arrives at run time, a guess
            flag  # is: unknown
        """,
    "what helpers of a line return, wherever they are called": """
        def cast(x, dtype):
            return tf.cast(x, dtype)

        @tf.function(jit_compile=True)
        def f(x: tf.Tensor, mask: tf.Tensor, ids: tf.Tensor):
            a = cast(mask, "bool"), cast(ids, "int32"), cast(cast(ids, "int16"), "int32")
            b = cast(a[1], "int64"), cast(tf.argmax(x, -1), "int64"), cast(x, "bfloat16")
            c = cast(cast(x, "float16"), "bfloat16"), cast(b[0], "float32"), cast(mask, "uint8")
            d = cast(tf.reduce_sum(x), "float32"), cast(tf.shape(x)[0], "float32")
            shape = cast(tf.shape(x)[:-1], "int64")
            shape  # is: tensor int64 (?,), shape
            return a, b, c, d, shape
        """,
    "what distributions draw": """
        import tensorflow_probability as tfp

        def f(x: tf.Tensor, rate):
            mixed = tfp.distributions.Beta(rate, rate).sample(1)[0]
            mixed  # is: tensor, computed as the program runs
            both = tfp.distributions.JointDistributionSequential([]).sample()
            both  # is: unknown
            share = tf.random.uniform([]) if rate else 1.0
            share  # is: tensor (), computed as the program runs
            return x * mixed, share, both
        """,
    "what is parsed from text": """
        @tf.function
        def f(text: tf.Tensor, spec, seq):
            context, sequence = tf.io.parse_single_sequence_example(text, spec, seq)
            context  # is: collection
            context["a"]  # is: tensor, computed as the program runs
            return sequence
        """,
    "what it hands to others of the project": """
        def outer(picture, other):
            def channel(im, c):
                return im[:, :, c]
            y = scaled(values=other)
            picture  # is: tensor, arrives at run time, a guess
            other  # is: tensor, arrives at run time, a guess
            return channel(picture, 0)

        def scaled(values):
            return tf.nn.softmax(values)
        """,
    "arrays of NumPy are no tensors": """
        def f(boxes):
            area = np.sum(boxes[:, 0])
            boxes  # is: unknown
        """,
    "what is mapped over": """
        @tf.function
        def f(features):
            def one(row):
                row  # is: tensor, computed as the program runs, or a structure of tensors
                size = tf.cast(row.get("size"), tf.int32)
                size  # is: tensor int32, computed as the program runs
                return row
            return tf.map_fn(one, unknown(features))
        """,
    "a tensor asked for its shape": """
        class L(keras.layers.Layer):
            def call(self, inputs):
                inputs  # is: tensor, arrives at run time, or a structure of tensors
                if len(inputs.shape) == 3:
                    inputs  # is: tensor (?, ?, ?), arrives at run time
                return inputs
        """,
    "numbers that a conditional decides": """
        @tf.function
        def f(x):
            n, m = 1, 1
            if tf.reduce_sum(x) > 0:
                n = 2
            n  # is: tensor int32 (), arrives at run time
            m  # is: python 1
            y = x * 2.0
        """,
    "made of shapes": """
        @tf.function
        def f():
            a = tf.zeros([2, 3])
            a  # is: tensor float32 (2, 3), constant
            b = tf.ones_like(a, dtype=tf.int32)
            b  # is: tensor int32 (2, 3), constant
            c = tf.fill([4], 1.5)
            c  # is: tensor float32 (4,), constant
            d = tf.random.normal((2, 8))
            d  # is: tensor float32 (2, 8), computed as the program runs
            e = tf.range(5)
            e  # is: tensor int32 (5,), constant
            g = tf.eye(3)
            g  # is: tensor float32 (3, 3), constant
            h = tf.constant([[1.0, 2.0], [3.0, 4.0]])
            h  # is: tensor float32 (2, 2), constant
            i = tf.constant(True)
            i  # is: tensor bool (), constant
            j = tf.one_hot(e, 10)
            j  # is: tensor float32 (5, 10), constant
        """,
    "elementwise and broadcasting": """
        @tf.function(input_signature=[tf.TensorSpec([None, 1, 8]), tf.TensorSpec([4, 8])])
        def f(x, y):
            a = x + y
            a  # is: tensor float32 (?, 4, 8), arrives at run time
            b = tf.nn.relu(a) * 2.0
            b  # is: tensor float32 (?, 4, 8), arrives at run time
            c = x > 0
            c  # is: tensor bool (?, 1, 8), arrives at run time
            d = tf.cast(c, tf.float64)
            d  # is: tensor float64 (?, 1, 8), arrives at run time
            e = tf.where(c, x, y)
            e  # is: tensor float32 (?, 4, 8), arrives at run time
            g = -tf.math.exp(y)
            g  # is: tensor float32 (4, 8), arrives at run time
            h = ~c
            h  # is: tensor bool (?, 1, 8), arrives at run time
        """,
    "reductions": """
        @tf.function(input_signature=[tf.TensorSpec([None, 4, 8])])
        def f(x):
            a = tf.reduce_sum(x)
            a  # is: tensor float32 (), arrives at run time
            b = tf.reduce_mean(x, axis=-1)
            b  # is: tensor float32 (?, 4), arrives at run time
            c = tf.reduce_max(x, axis=[1, 2], keepdims=True)
            c  # is: tensor float32 (?, 1, 1), arrives at run time
            d = tf.argmax(x, axis=-1)
            d  # is: tensor int64 (?, 4), arrives at run time
            e = tf.reduce_any(x > 0, axis=0)
            e  # is: tensor bool (4, 8), arrives at run time
        """,
    "moving dimensions": """
        @tf.function(input_signature=[tf.TensorSpec([None, 4, 8])])
        def f(x):
            a = tf.reshape(x, [-1, 32])
            a  # is: tensor float32 (?, 32), arrives at run time
            b = tf.transpose(x, [0, 2, 1])
            b  # is: tensor float32 (?, 8, 4), arrives at run time
            c = tf.expand_dims(x, -1)
            c  # is: tensor float32 (?, 4, 8, 1), arrives at run time
            d = tf.squeeze(c, axis=-1)
            d  # is: tensor float32 (?, 4, 8), arrives at run time
            e = tf.concat([x, x], axis=2)
            e  # is: tensor float32 (?, 4, 16), arrives at run time
            g = tf.stack([x, x, x], axis=1)
            g  # is: tensor float32 (?, 3, 4, 8), arrives at run time
            h = x @ b
            h  # is: tensor float32 (?, 4, 4), computed as the program runs
            i = tf.matmul(x, x, transpose_b=True)
            i  # is: tensor float32 (?, 4, 4), computed as the program runs
            j = tf.tile(x, [1, 2, 1])
            j  # is: tensor float32 (?, 8, 8), arrives at run time
            k = tf.pad(x, [[0, 0], [1, 1], [0, 0]])
            k  # is: tensor float32 (?, 6, 8), arrives at run time
            l = tf.gather(x, [0, 1, 2], axis=1)
            l  # is: tensor float32 (?, 3, 8), arrives at run time
        """,
    "slices": """
        @tf.function(input_signature=[tf.TensorSpec([None, 4, 8])])
        def f(x):
            a = x[:, 0]
            a  # is: tensor float32 (?, 8), arrives at run time
            b = x[..., tf.newaxis]
            b  # is: tensor float32 (?, 4, 8, 1), arrives at run time
            c = x[0, 1:, ::2]
            c  # is: tensor float32 (3, 4), arrives at run time
            d = x[:, None, :, -1]
            d  # is: tensor float32 (?, 1, 4), arrives at run time
        """,
    "shapes": """
        @tf.function(input_signature=[tf.TensorSpec([None, 4, 8])])
        def f(x):
            n = x.shape[1]
            n  # is: python 4
            r = len(x.shape)
            r  # is: python 3
            rank = x.shape.rank
            rank  # is: python 3
            s = tf.shape(x)
            s  # is: tensor int32 (3,), shape
            b = s[0]
            b  # is: tensor int32 (), shape
            y = tf.reshape(x, tf.concat([s[:1], [n * 8]], 0))
            y  # is: tensor float32 (?, 32), arrives at run time
            z = tf.zeros([b, n // 2])
            z  # is: tensor float32 (?, 2), constant
            w = tf.zeros(x.shape[1:])
            w  # is: tensor float32 (4, 8), constant
            v = tf.reshape(x, (-1,) + tuple(x.shape[2:]))
            v  # is: tensor float32 (?, 8), arrives at run time
            batch, rows, columns = x.shape
            rows  # is: python 4
        """,
    "shape helpers": """
        def shape_list(tensor):
            if isinstance(tensor, np.ndarray):
                return list(tensor.shape)
            dynamic = tf.shape(tensor)
            if tensor.shape == tf.TensorShape(None):
                return dynamic
            static = tensor.shape.as_list()
            return [dynamic[i] if s is None else s for i, s in enumerate(static)]

        @tf.function(input_signature=[tf.TensorSpec([None, 4, 8])])
        def f(x):
            b, rows, columns = shape_list(x)
            y = tf.reshape(x, [b, rows * columns])
            y  # is: tensor float32 (?, ?), arrives at run time
        """,
    "data-sized": """
        @tf.function(input_signature=[tf.TensorSpec([None, 8]), tf.TensorSpec([None], tf.bool)])
        def f(x, m):
            a = x[m]
            a  # is: tensor float32 (?, 8), computed from what a mask left, data-sized by a boolean mask
            b = tf.where(m)
            b  # is: tensor int64 (?, 1), computed as the program runs, data-sized by tf.where
            c = a * 2.0
            c  # is: tensor float32 (?, 8), computed from what a mask left, data-sized by a boolean mask
            d = tf.reduce_sum(c)
            d  # is: tensor float32 (), computed from what a mask left
            e = tf.linalg.eigvalsh(tf.matmul(x, x, transpose_a=True))
            e  # is: tensor float32 (8,), computed with a factored matrix
        """,
    "calls, tuples, dictionaries and attributes": """
        class Pair:
            def __init__(self, left, right):
                self.left = left
                self.right = right

        def split(x):
            return x[:, :2], {"rest": x[:, 2:]}

        @tf.function(input_signature=[tf.TensorSpec([None, 8])])
        def f(x):
            a, others = split(x)
            a  # is: tensor float32 (?, 2), arrives at run time
            b = others["rest"]
            b  # is: tensor float32 (?, 6), arrives at run time
            items = [a, a]
            c = items[0]
            c  # is: tensor float32 (?, 2), arrives at run time
            for item in items:
                item  # is: tensor float32 (?, 2), arrives at run time
            pair = Pair(a, b)
            d = pair.right
            d  # is: tensor float32 (?, 6), arrives at run time
        """,
    "narrowing": """
        @tf.function
        def f(x: tf.Tensor, training=None, mask=None):
            if mask is None:
                mask  # is: python None
            if len(x.shape) == 3:
                x  # is: tensor (?, ?, ?), arrives at run time
                y = x[0]
                y  # is: tensor (?, ?), arrives at run time
            if x.shape.rank != 2:
                raise ValueError("a matrix is wanted")
            x  # is: tensor (?, ?), arrives at run time
        """,
    "loops to a fixpoint": """
        @tf.function(input_signature=[tf.TensorSpec([None, 8])])
        def f(x):
            y = x
            count = 0
            for _ in range(3):
                y = tf.concat([y, x], axis=1)
                count = count + 1
            y  # is: tensor float32 (?, ?), arrives at run time
            count  # is: python
        """,
    "early returns": """
        def pick(x, flag):
            if flag:
                return x
            return tf.reduce_sum(x, axis=1)

        @tf.function(input_signature=[tf.TensorSpec([None, 8])])
        def f(x):
            a = pick(x, True)
            a  # is: tensor float32 (?, 8), arrives at run time
            b = pick(x, False)
            b  # is: tensor float32 (?,), arrives at run time
        """,
    "keras": """
        class Block(keras.layers.Layer):
            def __init__(self):
                super().__init__()
                self.dense = keras.layers.Dense(16)

            def build(self, input_shape):
                self.scale = self.add_weight(shape=(8,), name="scale")

            def call(self, inputs, training=None):
                training  # is: python
                w = self.scale
                w  # is: variable float32 (8,), arrives at run time

        def model():
            inputs = keras.Input(shape=(4, 8))
            inputs  # is: tensor float32 (?, 4, 8), arrives at run time, likely
            x = keras.layers.Dense(16)(inputs)
            x  # is: tensor (?, ?, ?), computed as the program runs
            y = keras.layers.Flatten()(x)
            y  # is: tensor (?, ?), computed as the program runs
        """,
    "annotations": """
        from jaxtyping import Float

        @tf.function
        def f(x: Float[tf.Tensor, "batch 3"], n: int, flag: bool):
            x  # is: tensor (?, 3), arrives at run time
            n  # is: python
            flag  # is: python
        """,
    "static values": """
        @tf.function(input_signature=[tf.TensorSpec([2, 3])])
        def f(x):
            n = tf.get_static_value(tf.shape(x)[1])
            n  # is: python
            dtype = x.dtype
            y = tf.zeros([2], dtype=dtype)
            y  # is: tensor float32 (2,), constant
            z = tf.cast(3, x.dtype)
            z  # is: tensor float32 (), constant
        """,
    "what a function inside reads of one that binds it again": """
        class Decoder:
            def sample(self, z, n):
                rows, scale = [], 2.0

                def step(part):
                    rows  # is: unknown
                    scale  # is: python 2.0
                    rows.append(part)
                    return part

                self.decode(z, step)
                rows = tf.concat(rows, 1)
                rows  # is: tensor, constant
                return rows * scale
        """,
    "what is asked of each element": """
        def has_tensor(x):
            return any(tf.is_tensor(each) for each in tf.nest.flatten(x))

        @tf.function
        def f(x: tf.Tensor):
            one = has_tensor(x), all(tf.is_tensor(each) for each in [x, x])
            one  # is: sequence of 2
            first, second = one
            first  # is: python True
            second  # is: python True
            return x
        """,
    "what a docstring calls an array": """
        def angles(u, v):
            \"\"\"Three angles of a unitary matrix.

            :param u: numpy array, no backend agnostic version for now
            :type u: Tensor
            :param v: the other matrix
            :type v: Tensor
            \"\"\"
            u  # is: unknown
            v  # is: tensor, arrives at run time, likely
            return tf.reduce_sum(v), u[0]
        """,
    "modules that functions hand out": """
        def try_import():
            try:
                import tensorflow as module
            except ImportError:
                return None, None, 0
            old = module.compat.v1
            return old, module, 2

        def clone(module):
            return type(module)(module.__name__)

        tf1, found, version = try_import()
        nn = tf.nn
        nn = clone(nn)

        def f(x: tf.Tensor):
            a = found.zeros([2])
            a  # is: tensor float32 (2,), constant
            b = nn.softmax(a)
            b  # is: tensor float32 (2,), constant
            c = tf1.shape(x)
            c  # is: tensor int32 (?,), shape
            return a, b, c
        """,
    "products, images, parts and maps": """
        def f(x: tf.Tensor):
            rows = tf.ones([4, 6])
            a = tf.einsum("ij,kj->ik", rows, tf.ones([5, 6]))
            a  # is: tensor float32 (4, 5), constant
            b = tf.einsum("...ij,...jk->...ik", tf.ones([2, 4, 6]), tf.ones([2, 6, 3]))
            b  # is: tensor float32 (2, 4, 3), constant
            c = tf.tensordot(rows, tf.ones([6, 2]), 1)
            c  # is: tensor float32 (4, 2), constant
            d, e = tf.split(rows, [2, 4], axis=1)
            d  # is: tensor float32 (4, 2), constant
            e  # is: tensor float32 (4, 4), constant
            g = tf.split(rows, 2)[1]
            g  # is: tensor float32 (2, 6), constant
            h = tf.unstack(rows, axis=1)[0]
            h  # is: tensor float32 (4,), constant
            i = tf.nn.conv2d(tf.ones([2, 8, 8, 3]), tf.ones([3, 3, 3, 7]), 2, "VALID")
            i  # is: tensor float32 (2, 3, 3, 7), constant
            j = tf.nn.max_pool2d(tf.ones([2, 9, 9, 3]), 2, 2, "SAME")
            j  # is: tensor float32 (2, 5, 5, 3), constant
            k = tf.image.resize(tf.ones([2, 8, 8, 3]), [4, 5])
            k  # is: tensor float32 (2, 4, 5, 3), constant
            n = tf.map_fn(lambda row: row[:2], rows)
            n  # is: tensor float32 (4, 2), computed as the program runs
            o = tf.linspace(0.0, 1.0, 5)
            o  # is: tensor float32 (5,), constant
        """,
    "everything of TensorFlow, its modules among it": """
        from tensorflow.compat.v2 import *

        def clone(module):
            return type(module)(module.__name__)

        image = clone(image)

        def f(x: tf.Tensor):
            a = linalg.eye(2)
            a  # is: tensor float32 (2, 2), constant
            b = image.rgb_to_grayscale(ones([1, 4, 4, 3]))
            b  # is: tensor float32 (1, 4, 4, 1), constant
            c = nn.relu(zeros([2]))
            c  # is: tensor float32 (2,), constant
            return a, b, c
        """,
}


def believed(inspection: Inspection, line: int) -> str:
    """What the expression statement on a line is believed to be."""
    of_node = inspection.beliefs.of(inspection.module)
    (statement,) = [
        node
        for node in ast.walk(inspection.module.tree)
        if isinstance(node, ast.Expr) and node.lineno == line
    ]
    return "; or ".join(dict.fromkeys(told(b.value) for b in of_node.get(statement.value, [])))


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(tmp_path: Path, name: str) -> None:
    source = HEAD + dedent(PROGRAMS[name])
    path = tmp_path / "program.py"
    path.write_text(source)
    inspection = inspect(str(path), (), Settings(root=tmp_path))
    assert isinstance(inspection, Inspection)
    asked = {
        number: line.split("# is: ")[1]
        for number, line in enumerate(source.splitlines(), start=1)
        if "# is: " in line
    }
    answers = {number: believed(inspection, number) for number in asked}
    lines = source.splitlines()
    assert {lines[n - 1].strip(): answers[n] for n in asked} == {
        lines[n - 1].strip(): said for n, said in asked.items()
    }
