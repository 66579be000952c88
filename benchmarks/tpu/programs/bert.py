"""One training step of a BERT encoder of keras_hub with a classifier, without weights: `bert.py LAYERS WIDTH BATCH LENGTH`."""

import sys

import keras
import keras_hub
import numpy as np

layers, width, batch, length = map(int, sys.argv[1:])
backbone = keras_hub.models.BertBackbone(
    vocabulary_size=30522,
    num_layers=layers,
    num_heads=width // 64,
    hidden_dim=width,
    intermediate_dim=4 * width,
    max_sequence_length=max(length, 512),
)
outputs = keras.layers.Dense(2)(backbone.output["pooled_output"])
model = keras.Model(backbone.input, outputs)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.AdamW(1e-4), loss)
tokens = {
    "token_ids": np.zeros([batch, length], "int32"),
    "segment_ids": np.zeros([batch, length], "int32"),
    "padding_mask": np.ones([batch, length], "int32"),
}
model.fit(tokens, np.zeros([batch], "int32"), batch_size=batch)
