"""Modules whose Keras code another backend runs: JAX or PyTorch, of which nothing that TensorFlow traces can be said."""

from __future__ import annotations

import re

# At the start of a program, before Keras is imported.
_SET = re.compile(
    r"""^os\.(?:environ\[\s*|putenv\(\s*|environ\.setdefault\(\s*)["']KERAS_BACKEND["'](?:\s*\]\s*=|\s*,)\s*["'](?:jax|torch|openvino)["']""",
    re.MULTILINE,
)
# PyTorch may only load the data; who takes its gradients computes with it.
_TRAINS_WITH_TORCH = (
    ".backward(",
    "torch.no_grad",
    "torch.enable_grad",
    "torch.autograd",
    "torch.optim",
)
# Documentation may speak of `tf.Tensor` all the same.
_TENSORFLOW = re.compile(
    r"^[ \t]*(?:import|from)[ \t][^\n]*\b(?:tensorflow|tf)\b|(?<![\w.`])tf\.[a-z]", re.MULTILINE
)


def is_another(text: str) -> bool:
    """Whether a module chooses another backend for Keras 3, or computes with that backend's own functions and none of TensorFlow's."""
    # Finding a bare word in a long text is quick, and finding none is the rule.
    if "KERAS_BACKEND" in text and _SET.search(text) is not None:
        return True
    if not _imports("jax", text) and not (
        _imports("torch", text) and any(word in text for word in _TRAINS_WITH_TORCH)
    ):
        return False
    return _TENSORFLOW.search(text) is None


def _imports(package: str, text: str) -> bool:
    """Whether a module imports a package, or something of it, where it begins: not within a function."""
    if package not in text:
        return False
    text = "\n" + text
    lines = (f"\nimport {package}", f"\nfrom {package}")
    return any(line in text and re.search(line + r"\b", text) for line in lines)
