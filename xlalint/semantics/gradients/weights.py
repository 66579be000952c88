"""What holds weights: the layers of Keras that training changes."""

from __future__ import annotations

from xlalint.semantics.values import Value, class_name

# In the names of layers that hold weights; a pooling or a dropout layer trains nothing.
_WORDS = (
    "Dense", "Conv", "LSTM", "GRU", "RNN", "Embedding", "Attention", "Norm", "PReLU", "Model", "Sequential",
)  # fmt: skip


def is_layer_with_weights(value: Value) -> bool:
    """Whether an instance is one of a layer or model of Keras, or of a package of layers, that holds weights, by its name."""
    name = class_name(value)
    leaf = name.rpartition(".")[2] if name is not None else ""
    return any(word in leaf for word in _WORDS)
