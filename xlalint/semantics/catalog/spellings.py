"""The names under which the catalogue may hold what a program calls: aliases of modules, Keras in its packages, private modules."""

from __future__ import annotations

import re

# Of the module behind Keras 2's RandomRotation and its kind, which augmentations import from wherever it is.
_PRIVATE_TRANSFORM = ".preprocessing.image_preprocessing.transform"
_STATIC_METHODS = {
    "tf.experimental.Optional.empty": "OptionalNone",
    "tf.experimental.Optional.from_value": "OptionalFromValue",
}
# Other functions than their namesakes in `tf.summary`, which do nothing without a writer.
_SUMMARIES_OF_V1 = {
    f"tf.compat.v1.summary.{name}": operation
    for name, operation in {
        "audio": "AudioSummaryV2",
        "histogram": "HistogramSummary",
        "image": "ImageSummary",
        "merge": "MergeSummary",
        "scalar": "ScalarSummary",
        "tensor_summary": "TensorSummaryV2",
        "text": "TensorSummaryV2",
    }.items()
}
# Where the functions of private modules are public, by the start of the module's name: `tensorflow.python.ops.image_ops_impl`.
_PUBLIC_PLACES = {
    "image": ("image",),
    "gradients": (),
    "linalg": ("linalg",),
    "sparse": ("sparse",),
    "string": ("strings",),
    "random": ("random",),
    "stateless_random": ("random",),
    "ctc": ("nn",),
    "nn": ("nn",),
    "candidate_sampling": ("random", "nn"),
    "embedding": ("nn",),
    "sets": ("sets",),
    "lookup": ("lookup",),
    "parsing": ("io",),
    "io": ("io",),
    "check": ("debugging",),
    "special_math": ("math",),
    "math": ("math",),
    "bitwise": ("bitwise",),
    "fft": ("signal",),
    "ragged": ("ragged",),
    "script": (),
    "logging": (),
    "array": (),
    "clip": (),
    "confusion_matrix": ("math",),
    "histogram": (),
    "tensor_array": (),
}
_PRIVATE_MODULE = re.compile(
    r"^tf\.python\.ops\.(?:\w+\.)?([a-z]+(?:_[a-z]+)*?)(?:_ops)?(?:_impl)?\.(\w+)$"
)


def spellings_of(name: str) -> tuple[str, ...]:
    """Names under which `name` may be held, the most particular first."""
    if name.endswith(_PRIVATE_TRANSFORM):
        return ("tf.raw_ops.ImageProjectiveTransformV3",)
    if name.startswith("tensorflow."):
        name = "tf." + name.removeprefix("tensorflow.")
    for prefix in ("tf.compat.v2.", "tf.compat.v1.compat.v1.", "tf.compat.v1.compat.v2."):
        if name.startswith(prefix):
            name = ("tf.compat.v1." if prefix.endswith("v1.") else "tf.") + name[len(prefix) :]
    for prefix in ("tf.keras.", "tf_keras.", "keras.src.", "tf.compat.v1.keras."):
        if name.startswith(prefix):
            return (name, "keras." + name[len(prefix) :])
    for prefix in ("tf.initializers.", "tf.losses.", "tf.metrics.", "tf.optimizers."):
        if name.startswith(prefix):
            return (name, "keras." + name.removeprefix("tf."))
    if name in _STATIC_METHODS:
        return (f"tf.raw_ops.{_STATIC_METHODS[name]}",)
    if name in _SUMMARIES_OF_V1:
        return (f"tf.raw_ops.{_SUMMARIES_OF_V1[name]}",)
    if name.startswith("tf.compat.v1."):
        return (name, "tf." + name.removeprefix("tf.compat.v1."))
    if name.startswith("tf.python."):
        return _public_spellings(name)
    if name.count(".") == 1 and name.startswith("tf."):
        # What TensorFlow 1 had at the top, and what private modules hold.
        return (name, "tf.compat.v1." + name[3:])
    return (name,)


def _public_spellings(name: str) -> tuple[str, ...]:
    match = _PRIVATE_MODULE.match(name)
    if match is not None and match[1] == "inplace":
        # `inplace_ops.alias_inplace_update`, which other modules have under names of their own, is the operation InplaceUpdate.
        operation = "".join(map(str.capitalize, match[2].removeprefix("alias_").split("_")))
        return (name, f"tf.raw_ops.{operation}")
    if match is None or match[1] not in _PUBLIC_PLACES:
        return (name,)
    places = [f"{place}." for place in _PUBLIC_PLACES[match[1]]] + [""]
    leaf = match[2].removesuffix("_v2")
    return (
        name,
        *(f"{root}{place}{leaf}" for place in places for root in ("tf.", "tf.compat.v1.")),
    )
