"""Small convolutional network, Keras `fit` with XLA."""

import keras
import numpy as np

images = np.random.default_rng(0).random((640, 28, 28, 1), "float32")
labels = np.random.default_rng(1).integers(0, 10, 640)
model = keras.Sequential(
    [
        keras.layers.Input((28, 28, 1)),
        keras.layers.Conv2D(32, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(64, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dropout(0.5),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile(
    optimizer="adam",
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
    jit_compile=True,
)
model.fit(images, labels, batch_size=32, epochs=1, validation_split=0.1)
