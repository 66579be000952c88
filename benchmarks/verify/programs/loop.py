"""A custom loop over a small transformer block, with XLA and an accuracy that picks by a mask."""

import tensorflow as tf

VOCABULARY, LENGTH, WIDTH = 500, 64, 64


class Block(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.attention = tf.keras.layers.MultiHeadAttention(4, WIDTH // 4)
        self.hidden = tf.keras.layers.Dense(4 * WIDTH, activation="gelu")
        self.out = tf.keras.layers.Dense(WIDTH)
        self.norms = [tf.keras.layers.LayerNormalization() for _ in range(2)]

    def call(self, x):
        x = self.norms[0](x + self.attention(x, x, use_causal_mask=True))
        return self.norms[1](x + self.out(self.hidden(x)))


class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(VOCABULARY, WIDTH)
        self.blocks = [Block() for _ in range(2)]
        self.logits = tf.keras.layers.Dense(VOCABULARY)

    def call(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.logits(x)


model = Model()
optimizer = tf.keras.optimizers.Adam(1e-3)
tokens = tf.random.stateless_uniform([640, LENGTH + 1], [1, 2], maxval=VOCABULARY, dtype=tf.int32)
batches = tf.data.Dataset.from_tensor_slices(tokens).batch(16, drop_remainder=True)


def accuracy(labels, logits):
    known = labels > 10
    hits = tf.equal(tf.argmax(logits, -1, tf.int32), labels)
    return tf.reduce_mean(tf.cast(hits[known], tf.float32))


@tf.function(jit_compile=True)
def train_step(tokens):
    inputs, labels = tokens[:, :-1], tokens[:, 1:]
    with tf.GradientTape() as tape:
        logits = model(inputs, training=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        loss = tf.reduce_mean(losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss, accuracy(labels, logits)


for step, batch in enumerate(batches):
    loss, hits = train_step(batch)
    print(f"step {step}: loss {float(loss):.3f} accuracy {float(hits):.3f}")
