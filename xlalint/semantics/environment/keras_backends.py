"""Modules whose Keras code another backend runs: JAX or PyTorch, of which nothing that TensorFlow traces can be said."""

from __future__ import annotations

import re

# At the start of a program, before Keras is imported.
_SET = re.compile(
    r"""^os\.(?:environ\[\s*|putenv\(\s*|environ\.setdefault\(\s*)["']KERAS_BACKEND["'](?:\s*\]\s*=|\s*,)\s*["'](?:jax|torch|openvino)["']""",
    re.MULTILINE,
)
_IMPORTS_JAX = re.compile(r"^(?:import|from)[ \t]+jax\b", re.MULTILINE)
_IMPORTS_TORCH = re.compile(r"^(?:import|from)[ \t]+torch\b", re.MULTILINE)
# PyTorch may only load the data; who takes its gradients computes with it.
_TRAINS_WITH_TORCH = re.compile(r"\.backward\(|\btorch\.(?:no_grad|enable_grad|autograd|optim)\b")
_TENSORFLOW = re.compile(r"(?<!/)\b(?:tensorflow|tf)\b")


def is_another(text: str) -> bool:
    """Whether a module chooses another backend for Keras 3, or computes with that backend's own functions and none of TensorFlow's."""
    # Finding a bare word in a long text is quick, and finding none is the rule.
    if "KERAS_BACKEND" in text and _SET.search(text) is not None:
        return True
    imports_one = ("jax" in text and _IMPORTS_JAX.search(text) is not None) or (
        "torch" in text
        and _IMPORTS_TORCH.search(text) is not None
        and _TRAINS_WITH_TORCH.search(text) is not None
    )
    return imports_one and _TENSORFLOW.search(text) is None
