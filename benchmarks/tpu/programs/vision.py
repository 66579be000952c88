"""One training step of a model of keras.applications, without weights: `vision.py NAME BATCH SIZE`."""

import sys

import keras
import numpy as np

name, batch, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
model = getattr(keras.applications, name)(weights=None, input_shape=(size, size, 3), classes=1000)
model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "sparse_categorical_crossentropy")
images = np.zeros([batch, size, size, 3], "float32")
model.fit(images, np.zeros([batch], "int32"), batch_size=batch)
