"""Calls of d2l.tensorflow 1.0.3, as the book makes them."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from d2l import tensorflow as d2l
from program import Call, Programs

from programs.made import floats

programs = Programs("d2l")
IDS = np.array([[1, 2, 0, 3], [3, 1, 2, 0]], np.int32)
LENS = np.array([2, 3], np.int32)


def add(name, make):
    programs(name)(make)


def built(layer, *inputs, **more):
    layer(*inputs, **more)
    return layer


def attention(name, make, lens=LENS):
    def build():
        q = floats(2, 4, 8)
        layer = built(make(), q, q, q, lens, training=False)
        return Call(lambda a, n: layer(a, a, a, n, training=False), [q, lens], True)

    add(name, build)


attention("DotProductAttention", lambda: d2l.DotProductAttention(0.5))
attention(
    "DotProductAttention2",
    lambda: d2l.DotProductAttention(0.5),
    np.array([[1, 2, 3, 4], [2, 2, 2, 2]], np.int32),
)
attention("AdditiveAttention", lambda: d2l.AdditiveAttention(8, 8, 8, 0.1))
attention("MultiHeadAttention", lambda: d2l.MultiHeadAttention(8, 8, 8, 8, 2, 0.5))
add(
    "DotProductAttention none",
    lambda: Call(
        lambda a: d2l.DotProductAttention(0.5)(a, a, a, training=False), [floats(2, 4, 8)], True
    ),
)
add("masked_softmax", lambda: Call(d2l.masked_softmax, [floats(2, 3, 4), LENS], True))
add(
    "masked_softmax none",
    lambda: Call(lambda x: d2l.masked_softmax(x, None), [floats(2, 3, 4)], True),
)
add(
    "masked_softmax 2",
    lambda: Call(d2l.masked_softmax, [floats(2, 2, 4), np.array([[1, 3], [2, 4]], np.int32)], True),
)
add("sequence_mask", lambda: Call(lambda x, n: d2l.sequence_mask(x, n, -1), [floats(2, 4), LENS]))
add("corr2d", lambda: Call(d2l.corr2d, [floats(4, 5), floats(2, 2)]))
add("linreg", lambda: Call(d2l.linreg, [floats(3, 2), floats(2, 1), floats(1)], True))
add("squared_loss", lambda: Call(d2l.squared_loss, [floats(3, 1), floats(3)], True))
add("accuracy", lambda: Call(d2l.accuracy, [floats(3, 4), np.array([0, 1, 2], np.int32)]))
add("box_corner_to_center", lambda: Call(d2l.box_corner_to_center, [floats(3, 4)], True))
add("box_center_to_corner", lambda: Call(d2l.box_center_to_corner, [floats(3, 4)], True))
add("synthetic_data", lambda: Call(lambda w: d2l.synthetic_data(w, 1.0, 8), [floats(2)]))
add(
    "bbox_to_rect-free grad_clipping",
    lambda: Call(lambda g: d2l.grad_clipping([g], 1.0), [floats(3, 2)]),
)


def masked_loss():
    return Call(
        lambda n, y, p: d2l.MaskedSoftmaxCELoss(n)(y, p),
        [LENS, np.array([[0, 1, 2, 1], [1, 0, 2, 2]], np.int32), floats(2, 4, 3)],
    )


add("MaskedSoftmaxCELoss", masked_loss)


def layer(name, make, *inputs, **more):
    def build():
        item = built(make(), *[tf.convert_to_tensor(i) for i in inputs], **more)
        return Call(lambda *a: item(*a, **more), list(inputs), True)

    add(name, build)


layer("PositionalEncoding", lambda: d2l.PositionalEncoding(8, 0.1), floats(2, 4, 8), training=True)
layer("PositionWiseFFN", lambda: d2l.PositionWiseFFN(8, 8), floats(2, 4, 8))
layer("AddNorm", lambda: d2l.AddNorm([1, 2], 0.5), floats(2, 4, 8), floats(2, 4, 8), training=True)
layer(
    "TransformerEncoderBlock",
    lambda: d2l.TransformerEncoderBlock(8, 8, 8, 8, [1, 2], 16, 2, 0.5),
    floats(2, 4, 8),
    LENS,
    training=False,
)
layer(
    "TransformerEncoder",
    lambda: d2l.TransformerEncoder(20, 8, 8, 8, 8, [1, 2], 16, 2, 1, 0.5),
    IDS,
    LENS,
    training=False,
)
layer("Residual", lambda: d2l.Residual(3), floats(2, 6, 6, 3))
layer("Residual 1x1", lambda: d2l.Residual(6, True, 2), floats(2, 6, 6, 3))
layer("ResNeXtBlock", lambda: d2l.ResNeXtBlock(16, 4, 1), floats(2, 8, 8, 16))
layer("LeNet", lambda: d2l.LeNet(), floats(2, 28, 28, 1))
layer("SoftmaxRegression", lambda: d2l.SoftmaxRegression(3, 0.1), floats(2, 4))
layer("LinearRegression", lambda: d2l.LinearRegression(0.1), floats(2, 4))
layer("LinearRegressionScratch", lambda: d2l.LinearRegressionScratch(4, 0.1), floats(2, 4))
layer("RNNScratch", lambda: d2l.RNNScratch(5, 4), floats(3, 2, 5))
layer("RNN", lambda: d2l.RNN(4), floats(3, 2, 5))
layer("GRU", lambda: d2l.GRU(4, 2), floats(3, 2, 5))
layer("RNNLMScratch", lambda: d2l.RNNLMScratch(d2l.RNNScratch(20, 4), 20), IDS)
layer("Seq2SeqEncoder", lambda: d2l.Seq2SeqEncoder(20, 8, 8, 2), IDS)


def classifier_loss(what):
    def build():
        net = d2l.LeNet()
        return Call(
            lambda p, y: getattr(net, what)(p, y), [floats(3, 4), np.array([0, 1, 2], np.int32)]
        )

    return build


add("Classifier.loss", classifier_loss("loss"))
add("Classifier.accuracy", classifier_loss("accuracy"))


def clip():
    trainer = d2l.Trainer(1)
    return Call(lambda g: trainer.clip_gradients(1.0, [g, g]), [floats(3, 2)])


add("Trainer.clip_gradients", clip)


def sgd():
    w = tf.Variable(floats(3, 2))

    def step(g):
        d2l.sgd([w], [g], 0.1, 4)
        return w + 0

    return Call(step, [floats(3, 2)])


add("sgd", sgd)


def apply():
    w = tf.Variable(floats(3, 2))

    def step(g):
        d2l.SGD(0.1).apply_gradients([(g, w)])
        return w + 0

    return Call(step, [floats(3, 2)])


add("SGD.apply_gradients", apply)


def gan(which):
    def build():
        d, g = (tf.keras.Sequential([tf.keras.layers.Dense(n)]) for n in (1, 2))
        d(floats(4, 2)), g(floats(4, 2))
        o = tf.keras.optimizers.SGD()
        o.build(d.trainable_variables if which == "D" else g.trainable_variables)
        loss = tf.keras.losses.BinaryCrossentropy(
            from_logits=True, reduction=tf.keras.losses.Reduction.NONE
        )
        if which == "D":
            return Call(
                lambda x, z: d2l.update_D(x, z, d, g, loss, o), [floats(4, 2), floats(4, 2)]
            )
        return Call(lambda z: d2l.update_G(z, d, g, loss, o), [floats(4, 2)])

    return build


add("update_D", gan("D"))
add("update_G", gan("G"))


def predict():
    encoder = d2l.Seq2SeqEncoder(20, 8, 8, 1)
    return Call(lambda x: encoder(x, training=False)[1][0], [IDS])


add("Seq2SeqEncoder state", predict)
